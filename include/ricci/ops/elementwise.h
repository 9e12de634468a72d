// Elementwise operations.
// Shapes: inputs broadcast against each other from the last axis; ValueError where they do not.
// Types: inputs promote as PyTorch's (category first, then size; 0-dim tensors and numbers do not raise the size).
// Integers and booleans become the default dtype where an operation is made for neither; TypeError where it knows some
// of them, but not the one at hand. float16 and bfloat16 are computed in float32 and rounded once.
// Errors: "n ulp" bounds the error of float32 and float64 results over the whole domain (docs/reference/accuracy.md),
// in ulp of the result; where none stands, each arithmetic step rounds once. Complex results are those of <complex>.
// Derivatives: of every order, unless said otherwise; at kinks and ties they are PyTorch's.
#pragma once

#include <concepts>
#include <optional>

#include "ricci/tensor.h"

namespace ricci::ops {

/// What becomes of NaN and infinities in `x.nan_to_num({.nan = 1})`. Not given, an infinity becomes the greatest or the
/// least finite number of the type.
struct NanToNumOptions {
  double nan = 0;
  std::optional<double> posinf = {}, neginf = {};
};

// ── arithmetic: all numbers ──

/// Of booleans: or.
///   rc::Tensor y = x + 1;
Tensor add(const Tensor& a, const Tensor& b);
Tensor sub(const Tensor& a, const Tensor& b);  ///< not of booleans
Tensor mul(const Tensor& a, const Tensor& b);  ///< of booleans: and
Tensor div(const Tensor& a, const Tensor& b);  ///< true division: integers give the default dtype
/// 1 ulp; 2 with a number for exponent, which is first rounded to x's type. Integers stay integers: a negative integer
/// for exponent is a ValueError, and where a tensor has one, the power is 0 unless it is an integer. A number for
/// exponent (2, 3, 0.5, -1) costs no logarithm. The slope of 0 to the power 0 is 0.
///   rc::Tensor y = pow(x, 3);
Tensor pow(const Tensor& base, const Tensor& exponent);
Tensor neg(const Tensor& x);       ///< not of booleans
Tensor positive(const Tensor& x);  ///< x itself
/// x + a b and x + a / b.
Tensor addcmul(const Tensor& x, const Tensor& a, const Tensor& b);
Tensor addcdiv(const Tensor& x, const Tensor& a, const Tensor& b);
/// start + weight (end - start), exactly start at 0 and exactly end at 1. Floating.
///   average.lerp_(value, 0.1);
Tensor lerp(const Tensor& start, const Tensor& end, const Tensor& weight);

/// The result is written into `out`, which keeps its shape and type: ValueError or TypeError where it does not fit.
///   add_out(buffer, x, y);
const Tensor& add_out(const Tensor& out, const Tensor& a, const Tensor& b);
const Tensor& sub_out(const Tensor& out, const Tensor& a, const Tensor& b);
const Tensor& mul_out(const Tensor& out, const Tensor& a, const Tensor& b);
const Tensor& div_out(const Tensor& out, const Tensor& a, const Tensor& b);

// ── division with a rounded quotient, of integers and floating numbers. An integer divided by 0 is a ValueError that
// says where the first 0 is; a program that is being recorded does not look, and gives 0 there when it runs. A floating
// number over 0 gives infinity or NaN ──

Tensor floor_divide(const Tensor& a, const Tensor& b);  ///< ⌊a / b⌋, derivative 0
Tensor remainder(const Tensor& a, const Tensor& b);     ///< sign of the divisor, as Python's %
Tensor fmod(const Tensor& a, const Tensor& b);          ///< sign of the dividend, as C's

inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor operator%(const Tensor& a, const Tensor& b) { return remainder(a, b); }
inline Tensor operator-(const Tensor& x) { return neg(x); }
inline Tensor operator+(const Tensor& x) { return x; }

// ── rounding: integers stay as they are; derivative 0 ──

Tensor floor(const Tensor& x);
Tensor ceil(const Tensor& x);
Tensor round(const Tensor& x);  ///< halves to even
Tensor trunc(const Tensor& x);
Tensor frac(const Tensor& x);  ///< x - trunc(x), derivative 1

// ── sizes and signs ──

Tensor abs(const Tensor& x);   ///< real for complex x; slope 0 at 0
Tensor sign(const Tensor& x);  ///< -1, 0 or 1; 0 for NaN; not complex
Tensor sgn(const Tensor& x);   ///< sign, and x / |x| for complex x
Tensor copysign(const Tensor& magnitude, const Tensor& sign);
/// NaN becomes 0, infinities the greatest finite numbers of x's type.
Tensor nan_to_num(const Tensor& x);

// ── roots and powers ──

Tensor square(const Tensor& x);
Tensor sqrt(const Tensor& x);
Tensor rsqrt(const Tensor& x);  ///< 1.5 ulp
Tensor cbrt(const Tensor& x);   ///< 1 ulp; real
Tensor reciprocal(const Tensor& x);
Tensor hypot(const Tensor& a, const Tensor& b);  ///< slope 0 at the origin (PyTorch: NaN), second derivatives NaN

// ── exponentials: floating and complex; 1 ulp, expm1 2 ──

Tensor exp(const Tensor& x);
Tensor exp2(const Tensor& x);
Tensor expm1(const Tensor& x);
Tensor log(const Tensor& x);
Tensor log2(const Tensor& x);
Tensor log10(const Tensor& x);
Tensor log1p(const Tensor& x);
/// log(exp a + exp b), to 2 ulp of the greatest of |a|, |b| and 1. Two equal infinities share the gradient.
Tensor logaddexp(const Tensor& a, const Tensor& b);
/// x log y; 0 where x is 0, and there flat where y <= 0. 2 ulp.
Tensor xlogy(const Tensor& x, const Tensor& y);

// ── the circle, in radians: floating and complex; sin and cos 2.3 ulp, the rest 1 ──

///   rc::Tensor slope = rc::vmap(rc::grad(rc::sin))(x);
Tensor sin(const Tensor& x);
Tensor cos(const Tensor& x);
Tensor tan(const Tensor& x);
Tensor asin(const Tensor& x);
Tensor acos(const Tensor& x);
Tensor atan(const Tensor& x);
Tensor atan2(const Tensor& y, const Tensor& x);  ///< real; slope 0 at the origin
Tensor deg2rad(const Tensor& x);
Tensor rad2deg(const Tensor& x);

// ── hyperbolic: floating and complex; tanh 2.6 ulp, sinh and cosh 2, asinh and acosh 1.6, atanh 1 ──

Tensor sinh(const Tensor& x);
Tensor cosh(const Tensor& x);
Tensor tanh(const Tensor& x);  ///< the slope is made of the result: it is right to an ulp of 1, not of itself
Tensor asinh(const Tensor& x);
Tensor acosh(const Tensor& x);
Tensor atanh(const Tensor& x);

// ── special functions: floating ──

Tensor erf(const Tensor& x);     ///< 1.1 ulp
Tensor erfc(const Tensor& x);    ///< 1.5 ulp
Tensor lgamma(const Tensor& x);  ///< log |Gamma(x)|; 1 ulp
/// The derivative of lgamma; 4 ulp, for x < 0 of the greater of digamma(1 - x) and pi cot(pi x), its two terms.
Tensor digamma(const Tensor& x);
/// The n-th derivative of digamma; n up to 33 in float32, 169 in float64, else ValueError. 4 ulp, for x < 0 and even n
/// of the greatest of its parts. By Hurwitz's zeta function, DLMF 25.11.12 and 25.11.5.
///   rc::Tensor trigamma = rc::polygamma(1, x);
Tensor polygamma(std::int64_t n, const Tensor& x);

// ── activations: floating ──

/// 1 / (1 + exp(-x)); 2.5 ulp; also complex. The slope is made of the result: it is right to an ulp of 1, not of
/// itself.
Tensor sigmoid(const Tensor& x);
Tensor logsigmoid(const Tensor& x);  ///< 1.6 ulp
Tensor relu(const Tensor& x);        ///< slope 0 at 0; also of integers
Tensor leaky_relu(const Tensor& x);  ///< slope 0.01 up to 0
Tensor leaky_relu(const Tensor& x, double negative_slope);
/// x, and alpha (exp(x) - 1) up to 0; alpha = 1; 2.5 ulp. At 0 the slope is alpha and the second derivative 0, as in
/// PyTorch.
Tensor elu(const Tensor& x);
Tensor elu(const Tensor& x, double alpha);
Tensor gelu(const Tensor& x);  ///< x Phi(x), with Phi the normal distribution; 4 ulp
/// x / 2 (1 + tanh(√(2/π) (x + 0.044715 x³))), with which older models approximate it.
Tensor gelu_tanh(const Tensor& x);
Tensor silu(const Tensor& x);  ///< x sigmoid(x); 3 ulp
/// x above the threshold, else value; NaN stays. Of all real types.
Tensor threshold(const Tensor& x, const Tensor& threshold, const Tensor& value);
/// log(1 + exp(beta x)) / beta, and x itself where beta x > threshold; beta = 1, threshold = 20. 3 ulp. From the
/// threshold on, itself included, the second derivative is 0, as in PyTorch.
Tensor softplus(const Tensor& x);
Tensor softplus(const Tensor& x, double beta, double threshold);

// ── choosing: all types that have an order; the derivative goes where the value came from ──

/// `a` where the condition is true or not 0, else `b`; of all types. What is not chosen gives no gradient, be it NaN.
///   rc::Tensor y = where(x > 0, x, 0.1 * x);
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);
Tensor maximum(const Tensor& a, const Tensor& b);  ///< NaN if either is; a tie halves the gradient
Tensor minimum(const Tensor& a, const Tensor& b);
Tensor fmax(const Tensor& a, const Tensor& b);  ///< the other one if one is NaN; a tie halves the gradient
Tensor fmin(const Tensor& a, const Tensor& b);
/// x between low and high; where low > high, high. Without a bound where it is undefined; ValueError if both are. As in
/// PyTorch, where x equals a bound the slope is 0 if the bounds are numbers, and x and the bound have half of it each
/// if they are tensors.
///   rc::Tensor y = clamp(x, 0, 1);
Tensor clamp(const Tensor& x, const Tensor& low, const Tensor& high);
Tensor clamp_min(const Tensor& x, const Tensor& low);
Tensor clamp_max(const Tensor& x, const Tensor& high);

