// Pooling to a number of results that is asked for: adaptive means and maxima, fractional maxima, and maxima put back.
#include <cmath>

#include "kernels/elementwise.h"
#include "kernels/pooling_windows.h"
#include "kernels/strided.h"
#include "ops/dense.h"
#include "ops/pooling.h"
#include "ops/samples.h"
#include "primitive/called.h"
#include "ricci/ops/pooling.h"

namespace ricci {
namespace {

/// The type of x with so many elements along its last axes.
Type resized_type(const Type& x, const Shape& sizes) {
  require_between(1, sizes.rank(), 3);
  require_rank_of_at_least(sizes.rank(), x);
  for (Size size : sizes) require_between(1, size, beyond_memory);
  for (Size size : spatial_sizes(x, sizes.rank())) require_between(1, size, beyond_memory);
  return with_spatial_sizes(x, sizes);
}

/// The means of windows that divide the last axes.
struct AdaptiveAvgPool {
  using kind = Linear;
  static constexpr const char* name = "adaptive_avg_pool";
  Shape outputs;

  Type type(const Type& x) const { return resized_type(x, outputs); }
  void eval(Outputs out, Inputs in) const {
    const int spatial = outputs.rank();
    kernels::mean_of_windows(out[0], in[0], spatial, kernels::dividing_windows(in[0], out[0], spatial));
  }
  Tensor transpose(const Tensor& ct, const Type& x) const;
  AdaptiveAvgPool lifted() const { return *this; }
  static std::vector<Sample<AdaptiveAvgPool>> samples() {
    return {{{{2, 2}}, {uniform_around_zero({1, 4, 5})}},
            {{{3}}, {uniform_around_zero({2, 5})}},
            {{{2, 3}}, {uniform_around_zero({2, 1, 2})}},
            {{{2, 1, 2}}, {uniform_around_zero({1, 3, 2, 4})}},
            {{{1, 1}}, {uniform_around_zero({0, 2, 2})}}};
  }
};

/// Every element of y spread evenly over its window.
struct AdaptiveAvgPoolTransposed {
  using kind = Linear;
  static constexpr const char* name = "adaptive_avg_pool_transposed";
  Shape sizes;

  Type type(const Type& y) const { return resized_type(y, sizes); }
  void eval(Outputs out, Inputs in) const {
    const int spatial = sizes.rank();
    kernels::mean_of_windows_gradient(out[0], in[0], spatial, kernels::dividing_windows(out[0], in[0], spatial));
  }
  Tensor transpose(const Tensor& ct, const Type& y) const {
    return apply(AdaptiveAvgPool{spatial_sizes(y, sizes.rank())}, ct);
  }
  AdaptiveAvgPoolTransposed lifted() const { return *this; }
  static std::vector<Sample<AdaptiveAvgPoolTransposed>> samples() {
    return {{{{4, 5}}, {uniform_around_zero({1, 2, 2})}}, {{{5}}, {uniform_around_zero({2, 3})}}};
  }
};

Tensor AdaptiveAvgPool::transpose(const Tensor& ct, const Type& x) const {
  return apply(AdaptiveAvgPoolTransposed{spatial_sizes(x, outputs.rank())}, ct);
}

/// The greatest elements of windows that divide the last axes, and their places.
struct AdaptiveMaxPoolWithPlaces {
  using kind = Explicit;
  static constexpr const char *name = "adaptive_max_pool_with_places", *name_alone = "adaptive_max_pool";
  static constexpr unsigned keeps = output(1);
  Shape outputs;

