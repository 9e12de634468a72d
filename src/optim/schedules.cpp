// Schedules, as formulas of the count.
#include "ricci/optim/schedules.h"

#include <algorithm>
#include <numbers>
#include <string>

#include "ricci/ops.h"
#include "ricci/primitive/raise.h"

namespace ricci::optim {
namespace {

void require_positive(const char* call, const char* name, std::int64_t steps) {
  if (steps > 0) return;
  raise<ValueError>(std::string(call) + ": " + name + " is " + std::to_string(steps) + "; it must be positive");
}

/// (count - begin) / steps, within 0 and 1.
Tensor part(const Tensor& count, std::int64_t begin, std::int64_t steps) {
  return clamp(to(count, float64) - begin, 0, steps) / steps;
}

}  // namespace

Schedule cosine_decay(const Tensor& init_value, std::int64_t decay_steps, CosineOptions options) {
  require_positive("cosine_decay", "decay_steps", decay_steps);
  return [=](const Tensor& count) {
    const Tensor cosine = 0.5 * (1 + cos(std::numbers::pi * part(count, 0, decay_steps)));
    return init_value * ((1 - options.alpha) * pow(cosine, options.exponent) + options.alpha);
  };
}

Schedule warmup_cosine(const Tensor& init_value, const Tensor& peak_value, std::int64_t warmup_steps,
                       std::int64_t decay_steps, WarmupCosineOptions options) {
  require_positive("warmup_cosine", "decay_steps - warmup_steps", decay_steps - warmup_steps);
  const Tensor is_flat = eq(peak_value, 0);
  const Tensor alpha = where(is_flat, 0, options.end_value / where(is_flat, 1, peak_value));
  return join_schedules({linear_schedule(init_value, peak_value, warmup_steps),
                         cosine_decay(peak_value, decay_steps - warmup_steps, {alpha, options.exponent})},
                        {warmup_steps});
}

Schedule exponential_decay(const Tensor& init_value, std::int64_t transition_steps, double decay_rate,
                           ExponentialOptions options) {
  if (transition_steps <= 0 || decay_rate == 0) return [=](const Tensor&) { return init_value; };
  return [=](const Tensor& count) {
    const Tensor since = clamp_min(to(count, float64) - std::max<std::int64_t>(options.transition_begin, 0), 0);
    const Tensor transitions = since / transition_steps;
    const Tensor value = init_value * pow(decay_rate, options.staircase ? floor(transitions) : transitions);
    if (!options.end_value) return value;
    return decay_rate < 1 ? maximum(value, *options.end_value) : minimum(value, *options.end_value);
  };
}

Schedule piecewise(const Tensor& init_value, const std::map<std::int64_t, double>& boundaries_and_scales) {
  for (const auto& [boundary, scale] : boundaries_and_scales)
    if (!(scale >= 0))
      raise<ValueError>("piecewise: the scale at " + std::to_string(boundary) + " is " + std::to_string(scale) +
                        "; it must not be negative");
  return [=](const Tensor& count) {
    Tensor value = init_value;
    for (const auto& [boundary, scale] : boundaries_and_scales)
      value = where(lt(count, boundary), value, value * scale);
    return value;
  };
}

Schedule linear_schedule(const Tensor& init_value, const Tensor& end_value, std::int64_t transition_steps,
                         std::int64_t transition_begin) {
  if (transition_steps <= 0) return [=](const Tensor&) { return init_value; };
  return [=](const Tensor& count) {
    const Tensor left = 1 - part(count, std::max<std::int64_t>(transition_begin, 0), transition_steps);
    return (init_value - end_value) * left + end_value;
  };
}

Schedule join_schedules(const std::vector<Schedule>& schedules, const std::vector<std::int64_t>& boundaries) {
  if (schedules.size() != boundaries.size() + 1)
    raise<ValueError>("join_schedules: there are " + std::to_string(schedules.size()) + " schedules and " +
                      std::to_string(boundaries.size()) + " boundaries; give one boundary fewer than schedules");
  return [=](const Tensor& count) {
    Tensor value = schedules[0](count);
    for (std::size_t i = 0; i < boundaries.size(); ++i)
      value = where(lt(count, boundaries[i]), value, schedules[i + 1](count - boundaries[i]));
    return value;
  };
}

}  // namespace ricci::optim
