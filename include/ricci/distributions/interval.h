// Distributions on an interval: Uniform, Beta, and VonMises on the circle. What all distributions share stands in
// ricci/distributions.h.
#pragma once

#include "ricci/keys.h"

namespace ricci::distributions {

/// Density 1 / (high - low) on [low, high); low < high.
struct Uniform {
  Tensor low, high;

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

/// Density in proportion to x^(concentration1 - 1) (1 - x)^(concentration0 - 1) on [0, 1]; both are positive.
struct Beta {
  Tensor concentration1, concentration0;

  static constexpr int event_dims = 0;
  Tensor sample(const Key& key) const;
  Tensor sample(const Key& key, const Shape& sample_shape) const;
  Tensor log_prob(const Tensor& value) const;
  Tensor cdf(const Tensor& value) const;
  Tensor entropy() const;
  Tensor mean() const;
  Tensor variance() const;
};

/// An angle, with density exp(concentration cos(x - loc)) / (2 pi I₀(concentration)); concentration > 0. Samples lie in
/// [-pi, pi); the density has the period 2 pi. The distribution function counts from loc - pi to loc + pi. Mean and
/// variance are those of the circle: the direction, and 1 - I₁ / I₀. Samples: Best and Fisher, "Efficient simulation of
/// the von Mises distribution", 1979; their derivatives are implicit, as those of Gamma.
struct VonMises {
  Tensor loc, concentration;

  static constexpr int event_dims = 0;
  Tensor sample(const Key& key) const;
  Tensor sample(const Key& key, const Shape& sample_shape) const;
  Tensor log_prob(const Tensor& value) const;
  Tensor cdf(const Tensor& value) const;
  Tensor entropy() const;
  Tensor mean() const;
  Tensor variance() const;
};

}  // namespace ricci::distributions
