// Options of operations that slide a window over spatial axes, checked. Knows nothing of convolution or pooling.
#pragma once

#include <string>

#include "ops/axes.h"

namespace ricci {

/// One number for each of `count` spatial axes, given as one for all or as one for each; ValueError if there are others
/// or one is below `least`. `what` is the option's name.
Axes one_per_axis(const char* op, const char* what, const Axes& given, int count, std::int64_t least);

std::string list_of(const Axes& numbers);  ///< `[2,3]`

/// Throws ValueError unless `x`, the user's `what`, has a rank that `fits`; `wanted` are the shapes it may have.
void require_axes(const char* op, const char* what, const Tensor& x, bool fits, const char* wanted);

}  // namespace ricci
