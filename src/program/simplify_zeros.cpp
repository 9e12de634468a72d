// Rules of simplifying for structural zeros: those that differentiation put where nothing is. A product with one is
// one, also where the other factor is infinite, and a sum with one is the other term, also where that is -0. And for
// ones, whoever wrote them: a product with the number 1 is the other factor, bit for bit.
#include <algorithm>
#include <array>
#include <ranges>
#include <utility>
#include <vector>

#include "primitive/interpreter.h"
#include "program/simplifier.h"
#include "program/structure.h"
#include "ricci/primitive/formula.h"

namespace ricci {
namespace {

/// What a formula gives where some of its inputs are zero or one: zero, one of its inputs, or something else.
struct Outcome {
  static constexpr int zero = -1, one = -2, else_ = -3;
  int input = else_;  // its number
  bool is(int what) const { return input == what; }
};

/// `of_input(i)`: what input i is; itself where it is neither zero nor one.
template <class OfInput>
Outcome outcome_of(const Formula& formula, const OfInput& of_input) {
  std::vector<Outcome> outcomes;
  const auto of = [&](const Formula::Step& step) -> Outcome {
    const auto from = [&](std::size_t i) { return outcomes[static_cast<std::size_t>(step.from[i])]; };
    const auto is_any = [](const Outcome& a, const Outcome& b, int what) { return a.is(what) || b.is(what); };
    using enum Formula::Kind;
    if (step.kind == input) return {of_input(step.from[0])};
    if (step.kind == select && from(1).is(Outcome::zero) && from(2).is(Outcome::zero)) return {Outcome::zero};
    if (step.kind != word) return {};
    const Outcome a = from(0), b = step.from[1] >= 0 ? from(1) : Outcome();
    switch (step.word) {
      case scalar::Word::add: return a.is(Outcome::zero) ? b : b.is(Outcome::zero) ? a : Outcome();
      case scalar::Word::subtract: return b.is(Outcome::zero) ? a : Outcome();
      case scalar::Word::multiply:
        if (is_any(a, b, Outcome::zero)) return {Outcome::zero};
        return a.is(Outcome::one) ? b : b.is(Outcome::one) ? a : Outcome();
      case scalar::Word::divide: return a.is(Outcome::zero) || b.is(Outcome::one) ? a : Outcome();
      case scalar::Word::negative: return a.is(Outcome::zero) ? a : Outcome();
      default: return {};
    }
  };
  for (const Formula::Step& step : formula.steps) outcomes.push_back(of(step));
  return outcomes[static_cast<std::size_t>(formula.result)];
}

bool holds_one(const ValueRef& number) {
  const DType dtype = number->type.dtype;
  return !is_complex(dtype) && dtype != DType::boolean && wrap(number).item<double>() == 1;
}

/// Whether the operation is linear in input i, the others held; `jointly`: they may be those in which it is linear
/// together with i.
bool is_linear_in(const Rules& rules, std::size_t i, bool jointly) {
  const unsigned inputs = jointly ? rules.linear_in : rules.linear_in_each;
  if (i >= max_operands) return inputs == ~0U;
  return (inputs >> i & 1U) != 0 || (!jointly && rules.kind == Kind::multilinear);
}

/// Requires: no symbols.
bool is_empty(const Type& type) {
  return std::ranges::any_of(type.shape, [](Size size) { return size.raw() == 0; });
}

}  // namespace

/// A formula says nothing of complex elements.
bool Simplifier::has_formula(const Equation& e) const {
  return e.rules->formula() && std::ranges::none_of(e.inputs, [&](Variable v) { return is_complex(type_of(v).dtype); });
}

/// The structural zeros that the variable is, or shows; null if it is none.
const Equation* Simplifier::zero_behind(Variable v) const {
  const Equation* made = maker(v);
  while (made && made->rules->is_view()) made = maker(made->inputs[0]);
  return made && gives_structural_zeros(made->op()) ? made : nullptr;
}

/// `mul y (structural_zeros …)` are structural zeros, and so is what any operation makes of them that is linear there.
/// Of no zeros, the mean is NaN.
bool Simplifier::is_zero_now(Equation& e) const {
  if (e.rules->kind == Kind::custom || e.outputs.size() != 1 || type_of(e.outputs[0]).weak) return false;
  if (e.rules->is_view() && type_of(e.inputs[0]).shape.empty()) return false;  // one zero, shown many times
  const Equation* zero = nullptr;
  bool is_factor = false, is_any_term = false, are_all_terms = true;
  for (std::size_t i = 0; i < e.inputs.size(); ++i) {
    const Equation* const made = zero_behind(e.inputs[i]);
    if (made && !SampleSizes::of_all([&](int sample) {
          return !is_empty(sizes_.put(type_of(e.inputs[i]), sample)) ||
                 is_empty(sizes_.put(type_of(e.outputs[0]), sample));
        }))
      return false;
    if (made) zero = made;
    if (made && is_linear_in(*e.rules, i, false)) is_factor = true;
    if (!is_linear_in(*e.rules, i, true)) continue;
    is_any_term = true;
    are_all_terms = are_all_terms && made;
  }
  if (!is_factor && !(is_any_term && are_all_terms)) return false;
  e = {.rules = zero->rules,
       .parameters = filling(zero->op(), type_of(e.outputs[0])),
       .inputs = {},
       .outputs = e.outputs};
  e.has_symbols = has_symbols(e.op());
  return true;
}

/// Whether all elements are 1: of a number, or of what `filling` can fill. Seeds of derivatives are.
bool Simplifier::is_one(Variable v) const {
  if (const auto number = numbers_.find(v); number != numbers_.end()) return holds_one(number->second);
  const Equation* made = maker(v);
  while (made && made->rules->is_view()) made = maker(made->inputs[0]);
  if (!made || !fills(made->op())) return false;
  const AtLevel outside(nullptr);
  const OwnedParameters element = filling(made->op(), {type_of(made->outputs[0]).dtype, {}});
  return holds_one(value_of(apply_all({made->rules, element.get()}, {})[0]));
}

/// `add x (structural_zeros …)` is x, and so is `mul x 1`. In general: what a formula gives where some of its inputs
/// are zero or one.
std::optional<Variable> Simplifier::operand_of_formula(const Equation& e) const {
  if (!has_formula(e) || e.inputs.size() < 2) return std::nullopt;
  const auto of_input = [&](int i) {
    const Variable v = e.inputs[static_cast<std::size_t>(i)];
    return zero_behind(v) ? Outcome::zero : is_one(v) ? Outcome::one : i;
  };
  const Outcome outcome = outcome_of(e.rules->formula()(e.parameters.get()), of_input);
  if (outcome.input < 0) return std::nullopt;
  const Variable term = e.inputs[static_cast<std::size_t>(outcome.input)];
  const bool is_result = are_same(type_of(term), type_of(e.outputs[0])) && lies_dense(term);
  return is_result ? std::optional(term) : std::nullopt;
}

/// Whether the operation gives one of two operands where the other is zero.
bool Simplifier::adds(const Equation& e) const {
  if (!has_formula(e) || e.inputs.size() != 2) return false;
  const Formula formula = e.rules->formula()(e.parameters.get());
  return std::ranges::all_of(std::array{0, 1}, [&](int zero) {
    return outcome_of(formula, [&](int i) { return i == zero ? Outcome::zero : i; }).input == 1 - zero &&
           are_same(type_of(e.inputs[static_cast<std::size_t>(zero)]), type_of(e.outputs[0]));
  });
}

/// Where what differs from zero was put: the equations that replace parts of structural zeros, the last first. Empty
/// where the variable is made otherwise, or of more parts than are worth comparing. They stand until one is added.
std::vector<const Equation*> Simplifier::parts_of(Variable v) const {
  constexpr std::size_t most = 32;
  std::vector<const Equation*> puts;
  const Equation* put = maker(v);
  for (; put && structure_as<PartReplaced>(put->op()) && puts.size() <= most; put = maker(put->inputs[0]))
    puts.push_back(put);
  const bool are_all = !puts.empty() && puts.size() <= most && zero_behind(puts.back()->inputs[0]);
  return are_all ? puts : std::vector<const Equation*>();
}

/// `add (put[one part] zeros a) (put[another] zeros b)` is `put[another] (put[one part] zeros a) b`: the sum of what
/// the views of an array give on the way back is put together part by part.
bool Simplifier::joins_parts(Equation& e) {
  if (!adds(e)) return false;
  for (const std::size_t last : {std::size_t{1}, std::size_t{0}}) {
    const std::vector<const Equation*> parts = parts_of(e.inputs[last]);
    if (parts.size() != 1) continue;
    const Equation part = *parts[0];
    if (joins_part(e, 1 - last, part) || joins_part_of_term(e, 1 - last, part)) return true;
  }
  return false;
}

/// Operand number `parts` of the sum consists of parts; the other one is nothing but `part`.
bool Simplifier::joins_part(Equation& e, std::size_t parts, const Equation& part) {
  const std::vector<const Equation*> puts = parts_of(e.inputs[parts]);
  if (puts.empty()) return false;
  Variable base = e.inputs[parts], value = part.inputs[1];
  const auto touched =
      std::ranges::find_if(puts, [&](const Equation* put) { return how_parts_lie(*put, part) != Lies::apart; });
  if (touched != puts.end()) {
    // Both at the same place: their sum takes it, and the others are put there without what stood here before.
    const Variable before = (*touched)->inputs[1];
    const Type type = type_of(value);
    if (how_parts_lie(**touched, part) != Lies::same || !are_same(type, type_of(before))) return false;
    base = (*touched)->inputs[0];
    std::vector<Equation> others;
    for (auto put = puts.begin(); put != touched; ++put) others.push_back(**put);
    value = parts == 0 ? added(e.rules, e.parameters, {before, value}, type)
                       : added(e.rules, e.parameters, {value, before}, type);
    for (const Equation& other : std::views::reverse(others))
      base = added(other.rules, other.parameters, {base, other.inputs[1]}, Type(type_of(base)));
  }
  e = {.rules = part.rules,
       .parameters = part.parameters,
       .inputs = {base, value},
       .outputs = e.outputs,
       .has_symbols = part.has_symbols};
  return true;
}

/// `add (add x (put[one part] zeros a)) (put[another] zeros b)` is `add x (put[another] (put[one part] zeros a) b)`.
bool Simplifier::joins_part_of_term(Equation& e, std::size_t sum, const Equation& part) {
  const Equation* const first = maker(e.inputs[sum]);
  if (!first || !are_same_operation(*first, e)) return false;
  const SmallVector<Variable, 3> terms = first->inputs;
  for (std::size_t parts = 0; parts < terms.size(); ++parts) {
    const std::vector<const Equation*> puts = parts_of(terms[parts]);
    const auto is_apart = [&](const Equation* put) { return how_parts_lie(*put, part) == Lies::apart; };
    if (puts.empty() || !are_same(type_of(terms[parts]), type_of(e.outputs[0])) || !std::ranges::all_of(puts, is_apart))
      continue;
    e.inputs = terms;
    e.inputs[parts] = added(part.rules, part.parameters, {terms[parts], part.inputs[1]}, Type(type_of(terms[parts])));
    return true;
  }
  return false;
}

}  // namespace ricci
