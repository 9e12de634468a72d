// Maxima and means of windows that slide over the last one to three axes; leading axes are batches.
#include "ops/pooling.h"

#include <algorithm>
#include <cmath>

#include "kernels/index.h"
#include "kernels/pooling.h"
#include "ops/dense.h"
#include "ops/samples.h"
#include "primitive/called.h"
#include "ricci/ops/pooling.h"

namespace ricci {
namespace {

using kernels::Averaging;
using kernels::PoolingShape;

/// Averages know no dilation.
PoolingShape undilated(PoolingShape shape) {
  shape.dilation = {1, 1, 1};
  return shape;
}

/// The type of one result for each window, `outputs` along each pooled axis: as many as fit, or one more, which reaches
/// beyond.
Type pooled_type(const Type& x, const PoolingShape& shape, const Shape& outputs) {
  require_between(1, shape.spatial, 3);
  require_rank_of_at_least(shape.spatial, x);
  require_between(shape.spatial, outputs.rank(), shape.spatial);
  const Shape sizes = spatial_sizes(x, shape.spatial);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (Size number : {shape.stride[i], shape.dilation[i], shape.window[i]})
      require_between(1, number, most_of_a_window);
    require_between(0, shape.padding[i], most_of_a_window);
    const Size room = sizes[i] + 2 * shape.padding[i] - shape.dilation[i] * (shape.window[i] - 1) - 1;
    const bool is_open = any_symbol(room, shape.stride[i]);
    const std::int64_t most = is_open ? beyond_memory : room.raw() < 0 ? 1 : (room / shape.stride[i]).raw() + 2;
    require_between(0, outputs[i], most);
  }
  return with_spatial_sizes(x, outputs);
}

/// The type of what was pooled to y, from its last sizes.
Type type_of_pooled(const Type& y, const PoolingShape& shape, const Shape& sizes) {
  require_between(1, shape.spatial, 3);
  require_between(shape.spatial, sizes.rank(), shape.spatial);
  require_rank_of_at_least(shape.spatial, y);
  for (Size size : sizes) require_between(0, size, beyond_memory);
  const Type type = with_spatial_sizes(y, sizes);
  pooled_type(type, shape, spatial_sizes(y, shape.spatial));
  return type;
}

/// `placed` as an operation.
struct Placed {
  using kind = Linear;
  static constexpr const char* name = "max_pool_placed";
  Shape sizes;

  Type type(const Type& y, const Type& places) const {
    require_real(name, y);
    require_dtype(DType::int64, places);
    require_shape(places.shape, y.shape);
    require_between(1, sizes.rank(), 3);
    require_rank_of_at_least(sizes.rank(), y);
    for (Size size : sizes) require_between(0, size, beyond_memory);
    return with_spatial_sizes(y, sizes);
  }
  void eval(Outputs out, Inputs in) const {
    const std::int64_t volume = sizes.numel().host();
    if (const auto bad = kernels::find_out_of_range(in[1], -1, volume))
      raise<IndexError>(std::string(name) + ": place " + std::to_string(*bad) + " is out of range; " +
                        legal_range(-1, volume - 1));
    kernels::max_pool_gradient(out[0], in[0], in[1], sizes.rank());
  }
  Tensor transpose(int, const Tensor& ct, const Reverse& r) const { return taken(ct, r.inputs[1], sizes.rank()); }
  Placed lifted() const { return *this; }
  static std::vector<Sample<Placed>> samples() {
    const Tensor places = tensor({{1, 2}, {4, 8}});
    return {{{{3, 3}}, {uniform_around_zero({2, 2}), places}},
            {{{3, 3}}, {uniform_around_zero({2, 2, 2}), stack({places, zeros({2, 2}, DType::int64)})}},
            {{{4}}, {uniform_around_zero({2, 2}), tensor({{1, 2}, {0, 0}})}},
            {{{2, 1, 2}}, {uniform_around_zero({1, 1, 2}), tensor({{{1, 3}}})}}};
  }
};

/// The greatest element of each window, and its place.
struct MaxPoolWithPlaces {
  using kind = Explicit;
  static constexpr const char *name = "max_pool_with_places", *name_alone = "max_pool";
  static constexpr unsigned keeps = output(1);
  PoolingShape shape;
  Shape outputs;

