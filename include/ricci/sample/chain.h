// A chain: a warm-up that finds step size and masses, then draws. Start with `sample`.
#pragma once

#include <cstdint>

#include "ricci/sample/sampler.h"
#include "ricci/transforms/vmap.h"

namespace ricci::samplers {

struct SampleOptions {
  Sampler sampler = nuts();
  std::int64_t warmup = 1000;  ///< steps before the draws; 0: the sampler is taken as it is
  std::int64_t draws = 1000;
};

template <class X>
struct Chain {
  X draws;              ///< [draws, …] of each leaf
  Tensor log_density;   ///< [draws]
  Info info;            ///< of each draw: [draws]
  Tensor step_size;     ///< 0-dim
  Tensor inverse_mass;  ///< [n], or as it was given
};

/// The tree of each row [n], stacked; without Tensors the tree itself, which vmap refuses.
template <class X>
X trees_of_rows(const Tensor& rows, const Unravel<X>& unravel) {
  X like = unravel.like;
  tree::Walk walk;
  tree::walk(like, walk);
  return walk.leaves.empty() ? like : vmap(unravel)(rows);
}

Chain<Tensor> sample_vector(const LogDensity& f, const Tensor& start, const Key& key, const SampleOptions& options);

/// One chain from `initial` on. A warm-up chooses what the sampler leaves undefined. Dual averaging (Nesterov, 2009;
/// Hoffman and Gelman, 2014) chooses the step size. The inverse masses are the variances of the positions in a window
/// of steps. As in Stan, 75 steps adapt the step size alone; then come windows of 25, 50, 100, … steps; the last 50
/// steps adapt the step size again. A warm-up of less than 150 steps divides into 15 %, 75 % and 10 %; one of less than
/// 20 leaves the masses at 1.
/// ValueError where the log density at `initial` is not finite (check_finite), for negative numbers of steps, and for a
/// log density that gives no number; TypeError for positions without floating Tensors, or with complex ones.
///   auto chain = samplers::sample([](Tensor x) { return -0.5 * (x * x).sum(); }, rc::zeros({3}), rc::Key(0));
template <class F, class X>
Chain<tree::plain_t<X>> sample(const F& log_density, const X& initial, const Key& key,
                               const SampleOptions& options = {}) {
  tree::require_unknowns("sample", call::walk(initial));
  const auto [vector, unravel] = ravel(initial);
  const Chain<Tensor> found = sample_vector(of_vector(log_density, unravel), vector, key, options);
  return {trees_of_rows(found.draws, unravel), found.log_density, found.info, found.step_size, found.inverse_mass};
}

}  // namespace ricci::samplers
