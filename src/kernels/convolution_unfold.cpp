// For every image and group there is one product of matrices [out channels, channels * kernel] and [channels * kernel,
// outputs]: `unfold` makes the second from an image, and its transpose `fold` adds it up into an image again.
#include "kernels/convolution_unfold.h"

#include <algorithm>
#include <complex>
#include <type_traits>

#include "kernels/matmul.h"
#include "ricci/primitive/parallel.h"
#include "ricci/primitive/scratch.h"

namespace ricci::kernels {
namespace {

template <class T>
T add(T x, T y) {
  if constexpr (std::is_same_v<T, bool>) return x || y;
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(x) + static_cast<std::make_unsigned_t<T>>(y));
  else return static_cast<T>(x + y);
}

/// The outputs along one axis whose input for kernel position k is inside the image, and the first of those inputs.
struct Range {
  std::int64_t begin, end, input;
};

Range inside(const ConvolutionGeometry& g, int axis, std::int64_t k) {
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
          const Range d = inside(g, 0, kd), h = inside(g, 1, kh), w = inside(g, 2, kw);
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

template <class T>
void unfold(const ConvolutionGeometry& g, const T* image, T* columns) {
  const std::int64_t step = g.stride[2];
  for_each_run(g, [&](std::int64_t column, std::int64_t from, std::int64_t count) {
    if (step == 1) std::copy_n(image + from, count, columns + column);
    else
      for (std::int64_t i = 0; i < count; ++i) columns[column + i] = image[from + i * step];
  });
}

template <class T>
void fold(const ConvolutionGeometry& g, const T* columns, T* image) {
  const std::int64_t step = g.stride[2];
  for_each_run(g, [&](std::int64_t column, std::int64_t to, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) image[to + i * step] = add(image[to + i * step], columns[column + i]);
  });
}

/// A matrix for `matmul`, row-major or the transpose of one.
struct MatrixView {
  std::int64_t shape[2], strides[2];
  void* data;
  DType dtype;

  operator Strided() const { return {data, dtype, 2, shape, strides}; }
};

template <class T>
MatrixView matrix(T* data, std::int64_t rows, std::int64_t cols) {
  return {{rows, cols}, {cols, 1}, data, dtype_of<T>};
}

template <class T>
MatrixView transposed(T* data, std::int64_t rows, std::int64_t cols) {
  return {{cols, rows}, {1, cols}, data, dtype_of<T>};
}

template <class T>
void convolve(const ConvolutionGeometry& g, T* input, T* weight, T* out) {
  const std::int64_t outputs = ConvolutionGeometry::volume(g.out), o = g.group_out_channels();
  const std::int64_t depth = g.group_channels() * ConvolutionGeometry::volume(g.kernel);
  const std::int64_t group_input = g.group_channels() * ConvolutionGeometry::volume(g.input);
  if (g.kind == ConvolutionKind::input_gradient) std::fill_n(input, g.batch * g.groups * group_input, T{});
  const auto work = [&](std::int64_t begin, std::int64_t end) {
    const Scratch<T> memory(g.is_pointwise() ? 0 : depth * outputs);
    if (!g.is_pointwise()) std::fill_n(memory.data(), depth * outputs, T{});  // the padding, which stays
    for (std::int64_t i = begin; i < end; ++i) {
      T* image = input + i * group_input;
      T* columns = g.is_pointwise() ? image : memory.data();
      T* w = weight + i % g.groups * o * depth;
      T* result = out + i * o * outputs;
      if (g.kind == ConvolutionKind::input_gradient) {
        matmul(matrix(columns, depth, outputs), transposed(w, o, depth), matrix(result, o, outputs));
        if (!g.is_pointwise()) fold(g, columns, image);
        continue;
      }
      if (!g.is_pointwise()) unfold(g, image, columns);
      if (g.kind == ConvolutionKind::forward) {
        matmul(matrix(result, o, outputs), matrix(w, o, depth), matrix(columns, depth, outputs));
      } else {
        const Accumulate accumulate = i < g.groups ? Accumulate::no : Accumulate::yes;
        matmul(matrix(w, o, depth), matrix(result, o, outputs), transposed(columns, depth, outputs), accumulate);
      }
    }
  };
  const std::int64_t images = g.batch * g.groups;
  if (g.kind == ConvolutionKind::weight_gradient || images < thread_count()) return work(0, images);
  constexpr double nanoseconds = 0.03;
  parallel_for({images, nanoseconds * static_cast<double>(o * depth * outputs)}, work);
}

}  // namespace

void convolve_by_unfolding(const ConvolutionGeometry& geometry, DType dtype, void* input, void* weight, void* out) {
  visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    convolve(geometry, static_cast<T*>(input), static_cast<T*>(weight), static_cast<T*>(out));
  });
}

}  // namespace ricci::kernels
