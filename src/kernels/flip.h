// Copies that run backwards along some axes. Knows nothing of element types beyond their size.
#pragma once

#include "ricci/strided.h"

namespace ricci::kernels {

/// out[i, …] = in[j, …] with j = size - 1 - i along the axes where `flipped`, j = i elsewhere. Requires: equal shapes
/// and types, no overlap; `flipped` has one entry an axis.
void flip(const Strided& out, const Strided& in, const bool* flipped);

}  // namespace ricci::kernels
