// What the inverses of sine, cosine and hyperbolic tangent have in their derivatives.
#pragma once

#include "ricci/tensor.h"

namespace ricci {

/// 1 - x^2 as (1 - x) (1 + x), which keeps its digits where x is near 1 or -1.
Tensor one_minus_square(const Tensor& x);

}  // namespace ricci
