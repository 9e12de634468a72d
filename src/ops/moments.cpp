// Variances, standard deviations and norms. Where a root of a sum of squares is 0, its first derivative is 0 and its
// second one NaN.
#include <cmath>

#include "kernels/reduce.h"
#include "ops/dense.h"
#include "ops/edge.h"
#include "ops/sums.h"
#include "primitive/called.h"
#include "ricci/primitive/elementwise.h"

namespace ricci {
namespace {

/// The variance, sum |x - mean|² / (n - correction), and the mean.
struct Moments {
  using kind = Explicit;
  static constexpr const char* name = "var_mean";
  static constexpr unsigned keeps = input(0) | output(1);
  Axes axes;
  Size correction;

  Types type(const Type& x) const {
    require_floating(name, x);
    return {without_axes(x, axes, real_dtype(x.dtype)), without_axes(x, axes, x.dtype)};
  }
  void eval(Outputs out, Inputs in) const {
    kernels::mean_var(out[1], out[0], in[0], is_reduced(axes, in[0].rank).data(), correction);
  }
  Tensors jvp(const Forward& f) const {
    const Type type = type_of(f.inputs[0]);
    const Tensor off_mean = f.inputs[0] - beside(f.outputs[1], axes, type.rank());
    return {real_inner_along(off_mean, f.tangents[0], axes) * slope(type), mean_of(f.tangents[0])};
  }
  Tensors vjp(const Reverse& r) const {
    const Type& type = r.input_types[0];
    Tensor total;
    if (r.cotangents[0].defined()) {
      const Tensor off_mean = r.inputs[0] - beside(r.outputs[1], axes, type.rank());
      total = beside(r.cotangents[0] * slope(type), axes, type.rank()) * off_mean;
    }
    if (!r.cotangents[1].defined()) return {total};
    const Tensor of_mean = spread(r.cotangents[1] / size_along(axes, type.shape), axes, type.shape);
    return {total.defined() ? total + of_mean : of_mean};
  }
  Tensors simpler(std::span<const Tensor> operands) const {
    const Tensor& x = operands[0];
    const Tensor v = to(x, computed_dtype(x.dtype())), mean = mean_of(v);
    const Tensor off_mean = v - beside(mean, axes, type_of(x).rank());
    return {to(sum_along(square(off_mean), axes) * (slope(type_of(x)) * 0.5), x.dtype()), to(mean, x.dtype())};
  }
  Moments lifted() const { return {behind_batch(axes), correction}; }
  static std::vector<Sample<Moments>> samples() {
    std::vector<Sample<Moments>> samples;
    const auto add = [&](const Axes& axes, Size correction, const Tensor& x) {
      samples.push_back({{axes, correction}, {x}});
    };
    add({0}, 1, real_sample({4}));
    add({1}, 0, real_sample({2, 3}));
    add({0, 2}, 1, real_sample({2, 3, 2}));
    add({0}, 1, complex_sample({4}));
    add({1}, 1, real_sample({0, 3}));
    return samples;
  }

 private:
  /// The derivative of the variance is this times x - mean.
  Tensor slope(const Type& x) const {
    const Size n = size_along(axes, x.shape), room = n < correction ? Size(0) : n - correction;
    if (room.is_symbol()) return 2.0 / Tensor(room);
    return 2.0 / static_cast<double>(room.raw());
  }
  Tensor mean_of(const Tensor& x) const { return axes.empty() ? x : mean(x, axes); }
};

/// The sum of |x|².
struct SumOfSquares {
  using kind = Explicit;
  using elements = reduction::Magnitudes;
  static constexpr const char* name = "sum_of_squares";
  static constexpr double start = 0;
  static constexpr unsigned keeps = input(0);
  Axes axes;

  template <class T> auto term(T x) const { return scalar::squared_magnitude(x); }
  template <class R, class T> auto add(R sum, T x) const { return scalar::add_squared_magnitude(sum, x); }
  template <class T> auto join(T a, T b) const { return a + b; }
  Type type(const Type& x) const {
    require_floating(name, x);
    return reduced_type(*this, axes, x);
  }
  void eval(Outputs out, Inputs in) const { reduce_by(kernels::sum_of_squares, axes, out, in); }
  Tensors jvp(const Forward& f) const { return {real_inner_along(f.inputs[0], f.tangents[0], axes) * 2}; }
  Tensors vjp(const Reverse& r) const {
    return {beside(r.cotangents[0] * 2, axes, r.input_types[0].rank()) * r.inputs[0]};
  }
  SumOfSquares lifted() const { return {behind_batch(axes)}; }
  static std::vector<Sample<SumOfSquares>> samples() {
    return {{{{0}}, {real_sample({3})}},
            {{{1}}, {real_sample({2, 3})}},
            {{{0, 1}}, {complex_sample({2, 2})}},
            {{{0}}, {real_sample({0, 2})}}};
  }
};

/// The sum of |x|. The derivative of |x| at 0 is 0, as in `abs`.
struct SumOfSizes {
  using kind = Explicit;
  using elements = reduction::Magnitudes;
  static constexpr const char* name = "sum_of_abs";
  static constexpr double start = 0;
  static constexpr unsigned keeps = input(0);
  Axes axes;

