// Operations whose result's size depends on values.
#pragma once

#include "ricci/tensor.h"

namespace ricci {

/// int64 [count, x.dim()]: where x is not zero. Errors speak of the operation `op` on `about`.
Tensor nonzero_of(const char* op, const Tensor& x, const Tensor& about);

/// The elements sorted, and where one differs from the one before it.
std::pair<Tensor, Tensor> sorted_and_new(const Tensor& x);

}  // namespace ricci
