// Powers and roots. A power with a number for exponent is an operation of its own: it needs no logarithm, and its
// derivative is another power. Start with `Pow`.
#include <cmath>
#include <complex>
#include <optional>

#include "ops/constants.h"
#include "ops/edge.h"
#include "ops/unrounded.h"
#include "primitive/writing.h"
#include "ricci/primitive/elementwise.h"
#include "ricci/primitive/machine.h"
#include "ricci/primitive/raise.h"

namespace ricci {
namespace {

constexpr DTypes numbers = DTypes::floating | DTypes::integral | DTypes::complex;

/// The exponents for which products, of x or of 1 / x, take less time than logarithm and exponential do.
bool takes_products(double exponent) {
  constexpr double most = 64;
  return scalar::machine::fuses && exponent == std::trunc(exponent) && std::abs(exponent) <= most;
}

/// x^n for |n| >= 3, within about one unit in the last place. For n < 0 it is the power of the rounded quotient 1 / x
/// times 1 + |n| lost. The last product is rounded once, with all that was lost before; where it overflows or vanishes,
/// so does the power.
template <class T>
T by_products(T x, int n) {
  const std::int64_t times = n < 0 ? -n : n;
  const T base = n < 0 ? T(1) / x : x;
  const auto last = [&](T a, T b, T lost) {  // a (b + lost)
    if (n < 0) lost = scalar::fma(b, scalar::fma(-base, x, T(1)) * T(static_cast<double>(times)), lost);
    lost = a * lost;
    return scalar::fma(a, b, scalar::select(scalar::isfinite(lost), lost, T(-0.0)));  // -0 keeps the product's sign
  };
  if (times % 2 == 0) {
    const Unrounded<T> half = whole_power(base, times / 2);
    return last(half.value, half.value, half.off + half.off);
  }
  const Unrounded<T> rest = whole_power(base, times - 1);
  return last(base, rest.value, rest.off);
}
template <class F>
std::complex<F> by_products(std::complex<F> x, int n) {
  return scalar::pow(x, std::complex<F>(static_cast<F>(n)));
}

/// x^0, which is 1 for every x.
template <class T>
T zeroth_power(T x) {
  return scalar::pow(x, T(0));
}
template <class F>
std::complex<F> zeroth_power(std::complex<F>) {
  return F(1);
}

template <class T>
T power_by(T x, double exponent) {
  if (exponent == 0) return zeroth_power(x);
  if (exponent == 1) return x;
  if (exponent == 2) return scalar::square(x);
  if (exponent == 3) return static_cast<T>(x * x * x);
  if (exponent == 0.5) return scalar::sqrt(x);
  if (exponent == -1) return scalar::reciprocal(x);
  if (exponent == -2) return scalar::square(scalar::reciprocal(x));
  if (takes_products(exponent)) return by_products(x, static_cast<int>(exponent));
  return scalar::pow(x, T(exponent));
}

/// A complex power by a real number is the same whether the number is a parameter or an element.
template <class T>
T raised(T base, T exponent) {
  return scalar::pow(base, exponent);
}
template <class F>
std::complex<F> raised(std::complex<F> base, std::complex<F> exponent) {
  return exponent.imag() == 0 ? power_by(base, static_cast<double>(exponent.real())) : scalar::pow(base, exponent);
}

struct Pow {
  using kind = Elementwise;
  static constexpr const char* name = "pow";
  static constexpr double ulps = 1.01;
  static constexpr DTypes dtypes = numbers;
  static constexpr unsigned keeps = input(0) | input(1) | output(0);
  static constexpr Interval domain = {0.25, 2};
  template <class T> auto formula(T base, T exponent) const { return raised(base, exponent); }
  /// As in PyTorch, 0 to the power 0 has derivatives 0, as has 0 to a positive power with respect to the exponent.
  /// What `where` does not choose is kept finite, so that second derivatives stay free of NaN. Near 0 the lower power
  /// may overflow although its product with the exponent is finite; y / base says that, unless base is infinite.
  Tensor partial(int i, std::span<const Tensor> x, const Tensor& y) const {
    const Tensor &base = x[0], &exponent = x[1], at_zero = eq(base, 0);
    if (i == 0) {
      const Tensor lower = where(logical_and(at_zero, eq(exponent, 0)), 1, sub(exponent, 1));
      const Tensor steep = logical_and(isinf(pow(base, lower)), logical_and(logical_not(at_zero), isfinite(base)));
      const Tensor plain = mul(exponent, pow(where(steep, 1, base), lower));
      return where(steep, div(mul(y, exponent), where(steep, base, 1)), plain);
    }
    const Tensor flat =
        logical_or(logical_and(at_zero, ge(real(exponent), 0)), logical_and(eq(base, infinity), eq(y, 0)));
    return mul(y, log(to(where(flat, 1, base), y.dtype())));
  }
  static double reference(double base, double exponent) { return std::pow(base, exponent); }
};

struct PowBy {
  using kind = Elementwise;
  static constexpr const char* name = "pow_number";
  static constexpr double ulps = 2;
  static constexpr DTypes dtypes = fields;
  static constexpr unsigned keeps = input(0);
  double exponent;

