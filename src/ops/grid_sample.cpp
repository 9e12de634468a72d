// Images read at the places of a grid: three primitives, each the derivative of another. What is read is linear in the
// image; its derivative by a coordinate of the grid is read with other weights, those of a derivative of the kernel.
#include "kernels/grid_sample.h"

#include <optional>
#include <vector>

#include "ops/axes.h"
#include "ops/dense.h"
#include "ops/patterns.h"
#include "ops/samples.h"
#include "ops/sums.h"
#include "primitive/called.h"
#include "primitive/promotion.h"
#include "ricci/ops/resampling.h"

namespace ricci {
namespace {

using kernels::GridReading;
using kernels::Interpolation;
using kernels::Outside;

/// A reading in a program, with the number of spatial axes.
struct Reading {
  GridReading how;
  std::int64_t axes;

  /// The derivative of what is read by coordinate i; nothing where it is zero everywhere.
  std::optional<Reading> by_coordinate(std::int64_t i) const {
    constexpr std::int64_t degrees[] = {0, 1, 3};  // of nearest, linear, cubic weights
    Reading steeper = *this;
    if (++steeper.how.orders[at(i)] > degrees[static_cast<std::size_t>(how.interpolation)]) return {};
    return steeper;
  }
  /// The axis of channels.
  std::int64_t channel(const Type& images) const { return images.rank() - axes - 1; }
};

/// Throws unless the operands of a reading fit.
void require_reading(const char* name, const Reading& reading, const Type& images, const Type& grid) {
  const GridReading& how = reading.how;
  require_between(0, static_cast<std::int64_t>(how.interpolation), static_cast<std::int64_t>(Interpolation::cubic));
  require_between(0, static_cast<std::int64_t>(how.outside), static_cast<std::int64_t>(Outside::reflection));
  require_between(2, reading.axes, 3);
  if (how.interpolation == Interpolation::cubic) require_between(2, reading.axes, 2);
  for (const std::int64_t order : how.orders) require_between(0, order, 3);
  require_real(name, images);
  require_floating(name, images);
  require_dtype(images.dtype, grid);
  require_rank_of_at_least(static_cast<int>(reading.axes) + 1, images);
  require_between(images.rank(), grid.rank(), images.rank());
  require_shape({grid.shape.back()}, {Size(reading.axes)});
  for (std::size_t i = 0; i < at(reading.channel(images)); ++i)
    if (images.shape[i].raw() != 1) require_shape({images.shape[i]}, {grid.shape[i]});
  for (std::size_t i = at(reading.channel(images)) + 1; i < images.shape.size(); ++i)
    require_between(1, images.shape[i], beyond_memory);
}

/// [b…, C, places…]
Type type_of_values(const Reading& reading, const Type& images, const Type& grid) {
  Type values{images.dtype, grid.shape};
  values.shape.erase(values.shape.size() - 1);
  values.shape.insert(at(reading.channel(images)), images.shape[at(reading.channel(images))]);
  return values;
}

/// kernel(out, in) on operands of computed types, with a contiguous output.
template <class Kernel>
void run_contiguous(Outputs out, Inputs in, const Kernel& kernel) {
  run_computed(ElementOrder::any, out, in, [&](Outputs to, Inputs from) {
    if (is_row_major(to[0])) return kernel(to[0], from);
    const ArrayRef found = array_like(to[0], to[0].dtype);
    kernel(found->strided(), from);
    kernels::copy(to[0], found->strided());
  });
}

/// Images of a mapped operation, with the examples as axis 0: one for all if they are not mapped.
Tensor images_of(const Batch& b) { return b.is_mapped(0) ? b.inputs[0] : unsqueeze(b.inputs[0], 0); }

/// One coordinate of a grid's tangent, beside values.
Tensor beside_values(const Tensor& grid, std::int64_t i, std::int64_t channel) {
  return unsqueeze(select(grid, -1, i), channel);
}

Tensor read_grid(const Reading& reading, const Tensor& images, const Tensor& grid);
Tensor spread_grid(const Reading& reading, const Tensor& values, const Tensor& grid, const Shape& images);
Tensor slopes_of_grid(const Reading& reading, const Tensor& images, const Tensor& grid, const Tensor& values);

/// The sum of those that are defined; undefined if none is.
Tensor added(const Tensor& a, const Tensor& b) { return !a.defined() ? b : !b.defined() ? a : a + b; }
Tensor or_zeros(const Tensor& x, const Type& type) { return x.defined() ? x : zeros_of(type); }

/// Samples whose places are not near an element's or an end, where a derivative jumps.
struct GridSamples {
  Tensor images = uniform_around_zero({1, 2, 3, 4}), two = uniform_around_zero({2, 1, 3, 4}),
         space = uniform_around_zero({1, 1, 2, 3, 2});
  Tensor grid = reshape(tensor({-0.9, -0.55, 0.3, 0.4, 0.62, 0.9, -0.13, -0.2}), {1, 2, 2, 2});
  Tensor far = reshape(tensor({-1.62, 0.4, 1.37, -1.8, 0.31, 2.41}), {1, 1, 3, 2});
  Tensor of_space = reshape(tensor({-0.3, 0.4, 0.2, 0.7, -0.8, -0.37}), {1, 1, 1, 2, 3});
  Tensor grids = cat({grid, flip(grid, 0) * 0.9}, 0);

