// Sparse Jacobians without directions: forward mode in which each value carries the nonzeros of its own derivative.
// Start with `propagated`.
#pragma once

#include <optional>

#include "ricci/program.h"
#include "ricci/sparse/coloring.h"

namespace ricci::sparse {

/// Whether every equation may be computed anew: none draws, acts, has its own derivative or holds a program.
bool is_plain(const Program& program);

/// The nonzeros [nnz] of the Jacobian of f at x that the coloring's pattern has, in operations on the values of f: as
/// many numbers as there are nonzeros, where a direction for each color computes numbers for all rows. None where
///  - a derivative in f is no elementwise operation, view, move, write that adds, sum or product by what is no
///    derivative;
///  - places in f are not known, since a captured tensor or an argument names them;
///  - the nonzeros would be more numbers than the colors' directions or reverse passes compute, or take very many
///    equations.
/// Which these are is found anew at each call: for functions that are compiled or traced.
/// Requires: f can run twice, as a recorded program that is plain can.
std::optional<Tensor> propagated(const VectorFunction& f, const Tensor& x, const Coloring& coloring, where_t where);

}  // namespace ricci::sparse
