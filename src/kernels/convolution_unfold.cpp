// For every image and group there is one product of matrices [out channels, channels * kernel] and [channels * kernel,
// outputs]: `unfold` makes the second from an image, and its transpose `fold` adds it up into an image again.
#include "kernels/convolution_unfold.h"

#include <algorithm>
#include <complex>

#include "kernels/convolution_columns.h"
#include "kernels/matmul.h"
#include "ricci/primitive/parallel.h"
#include "ricci/primitive/scratch.h"

namespace ricci::kernels {
namespace {

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
