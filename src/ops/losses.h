// What losses have in common. Knows nothing of any one loss.
#pragma once

#include "ricci/ops.h"

namespace ricci {

/// The losses as they are, their mean or their sum; a single loss is all three.
Tensor reduced(const Tensor& losses, Reduction reduction);

}  // namespace ricci
