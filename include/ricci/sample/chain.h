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

/// One chain from `initial` on. What the sampler does not fix is chosen in the warm-up: the step size by dual averaging
/// (Nesterov, 2009; Hoffman and Gelman, 2014), the inverse masses as the variances of the steps of windows, each twice
/// as long as the one before, as by Stan: 75 steps for the step size alone, windows from 25 on, 50 steps for the step
/// size. Warm-ups of less than 150 steps give these parts 15, 75 and 10 %, those of less than 20 leave masses alone.
/// ValueError where the log density at `initial` is not finite (check_finite), for negative numbers of steps, and for a
/// log density that gives no number; TypeError for complex positions.
///   auto chain = samplers::sample([](Tensor x) { return -0.5 * (x * x).sum(); }, rc::zeros({3}), rc::Key(0));
template <class F, class X>
Chain<tree::plain_t<X>> sample(const F& log_density, const X& initial, const Key& key,
                               const SampleOptions& options = {}) {
  const auto [vector, unravel] = ravel(initial);
  const Chain<Tensor> found = sample_vector(of_vector(log_density, unravel), vector, key, options);
  return {trees_of_rows(found.draws, unravel), found.log_density, found.info, found.step_size, found.inverse_mass};
}

}  // namespace ricci::samplers