  Types type(const Type& x) const {
    pooled_type(x, shape, outputs);
    return types_of_maxima(name, x, outputs);
  }
  void eval(Outputs out, Inputs in) const { kernels::max_pool(out[0], out[1], in[0], shape); }
  void eval_alone(const Strided& values, const Strided& x) const { kernels::max_pool(values, x, shape); }
  int spatial() const { return shape.spatial; }
  Tensors jvp(const Forward& f) const { return tangents_of_maxima(f, shape.spatial); }
  Tensors vjp(const Reverse& r) const { return cotangents_of_maxima(r, shape.spatial); }
  MaxPoolWithPlaces lifted() const { return *this; }
  static std::vector<Sample<MaxPoolWithPlaces>> samples() {
    return {{{{2, {2, 2}, {2, 2}}, {2, 2}}, {uniform_around_zero({1, 4, 5})}},
            {{{2, {3, 2}, {1, 2}, {1, 1}}, {3, 2}}, {uniform_around_zero({2, 1, 3, 3})}},
            {{{2, {2, 2}, {1, 1}, {0, 0}, {2, 1}}, {2, 3}}, {uniform_around_zero({4, 4})}},
            {{{2, {2, 2}, {2, 2}}, {2, 3}}, {uniform_around_zero({1, 4, 5})}},  // the last windows reach beyond
            {{{1, {3}, {2}, {1}}, {3}}, {uniform_around_zero({2, 5})}},
            {{{3, {2, 1, 2}, {1, 1, 2}}, {1, 2, 2}}, {uniform_around_zero({1, 2, 2, 4})}},
            {{{2, {2, 2}, {2, 2}}, {1, 1}}, {uniform_around_zero({0, 2, 2})}}};
  }
};

Tensor avg_pool_transposed(const Tensor& y, const PoolingShape& shape, const Averaging& averaging, const Shape& sizes);

/// The mean of each window.
struct AvgPool {
  using kind = Linear;
  static constexpr const char* name = "avg_pool";
  PoolingShape shape;
  Averaging averaging;
  Shape outputs;

  Type type(const Type& x) const { return pooled_type(x, undilated(shape), outputs); }
  void eval(Outputs out, Inputs in) const { kernels::avg_pool(out[0], in[0], shape, averaging); }
  Tensor transpose(const Tensor& ct, const Type& input) const {
    return avg_pool_transposed(ct, shape, averaging, spatial_sizes(input, shape.spatial));
  }
  AvgPool lifted() const { return *this; }
  static std::vector<Sample<AvgPool>> samples() {
    return {{{{2, {2, 2}, {2, 2}}, {}, {2, 2}}, {uniform_around_zero({1, 4, 5})}},
            {{{2, {3, 2}, {1, 2}, {1, 1}}, {}, {3, 2}}, {uniform_around_zero({2, 1, 3, 3})}},
            {{{2, {3, 2}, {1, 2}, {1, 1}}, {0, false}, {3, 3}}, {uniform_around_zero({2, 1, 3, 4})}},
            {{{1, {3}, {2}, {1}}, {5, true}, {3}}, {uniform_around_zero({2, 5})}},
            {{{3, {2, 1, 2}, {1, 1, 2}}, {}, {1, 2, 3}}, {uniform_around_zero({1, 2, 2, 5})}},
            {{{2, {2, 2}, {2, 2}}, {}, {1, 1}}, {uniform_around_zero({0, 2, 2})}}};
  }
};

/// Every element of y spread evenly over its window.
struct AvgPoolTransposed {
  using kind = Linear;
  static constexpr const char* name = "avg_pool_transposed";
  PoolingShape shape;
  Averaging averaging;
  Shape sizes;

