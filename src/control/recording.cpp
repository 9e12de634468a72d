// A loop as an operation whose parameters are programs. It runs as the plain one of control.h does, on lists of tensors,
// so that every transform of a recorded one follows from it. Conditionals are cond_op.cpp, scans scan_op.cpp.
#include "ricci/control/recording.h"

#include <algorithm>

#include "control/operands.h"
#include "interpreters/record.h"
#include "ops/axes.h"
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

/// The captures of a loop that its functions need not be shown as part of the state: all, or, where they see their
/// arguments alone, numbers, which a state would give a dtype.
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
  Program condition, body;
  std::int64_t streams;
  std::int64_t max_steps;
  Checkpoints checkpoint;

  Roles roles(std::size_t count) const {
    const std::size_t carried = body.body().outputs.size();
    require_between(0, streams, static_cast<std::int64_t>(carried));
    const std::size_t drawing = static_cast<std::size_t>(streams), leaves = carried - drawing;
    return checked({{"state", leaves},
                    {"streams", drawing},
                    {"condition", captures(condition, leaves)},
                    {"body", captures(body, carried)}},
                   count);
  }
  Types type(const Types& inputs) const {
    roles(inputs.size());
    const Types carried = output_types(body);
    require_between(1, std::ssize(output_types(condition)), 1);
    return {carried.begin(), carried.end() - streams};
  }
  bool draws() const { return ricci::draws(body); }
  Tensors call(std::span<const Tensor> inputs) const {
    const std::size_t carried = body.body().outputs.size(), leaves = carried - static_cast<std::size_t>(streams);
    // Between checkpoints the functions see their arguments alone.
    const bool holds = checkpoint == Checkpoints::every_step;
    const State held = held_of(inputs, carried, holds);
    const StateFunction answer{condition, leaves, carried, held};
    const StateFunction advance{body, carried, carried + condition.inputs() - leaves, held};
    const auto goes_on = [answer](const State& s) { return truth(name, answer(s)[0]); };
    const auto step = [advance, carried](const State& s) {
      State after = advance(s);
      after.insert(after.end(), s.begin() + static_cast<std::ptrdiff_t>(carried), s.end());
      return after;
    };
    const std::span<const Tensor> first = holds ? inputs.first(carried) : inputs;
    const State last = call::loop(name, goes_on, step, State(first.begin(), first.end()),
                                  LoopOptions{.max_steps = max_steps, .checkpoint = checkpoint});
    return {last.begin(), last.begin() + static_cast<std::ptrdiff_t>(leaves)};
  }
};

[[maybe_unused]] const bool named = name_operands<WhileLoop>();

}  // namespace

// ── what control.h asks ──

bool is_decided_later(const char* name, const Tensor& question) {
  if (function::is_recorded(name, question)) return true;
  // One program serves all examples of a vmap around it.
  const Interpreter* record = innermost_recording();
  if (!record) return false;
  return innermost_part(*read(question, name), [&](const Value& part) {
    return part.kind == ValueKind::batched && part.level < record->level;
  });
}

void fix_dtypes(const tree::Walk& state) {
  for (Tensor* leaf : state.leaves)
    if (leaf->defined()) *leaf = function::with_dtype(*leaf);
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
