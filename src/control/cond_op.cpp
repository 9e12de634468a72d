// A conditional as an operation whose parameters are the programs of its branches. In a recorded program every
// transform of one is a conditional on the same question: of the branches with tangents, of the branches on all
// examples, of the branches that keep what the way back reads and, the way back, of the branches' cotangents. Only
// where examples answer differently is it one conditional for each branch, and a choice among the rows of their
// results.
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>

#include "control/checks.h"
#include "control/operands.h"
#include "control/parting.h"
#include "control/recording.h"
#include "control/rows.h"
#include "custom/derived.h"
#include "ops/axes.h"
#include "ops/debug.h"
#include "program/programs_run.h"
#include "program/pruning.h"
#include "program/structure.h"
#include "ricci/control.h"
#include "ricci/primitive/raise.h"

namespace ricci::runs {
namespace {

using function::Runs;

/// Inputs: the predicate or index, the operands, then what each branch captures.
struct Cond {
  using kind = Custom;
  static constexpr const char* name = "cond";
  static constexpr bool transparent = true;
  std::int64_t operands;
  std::vector<Program> branches;

  Roles roles(std::size_t count) const;
  std::optional<Pruned> pruned(const Flags& needed, std::size_t inputs) const;
  Types type(const Types& inputs) const;
  ProgramsRun programs_run() const;
  bool draws() const { return std::any_of(branches.begin(), branches.end(), ricci::draws); }
  Tensors call(std::span<const Tensor> inputs) const;
  Pushed jvp(std::span<const Tensor> inputs, std::span<const Tensor> tangents) const;
  BatchedOutputs batch(const Batch& batch) const;
  Kept keep(std::span<const Tensor> inputs, const Mask& wanted) const;
  Tensors vjp(const Reverse& rule) const;

 private:
  std::size_t given() const { return static_cast<std::size_t>(operands); }
  std::size_t outputs() const { return branches[0].body().outputs.size(); }
  /// For every branch, which of the inputs are its own, in order.
  std::vector<std::vector<std::size_t>> inputs_of_branches() const;
  Tensor with_valid_index(const Tensor& question) const {
    if (type_of(question).dtype == DType::boolean) return question;
    return checked_index(question, static_cast<std::int64_t>(branches.size()));
  }
  BatchedOutputs batch_apart(const Batch& batch) const;
  struct Rest;
};

std::vector<std::vector<std::size_t>> Cond::inputs_of_branches() const {
  std::vector<std::vector<std::size_t>> all;
  std::size_t next = 1 + given();
  for (const Program& branch : branches) {
    std::vector<std::size_t>& own = all.emplace_back();
    for (std::size_t i = 0; i < given(); ++i) own.push_back(1 + i);
    while (own.size() < branch.inputs()) own.push_back(next++);
  }
  return all;
}

ProgramsRun Cond::programs_run() const {
  Branches all;
  for (const std::vector<std::size_t>& inputs : inputs_of_branches()) all.push_back({&branches[all.size()], inputs});
  return all;
}

/// Zeros that take no memory.
Tensor expanded_zero(const Type& type) { return expand(zeros_of({type.dtype, {}}), type.shape); }

/// The indices as they are, once it is sure that each of them names one of `count` branches.
struct CheckedIndex {
  using kind = Custom;
  static constexpr const char* name = "checked_index";
  static constexpr Effect effect = Effect::checks_values;
  std::int64_t count;

