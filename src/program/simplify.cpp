// Simplifying programs: program in, program out. It knows what the rules of operations say, no operation by name. Each
// rule looks at one equation whose operands are simplified already, so that one pass over the equations is enough.
#include <algorithm>
#include <optional>

#include "primitive/interpreter.h"
#include "program/edit.h"
#include "program/pruning.h"
#include "program/simplifier.h"
#include "ricci/interruption.h"
#include "tensor/at.h"

namespace ricci {
namespace {

Program pruned(ProgramBody body);

/// False if nothing of the operation can be left out. What is left of a program in it may need less in turn.
template <class IsNeeded>
bool keeps_needed_alone(Equation& e, const IsNeeded& is_needed) {
  Flags wanted;
  for (const Variable v : e.outputs) wanted.push_back(is_needed(v));
  const std::optional<Pruned> left =
      e.rules->pruned ? e.rules->pruned(e.parameters.get(), wanted, e.inputs.size()) : std::nullopt;
  if (!left) return false;
  e.parameters = with_each_program({e.rules, left->parameters.get()},
                                   [](const Program& program) { return pruned(program.body()); });
  e.inputs = left_of(e.inputs, left->operands);
  e.outputs = left_of(e.outputs, left->results);
  e.has_symbols = has_symbols(e.op());
  return true;
}

/// Results that nobody reads are computed no more, where the operation can do without.
Program pruned(ProgramBody body) {
  std::vector<bool> needed(body.types.size());
  const auto is_needed = [&](Variable v) { return needed[at(v)]; };
  for (const Variable v : body.outputs) needed[at(v)] = true;
  for (auto e = body.equations.rbegin(); e != body.equations.rend(); ++e) {
    if (!is_computed(*e, is_needed)) continue;
    while (keeps_needed_alone(*e, is_needed)) {}
    for (const Variable v : e->inputs) needed[at(v)] = true;
  }
  return with_own_numbers(without_dead_equations(body));
}

Program simplified(const Program& program, const SampleSizes& sizes) {
  return Simplifier(program.body(), sizes).result();
}

/// Not so an operation that has an effect, asks the transforms around it, or may run functions of the user's: that is
/// computed as often as it was written.
bool depends_on_operands_alone(const Equation& e) {
  return e.rules->kind != Kind::custom && e.rules->effect == Effect::no_effect && !e.rules->home;
}

std::string text_of(const Equation& e, const SmallVector<Variable, 3>& inputs) {
  std::string text = e.rules->name;
  text += '[';
  e.rules->parameters.print(e.parameters.get(), text);
  for (const Variable v : inputs) text += ' ' + std::to_string(v);
  return text;
}

}  // namespace

bool are_same_operation(const Equation& a, const Equation& b) {
  if (a.rules != b.rules || text_of(a, {}) != text_of(b, {})) return false;
  const ParameterRules& parameters = a.rules->parameters;
  return parameters.size == 0 || parameters.equal(a.parameters.get(), b.parameters.get());
}

Simplifier::Simplifier(const ProgramBody& from, const SampleSizes& sizes)
    : sizes_(sizes), to_(from), same_as_(from.types.size()), made_by_(from.types.size()) {
  for (std::size_t v = 0; v < same_as_.size(); ++v) same_as_[v] = static_cast<Variable>(v);
  to_.equations.clear();
  for (const Constant& c : from.constants) merge_constant(c);
  for (const Equation& e : from.equations) {
    allow_interruption();
    add(e);
  }
  for (Variable& v : to_.outputs) v = same_as_[at(v)];
}

Program Simplifier::result() const { return pruned(to_); }

void Simplifier::simplify_programs_in(Equation& e) const {
  e.parameters = with_each_program(e.op(), [this](const Program& program) { return simplified(program, sizes_); });
}

void Simplifier::replace(Variable v, Variable by) {
  same_as_[at(v)] = by;
  if (const VmapsOfAxes::Row vmaps = to_.vmaps.of(v); !vmaps.empty()) to_.vmaps.set(by, to_.vmaps.number_of(vmaps));
}

void Simplifier::merge_constant(const Constant& c) {
  const auto [first, is_new] = constants_.try_emplace(bits_of(*c.value), c.variable);
  if (is_new) numbers_[c.variable] = c.value;
  else replace(c.variable, first->second);
}

Variable Simplifier::number(const ValueRef& value) {
  const auto known = constants_.find(bits_of(*value));
  if (known != constants_.end()) return known->second;
  to_.types.push_back(value->type);
  same_as_.push_back(static_cast<Variable>(to_.types.size() - 1));
  made_by_.push_back(0);
  to_.constants.push_back({same_as_.back(), value});
  merge_constant(to_.constants.back());
  return same_as_.back();
}

void Simplifier::add(Equation e) {
  for (Variable& v : e.inputs) v = same_as_[at(v)];
  share_captured(e);
  simplify_programs_in(e);
  move_out_of_loop(e);
  while (sees_past_view(e) || sees_past_part(e)) {}
  while (sees_past_copy(e)) {}
  sees_one_element(e);
  makes_what_is_shown(e);
  if (const std::optional<Variable> known = operand_it_gives(e)) return replace(e.outputs[0], *known);
  if (const std::optional<Variable> value = value_behind_view(e)) return replace(e.outputs[0], *value);
  if (const std::optional<Variable> term = operand_of_formula(e)) return replace(e.outputs[0], *term);
  if (!is_zero_now(e)) joins_parts(e);
  if (is_number_now(e) || is_merged(e)) return;
  to_.equations.push_back(std::move(e));
  for (const Variable v : to_.equations.back().outputs) made_by_[at(v)] = to_.equations.size();
}

Variable Simplifier::added(const Rules* rules, OwnedParameters parameters, const SmallVector<Variable, 3>& inputs,
                           const Type& type) {
  to_.types.push_back(type);
  const auto result = static_cast<Variable>(to_.types.size() - 1);
  same_as_.push_back(result);
  made_by_.push_back(0);
  Equation e{.rules = rules, .parameters = std::move(parameters), .inputs = inputs, .outputs = {result}};
  e.has_symbols = has_symbols(e.op());
  add(std::move(e));
  return same_as_[at(result)];
}

/// `mul 2 3` is 6: what is computed from numbers alone, and is a number as C++ has them, is computed here.
bool Simplifier::is_number_now(const Equation& e) {
  if (!depends_on_operands_alone(e) || any_symbol(e.op()) || e.outputs.size() != 1) return false;
  const Type& type = type_of(e.outputs[0]);
  if (!type.weak || !type.shape.empty()) return false;
  Tensors operands;
  for (const Variable v : e.inputs) {
    const auto number = numbers_.find(v);
    if (number == numbers_.end()) return false;
    operands.push_back(wrap(number->second));
  }
  const AtLevel outside(nullptr);
  ValueRef value;
  try {
    value = value_of(apply_all(e.op(), {operands.data(), operands.size()})[0]);
  } catch (const Error&) { return false; }  // each run throws it
  if (!is_number(*value) || !are_same(value->type, type)) return false;
  to_.constants.push_back({e.outputs[0], value});
  merge_constant(to_.constants.back());
  return true;
}

/// Whether an equation that gives the same stands there already, and gives this one's results too.
bool Simplifier::is_merged(const Equation& e) {
  if (!depends_on_operands_alone(e)) return false;
  std::vector<std::size_t>& alike = equations_[text_of(e, e.inputs)];
  const auto is_same = [&](std::size_t number) { return are_same_operation(to_.equations[number], e); };
  const auto first = std::ranges::find_if(alike, is_same);
  if (first == alike.end()) {
    alike.push_back(to_.equations.size());
    return false;
  }
  const auto& results = to_.equations[*first].outputs;
  for (std::size_t i = 0; i < results.size(); ++i) replace(e.outputs[i], results[i]);
  return true;
}

namespace {

/// A size that a guard fixed after it was used, as s0 = 1000, is that number in all types and parameters.
Program with_fixed_sizes(const ProgramBody& from) {
  SymbolTable table = *from.symbols;  // a copy, as another thread may read the program's own
  const SymbolScope scope(&table);
  struct Fixed final : ParameterVisitor {
    Fixed() : ParameterVisitor(Mode::edits) {}
    void size(Size& size) override {
      if (!size.is_symbol()) return;
      if (const Size now = size + 0; !now.is_symbol()) size = now;
    }
  } fixed;
  auto body = std::make_unique<ProgramBody>(from);
  for (Type& type : body->types)
    for (Size& size : type.shape) fixed.size(size);
  for (Equation& e : body->equations) {
    if (!e.has_symbols) continue;
    e.parameters = {e.rules->parameters, e.parameters.get(), fixed};
    e.has_symbols = has_symbols(e.op());
  }
  return Program(Shared<const ProgramBody>(body.release()));
}

}  // namespace

Program Program::simplified() const {
  if (!body_->symbols) return ricci::simplified(*this, SampleSizes());
  const SymbolScope scope(body_->symbols.get());
  return simplified_in(*body_->symbols, with_fixed_sizes(*body_));
}

Program simplified_in(const SymbolTable& table, const Program& program) {
  return ricci::simplified(program, SampleSizes(table));
}

}  // namespace ricci
