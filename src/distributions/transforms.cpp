// Invertible functions of random numbers. NaN counts as reached, so that it goes through.
#include "ricci/distributions/transforms.h"

#include <numbers>

#include "ops/incomplete.h"
#include "ricci/ops/special.h"

namespace ricci::distributions {
namespace {

Tensor is_above_zero(const Tensor& y) { return logical_not(y <= 0); }
Tensor softplus_of(const Tensor& x) { return -logsigmoid(-x); }

}  // namespace

Tensor AffineTransform::operator()(const Tensor& x) const { return loc + scale * x; }
Tensor AffineTransform::inverse(const Tensor& y) const { return (y - loc) / scale; }
Tensor AffineTransform::log_abs_det_jacobian(const Tensor& x, const Tensor&) const {
  return log(abs(to(scale, floating_dtype_of(scale, x)))) + zeros_like(x);
}
Tensor AffineTransform::reaches(const Tensor& y) const { return to(ones_like(y), boolean); }
Tensor AffineTransform::sign() const { return ricci::sign(scale); }

Tensor ExpTransform::operator()(const Tensor& x) const { return exp(x); }
Tensor ExpTransform::inverse(const Tensor& y) const { return log(y); }
Tensor ExpTransform::log_abs_det_jacobian(const Tensor& x, const Tensor&) const { return x; }
Tensor ExpTransform::reaches(const Tensor& y) const { return is_above_zero(y); }
Tensor ExpTransform::sign() const { return 1; }

Tensor PowerTransform::operator()(const Tensor& x) const { return pow(x, exponent); }
Tensor PowerTransform::inverse(const Tensor& y) const {
  return pow(y, reciprocal(to(exponent, floating_dtype_of(exponent, y))));
}
Tensor PowerTransform::log_abs_det_jacobian(const Tensor& x, const Tensor& y) const {
  return log(abs(exponent * y / x));
}
Tensor PowerTransform::reaches(const Tensor& y) const { return is_above_zero(y); }
Tensor PowerTransform::sign() const { return ricci::sign(exponent); }

Tensor SigmoidTransform::operator()(const Tensor& x) const { return sigmoid(x); }
Tensor SigmoidTransform::inverse(const Tensor& y) const { return log(y) - log1p(-y); }
Tensor SigmoidTransform::log_abs_det_jacobian(const Tensor& x, const Tensor&) const {
  return logsigmoid(x) + logsigmoid(-x);
}
Tensor SigmoidTransform::reaches(const Tensor& y) const { return logical_not(logical_or(y <= 0, y >= 1)); }
Tensor SigmoidTransform::sign() const { return 1; }

Tensor TanhTransform::operator()(const Tensor& x) const { return tanh(x); }
Tensor TanhTransform::inverse(const Tensor& y) const { return atanh(y); }
Tensor TanhTransform::log_abs_det_jacobian(const Tensor& x, const Tensor&) const {
  return 2 * (std::numbers::ln2 - x - softplus_of(-2 * x));
}
Tensor TanhTransform::reaches(const Tensor& y) const { return logical_not(abs(y) >= 1); }
Tensor TanhTransform::sign() const { return 1; }

Tensor SoftplusTransform::operator()(const Tensor& x) const { return softplus_of(x); }
Tensor SoftplusTransform::inverse(const Tensor& y) const { return log(-expm1(-y)) + y; }
Tensor SoftplusTransform::log_abs_det_jacobian(const Tensor& x, const Tensor&) const { return logsigmoid(x); }
Tensor SoftplusTransform::reaches(const Tensor& y) const { return is_above_zero(y); }
Tensor SoftplusTransform::sign() const { return 1; }

}  // namespace ricci::distributions
