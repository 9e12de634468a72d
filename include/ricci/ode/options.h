// What ode_solve can be told.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <type_traits>
#include <vector>

#include "ricci/control/options.h"
#include "ricci/ode/solver.h"
#include "ricci/tensor.h"

namespace ricci::ode {

/// A number, such as a time; or a Tensor, which may have examples and derivatives: 0-dim, where it is a time.
struct Number {
  Tensor tensor;
  std::optional<double> number = {};  ///< of C++: a program that is recorded has it as a literal

  Number() = default;  ///< none
  template <class T>
    requires std::is_arithmetic_v<T>
  Number(T value) : tensor(value), number(static_cast<double>(value)) {}
  Number(const Tensor& value) : tensor(value) {}
};

/// How the next step's size follows from the errors e₁ (this step), e₂, e₃ (those accepted before it), each as a part
/// of the tolerance: size safety (1/e₁)^(β₁/order) (1/e₂)^(β₂/order) (1/e₃)^(β₃/order), with β₁ = p + i + d,
/// β₂ = -(p + 2 d), β₃ = d; within factor_min and factor_max. Söderlind, Digital filters in adaptive time-stepping, ACM
/// Trans. Math. Softw. 29, 2003. Stiff problems take fewer rejected steps with p = 0.4, i = 0.3.
struct StepSizes {
  double p = 0, i = 1, d = 0;
  double safety = 0.9, factor_min = 0.2, factor_max = 10;
};

/// Which change of sign counts.
enum class Crossing : std::uint8_t { any, rising, falling };

/// An event of solutions whose state is a Y. A solution ends where `condition(t, y)`, 0-dim and real, becomes 0: at the
/// first such time within a step at whose ends the signs differ. A step in which the sign changes twice may pass over
/// it.
///   ode::ode_solve(falls, start, 0, 10, {}, {{[](Tensor, Ball b) { return b.height; }, ode::Crossing::falling}})
template <class Y>
struct Event {
  std::function<Tensor(const Tensor& t, const Y& y)> condition;
  Crossing crossing = Crossing::any;
};

struct Options {
  Solver solver = Tsit5;
  /// A step is accepted where the root mean square of error / (atol + rtol |y|) is below 1; of each element, |y| is the
  /// greater of before and after. Numbers, or Tensors that broadcast against the elements of y, one leaf after the
  /// other. An implicit solver's iterations end where they change y by a hundredth of this, in constant steps too.
  Number rtol = 1e-3, atol = 1e-6;
  Number dt = {};  ///< constant steps of this size, the last one what is left; else steps follow from the tolerance
  Number first_step = {};  ///< the size of the first step; else it is found from f and its change
  Number max_step = {};    ///< no step is longer
  StepSizes step_sizes = {};
  /// Times, [n], in order from t0 to t1, at which the state is kept, as `ys`. Steps do not end there: values are those
  /// of the solver's polynomial between steps.
  Tensor save_at = {};
  std::int64_t max_steps = 100'000;  ///< rejected ones count
  /// What reverse mode keeps: every step, or states at some steps, from which the others are computed again.
  Checkpoints checkpoint = Checkpoints::every_step;
  /// An error of check_finite, in compiled functions too, where the status is not success.
  bool throw_on_failure = false;
};

}  // namespace ricci::ode
