// Loops of unknown length as operations whose parameters are programs: the loop, and, as its derivative by reverse
// mode, the loop with passes over the steps that it took.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "control/built_stages.h"
#include "control/checks.h"
#include "control/loop.h"
#include "control/operands.h"
#include "control/stages.h"
#include "custom/call.h"
#include "interpreters/replay.h"
#include "ops/axes.h"
#include "program/programs_run.h"
#include "program/pruning.h"
#include "program/roles.h"
#include "ricci/control.h"
#include "ricci/primitive/raise.h"

namespace ricci::runs {
namespace {

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
/// all. Between checkpoints a function sees only its arguments, and what belongs to no transform: a state would give
/// numbers among that a dtype, and make a constant depend on what is differentiated.
State held_of(std::span<const Tensor> inputs, std::size_t carried, bool all) {
  State held(inputs.size());
  for (std::size_t i = carried; i < inputs.size(); ++i)
    if (all || value_of(inputs[i])->level == 0) held[i] = inputs[i];
  return held;
}

Roles roles_of(const Stages& loop, std::size_t count) {
  const std::vector<Stage>& stages = loop.all;
  require_between(1, std::ssize(stages), std::ssize(stages));
  Roles roles;
  std::int64_t rows = 0;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const Stage& stage = stages[s];
    const auto produced = static_cast<std::int64_t>(stage.by_role().outputs());
    require_between(0, stage.streams, produced);
    require_between(0, stage.carried, produced - stage.streams);
    for (auto r = stage.reads.begin(); r != stage.reads.end(); ++r) {
      require_between(0, *r, rows - 1);
      if (std::find(stage.reads.begin(), r, *r) != r)
        throw IndexError("stage " + std::to_string(s) + " reads row " + std::to_string(*r) + " twice");
    }
    rows += static_cast<std::int64_t>(stage.by_role().rows());
    const std::string number = s == 0 ? "" : std::to_string(s);
    roles.push_back({s == 0 ? "state" : "carry" + number, stage.carries()});
    roles.push_back({"streams" + number, static_cast<std::size_t>(stage.streams)});
    if (s == 0) roles.push_back({"condition", captures(loop.condition, stage.carries())});
    roles.push_back({s == 0 ? "body" : "pass" + number, captures(stage.step, stage.by_role().captures_begin())});
  }
  return checked(std::move(roles), count);
}

/// Of each stage, from the last to the first, what is left of its carry, and of the rows that the stages behind it
/// read. Stages that draw are left as they are.
/// `own`: the operation that these stages are.
template <class Own>
std::optional<Pruned> pruned(const Stages& loop, const Flags& needed, std::size_t operands, const Own& own) {
  const std::vector<Stage>& stages = loop.all;
  if (std::ranges::any_of(stages, [](const Stage& s) { return s.streams > 0; })) return std::nullopt;
  std::size_t rows = 0, results_end = needed.size();
  for (const Stage& stage : stages) rows += stage.by_role().rows();
  Flags row_is_read(rows, false), of_condition = inputs_read(loop.condition.body(), {true});
  std::vector<Flags> inputs(stages.size()), outputs(stages.size());
  for (std::size_t s = stages.size(); s-- > 0;) {
    const Stage& stage = stages[s];
    rows -= stage.by_role().rows();
    results_end -= stage.carries();
    for (std::size_t i = 0; i < stage.carries(); ++i)
      outputs[s].push_back(needed[results_end + i] || (s == 0 && of_condition[i]));
    for (std::size_t i = 0; i < stage.by_role().rows(); ++i) outputs[s].push_back(row_is_read[rows + i]);
    inputs[s] = inputs_read_by_steps(stage.step.body(), stage.carries(), outputs[s]);
    std::copy_n(outputs[s].begin(), stage.carries(), inputs[s].begin());
    for (std::size_t i = 0; i < stage.reads.size(); ++i)
      if (inputs[s][stage.carries() + i]) row_is_read[static_cast<std::size_t>(stage.reads[i])] = true;
  }
  std::copy_n(outputs[0].begin(), stages[0].carries(), of_condition.begin());
  Stages left = loop;
  left.condition = with_some(loop.condition, of_condition, {true});
  left.all.clear();
  Flags left_operands, left_results;
  const auto add = [](Flags& flags, const Flags& from, std::size_t begin) {
    flags.append(from.begin() + static_cast<std::ptrdiff_t>(begin), from.end());
  };
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const Stage& stage = stages[s];
    const auto carry_end = outputs[s].begin() + stage.carried;
    Stage& pruned = left.all.emplace_back(Stage{.step = with_some(stage.step, inputs[s], outputs[s]),
                                                .carried = std::count(outputs[s].begin(), carry_end, true)});
    for (std::size_t i = 0; i < stage.reads.size(); ++i)
      if (inputs[s][stage.carries() + i])
        pruned.reads.push_back(std::count(row_is_read.begin(), row_is_read.begin() + stage.reads[i], true));
    left_results.append(outputs[s].begin(), carry_end);
    left_operands.append(outputs[s].begin(), carry_end);
    if (s == 0) add(left_operands, of_condition, stage.carries());
    add(left_operands, inputs[s], stage.by_role().captures_begin());
  }
  require_between(static_cast<std::int64_t>(operands), std::ssize(left_operands), static_cast<std::int64_t>(operands));
  const auto is_left = [](const Flags& flags) { return std::ranges::all_of(flags, [](bool flag) { return flag; }); };
  if (is_left(left_operands) && is_left(left_results) && is_left(row_is_read) && std::ranges::all_of(inputs, is_left))
    return std::nullopt;
  return Pruned{own(left), left_operands, left_results};
}

