// Bessel functions of order 0 and 1, and Airy's function. Shapes, types and errors are those of
// ricci/ops/elementwise.h; tensors are real. All have higher derivatives, where PyTorch's have few or none.
#pragma once

#include "ricci/tensor.h"

namespace ricci::ops {

// ── waves: the first and the second kind. Errors count in units of the greater of the value and the wave's height
// sqrt(2 / (pi |x|)) ──

/// J₀, of the first kind and order 0; 9 ulp. PyTorch's torch.special.bessel_j0.
///   rc::Tensor drum = rc::bessel_j0(2.404825557695773 * radius);
Tensor bessel_j0(const Tensor& x);
Tensor bessel_j1(const Tensor& x);  ///< J₁, of order 1; 9 ulp
Tensor bessel_y0(const Tensor& x);  ///< Y₀, of the second kind; -infinity at 0, NaN below; 12 ulp
Tensor bessel_y1(const Tensor& x);  ///< Y₁, likewise; 12 ulp
/// sin(x) / x, 1 at 0; 4 ulp of the greater of it and 1 / |x|. Derivatives up to the 16th, at 0 too; NaN beyond.
Tensor spherical_bessel_j0(const Tensor& x);

// ── modified Bessel functions of the first kind: they grow ──

/// I₀, of order 0; 7 ulp. PyTorch's torch.i0.
///   rc::Tensor normalizer = rc::i0(concentration) * (2 * std::numbers::pi);
Tensor i0(const Tensor& x);
Tensor i1(const Tensor& x);                  ///< I₁, of order 1; 7 ulp
Tensor i0e(const Tensor& x);                 ///< exp(-|x|) I₀(x), which does not overflow; 5 ulp
Tensor i1e(const Tensor& x);                 ///< exp(-|x|) I₁(x), which does not overflow; 5 ulp
Tensor modified_bessel_i0(const Tensor& x);  ///< i0
Tensor modified_bessel_i1(const Tensor& x);  ///< i1

// ── modified Bessel functions of the second kind: they fall. Infinite at 0, NaN below ──

Tensor modified_bessel_k0(const Tensor& x);  ///< K₀, of order 0; 11 ulp
Tensor modified_bessel_k1(const Tensor& x);  ///< K₁, of order 1; 6 ulp
/// exp(x) K₀(x), which does not underflow; 11 ulp.
///   rc::Tensor log_k0 = rc::log(rc::scaled_modified_bessel_k0(x)) - x;
Tensor scaled_modified_bessel_k0(const Tensor& x);
Tensor scaled_modified_bessel_k1(const Tensor& x);  ///< exp(x) K₁(x), likewise; 6 ulp

// ── Airy ──

/// Ai(x), which falls for x > 0 and is a wave for x < 0; 20 ulp, below -1/2 of the greater of it and the wave's height
/// 1 / (sqrt(pi) |x|^(1/4)). Below -8192 the angle of the wave has few digits in float32, below -1e9 in float64.
Tensor airy_ai(const Tensor& x);

}  // namespace ricci::ops
