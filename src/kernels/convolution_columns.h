// The inputs that each output of a convolution sees, copied into columns [channels * kernel, outputs], and such columns
// added up in an image again. Knows nothing of products.
#pragma once

#include <algorithm>
#include <type_traits>

#include "kernels/convolution_geometry.h"

namespace ricci::kernels {

/// Integers wrap around.
template <class T>
T wrapping_sum(T x, T y) {
  if constexpr (std::is_same_v<T, bool>) return x || y;
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(x) + static_cast<std::make_unsigned_t<T>>(y));
  else return static_cast<T>(x + y);
}

/// The outputs along one axis whose input for kernel position k is inside the image, and the first of those inputs.
struct OutputRange {
  std::int64_t begin, end, input;
};

inline OutputRange inside(const ConvolutionGeometry& g, int axis, std::int64_t k) {
  const std::int64_t stride = g.stride[axis], shift = k * g.dilation[axis] - g.low[axis];
  const std::int64_t begin = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
  const std::int64_t room = g.input[axis] - shift;
  const std::int64_t end = room <= 0 ? 0 : std::min(g.out[axis], (room - 1) / stride + 1);
  return {std::min(begin, g.out[axis]), std::max(begin, end), begin * stride + shift};
}

/// Calls `f(column, image, count)` for every run of elements along the last axis that a column shares with the image;
/// `column` steps by 1 and `image` by the last stride. Both are offsets.
template <class F>
void for_each_run(const ConvolutionGeometry& g, F&& f) {
  const std::int64_t outputs = ConvolutionGeometry::volume(g.out), image = ConvolutionGeometry::volume(g.input);
  std::int64_t column = 0;
  for (std::int64_t c = 0; c < g.group_channels(); ++c) {
    for (std::int64_t kd = 0; kd < g.kernel[0]; ++kd) {
      for (std::int64_t kh = 0; kh < g.kernel[1]; ++kh) {
        for (std::int64_t kw = 0; kw < g.kernel[2]; ++kw, column += outputs) {
          const OutputRange d = inside(g, 0, kd), h = inside(g, 1, kh), w = inside(g, 2, kw);
          if (w.begin >= w.end) continue;
          for (std::int64_t y = d.begin; y < d.end; ++y) {
            for (std::int64_t x = h.begin; x < h.end; ++x) {
              const std::int64_t in_d = d.input + (y - d.begin) * g.stride[0];
              const std::int64_t in_h = h.input + (x - h.begin) * g.stride[1];
              f(column + (y * g.out[1] + x) * g.out[2] + w.begin,
                c * image + (in_d * g.input[1] + in_h) * g.input[2] + w.input, w.end - w.begin);
            }
          }
        }
      }
    }
  }
}

/// The columns of one image and one group. Elements of columns that lie in the padding are not written.
template <class T>
void unfold(const ConvolutionGeometry& g, const T* image, T* columns) {
  const std::int64_t step = g.stride[2];
  for_each_run(g, [&](std::int64_t column, std::int64_t from, std::int64_t count) {
    if (step == 1) std::copy_n(image + from, count, columns + column);
    else
      for (std::int64_t i = 0; i < count; ++i) columns[column + i] = image[from + i * step];
  });
}

/// Adds the columns to the image.
template <class T>
void fold(const ConvolutionGeometry& g, const T* columns, T* image) {
  const std::int64_t step = g.stride[2];
  for_each_run(g, [&](std::int64_t column, std::int64_t to, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i)
      image[to + i * step] = wrapping_sum(image[to + i * step], columns[column + i]);
  });
}

}  // namespace ricci::kernels
