// while_loop and fori_loop.
#pragma once

#include <optional>
#include <tuple>
#include <utility>

#include "ricci/control/cond.h"
#include "ricci/custom_derivatives.h"

namespace ricci {

namespace runs {
/// Throws ValueError unless `after` has the structure, shapes and dtypes of `before`: the state of a loop keeps its type.
void require_same_state(const char* name, const tree::Walk& before, const tree::Walk& after);
/// Gives every leaf a cell of its own with the same value: what a step writes to its arguments stays in the step.
void own_cells(const tree::Walk& leaves);
/// Counts the steps of a loop; throws at the limit.
class StepLimit {
 public:
  StepLimit(const char* name, std::int64_t most) : name_(name), left_(most), most_(most) {}
  void step() {
    if (left_-- <= 0) refuse();
  }

 private:
  [[noreturn]] void refuse() const;
  const char* name_;
  std::int64_t left_, most_;
};
/// The lengths of a loop's segments, one longer than the last or twice as long; throws where all steps are used up.
class Segments {
 public:
  Segments(const char* name, bool doubling, std::int64_t most)
      : doubling(doubling), name_(name), left_(most), most_(most) {}
  std::int64_t next();

  const bool doubling;

 private:
  const char* name_;
  std::int64_t last_ = 0, left_, most_;
};
}  // namespace runs

namespace call {

/// The loop as one operation of the program that is being recorded.
template <class C, class B, class S>
S record_loop(const char* name, const C& cond_fn, const B& body_fn, S state, const LoopOptions& options) {
  runs::fix_dtypes(walk(state));
  const auto goes_on = [&](const S& s) {
    std::tuple<S> shown(s);
    return runs::truth(name, call::invoke(cond_fn, shown));
  };
  std::optional<Tensor> answer;
  std::optional<S> after;
  runs::Closure condition = function::write_down(name, goes_on, std::tuple<S>(state), answer, function::Runs::many);
  runs::Closure body = function::write_down(name, body_fn, std::tuple<S>(state), after, function::Runs::many);
  runs::require_same_state(name, walk(state), walk(*after));
  runs::run_recorded_loop({std::move(condition), std::move(body), options}, walk(state));
  return state;
}

template <class C, class B, class S>
S while_loop(const char* name, const C& cond_fn, const B& body_fn, S state, std::int64_t max_steps) {
  runs::Parting parting(name);
  runs::StepLimit limit(name, max_steps);
  const auto goes_on = [&] {
    std::tuple<S> shown(state);
    const Tensor answer = runs::truth(name, call::invoke(cond_fn, shown));
    if (!runs::is_decided_later(answer)) return parting.ask(answer, walk(state)) != 0;
    state = record_loop(name, cond_fn, body_fn, std::move(state), {.max_steps = max_steps});
    return false;
  };
  for (bool go = goes_on();;) {
    while (go) {
      limit.step();
      std::tuple<S> shown(state);
      runs::own_cells(walk(shown));
      S after = call::invoke(body_fn, shown);
      runs::require_same_state(name, walk(state), walk(after));
      state = std::move(after);
      go = goes_on();
    }
    if (!parting.next(walk(state))) return state;
    go = parting.answer() != 0;
  }
}

/// Up to `steps` steps.
template <class C, class B, class S>
S bounded_steps(const char* name, const C& cond_fn, const B& body_fn, const S& state, std::int64_t steps) {
  using Counted = std::pair<S, Tensor>;
  const auto below = [&](const Counted& c) {
    std::tuple<S> shown(c.first);
    return logical_and(runs::truth(name, call::invoke(cond_fn, shown)), lt(c.second, steps));
  };
  const auto step = [&](const Counted& c) {
    std::tuple<S> shown(c.first);
    return Counted(call::invoke(body_fn, shown), c.second + 1);
  };
  return while_loop(name, below, step, Counted(state, zeros({}, DType::int64)), steps).first;
}

/// Up to `steps` steps, of which reverse mode keeps a state for each halving.
template <class C, class B, class S>
S halved_steps(const char* name, const C& cond_fn, const B& body_fn, const S& state, std::int64_t steps) {
  if (steps == 1) return bounded_steps(name, cond_fn, body_fn, state, 1);
  return checkpoint([=](const S& s) {
    return halved_steps(name, cond_fn, body_fn, halved_steps(name, cond_fn, body_fn, s, steps / 2), steps - steps / 2);
  })(state);
}

/// A loop of segments that grow, so that their number is as small as what each keeps.
template <class C, class B, class S>
S while_loop(const char* name, const C& cond_fn, const B& body_fn, S state, const LoopOptions& options) {
  static_assert(takes<C, S>, "ricci: the condition of a loop must take the state as its one argument");
  static_assert(takes<B, S>, "ricci: the body of a loop must take the state as its one argument");
  static_assert(std::is_same_v<result_t<B, S>, S>, "ricci: the body of a loop must return the type of the state");
  if (function::is_recorded(walk(state))) return record_loop(name, cond_fn, body_fn, std::move(state), options);
  if (options.checkpoint == Checkpoints::every_step)
    return while_loop(name, cond_fn, body_fn, state, options.max_steps);
  std::tuple<S> shown(state);
  if (runs::is_decided_later(runs::truth(name, call::invoke(cond_fn, shown))))
    return record_loop(name, cond_fn, body_fn, std::move(state), options);
  runs::Segments segments(name, options.checkpoint == Checkpoints::log, options.max_steps);
  const auto segment = [&](const S& s) {
    const std::int64_t steps = segments.next();
    if (segments.doubling) return halved_steps(name, cond_fn, body_fn, s, steps);
    return checkpoint([=](const S& first) { return bounded_steps(name, cond_fn, body_fn, first, steps); })(s);
  };
  return while_loop(name, cond_fn, segment, state, options.max_steps);
}

}  // namespace call

/// `while (cond_fn(state)) state = body_fn(state)`; the state is one argument, any tree. Under vmap each example takes as
/// many steps as it needs: those that are done leave the loop. Every differentiation goes through; reverse mode keeps what
/// every step needs. ValueError if the body changes the state's shapes or dtypes, or at `max_steps`. Where a program is
/// recorded, condition and body run once, numbers in the state become tensors, what is no Tensor in it stays as it was,
/// and a condition that draws is a NotImplementedError.
///   Tensor root = rc::while_loop([](Tensor x) { return abs(x * x - 2) > 1e-6; },
///                                [](Tensor x) { return (x + 2 / x) / 2; }, rc::tensor(1.));
template <class C, class B, class S>
auto while_loop(const C& cond_fn, const B& body_fn, const S& state, LoopOptions options = {}) {
  return call::while_loop("while_loop", cond_fn, body_fn, std::decay_t<const S>(state), options);
}

/// `for (i = lo; i < hi; ++i) state = body(i, state)`: i is an int64 Tensor; the bounds may be Tensors and differ per
/// example of a vmap.
///   Tensor factorial = rc::fori_loop(1, 6, [](Tensor i, Tensor p) { return p * i; }, rc::tensor(1.));
template <class B, class S>
auto fori_loop(const Tensor& lo, const Tensor& hi, const B& body, const S& state, LoopOptions options = {}) {
  using State = std::decay_t<const S>;
  static_assert(call::takes<B, Tensor, State>, "ricci: the body of fori_loop must take the index and the state");
  struct Counted {
    Tensor index, end;
    State state;
  };
  const auto below = [](const Counted& s) { return lt(s.index, s.end); };
  const auto step = [body](const Counted& s) {
    std::tuple<Tensor, State> arguments(s.index, s.state);
    return Counted{s.index + 1, s.end, call::invoke(body, arguments)};
  };
  const Counted first{to(lo, DType::int64), to(hi, DType::int64), state};
  return call::while_loop("fori_loop", below, step, first, options).state;
}

}  // namespace ricci
