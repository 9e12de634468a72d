// What functions of the form |x| have in their derivatives at the edge, x = 0.
#pragma once

#include "ricci/tensor.h"

namespace ricci {

/// 1, and 0 where `size`, which is not negative, is 0. The derivative there is NaN.
/// As a factor of a first derivative it says that |x| is flat at 0, and that no rule knows the second derivative there:
/// h(|x|) has h''(0) where the kink is gone, and none where it is not.
Tensor edge(const Tensor& size);

/// The derivative of |x|: the sign of a real x, constant also at 0 as in PyTorch; x / |x| of a complex one.
Tensor slope_of_abs(const Tensor& x);

}  // namespace ricci
