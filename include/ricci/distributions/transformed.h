// The distribution of functions of random numbers.
#pragma once

#include <limits>
#include <tuple>
#include <utility>

#include "ricci/distributions/transforms.h"
#include "ricci/keys.h"
#include "ricci/ops.h"

namespace ricci::distributions {

/// What `transforms`, applied one after the other, make of numbers of `base_dist`. Samples are as differentiable as the
/// base's. `cdf` and `icdf` where the base has them.
///   using namespace rc::distributions;
///   TransformedDistribution logit_normal{Normal{loc, scale}, SigmoidTransform{}};
///   TransformedDistribution moved{Gamma{2, 1}, std::tuple{AffineTransform{3, -0.5}, ExpTransform{}}};
template <class Base, class... Transforms>
struct TransformedDistribution {
  Base base_dist;
  std::tuple<Transforms...> transforms;

  static constexpr int event_dims = Base::event_dims;

  Tensor sample(const Key& key) const { return sample(key, {}); }
  Tensor sample(const Key& key, const Shape& sample_shape) const {
    return forward(base_dist.sample(key, sample_shape));
  }
  Tensor log_prob(const Tensor& value) const {
    const Pulled p = pull(value);
    Tensor log_slope = p.log_slope;
    for (int i = 0; i < event_dims; ++i) log_slope = sum(log_slope, -1);
    return where(all_of_event(p.is_reached), base_dist.log_prob(p.x) - log_slope,
                 -std::numeric_limits<double>::infinity());
  }
  /// Below what the transforms reach 0, above it 1.
  Tensor cdf(const Tensor& value) const {
    const Pulled p = pull(value);
    const Tensor below = base_dist.cdf(p.x), inside = where(gt(p.sign, 0), below, 1 - below);
    return where(p.is_reached, inside, where(gt(value, forward(1)), 1, 0));
  }
  Tensor icdf(const Tensor& probability) const {
    const Tensor rises = std::apply([](const auto&... t) { return (Tensor(1) * ... * t.sign()); }, transforms);
    return forward(base_dist.icdf(where(gt(rises, 0), probability, 1 - probability)));
  }

 private:
  /// A value taken back through the transforms: to 1 where they do not reach it.
  struct Pulled {
    Tensor x, log_slope, sign, is_reached;
  };
  Pulled pull(const Tensor& value) const {
    Pulled p{value, event_dims == 0 ? Tensor(0) : zeros_like(value), 1, to(ones_like(value), boolean)};
    pull_through<sizeof...(Transforms)>(p);
    return p;
  }
  template <std::size_t count>
  void pull_through(Pulled& p) const {
    if constexpr (count > 0) {
      const auto& t = std::get<count - 1>(transforms);
      const Tensor reached = t.reaches(p.x), y = where(reached, p.x, t(1)), x = t.inverse(y);
      p = {x, p.log_slope + t.log_abs_det_jacobian(x, y), p.sign * t.sign(), logical_and(p.is_reached, reached)};
      pull_through<count - 1>(p);
    }
  }
  Tensor forward(Tensor x) const {
    std::apply([&x](const auto&... t) { ((x = t(x)), ...); }, transforms);
    return x;
  }
  static Tensor all_of_event(const Tensor& is_reached) {
    Tensor all_reached = is_reached;
    for (int i = 0; i < event_dims; ++i) all_reached = all(all_reached, -1);
    return all_reached;
  }
};
template <class Base, class... Transforms>
TransformedDistribution(Base, std::tuple<Transforms...>) -> TransformedDistribution<Base, Transforms...>;
template <class Base, class Transform>
TransformedDistribution(Base, Transform) -> TransformedDistribution<Base, Transform>;

}  // namespace ricci::distributions