  static Reading reading(Interpolation interpolation, Outside outside = Outside::zeros, bool corners = false,
                         std::array<std::int64_t, 3> orders = {}) {
    return {{interpolation, outside, corners, orders}, 2};
  }
  static Reading reading_of_space() { return {{}, 3}; }
};

/// Inputs: images [b…, C, sizes…], grid [b…, places…, axes]. What is read: [b…, C, places…].
struct GridRead {
  using kind = Explicit;
  static constexpr const char* name = "grid_read";
  static constexpr unsigned keeps[] = {input(1), input(0) | input(1)};
  Reading reading;

  Type type(const Type& images, const Type& grid) const {
    require_reading(name, reading, images, grid);
    return type_of_values(reading, images, grid);
  }
  void eval(Outputs out, Inputs in) const {
    run_contiguous(out, in, [&](const Strided& values, Inputs from) {
      kernels::read_grid(values, from[0], from[1], reading.how);
    });
  }
  Tensors jvp(const Forward& f) const {
    const Type values = type_of(f.outputs[0]);
    const std::int64_t channel = reading.channel(values);
    Tensor y;
    if (f.tangents[0].defined()) y = read_grid(reading, f.tangents[0], f.inputs[1]);
    if (f.tangents[1].defined())
      for (std::int64_t i = 0; i < reading.axes; ++i)
        if (const auto steeper = reading.by_coordinate(i))
          y = added(y, read_grid(*steeper, f.inputs[0], f.inputs[1]) * beside_values(f.tangents[1], i, channel));
    return {or_zeros(y, values)};
  }
  Tensors vjp(const Reverse& r) const {
    const Tensor& ct = r.cotangents[0];
    return {r.wants(0) ? spread_grid(reading, ct, r.inputs[1], r.input_types[0].shape) : Tensor(),
            r.wants(1) ? slopes_of_grid(reading, r.inputs[0], r.inputs[1], ct) : Tensor()};
  }
  BatchedOutputs batch(const Batch& b) const { return {.outputs = {read_grid(reading, images_of(b), b.input(1))}}; }
  static std::vector<Sample<GridRead>> samples() {
    using enum Interpolation;
    const GridSamples s;
    return {{{s.reading(linear)}, {s.images, s.grid}},
            {{s.reading(linear, Outside::border, true)}, {s.images, s.far}},
            {{s.reading(linear, Outside::reflection, false, {1, 0})}, {s.images, s.far}},
            {{s.reading(nearest)}, {s.two, s.grids}},
            {{s.reading(cubic, Outside::reflection)}, {s.images, s.far}},
            {{s.reading(cubic, Outside::zeros, true, {1, 2})}, {s.images, s.grid}},
            {{s.reading(linear)}, {s.images, s.grids}},
            {{s.reading(linear)}, {uniform_around_zero({1, 9, 3, 4}), s.grid}},
            {{s.reading_of_space()}, {s.space, s.of_space}},
            {{s.reading(linear)}, {zeros({1, 0, 3, 4}), s.grid}}};
  }
};

/// Inputs: values [b…, C, places…], grid [b…, places…, axes]. The transpose of GridRead: each value spread over the
/// elements that its place reads, [b…, C, sizes…].
struct GridSpread {
  using kind = Explicit;
  static constexpr const char* name = "grid_spread";
  static constexpr unsigned keeps[] = {input(1), input(0) | input(1)};
  Reading reading;
  Shape images;

