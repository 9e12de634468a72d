// while_loop and fori_loop.
#pragma once

#include <optional>
#include <tuple>
#include <utility>

#include "ricci/control/checks.h"
#include "ricci/control/cond.h"
#include "ricci/custom_derivatives.h"

namespace ricci {

namespace runs {
/// The length of a loop's segment number `index`: one longer than the last, or twice as long, and not beyond `most`
/// steps in all. ValueError where these are used up.
std::int64_t segment_length(const char* name, std::int64_t index, bool doubling, std::int64_t most);
}  // namespace runs

namespace call {

template <class R, class F, class... A>
constexpr bool returns() {
  if constexpr (takes<F, A...>) return std::is_same_v<result_t<F, A...>, R>;
  return false;
}

/// The state of fori_loop.
template <class S>
struct Counted {
  Tensor index, end;
  S state;
};
/// One step of fori_loop.
template <class B>
struct CountedStep {
  B body;
  template <class S>
  Counted<S> operator()(const Counted<S>& s) const {
    std::tuple<Tensor, S> arguments(s.index, s.state);
    return {s.index + 1, s.end, call::invoke(body, arguments)};
  }
};

/// A state, and what a loop carries beside it: the condition's answer, or the number of steps that were taken.
template <class S>
struct With {
  S state;
  Tensor beside;
};

/// The user's part of a loop's state. Errors name places in this part, and all values that are no Tensors are in it.
template <class S>
S& users_part(S& state) {
  return state;
}
template <class S>
auto& users_part(Counted<S>& counted) {
  return users_part(counted.state);
}
template <class S>
auto& users_part(With<S>& with) {
  return users_part(with.state);
}

template <class S>
void require_same_state(const char* name, S& before, S& after) {
  runs::require_same_state(name, walk(users_part(before)), walk(users_part(after)));
}

/// A recorded step also keeps the values that are no Tensors.
template <class S>
void require_same_after_step(const char* name, S& before, S& after) {
  require_same_state(name, before, after);
  runs::require_same_values(name, "a step begins and ends with", runs::kept_by_program, runs::erased(users_part(after)),
                            tree::copy_values(tree::values(users_part(before))));
}

/// The bound of a loop, which is known while the loop is recorded.
template <WholeNumber T>
Size size_of_bound(T bound) {
  if constexpr (Integer<T>) return host_index(bound);
  else return bound;
}

/// A user's condition made like this header's own: it takes a state that it may write to, and gives a boolean.
template <class C>
struct Condition {
  const char* name;
  C cond_fn;

  template <class S>
  Tensor operator()(const S& state) const {
    return runs::truth(name, on_copies(name, cond_fn, state));
  }
};

/// Numbers in a state get the dtypes that the first step gives them: the step is written down for its types alone.
template <class S, class Step, class... X>
void take_dtypes_of_step(const char* name, S& state, const Step& step, const X&... slices) {
  if (runs::has_numbers(walk(users_part(state)))) {
    std::optional<S> after;
    {
      function::ClosureRun shown(name, function::Runs::many);
      std::tuple<S, X...> arguments(state, slices...);
      shown.enter(walk(arguments));
      after.emplace(call::invoke(step, arguments));
    }
    runs::take_dtypes(walk(users_part(state)), walk(users_part(*after)));
  }
  runs::fix_dtypes(walk(state));
}

/// The loop as one operation of the program that is being recorded.
template <class C, class B, class S>
S record_loop(const char* name, const C& cond_fn, const B& body_fn, S state, const LoopOptions& options) {
  take_dtypes_of_step(name, state, body_fn);
  std::optional<Tensor> answer;
  std::optional<S> after;
  runs::Closure condition = function::write_down(name, cond_fn, std::tuple<S>(state), answer, function::Runs::many);
  runs::Closure body = function::write_down(name, body_fn, std::tuple<S>(state), after, function::Runs::many);
  require_same_after_step(name, state, *after);
  runs::run_recorded_loop({name, std::move(condition), std::move(body), options}, walk(state));
  return state;
}

/// The scan as one operation of the program that is being recorded. `slice` is like one of those of xs.
template <class R, class C, class X, class F>
R record_scan(const char* name, const F& step, C carry, X xs, X slice, const runs::ScanSteps& steps) {
  const auto one_step = [&](const C& c, const X& x) {
    std::tuple<C, X> arguments(c, x);
    auto [after, y] = call::invoke(step, arguments);
    return R(std::move(after), std::move(y));
  };
  take_dtypes_of_step(name, carry, [&](const C& c, const X& x) { return one_step(c, x).first; }, slice);
  std::optional<R> result;
  const runs::Closure closure =
      function::write_down(name, one_step, std::tuple<C, X>(carry, slice), result, function::Runs::many);
  require_same_after_step(name, carry, result->first);
  runs::run_recorded_scan(closure, steps, walk(carry), walk(xs), walk(result->second));
  return R(std::move(carry), std::move(result->second));
}

/// `advance(state, n)` is step number n of the examples that run.
template <class C, class B, class S>
S run_steps(const char* name, runs::Parting& parting, const C& cond_fn, const B& advance, S state) {
  const auto goes_on = [&] {
    const Tensor answer = cond_fn(state);
    if (!function::is_recorded(name, answer)) return parting.goes_on(answer, runs::erased(state, users_part(state)));
    state = advance.record(std::move(state));
    return false;
  };
  for (bool go = goes_on();;) {
    while (go) {
      S after = advance(state, parting.step());
      require_same_state(name, state, after);
      state = std::move(after);
      go = goes_on();
    }
    if (!parting.next(runs::erased(state, users_part(state)))) return state;
    go = parting.answer() != 0;
  }
}

/// The steps of a loop that keeps all of them.
template <class C, class B, class S>
struct EveryStep {
  const char* name;
  const C& cond_fn;
  const B& body_fn;
  std::int64_t max_steps;

