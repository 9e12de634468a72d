// The optimisers, and the steps to chain them with: g is the gradient, p the parameter, m and v are moments, n is the
// number of the step, from 1. All formulas are elementwise, except where a norm is named.
#pragma once

#include "ricci/optim/optimiser.h"
#include "ricci/optim/schedules.h"

namespace ricci::optim {

struct SgdOptions {
  Tensor momentum = {};   ///< undefined: none
  bool nesterov = false;  ///< of momentum
};
/// -rate g. With momentum: m ← g + momentum m, and -rate m, or -rate (g + momentum m) with `nesterov`.
Optimiser sgd(const Rate& learning_rate, const SgdOptions& options = {});
Optimiser momentum(const Rate& learning_rate, const Tensor& momentum = 0.9);  ///< sgd with {.momentum}
Optimiser nesterov(const Rate& learning_rate,
                   const Tensor& momentum = 0.9);  ///< sgd with {.momentum, .nesterov = true}

struct AdamOptions {
  Tensor b1 = 0.9, b2 = 0.999, eps = 1e-8;
  Tensor eps_root = 0;  ///< a derivative through adam at a gradient of 0 needs one above 0
  bool nesterov = false;
};
/// m ← b1 m + (1 - b1) g, v ← b2 v + (1 - b2) |g|²; -rate m' / (√(v' + eps_root) + eps) with m' = m / (1 - b1ⁿ),
/// v' = v / (1 - b2ⁿ). With `nesterov` m' is b1 m / (1 - b1ⁿ⁺¹) + (1 - b1) g / (1 - b1ⁿ).
Optimiser adam(const Rate& learning_rate, const AdamOptions& options = {});

struct AdamwOptions {
  Tensor b1 = 0.9, b2 = 0.999, eps = 1e-8, eps_root = 0;
  Rate weight_decay = 1e-4;
  Mask mask = {};  ///< which parameters decay; all if not given
  bool nesterov = false;
};
/// adam, with weight_decay p added before the rate.
Optimiser adamw(const Rate& learning_rate, const AdamwOptions& options = {});

struct LambOptions {
  Tensor b1 = 0.9, b2 = 0.999, eps = 1e-6, eps_root = 0;
  Rate weight_decay = 0.0;
  Mask mask = {};
};
/// adamw, where the update of each parameter is scaled by |p| / |update| before the rate; not where a norm is 0.
Optimiser lamb(const Rate& learning_rate, const LambOptions& options = {});

struct LionOptions {
  Tensor b1 = 0.9, b2 = 0.99;
  Rate weight_decay = 1e-3;
  Mask mask = {};
};
/// -rate (sign(b1 m + (1 - b1) g) + weight_decay p), then m ← b2 m + (1 - b2) g.
Optimiser lion(const Rate& learning_rate, const LionOptions& options = {});

struct RmspropOptions {
  Tensor decay = 0.9, eps = 1e-8;
  Tensor initial_scale = 0;      ///< of v
  bool eps_in_sqrt = true;       ///< else beside the root
  bool centered = false;         ///< the mean of g squared, a moment too, is taken off v
  Tensor momentum = {};          ///< undefined: none; else as of sgd, behind the rate
  bool nesterov = false;         ///< of momentum
  bool bias_correction = false;  ///< moments divided by 1 - decayⁿ
};
/// v ← decay v + (1 - decay) |g|²; -rate g / √(v + eps).
Optimiser rmsprop(const Rate& learning_rate, const RmspropOptions& options = {});

struct AdagradOptions {
  Tensor initial_accumulator_value = 0.1, eps = 1e-7;
};
/// v ← v + |g|²; -rate g / √(v + eps), and 0 where v is 0.
Optimiser adagrad(const Rate& learning_rate, const AdagradOptions& options = {});

/// Updates clamped to [-max_delta, max_delta].
Optimiser clip(const Tensor& max_delta);
/// All updates scaled so that their common norm is at most max_norm.
Optimiser clip_by_global_norm(const Tensor& max_norm);
/// Updates plus weight_decay p.
Optimiser add_decayed_weights(const Rate& weight_decay);
Optimiser add_decayed_weights(const Rate& weight_decay, const Mask& mask);  ///< of the parameters that the mask picks
/// Updates times a schedule's number.
Optimiser scale_by_schedule(const Schedule& step_size);
/// Updates times -rate.
Optimiser scale_by_learning_rate(const Rate& learning_rate);

}  // namespace ricci::optim