  template <class T> auto term(T x) const { return scalar::abs(x); }
  template <class T> auto join(T a, T b) const { return a + b; }
  Type type(const Type& x) const {
    require_floating(name, x);
    return reduced_type(*this, axes, x);
  }
  void eval(Outputs out, Inputs in) const { reduce_by(kernels::sum_of_abs, axes, out, in); }
  Tensors jvp(const Forward& f) const { return {real_inner_along(slope_of_abs(f.inputs[0]), f.tangents[0], axes)}; }
  Tensors vjp(const Reverse& r) const {
    return {beside(r.cotangents[0], axes, r.input_types[0].rank()) * slope_of_abs(r.inputs[0])};
  }
  SumOfSizes lifted() const { return {behind_batch(axes)}; }
  static std::vector<Sample<SumOfSizes>> samples() {
    return {{{{0}}, {real_sample({3})}},
            {{{1}}, {real_sample({2, 3})}},
            {{{0, 1}}, {complex_sample({2, 2})}},
            {{{0}}, {real_sample({0, 2})}}};
  }
};

/// A square root whose derivative at 0 is 0, as suits the root of a sum of squares; the second one is NaN there.
struct FlatRoot {
  using kind = Elementwise;
  static constexpr const char* name = "flat_sqrt";
  static constexpr double ulps = 0.5;
  static constexpr unsigned keeps = output(0);
  static constexpr Interval domain = {0.1, 4};
  template <class T>
  T formula(T x) const {
    return scalar::sqrt(x);
  }
  double reference(double x) const { return std::sqrt(x); }
  Tensor partial(const Tensor&, const Tensor& y) const { return edge(y) * (0.5 / where(y == 0, 1, y)); }
};

Tensor flat_root(const Tensor& x) { return apply(FlatRoot{}, x); }

bool is_half(DType dtype) { return dtype == DType::float16 || dtype == DType::bfloat16; }

Tensor variance(const char* op, const Tensor& x, const Axes& axes, Size correction) {
  require_floating(op, x);
  return ricci::apply(Moments{axes, correction}, std::span(&x, 1))[0];
}

/// The root of the variance, computed in float64: the variance of other types overflows and vanishes early.
Tensor deviation(const Tensor& x, const Axes& axes, Size correction) {
  require_floating("std", x);
  const DType dtype = type_of(x).dtype, wide = is_complex(dtype) ? DType::complex128 : DType::float64;
  return to(flat_root(variance("std", to(x, wide), axes, correction)), real_dtype(dtype));
}

/// (sum |x|^p)^(1/p) without the cases that have their own kernels. Where it is 0 it is a flat root of 0.
Tensor general_norm(const Tensor& x, double p, const Axes& axes) {
  const Tensor zero = x == 0, power = pow(abs(where(zero, 1, x)), p);
  // The first derivative of |x|^p at 0 is 0. From order 2 on the second one is 0 too; below, it is infinite, and a flat
  // root makes it NaN.
  const Tensor at_zero = 0 < p && p < 2 ? flat_root(where(zero, abs(x), 1)) : Tensor(0);
  const Tensor total = sum_along(where(zero, at_zero, power), axes);
  const Tensor nothing = p < 0 ? any(zero, axes) : total == 0;
  const Tensor flat = logical_and(zero, beside(nothing, axes, type_of(x).rank()));
  const Tensor zeros = sum_along(where(flat, abs(where(flat, x, 1)), 0), axes);
  return where(nothing, flat_root(where(nothing, zeros, 1)), pow(where(nothing, 1, total), 1 / p));
}

Tensor norm_along(const Tensor& x, double p, const Axes& axes) {
  const DType real_type = real_dtype(type_of(x).dtype);
  if (is_half(real_type)) return to(norm_along(to(x, DType::float32), p, axes), real_type);  // squares overflow early
  if (p == 2) return flat_root(apply(SumOfSquares{axes}, x));
  if (p == 1) return apply(SumOfSizes{axes}, x);
  if (p == 0) return to(sum_along(x != 0, axes), real_type);
  if (!std::isinf(p)) return general_norm(x, p, axes);
  require_elements("norm", x, axes);
  if (axes.empty()) return abs(x);
  return p > 0 ? amax(abs(x), axes) : amin(abs(x), axes);
}

}  // namespace

namespace ops {

Tensor var(const Tensor& x) { return var(x, {}, 1, false); }
Tensor var(const Tensor& x, const Axes& dims) { return var(x, dims, 1, false); }
Tensor var(const Tensor& x, const Axes& dims, Size correction, bool keepdim) {
  const Axes axes = wrap_axes("var", dims, x);
  return kept(variance("var", x, axes, correction), axes, keepdim);
}

Tensor std(const Tensor& x) { return std(x, {}, 1, false); }
Tensor std(const Tensor& x, const Axes& dims) { return std(x, dims, 1, false); }
Tensor std(const Tensor& x, const Axes& dims, Size correction, bool keepdim) {
  const Axes axes = wrap_axes("std", dims, x);
  return kept(deviation(x, axes, correction), axes, keepdim);
}

Tensor norm(const Tensor& x) { return norm(x, 2, {}, false); }
Tensor norm(const Tensor& x, double p) { return norm(x, p, {}, false); }
Tensor norm(const Tensor& x, double p, const Axes& dims) { return norm(x, p, dims, false); }
Tensor norm(const Tensor& x, double p, const Axes& dims, bool keepdim) {
  require_floating("norm", x);
  const Axes axes = wrap_axes("norm", dims, x);
  return kept(norm_along(x, p, axes), axes, keepdim);
}

Tensor vector_norm(const Tensor& x) { return vector_norm(x, 2, {}, false); }
Tensor vector_norm(const Tensor& x, double ord) { return vector_norm(x, ord, {}, false); }
Tensor vector_norm(const Tensor& x, double ord, const Axes& dims) { return vector_norm(x, ord, dims, false); }
Tensor vector_norm(const Tensor& x, double ord, const Axes& dims, bool keepdim) {
  const Called as("vector_norm", x);
  return norm(x, ord, dims, keepdim);
}

}  // namespace ops
}  // namespace ricci
