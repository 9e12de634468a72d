// Conditionals and loops as operations whose parameters are programs. Each runs as the plain one of control.h does, on
// lists of tensors, so that every transform of a recorded one follows from it. Scans are scan_op.cpp.
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

/// Inputs: the predicate or index, the operands, then what each branch captures.
struct Cond {
  using kind = Custom;
  static constexpr const char* name = "cond";
  std::int64_t operands;
  std::vector<Program> branches;

  Roles roles(std::size_t count) const {
    require_between(0, operands, static_cast<std::int64_t>(count) - 1);
    const auto given = static_cast<std::size_t>(operands);
    Roles all{{"predicate", 1}, {"operands", given}};
    for (std::size_t i = 0; i < branches.size(); ++i)
      all.push_back({"branch" + std::to_string(i), captures(branches[i], given)});
    return checked(std::move(all), count);
  }
  Types type(const Types& inputs) const {
    roles(inputs.size());
    const bool is_predicate = inputs[0].dtype == DType::boolean;
    require_between(is_predicate ? 2 : 1, std::ssize(branches), is_predicate ? 2 : std::ssize(branches));
    if (category(inputs[0].dtype) > 1) throw IndexError("the index is " + to_string(inputs[0]));
    for (const Program& branch : branches)
      if (!(output_types(branch) == output_types(branches[0]))) throw IndexError("the branches differ in type");
    return output_types(branches[0]);
  }
  Tensors call(std::span<const Tensor> inputs) const {
    const Tensor question = with_valid_index(take(inputs, 1)[0]);
    const std::span<const Tensor> given = take(inputs, static_cast<std::size_t>(operands));
    std::vector<std::span<const Tensor>> captured;
    for (const Program& branch : branches) captured.push_back(take(inputs, branch.inputs() - given.size()));
    Parting parting(name);
    parting.choose(question);
    for (;;) {
      const auto branch = static_cast<std::size_t>(parting.answer());
      State result = run(branches[branch], given, captured[branch]);
      if (!parting.next(erased(result))) return {result.begin(), result.end()};
    }
  }

 private:
  Tensor with_valid_index(const Tensor& question) const {
    if (type_of(question).dtype == DType::boolean) return question;
    return checked_index(question, static_cast<std::int64_t>(branches.size()));
  }
};

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

[[maybe_unused]] const bool named = name_operands<Cond>() && name_operands<WhileLoop>();

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

void run_recorded_branches(const char* name, const Tensor& question, const tree::Walk& operands,
                           std::span<const Closure> branches, const tree::Walk& result) {
  require_one_element(name, type_of(question));
  const Types types = output_types(branches[0].program);
  Tensors inputs{question};
  const Tensors given = function::defined_leaves(operands);
  inputs.append(given.begin(), given.end());
  Cond cond{.operands = static_cast<std::int64_t>(given.size()), .branches = {}};
  for (const Closure& branch : branches) {
    const Types found = output_types(branch.program);
    for (std::size_t i = 0; i < types.size(); ++i) require_same_type(name, types[i], found[i]);
    cond.branches.push_back(branch.program);
    inputs.append(branch.captured.begin(), branch.captured.end());
  }
  const Tensors outputs = apply(cond, inputs);
  std::span<const Tensor> rest = outputs;
  function::write_leaves(rest, result);
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