  template <class T> auto formula(T x) const { return power_by(x, exponent); }
  template <class T> T exact(T x) const { return scalar::pow(x, T::in_element(exponent)); }
  Tensor scale(const Tensor& t, const Tensor& x, const Tensor&) const {
    if (exponent == 0) return zeros_of(type_of(t));
    if (exponent == 1) return t;
    const Tensor lower = exponent == 2 ? x : apply(PowBy{exponent - 1}, x);
    return mul(t, mul(lower, exponent));
  }
  double reference(double x) const { return std::pow(x, exponent); }
  static std::vector<Sample<PowBy>> samples() {
    std::vector<Sample<PowBy>> all;
    for (double exponent : {0.0, 1.0, 2.0, 3.0, 5.0, 0.5, -1.0, -2.0, -3.0, -64.0, 2.3})
      all.push_back({{exponent}, {add(rand({2, 3}), 0.5)}});
    return all;
  }
};

/// 2 a b: the derivative of a square, and its own.
struct TwiceProduct {
  using kind = Elementwise;
  static constexpr const char* name = "twice_product";
  static constexpr unsigned linear_in_each = input(0) | input(1);
  static constexpr double ulps = 1;  // doubling what was rounded below the normal numbers
  static constexpr DTypes dtypes = fields;
  static constexpr unsigned keeps = input(0) | input(1);
  template <class T> auto formula(T a, T b) const {
    const T product = a * b;
    return product + product;  // 2 a could overflow where the result does not
  }
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor&) const {
    return apply(TwiceProduct{}, t, x[i == 0 ? 1 : 0]);
  }
  static double reference(double a, double b) { return 2 * a * b; }
};

struct Square {
  using kind = Elementwise;
  static constexpr const char* name = "square";
  static constexpr double ulps = 0.5;
  static constexpr DTypes dtypes = numbers;
  static constexpr unsigned keeps = input(0);
  template <class T> auto formula(T x) const { return scalar::square(x); }
  Tensor scale(const Tensor& t, const Tensor& x, const Tensor&) const { return apply(TwiceProduct{}, t, x); }
  static double reference(double x) { return x * x; }
};

/// a / (2 b): the derivative of a square root b.
struct HalfQuotient {
  using kind = Elementwise;
  static constexpr const char* name = "half_quotient";
  static constexpr unsigned linear_in = input(0);
  static constexpr double ulps = 0.5;
  static constexpr DTypes dtypes = fields;
  static constexpr unsigned keeps = input(1) | output(0);
  static constexpr Interval domain = {0.5, 2};
  template <class T> auto formula(T a, T b) const { return a / (b + b); }
  /// b, being a square root, is far from where 2 b overflows.
  template <class T> static T unit(T, T b) {
    return scalar::select(scalar::less(scalar::abs(b), T(0x1p126)), T(0), T(infinity));
  }
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor& y) const {
    return i == 0 ? apply(HalfQuotient{}, t, x[1]) : neg(div(mul(t, y), x[1]));
  }
  static double reference(double a, double b) { return a / (2 * b); }
};

