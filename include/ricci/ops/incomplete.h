// Functions that are integrals up to a limit: the tail of the normal distribution, the exponential integrals, and the
// incomplete gamma and beta functions, which are the distribution functions of gamma, Poisson, beta, binomial and
// Student's t numbers.
// Shapes, types and errors are those of ricci/ops/elementwise.h; tensors are real.
#pragma once

#include "ricci/tensor.h"

namespace ricci::ops {

// ── the tail of the normal distribution ──

/// exp(x²) erfc(x), which does not underflow for large x; 5 ulp. PyTorch's torch.special.erfcx.
Tensor erfcx(const Tensor& x);
/// The logarithm of `ndtr`, to the last digits in both tails; 5 ulp. PyTorch's torch.special.log_ndtr.
///   rc::Tensor log_p = rc::log_ndtr((x - mean) / std);
Tensor log_ndtr(const Tensor& x);

// ── exponential integrals ──

/// E₁(x) = ∫ exp(-t) / t dt over t > x; infinite at 0, NaN below; 5 ulp. SciPy's exp1.
Tensor exp1(const Tensor& x);
/// Ei(x) = -E₁(-x) for x < 0, and beyond 0 the principal value: the integral of exp(t) / t over t < x. -infinity at 0;
/// 7 ulp, next to its zero 0.3725 too. SciPy's expi.
///   rc::Tensor primes = rc::expi(rc::log(n));
Tensor expi(const Tensor& x);

// ── incomplete gamma and beta functions; in double precision, whatever the type. Differentiable by every argument ──

/// The regularised lower incomplete gamma function P(a, x) = 1/Γ(a) ∫ tᵃ⁻¹ exp(-t) dt over 0 < t < x: the probability
/// that a gamma number of concentration a is below x. The smaller of P and 1 - P has the relative error 1e-13 for a up
/// to 1e4, and 1e-11 up to 1e8. NaN unless a >= 0 and x >= 0. PyTorch's torch.special.gammainc.
///   rc::Tensor p = rc::igamma(2.5, rc::tensor({0.5, 1., 4.}));
Tensor igamma(const Tensor& a, const Tensor& x);
/// 1 - P(a, x), with its own digits where it is small. PyTorch's torch.special.gammaincc.
Tensor igammac(const Tensor& a, const Tensor& x);
/// The regularised incomplete beta function Iₓ(a, b) = 1/B(a, b) ∫ tᵃ⁻¹ (1 - t)ᵇ⁻¹ dt over 0 < t < x: the probability
/// that a beta number is below x. Relative error 1e-11 of the smaller of it and 1 - Iₓ(a, b), for a and b from 1e-3 to
/// 1e6. NaN unless a > 0, b > 0 and 0 <= x <= 1. SciPy's betainc.
///   rc::Tensor p = rc::betainc(2, 3, rc::tensor({0.25, 0.5}));
Tensor betainc(const Tensor& a, const Tensor& b, const Tensor& x);

}  // namespace ricci::ops