  S operator()(const S& state, std::int64_t n) const {
    runs::require_below_limit(name, n, max_steps);
    return on_copies(name, body_fn, state);
  }
  S record(S state) const { return record_loop(name, cond_fn, body_fn, std::move(state), {.max_steps = max_steps}); }
};

/// Up to `steps` steps.
template <class C, class B, class S>
S bounded_steps(const char* name, const C& cond_fn, const B& body_fn, const S& state, std::int64_t steps) {
  using Bounded = With<S>;
  const auto below = [&](const Bounded& b) { return logical_and(cond_fn(b.state), lt(b.beside, steps)); };
  const auto step = [&](const Bounded& b) {
    std::tuple<S> shown(b.state);
    return Bounded{call::invoke(body_fn, shown), b.beside + 1};
  };
  const EveryStep<decltype(below), decltype(step), Bounded> advance{name, below, step, steps};
  runs::Parting parting(name, runs::DrawsFrom::around);
  return run_steps(name, parting, below, advance, Bounded{state, zeros({}, DType::int64)}).state;
}

/// A checkpoint of a part of a loop, which deals with what its functions capture.
template <class F>
Checkpoint<F> segment(F f) {
  return {.f = std::move(f), .may_capture = false};
}

/// Up to `steps` steps, of which reverse mode keeps a state for each halving.
template <class C, class B, class S>
S halved_steps(const char* name, const C& cond_fn, const B& body_fn, const S& state, std::int64_t steps) {
  if (steps == 1) return bounded_steps(name, cond_fn, body_fn, state, 1);
  return segment([=](const S& s) {
    return halved_steps(name, cond_fn, body_fn, halved_steps(name, cond_fn, body_fn, s, steps / 2), steps - steps / 2);
  })(state);
}

/// The segments of a loop, which grow, so that their number is as small as what each keeps.
template <class C, class B, class S>
struct Segments {
  const char* name;
  const C& cond_fn;
  const B& body_fn;
  const LoopOptions& options;