  Type type(const Type& y) const { return type_of_pooled(y, undilated(shape), sizes); }
  void eval(Outputs out, Inputs in) const { kernels::avg_pool_gradient(out[0], in[0], shape, averaging); }
  Tensor transpose(const Tensor& ct, const Type& y) const {
    return apply(AvgPool{shape, averaging, spatial_sizes(y, shape.spatial)}, ct);
  }
  AvgPoolTransposed lifted() const { return *this; }
  static std::vector<Sample<AvgPoolTransposed>> samples() {
    return {{{{2, {2, 2}, {2, 2}}, {}, {4, 5}}, {uniform_around_zero({1, 2, 2})}},
            {{{2, {3, 2}, {1, 2}, {1, 1}}, {0, false}, {3, 3}}, {uniform_around_zero({3, 2})}},
            {{{1, {3}, {2}, {1}}, {}, {5}}, {uniform_around_zero({2, 3})}}};
  }
};

Tensor avg_pool_transposed(const Tensor& y, const PoolingShape& shape, const Averaging& averaging, const Shape& sizes) {
  return apply(AvgPoolTransposed{shape, averaging, sizes}, y);
}

// ── what users call ──

/// Windows of one call, checked against its input.
struct Sliding {
  PoolingShape shape;
  Shape outputs;
};

/// True if some window along an axis sees only padding: dilation may step over an axis that is shorter.
bool has_empty_window(Size size, const Sliding& s, std::size_t axis) {
  const PoolingShape& shape = s.shape;
  if (shape.padding[axis] == 0 || shape.dilation[axis] == 1 || size >= shape.dilation[axis]) return false;
  const std::int64_t n = size.host(), windows = s.outputs[axis].host();
  const std::int64_t dilation = shape.dilation[axis];
  for (std::int64_t i = 0; i < windows; ++i) {
    const std::int64_t begin = i * shape.stride[axis].host() - shape.padding[axis].host();
    const std::int64_t skipped = begin < 0 ? (-begin + dilation - 1) / dilation : 0;  // elements before the input
    if (skipped >= shape.window[axis].host() || begin + skipped * dilation >= n) return true;
  }
  return false;
}

/// The options of one call. Without a stride it is the kernel. In ceil mode a window may reach beyond the padding, if
/// it begins in the input or in the padding before it.
Sliding sliding(const char* op, const Tensor& x, int spatial, const Sizes& kernel, const Sizes& stride,
                const Sizes& padding, const Sizes& dilation, bool ceil_mode) {
  const Shape sizes = spatial_sizes(type_of(x), spatial);
  PoolingShape shape{spatial, array_per_axis(op, "kernel", kernel, spatial, 1), {}, {}, {}};
  shape.stride = stride.empty() ? shape.window : array_per_axis(op, "stride", stride, spatial, 1);
  shape.padding = array_per_axis(op, "padding", padding, spatial, 0);
  shape.dilation = array_per_axis(op, "dilation", dilation, spatial, 1);
  const auto text = [&](const std::array<Size, 3>& numbers) {
    return list_of(Shape(numbers.begin(), numbers.begin() + spatial));
  };
  Sliding s{shape, {}};
  for (std::size_t i = 0; i < static_cast<std::size_t>(spatial); ++i) {
    if (2 * shape.padding[i] > shape.window[i])
      raise<ValueError>(std::string(op) + ": padding " + text(shape.padding) + " is more than half the kernel " +
                        text(shape.window));
    const Size room = sizes[i] + 2 * shape.padding[i] - (shape.dilation[i] * (shape.window[i] - 1) + 1);
    const Size more = ceil_mode ? shape.stride[i] - 1 : Size(0);
    const bool fits = room + more >= 0;
    s.outputs.push_back(fits ? (room + more) / shape.stride[i] + 1 : Size(0));
    if (ceil_mode && (s.outputs[i] - 1) * shape.stride[i] >= sizes[i] + shape.padding[i])
      s.outputs[i] = s.outputs[i] - 1;
    if (!fits || has_empty_window(sizes[i], s, i))
      raise<ValueError>(std::string(op) + ": the kernel " + text(shape.window) + " does not fit the input " +
                        type_text(x));
  }
  return s;
}

using Both = std::pair<Tensor, Tensor>;

Tensor max_pool(const char* op, int spatial, const Tensor& x, const Sizes& kernel, const Sizes& stride,
                const Sizes& padding, const Sizes& dilation, bool ceil_mode) {
  const Called as(op, x);
  require_pooled_images(op, x, spatial, Pooled::maxima);
  const Sliding s = sliding(op, x, spatial, kernel, stride, padding, dilation, ceil_mode);
  return apply(MaximaAlone<MaxPoolWithPlaces>{{s.shape, s.outputs}}, x);
}
Both max_pool_with_indices(const char* op, int spatial, const Tensor& x, const Sizes& kernel, const Sizes& stride,
                           const Sizes& padding, const Sizes& dilation, bool ceil_mode) {
  const Called as(op, x);
  require_pooled_images(op, x, spatial, Pooled::maxima);
  const Sliding s = sliding(op, x, spatial, kernel, stride, padding, dilation, ceil_mode);
  const Tensors both = ricci::apply(MaxPoolWithPlaces{s.shape, s.outputs}, std::span(&x, 1));
  return {both[0], both[1]};
}

Tensor avg_pool(const char* op, int spatial, const Tensor& x, const Sizes& kernel, const Sizes& stride,
                const Sizes& padding, bool ceil_mode, bool count_include_pad, std::optional<Size> divisor = {}) {
  const Called as(op, x);
  if (divisor && *divisor == 0) raise<ValueError>(std::string(op) + ": divisor_override is 0; pass another number");
  if (type_of(x).dtype != DType::int64) require_floating(op, x);
  require_pooled_images(op, x, spatial, Pooled::means);
  const Sliding s = sliding(op, x, spatial, kernel, stride, padding, 1, ceil_mode);
  return apply(AvgPool{s.shape, {divisor.value_or(0), count_include_pad}, s.outputs}, x);
}

/// (Σ x^p)^(1/p) of each window, as torch defines it: in ceil mode, a window that reaches beyond counts its mean as
/// often as it would have elements. Where the sum is 0, so is the derivative.
Tensor lp_pool(const char* op, int spatial, const Tensor& x, double p, const Sizes& kernel, const Sizes& stride,
               bool ceil_mode) {
  const Called as(op, x);
  require_floating(op, x);
  if (p == 0) raise<ValueError>(std::string(op) + ": the norm type is 0; pass another");
  if (std::isinf(p)) {
    const Tensor size = abs(x);
    if (p > 0) return max_pool(op, spatial, size, kernel, stride, 0, 1, ceil_mode);
    return neg(max_pool(op, spatial, neg(size), kernel, stride, 0, 1, ceil_mode));
  }
  Size elements = 1;
  for (Size n : one_per_axis(op, "kernel", kernel, spatial, 1)) elements = elements * n;
  const Tensor sums = avg_pool(op, spatial, pow(x, p), kernel, stride, 0, ceil_mode, true) * Tensor(elements);
  const Tensor is_zero = eq(sums, 0);
  return where(is_zero, 0, pow(where(is_zero, 1, sums), 1 / p));
}

}  // namespace

