// Windows of images as columns, and columns added up in images: two primitives, each the transpose of the other.
#include "kernels/columns.h"

#include "ops/dense.h"
#include "ops/samples.h"
#include "ops/spatial.h"
#include "primitive/called.h"
#include "ricci/ops/convolution.h"

namespace ricci {
namespace {

using kernels::ConvolutionShape;
using Kernel = std::array<Size, 3>;

Size elements_of(const ConvolutionShape& shape, const Kernel& kernel) {
  Size count = 1;
  for (std::size_t i = 0; i < static_cast<std::size_t>(shape.spatial); ++i) count = count * kernel[i];
  return count;
}

/// Throws unless no product of two numbers overflows.
void require_window(const ConvolutionShape& shape, const Kernel& kernel) {
  require_between(1, shape.spatial, 3);
  for (std::size_t i = 0; i < static_cast<std::size_t>(shape.spatial); ++i) {
    for (Size number : {kernel[i], shape.stride[i], shape.dilation[i]}) require_between(1, number, most_of_a_window);
    for (Size number : {shape.padding_low[i], shape.padding_high[i]}) require_between(0, number, most_of_a_window);
  }
}

/// The number of windows of images with these sizes. A size that is a symbol fits.
Size windows_of(const Shape& sizes, const ConvolutionShape& shape, const Kernel& kernel) {
  Size count = 1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Size room = sizes[i] + shape.padding_low[i] + shape.padding_high[i] - shape.dilation[i] * (kernel[i] - 1) - 1;
    count = count * (!room.is_symbol() && room.raw() < 0 ? Size(0) : room / shape.stride[i] + 1);
  }
  return count;
}

/// The view with its leading axes as one: [N, …], with `own` axes besides.
struct Flattened {
  Shape shape;
  Strides strides;
  Strided view;

  Flattened(const Strided& x, int own) {
    std::int64_t count = 1;
    for (int i = 0; i < x.rank - own; ++i) count *= x.shape[i];
    shape.push_back(count);
    for (int i = x.rank - own; i < x.rank; ++i) shape.push_back(x.shape[i]);
    strides.resize(shape.size(), 1);
    for (std::size_t i = shape.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * shape[i].raw();
    view = {x.data, x.dtype, shape.rank(), shape.host(), strides.data()};
  }
};

/// [..., C, spatial...] → [..., C kernel, windows].
struct UnfoldColumns {
  using kind = Linear;
  static constexpr const char* name = "unfold_columns";
  ConvolutionShape shape;
  Kernel kernel;

  Type type(const Type& x) const {
    require_window(shape, kernel);
    require_rank_of_at_least(shape.spatial + 1, x);
    const Shape sizes = spatial_sizes(x, shape.spatial);
    for (Size size : sizes) require_between(0, size, 4 * most_of_a_window);
    Type type{x.dtype, Shape(x.shape.begin(), x.shape.end() - shape.spatial)};
    type.shape.back() = type.shape.back() * elements_of(shape, kernel);
    type.shape.push_back(windows_of(sizes, shape, kernel));
    return type;
  }
  void eval(Outputs out, Inputs in) const {
    run_computed(ElementOrder::row_major, out, in, [&](Outputs y, Inputs x) {
      kernels::unfold(Flattened(y[0], 2).view, Flattened(x[0], shape.spatial + 1).view, shape, kernel);
    });
  }
  Tensor transpose(const Tensor& ct, const Type& x) const;
  UnfoldColumns lifted() const { return *this; }
  static std::vector<Sample<UnfoldColumns>> samples() {
    return {{{{2, {1, 1}, {0, 0}, {0, 0}, {1, 1}}, {2, 2}}, {uniform_around_zero({1, 2, 3, 4})}},
            {{{2, {2, 1}, {1, 0}, {1, 0}, {1, 2}}, {3, 2}}, {uniform_around_zero({2, 3, 4})}},
            {{{1, {2}, {0}, {1}, {1}}, {2}}, {uniform_around_zero({2, 3})}},
            {{{2, {1, 1}, {0, 0}, {0, 0}, {1, 1}}, {2, 2}}, {uniform_around_zero({0, 2, 3, 4})}}};
  }
};

/// [..., C kernel, windows] → [..., C, sizes...].
struct FoldColumns {
  using kind = Linear;
  static constexpr const char* name = "fold_columns";
  ConvolutionShape shape;
  Kernel kernel;
  Shape sizes;