struct Sqrt {
  using kind = Elementwise;
  static constexpr const char* name = "sqrt";
  static constexpr double ulps = 0.5;
  static constexpr DTypes dtypes = fields;
  static constexpr unsigned keeps = output(0);
  static constexpr Interval domain = {0.25, 4};
  template <class T> auto formula(T x) const { return scalar::sqrt(x); }
  Tensor scale(const Tensor& t, const Tensor&, const Tensor& y) const { return apply(HalfQuotient{}, t, y); }
  static double reference(double x) { return std::sqrt(x); }
};

struct Rsqrt {
  using kind = Elementwise;
  static constexpr const char* name = "rsqrt";
  static constexpr double ulps = 1.5;
  static constexpr DTypes dtypes = fields;
  static constexpr unsigned keeps = output(0);
  static constexpr Interval domain = {0.25, 4};
  template <class T> auto formula(T x) const { return scalar::rsqrt(x); }
  Tensor scale(const Tensor& t, const Tensor&, const Tensor& y) const { return mul(t, mul(mul(y, -0.5), square(y))); }
  static double reference(double x) { return 1 / std::sqrt(x); }
};

struct Cbrt {
  using kind = Elementwise;
  static constexpr const char* name = "cbrt";
  static constexpr double ulps = 1.01;
  static constexpr unsigned keeps = output(0);
  static constexpr Interval domain = {0.25, 4};
  template <class T> auto formula(T x) const { return scalar::cbrt(x); }
  Tensor scale(const Tensor& t, const Tensor&, const Tensor& y) const { return div(t, mul(square(y), 3)); }
  static double reference(double x) { return std::cbrt(x); }
};

struct Reciprocal {
  using kind = Elementwise;
  static constexpr const char* name = "reciprocal";
  static constexpr double ulps = 0.5;
  static constexpr DTypes dtypes = fields;
  static constexpr unsigned keeps = output(0);
  static constexpr Interval domain = {0.5, 2};
  template <class T> auto formula(T x) const { return scalar::reciprocal(x); }
  Tensor scale(const Tensor& t, const Tensor&, const Tensor& y) const { return neg(mul(t, square(y))); }
  static double reference(double x) { return 1 / x; }
};

/// a / hypot(a, b), and 0 at the origin. Divided by the greater of the two first: below the smallest normal number
/// hypot has few digits.
struct HypotSlope {
  using kind = Elementwise;
  static constexpr const char* name = "hypot_slope";
  static constexpr double ulps = 3;
  static constexpr unsigned keeps[] = {input(0) | input(1), input(0) | input(1) | output(0)};
  static constexpr Interval domain = {0.25, 2};
  template <class T> auto formula(T a, T b) const {
    const T size = scalar::max(scalar::abs(a), scalar::abs(b));
    const auto share = [size](T x) { return scalar::select(scalar::isinf(x), scalar::copysign(T(1), x), x / size); };
    const T u = share(a), v = share(b);
    return scalar::select(scalar::equal(size, T(0)), T(0), u / scalar::sqrt(u * u + v * v));
  }
  /// With q, the slope by b: q^2 / hypot and -p q / hypot. NaN at the origin, where an outer function decides what the
  /// second derivative is: that of a square is 2.
  Tensor partial(int i, std::span<const Tensor> x, const Tensor& p) const {
    const Tensor q = apply(HypotSlope{}, x[1], x[0]), size = hypot(x[0], x[1]);
    const Tensor curved = mul(div(i == 0 ? q : p, size), q);
    return i == 0 ? curved : neg(curved);
  }
  static double reference(double a, double b) { return a / std::hypot(a, b); }
};

