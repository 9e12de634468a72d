// Gradient steps on the evidence's lower bound.
#include "ricci/sample/variational.h"

#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "ricci/control.h"
#include "ricci/debug.h"
#include "ricci/ops.h"
#include "ricci/primitive/raise.h"
#include "ricci/transforms.h"
#include "sample/sampler.h"

namespace ricci::samplers {
namespace {

struct Normals {
  Tensor mean, log_std;
};
struct Fit {
  Normals normals;
  optim::State<Normals> state;
};

/// [n, elements]
Tensor moved(const Normals& q, const Tensor& noise) { return q.mean + exp(q.log_std) * noise; }

}  // namespace

Tensor draws_of_vectors(const Tensor& mean, const Tensor& log_std, const Key& key, std::int64_t n) {
  require_count("draws_of: n", n);
  return moved({mean, log_std}, normal(key, {n, mean.shape()[0]}, mean.dtype()));
}

MeanField<Tensor> fit_vector(const LogDensity& log_density, const Tensor& start, const Key& key,
                             const MeanFieldOptions& options) {
  require_count("meanfield_vi: steps", options.steps);
  if (options.samples < 1)
    raise<ValueError>("meanfield_vi: samples is " + std::to_string(options.samples) + "; it must be positive");
  require_one_key("meanfield_vi", key);
  require_real("meanfield_vi", start);
  const LogDensity f = of_numbers("meanfield_vi", log_density);
  constexpr double first_log_std = -2;
  debug::check_finite(f(start), "the log density of the start");
  const double constant = 0.5 * (1 + std::log(2 * std::numbers::pi)) * static_cast<double>(start.numel());
  const auto step = [&](const Fit& at, const Tensor& number) {
    const Tensor noise = normal(fold_in(key, number), {options.samples, start.shape()[0]}, start.dtype());
    const auto loss = [&](const Normals& q) { return -vmap(f)(moved(q, noise)).mean() - q.log_std.sum(); };
    const auto [gradient, value] = grad_and_value(loss)(at.normals);
    const auto [updates, state] = options.optimiser.update(gradient, at.state, at.normals);
    return std::pair{Fit{optim::apply_updates(at.normals, updates), state}, constant - value};
  };
  const Normals first{start, full_like(start, first_log_std)};
  const auto [last, elbo] = scan(step, Fit{first, options.optimiser.init(first)}, arange(options.steps));
  return {last.normals.mean, last.normals.log_std, elbo};
}

}  // namespace ricci::samplers