Tensor taken(const Tensor& x, const Tensor& places, int spatial) {
  if (spatial == 1) return gather(x, -1, places);
  return reshape(gather(flatten(x, -spatial, -1), -1, flatten(places, -spatial, -1)), type_of(places).shape);
}

Tensor placed(const Tensor& y, const Tensor& places, const Shape& sizes) { return apply(Placed{sizes}, y, places); }

Types types_of_maxima(const char* op, const Type& x, const Shape& outputs) {
  require_real(op, x);
  const Type values = with_spatial_sizes(x, outputs);
  return {values, {DType::int64, values.shape}};
}
Tensors tangents_of_maxima(const Forward& f, int spatial) {
  const Tensor& t = f.tangents[0];
  return {t.defined() ? taken(t, f.outputs[1], spatial) : Tensor(), Tensor()};
}
Tensors cotangents_of_maxima(const Reverse& r, int spatial) {
  Tensors cotangents(r.input_types.size());
  if (r.wants(0)) cotangents[0] = placed(r.cotangents[0], r.outputs[1], spatial_sizes(r.input_types[0], spatial));
  return cotangents;
}

void require_pooled_images(const char* op, const Tensor& x, int spatial, Pooled pooled) {
  if (pooled == Pooled::maxima && type_of(x).dtype == DType::boolean)
    raise<TypeError>(std::string(op) + ": not defined for the booleans " + type_text(x) +
                     "; convert them first, for example with x.to(rc::uint8)");
  require_images(op, x, spatial);
  for (Size size : spatial_sizes(type_of(x), spatial))
    if (size < 1)
      raise<ValueError>(std::string(op) + ": the " + (spatial == 2 ? "planes" : "spatial axes") + " of " +
                        type_text(x) + " are empty; pool at least one element");
}