Types types_of(const Stages& loop, const Types& inputs) {
  roles_of(loop, inputs.size());
  require_between(1, std::ssize(output_types(loop.condition)), 1);
  Types types;
  for (const Stage& stage : loop.all) {
    const Types own = output_types(stage.step);
    types.append(own.begin(), own.begin() + stage.carried);
  }
  return types;
}

/// Of the condition and of each stage's step, the inputs that depend on what cotangents are wanted of, and the results
/// that do. The condition's answer has no derivative.
function::WatchedInside watched_inside(const Stages& loop, const Flags& wanted) {
  struct Reached {
    Flags outputs;
  };
  const std::size_t condition_end = loop.condition_begin() + loop.captured_by_condition();
  function::WatchedInside all{{{Flags(loop.condition.inputs(), false), condition_end}}, {}};
  Flags rows;
  for (std::size_t s = 0; s < loop.all.size(); ++s) {
    const Step own = loop.all[s].by_role();
    Flags inputs = flags_of_step(loop, s, wanted, [&](std::size_t r) { return rows[r]; });
    const Reached found = until_stable(inputs, own.carried, own.outputs(), [&](const Flags&) {
      return Reached{function::outputs_reached(own.program, inputs)};
    });
    for (std::size_t k = 0; k < own.rows(); ++k) rows.push_back(found.outputs[own.carried + k]);
    all.outputs.append(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(own.carried));
    all.programs.push_back({std::move(inputs), loop.operand(s, own.inputs())});
  }
  return all;
}

/// The rule `keep` of both operations.
Kept keep_operands(Op op, const Stages& loop, std::span<const Tensor> inputs, const Mask& wanted) {
  return function::keep_to_compute_again(op, inputs,
                                         [&] { return watched_inside(loop, flags_of(wanted, inputs.size())); });
}

/// Inputs: the state, the streams that the body draws from, then what the condition captures, then what the body does.
struct WhileLoop {
  using kind = Custom;
  static constexpr const char* name = "while_loop";
  static constexpr bool transparent = true;
  Program condition, body;
  std::int64_t streams;
  LoopLimit max_steps;
  Checkpoints checkpoint;
  bool asks_each_example;  // Turns::asks_each_example

  Roles roles(std::size_t count) const { return roles_of(stages(), count); }
  std::optional<Pruned> pruned(const Flags& needed, std::size_t operands) const {
    return runs::pruned(stages(), needed, operands, [](const Stages& left) { return own(of(left)); });
  }
  Types type(const Types& inputs) const { return types_of(stages(), inputs); }
  ProgramsRun programs_run() const {
    return Turns{.condition = &condition,
                 .body = &body,
                 .state = leaves(),
                 .streams = static_cast<std::size_t>(streams),
                 .read_by_condition = carried(),
                 .read_by_body = carried() + condition.inputs() - leaves(),
                 .most_turns = max_steps.steps,
                 .asks_each_example = asks_each_example,
                 .name = max_steps.loop()};
  }
  bool draws() const { return ricci::draws(body); }
  static WhileLoop of(const Stages& one) {
    return {.condition = one.condition,
            .body = one.all[0].step,
            .streams = one.all[0].streams,
            .max_steps = one.max_steps,
            .checkpoint = one.checkpoint,
            .asks_each_example = one.asks_each_example};
  }
  Tensors call(std::span<const Tensor> inputs) const;
  Pushed jvp(std::span<const Tensor> inputs, std::span<const Tensor> tangents) const {
    return pushed(stages(), inputs, tangents);
  }
  BatchedOutputs batch(const Batch& batch) const { return mapped(stages(), batch); }
  Kept keep(std::span<const Tensor> inputs, const Mask& wanted) const {
    return keep_operands({&rules_of<WhileLoop>, this}, stages(), inputs, wanted);
  }
  Tensors vjp(const Reverse& rule) const {
    return computed_again(rule.residual->rest.get(), [&] { return pulled_back(stages(), rule); });
  }

