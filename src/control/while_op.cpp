// A loop of unknown length as an operation whose parameters are the programs of its condition and body. In a recorded
// program forward mode and vmap of one are such loops: with tangents as part of the state, and with the state of all
// examples, which go on together until the last one is done.
#include <functional>
#include <optional>

#include "control/operands.h"
#include "control/rows.h"
#include "custom/derived.h"
#include "ops/axes.h"
#include "program/roles.h"
#include "ricci/control.h"
#include "ricci/primitive/raise.h"

namespace ricci::runs {
namespace {

using function::Runs;

/// The condition or the body of a recorded loop, a function of the state: what it captured follows it there, or is
/// held.
struct StateFunction {
  Program program;
  std::size_t taken;     // of the state, from its front
  std::size_t captured;  // where its captures begin, among all inputs of the loop
  State held;            // of these inputs, what does not come with the state; the others are undefined

  State operator()(const State& state) const {
    State inputs(state.begin(), state.begin() + static_cast<std::ptrdiff_t>(taken));
    for (std::size_t i = captured; inputs.size() < program.inputs(); ++i)
      inputs.push_back(held[i].defined() ? held[i] : state[i]);
    return program(inputs);
  }
};

/// The captures that the loop's functions may hold instead of carrying them in the state. Where every step is kept:
/// all. Between checkpoints a function sees only its arguments: then only numbers, since a state would give them a
/// dtype.
State held_of(std::span<const Tensor> inputs, std::size_t carried, bool all) {
  State held(inputs.size());
  for (std::size_t i = carried; i < inputs.size(); ++i)
    if (all || (type_of(inputs[i]).weak && value_of(inputs[i])->level == 0)) held[i] = inputs[i];
  return held;
}

/// Inputs: the state, the streams that the body draws from, then what the condition captures, then what the body does.
struct WhileLoop {
  using kind = Custom;
  static constexpr const char* name = "while_loop";
  static constexpr bool transparent = true;
  Program condition, body;
  std::int64_t streams;
  std::int64_t max_steps;
  Checkpoints checkpoint;

  Roles roles(std::size_t count) const;
  Types type(const Types& inputs) const;
  bool draws() const { return ricci::draws(body); }
  Tensors call(std::span<const Tensor> inputs) const;
  Pushed jvp(std::span<const Tensor> inputs, std::span<const Tensor> tangents) const;
  BatchedOutputs batch(const Batch& batch) const;
  Kept keep(std::span<const Tensor> inputs, const Mask&) const {
    return keep_by_calling({&rules_of<WhileLoop>, this}, inputs);
  }
  Tensors vjp(const Reverse& rule) const { return vjp_by_calling({&rules_of<WhileLoop>, this}, rule); }

 private:
  std::size_t leaves() const { return carried() - static_cast<std::size_t>(streams); }
  std::size_t carried() const { return body.body().outputs.size(); }
  /// Which of the inputs are the condition's, and the body's.
  std::vector<std::size_t> of_condition() const;
  std::vector<std::size_t> of_body() const;

  /// What a loop made from this one carries: more of a state, and streams that follow these.
  struct Carried {
    State state, streams;
  };
  /// What the first step of a loop begins with whose step was derived from the body.
  Carried first_of(std::span<const Tensor> inputs, const Closure& step) const {
    const auto state_end = inputs.begin() + static_cast<std::ptrdiff_t>(leaves());
    Carried first{{inputs.begin(), state_end}, {state_end, state_end + streams}};
    first.streams.insert(first.streams.end(), step.streams.begin(), step.streams.end());
    return first;
  }
  /// A step that was derived from the body, which takes `more` behind what the body captured.
  Carried advance(const Closure& step, const Carried& now, const State& captured, const State& more) const;
  State first_leaves(const State& state) const {
    return {state.begin(), state.begin() + static_cast<std::ptrdiff_t>(leaves())};
  }
  State captured_by_condition(std::span<const Tensor> inputs) const {
    const auto captured = inputs.subspan(carried(), condition.inputs() - leaves());
    return {captured.begin(), captured.end()};
  }
  /// Whether steps leave this part of the state as it is.
  bool is_constant(std::size_t i) const { return body.body().outputs[i] == body.body().inputs[i]; }

