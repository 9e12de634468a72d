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
  static constexpr unsigned keeps = input(0);
  static constexpr Interval domain = {0.25, 4};
  template <class T> auto formula(T x) const { return scalar::lgamma(x); }
  Tensor partial(const Tensor& x, const Tensor&) const { return digamma(x); }
  static double reference(double x) { return std::lgamma(x); }
};

struct Digamma {
  using kind = Elementwise;
  static constexpr const char* name = "digamma";
  static constexpr unsigned keeps = input(0);
  static constexpr Interval domain = {0.25, 4};
  template <class T> auto formula(T x) const { return scalar::digamma(x); }
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

/// The Hurwitz zeta function, the sum of (q + k)^-s over k = 0, 1, …, for s >= 2 and q >= 0: terms up to
/// q + k >= 10 + s, then the Euler-Maclaurin formula (DLMF 25.11.5), whose tenth term is below an ulp there.
template <class T>
T hurwitz_zeta(std::int64_t s, T q) {
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
  const T zero(0), one(1), enough(static_cast<double>(10 + s));
  T sum = zero;
  for (std::int64_t k = 0; k < 10 + s; ++k) {
    const auto small = scalar::less(q, enough);
    sum = sum + scalar::select(small, whole_power(one / q, s), zero);
    q = scalar::select(small, q + one, q);
  }
  double rising[10];  // s (s + 1) … (s + 2 j), times the Bernoulli number over its factorial
  double product = static_cast<double>(s);
  for (int j = 0; j < 10; ++j) {
    rising[j] = bernoulli_over_factorial[j] * product;
    product *= static_cast<double>((s + 2 * j + 1) * (s + 2 * j + 2));
  }
  const T r = one / q, z = r * r;
  T series(rising[9]);
  for (int j = 8; j >= 0; --j) series = series * z + T(rising[j]);
  const T rest = T(1 / static_cast<double>(s - 1)) + r * (T(0.5) + r * series);
  return sum + whole_power(r, s - 1) * rest;
}

/// (-1)^(n+1) n! zeta(n + 1, x) (DLMF 25.11.12) for n >= 1. For x < 0, with fraction f of x, the sum over (x + k)^-s
/// runs from f down to x and from f up: each part is a zeta function of a positive argument.
struct Polygamma {
  using kind = Elementwise;
  static constexpr const char* name = "polygamma";
  static constexpr unsigned keeps = input(0);
  static constexpr double tolerance_factor = 8;  // three zeta functions, a factorial and a subtraction
  BoundedNumber<1, 170> n;                       // beyond it the factorial is infinite

  template <class T> auto formula(T x) const {
    const T zero(0), one(1);
    const std::int64_t s = n + 1;
    const auto negative = scalar::less(x, zero);
    const T fraction = x - scalar::floor(x);
    const T up = hurwitz_zeta(s, scalar::select(negative, fraction, x));
    const T down = hurwitz_zeta(s, one - fraction) - hurwitz_zeta(s, scalar::select(negative, one - x, one));
    const T zeta = scalar::select(negative, s % 2 == 0 ? up + down : up - down, up);
    return T((n % 2 == 0 ? -1 : 1) * std::tgamma(static_cast<double>(s))) * zeta;
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

}  // namespace ops
}  // namespace ricci
