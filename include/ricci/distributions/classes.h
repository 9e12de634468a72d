// Distributions of classes: Categorical, and Multinomial, which counts them. The last axis of `probs` or `logits` holds
// the classes. Probabilities are divided by their sum. Samples are constant in the parameters. What all distributions
// share stands in ricci/distributions.h.
#pragma once

#include <cstdint>
#include <optional>

#include "ricci/keys.h"

namespace ricci::distributions {

/// A class 0, …, n - 1, int64. Give `probs` [..., n] or `logits` [..., n].
///   rc::distributions::Categorical{.logits = scores}.log_prob(labels)  // [batch]
struct Categorical {
  std::optional<Tensor> probs = {}, logits = {};

  static constexpr int event_dims = 0;
  Tensor sample(const Key& key) const;
  Tensor sample(const Key& key, const Shape& sample_shape) const;
  Tensor log_prob(const Tensor& value) const;
  Tensor entropy() const;
  Tensor log_probs() const;  ///< of all classes, [..., n]
};

/// How often each class comes in `total_count` draws: [..., n] that add up to it. Give `probs` or `logits`.
struct Multinomial {
  std::int64_t total_count = 1;
  std::optional<Tensor> probs = {}, logits = {};

  static constexpr int event_dims = 1;
  Tensor sample(const Key& key) const;
  Tensor sample(const Key& key, const Shape& sample_shape) const;
  Tensor log_prob(const Tensor& value) const;
  Tensor entropy() const;
  Tensor mean() const;
  Tensor variance() const;
};

}  // namespace ricci::distributions
