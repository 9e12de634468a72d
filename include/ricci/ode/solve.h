// ode_solve: an ordinary differential equation from one time to another.
#pragma once

#include <type_traits>
#include <utility>
#include <vector>

#include "ricci/ode/options.h"
#include "ricci/transforms/call.h"

namespace ricci::ode {

/// What ode_solve gives: a tree. Y is the type of the state.
template <class Y>
struct Solution {
  Tensor t;         ///< the time that was reached: t1, or earlier where an event or a failure ended it
  Y y;              ///< the state there
  Tensor ts;        ///< `save_at`; [0] without
  Y ys;             ///< the states there, with a first axis of as many; NaN for times that were not reached
  Tensor event;     ///< which event ended it, int64; -1: none
  Tensor status;    ///< `success`, or why it ended; int64
  Tensor steps;     ///< accepted steps, int64
  Tensor rejected;  ///< steps that were tried and not accepted, int64
};

namespace runs {
/// The equation y' = f(t, y), of a state without its C++ type. `y` and `ys` of the solution are the trees.
Solution<tree::AnyTree> ode_solve(const tree::AnyFunction& f, const tree::AnyTree& y0, const Number& t0,
                                  const Number& t1, const Options& options,
                                  const std::vector<Event<tree::AnyTree>>& events);
}  // namespace runs

/// What a state is kept as: a number as a Tensor.
template <class Y>
using state_t = std::conditional_t<std::is_arithmetic_v<Y>, Tensor, tree::plain_t<Y>>;

/// A start as a state: a number is a double.
template <class Y>
tree::AnyTree start_of(const Y& y0) {
  if constexpr (std::is_arithmetic_v<Y>) return tree::any(Tensor(static_cast<double>(y0)));
  else return tree::any(state_t<Y>(y0));
}

/// A function of time and state that gives the state's derivative.
template <class State, class F>
tree::AnyFunction slope_function(const F& f) {
  static_assert(call::takes<F, Tensor, State>,
                "ricci: the function of a differential equation must take the time and the state");
  constexpr bool fits = std::is_convertible_v<call::result_t<F, Tensor, State>, State>;
  static_assert(
      !call::takes<F, Tensor, State> || fits,
      "ricci: the function of a differential equation must return a tree of the state's type: its derivative");
  return call::kept_function<State, Tensor, State>(f);
}

/// The solution with its C++ type again.
template <class State>
Solution<State> of_type(Solution<tree::AnyTree> found) {
  return {found.t,     std::move(found.y).template take<State>(),
          found.ts,    std::move(found.ys).template take<State>(),
          found.event, found.status,
          found.steps, found.rejected};
}

/// The solution of y' = f(t, y), y(t0) = y0 up to t1, which may be before t0. y0: any tree of floating or complex
/// Tensors; integers and values that are no Tensors stay as they are. `f(t, y)` gives a tree like y; its t is 0-dim, in
/// y's real dtype. Times are counted in float64.
/// Under vmap each example takes its own steps and leaves when it is done. Derivatives by y0, t0, t1 and all that f
/// captures go through the solver's steps, whose sizes count as constants; the time of an event has its own.
/// Under derivatives f runs twice for each step that goes by tolerance; in recorded programs in which t0 or t1 is a
/// Tensor without them too.
/// The status is `not_finite` if t0, t1 or a Tensor `dt` is NaN, or this is not positive.
/// ValueError if f gives another structure or other shapes, if the solver has no estimate of its error and there is no
/// `dt`, if `save_at` is no vector, if a number for `dt`, `first_step` or `max_step` is not positive. TypeError if f
/// gives a dtype that y's does not hold, if y0 has no unknowns (ricci/tree/unknowns.h), or if the state is complex and
/// the solver implicit.
///   auto solution = ode::ode_solve([](Tensor, Tensor y) { return -y; }, 1.0, 0, 2, {.rtol = 1e-6});
///   solution.y                                                                                   // 0.135335 f64[]
template <class F, class Y>
Solution<state_t<Y>> ode_solve(const F& f, const Y& y0, const Number& t0, const Number& t1, const Options& options = {},
                               const std::vector<Event<state_t<Y>>>& events = {}) {
  using State = state_t<Y>;
  std::vector<Event<tree::AnyTree>> any_events;
  for (const auto& [condition, crossing] : events)
    any_events.push_back(
        {[condition](const Tensor& t, const tree::AnyTree& y) { return condition(t, y.as<State>()); }, crossing});
  return of_type<State>(runs::ode_solve(slope_function<State>(f), start_of(y0), t0, t1, options, any_events));
}

}  // namespace ricci::ode
