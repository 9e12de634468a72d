// Maxima and means of windows that slide over the last two axes; leading axes are batches.
#include "kernels/pooling.h"

#include <algorithm>

#include "kernels/index.h"
#include "ops/axes.h"
#include "ops/dense.h"
#include "ops/patterns.h"
#include "ops/samples.h"
#include "ops/spatial.h"
#include "primitive/called.h"

namespace ricci {
namespace {

using kernels::PoolingShape;

/// Averages know no dilation.
PoolingShape undilated(PoolingShape shape) {
  shape.dilation = {1, 1};
  return shape;
}

/// The type of one result for each window.
Type pooled_type(const Type& x, const PoolingShape& shape) {
  require_between(2, shape.spatial, 2);
  require_rank_of_at_least(2, x);
  Type type = x;
  for (std::size_t i = 0; i < 2; ++i) {
    for (Size number : {shape.stride[i], shape.dilation[i], shape.window[i]})
      require_between(1, number, most_of_a_window);
    require_between(0, shape.padding[i], most_of_a_window);
    Size& size = type.shape[type.shape.size() - 2 + i];
    const Size room = size + 2 * shape.padding[i] - shape.dilation[i] * (shape.window[i] - 1) - 1;
    size = !room.is_symbol() && room.raw() < 0 ? Size(0) : room / shape.stride[i] + 1;
  }
  return type;
}

/// The type of what was pooled to y, from its last two sizes.
Type plane_type(const Type& y, const PoolingShape& shape, Size height, Size width) {
  require_rank_of_at_least(2, y);
  Type type = y;
  type.shape[type.shape.size() - 2] = height;
  type.shape.back() = width;
  require_shape(y.shape, pooled_type(type, shape).shape);
  return type;
}

/// Elements of each plane of x [..., H, W] at `places`, which count rows first.
Tensor taken(const Tensor& x, const Tensor& places) {
  return reshape(gather(flatten(x, -2, -1), -1, flatten(places, -2, -1)), type_of(places).shape);
}

/// Zeros with each element of y added at its place, the transpose of `taken`. Inputs: y, places.
struct Placed {
  using kind = Linear;
  static constexpr const char* name = "max_pool2d_placed";
  PoolingShape shape;
  Size height, width;

  Type type(const Type& y, const Type& places) const {
    require_real(name, y);
    require_dtype(DType::int64, places);
    require_shape(places.shape, y.shape);
    return plane_type(y, shape, height, width);
  }
  void eval(Outputs out, Inputs in) const {
    const std::int64_t plane = height.host() * width.host();
    if (const auto bad = kernels::find_out_of_range(in[1], -1, plane))
      raise<IndexError>(std::string(name) + ": place " + std::to_string(*bad) + " is out of range; " +
                        legal_range(-1, plane - 1));
    kernels::max_pool_gradient(out[0], in[0], in[1], shape);
  }
  Tensor transpose(int, const Tensor& ct, const Reverse& r) const { return taken(ct, r.inputs[1]); }
  Placed lifted() const { return *this; }
  static std::vector<Sample<Placed>> samples() {
    const Tensor places = tensor({{1, 2}, {4, 8}});
    return {
        {{{2, {2, 2}, {1, 1}}, 3, 3}, {uniform_around_zero({2, 2}), places}},
        {{{2, {2, 2}, {1, 1}}, 3, 3}, {uniform_around_zero({2, 2, 2}), stack({places, zeros({2, 2}, DType::int64)})}}};
  }
};

/// The greatest element of each window, and its place in the plane.
struct MaxPool {
  using kind = Explicit;
  static constexpr const char* name = "max_pool2d";
  static constexpr unsigned keeps = output(1);
  PoolingShape shape;

