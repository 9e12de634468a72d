// Schedules: functions from the number of steps before this one to a number, such as a learning rate. The count is a
// 0-dim Tensor of integers. They compute in float64; init_value and the like may be Tensors with derivatives.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "ricci/tensor.h"

namespace ricci::optim {

using Schedule = std::function<Tensor(const Tensor& count)>;

/// A number, or a schedule: what an optimiser takes for its learning rate.
class Rate {
 public:
  Rate(double number) : value_(number), is_zero_(number == 0) {}
  Rate(const Tensor& number) : value_(number) {}
  template <class F, class = std::enable_if_t<std::is_invocable_r_v<Tensor, const F&, const Tensor&>>>
  Rate(F schedule) : schedule_(std::move(schedule)) {}

  Tensor at(const Tensor& count) const { return schedule_ ? schedule_(count) : value_; }
  bool is_zero() const { return is_zero_; }  ///< a plain 0: nothing need be computed

 private:
  Tensor value_;
  Schedule schedule_;
  bool is_zero_ = false;
};

struct CosineOptions {
  Tensor alpha = 0;     ///< what is left at the end, as a part of init_value
  Tensor exponent = 1;  ///< of the cosine
};
/// init_value ((1 - alpha) ((1 + cos(pi c / decay_steps)) / 2)^exponent + alpha) up to decay_steps, then what it is
/// there. ValueError unless decay_steps is positive.
Schedule cosine_decay(const Tensor& init_value, std::int64_t decay_steps, CosineOptions options = {});

struct WarmupCosineOptions {
  Tensor end_value = 0;
  Tensor exponent = 1;
};
/// A line from init_value to peak_value in warmup_steps, then a cosine to end_value until decay_steps, counted from the
/// start. ValueError unless decay_steps is above warmup_steps.
Schedule warmup_cosine(const Tensor& init_value, const Tensor& peak_value, std::int64_t warmup_steps,
                       std::int64_t decay_steps, WarmupCosineOptions options = {});

struct ExponentialOptions {
  std::int64_t transition_begin = 0;     ///< steps before it are not counted
  bool staircase = false;                ///< whole transitions only
  std::optional<double> end_value = {};  ///< a bound: from below where decay_rate < 1, else from above
};
/// init_value decay_rate^((c - transition_begin) / transition_steps); init_value throughout if transition_steps is not
/// positive or decay_rate is 0.
Schedule exponential_decay(const Tensor& init_value, std::int64_t transition_steps, double decay_rate,
                           ExponentialOptions options = {});

/// init_value, multiplied by each scale from its boundary on. ValueError if a scale is negative.
///   optim::piecewise(1e-2, {{100, 0.1}, {200, 0.1}})
Schedule piecewise(const Tensor& init_value, const std::map<std::int64_t, double>& boundaries_and_scales);

/// A line from init_value to end_value in transition_steps, from transition_begin on; init_value throughout if
/// transition_steps is not positive.
Schedule linear_schedule(const Tensor& init_value, const Tensor& end_value, std::int64_t transition_steps,
                         std::int64_t transition_begin = 0);

/// One schedule after the other: the next begins at its boundary, and counts from there. ValueError unless there is one
/// boundary fewer than schedules.
Schedule join_schedules(const std::vector<Schedule>& schedules, const std::vector<std::int64_t>& boundaries);

}  // namespace ricci::optim
