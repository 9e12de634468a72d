// Products behind values: multiplications, divisions, outer products and views, followed back.
#include "compile/terms.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "primitive/interpreter.h"
#include "program/element_sources.h"
#include "program/structure.h"
#include "ricci/ops.h"

namespace ricci::compiled {

using scalar::Word;

namespace {

bool is_real_floating(const Type& type) { return type.dtype == DType::float32 || type.dtype == DType::float64; }

}  // namespace

Terms::Terms(const ProgramBody& body) : body_(body), made_by_(body.types.size(), -1) {
  for (std::size_t i = 0; i < body.equations.size(); ++i)
    for (const Variable v : body.equations[i].outputs) made_by_[at(v)] = static_cast<std::ptrdiff_t>(i);
}

bool reads_all(const Sum& sum) {
  return std::ranges::all_of(all_of(sum.added), [&](Digit d) {
    return std::ranges::any_of(sum.term.factors, [&](const Factor& f) { return has(all_of(f.axes), d); });
  });
}

Ending ending_of(const Formula& finish) {
  if (finish.steps.empty()) return Ending::total;
  const auto is_input = [&](int step, int input) {
    const Formula::Step& s = finish.steps[at(step)];
    return s.kind == Formula::Kind::input && s.from[0] == input;
  };
  if (is_input(finish.result, 0)) return Ending::total;
  const Formula::Step& last = finish.steps[at(finish.result)];
  const bool divides = last.kind == Formula::Kind::word && last.word == Word::divide;
  return divides && is_input(last.from[0], 0) && is_input(last.from[1], 1) ? Ending::mean : Ending::other;
}

std::optional<Sum> Terms::sum(const Equation& e) {
  std::optional<Sum> sum = added_up(e);
  if (sum) resolve(*sum);
  return sum;
}

Sum Terms::total(Variable v) {
  std::optional<Sum> sum = sum_behind_views(v);
  if (!sum) sum = Sum{.term = term(v, most_factors), .added = {}, .finish = {}, .type = {}};
  sum->type = type(v);
  resolve(*sum);
  return *std::move(sum);
}

std::optional<Sum> Terms::sum_behind_views(Variable v) {
  const std::ptrdiff_t i = made_by_[at(v)];
  if (i < 0) return std::nullopt;
  const Equation& e = body_.equations[at(i)];
  if (!e.rules->is_view()) return added_up(e);
  std::optional<Sum> sum = sum_behind_views(e.inputs[0]);
  if (!sum) return std::nullopt;
  std::optional<Term> seen = shown(e, std::move(sum->term));
  if (!seen) return std::nullopt;
  sum->term = std::move(*seen);
  return sum;
}

void Terms::resolve(Sum& sum) const {
  for (Factor& f : sum.term.factors) resolve(f.axes);
  resolve(sum.term.axes), resolve(sum.added);
}

std::optional<Sum> Terms::added_up(const Equation& e) {
  if (e.outputs.size() != 1 || !is_real_floating(type(e.outputs[0]))) return std::nullopt;
  std::optional<Sum> sum = structure_as<ProductAxes>(e.op()) ? product_of_matrices(e) : reduction(e);
  if (sum) sum->type = type(e.outputs[0]);
  return sum;
}

void Terms::resolve(AxisDigits& axes) const {
  for (Digits& axis : axes) axis = digits_.now(axis);
}

Term Terms::as_it_is(Variable v) {
  Term term;
  for (const Size size : type(v).shape) term.axes.push_back(new_axis(size));
  term.factors.push_back({v, term.axes});
  return term;
}

Term Terms::term(Variable v, std::size_t most) {
  const std::ptrdiff_t i = made_by_[at(v)];
  if (i < 0 || most < 2 || !is_real_floating(type(v)) || elements(v) == 0) return as_it_is(v);
  std::optional<Term> said = said_by(body_.equations[at(i)], most);
  return said ? std::move(*said) : as_it_is(v);
}

std::optional<Term> Terms::said_by(const Equation& e, std::size_t most) {
  if (e.outputs.size() != 1 || e.rules->effect != Effect::no_effect) return std::nullopt;
  if (e.rules->is_view()) return shown(e, term(e.inputs[0], most));
  const auto axes = structure_as<ProductAxes>(e.op());
  if (axes && axes->is_outer) return outer_product(e, most);
  if (e.rules->kind != Kind::elementwise || !e.rules->formula()) return std::nullopt;
  const Formula formula = e.rules->formula()(e.parameters.get());
  return product(e.outputs[0], formula, e.inputs, most);
}

bool Terms::has_dtype_of(Variable operand, Variable result) const {
  return type(operand).dtype == type(result).dtype || (type(operand).weak && type(operand).shape.empty());
}

std::optional<Term> Terms::product(Variable y, const Formula& formula, std::span<const Variable> operands,
                                   std::size_t most) {
  const Formula::Step& last = formula.steps[at(formula.result)];
  if (last.kind != Formula::Kind::word || (last.word != Word::multiply && last.word != Word::divide))
    return std::nullopt;
  const Formula::Step &of_a = formula.steps[at(last.from[0])], &of_b = formula.steps[at(last.from[1])];
  if (of_a.kind != Formula::Kind::input || of_b.kind != Formula::Kind::input) return std::nullopt;
  const Variable a = operands[at(of_a.from[0])], b = operands[at(of_b.from[0])];
  if (!has_dtype_of(a, y) || !has_dtype_of(b, y)) return std::nullopt;
  Term left = term(a, most - 1), right;
  if (last.word == Word::divide) {
    right = as_it_is(b);
    right.factors[0].divides = true;
  } else if (a == b && 2 * left.factors.size() <= most) {
    right = left;
  } else {
    right = term(b, most - left.factors.size());
  }
  std::optional<AxisDigits> axes = spread(left.axes, right.axes);
  const bool spares_something = left.most_spared > 0 || right.most_spared > 0;
  if (!axes || (!spares_something && elements(y) <= std::max(elements(a), elements(b)))) return std::nullopt;
  return joined(y, std::move(left), std::move(right), std::move(*axes));
}

std::optional<Term> Terms::outer_product(const Equation& e, std::size_t most) {
  Term left = term(e.inputs[0], most - 1), right = term(e.inputs[1], most - left.factors.size());
  const Digits rows = left.axes.back(), columns = right.axes.back();
  left.axes.pop_back(), right.axes.pop_back();
  std::optional<AxisDigits> axes = spread(left.axes, right.axes);
  if (!axes) return std::nullopt;
  axes->push_back(rows), axes->push_back(columns);
  return joined(e.outputs[0], std::move(left), std::move(right), std::move(*axes));
}

Term Terms::joined(Variable y, Term left, Term right, AxisDigits axes) const {
  left.factors.insert(left.factors.end(), std::make_move_iterator(right.factors.begin()),
                      std::make_move_iterator(right.factors.end()));
  left.axes = std::move(axes);
  left.most_spared = std::max({left.most_spared, right.most_spared, elements(y)});
  return left;
}

std::optional<AxisDigits> Terms::spread(const AxisDigits& a, const AxisDigits& b) {
  AxisDigits all = a.size() > b.size() ? a : b;
  const AxisDigits& fewer = a.size() > b.size() ? b : a;
  const std::size_t in_front = all.size() - fewer.size();
  for (std::size_t k = 0; k < fewer.size(); ++k) {
    Digits& axis = all[in_front + k];
    if (axis.empty()) axis = fewer[k];
    else if (!fewer[k].empty() && !digits_.join(axis, fewer[k])) return std::nullopt;
  }
  return all;
}

std::optional<Term> Terms::shown(const Equation& e, Term term) {
  if (type(e.inputs[0]).dtype != type(e.outputs[0]).dtype) return std::nullopt;
  Type layout{DType::int8, type(e.inputs[0]).shape};
  Strides strides = contiguous_strides(layout.shape);
  const auto first = std::make_unique<std::byte[]>(1);  // an address to count from
  void* data = first.get();
  if (!e.rules->alias(e.parameters.get(), layout, strides, data) || data != first.get()) return std::nullopt;
  AxisDigits axes(layout.shape.size());
  std::vector<Digit> used;
  for (std::size_t k = layout.shape.size(); k-- > 0;) {
    if (layout.shape[k].raw() == 1) continue;
    if (strides[k] == 0) {
      axes[k] = new_axis(layout.shape[k]);
      continue;
    }
    std::int64_t left = layout.shape[k].raw(), stride = strides[k];
    while (left > 1) {
      const Digit d = digit_with(term.axes, stride, left);
      if (d < 0) return std::nullopt;
      axes[k].insert(axes[k].begin(), d), used.push_back(d);
      left /= digits_.size(d), stride *= digits_.size(d);
    }
  }
  Digits all = digits_.now(all_of(term.axes));
  std::ranges::sort(all), std::ranges::sort(used);
  if (all != used) return std::nullopt;
  term.axes = std::move(axes);
  return term;
}

Digit Terms::digit_with(const AxisDigits& axes, std::int64_t stride, std::int64_t most) {
  std::int64_t now = 1;
  for (std::size_t axis = axes.size(); axis-- > 0;) {
    const Digits digits = digits_.now(axes[axis]);
    for (std::size_t k = digits.size(); k-- > 0; now *= digits_.size(digits[k])) {
      if (now != stride) continue;
      const std::int64_t size = digits_.size(digits[k]);
      if (most % size == 0) return digits[k];
      if (size % most != 0) return -1;
      digits_.split(digits[k], most);
      return digits_.now({digits[k]}).back();
    }
  }
  return -1;
}

std::optional<Sum> Terms::product_of_matrices(const Equation& e) {
  const ProductAxes axes = *structure_as<ProductAxes>(e.op());
  if (axes.is_outer) return std::nullopt;
  Term left = term(e.inputs[0], most_factors - 1), right = term(e.inputs[1], most_factors - left.factors.size());
  const auto taken = [](AxisDigits& from, std::size_t from_behind) {
    const auto place = from.end() - static_cast<std::ptrdiff_t>(from_behind);
    Digits axis = *place;
    from.erase(place);
    return axis;
  };
  const Digits columns = taken(left.axes, 1), rows = taken(right.axes, axes.right == 2 ? 2 : 1);
  const Digits of_left = axes.left == 2 ? taken(left.axes, 1) : Digits(),
               of_right = axes.right == 2 ? taken(right.axes, 1) : Digits();
  std::optional<AxisDigits> all = spread(left.axes, right.axes);
  if (!all || !digits_.join(columns, rows)) return std::nullopt;
  if (axes.left == 2) all->push_back(of_left);
  if (axes.right == 2) all->push_back(of_right);
  Term both = joined(e.outputs[0], std::move(left), std::move(right), std::move(*all));
  return Sum{.term = std::move(both), .added = {columns}, .finish = {}, .type = {}};
}

std::optional<Sum> Terms::reduction(const Equation& e) {
  if (!e.rules->accumulation() || e.rules->effect != Effect::no_effect) return std::nullopt;
  const Accumulation a = e.rules->accumulation()(e.parameters.get());
  if (!adds_totals(a)) return std::nullopt;
  Types operands;
  for (const Variable v : e.inputs) {
    if (type(v).dtype != type(e.outputs[0]).dtype || !(type(v).shape == type(e.inputs[0]).shape)) return std::nullopt;
    operands.push_back(type(v));
  }
  const auto reduced = reduced_axes(e.op(), operands, type(e.outputs[0]).rank());
  if (!reduced || elements(e.inputs[0]) == 0) return std::nullopt;
  const bool is_sum = a.term.steps[at(a.term.result)].kind == Formula::Kind::input;
  std::optional<Term> said =
      is_sum ? term(e.inputs[0], most_factors) : product(e.inputs[0], a.term, e.inputs, most_factors);
  if (!said) return std::nullopt;
  Sum sum{.term = std::move(*said), .added = {}, .finish = a.finish, .type = {}};
  for (std::size_t k = reduced->size(); k-- > 0;) {
    if (!(*reduced)[k]) continue;
    const auto place = sum.term.axes.begin() + static_cast<std::ptrdiff_t>(k);
    sum.added.push_back(*place);
    sum.term.axes.erase(place);
  }
  return sum;
}

}  // namespace ricci::compiled
