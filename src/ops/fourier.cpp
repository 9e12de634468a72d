// Discrete Fourier transforms: three primitives along one axis, and what is made of them. Each is linear, and its
// transpose is another one of the three.
#include <cmath>

#include "kernels/fft.h"
#include "ops/axes.h"
#include "ops/dense.h"
#include "ops/samples.h"
#include "primitive/called.h"
#include "ricci/ops/fft.h"
#include "tensor/default_dtype.h"

namespace ricci {
namespace {

/// The factor of a transform over n elements.
enum class Factor : std::uint8_t { one, root, full };  // 1, 1 / √n, 1 / n

double factor_of(Factor factor, std::int64_t n) {
  if (factor == Factor::one) return 1;
  return factor == Factor::root ? 1 / std::sqrt(static_cast<double>(n)) : 1 / static_cast<double>(n);
}

Tensor samples_of_waves(const Shape& shape) {
  return add(uniform_around_zero(shape), mul(uniform_around_zero(shape), std::complex<double>(0, 1)));
}

void require_complex(const char* op, const Type& x) {
  if (x.dtype != DType::complex64 && x.dtype != DType::complex128)
    raise<TypeError>(std::string(op) + ": needs complex numbers, found " + to_string(x));
}

/// x, the first half of a spectrum of n real numbers along `axis`, times what stands for how often an element counts:
/// `once` for element 0 and for n / 2 of an even n, `twice` for the others, whose conjugates are in the other half.
Tensor weighed_bins(const Tensor& x, std::int64_t axis, Size n, double once, double twice) {
  const Type type = type_of(x);
  Shape along = Shape::filled(type.shape.size(), 1);
  along[at(axis)] = type.shape[at(axis)];
  const Tensor k = arange(type.shape[at(axis)], DType::int64);
  const Tensor weights = where(logical_or(eq(k, 0), eq(k * 2, n)), once, twice);
  return x * to(reshape(weights, along), real_dtype(type.dtype));
}

struct Fft {
  using kind = Linear;
  static constexpr const char* name = "fft";
  std::int64_t axis;
  bool backward;
  Factor factor;

  Type type(const Type& x) const {
    require_axis(axis, x.rank());
    require_complex(name, x);
    return x;
  }
  void eval(Outputs out, Inputs in) const {
    const int along = static_cast<int>(axis);
    kernels::fft(out[0], in[0], along, backward, factor_of(factor, in[0].shape[along]));
  }
  Tensor transpose(const Tensor& ct) const { return apply(Fft{axis, !backward, factor}, ct); }
  Fft lifted() const { return {axis + 1, backward, factor}; }
  static std::vector<Sample<Fft>> samples() {
    return {{{0, false, Factor::one}, {samples_of_waves({5})}},
            {{1, true, Factor::root}, {samples_of_waves({2, 4, 3})}},
            {{1, false, Factor::full}, {samples_of_waves({19, 6})}},
            {{0, false, Factor::full}, {samples_of_waves({1, 2})}},
            {{1, false, Factor::one}, {samples_of_waves({0, 3})}}};
  }
};

struct Rfft {
  using kind = Linear;
  static constexpr const char* name = "rfft";
  std::int64_t axis;
  Factor factor;

  Type type(const Type& x) const {
    require_axis(axis, x.rank());
    require_real(name, x);
    require_floating(name, x);
    Type type{complex_dtype(x.dtype), x.shape};
    type.shape[at(axis)] = x.shape[at(axis)] / 2 + 1;
    return type;
  }
  void eval(Outputs out, Inputs in) const {
    run_computed(ElementOrder::any, out, in, [&](Outputs y, Inputs x) {
      const int along = static_cast<int>(axis);
      kernels::rfft(y[0], x[0], along, factor_of(factor, x[0].shape[along]));
    });
  }
  Tensor transpose(const Tensor& ct, const Type& x) const;
  Rfft lifted() const { return {axis + 1, factor}; }
  static std::vector<Sample<Rfft>> samples() {
    return {{{0, Factor::one}, {uniform_around_zero({5})}},
            {{1, Factor::root}, {uniform_around_zero({2, 4, 3})}},
            {{1, Factor::full}, {uniform_around_zero({19, 6})}},
            {{0, Factor::one}, {uniform_around_zero({1, 2})}},
            {{1, Factor::one}, {uniform_around_zero({0, 3})}}};
  }
};

/// n real numbers of the first half of their spectrum.
struct Irfft {
  using kind = Linear;
  static constexpr const char* name = "irfft";
  std::int64_t axis;
  Size n;
  Factor factor;