namespace ops {

#define RICCI_MAX_POOL(name, spatial)                                                                                 \
  Tensor name(const Tensor& x, const Sizes& kernel) { return name(x, kernel, {}, 0, 1, false); }                      \
  Tensor name(const Tensor& x, const Sizes& kernel, const Sizes& stride) {                                            \
    return name(x, kernel, stride, 0, 1, false);                                                                      \
  }                                                                                                                   \
  Tensor name(const Tensor& x, const Sizes& kernel, const Sizes& stride, const Sizes& padding) {                      \
    return name(x, kernel, stride, padding, 1, false);                                                                \
  }                                                                                                                   \
  Tensor name(const Tensor& x, const Sizes& kernel, const Sizes& stride, const Sizes& padding,                        \
              const Sizes& dilation) {                                                                                \
    return name(x, kernel, stride, padding, dilation, false);                                                         \
  }                                                                                                                   \
  Tensor name(const Tensor& x, const Sizes& kernel, const Sizes& stride, const Sizes& padding, const Sizes& dilation, \
              bool ceil_mode) {                                                                                       \
    return max_pool(#name, spatial, x, kernel, stride, padding, dilation, ceil_mode);                                 \
  }                                                                                                                   \
  Both name##_with_indices(const Tensor& x, const Sizes& kernel) {                                                    \
    return name##_with_indices(x, kernel, {}, 0, 1, false);                                                           \
  }                                                                                                                   \
  Both name##_with_indices(const Tensor& x, const Sizes& kernel, const Sizes& stride, const Sizes& padding,           \
                           const Sizes& dilation, bool ceil_mode) {                                                   \
    return max_pool_with_indices(#name "_with_indices", spatial, x, kernel, stride, padding, dilation, ceil_mode);    \
  }

RICCI_MAX_POOL(max_pool1d, 1)
RICCI_MAX_POOL(max_pool2d, 2)
RICCI_MAX_POOL(max_pool3d, 3)
#undef RICCI_MAX_POOL

#define RICCI_AVG_POOL(name, spatial)                                                                          \
  Tensor name(const Tensor& x, const Sizes& kernel) { return name(x, kernel, {}, 0, false, true); }            \
  Tensor name(const Tensor& x, const Sizes& kernel, const Sizes& stride) {                                     \
    return name(x, kernel, stride, 0, false, true);                                                            \
  }                                                                                                            \
  Tensor name(const Tensor& x, const Sizes& kernel, const Sizes& stride, const Sizes& padding) {               \
    return name(x, kernel, stride, padding, false, true);                                                      \
  }                                                                                                            \
  Tensor name(const Tensor& x, const Sizes& kernel, const Sizes& stride, const Sizes& padding, bool ceil_mode, \
              bool count_include_pad) {                                                                        \
    return avg_pool(#name, spatial, x, kernel, stride, padding, ceil_mode, count_include_pad);                 \
  }

RICCI_AVG_POOL(avg_pool1d, 1)
RICCI_AVG_POOL(avg_pool2d, 2)
RICCI_AVG_POOL(avg_pool3d, 3)
#undef RICCI_AVG_POOL
Tensor avg_pool2d(const Tensor& x, const Sizes& kernel, const Sizes& stride, const Sizes& padding, bool ceil_mode,
                  bool count_include_pad, std::optional<Size> divisor_override) {
  return avg_pool("avg_pool2d", 2, x, kernel, stride, padding, ceil_mode, count_include_pad, divisor_override);
}
Tensor avg_pool3d(const Tensor& x, const Sizes& kernel, const Sizes& stride, const Sizes& padding, bool ceil_mode,
                  bool count_include_pad, std::optional<Size> divisor_override) {
  return avg_pool("avg_pool3d", 3, x, kernel, stride, padding, ceil_mode, count_include_pad, divisor_override);
}

#define RICCI_LP_POOL(name, spatial)                                                                         \
  Tensor name(const Tensor& x, double norm_type, const Sizes& kernel) {                                      \
    return name(x, norm_type, kernel, {}, false);                                                            \
  }                                                                                                          \
  Tensor name(const Tensor& x, double norm_type, const Sizes& kernel, const Sizes& stride, bool ceil_mode) { \
    return lp_pool(#name, spatial, x, norm_type, kernel, stride, ceil_mode);                                 \
  }

RICCI_LP_POOL(lp_pool1d, 1)
RICCI_LP_POOL(lp_pool2d, 2)
RICCI_LP_POOL(lp_pool3d, 3)
#undef RICCI_LP_POOL

}  // namespace ops
}  // namespace ricci
