// The error function and the gamma function with its derivatives. Start with `Polygamma`.
#include <cmath>
#include <numbers>

#include "ops/axes.h"
#include "ops/bounded_number.h"
#include "ops/unrounded.h"
#include "primitive/called.h"
#include "ricci/primitive/elementwise.h"

namespace ricci {
namespace {

struct Erf {
  using kind = Elementwise;
  static constexpr const char* name = "erf";
  static constexpr double ulps = scalar::machine::fuses ? 1.1 : 2.1;
  static constexpr unsigned keeps = input(0);
  template <class T> auto formula(T x) const { return scalar::erf(x); }
  Tensor partial(const Tensor& x, const Tensor&) const {
    return mul(exp(neg(square(x))), 2 * std::numbers::inv_sqrtpi);
  }
  static double reference(double x) { return std::erf(x); }
};

struct Erfc {
  using kind = Elementwise;
  static constexpr const char* name = "erfc";
  static constexpr double ulps = scalar::machine::fuses ? 1.51 : 2.1;
  static constexpr unsigned keeps = input(0);
  template <class T> auto formula(T x) const { return scalar::erfc(x); }
  Tensor partial(const Tensor& x, const Tensor&) const {
    return mul(exp(neg(square(x))), -2 * std::numbers::inv_sqrtpi);
  }
  static double reference(double x) { return std::erfc(x); }
};

struct Lgamma {
  using kind = Elementwise;
  static constexpr const char* name = "lgamma";
  static constexpr double ulps = 1.01;
  static constexpr unsigned keeps = input(0);
  static constexpr Interval domain = {0.25, 4};
  template <class T> auto formula(T x) const { return scalar::lgamma(x); }
  Tensor partial(const Tensor& x, const Tensor&) const { return digamma(x); }
  static double reference(double x) { return std::lgamma(x); }
};

struct Digamma {
  using kind = Elementwise;
  static constexpr const char* name = "digamma";
  static constexpr double ulps = 4;
  static constexpr unsigned keeps = input(0);
  static constexpr Interval domain = {0.25, 4};
  template <class T> auto formula(T x) const { return scalar::digamma(x); }
  /// The reflection's terms, which cancel near the zeros at negative x.
  template <class T> static T unit(T x) {
    const T right = scalar::digamma(T(1) - x), cotangent = right - scalar::digamma(x);
    return scalar::select(scalar::less(x, T(0)), scalar::max(scalar::abs(right), scalar::abs(cotangent)), T(0));
  }
  Tensor partial(const Tensor& x, const Tensor&) const { return polygamma(1, x); }
  /// By the recurrence psi(x) = psi(x + 1) - 1 / x up to where the logarithm and two terms suffice.
  static double reference(double x) {
    double sum = 0;
    for (int k = 0; k < 1000; ++k, ++x) sum -= 1 / x;
    return sum + std::log(x) - 1 / (2 * x) - 1 / (12 * x * x);
  }
};

/// factor x^-n for n >= 1. The factor comes between two halves of the power, which alone might underflow.
template <class T>
T inverse_power(T factor, Unrounded<T> x, std::int64_t n) {
  const T rounded = T(1) / x.value, lost = scalar::fma(-rounded, x.value, T(1)) - rounded * x.off;
  const Unrounded<T> inverse = {rounded, rounded * lost};
  const Unrounded<T> half = product(factor, whole_power(inverse, n - n / 2));
  const Unrounded<T> power = n == 1 ? half : product(half, whole_power(inverse, n / 2));
  const T better = power.value + power.off;
  return scalar::select(scalar::isfinite(better), better, power.value);
}

/// Whether a condition may hold: in some lane, for the one number that the laws count with, or for a written value.
template <class Mask>
bool any_lane(const Mask& mask) {
  if constexpr (std::is_same_v<Mask, bool>) return mask;
  else if constexpr (requires { any(mask); }) return any(mask);
  else return true;
}

/// The factor times the Hurwitz zeta function, the sum of (q + k)^-s over k = 0, 1, …, for s >= 2 and q >= 0: the terms
/// with q + k < terms, and for the rest the Euler-Maclaurin formula (DLMF 25.11.5), whose tenth term is below an ulp
/// from 10 + s on. The smallest terms come first, so that few roundings are of the size of the sum.
template <class T>
T hurwitz_zeta(std::int64_t s, Unrounded<T> q, std::int64_t terms, T factor) {
  constexpr double bernoulli_over_factorial[] = {1. / 12,
                                                 -1. / 720,
                                                 1. / 30240,
                                                 -1. / 1209600,
                                                 1. / 47900160,
                                                 -691. / 1307674368000,
                                                 1. / 74724249600,
                                                 -3617. / 10670622842880000,
                                                 43867. / 5109094217170944000,
                                                 -174611. / 802857662698291200000.};
  double rising[10];  // s (s + 1) … (s + 2 j), times the Bernoulli number over its factorial
  double product = static_cast<double>(s);
  for (int j = 0; j < 10; ++j) {
    rising[j] = bernoulli_over_factorial[j] * product;
    product *= static_cast<double>((s + 2 * j + 1) * (s + 2 * j + 2));
  }
  const T zero(0), one(1), enough(static_cast<double>(terms));
  const auto at = [&](T k) -> Unrounded<T> {
    const T base = q.value + k;
    return {base, (q.value - (base - k)) + q.off};
  };
  const auto few = scalar::less(q.value, enough);
  const Unrounded<T> first = at(scalar::select(few, scalar::ceil(enough - q.value), zero));  // of the rest
  const T r = one / first.value, z = r * r;
  T series(rising[9]);
  for (int j = 8; j >= 0; --j) series = series * z + T(rising[j]);
  const T power = inverse_power(factor, first, s - 1);
  T sum = power * (T(1 / static_cast<double>(s - 1)) + r * (T(0.5) + r * series));
  for (std::int64_t k = any_lane(few) ? terms : 0; k-- > 0;) {
    const Unrounded<T> base = at(T(static_cast<double>(k)));
    const auto counts = scalar::less(base.value, first.value);
    sum = sum + scalar::select(counts, inverse_power(factor, base, s), zero);
  }
  return sum;
}

/// (-1)^(n+1) n! zeta(n + 1, x) (DLMF 25.11.12) for n >= 1. For x < 0 the largest term of the sum over (x + k)^-s
/// belongs to t, what x is from the nearest integer; from there the sum runs up and down, and each of these parts is a
/// zeta function of a positive argument.
struct Polygamma {
  using kind = Elementwise;
  static constexpr const char* name = "polygamma";
  static constexpr double ulps = 4;
  static constexpr unsigned keeps = input(0);
  static constexpr double tolerance_factor = 8;                   // three zeta functions, a factorial and a subtraction
  static constexpr std::int64_t most = 169, most_in_single = 33;  // beyond it the factorial is infinite
  BoundedNumber<1, most> n;

