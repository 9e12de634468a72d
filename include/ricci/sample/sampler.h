// Ways to move a chain by one step, and that step. Knows nothing of chains. Start with `nuts`.
#pragma once

#include <cstdint>
#include <functional>

#include "ricci/keys.h"
#include "ricci/ravel.h"
#include "ricci/transforms/call.h"
#include "ricci/tree/unknowns.h"

namespace ricci::samplers {

/// A way to move a chain; made by the functions below. These throw ValueError for a step size, an inverse mass or a
/// number of steps that is not positive, and for a target acceptance that is not between 0 and 1.
struct Sampler {
  enum class Method : std::uint8_t { hmc, nuts, random_walk };
  Method method = Method::nuts;
  Tensor step_size = {};           ///< 0-dim; undefined: 1, from which a warm-up begins
  Tensor inverse_mass = {};        ///< [n] or [n, n]; undefined: ones
  std::int64_t steps = 10;         ///< hmc: leapfrog steps; nuts: the most doublings of their number
  double target_acceptance = 0.8;  ///< that a warm-up chooses the step size for
};

struct NutsOptions {
  Tensor step_size = {};  ///< 0-dim
  /// Of the momenta, in the order of `ravel`: about the variances [n] or the covariance [n, n] of the distribution.
  Tensor inverse_mass = {};
  std::int64_t max_depth = 10;  ///< at most 2^max_depth - 1 leapfrog steps
  double target_acceptance = 0.8;
};
/// The no-U-turn sampler (Hoffman and Gelman, 2014) with multinomial draws from the trajectory (Betancourt,
/// arXiv 1701.02434). The trajectory is doubled in a loop, without recursion (Phan, Pradhan and Jankowiak,
/// arXiv 1912.11554). A step whose energy error is above 1,000 ends the trajectory as divergent.
Sampler nuts(const NutsOptions& options = {});

struct HmcOptions {
  Tensor step_size = {};
  Tensor inverse_mass = {};  ///< as of nuts
  std::int64_t steps = 10;   ///< of leapfrog
  double target_acceptance = 0.8;
};
/// Hamiltonian Monte Carlo (Duane et al., 1987; Neal, arXiv 1206.1901).
Sampler hmc(const HmcOptions& options = {});

struct MalaOptions {
  Tensor step_size = {};
  Tensor inverse_mass = {};  ///< as of nuts
  double target_acceptance = 0.574;
};
/// Metropolis-adjusted Langevin steps (Roberts and Tweedie, 1996), which are hmc of one leapfrog step: the proposal is
/// x + ε²/2 M⁻¹ ∇ log p + ε M^(-1/2) z with the step size ε.
Sampler mala(const MalaOptions& options = {});

struct RandomWalkOptions {
  Tensor step_size = {};
  Tensor inverse_mass = {};  ///< the covariance of the steps, as of nuts
  double target_acceptance = 0.234;
};
/// Random-walk Metropolis: the proposal is x + ε M^(-1/2) z. The log density's gradient is not computed.
Sampler random_walk(const RandomWalkOptions& options = {});

/// Where a chain is: a tree.
template <class X>
struct State {
  X position;
  Tensor log_density;  ///< 0-dim
  X gradient;          ///< of the log density; 0 for random walks
};
/// What a step did.
struct Info {
  Tensor acceptance;    ///< the probability of acceptance, of nuts the mean along the trajectory
  Tensor is_divergent;  ///< whether the energy error was above 1,000
  Tensor steps;         ///< int64: evaluations of the log density
};

/// A log density of a vector.
using LogDensity = std::function<Tensor(const Tensor&)>;

State<Tensor> first_state(const char* call, const Sampler& sampler, const LogDensity& f, const Tensor& position);
std::pair<State<Tensor>, Info> one_step(const Sampler& sampler, const LogDensity& f, const Key& key,
                                        const State<Tensor>& state);

/// f of the elements of a tree. It refers to f, which must outlive it.
template <class F, class X>
LogDensity of_vector(const F& f, const Unravel<X>& unravel) {
  return [&f, unravel](const Tensor& vector) -> Tensor {
    auto at = unravel(vector);
    return call::invoke(f, at);
  };
}

/// The state at a position. TypeError for one without floating Tensors, or with complex ones.
template <class F, class X>
State<tree::plain_t<X>> init(const Sampler& sampler, const F& log_density, const X& position) {
  tree::require_unknowns("init", call::walk(position));
  const auto [vector, unravel] = ravel(position);
  const State<Tensor> first = first_state("init", sampler, of_vector(log_density, unravel), vector);
  return {unravel(first.position), first.log_density, unravel(first.gradient)};
}

/// One step of a chain: `auto [next, info] = samplers::step(nuts, log_density, key, state);`. ValueError if step size
/// or inverse mass have another shape than options say, TypeError for complex positions.
template <class F, class X>
std::pair<State<X>, Info> step(const Sampler& sampler, const F& log_density, const Key& key, const State<X>& state) {
  const auto [vector, unravel] = ravel(state.position);
  const auto [next, info] = one_step(sampler, of_vector(log_density, unravel), key,
                                     {vector, state.log_density, ravel(state.gradient).vector});
  return {State<X>{unravel(next.position), next.log_density, unravel(next.gradient)}, info};
}

}  // namespace ricci::samplers
