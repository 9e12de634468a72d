// Images of other sizes. Every mode that weighs elements is the linear primitive `Resample` along one axis. Sizes and
// mode tell the windows; the transpose is `Resample` with transposed windows. Start with `Resample`.
#include "ricci/ops/resampling.h"

#include <algorithm>
#include <cmath>

#include "kernels/keys_kernel.h"
#include "kernels/resample.h"
#include "ops/axes.h"
#include "ops/dense.h"
#include "ops/patterns.h"
#include "ops/samples.h"
#include "ops/spatial.h"
#include "ops/sums.h"
#include "primitive/called.h"
#include "ricci/ops/pooling.h"

namespace ricci {
namespace {

enum class Filter : std::uint8_t { linear, cubic, nearest, nearest_exact };

/// What the windows of one axis follow from.
struct Resampling {
  Filter filter;
  bool align_corners, antialias;
  Size from, to;
  double step;  // elements of the input for one of the result; 0: what the sizes say

  double step_of_sizes() const {
    const auto n = static_cast<double>(from.host()), m = static_cast<double>(to.host());
    if (align_corners) return m > 1 ? (n - 1) / (m - 1) : 0;
    return step > 0 ? step : n / m;
  }
};

/// Keys' kernel at distance x, 0 from 2 on.
double cubic(double x, double a) {
  x = std::abs(x);
  if (x < 1) return keys_near(x, a);
  return x < 2 ? keys_far(x, a) : 0;
}

/// Weights of neighbours that may lie outside of n elements, where the outermost ones stand for them.
void append_clamped(kernels::WeightedWindows& windows, std::int64_t first, const double* weights, std::int64_t count,
                    std::int64_t n) {
  const auto place = [&](std::int64_t i) { return std::clamp<std::int64_t>(first + i, 0, n - 1); };
  const std::int64_t begin = place(0);
  double inside[4] = {};
  for (std::int64_t i = 0; i < count; ++i) inside[place(i) - begin] += weights[i];
  windows.append(begin, place(count - 1) - begin + 1, inside);
}

/// As PyTorch and Pillow: the filter's support, and the filter, grow with the step where that is above 1.
void append_antialiased(kernels::WeightedWindows& windows, const Resampling& r, double step, std::int64_t i,
                        std::int64_t n) {
  const double stretch = std::max(step, 1.0), support = (r.filter == Filter::cubic ? 2 : 1) * stretch;
  const double middle = step * (static_cast<double>(i) + 0.5);
  const std::int64_t begin = std::max<std::int64_t>(static_cast<std::int64_t>(middle - support + 0.5), 0);
  const std::int64_t end = std::min(static_cast<std::int64_t>(middle + support + 0.5), n);
  std::vector<double> weights;
  double total = 0;
  for (std::int64_t k = begin; k < end; ++k) {
    const double x = (static_cast<double>(k) - middle + 0.5) / stretch;
    weights.push_back(r.filter == Filter::cubic ? cubic(x, -0.5) : std::max(0.0, 1 - std::abs(x)));
    total += weights.back();
  }
  for (double& weight : weights) weight = total != 0 ? weight / total : weight;
  windows.append(begin, end - begin, weights.data());
}

/// The place of the element that result i copies: the nearest one, computed in F as PyTorch does, rounding included.
template <class F>
std::int64_t nearest_place(const Resampling& r, std::int64_t i) {
  const auto n = static_cast<F>(r.from.host()), m = static_cast<F>(r.to.host());
  const F scale = r.step > 0 ? static_cast<F>(r.step) : n / m;
  const F place = static_cast<F>(i) + (r.filter == Filter::nearest_exact ? F(0.5) : F(0));
  return std::min(static_cast<std::int64_t>(std::floor(place * scale)), r.from.host() - 1);
}

/// For elements of this type.
kernels::WeightedWindows windows_of(const Resampling& r, DType dtype) {
  kernels::WeightedWindows windows;
  const std::int64_t n = r.from.host(), m = r.to.host();
  if (r.filter == Filter::nearest || r.filter == Filter::nearest_exact) {
    const double one = 1;
    for (std::int64_t i = 0; i < m; ++i)
      windows.append(dtype == DType::float64 ? nearest_place<double>(r, i) : nearest_place<float>(r, i), 1, &one);
    return windows;
  }
  const double step = r.step_of_sizes();
  for (std::int64_t i = 0; i < m; ++i) {
    if (r.antialias) {
      append_antialiased(windows, r, step, i, n);
      continue;
    }
    const double at_corner = step * static_cast<double>(i), at_middle = step * (static_cast<double>(i) + 0.5) - 0.5;
    const double at = r.align_corners ? at_corner : r.filter == Filter::linear ? std::max(at_middle, 0.0) : at_middle;
    const double below = std::floor(at), t = at - below;
    const auto first = static_cast<std::int64_t>(below);
    if (r.filter == Filter::linear) {
      const double weights[] = {1 - t, t};
      append_clamped(windows, first, weights, 2, n);
    } else {
      const double weights[] = {keys_far(1 + t, keys_slope<double>), keys_near(t, keys_slope<double>),
                                keys_near(1 - t, keys_slope<double>), keys_far(2 - t, keys_slope<double>)};
      append_clamped(windows, first - 1, weights, 4, n);
    }
  }
  return windows;
}

/// The weighted sums along an axis, or their transpose.
struct Resample {
  using kind = Linear;
  static constexpr const char* name = "resample";
  std::int64_t axis;
  Resampling by;
  bool is_transposed = false;

