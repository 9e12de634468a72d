// Pooling of views whose channels, the axis in front of the pooled ones, lie side by side in memory.
#pragma once

#include "kernels/pooling_sliding.h"

namespace ricci::kernels {

/// The maximum of each window or, if there are divisors, its sum over them. Requires: `are_channels_last(input,
/// spatial)`; for means float32 or float64, for maxima these or integers.
void pool_channels(const Strided& output, const Strided& input, int spatial, const SlidingWindow& window,
                   const Divisors* divisors);

}  // namespace ricci::kernels