  Type type(const Type& values, const Type& grid) const {
    const Type result{values.dtype, images};
    require_reading(name, reading, result, grid);
    require_shape(values.shape, type_of_values(reading, result, grid).shape);
    return result;
  }
  void eval(Outputs out, Inputs in) const {
    run_contiguous(
        out, in, [&](const Strided& sums, Inputs from) { kernels::spread_grid(sums, from[0], from[1], reading.how); });
  }
  Tensors jvp(const Forward& f) const {
    const Type result = type_of(f.outputs[0]);
    const std::int64_t channel = reading.channel(result);
    Tensor y;
    if (f.tangents[0].defined()) y = spread_grid(reading, f.tangents[0], f.inputs[1], images);
    if (f.tangents[1].defined())
      for (std::int64_t i = 0; i < reading.axes; ++i)
        if (const auto steeper = reading.by_coordinate(i))
          y = added(y,
                    spread_grid(*steeper, f.inputs[0] * beside_values(f.tangents[1], i, channel), f.inputs[1], images));
    return {or_zeros(y, result)};
  }
  Tensors vjp(const Reverse& r) const {
    const Tensor& ct = r.cotangents[0];
    return {r.wants(0) ? read_grid(reading, ct, r.inputs[1]) : Tensor(),
            r.wants(1) ? slopes_of_grid(reading, ct, r.inputs[1], r.inputs[0]) : Tensor()};
  }
  BatchedOutputs batch(const Batch& b) const {
    Shape of_examples = images;
    of_examples.insert(0, b.size);
    return {.outputs = {spread_grid(reading, b.input(0), b.input(1), of_examples)}};
  }
  static std::vector<Sample<GridSpread>> samples() {
    using enum Interpolation;
    const GridSamples s;
    return {{{s.reading(linear), {1, 2, 3, 4}}, {uniform_around_zero({1, 2, 2, 2}), s.grid}},
            {{s.reading(linear, Outside::border, true), {1, 1, 3, 4}}, {uniform_around_zero({1, 1, 1, 3}), s.far}},
            {{s.reading(nearest), {2, 1, 3, 4}}, {uniform_around_zero({2, 1, 2, 2}), s.grids}},
            {{s.reading(cubic, Outside::reflection), {1, 1, 3, 4}}, {uniform_around_zero({1, 1, 1, 3}), s.far}},
            {{s.reading(linear), {1, 1, 3, 4}}, {uniform_around_zero({2, 1, 2, 2}), s.grids}},
            {{s.reading(linear), {1, 9, 3, 4}}, {uniform_around_zero({1, 9, 2, 2}), s.grid}},
            {{s.reading_of_space(), {1, 1, 2, 3, 2}}, {uniform_around_zero({1, 1, 1, 1, 2}), s.of_space}}};
  }
};

/// Inputs: images, grid, values [b…, C, places…]. Of each place and coordinate, Σ over channels of values times the
/// derivative of what is read: like the grid.
struct GridSlopes {
  using kind = Explicit;
  static constexpr const char* name = "grid_slopes";
  static constexpr unsigned keeps[] = {input(1) | input(2), input(0) | input(1) | input(2), input(0) | input(1)};
  Reading reading;