// ── complex numbers. A gradient by z is the one by its real part plus i times the one by its imaginary part ──

Tensor real(const Tensor& x);   ///< a view; x itself if it is real
Tensor imag(const Tensor& x);   ///< a view; zeros if x is real
Tensor conj(const Tensor& x);   ///< x itself if it is real
Tensor angle(const Tensor& x);  ///< in (-pi, pi]; slope 0 at 0
/// re + i im, elementwise; c128 if either is f64, else c64. TypeError unless both are floating.
///   rc::Tensor z = rc::complex(rc::ones({3}), rc::zeros({3}));  // c64[3]
Tensor complex(const Tensor& re, const Tensor& im);
/// The parts of complex numbers along a new last axis of 2, a view: c64[…] → f32[…,2]. TypeError unless x is complex.
Tensor view_as_real(const Tensor& x);
/// Pairs along the last axis as complex numbers, a view: f32[…,2] → c64[…]. TypeError unless x is f32 or f64,
/// ValueError unless its last axis is of size 2.
Tensor view_as_complex(const Tensor& x);

// ── copies ──

/// The value as a constant: without its derivative at any level, of transforms and of tapes; under vmap one per example
/// as before. Recorded programs cut it where they run. The result shares no writes with x.
///   rc::Tensor target = model(x).detach();
Tensor detach(const Tensor& x);
Tensor clone(const Tensor& x);  ///< contiguous, in memory of its own
/// x itself if it has this type. To integers towards zero, to boolean by != 0, from complex by the real part.
///   rc::Tensor y = x.to(rc::float64);
Tensor to(const Tensor& x, DType dtype);