  Types type(const Type& x) const {
    resized_type(x, outputs);
    return types_of_maxima(name, x, outputs);
  }
  void eval(Outputs out, Inputs in) const {
    const int spatial = outputs.rank();
    kernels::max_of_windows(out[0], out[1], in[0], spatial, kernels::dividing_windows(in[0], out[0], spatial));
  }
  void eval_alone(const Strided& values, const Strided& x) const {
    kernels::max_of_windows(values, x, spatial(), kernels::dividing_windows(x, values, spatial()));
  }
  int spatial() const { return outputs.rank(); }
  Tensors jvp(const Forward& f) const { return tangents_of_maxima(f, outputs.rank()); }
  Tensors vjp(const Reverse& r) const { return cotangents_of_maxima(r, outputs.rank()); }
  AdaptiveMaxPoolWithPlaces lifted() const { return *this; }
  static std::vector<Sample<AdaptiveMaxPoolWithPlaces>> samples() {
    return {{{{2, 2}}, {uniform_around_zero({1, 4, 5})}},
            {{{3}}, {uniform_around_zero({2, 5})}},
            {{{2, 1, 2}}, {uniform_around_zero({1, 3, 2, 4})}},
            {{{1, 1}}, {uniform_around_zero({0, 2, 2})}}};
  }
};

/// Windows of `window` elements along an axis of so many inputs, at distances that follow from u.
template <class T>
kernels::WindowsOfAxis fractional_windows(T u, std::int64_t inputs, std::int64_t window, std::int64_t outputs) {
  kernels::WindowsOfAxis w{{}, {}, {}};
  const std::int64_t last = inputs - window;
  const T step = outputs > 1 ? static_cast<T>(last) / static_cast<T>(outputs - 1) : T(0);
  for (std::int64_t i = 0; i < outputs; ++i) {
    const T before = std::floor((static_cast<T>(i) + u) * step) - std::floor(u * step);
    // The negation sends what is no number to 0, too.
    const std::int64_t begin = i + 1 == outputs      ? last
                               : !(before > 0)       ? 0
                               : before >= T(inputs) ? last
                                                     : std::min(static_cast<std::int64_t>(before), last);
    w.begin.push_back(begin);
    w.end.push_back(begin + window);
    w.count.push_back(window);
  }
  return w;
}

/// The greatest elements of windows at random distances along the last axes, and their places. Inputs: x, and a random
/// number for each pooled axis of each volume, [..., axes]; of two axes the last one's first.
struct FractionalMaxPool {
  using kind = Explicit;
  static constexpr const char* name = "fractional_max_pool";
  static constexpr unsigned keeps[] = {output(1), nothing};
  Sizes window;
  Shape outputs;

  Types type(const Type& x, const Type& random) const {
    resized_type(x, outputs);
    require_between(outputs.rank(), static_cast<std::int64_t>(window.size()), outputs.rank());
    const Shape sizes = spatial_sizes(x, outputs.rank());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const Size most = sizes[i] - outputs[i] + 1;
      require_between(1, window[i], most.is_symbol() ? beyond_memory : most.raw());
    }
    Shape wanted(x.shape.begin(), x.shape.end() - outputs.rank());
    wanted.push_back(outputs.rank());
    require_shape(random.shape, wanted);
    require_floating(name, random);
    require_real(name, random);
    return types_of_maxima(name, x, outputs);
  }
  void eval(Outputs out, Inputs in) const {
    const ArrayRef random = array_like(in[1], computed_dtype(in[1].dtype));
    kernels::copy(random->strided(), in[1]);
    if (random->strided().dtype == DType::float32) pool(out, in[0], static_cast<const float*>(random->strided().data));
    else pool(out, in[0], static_cast<const double*>(random->strided().data));
  }
  Tensors jvp(const Forward& f) const { return tangents_of_maxima(f, outputs.rank()); }
  Tensors vjp(const Reverse& r) const { return cotangents_of_maxima(r, outputs.rank()); }
  FractionalMaxPool lifted() const { return *this; }
  static std::vector<Sample<FractionalMaxPool>> samples() {
    const auto random = [](const Shape& shape) { return rand(shape, DType::float64); };
    return {{{{2, 2}, {2, 3}}, {to(uniform_around_zero({2, 4, 6}), DType::float64), random({2, 2})}},
            {{{2, 1, 2}, {1, 2, 2}}, {to(uniform_around_zero({1, 2, 3, 4}), DType::float64), random({1, 3})}}};
  }