  Types type(const Type& x) const {
    require_real(name, x);
    const Type values = pooled_type(x, shape);
    return {values, {DType::int64, values.shape}};
  }
  void eval(Outputs out, Inputs in) const { kernels::max_pool(out[0], out[1], in[0], shape); }
  Tensors jvp(const Forward& f) const { return {taken(f.tangents[0], f.outputs[1]), Tensor()}; }
  Tensors vjp(const Reverse& r) const {
    const Shape& sizes = r.input_types[0].shape;
    return {apply(Placed{shape, sizes[sizes.size() - 2], sizes.back()}, r.cotangents[0], r.outputs[1])};
  }
  MaxPool lifted() const { return *this; }
  static std::vector<Sample<MaxPool>> samples() {
    return {{{{2, {2, 2}, {2, 2}}}, {uniform_around_zero({1, 4, 5})}},
            {{{2, {3, 2}, {1, 2}, {1, 1}}}, {uniform_around_zero({2, 1, 3, 3})}},
            {{{2, {2, 2}, {1, 1}, {0, 0}, {2, 1}}}, {uniform_around_zero({4, 4})}},
            {{{2, {2, 2}, {2, 2}}}, {uniform_around_zero({0, 2, 2})}}};
  }
};

Tensor avg_pool_transposed(const Tensor& y, const PoolingShape& shape, const Shape& plane);

/// The mean of each window, padding included.
struct AvgPool {
  using kind = Linear;
  static constexpr const char* name = "avg_pool2d";
  PoolingShape shape;

  Type type(const Type& x) const { return pooled_type(x, undilated(shape)); }
  void eval(Outputs out, Inputs in) const { kernels::avg_pool(out[0], in[0], shape); }
  Tensor transpose(const Tensor& ct, const Type& input) const { return avg_pool_transposed(ct, shape, input.shape); }
  AvgPool lifted() const { return *this; }
  static std::vector<Sample<AvgPool>> samples() {
    return {{{{2, {2, 2}, {2, 2}}}, {uniform_around_zero({1, 4, 5})}},
            {{{2, {3, 2}, {1, 2}, {1, 1}}}, {uniform_around_zero({2, 1, 3, 3})}},
            {{{2, {2, 2}, {2, 2}}}, {uniform_around_zero({0, 2, 2})}}};
  }
};

/// Every element of y spread evenly over its window.
struct AvgPoolTransposed {
  using kind = Linear;
  static constexpr const char* name = "avg_pool2d_transposed";
  PoolingShape shape;
  Size height, width;