// ── comparison: boolean results; complex numbers know eq and ne alone ──

Tensor eq(const Tensor& a, const Tensor& b);
Tensor ne(const Tensor& a, const Tensor& b);
Tensor lt(const Tensor& a, const Tensor& b);
Tensor le(const Tensor& a, const Tensor& b);
Tensor gt(const Tensor& a, const Tensor& b);
Tensor ge(const Tensor& a, const Tensor& b);
inline Tensor operator==(const Tensor& a, const Tensor& b) { return eq(a, b); }
inline Tensor operator!=(const Tensor& a, const Tensor& b) { return ne(a, b); }
inline Tensor operator<(const Tensor& a, const Tensor& b) { return lt(a, b); }
inline Tensor operator<=(const Tensor& a, const Tensor& b) { return le(a, b); }
inline Tensor operator>(const Tensor& a, const Tensor& b) { return gt(a, b); }
inline Tensor operator>=(const Tensor& a, const Tensor& b) { return ge(a, b); }
Tensor isnan(const Tensor& x);
Tensor isinf(const Tensor& x);
Tensor isfinite(const Tensor& x);
/// |a - b| <= atol + rtol |b|, or equal; rtol = 1e-5, atol = 1e-8. Integers are compared in float64. ValueError if rtol
/// or atol is negative.
Tensor isclose(const Tensor& a, const Tensor& b);
Tensor isclose(const Tensor& a, const Tensor& b, double rtol, double atol);
Tensor isclose(const Tensor& a, const Tensor& b, double rtol, double atol, bool equal_nan);  ///< NaN is close to NaN
/// The same shape and values, whatever the types; NaN equals nothing. Reads values: TransformError if they differ per
/// example of a vmap.
bool equal(const Tensor& a, const Tensor& b);
/// isclose everywhere, after broadcasting. Reads values.
bool allclose(const Tensor& a, const Tensor& b);
bool allclose(const Tensor& a, const Tensor& b, double rtol, double atol);
bool allclose(const Tensor& a, const Tensor& b, double rtol, double atol, bool equal_nan);