 private:
  template <class T>
  void pool(Outputs out, const Strided& x, const T* random) const {
    const int spatial = outputs.rank();
    kernels::max_of_windows(out[0], out[1], x, spatial, [&](std::int64_t volume) {
      kernels::Windows w;
      for (int i = 0; i < spatial; ++i) {
        const int number = spatial == 2 ? 1 - i : i;
        w[static_cast<std::size_t>(3 - spatial + i)] =
            fractional_windows(random[volume * spatial + number], x.shape[x.rank - spatial + i],
                               window[static_cast<std::size_t>(i)].host(), outputs[static_cast<std::size_t>(i)].host());
      }
      return w;
    });
  }
};

// ── what users call ──

using Both = std::pair<Tensor, Tensor>;

Tensor adaptive_avg_pool(const char* op, int spatial, const Tensor& x, const Sizes& output_size) {
  const Called as(op, x);
  require_floating(op, x);
  require_pooled_images(op, x, spatial, Pooled::means);
  return apply(AdaptiveAvgPool{shape_of(one_per_axis(op, "output_size", output_size, spatial, 1))}, x);
}

/// The operation of one call, checked against its input.
AdaptiveMaxPoolWithPlaces adaptive_maxima(const char* op, int spatial, const Tensor& x, const Sizes& output_size) {
  require_pooled_images(op, x, spatial, Pooled::maxima);
  return {shape_of(one_per_axis(op, "output_size", output_size, spatial, 1))};
}
Tensor adaptive_max_pool(const char* op, int spatial, const Tensor& x, const Sizes& output_size) {
  const Called as(op, x);
  return apply(MaximaAlone<AdaptiveMaxPoolWithPlaces>{adaptive_maxima(op, spatial, x, output_size)}, x);
}
Both adaptive_max_pool_with_indices(const char* op, int spatial, const Tensor& x, const Sizes& output_size) {
  const Called as(op, x);
  const Tensors both = ricci::apply(adaptive_maxima(op, spatial, x, output_size), std::span(&x, 1));
  return {both[0], both[1]};
}

/// The random numbers of a call, [..., axes] beside the volumes of x, in the type that they are read in.
Tensor fitting_samples(const char* op, int spatial, const Tensor& x, const Tensor& samples) {
  const Type type = type_of(x);
  const bool is_one = is_one_image(x, spatial);
  Shape wanted(type.shape.begin(), type.shape.end() - spatial);
  wanted.push_back(spatial);
  if (is_one) wanted.insert(0, 1);
  if (!(type_of(samples).shape == wanted))
    raise<ValueError>(std::string(op) + ": the random samples must be " + to_string(wanted) +
                      ", a number for each spatial axis of each image and channel, they are " + type_text(samples));
  const DType dtype = computed_dtype(type.dtype) == DType::float32 ? DType::float32 : DType::float64;
  return to(is_one ? squeeze(samples, 0) : samples, dtype);
}

Both fractional_max_pool(const char* op, int spatial, const Tensor& x, const Sizes& kernel, const Sizes& output_size,
                         const Tensor* samples) {
  const Called as(op, x);
  require_pooled_images(op, x, spatial, Pooled::maxima);
  const Sizes windows = one_per_axis(op, "kernel", kernel, spatial, 1);
  const Sizes outputs = one_per_axis(op, "output_size", output_size, spatial, 1);
  const Type type = type_of(x);
  const Shape sizes = spatial_sizes(type, spatial);
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (outputs[i] + windows[i] - 1 > sizes[i])
      raise<ValueError>(std::string(op) + ": " + list_of(outputs) + " windows of " + list_of(windows) +
                        " elements do not fit the input " + type_text(x) +
                        "; output_size + kernel - 1 must be at most its size on each spatial axis");
  Tensor random;
  if (samples) {
    require_defined(op, *samples, 1);
    random = *samples;
  } else {
    Shape shape(type.shape.begin(), type.shape.end() - spatial);
    if (is_one_image(x, spatial)) shape.insert(0, 1);
    shape.push_back(spatial);
    random = rand(shape, is_floating(type.dtype) ? type.dtype : DType::float64);
  }
  const Tensor inputs[] = {x, fitting_samples(op, spatial, x, random)};
  const Tensors both = ricci::apply(FractionalMaxPool{windows, shape_of(outputs)}, std::span<const Tensor>(inputs));
  return {both[0], both[1]};
}

Tensor max_unpool(const char* op, int spatial, const Tensor& x, const Tensor& indices, const Sizes& kernel,
                  const Sizes& stride, const Sizes& padding, const Sizes& output_size) {
  const Called as(op, x, indices);
  require_images(op, x, spatial);
  const Type type = type_of(x);
  if (!(type_of(indices).shape == type.shape))
    raise<ValueError>(std::string(op) + ": the indices " + type_text(indices) + " must have the shape of the input " +
                      type_text(x));
  const Sizes windows = one_per_axis(op, "kernel", kernel, spatial, 1);
  const Sizes strides = stride.empty() ? windows : one_per_axis(op, "stride", stride, spatial, 1);
  const Sizes paddings = one_per_axis(op, "padding", padding, spatial, 0);
  Shape sizes = spatial_sizes(type, spatial);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Size usual = (sizes[i] - 1) * strides[i] + windows[i] - 2 * paddings[i];
    sizes[i] = output_size.empty() ? usual : one_per_axis(op, "output_size", output_size, spatial, 1)[i];
    if (!output_size.empty() && (sizes[i] <= usual - strides[i] || sizes[i] >= usual + strides[i]))
      raise<ValueError>(std::string(op) + ": output_size " + list_of(output_size) + " is too far from " +
                        std::to_string(usual.hint()) + " on spatial axis " + std::to_string(i) +
                        "; it may differ by less than the stride " + std::to_string(strides[i].hint()));
    if (sizes[i] < 1)
      raise<ValueError>(std::string(op) + ": the result has no elements on spatial axis " + std::to_string(i) +
                        "; pass less padding");
  }
  Shape flat(type.shape.begin(), type.shape.end() - spatial);
  flat.push_back(sizes.numel());
  const auto line = [&](const Tensor& t) { return spatial == 1 ? t : flatten(t, -spatial, -1); };
  const Tensor placed = scatter(zeros_of({type.dtype, flat}), -1, line(indices), line(x));
  return reshape(placed, with_spatial_sizes(type, sizes).shape);
}

}  // namespace

