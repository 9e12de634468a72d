// Whether examples are apart: an equation is said element by element, and its elements are looked at.
#include "compile/examples.h"

#include <algorithm>
#include <variant>
#include <vector>

#include "compile/expansion.h"
#include "program/programs_run.h"
#include "program/structure.h"
#include "tensor/at.h"

namespace ricci::compiled {
namespace {

template <class Variables>
Types types_of(const ProgramBody& body, const Variables& variables) {
  Types types;
  for (const Variable v : variables) types.push_back(body.types[at(v)]);
  return types;
}

/// The equation as a part of the body.
ProgramBody alone(const ProgramBody& body, const Equation& e) {
  ProgramBody part;
  part.types = body.types, part.constants = body.constants;
  part.equations = {e};
  const auto is_number = [&](Variable v) {
    return std::ranges::find(body.constants, v, &Constant::variable) != body.constants.end();
  };
  for (const Variable v : e.inputs)
    if (!is_number(v) && std::ranges::find(part.inputs, v) == part.inputs.end()) part.inputs.push_back(v);
  part.outputs.assign(e.outputs.begin(), e.outputs.end());
  return part;
}

/// No kernel is made of what is said here, so it may be long.
ExpandOptions options_of(const std::shared_ptr<const SymbolTable>& table, int unknown, bool takes_all) {
  ExpandOptions options{.table = table, .lanes = {.unknown = unknown}};
  if (takes_all) options.most_of_lane = 10'000, options.most_of_formula = SIZE_MAX, options.most_steps = 300'000;
  return options;
}

}  // namespace

Examples::Examples(const ProgramBody& body, const std::shared_ptr<const SymbolTable>& table, int unknown,
                   bool takes_all)
    : body_(body), takes_all_(takes_all), options_(options_of(table, unknown, takes_all)), sizes_(body, 3, options_) {}

bool Examples::has(const Type& type) const {
  return std::ranges::any_of(type.shape, [&](Size size) { return sizes_.depends_on_lanes(size); });
}
bool Examples::has_in_front(const Type& type) const {
  return type.rank() > 0 && are_along(type.shape[0]) &&
         std::none_of(type.shape.begin() + 1, type.shape.end(),
                      [&](Size size) { return sizes_.depends_on_lanes(size); });
}

bool Examples::are_apart_in(const Equation& e) const {
  const auto all = [&](const auto& is) {
    const auto has_it = [&](Variable v) { return is(type(v)); };
    return std::ranges::all_of(e.inputs, has_it) && std::ranges::all_of(e.outputs, has_it);
  };
  const bool is_shared = all([&](const Type& type) { return !has(type); });
  if (const std::optional<KernelAlong> kernel = kernel_along(e)) {
    if (kernel->outer == options_.lanes) return true;  // it runs for each of them by itself
    const LaneProgram& program = kernel->kernel->plan().program;
    if (is_shared && takes_all_ && kernel->lanes != options_.lanes) return true;
    const bool is_along = kernel->lanes == options_.lanes || !program.has_lanes;
    return is_along && !kernel->outer.is_given() &&
           are_apart_in(program, types_of(body_, e.inputs), types_of(body_, e.outputs));
  }
  const bool checks = e.rules->effect == Effect::checks_values && takes_all_;
  if (e.rules->effect != Effect::no_effect && !checks) return false;
  if (is_shared) return (takes_all_ || e.rules->is_view() || e.inputs.empty()) && !sizes_.reads_lanes(e);
  // A product that adds along the examples has none in its result, as dot(x, x) of f32[s0], or an operand that has them
  // elsewhere than in front.
  const bool is_product = structure_as<ProductAxes>(e.op()).has_value();
  if (is_product && takes_all_)
    return has_in_front(type(e.outputs[0])) && all([&](const Type& type) { return !has(type) || has_in_front(type); });
  if (takes_all_ && runs_as<Branches>(e)) return are_apart_in_branches(e);
  const ProgramBody part = alone(body_, e);
  if (takes_all_ && runs_as<Turns>(e)) return are_apart_in_turns(e, part);
  const std::variant<LaneProgram, NotExpandable> expanded = expand(with_own_numbers(part).body(), body_, options_);
  const auto* const program = std::get_if<LaneProgram>(&expanded);
  return program && are_apart_in(*program, types_of(body_, part.inputs), types_of(body_, e.outputs));
}

/// By what each turn does, or by what each lane does by itself, where each has a condition of its own.
bool Examples::are_apart_in_turns(const Equation& e, const ProgramBody& part) const {
  const auto expanded = expand_turns(with_own_numbers(part).body(), body_, options_);
  if (const auto* const program = std::get_if<LaneProgram>(&expanded))
    return are_apart_in(*program, types_of(body_, part.inputs), types_of(body_, e.outputs));
  const Turns turns = *turns_of(e, types_of(body_, e.inputs));
  const ProgramBody& body = turns.body->body();
  if (turns.streams > 0 || sizes_.depends_on_lanes(*turns.most_turns)) return false;
  const auto keeps = [&](Variable outside, Variable inside) {
    return has(type(outside)) == has(body.types[at(inside)]);
  };
  for (std::size_t i = 0; i < turns.state + turns.rows; ++i)  // examples are no rows, of which each turn has one
    if (!keeps(e.inputs[i], body.inputs[i])) return false;
  for (std::size_t k = 0; k < e.outputs.size(); ++k)
    if (!keeps(e.outputs[k], body.outputs[k])) return false;
  return are_apart_in(*turns.body) && (!turns.condition || are_apart_in(*turns.condition));
}

bool Examples::are_apart_in_branches(const Equation& e) const {
  if (has(type(e.inputs[0]))) return false;
  return std::ranges::all_of(*run_as<Branches>(e), [&](const Branch& branch) { return are_apart_in(*branch.program); });
}

bool Examples::are_apart_in(const Program& program) const {
  const Examples inside(program.body(), options_.table, *options_.lanes.unknown, takes_all_);
  return std::ranges::all_of(program.body().equations, [&](const Equation& e) { return inside.are_apart_in(e); });
}

/// Whether lanes are examples in it, and none reads another one, or asks for its number.
bool Examples::are_apart_in(const LaneProgram& program, const Types& operands, const Types& results) const {
  const auto asks = [&](Node n) {
    const ScalarStep& s = program.graph[n];
    return s.kind == StepKind::lane || s.kind == StepKind::lanes || s.kind == StepKind::total;
  };
  const auto is_check = [&](const Output& y) { return takes_all_ && y.place.tensor == std::ssize(results); };
  std::vector<Node> values;
  for (const Output& y : program.outputs)
    if (!is_check(y)) values.push_back(y.node);
  if (std::ranges::any_of(program.graph.order(values), asks)) return false;
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
    return k < 0 || is_check(y) || (at(k) < results.size() && lies_by_example(y.place, results[at(k)]));
  });
}

/// Whether lane k of an element is that of example k.
bool Examples::lies_by_example(const Place& place, const Type& of) const {
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

}  // namespace ricci::compiled
