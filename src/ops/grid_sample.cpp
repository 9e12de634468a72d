// Images read at places that a grid gives. Along each axis a place is a few elements with weights; the result is the
// sum over all choices of one element an axis, whose channels are a row.
#include <cmath>
#include <utility>

#include "ops/axes.h"
#include "ops/keys_kernel.h"
#include "ops/patterns.h"
#include "ops/row_sums.h"
#include "ops/sums.h"
#include "primitive/called.h"
#include "ricci/ops/resampling.h"

namespace ricci {
namespace {

enum class Outside : std::uint8_t { zeros, border, reflection };

/// One of the elements that a place reads along an axis: int64 places inside, and weights.
struct Tap {
  Tensor place, weight;
};

/// One axis of an image of `size` elements along it.
struct ReadAxis {
  Size size;
  Outside outside;
  bool align_corners;

  /// -1 … 1 in elements.
  Tensor in_elements(const Tensor& x) const {
    return align_corners ? (x + 1) * (size - 1) / 2 : ((x + 1) * size - 1) / 2;
  }
  /// Mirrored at both ends, as often as it takes. Where an axis has one element and corners meet, that one.
  Tensor mirrored(const Tensor& x) const {
    const Tensor low = align_corners ? Tensor(0) : Tensor(-0.5), span = Tensor(align_corners ? size - 1 : size);
    if (align_corners && size == 1) return x * 0;
    const Tensor from_low = abs(x - low), turns = floor(from_low / span);
    const Tensor rest = from_low - turns * span;
    return where(eq(remainder(turns, 2), 0), rest + low, span - rest + low);
  }
  /// The place that is read for one that may lie outside.
  Tensor inside(const Tensor& x) const {
    if (outside == Outside::zeros) return x;
    return clamp(outside == Outside::border ? x : mirrored(x), 0, size - 1);
  }
  /// A whole place with a weight; what lies outside weighs nothing.
  Tap tap(const Tensor& place, const Tensor& weight) const {
    const Tensor whole = to(place, DType::int64);
    const Tensor is_inside = logical_and(ge(place, 0), le(place, size - 1));
    return {clamp(whole, 0, size - 1), where(is_inside, weight, 0)};
  }

  std::vector<Tap> nearest(const Tensor& x) const {
    const Tensor place = round(inside(in_elements(x)));
    return {tap(place, ones_like(place))};
  }
  std::vector<Tap> linear(const Tensor& x) const {
    const Tensor place = inside(in_elements(x)), below = floor(place), t = place - below;
    return {tap(below, 1 - t), tap(below + 1, t)};
  }
  std::vector<Tap> cubic(const Tensor& x) const {
    const Tensor place = in_elements(x), below = floor(place), t = place - below;
    const auto near = [](const Tensor& d) { return keys_near(d, keys_slope); };
    const auto far = [](const Tensor& d) { return keys_far(d, keys_slope); };
    const auto at = [&](int offset, const Tensor& weight) { return tap(inside(below + offset), weight); };
    return {at(-1, far(1 + t)), at(0, near(t)), at(1, near(1 - t)), at(2, far(2 - t))};
  }
};

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

/// Each choice of one tap of each axis: their places in an image whose axes have these sizes, and the products of their
/// weights, [N, P, choices].
Tap all_choices(const std::vector<std::vector<Tap>>& taps, const Shape& sizes) {
  std::vector<Tensor> places, weights;
  const auto choose = [&](auto&& self, std::size_t axis, const Tap& chosen) -> void {
    if (axis == taps.size()) {
      places.push_back(chosen.place), weights.push_back(chosen.weight);
      return;
    }
    for (const Tap& tap : taps[axis])
      self(self, axis + 1, axis == 0 ? tap : Tap{chosen.place * sizes[axis] + tap.place, chosen.weight * tap.weight});
  };
  choose(choose, 0, {});
  return {stack(places, -1), stack(weights, -1)};
}

/// The elements of images [N, elements, C] at places [N, P, choices], each times its weight, added up: [N, P, C].
Tensor read_with_weights(const Tensor& images, const Tap& chosen) {
  const Shape shape = type_of(chosen.place).shape, of_images = type_of(images).shape;
  const Tensor place = flatten(chosen.place, 1, 2);
  const Tensor result = flatten(expand(unsqueeze(places_along(shape[1]), 1), {shape[1], shape[2]}));  // of one image
  return sum_rows(images, flatten(chosen.weight, 1, 2),
                  {place, {"grid_sample", {0}, {of_images[1], of_images[2]}, false}},
                  {expand(result, type_of(place).shape), {"grid_sample", {0}, {shape[1], of_images[2]}, false}},
                  {shape[0], shape[1]});
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

  // Each axis's elements and weights, [N, places].
  std::vector<std::vector<Tap>> taps;
  for (int i = 0; i < spatial; ++i) {
    const Tensor place = flatten(select(grid, -1, spatial - 1 - i), 1, -1);
    const ReadAxis axis{sx[at(i + 2)], outside, options.align_corners};
    taps.push_back(options.mode == "bilinear"  ? axis.linear(place)
                   : options.mode == "nearest" ? axis.nearest(place)
                                               : axis.cubic(place));
  }
  const Tap chosen = all_choices(std::exchange(taps, {}), Shape(sx.begin() + 2, sx.end()));
  const Tensor y = read_with_weights(mT(flatten(x, 2, -1)), chosen);
  Shape shape = {sx[0], sx[1]};
  shape.append(sg.begin() + 1, sg.end() - 1);
  return reshape(mT(y), shape);
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