struct Hypot {
  using kind = Elementwise;
  static constexpr const char* name = "hypot";
  static constexpr double ulps = scalar::machine::fuses ? 1.01 : 2.1;
  static constexpr unsigned keeps = input(0) | input(1);
  static constexpr Interval domain = {0.25, 2};
  template <class T> auto formula(T a, T b) const { return scalar::hypot(a, b); }
  /// 0 at the origin, where PyTorch has NaN; its own derivatives are NaN there.
  Tensor partial(int i, std::span<const Tensor> x, const Tensor&) const {
    return i == 0 ? apply(HypotSlope{}, x[0], x[1]) : apply(HypotSlope{}, x[1], x[0]);
  }
  static double reference(double a, double b) { return std::hypot(a, b); }
};

/// The tensor's element, if it is a real C++ number; none of a captured one, which each run of a program reads anew.
std::optional<double> real_number(const char* op, const Tensor& x) {
  if (!x.defined()) return {};
  const ValueRef seen = read(x, op);
  const Value& value = *seen;
  if (!is_number(value)) return {};
  const void* data = static_cast<const Array&>(value).data;
  if (value.type.dtype == DType::float64) return *static_cast<const double*>(data);
  if (value.type.dtype == DType::int64) return static_cast<double>(*static_cast<const std::int64_t*>(data));
  return {};
}

/// The exponent, if it is a real C++ number and the base's type is that of the power.
std::optional<double> constant_exponent(const char* op, const Tensor& base, const Tensor& exponent) {
  if (!base.defined()) return {};
  const auto number = real_number(op, exponent);
  const Type& type = value_of(base)->type;
  if (is_differentiable(type.dtype)) return number;
  if (number && *number < 0 && is_integral(value_of(exponent)->type.dtype))
    raise<ValueError>(std::string(op) + ": the exponent " + std::to_string(static_cast<std::int64_t>(*number)) +
                      " is negative, and the integers of the base " + to_string(type) +
                      " have no fractions; convert it with x.to(rc::float32)");
  return {};
}

}  // namespace

Tensor edge(const Tensor& size) { return apply(HypotSlope{}, size, Tensor(0)); }

namespace ops {

Tensor pow(const Tensor& base, const Tensor& exponent) {
  if (const auto constant = constant_exponent("pow", base, exponent)) return apply(PowBy{*constant}, base);
  return apply(Pow{}, base, exponent);
}
Tensor square(const Tensor& x) {
  require_defined("square", x, 0);
  return x.dtype() == DType::boolean ? to(x, DType::int64) : apply(Square{}, x);
}
Tensor sqrt(const Tensor& x) { return apply(Sqrt{}, x); }
Tensor rsqrt(const Tensor& x) { return apply(Rsqrt{}, x); }
Tensor cbrt(const Tensor& x) { return apply(Cbrt{}, x); }
Tensor reciprocal(const Tensor& x) { return apply(Reciprocal{}, x); }
Tensor hypot(const Tensor& a, const Tensor& b) { return apply(Hypot{}, a, b); }

const Tensor& Tensor::pow_(const Tensor& exponent) const {
  if (!constant_exponent("pow_", *this, exponent)) return apply_into(*this, Pow{}, *this, exponent);
  write_result(*this, ops::pow(*this, exponent), "pow_");  // under the name the user called
  return *this;
}
const Tensor& Tensor::square_() const { return apply_into(*this, Square{}, *this); }
const Tensor& Tensor::sqrt_() const { return apply_into(*this, Sqrt{}, *this); }
const Tensor& Tensor::reciprocal_() const { return apply_into(*this, Reciprocal{}, *this); }
const Tensor& Tensor::rsqrt_() const { return apply_into(*this, Rsqrt{}, *this); }
const Tensor& Tensor::hypot_(const Tensor& other) const { return apply_into(*this, Hypot{}, *this, other); }

const Tensor& square_(const Tensor& x) { return x.square_(); }
const Tensor& sqrt_(const Tensor& x) { return x.sqrt_(); }

}  // namespace ops
}  // namespace ricci
