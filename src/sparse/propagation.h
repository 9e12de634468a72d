// Sparse Jacobians without directions: forward mode in which each value carries the nonzeros of its own derivative.
// Start with `propagated`.
#pragma once

#include <optional>

#include "ricci/sparse/sparsity.h"

namespace ricci::sparse {

/// The nonzeros [nnz] of the Jacobian of f at x that the pattern has, in operations on the values of f: as many numbers
/// as there are nonzeros, where a direction for each color computes numbers for all rows. None where a derivative in f
/// is no elementwise operation, view, move or sum over a few elements, or a value would carry more than `most` nonzeros
/// for each of its elements. Which these are is found anew at each call: for functions that are written down.
std::optional<Tensor> propagated(const VectorFunction& f, const Tensor& x, const Sparsity& sparsity, std::int64_t most,
                                 where_t where);

}  // namespace ricci::sparse