// ── logic: what is not 0 is true; boolean results ──

Tensor logical_and(const Tensor& a, const Tensor& b);
Tensor logical_or(const Tensor& a, const Tensor& b);
Tensor logical_xor(const Tensor& a, const Tensor& b);
Tensor logical_not(const Tensor& x);

// ── bits of integers; of booleans, logic ──

Tensor bitwise_and(const Tensor& a, const Tensor& b);
Tensor bitwise_or(const Tensor& a, const Tensor& b);
Tensor bitwise_xor(const Tensor& a, const Tensor& b);
Tensor bitwise_not(const Tensor& x);
/// Not of booleans. A shift by less than 0, or by the width and more, pushes every bit out; to the right the sign
/// stays.
Tensor bitwise_left_shift(const Tensor& a, const Tensor& b);
Tensor bitwise_right_shift(const Tensor& a, const Tensor& b);
inline Tensor operator&(const Tensor& a, const Tensor& b) { return bitwise_and(a, b); }
inline Tensor operator|(const Tensor& a, const Tensor& b) { return bitwise_or(a, b); }
inline Tensor operator^(const Tensor& a, const Tensor& b) { return bitwise_xor(a, b); }
inline Tensor operator~(const Tensor& x) { return bitwise_not(x); }
inline Tensor operator!(const Tensor& x) { return logical_not(x); }

// ── in-place by name, for vmap(rc::sin_). The target keeps its shape and type, and is returned ──

const Tensor& sin_(const Tensor& x);
const Tensor& cos_(const Tensor& x);
const Tensor& exp_(const Tensor& x);
const Tensor& neg_(const Tensor& x);
const Tensor& abs_(const Tensor& x);
const Tensor& sqrt_(const Tensor& x);
const Tensor& square_(const Tensor& x);
const Tensor& tanh_(const Tensor& x);
const Tensor& sigmoid_(const Tensor& x);
const Tensor& relu_(const Tensor& x);
const Tensor& add_(const Tensor& x, const Tensor& y);
const Tensor& sub_(const Tensor& x, const Tensor& y);
const Tensor& mul_(const Tensor& x, const Tensor& y);
const Tensor& div_(const Tensor& x, const Tensor& y);
const Tensor& copy_(const Tensor& x, const Tensor& source);  ///< broadcast and converted to x's type
const Tensor& fill_(const Tensor& x, const Tensor& value);
const Tensor& zero_(const Tensor& x);

}  // namespace ricci::ops
