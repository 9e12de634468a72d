// Special functions and further elementwise operations. Shapes, types and errors are those of ricci/ops/elementwise.h.
#pragma once

#include <utility>

#include "ricci/tensor.h"

namespace ricci::ops {

// ── signs and sizes ──

/// 0 below 0, `at_zero` at 0, 1 above; real. The derivative is that of `at_zero` where x is 0.
Tensor heaviside(const Tensor& x, const Tensor& at_zero);
Tensor signbit(const Tensor& x);   ///< boolean: below 0, or -0; real
Tensor isposinf(const Tensor& x);  ///< boolean; real
Tensor isneginf(const Tensor& x);
Tensor isreal(const Tensor& x);  ///< boolean: the imaginary part is 0

/// The next number after x on the way to `towards`, x itself where they are equal; its derivative is that of x. float32
/// or float64, else TypeError.
Tensor nextafter(const Tensor& x, const Tensor& towards);
/// {m, e} with x = m 2^e and |m| in [0.5, 1), e of int32; {x, 0} for 0, infinities and NaN. Floating.
std::pair<Tensor, Tensor> frexp(const Tensor& x);

// ── whole numbers: TypeError for others ──

Tensor gcd(const Tensor& a, const Tensor& b);  ///< the greatest common divisor, not negative; of 0 and 0 it is 0
Tensor lcm(const Tensor& a, const Tensor& b);  ///< the least common multiple, not negative; 0 if one is 0

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

/// sin(pi x) / (pi x), 1 at 0, with derivatives of every order there too; real. 4 ulp of the greater of |sinc x| and
/// 1 / |pi x|.
Tensor sinc(const Tensor& x);
/// sinh(x) / x, 1 at 0, with derivatives of every order there too; real. 6 ulp. It overflows where its value does, in
/// float64 beyond |x| = 717.
///   rc::Tensor y = rc::sinhc(x);
Tensor sinhc(const Tensor& x);

// ── the normal distribution and the gamma function ──

Tensor ndtr(const Tensor& x);    ///< the probability that a normal number is below x
Tensor ndtri(const Tensor& p);   ///< the inverse of ndtr; 8 ulp; infinite at 0 and 1, NaN outside
Tensor erfinv(const Tensor& x);  ///< the inverse of erf; 8 ulp; infinite at -1 and 1, NaN outside
/// log of the multivariate gamma function of dimension p: Σ lgamma(x - i / 2) over i < p, and p (p - 1) / 4 log pi.
/// ValueError for p < 1.
Tensor mvlgamma(const Tensor& x, std::int64_t p);
/// The Hurwitz zeta function: the sum of (q + k)^-s over k = 0, 1, …; Riemann's for q = 1. Infinite at s = 1 and at
/// q = 0, NaN for s < 1 and q < 0, at infinity the limit; 12 ulp. Derivatives by q, and up to the eighth by s.
///   rc::Tensor basel = rc::zeta(2, 1);  // pi² / 6
Tensor zeta(const Tensor& s, const Tensor& q);

}  // namespace ricci::ops
