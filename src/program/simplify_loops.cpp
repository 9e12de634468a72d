// Rules of simplifying for loops: what is the same at each step is computed once, before the loop.
#include <algorithm>
#include <ranges>
#include <span>
#include <utility>

#include "primitive/interpreter.h"
#include "program/programs_run.h"
#include "program/pruning.h"
#include "program/simplifier.h"
#include "program/structure.h"

namespace ricci {
namespace {

/// Whether it may be computed where the loop would not, since it takes no step: whatever its operands hold, it throws
/// nothing. An operation that chooses by indices may, and one that factors a matrix.
bool throws_at_no_values(const Equation& e) {
  const Rules& rules = *e.rules;
  if (rules.effect != Effect::no_effect || rules.home || e.outputs.size() != 1) return false;
  const unsigned inputs = e.inputs.size() < max_operands ? (1U << e.inputs.size()) - 1 : ~0U;
  return rules.kind == Kind::elementwise || rules.kind == Kind::multilinear || rules.accumulation() ||
         rules.is_view() || (rules.kind == Kind::linear && (rules.linear_in & inputs) == inputs) ||
         (rules.kind == Kind::explicit_ && e.inputs.empty());
}

bool is_small(const Type& type) {
  constexpr std::int64_t most_elements = 64;
  std::int64_t elements = 1;
  for (const Size size : type.shape) {
    if (size.is_symbol()) return false;
    elements *= size.raw();
  }
  return elements <= most_elements;
}

/// What of a program's body is the same each time.
struct Invariants {
  std::vector<bool> known;                // by variable, those whose value is
  std::vector<Equation> inside, outside;  // what each run computes, what is enough once
  std::vector<Variable> captured;         // by the run, of what `outside` gives

