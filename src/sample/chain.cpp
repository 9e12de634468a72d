// Warm-up and draws as two scans.
#include "ricci/sample/chain.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "ricci/control.h"
#include "ricci/debug.h"
#include "ricci/ops.h"
#include "ricci/primitive/raise.h"
#include "sample/sampler.h"

namespace ricci::samplers {
namespace {

/// Dual averaging of the logarithm of the step size, with the constants of Hoffman and Gelman.
struct StepSize {
  Tensor log, log_mean;  // for the next step; what the warm-up will give
  Tensor centre;         // what `log` is drawn to
  Tensor error;          // mean of target - acceptance
  Tensor count;

  static StepSize at(const Tensor& log) {
    const Tensor zero = zeros_like(log);
    return {log, log, log + std::log(10.0), zero, zero};
  }
  StepSize after(const Tensor& acceptance, double target) const {
    constexpr double gamma = 0.05, t0 = 10, kappa = 0.75;
    StepSize next;
    next.count = count + 1;
    const Tensor part = 1 / (next.count + t0);
    next.error = (1 - part) * error + part * (target - acceptance);
    next.log = centre - sqrt(next.count) / gamma * next.error;
    const Tensor newest = pow(next.count, -kappa);
    next.log_mean = newest * next.log + (1 - newest) * log_mean;
    next.centre = centre;
    return next;
  }
};

/// Welford's variances of positions.
struct Spread {
  Tensor mean, squares, count;

  static Spread none(const Tensor& like) { return {zeros_like(like), zeros_like(like), zeros({}, like.dtype())}; }
  Spread with(const Tensor& x) const {
    const Tensor n = count + 1, off = x - mean, moved = mean + off / n;
    return {moved, squares + off * (x - moved), n};
  }
  /// Drawn to 1e-3, as by Stan: of few positions the variances are not sure.
  Tensor variances() const { return (squares / (count - 1) * count + 5e-3) / (count + 5); }
};

/// Of each step of a warm-up: whether its position counts for the masses, and whether a window ends with it.
struct Windows {
  std::vector<bool> counts, ends;

  explicit Windows(std::int64_t steps)
      : counts(static_cast<std::size_t>(steps), false), ends(static_cast<std::size_t>(steps), false) {
    constexpr std::int64_t shortest = 20;
    if (steps < shortest) return;
    std::int64_t before = 75, window = 25, behind = 50;
    if (before + window + behind > steps) {
      before = steps * 15 / 100, behind = steps / 10;
      window = steps - before - behind;
    }
    const std::int64_t end = steps - behind;
    for (std::int64_t from = before; from < end; window *= 2) {
      std::int64_t to = from + window;
      if (to + 2 * window > end) to = end;  // the next one would not fit
      for (std::int64_t i = from; i < to; ++i) counts[static_cast<std::size_t>(i)] = true;
      ends[static_cast<std::size_t>(to - 1)] = true;
      from = to;
    }
  }
};

Tensor flags(const std::vector<bool>& values) {
  std::vector<std::int64_t> numbers(values.begin(), values.end());
  return to(tensor(numbers), boolean);
}

struct Warm {
  State<Tensor> state;
  StepSize step_size;
  Spread spread;
  Tensor inverse_mass;
};

/// The sampler's own step size, as it was given, or the one whose logarithm the warm-up has.
Tensor step_size_of(const Sampler& sampler, const Tensor& log, const Tensor& position) {
  return sampler.step_size.defined() ? first_step_size("sample", sampler, position) : exp(log);
}

Warm warmed_up(const Sampler& sampler, const LogDensity& f, const Key& key, std::int64_t steps, const Warm& first) {
  const Windows windows(steps);
  const bool adapts_step_size = !sampler.step_size.defined(), adapts_masses = !sampler.inverse_mass.defined();
  struct Turn {
    Tensor number, counts, ends;
  };
  const Metric given(first.inverse_mass);
  const auto turn = [&](const Warm& w, const Turn& at) {
    const auto [state, info] =
        one_step(sampler, f, fold_in(key, at.number), w.state, step_size_of(sampler, w.step_size.log, w.state.position),
                 adapts_masses ? Metric(w.inverse_mass) : given);
    Warm next = w;
    next.state = state;
    if (adapts_step_size) next.step_size = w.step_size.after(info.acceptance, sampler.target_acceptance);
    if (adapts_masses) {
      const Spread spread = chosen(at.counts, w.spread.with(state.position), w.spread);
      next.inverse_mass = where(at.ends, spread.variances(), w.inverse_mass);
      next.spread = chosen(at.ends, Spread::none(state.position), spread);
      next.step_size = chosen(at.ends, StepSize::at(next.step_size.log_mean), next.step_size);
    }
    return std::pair{next, info.acceptance};
  };
  return scan(turn, first, Turn{arange(steps), flags(windows.counts), flags(windows.ends)}).first;
}

}  // namespace

Chain<Tensor> sample_vector(const LogDensity& log_density, const Tensor& start, const Key& key,
                            const SampleOptions& options) {
  require_count("sample: warmup", options.warmup);
  require_count("sample: draws", options.draws);
  require_one_key("sample", key);
  Sampler sampler = options.sampler;
  const Tensor inverse_mass = checked_inverse_mass("sample", sampler, start);
  const LogDensity f = of_numbers("sample", log_density);
  State<Tensor> state = first_state("sample", sampler, f, start);
  state.log_density = debug::check_finite(state.log_density, "the log density of the start");
  const auto [of_warmup, of_draws] = split(key);

  Warm warm{state, StepSize::at(log(first_step_size("sample", sampler, start))), Spread::none(start), inverse_mass};
  if (options.warmup > 0) warm = warmed_up(sampler, f, of_warmup, options.warmup, warm);
  const Tensor step_size = step_size_of(sampler, warm.step_size.log_mean, start);
  const Metric metric(warm.inverse_mass);
  struct Draw {
    Tensor position, log_density;
    Info info;
  };
  const auto draw = [&, key = of_draws](const State<Tensor>& at, const Tensor& number) {
    const auto [next, info] = one_step(sampler, f, fold_in(key, number), at, step_size, metric);
    return std::pair{next, Draw{next.position, next.log_density, info}};
  };
  const Draw drawn = scan(draw, warm.state, arange(options.draws)).second;
  return {drawn.position, drawn.log_density, drawn.info, step_size, warm.inverse_mass};
}

}  // namespace ricci::samplers