  Type type(const Type& images, const Type& grid, const Type& values) const {
    require_reading(name, reading, images, grid);
    require_dtype(images.dtype, values);
    require_shape(values.shape, type_of_values(reading, images, grid).shape);
    return grid;
  }
  void eval(Outputs out, Inputs in) const {
    run_contiguous(out, in, [&](const Strided& slopes, Inputs from) {
      kernels::slopes_of_grid(slopes, from[0], from[1], from[2], reading.how);
    });
  }
  Tensors jvp(const Forward& f) const {
    const auto &x = f.inputs, &t = f.tangents;
    Tensor y;
    if (t[0].defined()) y = slopes_of_grid(reading, t[0], x[1], x[2]);
    if (t[2].defined()) y = added(y, slopes_of_grid(reading, x[0], x[1], t[2]));
    if (t[1].defined())
      for (std::int64_t i = 0; i < reading.axes; ++i)
        if (const auto steeper = reading.by_coordinate(i))
          y = added(y, slopes_of_grid(*steeper, x[0], x[1], x[2]) * unsqueeze(select(t[1], -1, i), -1));
    return {or_zeros(y, type_of(f.outputs[0]))};
  }
  Tensors vjp(const Reverse& r) const {
    const Tensor& ct = r.cotangents[0];
    const auto& x = r.inputs;
    const std::int64_t channel = reading.channel(r.input_types[0]);
    Tensor of_images, of_values;
    std::vector<Tensor> of_grid;
    for (std::int64_t i = 0; i < reading.axes; ++i) {
      const auto steeper = reading.by_coordinate(i);
      if (r.wants(1))
        of_grid.push_back(steeper ? sum(ct * slopes_of_grid(*steeper, x[0], x[1], x[2]), -1)
                                  : zeros_like(select(ct, -1, i)));
      if (!steeper) continue;
      const Tensor share = beside_values(ct, i, channel);
      if (r.wants(0)) of_images = added(of_images, spread_grid(*steeper, x[2] * share, x[1], r.input_types[0].shape));
      if (r.wants(2)) of_values = added(of_values, read_grid(*steeper, x[0], x[1]) * share);
    }
    return {of_images, r.wants(1) ? stack(of_grid, -1) : Tensor(), of_values};
  }
  BatchedOutputs batch(const Batch& b) const {
    return {.outputs = {slopes_of_grid(reading, images_of(b), b.input(1), b.input(2))}};
  }
  static std::vector<Sample<GridSlopes>> samples() {
    using enum Interpolation;
    const GridSamples s;
    return {{{s.reading(linear)}, {s.images, s.grid, uniform_around_zero({1, 2, 2, 2})}},
            {{s.reading(linear, Outside::border, true)}, {s.images, s.far, uniform_around_zero({1, 2, 1, 3})}},
            {{s.reading(nearest)}, {s.images, s.grid, uniform_around_zero({1, 2, 2, 2})}},
            {{s.reading(cubic, Outside::reflection)}, {s.images, s.far, uniform_around_zero({1, 2, 1, 3})}},
            {{s.reading(linear)}, {s.images, s.grids, uniform_around_zero({2, 2, 2, 2})}},
            {{s.reading(linear)}, {uniform_around_zero({1, 9, 3, 4}), s.grid, uniform_around_zero({1, 9, 2, 2})}},
            {{s.reading_of_space()}, {s.space, s.of_space, uniform_around_zero({1, 1, 1, 1, 2})}}};
  }
};

Tensor read_grid(const Reading& reading, const Tensor& images, const Tensor& grid) {
  return apply(GridRead{reading}, images, grid);
}
Tensor spread_grid(const Reading& reading, const Tensor& values, const Tensor& grid, const Shape& images) {
  return apply(GridSpread{reading, images}, values, grid);
}
Tensor slopes_of_grid(const Reading& reading, const Tensor& images, const Tensor& grid, const Tensor& values) {
  return apply(GridSlopes{reading}, images, grid, values);
}

Outside outside_of(const std::string& padding_mode) {
  if (padding_mode == "zeros") return Outside::zeros;
  if (padding_mode == "border") return Outside::border;
  if (padding_mode == "reflection") return Outside::reflection;
  raise<ValueError>("grid_sample: padding_mode is \"" + padding_mode + "\"; it must be zeros, border or reflection");
}

/// The middles, or the ends, of `size` elements between -1 and 1.
Tensor ends_or_middles(Size size, bool align_corners, DType dtype) {
  const Tensor place = to(places_along(size), dtype);
  if (!align_corners) return (2 * place + 1) / size - 1;
  return size == 1 ? place : 2 * place / (size - 1) - 1;
}

}  // namespace

namespace ops {

Tensor grid_sample(const Tensor& x, const Tensor& grid) { return grid_sample(x, grid, GridSampleOptions{}); }
Tensor grid_sample(const Tensor& x, const Tensor& grid, GridSampleOptions options) {
  const char* op = "grid_sample";
  const Called as(op, x, grid);
  require_real_floating(op, x);
  require_real_floating(op, grid);
  const Shape &sx = type_of(x).shape, &sg = type_of(grid).shape;
  const int rank = type_of(x).rank(), spatial = rank - 2;
  if ((rank != 4 && rank != 5) || sg.rank() != rank || !(sg.back() == spatial) || !(sg[0] == sx[0]))
    raise<ValueError>(std::string(op) + ": the input is " + type_text(x) + ", the grid " + type_text(grid) +
                      "; they must be [N, C, H, W] and [N, h, w, 2], or [N, C, D, H, W] and [N, d, h, w, 3]");
  for (int axis = 2; axis < rank; ++axis)
    if (sx[at(axis)] == 0)
      raise<ValueError>(std::string(op) + ": axis " + std::to_string(axis) + " of the input " + type_text(x) +
                        " is empty");
  if (options.mode != "bilinear" && options.mode != "nearest" && options.mode != "bicubic")
    raise<ValueError>(std::string(op) + ": mode is \"" + options.mode + "\"; it must be bilinear, nearest or bicubic");
  if (options.mode == "bicubic" && rank != 4)
    raise<ValueError>(std::string(op) + ": the mode \"bicubic\" is for images [N, C, H, W], the input is " +
                      type_text(x));
  const Outside outside = outside_of(options.padding_mode);
  const Interpolation interpolation = options.mode == "bilinear"  ? Interpolation::linear
                                      : options.mode == "nearest" ? Interpolation::nearest
                                                                  : Interpolation::cubic;
  const Type of_x = type_of(x), of_grid = type_of(grid);
  const Type* const types[] = {&of_x, &of_grid};
  const DType dtype = result_dtype(types);
  return read_grid({{interpolation, outside, options.align_corners, {}}, spatial}, to(x, dtype), to(grid, dtype));
}

Tensor affine_grid(const Tensor& theta, const Shape& size) { return affine_grid(theta, size, false); }
Tensor affine_grid(const Tensor& theta, const Shape& size, bool align_corners) {
  const char* op = "affine_grid";
  const Called as(op, theta);
  require_real_floating(op, theta);
  const int spatial = size.rank() - 2;
  if (spatial != 2 && spatial != 3)
    raise<ValueError>(std::string(op) + ": the size is " + to_string(size) +
                      "; it must be [N, C, H, W] or [N, C, D, H, W]");
  const Shape wanted = {size[0], spatial, spatial + 1};
  if (!(type_of(theta).shape == wanted))
    raise<ValueError>(std::string(op) + ": theta is " + type_text(theta) + "; for the size " + to_string(size) +
                      " it must be " + to_string(wanted));
  for (int axis = 2; axis < size.rank(); ++axis)
    if (size[at(axis)] < 1)
      raise<ValueError>(std::string(op) + ": axis " + std::to_string(axis) + " of the size " + to_string(size) +
                        " must be at least 1");
  // y = theta (coordinates…, 1), a column of theta at a time: [N, …, spatial].
  Shape column = {size[0]};
  for (int i = 0; i < spatial; ++i) column.push_back(1);
  column.push_back(spatial);
  Tensor grid = reshape(select(theta, 2, spatial), column);
  for (int i = 0; i < spatial; ++i) {
    Shape beside = Shape::filled(at(spatial + 2), 1);
    const int axis = spatial - 1 - i;  // of the image, for coordinate i
    beside[at(axis + 1)] = size[at(axis + 2)];
    const Tensor along = reshape(ends_or_middles(size[at(axis + 2)], align_corners, type_of(theta).dtype), beside);
    grid = grid + along * reshape(select(theta, 2, i), column);
  }
  return grid;
}

}  // namespace ops
}  // namespace ricci