  Types type(const Types& inputs) const {
    require_between(1, std::ssize(inputs), 1);
    if (category(inputs[0].dtype) > 1) throw IndexError("the indices are " + to_string(inputs[0]));
    return inputs;
  }
  Tensors call(std::span<const Tensor> inputs) const {
    require_indices(inputs[0], count);
    return {inputs[0]};
  }
  Structure structure() const { return Allowed{0, count - 1}; }
  Kept keep(std::span<const Tensor> inputs, const Mask&) const {
    return {.outputs = apply(*this, inputs), .residual = {}};
  }
  Tensors vjp(const Reverse&) const { return {Tensor()}; }
  Pushed jvp(std::span<const Tensor> inputs, std::span<const Tensor>) const {
    return {apply(*this, inputs), {Tensor()}};
  }
  BatchedOutputs batch(const Batch& batch) const {
    return {.outputs = apply(*this, batch.inputs), .mapped = batch.mapped};
  }
};

Tensors apply_cond(const Tensor& question, const State& operands, const std::vector<Closure>& branches) {
  Tensors inputs{question};
  inputs.append(operands.begin(), operands.end());
  Cond cond{.operands = std::ssize(operands), .branches = {}};
  for (const Closure& branch : branches) {
    cond.branches.push_back(branch.program);
    inputs.append(branch.captured.begin(), branch.captured.end());
  }
  return apply(cond, inputs);
}

/// A function of the operands as a branch.
Closure written_down(const std::function<State(const State&)>& branch, const State& operands) {
  std::optional<State> found;
  return function::write_down(Cond::name, branch, std::tuple<State>(operands), found);
}

/// The conditional whose branch number b is `branch(b, operands)`, written down with what it captures.
Tensors apply_branches(const Tensor& question, const State& operands, std::size_t count,
                       const std::function<State(std::size_t, const State&)>& branch) {
  std::vector<Closure> branches;
  for (std::size_t b = 0; b < count; ++b)
    branches.push_back(written_down([&](const State& shown) { return branch(b, shown); }, operands));
  return apply_cond(question, operands, branches);
}

/// The branches transformed so that each has for its outputs what any of them has.
template <class Derive>
auto alike(std::size_t branches, std::size_t outputs, const Derive& derive) {
  Flags at_least(outputs, false);
  for (;;) {
    std::vector<function::Derived> derived;
    Flags any = at_least;
    for (std::size_t b = 0; b < branches; ++b) {
      derived.push_back(derive(b, at_least));
      for (std::size_t i = 0; i < outputs; ++i) any[i] |= derived[b].outputs[i];
    }
    const bool agree = std::all_of(derived.begin(), derived.end(), [&](const auto& d) { return d.outputs == any; });
    if (agree) return std::pair{derived, any};
    at_least = any;
  }
}

Roles Cond::roles(std::size_t count) const {
  require_between(0, operands, static_cast<std::int64_t>(count) - 1);
  Roles all{{"predicate", 1}, {"operands", given()}};
  for (std::size_t i = 0; i < branches.size(); ++i)
    all.push_back({"branch" + std::to_string(i), captures(branches[i], given())});
  return checked(std::move(all), count);
}

/// An operand is left where any branch reads it for the results that are needed, a capture where its branch does.
std::optional<Pruned> Cond::pruned(const Flags& needed, std::size_t inputs) const {
  const std::vector<std::vector<std::size_t>> own = inputs_of_branches();
  Flags left(inputs, false);
  left[0] = true;
  for (std::size_t b = 0; b < branches.size(); ++b) {
    const Flags read = inputs_read(branches[b].body(), needed);
    for (std::size_t i = 0; i < read.size(); ++i)
      if (read[i]) left[own[b][i]] = true;
  }
  const auto is_left = [](bool flag) { return flag; };
  if (std::ranges::all_of(left, is_left) && std::ranges::all_of(needed, is_left)) return std::nullopt;
  Cond cond{.operands = std::count(left.begin() + 1, left.begin() + 1 + operands, true), .branches = {}};
  for (std::size_t b = 0; b < branches.size(); ++b)
    cond.branches.push_back(with_some(branches[b], chosen(left, own[b]), needed));
  return Pruned{ricci::own(cond), left, needed};
}

Types Cond::type(const Types& inputs) const {
  roles(inputs.size());
  const bool is_predicate = inputs[0].dtype == DType::boolean;
  require_between(is_predicate ? 2 : 1, std::ssize(branches), is_predicate ? 2 : std::ssize(branches));
  if (category(inputs[0].dtype) > 1)
    throw IndexError("the index is " + to_string(inputs[0]) + "; it must be a boolean or an integer");
  for (const Program& branch : branches)
    if (!(output_types(branch) == output_types(branches[0]))) throw IndexError("the branches differ in type");
  return output_types(branches[0]);
}

Tensors Cond::call(std::span<const Tensor> inputs) const {
  const Tensor question = with_valid_index(take(inputs, 1)[0]);
  const std::span<const Tensor> operands_given = take(inputs, given());
  std::vector<std::span<const Tensor>> captured;
  for (const Program& branch : branches) captured.push_back(take(inputs, branch.inputs() - given()));
  Parting parting(name);
  parting.choose(question);
  for (;;) {
    const auto branch = static_cast<std::size_t>(parting.answer());
    State result = runs::run(branches[branch], operands_given, captured[branch]);
    if (!parting.next({.tensors = call::walk(result)})) return {result.begin(), result.end()};
  }
}

Pushed Cond::jvp(std::span<const Tensor> inputs, std::span<const Tensor> tangents) const {
  const std::vector<std::vector<std::size_t>> own = inputs_of_branches();
  const Flags active = defined_among(tangents);
  const auto [derived, has] = alike(branches.size(), outputs(), [&](std::size_t b, const Flags& at_least) {
    return function::pushed(branches[b], chosen(active, own[b]), at_least, Runs::once);
  });
  State all(inputs.begin() + 1, inputs.begin() + 1 + operands);
  for (std::size_t i = 1; i <= given(); ++i)
    if (active[i]) all.push_back(tangents[i]);
  const auto branch = [&](std::size_t b, const State& shown) {
    Tensors values(shown.begin(), shown.begin() + operands);
    for (std::size_t k = given(); k < own[b].size(); ++k) values.push_back(inputs[own[b][k]]);
    values.append(shown.begin() + operands, shown.end());
    for (std::size_t k = given(); k < own[b].size(); ++k)
      if (active[own[b][k]]) values.push_back(tangents[own[b][k]]);
    return run(derived[b].closure.program, values, derived[b].closure.captured);
  };
  return paired(apply_branches(inputs[0], all, branches.size(), branch), has);
}

BatchedOutputs Cond::batch(const Batch& batch) const {
  if (batch.is_mapped(0)) return batch_apart(batch);
  const std::vector<std::vector<std::size_t>> own = inputs_of_branches();
  const MappedExamples examples(batch);
  const Flags is_mapped = flags_of(batch.mapped, batch.inputs.size());
  const auto [derived, differs] = alike(branches.size(), outputs(), [&](std::size_t b, const Flags& at_least) {
    return function::mapped(branches[b], chosen(is_mapped, own[b]), at_least, examples, Runs::once);
  });
  const auto branch = [&](std::size_t b, const State& shown) {
    Tensors values(shown.begin(), shown.end());
    for (std::size_t k = given(); k < own[b].size(); ++k) values.push_back(batch.inputs[own[b][k]]);
    return run(derived[b].closure.program, values, derived[b].closure.captured);
  };
  const State all(batch.inputs.begin() + 1, batch.inputs.begin() + 1 + operands);
  BatchedOutputs found{.outputs = apply_branches(batch.inputs[0], all, branches.size(), branch), .mapped = 0};
  for (const bool one : differs) found.mapped.push_back(one);
  return found;
}

/// Where examples answer differently: for each branch a conditional on whether any of them takes it, which runs it on
/// all rows, those of the others filled, and of whose results each example takes its own.
BatchedOutputs Cond::batch_apart(const Batch& batch) const {
  const std::vector<std::vector<std::size_t>> own = inputs_of_branches();
  const MappedExamples examples(batch);
  const Flags is_mapped = flags_of(batch.mapped, batch.inputs.size());
  const Tensor answers = one_for_each(batch.inputs[0]);
  const bool is_predicate = type_of(answers).dtype == DType::boolean;
  const Tensor taken = is_predicate ? answers : apply(CheckedIndex{std::ssize(branches)}, answers);
  BatchedOutputs all;
  for (std::size_t b = 0; b < branches.size(); ++b) {
    const Tensor takes = !is_predicate ? eq(taken, static_cast<std::int64_t>(b)) : b == 1 ? taken : logical_not(taken);
    const bool says_whose = prints(branches[b]);
    const Closure rows = function::mapped(branches[b], chosen(is_mapped, own[b]), Flags(outputs(), true), examples,
                                          Runs::once, says_whose)
                             .closure;
    const auto run_if_any = [&](std::size_t any_takes, const State&) {
      State found;
      if (any_takes == 0)
        for (const Type& type : output_types(rows.program)) found.push_back(expanded_zero(type));
      if (any_takes == 0) return found;
      Tensors values;
      for (const std::size_t i : own[b])
        values.push_back(is_mapped[i] ? filled_rows(takes, batch.inputs[i]) : batch.inputs[i]);
      if (says_whose) values.push_back(takes);
      return run(rows.program, values, rows.captured);
    };
    const Tensors found = apply_branches(any(takes), {}, 2, run_if_any);
    for (std::size_t i = 0; i < outputs(); ++i) {
      if (b == 0) all.outputs.push_back(found[i]);
      else all.outputs[i] = chosen_rows(takes, found[i], all.outputs[i]);
    }
  }
  return all;
}

/// What the way back needs besides tensors.
struct Cond::Rest {
  std::vector<function::Split> splits;          // one for each branch
  std::vector<std::vector<std::size_t>> slots;  // of what it keeps, among what any branch keeps
};

/// Whether two types print alike. Comparing their sizes would leave a guard where those are equal by chance.
bool is_alike(const Type& a, const Type& b) {
  return a.dtype == b.dtype && std::equal(a.shape.begin(), a.shape.end(), b.shape.begin(), b.shape.end(),
                                          [](Size x, Size y) { return x.raw() == y.raw(); });
}

/// Keeps the inputs, then a slot for each value that some branch keeps; branches share slots of one type.
Kept Cond::keep(std::span<const Tensor> inputs, const Mask& wanted) const {
  const std::vector<std::vector<std::size_t>> own = inputs_of_branches();
  const Flags active = flags_of(wanted, inputs.size());
  const auto rest = std::make_shared<Rest>();
  Flags depends(outputs(), false);
  Types slots;
  for (std::size_t b = 0; b < branches.size(); ++b) {
    const function::Split& split =
        rest->splits.emplace_back(branches[b], chosen(active, own[b]), Flags(branches[b].inputs(), true), Runs::once);
    for (std::size_t i = 0; i < outputs(); ++i) depends[i] |= split.active_outputs()[i];
    const Types types = output_types(split.forward().program);
    std::vector<bool> is_taken(slots.size());
    std::vector<std::size_t>& of_branch = rest->slots.emplace_back();
    for (std::size_t k = 0; k < split.kept(); ++k) {
      const Type& type = types[outputs() + k];
      std::size_t s = 0;
      while (s < slots.size() && (is_taken[s] || !is_alike(slots[s], type))) ++s;
      if (s == slots.size()) {
        slots.push_back(type);
        is_taken.push_back(false);
      }
      is_taken[s] = true;
      of_branch.push_back(s);
    }
  }
  const auto branch = [&](std::size_t b, const State& shown) {
    Tensors values(shown.begin(), shown.end());
    for (std::size_t k = given(); k < own[b].size(); ++k) values.push_back(inputs[own[b][k]]);
    const Closure& forward = rest->splits[b].forward();
    const State found = run(forward.program, values, forward.captured);
    State all(found.begin(), found.begin() + std::ssize(found) - std::ssize(rest->slots[b]));
    const std::size_t kept = all.size();
    all.resize(kept + slots.size());
    for (std::size_t k = 0; k < rest->slots[b].size(); ++k) all[kept + rest->slots[b][k]] = found[kept + k];
    for (std::size_t s = 0; s < slots.size(); ++s)
      if (!all[kept + s].defined()) all[kept + s] = expanded_zero(slots[s]);
    return all;
  };
  const State all(inputs.begin() + 1, inputs.begin() + 1 + operands);
  const Tensors found = apply_branches(inputs[0], all, branches.size(), branch);
  const auto kept = found.begin() + static_cast<std::ptrdiff_t>(outputs());
  Kept result{.outputs = {found.begin(), kept}, .residual = {{inputs.begin(), inputs.end()}, rest}};
  result.residual.tensors.insert(result.residual.tensors.end(), kept, found.end());
  for (const bool one : depends) result.constant.push_back(!one);
  return result;
}

Tensors Cond::vjp(const Reverse& rule) const {
  const std::vector<Tensor>& tensors = rule.residual->tensors;
  const auto& rest = *static_cast<const Rest*>(rule.residual->rest.get());
  const std::vector<std::vector<std::size_t>> own = inputs_of_branches();
  const std::size_t inputs = rule.input_types.size();
  std::vector<function::Backward> backward;
  Flags given_by_any(inputs, false), read_by_any(tensors.size(), false), taken_by_any(outputs(), false);
  // Of a branch's operand, that among the tensors.
  const auto tensor_of = [&](std::size_t b, const function::Reads& read) {
    return read.of_input ? own[b][read.index] : inputs + rest.slots[b][read.index];
  };
  for (std::size_t b = 0; b < branches.size(); ++b) {
    const Flags none(branches[b].inputs(), false);
    backward.push_back(rest.splits[b].backward(defined_among(rule.cotangents), none, none));
    for (std::size_t k = 0; k < own[b].size(); ++k) given_by_any[own[b][k]] |= backward[b].given[k];
    for (const function::Reads& read : backward[b].reads) read_by_any[tensor_of(b, read)] = true;
    for (std::size_t i = 0; i < outputs(); ++i) taken_by_any[i] |= backward[b].taken[i];
  }
  // Operands: what is read, captures of one branch aside, then the cotangents.
  State operands_back;
  std::vector<std::size_t> place(tensors.size() + outputs());
  const auto add = [&](std::size_t of, const Tensor& operand) {
    place[of] = operands_back.size();
    operands_back.push_back(operand);
  };
  const auto is_capture = [&](std::size_t i) { return i > given() && i < inputs; };
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (read_by_any[i] && !is_capture(i)) add(i, tensors[i]);
  for (std::size_t i = 0; i < outputs(); ++i)
    if (taken_by_any[i]) add(tensors.size() + i, rule.cotangent(static_cast<int>(i)));
  const auto branch = [&](std::size_t b, const State& shown) {
    Tensors values;
    for (const function::Reads& read : backward[b].reads) {
      const std::size_t i = tensor_of(b, read);
      values.push_back(is_capture(i) ? tensors[i] : shown[place[i]]);
    }
    for (std::size_t i = 0; i < outputs(); ++i)
      if (backward[b].taken[i]) values.push_back(shown[place[tensors.size() + i]]);
    const Closure& closure = backward[b].closure;
    const State found = run(closure.program, values, closure.captured);
    State gradients(inputs);
    std::size_t next = 0;
    for (std::size_t k = 0; k < own[b].size(); ++k)
      if (backward[b].given[k]) gradients[own[b][k]] = found[next++];
    State all;
    for (std::size_t i = 0; i < inputs; ++i)
      if (given_by_any[i]) all.push_back(gradients[i].defined() ? gradients[i] : zeros_of(rule.input_types[i]));
    return all;
  };
  return by_flag(apply_branches(tensors[0], operands_back, branches.size(), branch), given_by_any);
}

/// What the branches return: where some return a number and others a tensor of its kind, the tensor's type.
Types types_of_results(std::span<const Closure> branches) {
  Types types = output_types(branches[0].program);
  for (const Closure& branch : branches) {
    const Types found = output_types(branch.program);
    for (std::size_t i = 0; i < types.size(); ++i)
      if (branches[0].numbers[i] && !branch.numbers[i] && number_becomes(types[i].dtype, found[i].dtype))
        types[i].dtype = found[i].dtype;
  }
  return types;
}

/// The branch with numbers of these dtypes.
Closure with_numbers_of(const Closure& branch, const Types& types, const State& operands) {
  const Types found = output_types(branch.program);
  std::vector<std::size_t> others;  // the numbers of another dtype
  for (std::size_t i = 0; i < types.size(); ++i)
    if (branch.numbers[i] && found[i].dtype != types[i].dtype && number_becomes(found[i].dtype, types[i].dtype))
      others.push_back(i);
  if (others.empty()) return branch;
  const auto converted = [&](const State& shown) {
    State results = run(branch.program, shown, branch.captured);
    for (const std::size_t i : others) results[i] = to(results[i], types[i].dtype);
    return results;
  };
  return written_down(converted, operands);
}

}  // namespace

void run_recorded_branches(const char* name, const Tensor& question, const tree::Walk& operands,
                           std::span<const Closure> branches, const tree::Walk& result) {
  require_one_element(name, type_of(question));
  const Types types = types_of_results(branches);
  const Tensors leaves = function::defined_leaves(operands);
  const State given(leaves.begin(), leaves.end());
  std::vector<Closure> of_one_type;
  for (const Closure& branch : branches) {
    of_one_type.push_back(with_numbers_of(branch, types, given));
    const Types found = output_types(of_one_type.back().program);
    for (std::size_t i = 0; i < types.size(); ++i) require_same_type(name, types[i], found[i]);
  }
  const Tensors outputs = apply_cond(question, given, of_one_type);
  std::span<const Tensor> rest = outputs;
  function::write_leaves(rest, result);
}

}  // namespace ricci::runs
