// Random inputs at which the laws try operations. Knows nothing of any operation.
#pragma once

#include "ricci/ops.h"

namespace ricci {

/// Uniform on [-1, 1).
inline Tensor uniform_around_zero(const Shape& shape) { return rand(shape) * 2 - 1; }

}  // namespace ricci