  Type type(const Type& y) const { return plane_type(y, undilated(shape), height, width); }
  void eval(Outputs out, Inputs in) const { kernels::avg_pool_gradient(out[0], in[0], shape); }
  Tensor transpose(const Tensor& ct) const { return apply(AvgPool{shape}, ct); }
  AvgPoolTransposed lifted() const { return *this; }
  static std::vector<Sample<AvgPoolTransposed>> samples() {
    return {{{{2, {2, 2}, {2, 2}}, 4, 5}, {uniform_around_zero({1, 2, 2})}},
            {{{2, {3, 2}, {1, 2}, {1, 1}}, 3, 3}, {uniform_around_zero({3, 2})}}};
  }
};

Tensor avg_pool_transposed(const Tensor& y, const PoolingShape& shape, const Shape& plane) {
  return apply(AvgPoolTransposed{shape, plane[plane.size() - 2], plane.back()}, y);
}

/// True if some window along an axis sees only padding: dilation may step over an axis that is shorter.
bool has_empty_window(Size size, const PoolingShape& shape, std::size_t axis) {
  if (shape.padding[axis] == 0 || shape.dilation[axis] == 1 || size >= shape.dilation[axis]) return false;
  const std::int64_t n = size.host();
  const std::int64_t windows = kernels::pooling_size(n, shape, axis);
  const std::int64_t dilation = shape.dilation[axis];
  for (std::int64_t i = 0; i < windows; ++i) {
    const std::int64_t begin = i * shape.stride[axis].host() - shape.padding[axis].host();
    const std::int64_t skipped = begin < 0 ? (-begin + dilation - 1) / dilation : 0;  // elements before the input
    if (skipped >= shape.window[axis].host() || begin + skipped * dilation >= n) return true;
  }
  return false;
}

/// Throws unless x holds planes.
void require_planes(const char* op, const Tensor& x) {
  require_floating(op, x);
  const int rank = type_of(x).rank();
  require_axes(op, "input", x, rank == 3 || rank == 4, "[N, C, H, W] or [C, H, W]");
}

/// The options of one call, checked against x.
PoolingShape checked_shape(const char* op, const Tensor& x, const Sizes& kernel, const Sizes& stride,
                           const Sizes& padding, const Sizes& dilation) {
  require_planes(op, x);
  const Type type = type_of(x);
  const Sizes windows = one_per_axis(op, "kernel", kernel, 2, 1), strides = one_per_axis(op, "stride", stride, 2, 1);
  const Sizes paddings = one_per_axis(op, "padding", padding, 2, 0),
              dilations = one_per_axis(op, "dilation", dilation, 2, 1);
  PoolingShape shape;
  for (std::size_t i = 0; i < 2; ++i) {
    const Size size = type.shape[type.shape.size() - 2 + i];
    shape.window[i] = windows[i];
    shape.stride[i] = strides[i];
    shape.padding[i] = paddings[i];
    shape.dilation[i] = dilations[i];
    if (2 * paddings[i] > windows[i])
      raise<ValueError>(std::string(op) + ": padding " + list_of(paddings) + " is more than half the kernel " +
                        list_of(windows));
    if (size + 2 * paddings[i] < dilations[i] * (windows[i] - 1) + 1 || has_empty_window(size, shape, i))
      raise<ValueError>(std::string(op) + ": the kernel " + list_of(windows) + " does not fit the input " +
                        type_text(x));
  }
  return shape;
}

bool is_multiple(Size n, Size of) { return n / of * of == n; }

/// The means of `count` windows that divide an axis: where they overlap or differ in size, each is gathered, and what
/// the shorter ones lack is 0.
Tensor window_means(const Tensor& x, std::int64_t axis, Size count) {
  const Size n = type_of(x).shape[at(axis)];
  const Tensor i = places_along(count), first = floor_divide(i * n, count);
  const Tensor sizes = floor_divide((i + 1) * n + (count - 1), count) - first;  // [count], each at least 1
  const Size greatest = (n + count - 1) / count + (is_multiple(n, count) ? 0 : 1);
  const Tensor within = places_along(greatest);
  const Tensor places = minimum(unsqueeze(first, 1) + within, n - 1);  // [count, greatest]
  const Tensor elements = movedim(x, axis, -1);
  Shape gathered = type_of(elements).shape;
  gathered.back() = count;
  gathered.push_back(greatest);
  const Tensor windows = reshape(index_select(elements, -1, flatten(places)), gathered);
  const Tensor kept = where(lt(within, unsqueeze(sizes, 1)), windows, 0);
  return movedim(sum(kept, -1) / to(sizes, type_of(x).dtype), -1, axis);
}

}  // namespace

namespace ops {

Tensor max_pool2d(const Tensor& x, const Sizes& kernel) { return max_pool2d(x, kernel, kernel, 0, 1); }
Tensor max_pool2d(const Tensor& x, const Sizes& kernel, const Sizes& stride) {
  return max_pool2d(x, kernel, stride, 0, 1);
}
Tensor max_pool2d(const Tensor& x, const Sizes& kernel, const Sizes& stride, const Sizes& padding) {
  return max_pool2d(x, kernel, stride, padding, 1);
}
Tensor max_pool2d(const Tensor& x, const Sizes& kernel, const Sizes& stride, const Sizes& padding,
                  const Sizes& dilation) {
  return ricci::apply(MaxPool{checked_shape("max_pool2d", x, kernel, stride, padding, dilation)}, std::span(&x, 1))[0];
}

Tensor avg_pool2d(const Tensor& x, const Sizes& kernel) { return avg_pool2d(x, kernel, kernel, 0); }
Tensor avg_pool2d(const Tensor& x, const Sizes& kernel, const Sizes& stride) {
  return avg_pool2d(x, kernel, stride, 0);
}
Tensor avg_pool2d(const Tensor& x, const Sizes& kernel, const Sizes& stride, const Sizes& padding) {
  return apply(AvgPool{checked_shape("avg_pool2d", x, kernel, stride, padding, 1)}, x);
}

Tensor adaptive_avg_pool2d(const Tensor& x, const Sizes& output_size) {
  const Called as("adaptive_avg_pool2d", x);
  require_planes("adaptive_avg_pool2d", x);
  const Sizes counts = one_per_axis("adaptive_avg_pool2d", "output_size", output_size, 2, 1);
  const Shape shape = type_of(x).shape;
  const std::int64_t rows = shape.rank() - 2;
  const Size height = shape[shape.size() - 2], width = shape.back();
  if (height == 0 || width == 0)
    raise<ValueError>("adaptive_avg_pool2d: the planes of " + type_text(x) + " are empty; pool at least one element");
  if (is_multiple(height, counts[0]) && is_multiple(width, counts[1]))
    return avg_pool2d(x, {height / counts[0], width / counts[1]});
  return window_means(window_means(x, rows, counts[0]), rows + 1, counts[1]);
}

}  // namespace ops
}  // namespace ricci
