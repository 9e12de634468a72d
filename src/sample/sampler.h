// Steps of a sampler whose step size and masses are values of a loop, as a warm-up needs them.
#pragma once

#include "ricci/sample/sampler.h"

namespace ricci::samplers {

/// Momenta have the covariance M; `inverse` is M⁻¹ [n], or [n, n] with its Cholesky factor.
struct Metric {
  Tensor inverse;
  Tensor factor;  // undefined for [n]

  explicit Metric(const Tensor& inverse_mass);
  Tensor velocity(const Tensor& momentum) const;
  Tensor momentum(const Tensor& noise) const;
  /// Of covariance M⁻¹.
  Tensor displacement(const Tensor& noise) const;
};

/// Throws ValueError for a negative number.
void require_count(const char* name, std::int64_t count);
/// Throws ValueError for several keys.
void require_one_key(const char* call, const Key& key);
/// Throws TypeError unless the position is of real numbers.
void require_real(const Tensor& position);
/// Throws unless sampler and position fit; the inverse mass for this position, ones if the sampler has none.
Tensor checked_inverse_mass(const Sampler& sampler, const Tensor& position);
Tensor first_step_size(const Sampler& sampler, const Tensor& position);

std::pair<State<Tensor>, Info> one_step(const Sampler& sampler, const LogDensity& f, const Key& key,
                                        const State<Tensor>& state, const Tensor& step_size, const Metric& metric);

// One file each.
struct Trajectory {
  const Sampler& sampler;
  const LogDensity& f;
  const Key& key;
  const Tensor& step_size;
  const Metric& metric;
};
std::pair<State<Tensor>, Info> nuts_step(const Trajectory& t, const State<Tensor>& state);

/// Value and gradient in the position's dtype.
State<Tensor> state_at(const LogDensity& f, const Tensor& position);

/// A place in phase space.
struct Phase {
  State<Tensor> at;
  Tensor momentum;
};
Phase leapfrog(const LogDensity& f, const Metric& metric, const Phase& from, const Tensor& step_size);
/// -log density plus kinetic energy; infinite where either is NaN.
Tensor energy_of(const Metric& metric, const Phase& phase);
constexpr double largest_energy_error = 1000;

/// x where the condition holds, else y: of each part.
State<Tensor> chosen(const Tensor& condition, const State<Tensor>& x, const State<Tensor>& y);
Phase chosen(const Tensor& condition, const Phase& x, const Phase& y);

}  // namespace ricci::samplers