  Type type(const Type& y) const {
    require_window(shape, kernel);
    require_between(shape.spatial, sizes.rank(), shape.spatial);
    require_rank_of_at_least(2, y);
    for (Size size : sizes) require_between(0, size, 4 * most_of_a_window);
    const Size elements = elements_of(shape, kernel), rows = y.shape[y.shape.size() - 2];
    if (!any_symbol(rows, elements)) require_between(0, rows.raw() % elements.raw(), 0);
    require_shape({y.shape.back()}, {windows_of(sizes, shape, kernel)});
    Type type{y.dtype, Shape(y.shape.begin(), y.shape.end() - 1)};
    type.shape.back() = rows / elements;
    type.shape.append(sizes.begin(), sizes.end());
    return type;
  }
  void eval(Outputs out, Inputs in) const {
    run_computed(ElementOrder::row_major, out, in, [&](Outputs x, Inputs y) {
      kernels::fold(Flattened(x[0], shape.spatial + 1).view, Flattened(y[0], 2).view, shape, kernel);
    });
  }
  Tensor transpose(const Tensor& ct) const { return apply(UnfoldColumns{shape, kernel}, ct); }
  FoldColumns lifted() const { return *this; }
  static std::vector<Sample<FoldColumns>> samples() {
    const FoldColumns ops[] = {{{2, {1, 1}, {0, 0}, {0, 0}, {1, 1}}, {2, 2}, {3, 4}},
                               {{2, {2, 1}, {1, 0}, {1, 0}, {1, 2}}, {3, 2}, {3, 4}},
                               {{1, {2}, {0}, {1}, {1}}, {2}, {3}}};
    return {{ops[0], {uniform_around_zero({1, 8, 6})}},
            {ops[1], {uniform_around_zero({12, 4})}},
            {ops[2], {uniform_around_zero({2, 4, 2})}}};
  }
};

Tensor UnfoldColumns::transpose(const Tensor& ct, const Type& x) const {
  return apply(FoldColumns{shape, kernel, spatial_sizes(x, shape.spatial)}, ct);
}

// ── what users call: two spatial axes, as in PyTorch ──

struct Windows {
  ConvolutionShape shape;
  Kernel kernel;
};

/// The options of one call, checked; `sizes` are those of the images.
Windows windows_from(const char* op, const Sizes& kernel, const UnfoldOptions& options, const Shape& sizes,
                     const Tensor& x) {
  Windows w{{2, array_per_axis(op, "stride", options.stride, 2, 1), {}, {}, {}, 1},
            array_per_axis(op, "kernel", kernel, 2, 1)};
  w.shape.padding_low = w.shape.padding_high = array_per_axis(op, "padding", options.padding, 2, 0);
  w.shape.dilation = array_per_axis(op, "dilation", options.dilation, 2, 1);
  for (std::size_t i = 0; i < 2; ++i)
    if (w.shape.dilation[i] * (w.kernel[i] - 1) + 1 > sizes[i] + 2 * w.shape.padding_low[i])
      raise<ValueError>(std::string(op) + ": the kernel " + list_of(Shape(w.kernel.begin(), w.kernel.begin() + 2)) +
                        " does not fit images " + list_of(sizes) + " of " + type_text(x));
  return w;
}

}  // namespace

namespace ops {

Tensor unfold(const Tensor& x, const Sizes& kernel) { return unfold(x, kernel, UnfoldOptions{}); }
Tensor unfold(const Tensor& x, const Sizes& kernel, UnfoldOptions options) {
  const Called as("unfold", x);
  require_images("unfold", x, 2);
  const Windows w = windows_from("unfold", kernel, options, spatial_sizes(type_of(x), 2), x);
  return apply(UnfoldColumns{w.shape, w.kernel}, x);
}
Tensor unfold(const Tensor& x, const Sizes& kernel, const Sizes& dilation, const Sizes& padding, const Sizes& stride) {
  return unfold(x, kernel, UnfoldOptions{dilation, padding, stride});
}

Tensor fold(const Tensor& x, const Sizes& output_size, const Sizes& kernel) {
  return fold(x, output_size, kernel, UnfoldOptions{});
}
Tensor fold(const Tensor& x, const Sizes& output_size, const Sizes& kernel, UnfoldOptions options) {
  const Called as("fold", x);
  const Type type = type_of(x);
  require_axes("fold", "input", x, type.rank() == 2 || type.rank() == 3, "[N, C KH KW, windows] or [C KH KW, windows]");
  const Shape sizes = shape_of(one_per_axis("fold", "output_size", output_size, 2, 1));
  const Windows w = windows_from("fold", kernel, options, sizes, x);
  const Size elements = elements_of(w.shape, w.kernel), rows = type.shape[type.shape.size() - 2];
  const Size windows = windows_of(sizes, w.shape, w.kernel);
  if (!(rows / elements * elements == rows))
    raise<ValueError>("fold: the columns of " + type_text(x) + " have " + std::to_string(rows.hint()) +
                      " elements, which do not divide into windows of " + std::to_string(elements.hint()));
  if (!(type.shape.back() == windows))
    raise<ValueError>("fold: " + type_text(x) + " has " + std::to_string(type.shape.back().hint()) +
                      " columns, images " + list_of(sizes) + " have " + std::to_string(windows.hint()) + " windows");
  return apply(FoldColumns{w.shape, w.kernel, sizes}, x);
}
Tensor fold(const Tensor& x, const Sizes& output_size, const Sizes& kernel, const Sizes& dilation, const Sizes& padding,
            const Sizes& stride) {
  return fold(x, output_size, kernel, UnfoldOptions{dilation, padding, stride});
}

}  // namespace ops
}  // namespace ricci
