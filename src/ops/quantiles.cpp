// Inverses of the normal distribution function and of the error function.
#include <cmath>
#include <numbers>

#include "ops/sums.h"
#include "primitive/called.h"
#include "ricci/ops/special.h"
#include "ricci/primitive/elementwise.h"

namespace ricci {
namespace {

template <class T, std::size_t n>
T polynomial(T x, const double (&coefficients)[n]) {
  T y(coefficients[n - 1]);
  for (std::size_t i = n - 1; i-- > 0;) y = y * x + T(coefficients[i]);
  return y;
}

/// The inverse of the normal distribution function: Wichura, "Algorithm AS 241: the percentage points of the normal
/// distribution", 1988, PPND16.
struct Wichura {
  static constexpr double middle_above[] = {
      3.3871328727963666080,    1.3314166789178437745e+2, 1.9715909503065514427e+3, 1.3731693765509461125e+4,
      4.5921953931549871457e+4, 6.7265770927008700853e+4, 3.3430575583588128105e+4, 2.5090809287301226727e+3};
  static constexpr double middle_below[] = {1,
                                            4.2313330701600911252e+1,
                                            6.8718700749205790830e+2,
                                            5.3941960214247511077e+3,
                                            2.1213794301586595867e+4,
                                            3.9307895800092710610e+4,
                                            2.8729085735721942674e+4,
                                            5.2264952788528545610e+3};
  static constexpr double side_above[] = {
      1.42343711074968357734, 4.63033784615654529590,    5.76949722146069140550,    3.64784832476320460504,
      1.27045825245236838258, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4};
  static constexpr double side_below[] = {1,
                                          2.05319162663775882187,
                                          1.67638483018380384940,
                                          6.89767334985100004550e-1,
                                          1.48103976427480074590e-1,
                                          1.51986665636164571966e-2,
                                          5.47593808499534494600e-4,
                                          1.05075007164441684324e-9};
  static constexpr double tail_above[] = {
      6.65790464350110377720,    5.46378491116411436990,    1.78482653991729133580,    2.96560571828504891230e-1,
      2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static constexpr double tail_below[] = {1,
                                          5.99832206555887937690e-1,
                                          1.36929880922735805310e-1,
                                          1.48753612908506148525e-2,
                                          7.86869131145613259100e-4,
                                          1.84631831751005468180e-5,
                                          1.42151175831644588870e-7,
                                          2.04426310338993978564e-15};

  /// Of a probability, given as what it is above 1/2 and as the smaller of itself and what it lacks to 1.
  template <class T> static T quantile(T q, T least) {
    const T in_middle = T(0.180625) - q * q;
    const T middle = q * polynomial(in_middle, middle_above) / polynomial(in_middle, middle_below);
    const T r = scalar::sqrt(-scalar::log(least));
    const T at_side = r - T(1.6), in_tail = r - T(5);
    const T side = polynomial(at_side, side_above) / polynomial(at_side, side_below);
    const T tail = polynomial(in_tail, tail_above) / polynomial(in_tail, tail_below);
    const T size = scalar::select(scalar::less_equal(r, T(5)), side, scalar::select(scalar::isinf(r), r, tail));
    return scalar::select(scalar::less_equal(scalar::abs(q), T(0.425)), middle, scalar::copysign(size, q));
  }
};

struct NormalQuantile {
  using kind = Elementwise;
  static constexpr const char* name = "normal_quantile";
  static constexpr double ulps = 8;  // as published: polynomials of degree 7, a quotient, and a root of a logarithm
  static constexpr unsigned keeps = output(0);
  static constexpr Interval domain = {0.001, 0.999};
  static constexpr double tolerance_factor = 8;  // two polynomials of degree 7 and a quotient

  template <class T> auto formula(T p) const { return Wichura::quantile(p - T(0.5), scalar::min(p, T(1) - p)); }
  /// Newton's step from the formula's value doubles its digits.
  template <class T> T exact(T p) const {
    const T z = formula(p), root = scalar::sqrt(T(0.5));
    const T below = scalar::erfc(-z * root) * T(0.5) - p, above = T(1) - p - scalar::erfc(z * root) * T(0.5);
    const T error = scalar::select(scalar::less(p, T(0.5)), below, above);
    const T moved = z - error * scalar::sqrt(T(2) * T(std::numbers::pi_v<long double>)) * scalar::exp(z * z * T(0.5));
    return scalar::select(scalar::isfinite(z), moved, z);
  }
  Tensor partial(const Tensor&, const Tensor& z) const {
    return mul(exp(div(square(z), 2)), std::sqrt(2 * std::numbers::pi));
  }
  /// By bisection.
  static double reference(double p) {
    double low = -40, high = 40;
    for (int i = 0; i < 100; ++i) {
      const double z = (low + high) / 2;
      (std::erfc(-z / std::numbers::sqrt2) / 2 < p ? low : high) = z;
    }
    return (low + high) / 2;
  }
};

/// With p = (1 + x) / 2 the normal quantile over the root of 2; what p is above 1/2 is x / 2 to the last digit.
struct ErrorFunctionInverse {
  using kind = Elementwise;
  static constexpr const char* name = "erfinv";
  static constexpr double ulps = 8;
  static constexpr unsigned keeps = output(0);
  static constexpr Interval domain = {-0.999, 0.999};
  static constexpr double tolerance_factor = 8;  // two polynomials of degree 7 and a quotient

  template <class T> auto formula(T x) const {
    return Wichura::quantile(x * T(0.5), (T(1) - scalar::abs(x)) * T(0.5)) * T(std::numbers::sqrt2 / 2);
  }
  /// Newton's step from the formula's value doubles its digits.
  template <class T> T exact(T x) const {
    const T y = Wichura::quantile(x * T(0.5), (T(1) - scalar::abs(x)) * T(0.5)) * scalar::sqrt(T(0.5));
    const T size = scalar::abs(y), whole = scalar::abs(x);
    const T near = scalar::erf(size) - whole, far = (T(1) - whole) - scalar::erfc(size);
    const T error = scalar::select(scalar::less(whole, T(0.5)), near, far);
    const T slope = scalar::sqrt(T(std::numbers::pi_v<long double>)) * T(0.5) * scalar::exp(size * size);
    return scalar::select(scalar::isfinite(y), scalar::copysign(size - error * slope, x), y);
  }
  Tensor partial(const Tensor&, const Tensor& y) const { return mul(exp(square(y)), 1 / std::numbers::inv_sqrtpi / 2); }
  /// By bisection.
  static double reference(double x) {
    double low = 0, high = 8;
    for (int i = 0; i < 100; ++i) {
      const double y = (low + high) / 2;
      (std::erf(y) < std::fabs(x) ? low : high) = y;
    }
    return std::copysign((low + high) / 2, x);
  }
};

}  // namespace

namespace ops {

Tensor ndtri(const Tensor& p) {
  const Called as("ndtri", p);
  require_order("ndtri", p);
  return apply(NormalQuantile{}, p);
}
Tensor erfinv(const Tensor& x) {
  const Called as("erfinv", x);
  require_order("erfinv", x);
  return apply(ErrorFunctionInverse{}, x);
}

}  // namespace ops
}  // namespace ricci
