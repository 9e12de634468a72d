// while_loop and fori_loop, of states and functions without C++ types.
#include "ricci/control/loops.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "control/loop.h"
#include "control/parting.h"
#include "custom/captures.h"
#include "custom/checkpoint.h"
#include "ricci/control/cond.h"
#include "ricci/ops.h"
#include "tensor/thread_context.h"

namespace ricci::runs {
namespace {

using function::Arguments, function::Runs;
using tree::AnyFunction, tree::AnyTree;

void require_same_users(const char* name, const LoopState& before, const LoopState& after) {
  require_same_state(name, call::walk(before.users), call::walk(after.users));
}

/// The loop as one operation of the program that is being recorded.
LoopState record_loop(const Loop& loop, LoopState state, const function::Steps& steps) {
  take_dtypes_of_step(loop.name, state, loop.step);
  std::optional<Tensor> answer;
  std::optional<LoopState> after;
  const std::tuple<LoopState> arguments(state);
  Closure condition = function::write_down(loop.name, loop.goes_on, arguments, answer, Runs::many, &steps);
  Closure body = function::write_down(loop.name, loop.step, arguments, after, Runs::many, &steps);
  require_same_after_step(loop.name, state, *after);
  run_recorded_loop({loop.name, std::move(condition), std::move(body), loop.options}, call::walk(state));
  return state;
}

/// Step number n of the examples that run.
using Advance = std::function<LoopState(const LoopState& state, std::int64_t n)>;

LoopState run_steps(const Loop& loop, Parting& parting, const Advance& advance, LoopState state) {
  const auto goes_on = [&] {
    const Tensor answer = loop.goes_on(state);
    if (!function::is_recorded(loop.name, answer)) return parting.goes_on(answer, erased(state));
    state = record_loop(loop, std::move(state), parting.rest());
    return false;
  };
  for (bool go = goes_on();;) {
    while (go) {
      LoopState after = advance(state, parting.step());
      require_same_users(loop.name, state, after);
      state = std::move(after);
      go = goes_on();
    }
    if (!parting.next(erased(state))) return state;
    go = parting.answer() != 0;
  }
}

/// The steps of a loop that keeps all of them.
LoopState every_step(const Loop& loop, Parting& parting, LoopState state) {
  const auto advance = [&](LoopState s, std::int64_t n) {
    require_below_limit(loop.name, n, loop.options.max_steps);
    function::own_cells(loop.name, call::walk(s));
    return loop.step(std::move(s));
  };
  return run_steps(loop, parting, advance, std::move(state));
}

/// Up to `steps` steps, from number `first` on.
LoopState bounded_steps(const Loop& loop, LoopState state, std::int64_t first, std::int64_t steps) {
  const auto below = [&](const LoopState& s) { return logical_and(loop.goes_on(s), lt(s.steps, steps)); };
  const auto step = [&](LoopState s) {
    const Tensor taken = s.steps;
    LoopState after = loop.step(std::move(s));
    after.steps = taken + 1;
    return after;
  };
  state.steps = zeros({}, DType::int64);
  Parting parting(loop.name, DrawsFrom::around, static_cast<std::uint64_t>(first));
  LoopState after = every_step({loop.name, below, step, {.max_steps = steps}}, parting, std::move(state));
  after.steps = Tensor();
  return after;
}

/// A part of a loop as a checkpoint. Whoever runs the loop deals with what its functions capture. A step that is
/// computed again prints nothing, as where every step is kept.
LoopState segment(const std::function<LoopState(LoopState)>& f, const LoopState& state) {
  const auto says_once = [f, was_run = std::make_shared<bool>(false)](const LoopState& s) {
    const bool is_again = std::exchange(*was_run, true);
    const With<&ThreadContext::lines_printed> printed(is_again ? ThreadContext::all_lines : this_thread.lines_printed);
    return f(s);
  };
  const AnyFunction steps = call::kept_function<LoopState, LoopState>(says_once);
  return checkpointed(steps, call::any_list(state), function::Captures::caller).take<LoopState>();
}

/// The same; reverse mode keeps a state for each halving.
LoopState halved_steps(const Loop& loop, const LoopState& state, std::int64_t first, std::int64_t steps) {
  if (steps == 1) return bounded_steps(loop, state, first, 1);
  const auto halves = [loop, first, steps](const LoopState& s) {
    return halved_steps(loop, halved_steps(loop, s, first, steps / 2), first + steps / 2, steps - steps / 2);
  };
  return segment(halves, state);
}

/// How many steps a loop takes in the segments before number `index`.
std::int64_t steps_before_segment(std::int64_t index, bool doubling) {
  constexpr std::int64_t last_doubling = 62;
  return doubling ? (std::int64_t{1} << std::min(index, last_doubling)) - 1 : index * (index + 1) / 2;
}

/// The loop in segments, which grow, so that their number is as small as what each keeps. The condition's answer is
/// kept with the state. A segment begins with the state at which the one before it ended; even so the condition is
/// asked once for each state, as in a loop that keeps every step.
LoopState loop_of_segments(const Loop& loop, LoopState state) {
  const auto with_answer = [goes_on = loop.goes_on](LoopState s) {
    s.answer = goes_on(s);
    return s;
  };
  const auto step = [name = loop.name, body = loop.step, with_answer](const LoopState& before) {
    LoopState after = body(before);
    require_same_users(name, before, after);
    return with_answer(std::move(after));
  };
  const Loop asked{loop.name, [](const LoopState& s) { return s.answer; }, step, loop.options};
  const auto advance = [&](const LoopState& s, std::int64_t n) {
    const bool doubling = loop.options.checkpoint == Checkpoints::log;
    const std::int64_t steps = segment_length(loop.name, n, doubling, loop.options.max_steps);
    const std::int64_t first = steps_before_segment(n, doubling);
    if (doubling) return halved_steps(asked, s, first, steps);
    return segment([=](const LoopState& begin) { return bounded_steps(asked, begin, first, steps); }, s);
  };
  Parting parting(loop.name, DrawsFrom::segments);
  LoopState after = run_steps(asked, parting, advance, with_answer(std::move(state)));
  after.answer = Tensor();
  return after;
}

/// A function that a loop may call as long as it keeps states to go on from.
AnyFunction usable(const AnyFunction& f, const LoopOptions& options) {
  return options.checkpoint == Checkpoints::every_step ? f : f.kept();
}

/// One step of fori_loop.
LoopState counted_step(const AnyFunction& body, LoopState s) {
  Tensor next = s.index + 1;
  AnyTree after = body(call::any_list(s.index, std::move(s.users)));
  return {.index = std::move(next), .end = s.end, .users = std::move(after)};
}

}  // namespace

AnyTree run_loop(const Loop& loop, LoopState state) {
  const auto recorded = [&](StreamScope& own) { return record_loop(loop, state, {own.streams()}); };
  if (function::is_recorded(loop.name, call::walk(state))) {
    StreamScope own{StreamScope::Branch()};
    return recorded(own).users;
  }
  const bool holds_tensors = state.index.defined() || !call::walk(state.users).leaves.empty();
  if (loop.options.checkpoint != Checkpoints::every_step && holds_tensors) {
    if (loop.is_written_down) return loop_of_segments(loop, state).users;
    StreamScope own{StreamScope::Branch{.apart = may_part(call::walk(state))}};
    return function::with_captures([&] { return loop_of_segments(loop, state); }, [&] { return recorded(own); }).users;
  }
  Parting parting(loop.name);
  return every_step(loop, parting, std::move(state)).users;
}

std::int64_t segment_length(const char* name, std::int64_t index, bool doubling, std::int64_t most) {
  const std::int64_t done = steps_before_segment(index, doubling);
  require_below_limit(name, done, most);
  return std::min(most - done, doubling ? done + 1 : index + 1);
}

void take_dtypes_of_step(const char* name, LoopState& state, const std::function<LoopState(LoopState)>& step) {
  if (has_numbers(call::walk(state.users))) {
    LoopState after;
    {
      const Recorder scratch(name, Records::step, {.name = name});
      LoopState before = state;
      scratch.show(call::walk(before).leaves);
      after = step(std::move(before));
    }
    take_dtypes(call::walk(state.users), call::walk(after.users));
  }
  fix_dtypes(call::walk(state));
}

void require_same_after_step(const char* name, const LoopState& before, const LoopState& after) {
  require_same_users(name, before, after);
  require_same_values(name, "a step begins and ends with", kept_by_program, erased(after.users),
                      tree::copy_values(tree::values(before.users)));
}

ErasedTree erased(LoopState& state) {
  return {.tensors = call::walk(state), .values = tree::values(state.users), .shown = &state.users};
}

AnyTree while_loop(const AnyFunction& condition, const AnyFunction& body, AnyTree state, const LoopOptions& options) {
  static constexpr const char* name = "while_loop";
  const auto goes_on = [f = usable(condition, options)](const LoopState& s) {
    const Tensor answer = function::on_copies(name, f, call::any_list(s.users)).take<Tensor>();
    const Tensor is_true = truth(name, answer);
    require_no_floats(name, type_of(answer));
    return is_true;
  };
  const auto step = [f = usable(body, options)](LoopState s) {
    return LoopState{.users = f(call::any_list(std::move(s.users)))};
  };
  return run_loop({name, goes_on, step, options}, {.users = std::move(state)});
}

AnyTree fori_loop(const Tensor& lo, const Tensor& hi, const AnyFunction& body, AnyTree state,
                  const LoopOptions& options) {
  static constexpr const char* name = "fori_loop";
  const auto below = [](const LoopState& s) { return lt(s.index, s.end); };
  const auto step = [f = usable(body, options)](LoopState s) { return counted_step(f, std::move(s)); };
  LoopState first{.users = std::move(state)};
  first.index = whole_number(name, "the lower bound", lo);
  first.end = whole_number(name, "the upper bound", hi);
  return run_loop({name, below, step, options}, std::move(first));
}

AnyTree fori_loop(const Size& lo, const Size& hi, const AnyFunction& body, AnyTree state, const LoopOptions& options) {
  static constexpr const char* name = "fori_loop";
  const bool keeps_all = options.checkpoint == Checkpoints::every_step;
  if (keeps_all && function::is_recorded(name, call::walk(state)))
    if (const std::optional<Size> steps = known_length(lo, hi, options.max_steps)) {
      const ScanStep step = [&](LoopState s, const AnyTree&) {
        return std::pair{counted_step(body, std::move(s)), AnyTree()};
      };
      LoopState first{.index = to(Tensor(lo.host()), DType::int64), .users = std::move(state)};
      return record_scan(name, step, std::move(first), AnyTree(), AnyTree(), {.length = steps}).first.users;
    }
  return fori_loop(Tensor(lo.host()), Tensor(hi.host()), body, std::move(state), options);
}

}  // namespace ricci::runs
