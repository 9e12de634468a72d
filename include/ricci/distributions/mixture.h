// A mixture of distributions of one kind.
#pragma once

#include "ricci/distributions/classes.h"
#include "ricci/ops.h"

namespace ricci::distributions {

/// A class k of `mixture_distribution` is drawn, then a number of the k-th component; components are stacked along the
/// last batch axis of `component_distribution`. Samples are constant in the parameters. `cdf` where the component has
/// one.
///   rc::distributions::MixtureSameFamily{rc::distributions::Categorical{.logits = logits},    // [..., n]
///                                        rc::distributions::Normal{loc, scale}}               // [..., n]
template <class Component>
struct MixtureSameFamily {
  Categorical mixture_distribution;
  Component component_distribution;

  static constexpr int event_dims = Component::event_dims;
  static constexpr std::int64_t component_axis = -1 - event_dims;

  Tensor sample(const Key& key) const { return sample(key, {}); }
  Tensor sample(const Key& key, const Shape& sample_shape) const {
    const auto [class_key, component_key] = split(key);
    const Tensor all = component_distribution.sample(component_key, sample_shape);  // [sample…, batch…, n, event…]
    Tensor k = unsqueeze(mixture_distribution.sample(class_key, sample_shape), -1);
    for (int i = 0; i < event_dims; ++i) k = unsqueeze(k, -1);
    Shape one = all.shape();
    one[static_cast<std::size_t>(one.rank() + component_axis)] = 1;
    // Classes with fewer batch axes than components serve all of these.
    while (k.dim() < one.rank()) k = unsqueeze(k, static_cast<std::int64_t>(sample_shape.size()));
    return detach(squeeze(gather(all, component_axis, expand(k, one)), component_axis));
  }
  Tensor log_prob(const Tensor& value) const {
    const Tensor by_component = component_distribution.log_prob(beside_components(value));
    return logsumexp(by_component + mixture_distribution.log_probs(), -1);
  }
  Tensor cdf(const Tensor& value) const {
    static_assert(event_dims == 0, "ricci: a mixture of vectors has no distribution function");
    return sum(component_distribution.cdf(beside_components(value)) * exp(mixture_distribution.log_probs()), -1);
  }
  Tensor mean() const { return mean_of(component_distribution.mean()); }
  /// The mean of the components' variances and the variance of their means.
  Tensor variance() const {
    const Tensor means = component_distribution.mean(), center = unsqueeze(mean_of(means), component_axis);
    return mean_of(component_distribution.variance() + square(means - center));
  }

 private:
  /// A number broadcasts as it is, and keeps its type.
  static Tensor beside_components(const Tensor& value) {
    return value.dim() == 0 ? value : unsqueeze(value, component_axis);
  }
  Tensor mean_of(const Tensor& by_component) const {
    Tensor weights = exp(mixture_distribution.log_probs());
    for (int i = 0; i < event_dims; ++i) weights = unsqueeze(weights, -1);
    return sum(weights * by_component, component_axis);
  }
};
template <class Component>
MixtureSameFamily(Categorical, Component) -> MixtureSameFamily<Component>;

}  // namespace ricci::distributions
