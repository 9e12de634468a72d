// The optimisers: each step once, and what is made of several as a chain.
#include "ricci/optim/optimisers.h"

#include <utility>

#include "ricci/ops.h"
#include "ricci/tree_arithmetic.h"

namespace ricci::optim {
namespace {

/// A step that treats each parameter alone.
template <class F>
Optimiser for_each_leaf(std::vector<Moment> moments, F f) {
  return Optimiser(std::move(moments), [f = std::move(f)](Step& step) {
    for (Leaf& leaf : step.leaves) f(leaf);
  });
}

Tensor squared(const Tensor& x) { return x.is_complex() ? square(real(x)) + square(imag(x)) : square(x); }

/// The moving average of x.
Tensor average(const Tensor& decay, const Tensor& x, const Tensor& before) { return (1 - decay) * x + decay * before; }

/// A moment of squares, which are real.
Moment squares(std::string name, const Tensor& initial) {
  return {std::move(name), [initial](const Tensor& param) { return full_like(real(param), initial); }};
}

/// 1 - decayⁿ, by which a moving average is divided, as it began with zeros. In float64: near 0 it would show how the
/// power was rounded.
Tensor bias_correction(const Tensor& decay, const Tensor& n) { return 1 - pow(decay, to(n, float64)); }

struct Decays {
  Tensor b1, b2, eps, eps_root;
  bool nesterov = false;
};

Optimiser scale_by_adam(const Decays& o) {
  return Optimiser({{"mu", {}}, squares("nu", 0)}, [o](Step& step) {
    const Tensor n = step.count + 1;
    const Tensor first = bias_correction(o.b1, n), next = bias_correction(o.b1, n + 1);
    const Tensor second = bias_correction(o.b2, n);
    for (auto& [update, param, moments] : step.leaves) {
      const Tensor g = update;
      Tensor &mu = moments[0], &nu = moments[1];
      mu = average(o.b1, g, mu);
      nu = average(o.b2, squared(g), nu);
      const Tensor mean = o.nesterov ? o.b1 * (mu / next) + (1 - o.b1) * (g / first) : mu / first;
      update = mean / (sqrt(nu / second + o.eps_root) + o.eps);
    }
  });
}

Optimiser scale_by_lion(const Tensor& b1, const Tensor& b2) {
  return for_each_leaf({{"mu", {}}}, [=](Leaf& leaf) {
    const Tensor g = leaf.update, mixed = average(b1, g, leaf.moments[0]);
    leaf.moments[0] = average(b2, g, leaf.moments[0]);
    leaf.update = mixed.is_complex() ? sgn(mixed) : where(isnan(mixed), mixed, sign(mixed));
  });
}

Optimiser scale_by_rms(const RmspropOptions& o) {
  std::vector<Moment> moments{squares("nu", o.initial_scale)};
  if (o.centered) moments.push_back({"mu", {}});
  return Optimiser(std::move(moments), [o](Step& step) {
    const Tensor divisor = o.bias_correction ? bias_correction(o.decay, step.count + 1) : 1;
    for (Leaf& leaf : step.leaves) {
      const Tensor g = leaf.update;
      leaf.moments[0] = average(o.decay, squared(g), leaf.moments[0]);
      Tensor spread = leaf.moments[0] / divisor;
      if (o.centered) {
        leaf.moments[1] = average(o.decay, g, leaf.moments[1]);
        spread = clamp_min(spread - squared(leaf.moments[1] / divisor), 0);  // below 0 by rounding alone
      }
      leaf.update = (o.eps_in_sqrt ? rsqrt(spread + o.eps) : 1 / (sqrt(spread) + o.eps)) * g;
    }
  });
}

Optimiser scale_by_rss(const AdagradOptions& o) {
  return for_each_leaf({squares("sum_of_squares", o.initial_accumulator_value)}, [o](Leaf& leaf) {
    const Tensor total = squared(leaf.update) + leaf.moments[0];
    leaf.moments[0] = total;
    leaf.update = where(gt(total, 0), rsqrt(total + o.eps), 0) * leaf.update;
  });
}

Optimiser trace(const Tensor& decay, bool nesterov) {
  return for_each_leaf({{"trace", {}}}, [=](Leaf& leaf) {
    Tensor& trace = leaf.moments[0];
    trace = leaf.update + decay * trace;
    leaf.update = nesterov ? leaf.update + decay * trace : trace;
  });
}

Optimiser scale_by_trust_ratio() {
  return for_each_leaf({}, [](Leaf& leaf) {
    const Tensor param_norm = norm(leaf.param), update_norm = norm(leaf.update), has_none = eq(update_norm, 0);
    const Tensor ratio = param_norm / where(has_none, 1, update_norm);
    leaf.update = leaf.update * where(logical_or(has_none, eq(param_norm, 0)), 1, ratio);
  });
}

/// Updates times f(count).
template <class F>
Optimiser scale_by(F f) {
  return Optimiser({}, [f = std::move(f)](Step& step) {
    const Tensor factor = f(step.count);
    for (Leaf& leaf : step.leaves) leaf.update = factor * leaf.update;
  });
}

}  // namespace

Optimiser scale_by_learning_rate(const Rate& learning_rate) {
  return scale_by([=](const Tensor& count) { return -learning_rate.at(count); });
}
Optimiser scale_by_schedule(const Schedule& step_size) { return scale_by(step_size); }

Optimiser clip(const Tensor& max_delta) {
  return for_each_leaf({}, [=](Leaf& leaf) { leaf.update = clamp(leaf.update, -max_delta, max_delta); });
}

Optimiser clip_by_global_norm(const Tensor& max_norm) {
  return Optimiser({}, [=](Step& step) {
    std::vector<Tensor> updates;
    for (const Leaf& leaf : step.leaves) updates.push_back(leaf.update);
    const Tensor norm = tree_norm(updates), fits = lt(norm, max_norm);
    const Tensor scale = where(fits, 1, max_norm / where(fits, 1, norm));
    for (Leaf& leaf : step.leaves) leaf.update = leaf.update * scale;
  });
}

Optimiser add_decayed_weights(const Rate& weight_decay) {
  if (weight_decay.is_zero()) return chain({});
  return Optimiser({}, [=](Step& step) {
    const Tensor decay = weight_decay.at(step.count);
    for (Leaf& leaf : step.leaves) leaf.update = leaf.update + decay * leaf.param;
  });
}
Optimiser add_decayed_weights(const Rate& weight_decay, const Mask& mask) {
  const Optimiser all = add_decayed_weights(weight_decay);
  return mask ? masked(all, mask) : all;
}

Optimiser sgd(const Rate& learning_rate, const SgdOptions& o) {
  if (!o.momentum.defined()) return scale_by_learning_rate(learning_rate);
  return chain(trace(o.momentum, o.nesterov), scale_by_learning_rate(learning_rate));
}
Optimiser momentum(const Rate& learning_rate, const Tensor& momentum) {
  return sgd(learning_rate, {.momentum = momentum});
}
Optimiser nesterov(const Rate& learning_rate, const Tensor& momentum) {
  return sgd(learning_rate, {.momentum = momentum, .nesterov = true});
}

Optimiser adam(const Rate& learning_rate, const AdamOptions& o) {
  return chain(scale_by_adam({o.b1, o.b2, o.eps, o.eps_root, o.nesterov}), scale_by_learning_rate(learning_rate));
}
Optimiser adamw(const Rate& learning_rate, const AdamwOptions& o) {
  return chain(scale_by_adam({o.b1, o.b2, o.eps, o.eps_root, o.nesterov}), add_decayed_weights(o.weight_decay, o.mask),
               scale_by_learning_rate(learning_rate));
}
Optimiser lamb(const Rate& learning_rate, const LambOptions& o) {
  return chain(scale_by_adam({o.b1, o.b2, o.eps, o.eps_root}), add_decayed_weights(o.weight_decay, o.mask),
               scale_by_trust_ratio(), scale_by_learning_rate(learning_rate));
}
Optimiser lion(const Rate& learning_rate, const LionOptions& o) {
  return chain(scale_by_lion(o.b1, o.b2), add_decayed_weights(o.weight_decay, o.mask),
               scale_by_learning_rate(learning_rate));
}
Optimiser rmsprop(const Rate& learning_rate, const RmspropOptions& o) {
  const Optimiser scaled = chain(scale_by_rms(o), scale_by_learning_rate(learning_rate));
  return o.momentum.defined() ? chain(scaled, trace(o.momentum, o.nesterov)) : scaled;
}
Optimiser adagrad(const Rate& learning_rate, const AdagradOptions& o) {
  return chain(scale_by_rss(o), scale_by_learning_rate(learning_rate));
}

}  // namespace ricci::optim
