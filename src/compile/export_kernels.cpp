// What captured tensors alone say, and the choice of lanes.
#include "compile/export_kernels.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "compile/lane_steps.h"
#include "program/stand_alone.h"

namespace ricci::compiled {

Types operand_types(const ProgramBody& body, const Equation& e) {
  Types types;
  for (const Variable v : e.inputs) types.push_back(body.types[static_cast<std::size_t>(v)]);
  return types;
}

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// The program without the equations that need no argument, and what they give.
struct Folded {
  ProgramBody body;  // its inputs: the arguments, then `constants`
  std::vector<Tensor> constants;
};

Folded folded(const Program& program, std::span<const Tensor> captured) {
  const ProgramBody& all = program.body();
  const std::size_t arguments = all.inputs.size() - captured.size();
  std::vector<bool> is_known(all.types.size(), true);
  for (std::size_t i = 0; i < arguments; ++i) is_known[at(all.inputs[i])] = false;
  ProgramBody known = all, rest = all;
  known.equations.clear(), known.outputs.clear(), rest.equations.clear();
  known.inputs.assign(all.inputs.begin() + static_cast<std::ptrdiff_t>(arguments), all.inputs.end());
  rest.inputs.resize(arguments);
  for (const Equation& e : all.equations) {
    const bool needs_none = std::ranges::all_of(e.inputs, [&](Variable v) { return is_known[at(v)]; });
    const bool folds = needs_none && e.rules->effect == Effect::no_effect;
    (folds ? known : rest).equations.push_back(e);
    for (const Variable v : e.outputs) is_known[at(v)] = folds;
  }
  std::set<Variable> wanted;
  const auto want = [&](Variable v) {
    const bool is_number = std::ranges::find(all.constants, v, &Constant::variable) != all.constants.end();
    if (is_known[at(v)] && !is_number) wanted.insert(v);
  };
  for (const Equation& e : rest.equations) std::ranges::for_each(e.inputs, want);
  std::ranges::for_each(all.outputs, want);
  known.outputs.assign(wanted.begin(), wanted.end());
  rest.inputs.insert(rest.inputs.end(), wanted.begin(), wanted.end());
  const Program first(Shared<const ProgramBody>(new ProgramBody(without_dead_equations(known))));
  return {std::move(rest), first(captured)};
}

/// Equations that no code but the library's computes.
std::ptrdiff_t count_others(const Program& program) {
  return std::ranges::count_if(program.body().equations, [&](const Equation& e) {
    const bool is_known = e.rules->is_view || e.rules->moves_elements || Facts<TurnsOf>::of(*e.rules) ||
                          Facts<BranchesOf>::of(*e.rules) || Facts<ProductAxesOf>::of(*e.rules);
    return !is_known && !kernel_call(e, operand_types(program.body(), e));
  });
}

/// Lanes along an open size, as the compiled function has them: so both give the same bits.
WithKernels along_open_sizes(const Program& program, std::span<const Tensor> captured) {
  const CallSizes& sizes = *program.call_sizes();
  const Program made = with_lane_kernels(program.in_call(nullptr), {.table = sizes.shared_table(), .wants_all = true});
  Folded parts = folded(resolved(made.in_call(program.shared_call_sizes())), captured);
  return {Program(Shared<const ProgramBody>(new ProgramBody(std::move(parts.body)))), std::move(parts.constants)};
}
/// Lanes along an axis of more elements than these.
WithKernels along_numbers(const Folded& parts, std::int64_t most_unrolled) {
  const Program plain{Shared<const ProgramBody>(new ProgramBody(parts.body))};
  return {with_lane_kernels(plain, {.most_unrolled_number = most_unrolled, .wants_all = true}), parts.constants};
}

}  // namespace

WithKernels with_kernels(const Program& program, std::span<const Tensor> captured) {
  std::optional<WithKernels> best;
  const auto is_enough = [&](WithKernels made) {
    if (!best || count_others(made.program) < count_others(best->program)) best = std::move(made);
    return count_others(best->program) == 0;
  };
  if (program.call_sizes() && is_enough(along_open_sizes(program, captured))) return std::move(*best);
  const Folded parts = folded(resolved(program).simplified(), captured);
  for (const std::int64_t most_unrolled : {64, 15, 3})
    if (is_enough(along_numbers(parts, most_unrolled))) break;
  return std::move(*best);
}

}  // namespace ricci::compiled