  template <class T>
  struct Parts {
    T nearest, up, down;
  };
  template <class T>
  Parts<T> parts(T x, std::int64_t terms) const {
    const T zero(0), one(1);
    const std::int64_t s = n + 1;
    const auto negative = scalar::less(x, zero);
    const T factor((n % 2 == 0 ? -1 : 1) * std::tgamma(static_cast<double>(s)));
    if (!any_lane(negative)) return {zero, hurwitz_zeta(s, {x, zero}, terms, factor), zero};
    const T t = x - scalar::round(x);
    const T nearest = scalar::select(negative, inverse_power(factor, {t, zero}, s), zero);
    const auto one_and = [&](T part, T positive) -> Unrounded<T> {
      const T sum = one + part;
      return {scalar::select(negative, sum, positive), scalar::select(negative, (one - sum) + part, zero)};
    };
    const T up = hurwitz_zeta(s, one_and(t, x), terms, factor);
    const T down = hurwitz_zeta(s, one_and(-t, one), terms, factor) - hurwitz_zeta(s, one_and(-x, one), terms, factor);
    return {nearest, up, s % 2 == 0 ? down : -down};
  }

  template <class T> auto formula(T x) const {
    const auto [nearest, up, down] = parts(x, n + 11);
    return nearest + (up + down);
  }
  template <class T> T exact(T x) const {
    const auto [nearest, up, down] = parts(x, n + 20);
    return nearest + (up + down);
  }
  /// Between two poles at negative x, where n is even, the parts cancel.
  template <class T> T unit(T x) const {
    if (n % 2 == 1 || !scalar::less(x, T(0))) return T(0);
    const auto [nearest, up, down] = parts(x, n + 11);
    return scalar::max(scalar::max(scalar::abs(nearest), scalar::abs(up)), scalar::abs(down));
  }
  Tensor partial(const Tensor& x, const Tensor&) const { return polygamma(n + 1, x); }
  /// The sum itself, its tail by the integral.
  double reference(double x) const {
    const auto s = static_cast<double>(n + 1);
    double sum = 0;
    for (int k = 0; k < 20000; ++k, ++x) sum += std::pow(x, -s);
    sum += std::pow(x, 1 - s) / (s - 1) + std::pow(x, -s) / 2;
    return (n % 2 == 0 ? -1 : 1) * std::tgamma(s) * sum;
  }
  static std::vector<Sample<Polygamma>> samples() {
    std::vector<Sample<Polygamma>> all;
    for (std::int64_t n : {1, 2, 3, 6}) all.push_back({{n}, {add(mul(rand({2, 3}), 3), 0.5)}});
    all.push_back({{1}, {sub(mul(rand({4}), 0.5), 2.75)}});
    return all;
  }
};

}  // namespace

namespace ops {

Tensor erf(const Tensor& x) { return apply(Erf{}, x); }
Tensor erfc(const Tensor& x) { return apply(Erfc{}, x); }
Tensor lgamma(const Tensor& x) { return apply(Lgamma{}, x); }
Tensor digamma(const Tensor& x) { return apply(Digamma{}, x); }
Tensor polygamma(std::int64_t n, const Tensor& x) {
  const Called as("polygamma", x);
  if (n < 0) raise<ValueError>("polygamma: n is " + std::to_string(n) + "; it must be at least 0");
  const Type type = type_of(x);
  const bool is_double = (is_integral(type.dtype) ? default_dtype() : type.dtype) == DType::float64;
  if (const std::int64_t most = is_double ? Polygamma::most : Polygamma::most_in_single; n > most)
    raise<ValueError>("polygamma: n is " + std::to_string(n) + "; it must be at most " + std::to_string(most) +
                      " for " + to_string(type) +
                      (is_double ? "" : ", " + std::to_string(Polygamma::most) + " after x.to(rc::float64)"));
  return n == 0 ? digamma(x) : apply(Polygamma{n}, x);
}

const Tensor& Tensor::erf_() const { return apply_into(*this, Erf{}, *this); }
const Tensor& Tensor::erfc_() const { return apply_into(*this, Erfc{}, *this); }
const Tensor& Tensor::lgamma_() const { return apply_into(*this, Lgamma{}, *this); }
const Tensor& Tensor::digamma_() const { return apply_into(*this, Digamma{}, *this); }

}  // namespace ops
}  // namespace ricci
