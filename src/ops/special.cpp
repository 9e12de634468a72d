// The error function and the gamma function with its derivatives. Start with `Polygamma`.
#include <cmath>
#include <numbers>

#include "ops/axes.h"
#include "ops/bounded_number.h"
#include "primitive/called.h"
#include "ricci/primitive/elementwise.h"

namespace ricci {
namespace {

struct Erf {
  using kind = Elementwise;
  static constexpr const char* name = "erf";
  static constexpr double ulps = 1.1;
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
  static constexpr double ulps = 1.51;
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

/// x to a positive whole power.
template <class T>
T whole_power(T x, std::int64_t n) {
  if (n == 1) return x;
  const T half = whole_power(x, n / 2);
  return n % 2 == 0 ? half * half : half * half * x;
}

/// x^-n: the power of the rounded 1 / x, set right by n times what rounding took.
template <class T>
T inverse_power(T x, std::int64_t n) {
  const T inverse = T(1) / x, power = whole_power(inverse, n);
  const T lost = scalar::fma(-inverse, x, T(1)) * T(static_cast<double>(n));
  return scalar::select(scalar::isfinite(lost), scalar::fma(power, lost, power), power);
}

/// The factor, applied before anything underflows, times the Hurwitz zeta function, the sum of (q + k)^-s over k = 0, 1, …, for s >= 2 and q >= 0: the
/// terms with q + k < terms, and for the rest the Euler-Maclaurin formula (DLMF 25.11.5), whose tenth term is below an ulp from 10 + s on. The smallest terms
/// come first, so that few roundings are of the size of the sum.
template <class T>
T hurwitz_zeta(std::int64_t s, T q, std::int64_t terms, T factor) {
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
  const T first = scalar::select(scalar::less(q, enough), q + scalar::ceil(enough - q), q);  // of the rest
  const T r = one / first, z = r * r;
  T series(rising[9]);
  for (int j = 8; j >= 0; --j) series = series * z + T(rising[j]);
  const T scaled = factor * r, rounded = s == 2 ? scaled : scaled * whole_power(r, s - 2);
  const T lost = scalar::fma(-r, first, one) * T(static_cast<double>(s - 1));
  const T power = scalar::select(scalar::isfinite(lost), scalar::fma(rounded, lost, rounded), rounded);
  T sum = power * (T(1 / static_cast<double>(s - 1)) + r * (T(0.5) + r * series));
  for (std::int64_t k = terms; k-- > 0;) {
    const T base = q + T(static_cast<double>(k));
    sum = sum + scalar::select(scalar::less(base, first), factor * inverse_power(base, s), zero);
  }
  return sum;
}

/// (-1)^(n+1) n! zeta(n + 1, x) (DLMF 25.11.12) for n >= 1. For x < 0 the largest term of the sum over (x + k)^-s
/// belongs to t, what x is from the nearest integer; from there the sum runs up and down, and each of these parts is a
/// zeta function of a positive argument.
struct Polygamma {
  using kind = Elementwise;
  static constexpr const char* name = "polygamma";
  static constexpr double ulps = 10;  // 4 for n <= 3; what rounding 1 + t takes counts n + 1 times
  static constexpr unsigned keeps = input(0);
  static constexpr double tolerance_factor = 8;  // three zeta functions, a factorial and a subtraction
  BoundedNumber<1, 170> n;                       // beyond it the factorial is infinite

  template <class T>
  struct Parts {
    T nearest, up, down;
  };
  template <class T>
  Parts<T> parts(T x, std::int64_t terms) const {
    const T zero(0), one(1);
    const std::int64_t s = n + 1;
    const auto negative = scalar::less(x, zero);
    const T t = x - scalar::round(x);
    const T factor((n % 2 == 0 ? -1 : 1) * std::tgamma(static_cast<double>(s)));
    const T nearest = scalar::select(negative, factor * inverse_power(t, s), zero);
    const T up = hurwitz_zeta(s, scalar::select(negative, one + t, x), terms, factor);
    const T down = hurwitz_zeta(s, scalar::select(negative, one - t, one), terms, factor) -
                   hurwitz_zeta(s, scalar::select(negative, one - x, one), terms, factor);
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
  return n == 0 ? digamma(x) : apply(Polygamma{n}, x);
}

const Tensor& Tensor::erf_() const { return apply_into(*this, Erf{}, *this); }
const Tensor& Tensor::erfc_() const { return apply_into(*this, Erfc{}, *this); }
const Tensor& Tensor::lgamma_() const { return apply_into(*this, Lgamma{}, *this); }
const Tensor& Tensor::digamma_() const { return apply_into(*this, Digamma{}, *this); }

}  // namespace ops
}  // namespace ricci
