// Invertible elementwise functions of random numbers, for TransformedDistribution. A transform t maps x to `t(x)`, maps
// y back by `t.inverse(y)`, and has members for the logarithm of its slope and for the range of y. All transforms are
// monotone. A transform of your own is a struct with the same members.
#pragma once

#include "ricci/tensor.h"

namespace ricci::distributions {

/// loc + scale x; scale is not 0, and may be negative.
struct AffineTransform {
  Tensor loc, scale;

  Tensor operator()(const Tensor& x) const;
  Tensor inverse(const Tensor& y) const;
  Tensor log_abs_det_jacobian(const Tensor& x, const Tensor& y) const;
  Tensor reaches(const Tensor& y) const;  ///< boolean: y is a value of the transform
  Tensor sign() const;                    ///< 1 where it rises, -1 where it falls
};

/// exp(x), which reaches the positive numbers.
struct ExpTransform {
  Tensor operator()(const Tensor& x) const;
  Tensor inverse(const Tensor& y) const;
  Tensor log_abs_det_jacobian(const Tensor& x, const Tensor& y) const;
  Tensor reaches(const Tensor& y) const;
  Tensor sign() const;
};

/// x^exponent of positive numbers; exponent is not 0.
struct PowerTransform {
  Tensor exponent;

  Tensor operator()(const Tensor& x) const;
  Tensor inverse(const Tensor& y) const;
  Tensor log_abs_det_jacobian(const Tensor& x, const Tensor& y) const;
  Tensor reaches(const Tensor& y) const;
  Tensor sign() const;
};

/// 1 / (1 + exp(-x)), which reaches (0, 1).
struct SigmoidTransform {
  Tensor operator()(const Tensor& x) const;
  Tensor inverse(const Tensor& y) const;
  Tensor log_abs_det_jacobian(const Tensor& x, const Tensor& y) const;
  Tensor reaches(const Tensor& y) const;
  Tensor sign() const;
};

/// tanh(x), which reaches (-1, 1).
struct TanhTransform {
  Tensor operator()(const Tensor& x) const;
  Tensor inverse(const Tensor& y) const;
  Tensor log_abs_det_jacobian(const Tensor& x, const Tensor& y) const;
  Tensor reaches(const Tensor& y) const;
  Tensor sign() const;
};

/// log(1 + exp(x)), which reaches the positive numbers.
struct SoftplusTransform {
  Tensor operator()(const Tensor& x) const;
  Tensor inverse(const Tensor& y) const;
  Tensor log_abs_det_jacobian(const Tensor& x, const Tensor& y) const;
  Tensor reaches(const Tensor& y) const;
  Tensor sign() const;
};

}  // namespace ricci::distributions