  Type type(const Type& x) const {
    require_real(name, x);
    require_floating(name, x);
    require_axis(axis, x.rank());
    Type type = x;
    type.shape[at(axis)] = is_transposed ? by.to : by.from;
    require_shape(x.shape, type.shape);
    type.shape[at(axis)] = is_transposed ? by.from : by.to;
    return type;
  }
  void eval(Outputs out, Inputs in) const {
    const kernels::WeightedWindows windows = windows_of(by, in[0].dtype);
    run_computed(ElementOrder::row_major, out, in, [&](Outputs y, Inputs x) {
      kernels::resample(y[0], x[0], static_cast<int>(axis),
                        is_transposed ? kernels::transposed(windows, by.from.host()) : windows);
    });
  }
  Tensor transpose(const Tensor& ct) const { return apply(Resample{axis, by, !is_transposed}, ct); }
  Resample lifted() const { return {axis + 1, by, is_transposed}; }
  static std::vector<Sample<Resample>> samples() {
    return {{{1, {Filter::linear, false, false, 3, 7, 0}}, {uniform_around_zero({2, 3})}},
            {{0, {Filter::cubic, true, false, 4, 3, 0}}, {uniform_around_zero({4, 2})}},
            {{1, {Filter::cubic, false, true, 5, 2, 0}}, {uniform_around_zero({1, 5, 2})}},
            {{1, {Filter::linear, false, false, 3, 5, 0.7}, true}, {uniform_around_zero({2, 5})}},
            {{1, {Filter::nearest, false, false, 3, 5, 0}}, {uniform_around_zero({2, 3})}},
            {{0, {Filter::nearest_exact, false, false, 4, 3, 1.3}}, {uniform_around_zero({4, 2})}},
            {{1, {Filter::linear, false, false, 2, 3, 0}}, {uniform_around_zero({0, 2})}}};
  }
};

/// The element that is nearest to each place of the result, or to its middle: as `nearest_place`, for types that are
/// not weighed.
Tensor nearest(const Tensor& x, std::int64_t axis, Size to_size, double step, bool of_middle) {
  const Size from = type_of(x).shape[at(axis)];
  const DType dtype = type_of(x).dtype == DType::float64 ? DType::float64 : DType::float32;  // as PyTorch computes it
  const Tensor place = to(places_along(to_size), dtype);
  const Tensor scale = step > 0 ? to(Tensor(step), dtype) : to(Tensor(from), dtype) / to(Tensor(to_size), dtype);
  const Tensor places = to(floor((of_middle ? place + 0.5 : place) * scale), DType::int64);
  return index_select(x, axis, minimum(places, from - 1));
}

/// One size of the result, and one step, for each spatial axis.
struct Request {
  Sizes sizes;
  SmallVector<double, 3> steps;  // 0: what the sizes say
};

Request requested(const char* op, const Tensor& x, const Sizes& size, const Factors& factors, bool recompute) {
  const int spatial = type_of(x).rank() - 2;
  if (size.empty() == factors.empty()) raise<ValueError>(std::string(op) + ": give either size or scale_factor");
  Request request;
  if (!size.empty()) {
    if (recompute) raise<ValueError>(std::string(op) + ": recompute_scale_factor is for scale_factor, not for size");
    request.sizes = one_per_axis(op, "size", size, spatial, 1);
    request.steps = SmallVector<double, 3>(request.sizes.size(), 0.0);
    return request;
  }
  if (factors.size() != 1 && factors.size() != static_cast<std::size_t>(spatial))
    raise<ValueError>(std::string(op) + ": scale_factor has " + count_of(factors.size(), "number", "numbers") +
                      "; it must have one, or one for each of " + count_of(spatial, "spatial axis", "spatial axes"));
  for (int i = 0; i < spatial; ++i) {
    const double factor = factors[factors.size() == 1 ? 0 : static_cast<std::size_t>(i)];
    if (!(factor > 0) || !std::isfinite(factor))
      raise<ValueError>(std::string(op) + ": scale_factor is " + std::to_string(factor) + "; it must be above 0");
    const Size from = type_of(x).shape[at(i + 2)];
    const bool is_whole = factor == std::floor(factor) && factor < 1e6;
    const double size_of = std::floor(static_cast<double>(is_whole ? 0 : from.host()) * factor);
    if (!(size_of < 1e15))
      raise<ValueError>(std::string(op) + ": scale_factor " + std::to_string(factor) +
                        " makes sizes that no memory holds");
    request.sizes.push_back(is_whole ? from * Size(static_cast<std::int64_t>(factor))
                                     : Size(static_cast<std::int64_t>(size_of)));
    if (request.sizes.back() < 1)
      raise<ValueError>(std::string(op) + ": scale_factor " + std::to_string(factor) + " of " + type_text(x) +
                        " leaves axis " + std::to_string(i + 2) + " empty");
    request.steps.push_back(recompute ? 0 : 1 / factor);
  }
  return request;
}

Tensor interpolated(const char* op, const Tensor& x, const InterpolateOptions& options) {
  const int spatial = type_of(x).rank() - 2;
  if (spatial < 1 || spatial > 3)
    raise<ValueError>(std::string(op) + ": the input is " + type_text(x) +
                      "; it must be [N, C, …] with one to three spatial axes");
  for (int axis = 2; axis < spatial + 2; ++axis)
    if (type_of(x).shape[at(axis)] == 0)
      raise<ValueError>(std::string(op) + ": axis " + std::to_string(axis) + " of " + type_text(x) + " is empty");
  const std::string& mode = options.mode;
  const Request request = requested(op, x, options.size, options.scale_factor, options.recompute_scale_factor);
  const bool exact = mode == "nearest-exact";
  const bool weighs_corners = mode == "linear" || mode == "bilinear" || mode == "bicubic" || mode == "trilinear";
  if (options.align_corners && !weighs_corners)
    raise<ValueError>(std::string(op) + ": align_corners is for linear, bilinear, bicubic and trilinear, not for \"" +
                      mode + "\"");
  if (options.antialias && mode != "bilinear" && mode != "bicubic")
    raise<ValueError>(std::string(op) + ": antialias is for bilinear and bicubic, not for \"" + mode + "\"");
  Tensor y = x;
  const auto resample = [&](Filter filter, bool align) {
    for (int i = spatial; i-- > 0;) {  // the last axis first: it is the dearest, and the others may grow
      const Size from = type_of(x).shape[at(i + 2)];
      y = apply(Resample{i + 2, {filter, align, options.antialias, from, request.sizes[at(i)], request.steps[at(i)]}},
                y);
    }
    return y;
  };
  if (mode == "nearest" || exact) {
    if (is_floating(type_of(x).dtype)) return resample(exact ? Filter::nearest_exact : Filter::nearest, false);
    for (int i = 0; i < spatial; ++i) y = nearest(y, i + 2, request.sizes[at(i)], request.steps[at(i)], exact);
    return y;
  }
  if (!weighs_corners && mode != "area")
    raise<ValueError>(std::string(op) + ": mode is \"" + mode +
                      "\"; it must be nearest, nearest-exact, linear, bilinear, bicubic, trilinear or area");
  const int wanted = mode == "linear" ? 1 : mode == "trilinear" ? 3 : mode == "area" ? spatial : 2;
  if (spatial != wanted)
    raise<ValueError>(std::string(op) + ": the mode \"" + mode + "\" is for " +
                      count_of(wanted, "spatial axis", "spatial axes") + ", the input " + type_text(x) + " has " +
                      std::to_string(spatial));
  require_real_floating(op, x);
  if (mode == "area")
    return spatial == 1   ? adaptive_avg_pool1d(x, request.sizes)
           : spatial == 2 ? adaptive_avg_pool2d(x, request.sizes)
                          : adaptive_avg_pool3d(x, request.sizes);
  return resample(mode == "bicubic" ? Filter::cubic : Filter::linear, options.align_corners.value_or(false));
}

/// Sizes of x from axis -3 on: channels, height, width.
void require_planes(const char* op, const Tensor& x) {
  if (type_of(x).rank() < 3)
    raise<ValueError>(std::string(op) + ": the input is " + type_text(x) + "; it must be [..., C, H, W]");
}
void require_factor(const char* op, const char* what, Size factor) {
  if (factor < 1)
    raise<ValueError>(std::string(op) + ": " + what + " is " + std::to_string(factor.hint()) +
                      "; it must be at least 1");
}

}  // namespace

namespace ops {

Tensor interpolate(const Tensor& x, InterpolateOptions options) {
  const Called as("interpolate", x);
  return interpolated("interpolate", x, options);
}
Tensor upsample_nearest(const Tensor& x, UpsampleOptions options) {
  const Called as("upsample_nearest", x);
  return interpolated("upsample_nearest", x, {.size = options.size, .scale_factor = options.scale_factor});
}
Tensor upsample_bilinear(const Tensor& x, UpsampleOptions options) {
  const Called as("upsample_bilinear", x);
  return interpolated(
      "upsample_bilinear", x,
      {.size = options.size, .scale_factor = options.scale_factor, .mode = "bilinear", .align_corners = true});
}

Tensor pixel_shuffle(const Tensor& x, Size upscale_factor) {
  const Called as("pixel_shuffle", x);
  require_planes("pixel_shuffle", x);
  require_factor("pixel_shuffle", "upscale_factor", upscale_factor);
  const Size r = upscale_factor;
  const Shape& shape = type_of(x).shape;
  const std::size_t c = shape.size() - 3;
  const Size channels = shape[c] / (r * r), height = shape[c + 1], width = shape[c + 2];
  if (!(channels * r * r == shape[c]))
    raise<ValueError>("pixel_shuffle: the channels of " + type_text(x) + " do not divide into squares of " +
                      std::to_string(r.hint()) + " by " + std::to_string(r.hint()));
  Shape leading(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(c));
  Shape apart = leading, joined = leading;
  for (Size size : {channels, r, r, height, width}) apart.push_back(size);
  for (Size size : {channels, height * r, width * r}) joined.push_back(size);
  const auto a = static_cast<std::int64_t>(c);
  return reshape(movedim(reshape(x, apart), {a + 3, a + 1, a + 4, a + 2}, {a + 1, a + 2, a + 3, a + 4}), joined);
}
Tensor pixel_unshuffle(const Tensor& x, Size downscale_factor) {
  const Called as("pixel_unshuffle", x);
  require_planes("pixel_unshuffle", x);
  require_factor("pixel_unshuffle", "downscale_factor", downscale_factor);
  const Size r = downscale_factor;
  const Shape& shape = type_of(x).shape;
  const std::size_t c = shape.size() - 3;
  const Size height = shape[c + 1] / r, width = shape[c + 2] / r;
  if (!(height * r == shape[c + 1]) || !(width * r == shape[c + 2]))
    raise<ValueError>("pixel_unshuffle: height and width of " + type_text(x) + " do not divide by " +
                      std::to_string(r.hint()));
  Shape leading(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(c));
  Shape apart = leading, joined = leading;
  for (Size size : {shape[c], height, r, width, r}) apart.push_back(size);
  for (Size size : {shape[c] * r * r, height, width}) joined.push_back(size);
  const auto a = static_cast<std::int64_t>(c);
  return reshape(movedim(reshape(x, apart), {a + 2, a + 4}, {a + 1, a + 2}), joined);
}
Tensor channel_shuffle(const Tensor& x, Size groups) {
  const Called as("channel_shuffle", x);
  require_factor("channel_shuffle", "groups", groups);
  const Shape& shape = type_of(x).shape;
  if (shape.size() < 3)
    raise<ValueError>("channel_shuffle: the input is " + type_text(x) + "; it must be [N, C, …] with three axes");
  const Size each = shape[1] / groups;
  if (!(each * groups == shape[1]))
    raise<ValueError>("channel_shuffle: the channels of " + type_text(x) + " do not divide into " +
                      std::to_string(groups.hint()) + " groups");
  Shape apart = shape;
  apart[1] = groups;
  apart.insert(2, each);
  return reshape(transpose(reshape(x, apart), 1, 2), shape);
}

}  // namespace ops
}  // namespace ricci
