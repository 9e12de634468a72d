// Hamiltonian steps and random walks, and what they share with nuts.
#include "sample/sampler.h"

#include <limits>
#include <string>
#include <utility>

#include "random/request.h"
#include "ricci/control.h"
#include "ricci/ops.h"
#include "ricci/ops/decompositions.h"
#include "ricci/primitive/raise.h"
#include "ricci/transforms.h"

namespace ricci::samplers {
namespace {

using Method = Sampler::Method;

Tensor noise_like(const Key& key, const Tensor& x) { return normal(key, x.shape(), x.dtype()); }

/// Accepts `proposal` with this probability.
State<Tensor> accepted(const Key& key, const Tensor& probability, const State<Tensor>& proposal,
                       const State<Tensor>& state) {
  return chosen(lt(uniform(key, {}, probability.dtype()), probability), proposal, state);
}

Tensor probability_of(const Tensor& energy_error) { return exp(-clamp_min(energy_error, 0)); }

std::pair<State<Tensor>, Info> hmc_step(const Trajectory& t, const State<Tensor>& state) {
  const auto [of_momentum, of_choice] = split(t.key);
  const Phase start{state, t.metric.momentum(noise_like(of_momentum, state.position))};
  const Phase end = fori_loop(
      0, t.sampler.steps, [&](const Tensor&, const Phase& from) { return leapfrog(t.f, t.metric, from, t.step_size); },
      start);
  const Tensor error = energy_of(t.metric, end) - energy_of(t.metric, start), probability = probability_of(error);
  return {accepted(of_choice, probability, end.at, state),
          {probability, gt(error, largest_energy_error), full({}, t.sampler.steps, int64)}};
}

std::pair<State<Tensor>, Info> random_walk_step(const Trajectory& t, const State<Tensor>& state) {
  const auto [of_step, of_choice] = split(t.key);
  const Tensor moved = state.position + t.step_size * t.metric.displacement(noise_like(of_step, state.position));
  const State<Tensor> proposal{moved, to(t.f(moved), moved.dtype()), zeros_like(moved)};
  const Tensor difference = state.log_density - proposal.log_density;
  const Tensor fall = where(isnan(difference), std::numeric_limits<double>::infinity(), difference);
  const Tensor probability = probability_of(fall);
  return {accepted(of_choice, probability, proposal, state), {probability, zeros({}, boolean), ones({}, int64)}};
}

void require_shape(const char* call, const char* what, const Tensor& given, bool fits, const char* wanted) {
  if (!fits)
    raise<ValueError>(std::string(call) + ": the " + what + " is " + tree::type_of(given) + "; it must be " + wanted);
}

/// What the sampler's function is called with; errors begin with its name.
Sampler made(const char* call, const Sampler& given) {
  if (given.steps < 1)
    raise<ValueError>(std::string(call) + (given.method == Method::nuts ? ": max_depth is " : ": steps is ") +
                      std::to_string(given.steps) + "; it must be positive");
  if (!(given.target_acceptance > 0 && given.target_acceptance < 1))
    raise<ValueError>(std::string(call) + ": target_acceptance is " + std::to_string(given.target_acceptance) +
                      "; it must be between 0 and 1");
  if (given.step_size.defined()) require_elements_in_range(call, "step_size", given.step_size, Range::positive);
  const Tensor& mass = given.inverse_mass;
  if (mass.defined())
    require_elements_in_range(call, "inverse_mass", mass.dim() == 2 ? mass.diagonal() : mass, Range::positive);
  return given;
}

}  // namespace

Sampler nuts(const NutsOptions& o) {
  return made("nuts", {Method::nuts, o.step_size, o.inverse_mass, o.max_depth, o.target_acceptance});
}
Sampler hmc(const HmcOptions& o) {
  return made("hmc", {Method::hmc, o.step_size, o.inverse_mass, o.steps, o.target_acceptance});
}
Sampler mala(const MalaOptions& o) {
  return made("mala", {Method::hmc, o.step_size, o.inverse_mass, 1, o.target_acceptance});
}
Sampler random_walk(const RandomWalkOptions& o) {
  return made("random_walk", {Method::random_walk, o.step_size, o.inverse_mass, 1, o.target_acceptance});
}

Metric::Metric(const Tensor& inverse_mass)
    : inverse(inverse_mass), factor(inverse_mass.dim() == 2 ? cholesky(inverse_mass) : Tensor()) {}
Tensor Metric::velocity(const Tensor& momentum) const {
  return factor.defined() ? matmul(inverse, momentum) : inverse * momentum;
}
Tensor Metric::momentum(const Tensor& noise) const {
  return factor.defined() ? solve_triangular(mT(factor), noise, true) : noise * rsqrt(inverse);
}
Tensor Metric::displacement(const Tensor& noise) const {
  return factor.defined() ? matmul(factor, noise) : noise * sqrt(inverse);
}

void require_count(const char* name, std::int64_t count) {
  if (count < 0) raise<ValueError>(std::string(name) + " is " + std::to_string(count) + "; it must not be negative");
}
void require_one_key(const char* call, const Key& key) {
  if (key.data.dim() == 1) return;
  raise<ValueError>(std::string(call) + ": the keys are " + tree::type_of(key.data) +
                    "; pass one key, and map over several with vmap");
}
void require_real(const char* call, const Tensor& position) {
  if (!position.is_floating_point())
    raise<TypeError>(std::string(call) + ": the position is " + tree::type_of(position) + "; pass real numbers");
}

LogDensity of_numbers(const char* call, const LogDensity& f) {
  return [call, &f](const Tensor& x) {
    const Tensor value = f(x);
    require_shape(call, "log density", value, value.dim() == 0, "a number");
    return value;
  };
}

Tensor checked_inverse_mass(const char* call, const Sampler& sampler, const Tensor& position) {
  require_real(call, position);
  const Tensor& mass = sampler.inverse_mass;
  if (!mass.defined()) return ones_like(position);
  const Size n = position.shape()[0];
  require_shape(call, "inverse mass", mass, mass.shape() == Shape{n} || mass.shape() == Shape{n, n},
                "[n] or [n, n], n the position's elements");
  return to(mass, position.dtype());
}
Tensor first_step_size(const char* call, const Sampler& sampler, const Tensor& position) {
  if (!sampler.step_size.defined()) return ones({}, position.dtype());
  require_shape(call, "step size", sampler.step_size, sampler.step_size.dim() == 0, "a number");
  return to(sampler.step_size, position.dtype());
}

State<Tensor> state_at(const LogDensity& f, const Tensor& position) {
  const auto [value, gradient] = value_and_grad(f)(position);
  return {position, to(value, position.dtype()), gradient};
}

Phase leapfrog(const LogDensity& f, const Metric& metric, const Phase& from, const Tensor& step_size) {
  const Tensor half = from.momentum + 0.5 * step_size * from.at.gradient;
  const State<Tensor> at = state_at(f, from.at.position + step_size * metric.velocity(half));
  return {at, half + 0.5 * step_size * at.gradient};
}

Tensor energy_of(const Metric& metric, const Phase& phase) {
  const Tensor energy = 0.5 * dot(phase.momentum, metric.velocity(phase.momentum)) - phase.at.log_density;
  return where(isnan(energy), std::numeric_limits<double>::infinity(), energy);
}

State<Tensor> first_state(const char* call, const Sampler& sampler, const LogDensity& f, const Tensor& position) {
  require_real(call, position);
  const LogDensity density = of_numbers(call, f);
  if (sampler.method != Method::random_walk) return state_at(density, position);
  return {position, to(density(position), position.dtype()), zeros_like(position)};
}

std::pair<State<Tensor>, Info> one_step(const Sampler& sampler, const LogDensity& f, const Key& key,
                                        const State<Tensor>& state, const Tensor& step_size, const Metric& metric) {
  const Trajectory t{sampler, f, key, step_size, metric};
  if (sampler.method == Method::nuts) return nuts_step(t, state);
  return sampler.method == Method::hmc ? hmc_step(t, state) : random_walk_step(t, state);
}

std::pair<State<Tensor>, Info> one_step(const Sampler& sampler, const LogDensity& f, const Key& key,
                                        const State<Tensor>& state) {
  require_one_key("step", key);
  const Metric metric(checked_inverse_mass("step", sampler, state.position));
  return one_step(sampler, of_numbers("step", f), key, state, first_step_size("step", sampler, state.position), metric);
}

}  // namespace ricci::samplers