 private:
  std::size_t leaves() const { return carried() - static_cast<std::size_t>(streams); }
  std::size_t carried() const { return body.body().outputs.size(); }
  Stages stages() const {
    return {.condition = condition,
            .all = {{.step = body, .carried = static_cast<std::int64_t>(leaves()), .streams = streams, .reads = {}}},
            .max_steps = max_steps,
            .checkpoint = checkpoint,
            .asks_each_example = asks_each_example};
  }
};

Tensors WhileLoop::call(std::span<const Tensor> inputs) const {
  // Between checkpoints the functions see their arguments alone.
  const bool holds = checkpoint == Checkpoints::every_step;
  const std::size_t carried = this->carried();
  const State held = held_of(inputs, carried, holds);
  const StateFunction answer{condition, leaves(), carried, held};
  const StateFunction advance{body, carried, carried + condition.inputs() - leaves(), held};
  const char* const called = max_steps.loop();
  const auto goes_on = [answer, called](const LoopState& s) { return truth(called, answer(s.users.as<State>())[0]); };
  const auto step = [advance, carried](const LoopState& s) {
    const auto& before = s.users.as<State>();
    State after = advance(before);
    after.insert(after.end(), before.begin() + static_cast<std::ptrdiff_t>(carried), before.end());
    return LoopState{.users = tree::any(std::move(after))};
  };
  const std::span<const Tensor> first = holds ? inputs.first(carried) : inputs;
  const Loop loop{called, goes_on, step, {.max_steps = max_steps, .checkpoint = checkpoint}, true};
  const auto last = run_loop(loop, {.users = tree::any(State(first.begin(), first.end()))}).take<State>();
  return {last.begin(), last.begin() + static_cast<std::ptrdiff_t>(leaves())};
}

/// A loop and passes over its steps. `stages` says what its operands and outputs are.
struct Unwind {
  using kind = Custom;
  static constexpr const char* name = "unwind";
  Program condition;
  std::vector<Stage> stages;
  LoopLimit max_steps;
  Checkpoints checkpoint;

  Roles roles(std::size_t count) const { return roles_of(all(), count); }
  std::optional<Pruned> pruned(const Flags& needed, std::size_t operands) const {
    return runs::pruned(all(), needed, operands, [](const Stages& left) { return own(of(left)); });
  }
  ProgramsRun programs_run() const;
  static Unwind of(const Stages& stages) { return {stages.condition, stages.all, stages.max_steps, stages.checkpoint}; }
  Types type(const Types& inputs) const { return types_of(all(), inputs); }
  bool draws() const {
    return std::any_of(stages.begin(), stages.end(), [](const Stage& s) { return ricci::draws(s.step); });
  }
  Tensors call(std::span<const Tensor> inputs) const;
  Pushed jvp(std::span<const Tensor> inputs, std::span<const Tensor> tangents) const {
    return pushed(all(), inputs, tangents);
  }
  BatchedOutputs batch(const Batch& batch) const { return mapped(all(), batch); }
  Kept keep(std::span<const Tensor> inputs, const Mask& wanted) const {
    return keep_operands({&rules_of<Unwind>, this}, all(), inputs, wanted);
  }
  Tensors vjp(const Reverse& rule) const {
    return computed_again(rule.residual->rest.get(), [&] { return pulled_back(all(), rule); });
  }

 private:
  bool keeps_every_step() const { return checkpoint == Checkpoints::every_step || stages.size() != 2; }
  Stages all() const { return {condition, stages, max_steps, checkpoint, false}; }
};

ProgramsRun Unwind::programs_run() const {
  Passes passes{.condition = &condition,
                .all = {},
                .most_turns = max_steps,
                .name = max_steps.loop(),
                .keeps_few_of_them = !keeps_every_step()};
  for (const Stage& s : stages)
    passes.all.push_back({&s.step, s.carries(), static_cast<std::size_t>(s.streams), s.reads});
  return passes;
}

/// The stages at work, with the rows of the steps that are at hand.
class Unwinding {
 public:
  Unwinding(const Program& condition, const std::vector<Stage>& stages, const LoopLimit& max_steps,
            std::span<const Tensor> inputs)
      : condition_(condition), stages_(stages), max_steps_(max_steps) {
    for (const Stage& stage : stages) {
      const auto taken = [&inputs](std::size_t count) {
        const std::span<const Tensor> front = take(inputs, count);
        return State(front.begin(), front.end());
      };
      Now now;
      now.carry = taken(stage.carries());
      now.streams = taken(static_cast<std::size_t>(stage.streams));
      if (now_.empty()) asked_ = taken(condition.inputs() - stage.carries());
      now.captured = taken(stage.step.inputs() - stage.by_role().captures_begin());
      now_.push_back(std::move(now));
    }
  }

