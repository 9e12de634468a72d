// The derivative of a function from a vector to a vector, written down.
#pragma once

#include "ricci/program.h"
#include "ricci/sparse/sparsity.h"

namespace ricci::sparse {

/// A program of the point and the direction, both [columns] as x is; its sizes are numbers. `name` is for errors.
Program tangent_program(const char* name, const VectorFunction& f, const Tensor& x, std::int64_t columns,
                        where_t where);
/// Throws TypeError where an argument or a result, as `what` says, is complex.
void require_real(const char* name, const char* what, const Type& type);

}  // namespace ricci::sparse
