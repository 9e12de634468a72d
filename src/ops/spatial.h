// Operations over spatial axes, the last one to three: what their operands look like, and their options, checked.
// Knows nothing of convolution or pooling.
#pragma once

#include <array>
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
/// The same as an array, the first `count` of which are set.
std::array<Size, 3> array_per_axis(const char* op, const char* what, const Sizes& given, int count, std::int64_t least);

inline Shape shape_of(const Sizes& numbers) { return Shape(numbers.begin(), numbers.end()); }
std::string list_of(const Sizes& numbers);  ///< `[2,3]`

/// Throws ValueError unless `x`, the user's `what`, has a rank that `fits`; `wanted` are the shapes it may have.
void require_axes(const char* op, const char* what, const Tensor& x, bool fits, const char* wanted);
/// Throws ValueError unless x, the input, is of images with so many spatial axes, [N, C, …], or one image [C, …].
void require_images(const char* op, const Tensor& x, int spatial);
/// Whether it is one image.
inline bool is_one_image(const Tensor& x, int spatial) { return type_of(x).rank() == spatial + 1; }

/// The last `spatial` sizes.
Shape spatial_sizes(const Type& type, int spatial);
/// The type with other last sizes.
Type with_spatial_sizes(Type type, const Shape& sizes);

}  // namespace ricci