  Tensors run(bool keeps_all, Checkpoints checkpoint) {
    if (keeps_all) keep_every_step();
    else keep_segments(checkpoint == Checkpoints::log);
    Tensors outputs;
    for (const Now& now : now_) outputs.append(now.carry.begin(), now.carry.end());
    return outputs;
  }

 private:
  struct Now {
    State carry, streams, captured;
  };

  bool goes_on() const {
    return truth(max_steps_.loop(), runs::run(condition_, now_[0].carry, asked_)[0]).item<bool>();
  }
  /// One step of a stage, which adds what it keeps to the rows.
  void step(std::size_t s, State& rows) {
    const Stage& stage = stages_[s];
    Now& now = now_[s];
    State given = std::move(now.carry);
    for (const std::int64_t r : stage.reads) given.push_back(rows[static_cast<std::size_t>(r)]);
    given.insert(given.end(), now.streams.begin(), now.streams.end());
    const State found = runs::run(stage.step, given, now.captured);
    const auto kept = found.begin() + stage.carried, drawn = found.end() - stage.streams;
    now.carry.assign(found.begin(), kept);
    rows.insert(rows.end(), kept, drawn);
    now.streams.assign(drawn, found.end());
  }

  void keep_every_step() {
    std::vector<State> rows;
    while (goes_on()) {
      require_below_limit(max_steps_.loop(), std::ssize(rows), max_steps_);
      step(0, rows.emplace_back());
    }
    for (std::size_t s = 1; s < stages_.size(); ++s)
      for (std::size_t k = 0; k < rows.size(); ++k) step(s, rows[s % 2 == 0 ? k : rows.size() - 1 - k]);
  }

  /// Keeps the state at which each segment begins: goes through a segment again before the pass over its steps.
  void keep_segments(bool by_halves) {
    struct Segment {
      Now first;
      std::int64_t steps = 0;
    };
    std::vector<Segment> segments;
    for (std::int64_t index = 0; goes_on(); ++index) {
      const std::int64_t most = segment_length(max_steps_.loop(), index, by_halves, max_steps_);
      Segment& segment = segments.emplace_back(Segment{.first = now_[0]});
      for (; segment.steps < most && goes_on(); ++segment.steps) go(1);
    }
    const Now last = now_[0];
    for (auto segment = segments.rbegin(); segment != segments.rend(); ++segment) {
      now_[0] = segment->first;
      go_back(segment->steps, by_halves);
    }
    now_[0] = last;
  }
  void go(std::int64_t steps) {
    for (; steps > 0; --steps) {
      State dropped;
      step(0, dropped);
    }
  }
  /// The pass over this many steps, which begin with the state at hand.
  void go_back(std::int64_t steps, bool by_halves) {
    if (by_halves && steps > 1) {
      const Now first = now_[0];
      go(steps / 2);
      go_back(steps - steps / 2, by_halves);
      now_[0] = first;
      return go_back(steps / 2, by_halves);
    }
    std::vector<State> rows(static_cast<std::size_t>(steps));
    for (State& of_one : rows) step(0, of_one);
    for (auto of_one = rows.rbegin(); of_one != rows.rend(); ++of_one) step(1, *of_one);
  }

  const Program& condition_;
  const std::vector<Stage>& stages_;
  const LoopLimit max_steps_;
  State asked_;
  std::vector<Now> now_;  // by stage
};

Tensors Unwind::call(std::span<const Tensor> inputs) const {
  return Unwinding(condition, stages, max_steps, inputs).run(keeps_every_step(), checkpoint);
}

}  // namespace

Tensors apply_stages(const Stages& stages, std::span<const Tensor> operands) {
  return stages.all.size() > 1 ? ricci::apply(Unwind::of(stages), operands)
                               : ricci::apply(WhileLoop::of(stages), operands);
}

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
  const WhileLoop operation{.condition = condition.program,
                            .body = body.program,
                            .streams = static_cast<std::int64_t>(body.streams.size()),
                            .max_steps = {options.max_steps, name == std::string_view("fori_loop")},
                            .checkpoint = options.checkpoint,
                            .asks_each_example = false};
  const Tensors outputs = apply(operation, inputs);
  std::span<const Tensor> rest = outputs;
  function::write_leaves(rest, state);
}

}  // namespace ricci::runs
