// Distributions of counts: Bernoulli, Binomial, Poisson. Numbers between whole ones have probability 0. Samples are of
// the parameters' floating type and constant in the parameters. What all distributions share stands in
// ricci/distributions.h.
#pragma once

#include <optional>

#include "ricci/keys.h"

namespace ricci::distributions {

/// 1 with a probability, else 0. Give `probs` in [0, 1], or `logits` = log(probs / (1 - probs)).
///   rc::distributions::Bernoulli{.logits = model(x)}.log_prob(y)
struct Bernoulli {
  std::optional<Tensor> probs = {}, logits = {};

  static constexpr int event_dims = 0;
  Tensor sample(const Key& key) const;
  Tensor sample(const Key& key, const Shape& sample_shape) const;
  Tensor log_prob(const Tensor& value) const;
  Tensor cdf(const Tensor& value) const;
  Tensor entropy() const;
  Tensor mean() const;
  Tensor variance() const;
};

/// Successes among `total_count` trials, a whole number that is not negative. Give `probs` or `logits`. `entropy` is a
/// sum over all counts, and reads the largest `total_count`.
struct Binomial {
  Tensor total_count;
  std::optional<Tensor> probs = {}, logits = {};

  static constexpr int event_dims = 0;
  Tensor sample(const Key& key) const;
  Tensor sample(const Key& key, const Shape& sample_shape) const;
  Tensor log_prob(const Tensor& value) const;
  Tensor cdf(const Tensor& value) const;
  Tensor entropy() const;
  Tensor mean() const;
  Tensor variance() const;
};

/// Events at `rate`, which is not negative.
struct Poisson {
  Tensor rate;

  static constexpr int event_dims = 0;
  Tensor sample(const Key& key) const;
  Tensor sample(const Key& key, const Shape& sample_shape) const;
  Tensor log_prob(const Tensor& value) const;
  Tensor cdf(const Tensor& value) const;
  Tensor mean() const;
  Tensor variance() const;
};

}  // namespace ricci::distributions
