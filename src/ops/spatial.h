// Options of operations that slide a window over spatial axes, checked. Knows nothing of convolution or pooling.
#pragma once

#include <string>

#include "ops/axes.h"

namespace ricci {

/// The greatest size, step or padding of a window. No product of two of them overflows.
inline constexpr std::int64_t most_of_a_window = std::int64_t{1} << 30;

/// Throws ValueError `conv2d: stride is 0; it must be at least 1` unless the number is from `least` to
/// most_of_a_window.
void require_of_a_window(const char* op, const char* what, Size number, std::int64_t least);

/// One number for each of `count` spatial axes, given as one for all or as one for each; ValueError if there are others
/// or one is out of range. `what` is the option's name.
Sizes one_per_axis(const char* op, const char* what, const Sizes& given, int count, std::int64_t least);

std::string list_of(const Sizes& numbers);  ///< `[2,3]`

/// Throws ValueError unless `x`, the user's `what`, has a rank that `fits`; `wanted` are the shapes it may have.
void require_axes(const char* op, const char* what, const Tensor& x, bool fits, const char* wanted);

}  // namespace ricci
