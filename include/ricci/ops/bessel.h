// Modified Bessel functions of the first kind. Shapes, types and errors are those of ricci/ops/elementwise.h.
#pragma once

#include "ricci/tensor.h"

namespace ricci::ops {

// ── modified Bessel functions; real ──

/// I₀, of order 0; 7 ulp. PyTorch's torch.i0.
///   rc::Tensor normalizer = rc::i0(concentration) * (2 * std::numbers::pi);
Tensor i0(const Tensor& x);
Tensor i1(const Tensor& x);   ///< I₁, of order 1; 7 ulp
Tensor i0e(const Tensor& x);  ///< exp(-|x|) I₀(x), which does not overflow; 5 ulp
Tensor i1e(const Tensor& x);  ///< exp(-|x|) I₁(x), which does not overflow; 5 ulp

}  // namespace ricci::ops
