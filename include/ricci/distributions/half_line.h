// Distributions of numbers that are not negative: LogNormal, HalfNormal, Exponential, Gamma, Weibull. What all
// distributions share stands in ricci/distributions.h.
#pragma once

#include "ricci/keys.h"

namespace ricci::distributions {

/// The logarithm is normal with `loc` and `scale`; scale > 0.
struct LogNormal {
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

/// |x| of a normal x around 0; scale > 0.
struct HalfNormal {
  Tensor scale;

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

/// Density rate exp(-rate x); rate > 0.
struct Exponential {
  Tensor rate;

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

/// Density x^(concentration - 1) exp(-rate x) rate^concentration / Γ(concentration); both are positive.
struct Gamma {
  Tensor concentration, rate;

  static constexpr int event_dims = 0;
  Tensor sample(const Key& key) const;
  Tensor sample(const Key& key, const Shape& sample_shape) const;
  Tensor log_prob(const Tensor& value) const;
  Tensor cdf(const Tensor& value) const;
  Tensor entropy() const;
  Tensor mean() const;
  Tensor variance() const;
};

/// Distribution function 1 - exp(-(x / scale)^concentration); both are positive.
struct Weibull {
  Tensor scale, concentration;

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
