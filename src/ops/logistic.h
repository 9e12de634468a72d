// A sigmoid for rules. Knows nothing of any operation that uses it.
#pragma once

#include "ricci/tensor.h"

namespace ricci {

/// sigmoid(x) of a real x, with derivatives that are computed from x. Those of `sigmoid` are computed from its result:
/// near 1 they have lost their digits.
Tensor logistic(const Tensor& x);

}  // namespace ricci
