// The plan is that of one block of examples. That it serves any number of them follows from two things: no equation
// knows more than one example, and no decision of the function was taken by their number.
#include "compile/open_examples.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "compile/examples.h"
#include "compile/folding.h"
#include "tensor/at.h"
#include "transforms/arguments.h"

namespace ricci::compiled {
namespace {

/// The sizes of the program's inputs with so many examples.
std::vector<Size> sizes_of(const SymbolTable& table, std::int64_t examples) {
  std::vector<Size> sizes = table.inputs();
  for (Size& size : sizes)
    if (size.is_symbol()) size = examples;
  return sizes;
}

[[noreturn]] void raise_decision(const Guard& guard, const std::string& found, const runs::Place& where) {
  raise_own<ValueError>(
      "export_object: " + (guard.origin ? guard.origin() : std::string("the function")) + " " + found + "; " +
          (guard.remedy.empty() ? "export the function for one number of examples, without .open" : guard.remedy),
      where);
}

/// The unknown that is the number of examples. Throws ValueError where the function makes it a number.
int unknown_of_examples(const SymbolTable& table, const runs::Place& where) {
  for (const Size size : table.inputs())
    if (size.is_symbol())
      if (const std::optional<int> unknown = table.unknown_of(size)) return *unknown;
  const auto is_number = [](const Guard& g) { return g.relation == Guard::Relation::equal; };
  raise_decision(*std::ranges::find_if(table.guards(), is_number), "needs one number of examples", where);
}

/// Numbers of examples at which a decision might be another one: small ones, those around powers of two, and the number
/// that the decision compares with.
std::vector<std::int64_t> numbers_to_try(const Guard& guard) {
  constexpr std::int64_t most = std::int64_t{1} << 40;
  std::vector<std::int64_t> all;
  for (std::int64_t n = 2; n < 100; ++n) all.push_back(n);
  for (std::int64_t n = 128; n <= most; n *= 2) all.insert(all.end(), {n - 1, n, n + 1});
  std::int64_t number = 0, factor = 0;
  for (const auto& [unknowns, coefficient] : guard.difference) (unknowns.empty() ? number : factor) = coefficient;
  for (std::int64_t n = factor == 0 ? 0 : -number / factor, i = -1; i <= 1; ++i)
    if (n + i >= 2 && n + i <= most) all.push_back(n + i);
  return all;
}

/// Throws ValueError where another number of examples would make the function decide otherwise. One example is computed
/// as many are.
void require_no_decision(const SymbolTable& table, const runs::Place& where) {
  for (const Guard& guard : table.guards())
    for (const std::int64_t n : numbers_to_try(guard)) {
      const std::vector<Size> sizes = sizes_of(table, n);
      if (!guard.holds(table.evaluate(guard.left, sizes), table.evaluate(guard.right, sizes)))
        raise_decision(guard,
                       "decides by the number of examples: for " + std::to_string(n) + " of them it is not so that " +
                           table.print(guard.left) + to_string(guard.relation) + table.print(guard.right),
                       where);
    }
}

/// `f32[s0,3]`.
std::string text_of(const Type& type, const SymbolTable& table) {
  std::string sizes;
  for (const Size size : type.shape)
    sizes += (sizes.empty() ? "" : ",") + (size.is_symbol() ? table.print(size) : std::to_string(size.raw()));
  return std::string(short_name(type.dtype)) + "[" + sizes + "]";
}

/// What the user may have written where examples know of each other, with what to write instead.
std::string remedy(const ProgramBody& body, const Equation& e) {
  const void* const op = e.parameters.get();
  const unsigned moved = e.rules->moves_elements ? e.rules->moves_elements(op) : 0;
  const unsigned operands = (1U << std::min<std::size_t>(31, e.inputs.size())) - 1;
  const bool chooses = moved != 0 && (moved & operands) != operands;  // by an operand
  const bool counts = e.inputs.empty();                               // in which row an example stands
  if (chooses || counts)
    return "reading and writing at a place that each example computes does so (x[k], index_select, gather, index_put "
           "under vmap); write it by all places, x[k] as where(arange(n) == k, x, 0).sum()";
  const auto is_truth = [&](Variable v) { return body.types[at(v)].dtype == DType::boolean; };
  if (e.rules->accumulation() && std::ranges::all_of(e.inputs, is_truth))
    return "a cond of each example asks whether any takes a branch; write where(condition, a, b)";
  return "export what each example does by itself, or all for one number of them, without .open";
}

/// Throws for the first equation in which examples may know of each other: of a loop or a branch, for the first inside.
void require_apart_in(const ProgramBody& body, const std::shared_ptr<const SymbolTable>& table, int unknown,
                      const runs::Place& where) {
  const Examples examples(body, table, unknown, true);
  for (const Equation& e : body.equations) {
    if (examples.are_apart_in(e)) continue;
    for_each_program(e.op(), [&](const Program& inner) { require_apart_in(inner.body(), table, unknown, where); });
    const Type& type = body.types[at(e.inputs.empty() ? e.outputs[0] : e.inputs[0])];
    raise_own<NotImplementedError>("export_object: in " + std::string(e.rules->name) + " of " + text_of(type, *table) +
                                       " examples may know of each other, and an object goes through them in blocks; " +
                                       remedy(body, e),
                                   where);
  }
}

/// Throws unless the program with kernels computes each example by itself. `whole`: the program without kernels, whose
/// operations the user knows.
void require_apart(const ProgramBody& body, const ProgramBody& whole, const std::shared_ptr<const SymbolTable>& table,
                   int unknown, const runs::Place& where) {
  const Examples examples(body, table, unknown, true);
  for (const Variable v : body.outputs)
    if (const Type& type = body.types[at(v)]; !examples.has_in_front(type))
      raise_own<ValueError>("export_object: " + text_of(type, *table) +
                                " is a result without examples in front; give it as one for each example, or export "
                                "it as a function of its own",
                            where);
  if (std::ranges::all_of(body.equations, [&](const Equation& e) { return examples.are_apart_in(e); })) return;
  require_apart_in(whole, table, unknown, where);
  require_apart_in(body, table, unknown, where);
}

/// So many fill the registers of each kernel.
std::int64_t examples_of_block(const ProgramBody& body, int unknown, const Target& target) {
  if (target.is_scalar()) return 1;
  constexpr std::int64_t without_lanes = 16;
  std::int64_t most = 0;
  for (const Equation& e : body.equations)
    if (const std::optional<KernelAlong> along = kernel_along(e); along && along->lanes.unknown == unknown)
      most = std::max<std::int64_t>(most, along->kernel->lanes_together());
  return most > 0 ? most : without_lanes;
}

/// Says how long examples are, and gives each array the memory of a block.
void open_examples(FunctionPlan& plan, const ProgramBody& of_block, const ProgramBody& body, const Examples& examples,
                   std::int64_t count) {
  constexpr std::int64_t alignment = 64;
  const auto aligned = [](std::int64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; };
  OpenExamples open{.of_block = count};
  const auto rows_of = [&](Variable of_variable, Variable v) {
    OpenExamples::Rows rows;
    if (!examples.has(body.types[at(of_variable)])) return rows;
    const std::int64_t bytes = bytes_of(of_block.types[at(v)]);
    rows = {bytes / count, aligned(plan.workspace_bytes)};
    plan.workspace_bytes = rows.copy + bytes;
    return rows;
  };
  for (std::size_t i = 0; i < plan.arguments; ++i)
    open.arguments.push_back(rows_of(body.inputs[i], of_block.inputs[i]));
  for (std::size_t k = 0; k < plan.results; ++k) open.results.push_back(rows_of(body.outputs[k], of_block.outputs[k]));
  plan.open = std::move(open);
}

}  // namespace

PlannedFunction planned_for_examples(const Program& program, std::span<const Tensor> captured, const std::string& name,
                                     const Target& target, const runs::Place& where) {
  const std::shared_ptr<const SymbolTable> table = program.shared_call_sizes()->shared_table();
  const int unknown = unknown_of_examples(*table, where);
  require_no_decision(*table, where);
  const Folded kernels = with_kernels_along_open_sizes(program, captured, target);
  const ProgramBody& body = kernels.program.body();
  {
    SymbolTable symbols(*table);
    const SymbolScope scope(&symbols);
    require_apart(body, program.body(), table, unknown, where);
  }
  const std::int64_t count = examples_of_block(body, unknown, target);
  const auto sizes = std::make_shared<const CallSizes>(table, sizes_of(*table, count));
  const Folded of_block{resolved(kernels.program.in_call(sizes)), kernels.constants};
  PlannedFunction made = planned_alone(of_block, name, target, where);
  open_examples(made.plan, of_block.program.body(), body, Examples(body, table, unknown), count);
  return made;
}

}  // namespace ricci::compiled
