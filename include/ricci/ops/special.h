// Special functions and further elementwise operations. Shapes, types and errors are those of ricci/ops/elementwise.h.
#pragma once

#include "ricci/tensor.h"

namespace ricci::ops {

// ── signs and sizes ──

/// 0 below 0, `at_zero` at 0, 1 above; real. The derivative is that of `at_zero` where x is 0.
Tensor heaviside(const Tensor& x, const Tensor& at_zero);
Tensor signbit(const Tensor& x);   ///< boolean: below 0, or -0; real
Tensor isposinf(const Tensor& x);  ///< boolean; real
Tensor isneginf(const Tensor& x);
Tensor isreal(const Tensor& x);  ///< boolean: the imaginary part is 0

// ── powers and exponentials ──

/// The power in float64, or in complex128 if an operand is complex.
Tensor float_power(const Tensor& base, const Tensor& exponent);
Tensor ldexp(const Tensor& x, const Tensor& exponent);  ///< x 2^exponent
/// log2(2^a + 2^b). Two equal infinities share the gradient.
Tensor logaddexp2(const Tensor& a, const Tensor& b);
/// x log1p(y); 0 where x is 0, and there flat where y <= -1.
Tensor xlog1py(const Tensor& x, const Tensor& y);
/// -x log x, 0 at 0, -infinity below.
///   rc::Tensor entropy = rc::entr(p).sum(-1);
Tensor entr(const Tensor& x);
/// log(x / (1 - x)), x first moved into [eps, 1 - eps] if eps is given.
Tensor logit(const Tensor& x);
Tensor logit(const Tensor& x, double eps);
/// radius (cos angle + i sin angle): complex. TypeError unless both are of one floating type.
Tensor polar(const Tensor& radius, const Tensor& angle);

// ── the normal distribution and the gamma function ──

Tensor ndtr(const Tensor& x);    ///< the probability that a normal number is below x
Tensor ndtri(const Tensor& p);   ///< the inverse of ndtr; 8 ulp; infinite at 0 and 1, NaN outside
Tensor erfinv(const Tensor& x);  ///< the inverse of erf; 8 ulp; infinite at -1 and 1, NaN outside
/// log of the multivariate gamma function of dimension p: Σ lgamma(x - i / 2) over i < p, and p (p - 1) / 4 log pi.
/// ValueError for p < 1.
Tensor mvlgamma(const Tensor& x, std::int64_t p);

}  // namespace ricci::ops
