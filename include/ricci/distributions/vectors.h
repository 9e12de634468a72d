// Distributions of vectors, which lie along the last axis: MultivariateNormal, Dirichlet. What all distributions share
// stands in ricci/distributions.h.
#pragma once

#include <optional>

#include "ricci/keys.h"

namespace ricci::distributions {

/// loc [..., n], and one of the covariance matrix, its inverse, the precision, and its lower factor with a positive
/// diagonal, scale_tril scale_trilᵀ = covariance, each [..., n, n]. ValueError if a matrix is not positive definite.
/// scale_tril costs least: the others are factored at each call.
///   rc::distributions::MultivariateNormal{.loc = m, .scale_tril = l}.log_prob(x)  // [..., n] → [...]
struct MultivariateNormal {
  Tensor loc;
  std::optional<Tensor> covariance_matrix = {}, precision_matrix = {}, scale_tril = {};

  static constexpr int event_dims = 1;
  Tensor sample(const Key& key) const;
  Tensor sample(const Key& key, const Shape& sample_shape) const;
  Tensor log_prob(const Tensor& value) const;
  Tensor entropy() const;
  Tensor mean() const;
  Tensor variance() const;  ///< the covariance's diagonal
  Tensor factor() const;    ///< scale_tril, computed if it was not given
};

/// Probabilities along the last axis, with density in proportion to ∏ x^(concentration - 1); concentration [..., n] is
/// positive. `log_prob` takes it that a value adds up to 1.
struct Dirichlet {
  Tensor concentration;

  static constexpr int event_dims = 1;
  Tensor sample(const Key& key) const;
  Tensor sample(const Key& key, const Shape& sample_shape) const;
  Tensor log_prob(const Tensor& value) const;
  Tensor entropy() const;
  Tensor mean() const;
  Tensor variance() const;
};

}  // namespace ricci::distributions