  using Condition = std::function<Tensor(const State&)>;
  using Body = std::function<Carried(const Carried&)>;
  /// The loop of these functions, written down with what they capture: the state after it.
  Tensors apply_loop(const Carried& first, const Condition& goes_on, const Body& step) const;
};

std::vector<std::size_t> WhileLoop::of_condition() const {
  std::vector<std::size_t> own;
  for (std::size_t i = 0; i < leaves(); ++i) own.push_back(i);
  for (std::size_t i = carried(); own.size() < condition.inputs(); ++i) own.push_back(i);
  return own;
}

std::vector<std::size_t> WhileLoop::of_body() const {
  std::vector<std::size_t> own;
  for (std::size_t i = 0; i < carried(); ++i) own.push_back(i);
  for (std::size_t i = carried() + condition.inputs() - leaves(); own.size() < body.inputs(); ++i) own.push_back(i);
  return own;
}

Roles WhileLoop::roles(std::size_t count) const {
  require_between(0, streams, static_cast<std::int64_t>(carried()));
  return checked({{"state", leaves()},
                  {"streams", static_cast<std::size_t>(streams)},
                  {"condition", captures(condition, leaves())},
                  {"body", captures(body, carried())}},
                 count);
}

[[maybe_unused]] const bool named = name_operands<WhileLoop>();

Types WhileLoop::type(const Types& inputs) const {
  roles(inputs.size());
  const Types types = output_types(body);
  require_between(1, std::ssize(output_types(condition)), 1);
  return {types.begin(), types.end() - streams};
}

Tensors WhileLoop::call(std::span<const Tensor> inputs) const {
  // Between checkpoints the functions see their arguments alone.
  const bool holds = checkpoint == Checkpoints::every_step;
  const std::size_t carried = this->carried();
  const State held = held_of(inputs, carried, holds);
  const StateFunction answer{condition, leaves(), carried, held};
  const StateFunction advance{body, carried, carried + condition.inputs() - leaves(), held};
  const auto goes_on = [answer](const State& s) { return truth(name, answer(s)[0]); };
  const auto step = [advance, carried](const State& s) {
    State after = advance(s);
    after.insert(after.end(), s.begin() + static_cast<std::ptrdiff_t>(carried), s.end());
    return after;
  };
  const std::span<const Tensor> first = holds ? inputs.first(carried) : inputs;
  const State last = call::loop(name, goes_on, step, State(first.begin(), first.end()),
                                LoopOptions{.max_steps = max_steps, .checkpoint = checkpoint});
  return {last.begin(), last.begin() + static_cast<std::ptrdiff_t>(leaves())};
}

Tensors WhileLoop::apply_loop(const Carried& first, const Condition& goes_on, const Body& step) const {
  const auto both = [](const Carried& carried) {
    State all = carried.state;
    all.insert(all.end(), carried.streams.begin(), carried.streams.end());
    return all;
  };
  const auto step_of_both = [&](const State& shown) {
    const auto streams_begin = shown.begin() + std::ssize(first.state);
    return both(step({{shown.begin(), streams_begin}, {streams_begin, shown.end()}}));
  };
  std::optional<Tensor> answer;
  std::optional<State> after;
  const Closure condition_again =
      function::write_down(name, goes_on, std::tuple<State>(first.state), answer, Runs::many);
  const Closure body_again =
      function::write_down(name, step_of_both, std::tuple<State>(both(first)), after, Runs::many);

  Tensors inputs;
  for (const State* more :
       {&first.state, &first.streams, &body_again.streams, &condition_again.captured, &body_again.captured})
    inputs.append(more->begin(), more->end());
  return apply(WhileLoop{.condition = condition_again.program,
                         .body = body_again.program,
                         .streams = std::ssize(first.streams) + std::ssize(body_again.streams),
                         .max_steps = max_steps,
                         .checkpoint = checkpoint},
               inputs);
}

WhileLoop::Carried WhileLoop::advance(const Closure& step, const Carried& now, const State& captured,
                                      const State& more) const {
  const auto own = static_cast<std::ptrdiff_t>(leaves());
  State inputs(now.state.begin(), now.state.begin() + own);
  const auto add = [&inputs](auto from, auto to) { inputs.insert(inputs.end(), from, to); };
  add(now.streams.begin(), now.streams.begin() + streams);
  add(captured.begin(), captured.end());
  add(now.state.begin() + own, now.state.end());
  add(more.begin(), more.end());
  add(now.streams.begin() + streams, now.streams.end());
  add(step.captured.begin(), step.captured.end());
  const State found = step.program(inputs);
  const auto drawn = found.begin() + own, beyond = drawn + streams,
             drawn_beyond = beyond + (std::ssize(now.state) - own);
  Carried after{{found.begin(), drawn}, {drawn, beyond}};
  after.state.insert(after.state.end(), beyond, drawn_beyond);
  after.streams.insert(after.streams.end(), drawn_beyond, found.end());
  return after;
}

Pushed WhileLoop::jvp(std::span<const Tensor> inputs, std::span<const Tensor> tangents) const {
  const std::vector<std::size_t> own = of_body();
  Flags active = chosen(defined_among(tangents), own);
  const auto derived = until_stable(active, leaves(), carried(), [&](const Flags& at_least) {
    return function::pushed(body, active, at_least, Runs::many);
  });
  Carried first = first_of(inputs, derived.closure);
  for (std::size_t i = 0; i < leaves(); ++i)
    if (active[i]) first.state.push_back(tangents[i].defined() ? tangents[i] : zeros_of(type_of(inputs[i])));
  State captured, captured_tangents;
  for (std::size_t k = carried(); k < own.size(); ++k) {
    captured.push_back(inputs[own[k]]);
    if (active[k]) captured_tangents.push_back(tangents[own[k]]);
  }
  const Tensors found = apply_loop(
      first, [&](const State& state) { return run(condition, first_leaves(state), captured_by_condition(inputs))[0]; },
      [&](const Carried& now) { return advance(derived.closure, now, captured, captured_tangents); });
  const Flags has(active.begin(), active.begin() + static_cast<std::ptrdiff_t>(leaves()));
  return paired({&rules_of<WhileLoop>, this}, inputs, tangents, found, has);
}

/// Where examples answer differently, those that are done stay as they are, and their rows are filled before each step.
BatchedOutputs WhileLoop::batch(const Batch& batch) const {
  const MappedExamples examples(batch);
  const std::vector<std::size_t> own = of_body(), asked = of_condition();
  const Flags given = flags_of(batch.mapped, batch.inputs.size());
  Flags is_mapped = chosen(given, own), answer_is_mapped = chosen(given, asked);
  function::Derived step, answer;
  for (bool stays_one = true;;) {
    step = until_stable(is_mapped, leaves(), carried(), [&](const Flags& at_least) {
      return function::mapped(body, is_mapped, at_least, examples, Runs::many);
    });
    for (std::size_t i = 0; i < leaves(); ++i) answer_is_mapped[i] = is_mapped[i];
    answer = function::mapped(condition, answer_is_mapped, Flags(1, false), examples, Runs::many);
    if (!stays_one || !answer.outputs[0]) break;
    stays_one = false;
    for (std::size_t i = 0; i < leaves(); ++i) is_mapped[i] = is_mapped[i] || !is_constant(i);
  }
  const bool differs = answer.outputs[0];
  Carried first = first_of(batch.inputs, step.closure);
  for (std::size_t i = 0; i < leaves(); ++i)
    if (is_mapped[i]) first.state[i] = batch.input(static_cast<int>(i));
  State captured;
  for (std::size_t k = carried(); k < own.size(); ++k) captured.push_back(batch.inputs[own[k]]);
  const Condition ask = [&](const State& state) {
    State inputs = captured_by_condition(batch.inputs);
    inputs.insert(inputs.end(), answer.closure.captured.begin(), answer.closure.captured.end());
    const Tensor found = run(answer.closure.program, first_leaves(state), inputs)[0];
    if (!differs) return found;
    return one_for_each(type_of(found).dtype == DType::boolean ? found : ne(found, 0));
  };
  if (differs) first.state.push_back(ask(first.state));
  const Tensors found =
      apply_loop(first, differs ? [](const State& state) { return any(state.back()); } : ask, [&](const Carried& now) {
        if (!differs) return advance(step.closure, now, captured, {});
        Carried shown = now;
        const Tensor goes_on = shown.state.back();
        shown.state.pop_back();
        State filled = captured;
        for (std::size_t i = 0; i < leaves(); ++i)
          if (is_mapped[i]) shown.state[i] = filled_rows(goes_on, shown.state[i]);
        for (std::size_t k = carried(); k < own.size(); ++k)
          if (is_mapped[k]) filled[k - carried()] = filled_rows(goes_on, captured[k - carried()]);
        Carried after = advance(step.closure, shown, filled, {});
        for (std::size_t i = 0; i < leaves(); ++i)
          after.state[i] =
              is_mapped[i] && !is_constant(i) ? chosen_rows(goes_on, after.state[i], now.state[i]) : now.state[i];
        after.state.push_back(ask(after.state));
        return after;
      });
  BatchedOutputs all{.outputs = {found.begin(), found.begin() + static_cast<std::ptrdiff_t>(leaves())}, .mapped = 0};
  for (std::size_t i = 0; i < leaves(); ++i) all.mapped.push_back(is_mapped[i]);
  return all;
}

}  // namespace

void run_recorded_loop(const RecordedLoop& loop, const tree::Walk& state) {
  const auto& [name, condition, body, options] = loop;
  require_one_element(name, output_types(condition.program)[0]);
  if (!condition.streams.empty())
    raise<NotImplementedError>(std::string(name) +
                               ": the condition draws random numbers while the function is recorded; draw them in the "
                               "body, as part of the state");
  Tensors inputs = function::defined_leaves(state);
  for (const std::vector<Tensor>* more : {&body.streams, &condition.captured, &body.captured})
    inputs.append(more->begin(), more->end());
  const Tensors outputs = apply(WhileLoop{.condition = condition.program,
                                          .body = body.program,
                                          .streams = static_cast<std::int64_t>(body.streams.size()),
                                          .max_steps = options.max_steps,
                                          .checkpoint = options.checkpoint},
                                inputs);
  std::span<const Tensor> rest = outputs;
  function::write_leaves(rest, state);
}

}  // namespace ricci::runs
