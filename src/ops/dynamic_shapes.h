// Operations whose result's size depends on values.
#pragma once

#include "ricci/tensor.h"

namespace ricci {

/// int64 [count, x.dim()]: where x is not zero. `op` is the operation that errors speak of.
Tensor nonzero_of(const char* op, const Tensor& x);

}  // namespace ricci