  Invariants(const ProgramBody& body, std::size_t first_input) : known(body.types.size()) {
    const auto is_known = [this](Variable v) { return known[static_cast<std::size_t>(v)]; };
    const auto mark = [](std::vector<bool>& flags, const auto& variables) {
      for (const Variable v : variables) flags[static_cast<std::size_t>(v)] = true;
    };
    std::vector<bool> of_run(body.types.size()), of_outside(body.types.size()), cheap(body.types.size()),
        of_seeds(body.types.size());
    mark(known, std::span(body.inputs).subspan(first_input));
    for (const Constant& c : body.constants) known[static_cast<std::size_t>(c.variable)] = true;
    for (const Equation& e : body.equations) {
      if (!throws_at_no_values(e) || !std::ranges::all_of(e.inputs, is_known)) continue;
      mark(known, e.outputs);
      // Each run makes again: equal elements; a number, which has no dtype of its own as an operand; and small seeds of
      // derivatives with what follows from seeds and numbers, because rules see the zeros of seeds only inside.
      const Type& type = body.types[static_cast<std::size_t>(e.outputs[0])];
      const auto is_seed = [&](Variable v) { return of_seeds[static_cast<std::size_t>(v)]; };
      const auto is_made_inside = [&](Variable v) {
        const bool is_number = std::ranges::count(body.constants, v, &Constant::variable) > 0;
        return is_number || cheap[static_cast<std::size_t>(v)];
      };
      const auto made = structure_as<Made>(e.op());
      const bool follows = (e.rules->kind == Kind::elementwise || e.rules->is_view()) &&
                           std::ranges::any_of(e.inputs, is_seed) && std::ranges::all_of(e.inputs, is_made_inside);
      if (is_small(type) && (follows || (made && made->diagonal))) mark(of_seeds, e.outputs);
      const bool shows_cheap = e.rules->is_view() && cheap[static_cast<std::size_t>(e.inputs[0])];
      if (fills(e.op()) || shows_cheap || type.weak || of_seeds[static_cast<std::size_t>(e.outputs[0])])
        mark(cheap, e.outputs);
    }
    mark(of_run, body.outputs);
    for (auto e = body.equations.rbegin(); e != body.equations.rend(); ++e) {
      const auto is_read = [&](Variable v) { return of_run[static_cast<std::size_t>(v)]; };
      const bool is_same = e->outputs.size() == 1 && is_known(e->outputs[0]);
      const bool moves = is_same && is_read(e->outputs[0]) && !cheap[static_cast<std::size_t>(e->outputs[0])];
      if (moves) captured.push_back(e->outputs[0]);
      if (moves || (is_same && of_outside[static_cast<std::size_t>(e->outputs[0])])) {
        mark(of_outside, e->inputs);
        outside.push_back(*e);
      }
      if (moves || !is_computed(*e, is_read)) continue;
      mark(of_run, e->inputs);
      inside.push_back(*e);
    }
    std::ranges::reverse(inside);
    std::ranges::reverse(outside);
    std::ranges::reverse(captured);
  }
};

}  // namespace

/// The programs that an operation repeats, the last first: so the operands of the others keep their numbers where some
/// are added or left out.
template <class F>
void Simplifier::for_each_repeated(Equation& e, const F& change) {
  if (!repeats_programs(e)) return;
  e.parameters = OwnedParameters(e.rules->parameters, e.parameters.get());
  for (const Repeated& r : std::views::reverse(repeated_programs(*e.rules, e.parameters.get()))) {
    ProgramBody body = r.program->body();
    if (!change(body, r)) continue;
    const_cast<Program&>(*r.program) = with_own_numbers(without_dead_equations(body));  // of parameters of its own
  }
}

/// What a loop captures twice, its body reads once; structural zeros that it captures are made inside, where rules can
/// see them.
void Simplifier::share_captured(Equation& e) {
  for_each_repeated(e, [&](ProgramBody& body, const Repeated& r) {
    const std::size_t before = body.inputs.size();
    for (std::size_t i = body.inputs.size(); i-- > r.first_input;) {
      const std::size_t operand = r.first_operand + i - r.first_input;
      const Variable captured = e.inputs[operand];
      const auto first =
          std::find(e.inputs.begin() + static_cast<std::ptrdiff_t>(r.first_operand), e.inputs.end(), captured);
      const auto number = static_cast<std::size_t>(first - e.inputs.begin());
      if (number < operand) {
        const Variable other = body.inputs[r.first_input + number - r.first_operand];
        for (Equation& inner : body.equations) std::ranges::replace(inner.inputs, body.inputs[i], other);
        std::ranges::replace(body.outputs, body.inputs[i], other);
      } else if (const Equation* const zero = zero_behind(captured)) {
        const Type& type = body.types[static_cast<std::size_t>(body.inputs[i])];
        Equation zeros{
            .rules = zero->rules, .parameters = filling(zero->op(), type), .inputs = {}, .outputs = {body.inputs[i]}};
        zeros.has_symbols = has_symbols(zeros.op());
        body.equations.insert(body.equations.begin(), std::move(zeros));
      } else {
        continue;
      }
      body.inputs.erase(body.inputs.begin() + static_cast<std::ptrdiff_t>(i));
      e.inputs.erase(operand);
    }
    return body.inputs.size() < before;
  });
}

/// `scan[step: c + sin w]` captures `sin w` of a w that it captured.
void Simplifier::move_out_of_loop(Equation& e) {
  for_each_repeated(e, [&](ProgramBody& body, const Repeated& r) {
    const Invariants invariants(body, r.first_input);
    if (invariants.captured.empty()) return false;
    std::vector<Variable> outer(body.types.size(), -1);
    const auto at = [&outer](Variable v) -> Variable& { return outer[static_cast<std::size_t>(v)]; };
    for (std::size_t i = r.first_input; i < body.inputs.size(); ++i)
      at(body.inputs[i]) = e.inputs[r.first_operand + i - r.first_input];
    for (const Constant& c : body.constants) at(c.variable) = number(c.value);
    for (const Equation& same : invariants.outside) {
      SmallVector<Variable, 3> operands;
      for (const Variable v : same.inputs) operands.push_back(at(v));
      at(same.outputs[0]) =
          added(same.rules, same.parameters, operands, body.types[static_cast<std::size_t>(same.outputs[0])]);
    }
    body.equations = invariants.inside;
    for (const Variable v : invariants.captured) {
      e.inputs.insert(r.first_operand + body.inputs.size() - r.first_input, at(v));
      body.inputs.push_back(v);
    }
    const Flags read = inputs_read(body, Flags(body.outputs.size(), true));
    for (std::size_t i = body.inputs.size(); i-- > r.first_input;) {
      if (read[i]) continue;
      body.inputs.erase(body.inputs.begin() + static_cast<std::ptrdiff_t>(i));
      e.inputs.erase(r.first_operand + i - r.first_input);
    }
    return true;
  });
}

}  // namespace ricci