namespace ops {

#define RICCI_ADAPTIVE_POOL(average, maximum, spatial)                                        \
  Tensor average(const Tensor& x, const Sizes& output_size) {                                 \
    return adaptive_avg_pool(#average, spatial, x, output_size);                              \
  }                                                                                           \
  Tensor maximum(const Tensor& x, const Sizes& output_size) {                                 \
    return adaptive_max_pool(#maximum, spatial, x, output_size);                              \
  }                                                                                           \
  Both maximum##_with_indices(const Tensor& x, const Sizes& output_size) {                    \
    return adaptive_max_pool_with_indices(#maximum "_with_indices", spatial, x, output_size); \
  }

RICCI_ADAPTIVE_POOL(adaptive_avg_pool1d, adaptive_max_pool1d, 1)
RICCI_ADAPTIVE_POOL(adaptive_avg_pool2d, adaptive_max_pool2d, 2)
RICCI_ADAPTIVE_POOL(adaptive_avg_pool3d, adaptive_max_pool3d, 3)
#undef RICCI_ADAPTIVE_POOL

#define RICCI_FRACTIONAL_MAX_POOL(name, spatial)                                                              \
  Tensor name(const Tensor& x, const Sizes& kernel, const Sizes& output_size) {                               \
    return fractional_max_pool(#name, spatial, x, kernel, output_size, nullptr).first;                        \
  }                                                                                                           \
  Tensor name(const Tensor& x, const Sizes& kernel, const Sizes& output_size, const Tensor& random_samples) { \
    return fractional_max_pool(#name, spatial, x, kernel, output_size, &random_samples).first;                \
  }                                                                                                           \
  Both name##_with_indices(const Tensor& x, const Sizes& kernel, const Sizes& output_size) {                  \
    return fractional_max_pool(#name "_with_indices", spatial, x, kernel, output_size, nullptr);              \
  }                                                                                                           \
  Both name##_with_indices(const Tensor& x, const Sizes& kernel, const Sizes& output_size,                    \
                           const Tensor& random_samples) {                                                    \
    return fractional_max_pool(#name "_with_indices", spatial, x, kernel, output_size, &random_samples);      \
  }

RICCI_FRACTIONAL_MAX_POOL(fractional_max_pool2d, 2)
RICCI_FRACTIONAL_MAX_POOL(fractional_max_pool3d, 3)
#undef RICCI_FRACTIONAL_MAX_POOL

#define RICCI_MAX_UNPOOL(name, spatial)                                                                               \
  Tensor name(const Tensor& x, const Tensor& indices, const Sizes& kernel) {                                          \
    return name(x, indices, kernel, {}, 0, {});                                                                       \
  }                                                                                                                   \
  Tensor name(const Tensor& x, const Tensor& indices, const Sizes& kernel, const Sizes& stride,                       \
              const Sizes& padding) {                                                                                 \
    return name(x, indices, kernel, stride, padding, {});                                                             \
  }                                                                                                                   \
  Tensor name(const Tensor& x, const Tensor& indices, const Sizes& kernel, const Sizes& stride, const Sizes& padding, \
              const Sizes& output_size) {                                                                             \
    return max_unpool(#name, spatial, x, indices, kernel, stride, padding, output_size);                              \
  }

RICCI_MAX_UNPOOL(max_unpool1d, 1)
RICCI_MAX_UNPOOL(max_unpool2d, 2)
RICCI_MAX_UNPOOL(max_unpool3d, 3)
#undef RICCI_MAX_UNPOOL

}  // namespace ops
}  // namespace ricci
