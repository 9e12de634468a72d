// Which size is that of the examples, whether they know nothing of each other, and how many fit into a cache.
#include "compile/blocks.h"

#include <algorithm>
#include <utility>

#include "compile/examples.h"
#include "compile/switches.h"
#include "tensor/at.h"

namespace ricci::compiled {
namespace {

/// `bytes`: of what stands between the steps. Rows of a block are no power of two long: those would meet in the same
/// lines of a cache.
std::int64_t examples_of_block(std::int64_t bytes, std::int64_t examples) {
  constexpr std::int64_t much = 1 << 20, of_block = 1 << 19, step = 16, fewest = 64;
  if (bytes < much) return examples;
  const std::int64_t steps = of_block * examples / bytes / step;
  const std::int64_t chosen = step * (steps - (steps % 2 == 0 ? 1 : 0));
  return chosen < fewest ? examples : chosen;
}

/// The sizes of a call with so many examples along the unknown.
std::shared_ptr<const CallSizes> with_examples(const CallSizes& call, int unknown, std::int64_t count) {
  std::vector<Size> inputs(call.inputs().begin(), call.inputs().end());
  const std::vector<Size> symbols = call.table().inputs();
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (symbols[i].is_symbol() && call.table().unknown_of(symbols[i]) == unknown) inputs[i] = count;
  return std::make_shared<const CallSizes>(call.shared_table(), std::move(inputs));
}

}  // namespace

std::optional<ExampleBlocks> blocks_of(const Program& program) {
  const CallSizes* const call = program.call_sizes();
  const ProgramBody& body = program.body();
  if (!call || body.equations.size() < 2 || body.inputs.empty() || is_listed("RICCI_COMPILE_WITHOUT", "blocks"))
    return {};
  const auto first_with_symbol = std::ranges::find_if(body.inputs, [&](Variable v) {
    const Shape& shape = body.types[at(v)].shape;
    return !shape.empty() && shape[0].is_symbol();
  });
  if (first_with_symbol == body.inputs.end()) return {};
  const Size size = body.types[at(*first_with_symbol)].shape[0];
  const std::optional<int> unknown = call->table().unknown_of(size);
  if (!unknown) return {};
  const std::int64_t count = call->of(size).raw();
  if (count == 0) return {};
  const Examples examples(body, call->shared_table(), *unknown);

  ExampleBlocks blocks{.examples = count, .of_block = count, .sizes = nullptr, .has_examples = {}};
  for (const Variable v : body.inputs) {
    const Type& type = body.types[at(v)];
    blocks.has_examples.push_back(examples.has(type));
    if (examples.has(type) && !examples.has_in_front(type)) return {};
  }
  const auto is_in_front = [&](Variable v) { return examples.has_in_front(body.types[at(v)]); };
  if (!std::ranges::all_of(body.outputs, is_in_front)) return {};
  std::int64_t bytes = 0;
  for (const Equation& e : body.equations)
    for (const Variable v : e.outputs) {
      const bool is_result = std::ranges::find(body.outputs, v) != body.outputs.end();
      if (!is_result && !e.rules->is_view() && examples.has(body.types[at(v)]))
        bytes += bytes_of(type_of_variable(program, v));
    }
  blocks.of_block = examples_of_block(bytes, count);
  if (2 * blocks.of_block > count) return {};
  if (!std::ranges::all_of(body.equations, [&](const Equation& e) { return examples.are_apart_in(e); })) return {};
  blocks.sizes = with_examples(*call, *unknown, blocks.of_block);
  return call->table().serves(blocks.sizes->inputs()) ? std::optional(blocks) : std::nullopt;
}

}  // namespace ricci::compiled
