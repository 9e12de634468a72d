// One image at a time, all of its channels as one group.
#include "kernels/columns.h"

#include <algorithm>
#include <cassert>
#include <complex>

#include "kernels/convolution_columns.h"
#include "kernels/strided.h"
#include "ricci/primitive/parallel.h"

namespace ricci::kernels {
namespace {

/// Of one image; axes that it lacks lead with size 1.
ConvolutionGeometry geometry_of(const Strided& image, const ConvolutionShape& shape,
                                const std::array<Size, 3>& kernel) {
  ConvolutionGeometry g{};
  g.batch = g.groups = g.out_channels = 1;
  g.channels = image.shape[1];
  g.input = g.kernel = g.out = g.stride = g.dilation = {1, 1, 1};
  for (int axis = 0; axis < shape.spatial; ++axis) {
    const auto i = static_cast<std::size_t>(axis), to = static_cast<std::size_t>(3 - shape.spatial + axis);
    g.input[to] = image.shape[2 + axis];
    g.kernel[to] = kernel[i];
    g.stride[to] = shape.stride[i];
    g.dilation[to] = shape.dilation[i];
    g.low[to] = shape.padding_low[i];
    g.high[to] = shape.padding_high[i];
    g.out[to] = convolution_size(g.input[to], kernel[i], shape, i);
  }
  return g;
}

/// work(image, columns) for each of the images.
template <class T, class Work>
void for_each_image(const ConvolutionGeometry& g, std::int64_t count, void* images, void* columns, const Work& work) {
  const std::int64_t image = g.channels * ConvolutionGeometry::volume(g.input);
  const std::int64_t of_columns =
      g.channels * ConvolutionGeometry::volume(g.kernel) * ConvolutionGeometry::volume(g.out);
  constexpr double nanoseconds = 0.5;
  parallel_for({count, nanoseconds * static_cast<double>(of_columns)}, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      work(static_cast<T*>(images) + i * image, image, static_cast<T*>(columns) + i * of_columns, of_columns);
  });
}

}  // namespace

void unfold(Strided columns, Strided image, const ConvolutionShape& shape, const std::array<Size, 3>& kernel) {
  assert(is_contiguous(columns) && is_contiguous(image) && columns.dtype == image.dtype);
  if (is_empty(columns)) return;
  const ConvolutionGeometry g = geometry_of(image, shape, kernel);
  visit_dtype(image.dtype, [&]<class T>(std::type_identity<T>) {
    for_each_image<T>(g, image.shape[0], image.data, columns.data,
                      [&](const T* from, std::int64_t, T* to, std::int64_t count) {
                        std::fill_n(to, count, T{});
                        unfold(g, from, to);
                      });
  });
}

void fold(Strided image, Strided columns, const ConvolutionShape& shape, const std::array<Size, 3>& kernel) {
  assert(is_contiguous(columns) && is_contiguous(image) && columns.dtype == image.dtype);
  if (is_empty(image)) return;
  const ConvolutionGeometry g = geometry_of(image, shape, kernel);
  visit_dtype(image.dtype, [&]<class T>(std::type_identity<T>) {
    for_each_image<T>(g, image.shape[0], image.data, columns.data,
                      [&](T* to, std::int64_t count, const T* from, std::int64_t) {
                        std::fill_n(to, count, T{});
                        fold(g, from, to);
                      });
  });
}

}  // namespace ricci::kernels
