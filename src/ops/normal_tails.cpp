// The tail of the normal distribution where it underflows: the scaled complementary error function, and the logarithm
// of the distribution function. Both are Mills' ratio with a factor.
#include <cmath>
#include <numbers>

#include "ops/sums.h"
#include "primitive/called.h"
#include "ricci/ops/incomplete.h"
#include "ricci/primitive/elementwise.h"

namespace ricci {
namespace {

constexpr double far_out = 25;

/// Φ(-x) exp(x²/2) for x >= 0 with the reciprocal r; from 25 on by its asymptotic series (DLMF 7.12.1), whose tenth
/// term is below 1e-17. The reciprocal may be known where x overflows.
template <class T>
T mills_ratio(T x, T r) {
  const T z = r * r, one(1);
  T series = one;
  for (int k = 15; k > 0; k -= 2) series = one - T(k) * z * series;
  const T far = r * T(std::numbers::inv_sqrtpi * std::numbers::sqrt2 / 2) * series;
  return scalar::select(scalar::greater(x, T(far_out)), far, scalar::mills(scalar::min(x, T(far_out))));
}

/// exp(factor x²), with what rounding takes from the square. Requires: the factor is a power of two, or less 0.
template <class T>
T exponential_of_square(T x, double factor) {
  const T square = x * x, lost = scalar::fma(x, x, -square);
  const T y = scalar::exp(square * T(factor));
  return scalar::select(scalar::isfinite(y) && scalar::isfinite(lost), scalar::fma(y, lost * T(factor), y), y);
}

/// erfc in more digits ends at 106; from 90 on by ten terms of the asymptotic series of exp(x²) erfc(x) (DLMF 7.12.1).
template <class T>
T exact_erfcx(T x) {
  if (scalar::less(x, T(90))) return scalar::exp(x * x) * scalar::erfc(x);
  const T z = T(-0.5) / (x * x);
  T term(1), sum(0);
  for (int k = 0; k < 10; ++k) {
    sum = sum + term;
    term = term * z * T(2 * k + 1);
  }
  return sum / (x * scalar::sqrt(T(std::numbers::pi_v<long double>)));
}

struct Erfcx {
  using kind = Elementwise;
  static constexpr const char* name = "erfcx";
  static constexpr double ulps = 5;
  static constexpr unsigned keeps = input(0) | output(0);
  static constexpr double tolerance_factor = 4;  // Mills' ratio, a constant and an exponential
  template <class T> auto formula(T x) const {
    const T size = scalar::abs(x);
    const T right = T(2) * mills_ratio(size * T(std::numbers::sqrt2), T(std::numbers::sqrt2 / 2) / size);
    const T left = T(2) * exponential_of_square(x, 1) - right;
    return scalar::select(scalar::less(x, T(0)), left, right);
  }
  template <class T> T exact(T x) const { return exact_erfcx(x); }
  Tensor partial(const Tensor& x, const Tensor& y) const {
    return sub(mul(mul(x, y), 2), 2 * std::numbers::inv_sqrtpi);
  }
  static double reference(double x) { return std::exp(x * x) * std::erfc(x); }
};

struct LogNdtr {
  using kind = Elementwise;
  static constexpr const char* name = "log_ndtr";
  static constexpr double ulps = 5;
  static constexpr unsigned keeps = input(0);
  static constexpr double tolerance_factor = 4;  // Mills' ratio, a logarithm and a square
  template <class T> auto formula(T x) const {
    const T size = scalar::abs(x), ratio = mills_ratio(size, T(1) / size);
    const T left = scalar::log(ratio) - (T(0.5) * x) * x;
    const T right = scalar::log1p(-(ratio * exponential_of_square(scalar::min(size, T(56)), -0.5)));
    return scalar::select(scalar::less(x, T(0)), left, right);
  }
  template <class T> T exact(T x) const {
    const T root = scalar::sqrt(T(0.5)), y = x * root;
    if (scalar::less(T(0), x)) return scalar::log1p(T(-0.5) * scalar::erfc(y));
    return scalar::log(T(0.5) * exact_erfcx(-y)) - y * y;
  }
  /// The density over the distribution function.
  Tensor partial(const Tensor& x, const Tensor&) const {
    return div(std::numbers::sqrt2 * std::numbers::inv_sqrtpi, erfcx(mul(x, -std::numbers::sqrt2 / 2)));
  }
  static double reference(double x) { return std::log(std::erfc(-x / std::numbers::sqrt2) / 2); }
};

}  // namespace

namespace ops {

Tensor erfcx(const Tensor& x) {
  const Called as("erfcx", x);
  require_order("erfcx", x);
  return apply(Erfcx{}, x);
}
Tensor log_ndtr(const Tensor& x) {
  const Called as("log_ndtr", x);
  require_order("log_ndtr", x);
  return apply(LogNdtr{}, x);
}

}  // namespace ops
}  // namespace ricci