  Type type(const Type& x) const {
    require_axis(axis, x.rank());
    require_complex(name, x);
    require_between(1, n, beyond_memory);
    require_shape({x.shape[at(axis)]}, {n / 2 + 1});
    Type type{real_dtype(x.dtype), x.shape};
    type.shape[at(axis)] = n;
    return type;
  }
  void eval(Outputs out, Inputs in) const {
    kernels::irfft(out[0], in[0], static_cast<int>(axis), factor_of(factor, n.host()));
  }
  Tensor transpose(const Tensor& ct) const { return weighed_bins(apply(Rfft{axis, factor}, ct), axis, n, 1, 2); }
  Irfft lifted() const { return {axis + 1, n, factor}; }
  static std::vector<Sample<Irfft>> samples() {
    return {{{0, 5, Factor::one}, {samples_of_waves({3})}},
            {{1, 4, Factor::root}, {samples_of_waves({2, 3, 3})}},
            {{1, 6, Factor::full}, {samples_of_waves({19, 4})}},
            {{0, 1, Factor::one}, {samples_of_waves({1, 2})}},
            {{1, 3, Factor::one}, {samples_of_waves({0, 2})}}};
  }
};

Tensor Rfft::transpose(const Tensor& ct, const Type& x) const {
  const Size n = x.shape[at(axis)];
  return apply(Irfft{axis, n, factor}, weighed_bins(ct, axis, n, 1, 0.5));
}

// ── what users call ──

enum class FourierWay : std::uint8_t { forward, backward };

Factor factor_from(const char* op, std::string_view norm, FourierWay way) {
  if (norm == "ortho") return Factor::root;
  if (norm == "backward") return way == FourierWay::forward ? Factor::one : Factor::full;
  if (norm == "forward") return way == FourierWay::forward ? Factor::full : Factor::one;
  raise<ValueError>(std::string(op) + R"(: there is no norm ")" + shortened(norm) +
                    R"("; pass "backward", "ortho" or "forward")");
}

std::string_view flipped(std::string_view norm) {
  if (norm == "backward") return "forward";
  return norm == "forward" ? "backward" : norm;
}

Tensor made_floating(const Tensor& x) {
  const DType dtype = type_of(x).dtype;
  return is_differentiable(dtype) ? to(x, computed_dtype(dtype)) : to(x, default_dtype());
}
Tensor made_complex(const Tensor& x) {
  const Tensor y = made_floating(x);
  return to(y, complex_dtype(type_of(y).dtype));
}
void require_real_signal(const char* op, const Tensor& x) {
  if (is_complex(type_of(x).dtype))
    raise<TypeError>(std::string(op) + ": not defined for the complex " + type_text(x) +
                     "; use the transform without the r, or pass its real part");
}

/// x cut, or continued with zeros, to n elements along the axis.
Tensor resized(const Tensor& x, std::int64_t axis, Size n) {
  const Shape shape = type_of(x).shape;
  const Size have = shape[at(axis)];
  if (have == n) return x;
  if (n < have) return narrow(x, axis, 0, n);
  Sizes widths = Sizes(Shape::filled(2 * (shape.size() - at(axis)), 0));
  widths[widths.size() - 1] = n - have;  // pad counts axes from the last
  return pad(x, widths);
}

/// Axes of a transform, non-negative, and its lengths along them.
struct Extent {
  Axes axes;
  Sizes lengths;
};

Size checked_length(const char* op, Size n, const Tensor& x) {
  require_defined(op, x, 0);
  if (n < 1)
    raise<ValueError>(std::string(op) + ": a transform needs at least 1 element, of " + type_text(x) + " it has " +
                      std::to_string(n.hint()));
  return n;
}

/// `half`: x has the first half of the last axis' elements.
Extent extent_of(const char* op, const Tensor& x, const Sizes& lengths, Axes axes, bool half) {
  const Shape shape = type_of(x).shape;
  if (axes.empty()) {
    const std::size_t count = lengths.empty() ? shape.size() : lengths.size();
    if (count > shape.size())
      raise<ValueError>(std::string(op) + ": there are " + std::to_string(count) + " lengths for " + type_text(x));
    for (std::size_t i = shape.size() - count; i < shape.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  }
  if (axes.empty() || shape.empty())
    raise<ValueError>(std::string(op) + ": " + type_text(x) + " has no axis; give it one with reshape");
  Extent extent{wrap_axes(op, axes, x), {}};
  if (!lengths.empty() && lengths.size() != extent.axes.size())
    raise<ValueError>(std::string(op) + ": there are " + count_of(lengths.size(), "length", "lengths") + " for " +
                      count_of(extent.axes.size(), "axis", "axes") + "; pass one for each");
  for (std::size_t i = 0; i < extent.axes.size(); ++i) {
    const bool is_half = half && i + 1 == extent.axes.size();
    const Size have = shape[at(extent.axes[i])], own = is_half ? (have - 1) * 2 : have;
    const bool given = !lengths.empty() && !(lengths[i] == -1);
    extent.lengths.push_back(checked_length(op, given ? lengths[i] : own, x));
  }
  return extent;
}

Tensor complex_transform(const char* op, const Tensor& given, const Sizes& lengths, const Axes& dims,
                         std::string_view norm, FourierWay way) {
  const Called as(op, given);
  const Factor factor = factor_from(op, norm, way);
  Tensor x = made_complex(given);
  const Extent extent = extent_of(op, given, lengths, dims, false);
  for (std::size_t i = extent.axes.size(); i-- > 0;)
    x = apply(Fft{extent.axes[i], way == FourierWay::backward, factor}, resized(x, extent.axes[i], extent.lengths[i]));
  return x;
}

/// `rfft` along the last axis, then `fft` along the others.
Tensor real_to_half(const char* op, const Tensor& given, const Sizes& lengths, const Axes& dims,
                    std::string_view norm) {
  const Called as(op, given);
  const Factor factor = factor_from(op, norm, FourierWay::forward);
  require_real_signal(op, given);
  Tensor x = made_floating(given);
  const Extent extent = extent_of(op, given, lengths, dims, false);
  for (std::size_t i = extent.axes.size(); i-- > 0;) {
    const Tensor fitted = resized(x, extent.axes[i], extent.lengths[i]);
    x = i + 1 == extent.axes.size() ? apply(Rfft{extent.axes[i], factor}, fitted)
                                    : apply(Fft{extent.axes[i], false, factor}, fitted);
  }
  return x;
}

/// `ifft` along all axes but the last, then `irfft`.
Tensor half_to_real(const char* op, const Tensor& given, const Sizes& lengths, const Axes& dims,
                    std::string_view norm) {
  const Called as(op, given);
  const Factor factor = factor_from(op, norm, FourierWay::backward);
  Tensor x = made_complex(given);
  const Extent extent = extent_of(op, given, lengths, dims, true);
  const std::size_t last = extent.axes.size() - 1;
  for (std::size_t i = 0; i < last; ++i)
    x = apply(Fft{extent.axes[i], true, factor}, resized(x, extent.axes[i], extent.lengths[i]));
  const Size n = extent.lengths[last];
  return apply(Irfft{extent.axes[last], n, factor}, resized(x, extent.axes[last], n / 2 + 1));
}

Tensor half_to_spectrum(const char* op, const Tensor& x, const Sizes& lengths, const Axes& dims,
                        std::string_view norm) {
  const Called as(op, x);
  return half_to_real(op, conj(x), lengths, dims, flipped(norm));
}
Tensor spectrum_to_half(const char* op, const Tensor& x, const Sizes& lengths, const Axes& dims,
                        std::string_view norm) {
  const Called as(op, x);
  return conj(real_to_half(op, x, lengths, dims, flipped(norm)));
}

/// -1 is no length here; among the lengths along several axes it stands for the axis' own.
Sizes one(const char* op, const Tensor& x, std::optional<Size> n) {
  return n ? Sizes{checked_length(op, *n, x)} : Sizes{};
}
constexpr std::string_view usual = "backward";

/// Axes of two-dimensional transforms.
Axes plane(const char* op, const Sizes& lengths, const Axes& dims) {
  const Axes axes = dims.empty() ? Axes{-2, -1} : dims;
  if (axes.size() != 2 || (!lengths.empty() && lengths.size() != 2))
    raise<ValueError>(std::string(op) + ": takes two axes, and two lengths or none");
  return axes;
}

Tensor shifted(const char* op, const Tensor& x, const Axes& dims, bool back) {
  const Called as(op, x);
  const Shape shape = type_of(x).shape;
  const Axes axes = wrap_axes(op, dims, x);
  if (axes.empty() || shape.empty()) return x;
  Sizes shifts;
  for (std::int64_t axis : axes) {
    const Size half = shape[at(axis)] / 2;
    shifts.push_back(back ? shape[at(axis)] - half : half);
  }
  return roll(x, shifts, axes);
}

void require_duration(const char* op, Size n, double d, DType dtype) {
  if (n < 1) raise<ValueError>(std::string(op) + ": n is " + std::to_string(n.hint()) + "; it must be at least 1");
  if (d == 0) raise<ValueError>(std::string(op) + ": the distance of samples is 0; pass another");
  if (!is_floating(dtype))
    raise<TypeError>(std::string(op) + ": frequencies are fractions; pass a floating dtype, such as rc::float64");
}
Tensor over_duration(const Tensor& k, Size n, double d, DType dtype) { return to(k, dtype) / to(Tensor(n) * d, dtype); }

}  // namespace

namespace ops {

/// Along one axis, two and several. What stands behind the transform's name are its last arguments.
#define RICCI_FOURIER(name, transform, ...)                                                                \
  Tensor name(const Tensor& x) { return name(x, {}, -1, usual); }                                          \
  Tensor name(const Tensor& x, std::optional<Size> n) { return name(x, n, -1, usual); }                    \
  Tensor name(const Tensor& x, std::optional<Size> n, std::int64_t dim) { return name(x, n, dim, usual); } \
  Tensor name(const Tensor& x, std::optional<Size> n, std::int64_t dim, std::string_view norm) {           \
    return transform(#name, x, one(#name, x, n), {dim}, norm __VA_OPT__(, ) __VA_ARGS__);                  \
  }                                                                                                        \
  Tensor name##2(const Tensor& x) { return name##2(x, {}, {}, usual); }                                    \
  Tensor name##2(const Tensor& x, const Sizes& s, const Axes& dims) { return name##2(x, s, dims, usual); } \
  Tensor name##2(const Tensor& x, const Sizes& s, const Axes& dims, std::string_view norm) {               \
    return transform(#name "2", x, s, plane(#name "2", s, dims), norm __VA_OPT__(, ) __VA_ARGS__);         \
  }                                                                                                        \
  Tensor name##n(const Tensor& x) { return name##n(x, {}, {}, usual); }                                    \
  Tensor name##n(const Tensor& x, const Sizes& s, const Axes& dims) { return name##n(x, s, dims, usual); } \
  Tensor name##n(const Tensor& x, const Sizes& s, const Axes& dims, std::string_view norm) {               \
    return transform(#name "n", x, s, dims, norm __VA_OPT__(, ) __VA_ARGS__);                              \
  }

RICCI_FOURIER(fft, complex_transform, FourierWay::forward)
RICCI_FOURIER(ifft, complex_transform, FourierWay::backward)
RICCI_FOURIER(rfft, real_to_half)
RICCI_FOURIER(irfft, half_to_real)
RICCI_FOURIER(hfft, half_to_spectrum)
RICCI_FOURIER(ihfft, spectrum_to_half)
#undef RICCI_FOURIER

Tensor fftshift(const Tensor& x) { return fftshift(x, {}); }
Tensor fftshift(const Tensor& x, const Axes& dims) { return shifted("fftshift", x, dims, false); }
Tensor ifftshift(const Tensor& x) { return ifftshift(x, {}); }
Tensor ifftshift(const Tensor& x, const Axes& dims) { return shifted("ifftshift", x, dims, true); }

Tensor fftfreq(Size n) { return fftfreq(n, 1); }
Tensor fftfreq(Size n, double d) { return fftfreq(n, d, default_dtype()); }
Tensor fftfreq(Size n, double d, DType dtype) {
  const Called as("fftfreq");
  require_duration("fftfreq", n, d, dtype);
  const Tensor k = arange(n, DType::int64);
  return over_duration(where(lt(k * 2, n), k, k - n), n, d, dtype);
}
Tensor rfftfreq(Size n) { return rfftfreq(n, 1); }
Tensor rfftfreq(Size n, double d) { return rfftfreq(n, d, default_dtype()); }
Tensor rfftfreq(Size n, double d, DType dtype) {
  const Called as("rfftfreq");
  require_duration("rfftfreq", n, d, dtype);
  return over_duration(arange(n / 2 + 1, DType::int64), n, d, dtype);
}

}  // namespace ops
}  // namespace ricci
