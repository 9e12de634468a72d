// Folds what depends on captured tensors only, and chooses the lanes.
#include "compile/folding.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "compile/elements.h"
#include "compile/lane_steps.h"
#include "interpreters/record.h"
#include "program/programs_run.h"
#include "program/structure.h"
#include "ricci/ops.h"

namespace ricci::compiled {

Types operand_types(const ProgramBody& body, const Equation& e) {
  Types types;
  for (const Variable v : e.inputs) types.push_back(body.types[at(v)]);
  return types;
}

namespace {

Program program_of(ProgramBody body) { return Program(Shared<const ProgramBody>(new ProgramBody(std::move(body)))); }

/// Each time it runs, at no place that a program knows.
bool draws_by_itself(const Equation& e) {
  if (e.rules->kind == Kind::custom && !e.rules->keep && e.rules->draws && e.rules->draws(e.parameters.get()))
    return true;
  bool draws = false;
  for_each_program(e.op(), [&](const Program& program) {
    draws = draws || std::ranges::any_of(program.body().equations, draws_by_itself);
  });
  return draws;
}

/// Whether the equation is computed once, when the function is made. A kernel fills large tensors in less memory.
bool folds(const ProgramBody& body, const Equation& e, const std::vector<bool>& is_known, const FoldOptions& options) {
  constexpr std::int64_t most_filled = 4096;
  if (e.has_symbols || acts(e.op()) || draws_by_itself(e)) return false;
  if (e.rules->is_view() && !options.folds_views) return false;
  const std::int64_t most = e.inputs.empty() ? std::min(most_filled, options.most_elements) : options.most_elements;
  const auto is_small = [&](Variable v) {
    return std::ranges::any_of(body.types[at(v)].shape, &Size::is_symbol) || body.types[at(v)].shape.numel() <= most;
  };
  return std::ranges::all_of(e.outputs, is_small) &&
         std::ranges::all_of(e.inputs, [&](Variable v) { return is_known[at(v)]; });
}

bool has_open_size(const Type& type) { return std::ranges::any_of(type.shape, &Size::is_symbol); }
bool is_empty(const Type& type) {
  return std::ranges::any_of(type.shape, [](Size size) { return !size.is_symbol() && size.raw() == 0; });
}

/// Equations that no code but the library's computes.
std::ptrdiff_t count_others(const Program& program) {
  return std::ranges::count_if(program.body().equations, [&](const Equation& e) {
    const bool is_known = e.rules->is_view() || e.rules->moves_elements || runs_in_a_row(program.body(), e) ||
                          gives_constants(e) || runs_as<Turns>(e) || runs_as<Branches>(e) ||
                          structure_as<ProductAxes>(e.op()) || structure_as<AtPlaces>(e.op()) ||
                          structure_as<Allowed>(e.op()) || structure_as<Copied>(e.op());
    return !is_known && !kernel_call(e, operand_types(program.body(), e));
  });
}

/// Lanes along an axis of more elements than `number`, with at most so many elements of a value in one lane, or where
/// there is one lane.
struct Unrolled {
  std::int64_t number, of_lane, of_one;
};
/// The ways that are tried. Loops that are unrolled take longer to compile and run faster. Text in C keeps its loops
/// and its products of matrices, so that a person can read it.
std::vector<Unrolled> ways_to_unroll(const Target& target) {
  std::vector<Unrolled> ways;
  if (target.writes_c())
    for (const std::int64_t number : {3, 4, 15, 64}) ways.push_back({number, 16, 64});
  const ExpandOptions usual;
  for (const std::int64_t number : {64, 15, 4, 3}) ways.push_back({number, usual.most_of_lane, usual.most_of_one});
  return ways;
}
Program along_numbers(const Program& program, const Unrolled& unrolled, const Target& target) {
  return with_lane_kernels(program, {.most_of_lane = unrolled.of_lane,
                                     .most_of_one = unrolled.of_one,
                                     .most_of_formula = SIZE_MAX,
                                     .most_unrolled_number = unrolled.number,
                                     .takes_all = true,
                                     .target = &target});
}

}  // namespace

bool runs_in_a_row(const ProgramBody& body, const Equation& e) {
  return e.rules->kind == Kind::elementwise && e.rules->formula() && body.types[at(e.outputs[0])].rank() > 1;
}

bool gives_constants(const Equation& e) {
  return e.inputs.empty() && !e.outputs.empty() && e.rules->eval && e.rules->effect == Effect::no_effect;
}

bool gives_nothing(const ProgramBody& body, const Equation& e) {
  return !e.outputs.empty() && std::ranges::all_of(e.outputs, [&](Variable v) { return is_empty(body.types[at(v)]); });
}

bool may_be_wrong(const ProgramBody& body, const Equation& e) {
  if (has_effect(e.op()) || draws_by_itself(e)) return true;
  if (!may_fail(*e.rules)) return false;
  const auto is_without_elements = [&](Variable v) { return is_empty(body.types[at(v)]); };
  // A program may make wrong indices itself.
  if (!holds_programs(e.op()) && std::ranges::all_of(e.inputs, is_without_elements)) return false;
  const std::optional<KernelCall> call = kernel_call(e, operand_types(body, e));
  return !call || call->kernel->has_turns() || !call->kernel->plan().program.required.empty();
}

Folded folded(const Program& program, std::span<const Tensor> captured, const FoldOptions& options) {
  const ProgramBody& all = program.body();
  const std::size_t arguments = all.inputs.size() - captured.size();
  std::vector<bool> is_known(all.types.size(), true);
  ProgramBody known = all, rest = all;
  std::vector<Tensor> given(captured.begin(), captured.end());
  known.equations.clear(), known.outputs.clear(), rest.equations.clear();
  known.inputs.assign(all.inputs.begin() + static_cast<std::ptrdiff_t>(arguments), all.inputs.end());
  rest.inputs.resize(arguments);
  /// Not computed: known only if it is empty.
  const auto leave = [&](Variable v) {
    is_known[at(v)] = is_empty(all.types[at(v)]) && !has_open_size(all.types[at(v)]);
    if (!is_known[at(v)]) return;
    known.inputs.push_back(v);
    given.push_back(ops::zeros(all.types[at(v)].shape, all.types[at(v)].dtype));
  };
  for (const Variable v : rest.inputs) leave(v);
  for (const Equation& e : all.equations) {
    const bool is_folded = folds(all, e, is_known, options);
    (is_folded ? known : rest).equations.push_back(e);
    for (const Variable v : e.outputs)
      if (is_folded) is_known[at(v)] = true;
      else if (may_be_wrong(all, e)) is_known[at(v)] = false;
      else leave(v);
  }
  std::set<Variable> wanted;
  const auto want = [&](Variable v) {
    const bool is_number = std::ranges::find(all.constants, v, &Constant::variable) != all.constants.end();
    const bool is_argument = std::ranges::find(rest.inputs, v) != rest.inputs.end();
    if (is_known[at(v)] && !is_number && !is_argument) wanted.insert(v);
  };
  for (const Equation& e : rest.equations) std::ranges::for_each(e.inputs, want);
  std::ranges::for_each(all.outputs, want);
  known.outputs.assign(wanted.begin(), wanted.end());
  rest.inputs.insert(rest.inputs.end(), wanted.begin(), wanted.end());
  std::erase_if(rest.equations, [&](const Equation& e) {
    return !e.outputs.empty() && std::ranges::all_of(e.outputs, [&](Variable v) { return is_known[at(v)]; });
  });
  return {program_of(std::move(rest)), program_of(without_dead_equations(known))(given)};
}

Folded with_kernels_along_open_sizes(const Program& program, std::span<const Tensor> captured, const Target& target) {
  const Folded parts = folded(program.in_call(nullptr), captured);
  const ExpandOptions options{.table = program.shared_call_sizes()->shared_table(),
                              .most_of_formula = SIZE_MAX,
                              .takes_all = true,
                              .target = &target};
  return {with_lane_kernels(parts.program, options), parts.constants};
}

Folded with_kernels(const Program& program, std::span<const Tensor> captured, const Target& target) {
  std::optional<Folded> best;
  const auto is_enough = [&](Program made, const std::vector<Tensor>& constants) {
    if (!best || count_others(made) < count_others(best->program)) best = Folded{std::move(made), constants};
    return count_others(best->program) == 0;
  };
  if (const auto& sizes = program.shared_call_sizes()) {
    const Folded open = with_kernels_along_open_sizes(program, captured, target);
    if (is_enough(resolved(open.program.in_call(sizes)), open.constants)) return std::move(*best);
  }
  Folded parts = folded(resolved(program), captured);
  parts = folded(parts.program.simplified(), parts.constants);
  for (const Unrolled& unrolled : ways_to_unroll(target))
    if (is_enough(along_numbers(parts.program, unrolled, target), parts.constants)) break;
  return std::move(*best);
}

}  // namespace ricci::compiled