  S operator()(const S& state, std::int64_t n) const {
    const bool doubling = options.checkpoint == Checkpoints::log;
    const std::int64_t steps = runs::segment_length(name, n, doubling, options.max_steps);
    if (doubling) return halved_steps(name, cond_fn, body_fn, state, steps);
    return segment([name = name, cond_fn = cond_fn, body_fn = body_fn, steps](const S& first) {
      return bounded_steps(name, cond_fn, body_fn, first, steps);
    })(state);
  }
  S record(S state) const { return record_loop(name, cond_fn, body_fn, std::move(state), options); }
};

/// Keeps the condition's answer with the state. A segment begins with the state at which the one before it ended; even
/// so the condition is asked once for each state, as in a loop that keeps every step.
template <class C, class B, class S>
S loop_of_segments(const char* name, const C& cond_fn, const B& body_fn, S state, const LoopOptions& options) {
  using Asked = With<S>;
  const auto with_answer = [cond_fn](S s) {
    Tensor answer = cond_fn(s);
    return Asked{std::move(s), std::move(answer)};
  };
  const auto answer = [](const Asked& asked) { return asked.beside; };
  const auto step = [name, body = std::decay_t<B>(body_fn), with_answer](const Asked& asked) {
    S before = asked.state;
    std::tuple<S> shown(before);
    S after = call::invoke(body, shown);
    require_same_state(name, before, after);
    return with_answer(std::move(after));
  };
  runs::Parting parting(name);
  parting.may_part(walk(state));
  const Segments<decltype(answer), decltype(step), Asked> advance{name, answer, step, options};
  return run_steps(name, parting, answer, advance, with_answer(std::move(state))).state;
}

/// A loop over a number of steps that is known while it is recorded.
template <class B, class S>
S record_steps(const char* name, const Tensor& lo, Size steps, const B& body, const S& state) {
  using Counted = call::Counted<S>;
  using Nothing = std::tuple<>;
  const auto step = [&](const Counted& s, const Nothing&) {
    return std::pair{CountedStep<const B&>{body}(s), Nothing()};
  };
  const Counted first{to(lo, DType::int64), Tensor(), state};
  return record_scan<std::pair<Counted, Nothing>>(name, step, first, Nothing(), Nothing(), {.length = steps})
      .first.state;
}

template <class C, class B, class S>
S loop(const char* name, const C& cond_fn, const B& body_fn, S state, const LoopOptions& options) {
  static_assert(takes<B, S>, "ricci: the body of a loop must take the state as its one argument");
  static_assert(!takes<B, S> || returns<S, B, S>(), "ricci: the body of a loop must return the type of the state");
  if constexpr (!returns<S, B, S>()) {
    return state;  // refused above, in one sentence
  } else {
    if (function::is_recorded(name, walk(state))) return record_loop(name, cond_fn, body_fn, std::move(state), options);
    if constexpr (tree::can_hold_tensor<S>)
      if (options.checkpoint != Checkpoints::every_step)
        return function::with_captures([&] { return loop_of_segments(name, cond_fn, body_fn, state, options); },
                                       [&] { return record_loop(name, cond_fn, body_fn, state, options); });
    runs::Parting parting(name);
    const EveryStep<C, B, S> advance{name, cond_fn, body_fn, options.max_steps};
    return run_steps(name, parting, cond_fn, advance, std::move(state));
  }
}

}  // namespace call

/// `while (cond_fn(state)) state = body_fn(state)`; the state is one argument, any tree.
/// Under vmap each example takes as many steps as it needs: examples that are done leave the loop. Values in the state
/// that are no Tensors are shared by all examples: TransformError if they differ when examples leave (values of a type
/// without == are not compared). Under nested vmaps whose examples disagree in both, an outer example leaves when all
/// of its inner examples are done; outer examples whose inner examples leave at different steps run one by one. Every
/// differentiation goes through; reverse mode keeps what every step needs. A number in the state takes the dtype that
/// the first step gives it, of the same kind.
/// ValueError if the condition has more than one element, if the body changes the state's structure, shapes or dtypes,
/// or if more than `max_steps` are needed.
/// Where a program is recorded, condition and body run once, and numbers in the state become tensors. A step that
/// changes values that are no Tensors is a TransformError there, a condition that draws a NotImplementedError.
///   Tensor root = rc::while_loop([](Tensor x) { return abs(x * x - 2) > 1e-6; },
///                                [](Tensor x) { return (x + 2 / x) / 2; }, rc::tensor(1.));
template <class C, class B, class S>
auto while_loop(const C& cond_fn, const B& body_fn, const S& state, LoopOptions options = {}) {
  using State = std::decay_t<const S>;
  static_assert(call::takes<C, State>, "ricci: the condition of a loop must take the state as its one argument");
  if constexpr (call::takes<C, State>) {
    const call::Condition<std::decay_t<const C>> condition{"while_loop", cond_fn};
    return call::loop("while_loop", condition, body_fn, State(state), options);
  } else {
    return State(state);  // refused above, in one sentence
  }
}

/// `for (i = lo; i < hi; ++i) state = body(i, state)`: i is an int64 Tensor; the bounds, of one element, may differ per
/// example of a vmap. TypeError if a bound is no integer. ValueError if a bound has more elements, if the body changes
/// the state's shapes or dtypes, or if more than `max_steps` are needed. Otherwise as while_loop: the body returns the
/// state's type.
///   Tensor factorial = rc::fori_loop(1, 6, [](Tensor i, Tensor p) { return p * i; }, rc::tensor(1.));
template <class B, class S>
auto fori_loop(const Tensor& lo, const Tensor& hi, const B& body, const S& state, LoopOptions options = {}) {
  using State = std::decay_t<const S>;
  static_assert(call::takes<B, Tensor, State>, "ricci: the body of fori_loop must take the index and the state");
  static_assert(call::returns<State, B, Tensor, State>(),
                "ricci: the body of fori_loop must return the type of the state");
  if constexpr (call::returns<State, B, Tensor, State>()) {
    using Counted = call::Counted<State>;
    const auto below = [](const Counted& s) { return lt(s.index, s.end); };
    const call::CountedStep<std::decay_t<const B>> step{body};
    const Counted first{runs::whole_number("fori_loop", "the lower bound", lo),
                        runs::whole_number("fori_loop", "the upper bound", hi), state};
    return call::loop("fori_loop", below, step, first, options).state;
  } else {
    return state;  // refused above, in one sentence
  }
}

/// The same with numbers or sizes as bounds. A program that is being recorded gets a scan of that many steps.
template <class L, class H, class B, class S>
  requires WholeNumber<L> && WholeNumber<H>
auto fori_loop(const L& lo, const H& hi, const B& body, const S& state, LoopOptions options = {}) {
  using State = std::decay_t<const S>;
  const Size low = call::size_of_bound(lo), high = call::size_of_bound(hi);
  if constexpr (call::returns<State, B, Tensor, State>()) {
    State first = state;
    const bool keeps_all = options.checkpoint == Checkpoints::every_step;
    if (keeps_all && function::is_recorded("fori_loop", call::walk(first)))
      if (const std::optional<Size> steps = runs::known_length(low, high, options.max_steps))
        return call::record_steps("fori_loop", Tensor(low.host()), *steps, body, first);
  }
  return fori_loop(Tensor(low.host()), Tensor(high.host()), body, state, options);
}

}  // namespace ricci
