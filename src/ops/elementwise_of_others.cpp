// Elementwise functions that are made of other operations.
#include <cmath>
#include <numbers>

#include "ops/axes.h"
#include "ops/constants.h"
#include "ops/dense.h"
#include "ops/sums.h"
#include "primitive/called.h"
#include "ricci/ops/special.h"

namespace ricci {
namespace ops {

Tensor heaviside(const Tensor& x, const Tensor& at_zero) {
  const Called as("heaviside", x, at_zero);
  require_order("heaviside", x);
  require_order("heaviside", at_zero);
  return where(x == 0, at_zero, to(x > 0, type_of(x).dtype));
}
Tensor signbit(const Tensor& x) {
  const Called as("signbit", x);
  require_order("signbit", x);
  return is_floating(type_of(x).dtype) ? copysign(1, x) < 0 : x < 0;
}
Tensor isposinf(const Tensor& x) {
  const Called as("isposinf", x);
  require_order("isposinf", x);
  return floating(x) == infinity;
}
Tensor isneginf(const Tensor& x) {
  const Called as("isneginf", x);
  require_order("isneginf", x);
  return floating(x) == -infinity;
}
Tensor isreal(const Tensor& x) {
  const Called as("isreal", x);
  return imag(x) == 0;
}

Tensor float_power(const Tensor& base, const Tensor& exponent) {
  const Called as("float_power", base, exponent);
  const bool is_complex = base.is_complex() || exponent.is_complex();
  const DType dtype = is_complex ? DType::complex128 : DType::float64;
  return pow(to(base, dtype), type_of(exponent).rank() == 0 ? exponent : to(exponent, dtype));
}
Tensor ldexp(const Tensor& x, const Tensor& exponent) {
  const Called as("ldexp", x, exponent);
  const Tensor scaled = floating(x);
  return scaled * exp2(is_differentiable(type_of(exponent).dtype) ? exponent : to(exponent, type_of(scaled).dtype));
}
Tensor logaddexp2(const Tensor& a, const Tensor& b) {
  const Called as("logaddexp2", a, b);
  return logaddexp(a * std::numbers::ln2, b * std::numbers::ln2) * std::numbers::log2e;
}
Tensor xlog1py(const Tensor& x, const Tensor& y) {
  const Called as("xlog1py", x, y);
  require_order("xlog1py", x);
  require_order("xlog1py", y);
  const Tensor has_no_logarithm = logical_or(y <= -1, isposinf(y));
  return x * log1p(where(logical_and(x == 0, has_no_logarithm), 0, y));
}
Tensor entr(const Tensor& x) {
  const Called as("entr", x);
  require_order("entr", x);
  return where(x < 0, -infinity, neg(xlogy(x, x)));
}
Tensor logit(const Tensor& x) {
  const Called as("logit", x);
  require_order("logit", x);
  return log(x / (1 - x));
}
Tensor logit(const Tensor& x, double eps) {
  const Called as("logit", x);
  require_order("logit", x);
  return logit(clamp(floating(x), eps, 1 - eps));
}
Tensor polar(const Tensor& radius, const Tensor& angle) {
  const Called as("polar", radius, angle);
  return complex(radius * cos(angle), radius * sin(angle));
}

Tensor ndtr(const Tensor& x) {
  const Called as("ndtr", x);
  require_order("ndtr", x);
  return erfc(x * -std::numbers::sqrt2 * 0.5) * 0.5;
}
Tensor mvlgamma(const Tensor& x, std::int64_t p) {
  const Called as("mvlgamma", x);
  require_order("mvlgamma", x);
  if (p < 1) raise<ValueError>("mvlgamma: p is " + std::to_string(p) + "; it must be at least 1");
  const Tensor halves = arange(p) * 0.5;
  const double of_pi = static_cast<double>(p) * static_cast<double>(p - 1) / 4 * std::log(std::numbers::pi);
  return sum(lgamma(unsqueeze(x, -1) - to(halves, type_of(floating(x)).dtype)), -1) + of_pi;
}

}  // namespace ops
}  // namespace ricci
