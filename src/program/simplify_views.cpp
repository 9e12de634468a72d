// Rules of simplifying for views, and for parts of an array that are replaced.
#include <algorithm>
#include <array>
#include <ranges>
#include <span>
#include <vector>

#include "primitive/interpreter.h"
#include "program/simplifier.h"
#include "program/structure.h"

namespace ricci {

/// `reshape[(6)] (reshape[(2,3)] x)` is `reshape[(6)] x`. In general: a view of a view is one of what that shows, if
/// the second view alone gives the same places.
bool Simplifier::sees_past_view(Equation& e) const {
  const Equation* const shown = e.rules->is_view() ? maker(e.inputs[0]) : nullptr;
  if (!shown || !shown->rules->is_view()) return false;
  const bool gives_the_same = SampleSizes::of_all([&](int sample) {
    ElementLayout both(type_of(shown->inputs[0]), sizes_, sample), alone = both;
    return both.pass(*shown) && both.pass(e) && !both.is_empty() && alone.pass(e) && both == alone;
  });
  if (!gives_the_same) return false;
  e.inputs[0] = shown->inputs[0];
  return true;
}

Simplifier::Lies Simplifier::how_parts_lie(const Equation& a, const Equation& b) const {
  using enum ElementLayout::Rows;
  std::vector<Separation> apart;
  const auto all = [&](ElementLayout::Rows rows, const auto& compare) {
    return SampleSizes::of_all([&](int sample) {
      const auto pass = [](const Equation& e, ElementLayout& of) {
        return e.rules->is_view() ? of.pass(e) : of.pass_to_part(e);
      };
      ElementLayout of_a(type_of(a.inputs[0]), sizes_, sample, rows), of_b = of_a;
      return pass(a, of_a) && pass(b, of_b) && compare(of_a, of_b, sample);
    });
  };
  // A distance that depends on sizes may be none at smaller ones.
  const bool are_apart = all(with_gaps, [&](const ElementLayout& x, const ElementLayout& y, int sample) {
    const std::vector<Separation> now = x.apart_from(y);
    if (sample == 0) apart = now;
    for (std::size_t k = 0; k < apart.size(); ++k)
      if (now.empty() || now[k] != apart[k]) apart[k] = {};
    return std::ranges::any_of(apart, &Separation::is_one);
  });
  if (are_apart) return Lies::apart;
  const bool are_same = all(dense, [](const ElementLayout& x, const ElementLayout& y, int) { return x == y; });
  return are_same ? Lies::same : Lies::otherwise;
}

/// `select[index=1] (put[select[index=0]] a b)` is `select[index=1] a`: a view of an array of which another part was
/// replaced.
bool Simplifier::sees_past_part(Equation& e) const {
  const Equation* const shown = e.rules->is_view() ? maker(e.inputs[0]) : nullptr;
  if (!shown || !structure_as<PartReplaced>(shown->op()) || how_parts_lie(e, *shown) != Lies::apart) return false;
  if (type_of(e.outputs[0]).rank() > 1 && !lies_dense(shown->inputs[0])) return false;
  e.inputs[0] = shown->inputs[0];
  return true;
}

/// `put (clone a) b` is `put a b`, and so it is behind views of the copy: what replaces a part of an array copies the
/// array itself, or writes in its memory where nobody reads it any more.
bool Simplifier::sees_past_copy(Equation& e) {
  if (!e.rules->overwrite) return false;
  std::vector<Equation> views;  // from the last one to the first
  const Equation* made = maker(e.inputs[0]);
  for (; made && made->rules->is_view(); made = maker(made->inputs[0])) views.push_back(*made);
  if (!made || !is_plain_copy(made->op()) || made->rules->is_locally_constant()) return false;
  Variable base = made->inputs[0];
  for (const Equation& view : std::views::reverse(views))
    base = added(view.rules, view.parameters, {base}, Type(type_of(view.outputs[0])));
  e.inputs[0] = base;
  return true;
}

/// `select[index=0] (put[select[index=0]] a b)` is b, and so is `put[slice[0:n]] a b` of an a of n rows.
std::optional<Variable> Simplifier::value_behind_view(const Equation& e) const {
  if (e.outputs.size() != 1) return std::nullopt;
  const Equation* put = &e;
  if (e.rules->is_view()) {
    put = maker(e.inputs[0]);
    if (!put || !structure_as<PartReplaced>(put->op()) || how_parts_lie(e, *put) != Lies::same) return std::nullopt;
  } else if (!structure_as<PartReplaced>(e.op()) || !SampleSizes::of_all([&](int sample) {
               const ElementLayout whole(type_of(e.inputs[0]), sizes_, sample);
               ElementLayout part = whole;
               return part.pass_to_part(e) && part == whole;
             })) {
    return std::nullopt;
  }
  const Variable value = put->inputs[1];
  const bool is_result = are_same(type_of(value), type_of(e.outputs[0])) && lies_dense(value) &&
                         (!e.rules->is_view() || type_of(value).rank() <= 1);
  return is_result ? std::optional(value) : std::nullopt;
}

/// `expand[(4,3)] (zeros[(3)])` is `expand[(4,3)] (zeros[()])`: where all elements are equal, one is enough, and all
/// that are shown of it take no more memory.
void Simplifier::sees_one_element(Equation& e) {
  const Equation* const equal = e.rules->is_view() ? maker(e.inputs[0]) : nullptr;
  if (!equal || !fills(equal->op()) || type_of(e.inputs[0]).shape.empty()) return;
  const Type one{type_of(e.inputs[0]).dtype, {}, type_of(e.inputs[0]).weak};
  const bool gives_the_same = SampleSizes::of_all([&](int sample) {
    const OwnedParameters numbers = sizes_.put(e, sample);
    return are_same(types_of({e.rules, numbers.get()}, {one})[0], sizes_.put(type_of(e.outputs[0]), sample));
  });
  if (gives_the_same) e.inputs[0] = added(equal->rules, filling(equal->op(), one), {}, one);
}

/// `slice[start=4, size=2] (seeds[column=0, columns=9])` is `seeds[column=4, columns=2]`.
void Simplifier::makes_what_is_shown(Equation& e) const {
  const auto run = structure_as<AxisRun>(e.op());
  const Equation* const made = run ? maker(e.inputs[0]) : nullptr;
  if (!made || !has_structural_zeros(made->op())) return;
  e.parameters = structure_as<Made>(made->op())->run_of_structural(made->parameters.get(), *run);
  e.rules = made->rules;
  e.inputs.clear();
  e.has_symbols = has_symbols(e.op());
}

/// A view that shows all of its base as it is gives its base. So do two of them, as `permute (permute x)`, if neither
/// ever copies: a copy lies in another order than its base may. What an operation undoes that undoes itself is given,
/// and so is the one value that `cat` puts behind no other.
std::optional<Variable> Simplifier::operand_it_gives(const Equation& e) const {
  if (e.inputs.size() != 1 || e.outputs.size() != 1) return std::nullopt;
  if (structure_as<Joined>(e.op()) && are_same(type_of(e.inputs[0]), type_of(e.outputs[0])) && lies_dense(e.inputs[0]))
    return e.inputs[0];
  const auto shows_all_of = [&](Variable base, std::span<const Equation* const> views, ElementLayout::Rows rows) {
    return are_same(type_of(base), type_of(e.outputs[0])) && SampleSizes::of_all([&](int sample) {
             const ElementLayout before(type_of(base), sizes_, sample, rows);
             ElementLayout after = before;
             return std::ranges::all_of(views, [&](const Equation* view) { return after.pass(*view); }) &&
                    before == after;
           });
  };
  const Equation* const shown = e.rules->is_view() ? maker(e.inputs[0]) : nullptr;
  if (e.rules->is_view() && shows_all_of(e.inputs[0], std::array{&e}, ElementLayout::Rows::dense)) return e.inputs[0];
  if (shown && shown->rules->is_view() &&
      shows_all_of(shown->inputs[0], std::array{shown, &e}, ElementLayout::Rows::with_gaps))
    return shown->inputs[0];
  const Equation* const first = structure_as<UndoesItself>(e.op()) ? maker(e.inputs[0]) : nullptr;
  if (!first || !are_same_operation(*first, e) || !lies_dense(first->inputs[0])) return std::nullopt;
  return are_same(type_of(first->inputs[0]), type_of(e.outputs[0])) ? std::optional(first->inputs[0]) : std::nullopt;
}

}  // namespace ricci
