// Which size is that of the examples, whether they know nothing of each other, and how many fit into a cache.
#include "compile/blocks.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "compile/expansion.h"
#include "compile/lane_steps.h"
#include "compile/switches.h"

namespace ricci::compiled {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// The examples of a program: how its tensors lie along them.
class Examples {
 public:
  Examples(const ProgramBody& body, const std::shared_ptr<const SymbolTable>& table, int unknown)
      : body_(body), options_{.table = table, .lanes = {.unknown = unknown}}, sizes_(body, 3, options_) {}

  bool are_along(Size size) const { return sizes_.is_lane(size); }
  bool has(const Type& type) const {
    return std::ranges::any_of(type.shape, [&](Size size) { return sizes_.depends_on_lanes(size); });
  }
  bool has_in_front(const Type& type) const {
    return type.rank() > 0 && are_along(type.shape[0]) &&
           std::none_of(type.shape.begin() + 1, type.shape.end(),
                        [&](Size size) { return sizes_.depends_on_lanes(size); });
  }
  /// Whether each example of the equation's results is computed of the same one's operands, and of what has none.
  bool are_apart_in(const Equation& e) const {
    if (const std::optional<KernelAlong> kernel = kernel_along(e)) {
      if (kernel->outer == options_.lanes) return true;  // it runs for each of them by itself
      const LaneProgram& program = kernel->kernel->plan().program;
      const bool is_along = kernel->lanes == options_.lanes || !program.has_lanes;
      return is_along && !kernel->outer.is_given() && are_apart_in(program, types(e.inputs), types(e.outputs));
    }
    if (e.rules->effect != Effect::no_effect) return false;
    const auto has_none = [&](const auto& variables) {
      return std::ranges::none_of(variables, [&](Variable v) { return has(type(v)); });
    };
    if (has_none(e.inputs) && has_none(e.outputs))  // each block computes it
      return (e.rules->is_view || e.inputs.empty()) && !sizes_.reads_lanes(e);
    const ProgramBody part = alone(e);
    const std::variant<LaneProgram, NotExpandable> expanded = expand(with_own_numbers(part).body(), body_, options_);
    const auto* const program = std::get_if<LaneProgram>(&expanded);
    return program && are_apart_in(*program, types(part.inputs), types(e.outputs));
  }

 private:
  const Type& type(Variable v) const { return body_.types[at(v)]; }

  template <class Variables>
  Types types(const Variables& variables) const {
    Types types;
    for (const Variable v : variables) types.push_back(type(v));
    return types;
  }
  ProgramBody alone(const Equation& e) const {
    ProgramBody part;
    part.types = body_.types, part.constants = body_.constants;
    part.equations = {e};
    const auto is_number = [&](Variable v) {
      return std::ranges::find(body_.constants, v, &Constant::variable) != body_.constants.end();
    };
    for (const Variable v : e.inputs)
      if (!is_number(v) && std::ranges::find(part.inputs, v) == part.inputs.end()) part.inputs.push_back(v);
    part.outputs.assign(e.outputs.begin(), e.outputs.end());
    return part;
  }
  /// Whether lanes are examples in it, and none reads another one, or asks for its number.
  bool are_apart_in(const LaneProgram& program, const Types& operands, const Types& results) const {
    using Kind = ScalarStep::Kind;
    const auto asks = [](const ScalarStep& s) {
      return s.kind == Kind::lane || s.kind == Kind::lanes || s.kind == Kind::total;
    };
    if (std::ranges::any_of(program.graph.steps(), asks)) return false;
    const auto knows_examples = [&](const Given& given) {
      if (given.what == Given::What::filling) return true;
      const Type& of = operands[at(given.tensor)];
      return given.what == Given::What::address ? has(of) : sizes_.depends_on_lanes(of.shape[at(given.axis)]);
    };
    if (std::ranges::any_of(program.givens, knows_examples)) return false;
    for (std::size_t i = 0; i < program.inputs.size(); ++i) {
      const Place& place = program.inputs[i].place;
      const bool begins_with_number = program.turns && program.turns->first_number[i];
      if (begins_with_number) continue;
      if (!lies_by_example(place, operands[at(place.tensor)])) return false;
    }
    return std::ranges::all_of(program.outputs, [&](const Output& y) {
      const std::int64_t k = y.place.tensor;  // below 0: a state that nobody reads
      return k < 0 || (at(k) < results.size() && lies_by_example(y.place, results[at(k)]));
    });
  }
  /// Whether lane k of an element is that of example k.
  bool lies_by_example(const Place& place, const Type& of) const {
    if (!has(of)) return place.stride == 0 && place.per_lane_count == 0;
    const auto depends = [&](Size size) { return sizes_.depends_on_lanes(size); };
    const auto axis = std::ranges::find_if(of.shape, depends);
    if (!are_along(*axis) || std::ranges::count_if(of.shape, depends) > 1) return false;
    std::int64_t behind = 1;
    for (auto other = axis + 1; other != of.shape.end(); ++other) {
      if (sizes_.is_open(*other)) return false;
      Size number = *other;
      sizes_.put(number);
      behind *= number.raw();
    }
    return place.stride == behind && place.per_lane_count % behind == 0 && place.base >= 0 && place.base < behind;
  }

  const ProgramBody& body_;
  const ExpandOptions options_;
  const LaneSizes sizes_;
};

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

std::optional<Blocks> blocks_of(const Program& program) {
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
  const Examples examples(body, call->shared_table(), *unknown);

  Blocks blocks{.examples = count, .of_block = count, .sizes = nullptr, .has_examples = {}};
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
      if (!is_result && !e.rules->is_view && examples.has(body.types[at(v)]))
        bytes += bytes_of(type_of_variable(program, v));
    }
  blocks.of_block = examples_of_block(bytes, count);
  if (2 * blocks.of_block > count) return {};
  if (!std::ranges::all_of(body.equations, [&](const Equation& e) { return examples.are_apart_in(e); })) return {};
  blocks.sizes = with_examples(*call, *unknown, blocks.of_block);
  return call->table().serves(blocks.sizes->inputs()) ? std::optional(blocks) : std::nullopt;
}

}  // namespace ricci::compiled
