// Steps of a sampler whose step size and masses are values of a loop, as a warm-up needs them.
#pragma once

#include "ricci/ops.h"
#include "ricci/sample/sampler.h"
#include "ricci/tree.h"

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

// What errors begin with is the name of the function that was called.

/// Throws ValueError for a negative number.
void require_count(const char* name, std::int64_t count);
/// Throws ValueError for several keys.
void require_one_key(const char* call, const Key& key);
/// Throws TypeError unless the position is of real numbers.
void require_real(const char* call, const Tensor& position);
/// f, which throws ValueError where it gives no number.
LogDensity of_numbers(const char* call, const LogDensity& f);
/// Throws unless sampler and position fit; the inverse mass for this position, ones if the sampler has none.
Tensor checked_inverse_mass(const char* call, const Sampler& sampler, const Tensor& position);
Tensor first_step_size(const char* call, const Sampler& sampler, const Tensor& position);

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
template <class T>
T chosen(const Tensor& condition, const T& x, const T& y) {
  return map_leaves([&](const Tensor& a, const Tensor& b) { return where(condition, a, b); }, x, y);
}

}  // namespace ricci::samplers
