// Distributions on the real line: Normal, StudentT, Cauchy, Laplace, Gumbel. What all distributions share stands in
// ricci/distributions.h.
#pragma once

#include "ricci/keys.h"

namespace ricci::distributions {

/// Density exp(-z² / 2) / (√(2 pi) scale) with z = (x - loc) / scale; scale > 0.
struct Normal {
  Tensor loc, scale;

  static constexpr int event_dims = 0;
  Tensor sample(const Key& key) const;
  Tensor sample(const Key& key, const Shape& sample_shape) const;
  Tensor log_prob(const Tensor& value) const;
  Tensor cdf(const Tensor& value) const;
  Tensor log_cdf(const Tensor& value) const;  ///< to the last digits in both tails
  Tensor icdf(const Tensor& probability) const;
  Tensor entropy() const;
  Tensor mean() const;
  Tensor variance() const;
};

/// Student's distribution of (x - loc) / scale with df degrees of freedom; df > 0, scale > 0. The mean is NaN for
/// df <= 1, the variance infinite for df <= 2 and NaN for df <= 1.
struct StudentT {
  Tensor df, loc = 0, scale = 1;

  static constexpr int event_dims = 0;
  Tensor sample(const Key& key) const;
  Tensor sample(const Key& key, const Shape& sample_shape) const;
  Tensor log_prob(const Tensor& value) const;
  Tensor cdf(const Tensor& value) const;
  Tensor entropy() const;
  Tensor mean() const;
  Tensor variance() const;
};

/// Density 1 / (pi scale (1 + z²)) with z = (x - loc) / scale; scale > 0. The mean is NaN, the variance infinite.
struct Cauchy {
  Tensor loc, scale;

  static constexpr int event_dims = 0;
  Tensor sample(const Key& key) const;
  Tensor sample(const Key& key, const Shape& sample_shape) const;
  Tensor log_prob(const Tensor& value) const;
  Tensor cdf(const Tensor& value) const;
  Tensor icdf(const Tensor& probability) const;
  Tensor entropy() const;
  Tensor mean() const;
  Tensor variance() const;
};

/// Density exp(-|x - loc| / scale) / (2 scale); scale > 0.
struct Laplace {
  Tensor loc, scale;

  static constexpr int event_dims = 0;
  Tensor sample(const Key& key) const;
  Tensor sample(const Key& key, const Shape& sample_shape) const;
  Tensor log_prob(const Tensor& value) const;
  Tensor cdf(const Tensor& value) const;
  Tensor icdf(const Tensor& probability) const;
  Tensor entropy() const;
  Tensor mean() const;
  Tensor variance() const;
};

/// Distribution function exp(-exp(-z)) with z = (x - loc) / scale; scale > 0.
struct Gumbel {
  Tensor loc, scale;

  static constexpr int event_dims = 0;
  Tensor sample(const Key& key) const;
  Tensor sample(const Key& key, const Shape& sample_shape) const;
  Tensor log_prob(const Tensor& value) const;
  Tensor cdf(const Tensor& value) const;
  Tensor icdf(const Tensor& probability) const;
  Tensor entropy() const;
  Tensor mean() const;
  Tensor variance() const;
};

}  // namespace ricci::distributions
