// Conditionals, loops and scans as operations whose parameters are programs. Each runs as the plain one of control.h
// does, on lists of tensors, so that every transform of a recorded one follows from it.
#include "ricci/control/recording.h"

#include <algorithm>

#include "interpreters/record.h"
#include "ops/axes.h"
#include "program/program.h"
#include "program/roles.h"
#include "ricci/control.h"
#include "ricci/primitive/raise.h"

namespace ricci::runs {
namespace {

using State = std::vector<Tensor>;

/// Takes the next tensors from the front.
std::span<const Tensor> take(std::span<const Tensor>& from, std::size_t count) {
  const std::span<const Tensor> taken = from.first(count);
  from = from.subspan(count);
  return taken;
}

/// A program at these inputs and what its function captured.
State run(const Program& program, std::span<const Tensor> inputs, std::span<const Tensor> captured) {
  State all(inputs.begin(), inputs.end());
  all.insert(all.end(), captured.begin(), captured.end());
  return program(all);
}

// ── the operations: their type rules hold the counts among the parameters, which a program's text may get wrong ──

/// Throws unless the operands are as many as the roles say.
Roles checked(Roles roles, std::size_t operands) {
  std::size_t wanted = 0;
  for (const Role& role : roles) wanted += role.count;
  if (wanted != operands)
    throw IndexError("takes " + std::to_string(wanted) + " operands, found " + std::to_string(operands));
  return roles;
}

/// How many inputs of the program follow the first `given` ones: what its function captured.
std::size_t captures(const Program& program, std::size_t given) {
  if (program.inputs() < given)
    throw IndexError("a program takes " + std::to_string(program.inputs()) + " inputs, it is given " +
                     std::to_string(given));
  return program.inputs() - given;
}

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

/// Inputs: the carry, the scanned tensors, the streams that the step draws from, then what the step captures. Outputs:
/// the carry, then the stacked outputs.
struct Scan {
  using kind = Custom;
  static constexpr const char* name = "scan";
  Program step;
  std::int64_t carried, scanned, streams;
  bool reverse;

  Roles roles(std::size_t count) const {
    const std::int64_t outputs = std::ssize(step.body().outputs);
    require_between(0, streams, outputs);
    require_between(0, carried, outputs - streams);
    require_between(1, scanned, static_cast<std::int64_t>(count) - carried - streams);
    return checked({{"carry", static_cast<std::size_t>(carried)},
                    {"xs", static_cast<std::size_t>(scanned)},
                    {"streams", static_cast<std::size_t>(streams)},
                    {"step", captures(step, static_cast<std::size_t>(carried + scanned + streams))}},
                   count);
  }
  Types type(const Types& inputs) const {
    roles(inputs.size());
    const Types outputs = output_types(step);
    require_rank_of_at_least(1, inputs[static_cast<std::size_t>(carried)]);
    Types types(outputs.begin(), outputs.end() - streams);
    for (std::size_t i = static_cast<std::size_t>(carried); i < types.size(); ++i)
      types[i].shape.insert(0, inputs[static_cast<std::size_t>(carried)].shape[0]);
    return types;
  }
  Tensors call(std::span<const Tensor> inputs) const {
    const std::span<const Tensor> first = take(inputs, static_cast<std::size_t>(carried));
    const std::span<const Tensor> xs = take(inputs, static_cast<std::size_t>(scanned));
    const std::span<const Tensor> places = take(inputs, static_cast<std::size_t>(streams));
    const auto one_step = [&](const State& carry, const State& slices) {
      const auto drawing = carry.begin() + carried;
      State given(carry.begin(), drawing);
      given.insert(given.end(), slices.begin(), slices.end());
      given.insert(given.end(), drawing, carry.end());
      const State found = run(step, given, inputs);
      const auto ys = found.begin() + carried, drawn = found.end() - streams;
      State after(found.begin(), ys);
      after.insert(after.end(), drawn, found.end());
      return std::pair{after, State(ys, drawn)};
    };
    State start(first.begin(), first.end());
    start.insert(start.end(), places.begin(), places.end());
    const auto [last, ys] =
        call::scan(name, one_step, start, State(xs.begin(), xs.end()), ScanOptions{.reverse = reverse});
    Tensors outputs(last.begin(), last.begin() + carried);
    outputs.append(ys.begin(), ys.end());
    return outputs;
  }
};

[[maybe_unused]] const bool named = name_operands<Cond>() && name_operands<WhileLoop>() && name_operands<Scan>();

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

void show_slice_types(const char* name, const tree::Walk& xs) {
  scanned_size(name, xs);
  for (Tensor* leaf : xs.leaves) {
    Type one = type_of(*leaf);
    one.shape.erase(0);
    *leaf = zeros_of(one);
  }
}

void run_recorded_scan(const Closure& step, bool reverse, const tree::Walk& carry, const tree::Walk& xs,
                       const tree::Walk& ys) {
  Tensors inputs = function::defined_leaves(carry);
  const auto carried = static_cast<std::int64_t>(inputs.size());
  for (const Tensor* leaf : xs.leaves) inputs.push_back(*leaf);
  inputs.append(step.streams.begin(), step.streams.end());
  inputs.append(step.captured.begin(), step.captured.end());
  const Tensors outputs = apply(Scan{.step = step.program,
                                     .carried = carried,
                                     .scanned = static_cast<std::int64_t>(xs.leaves.size()),
                                     .streams = static_cast<std::int64_t>(step.streams.size()),
                                     .reverse = reverse},
                                inputs);
  std::span<const Tensor> rest = outputs;
  function::write_leaves(rest, carry);
  function::write_leaves(rest, ys);
}

}  // namespace ricci::runs
