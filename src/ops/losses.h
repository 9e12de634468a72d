// What losses have in common. Knows nothing of any one loss.
#pragma once

#include "ricci/ops.h"

namespace ricci {

/// The losses as they are, their mean or their sum; a single loss is all three.
Tensor reduced(const Tensor& losses, Reduction reduction);

/// weight times x. A weight of 0 leaves an infinite x out: 0 there, and flat by the weight, as xlogy; NaN stays.
Tensor weighed(const Tensor& weight, const Tensor& x);

}  // namespace ricci
