// A pass over the equations of a derivative. What depends on the direction is a list of terms; all else is computed.
#include "sparse/propagation.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "primitive/interpreter.h"
#include "program/program.h"
#include "program/structure.h"
#include "ricci/interruption.h"
#include "ricci/ops.h"
#include "ricci/primitive/formula.h"
#include "ricci/transforms.h"
#include "sparse/assembly.h"
#include "sparse/moves.h"
#include "sparse/tangent_program.h"
#include "tensor/at.h"

namespace ricci::sparse {
namespace {

using SharedNumbers = std::shared_ptr<const std::vector<std::int32_t>>;
constexpr std::int32_t no_number = -1;
SharedNumbers shared(std::vector<std::int32_t> numbers) {
  return std::make_shared<const std::vector<std::int32_t>>(std::move(numbers));
}
bool are_equal(const SharedNumbers& a, const SharedNumbers& b) { return a == b || (a && b && *a == *b); }

/// Part of the derivative of a value: each element has one nonzero, in its column, or none. `coefficient` has these
/// nonzeros, and anything where there is none; it broadcasts to the value's shape. Of a `number`, all are equal.
/// With `rows`, it is a list [count] of nonzeros instead: each has the number of its element too, or none.
struct Term {
  SharedNumbers columns, rows = nullptr;
  std::optional<double> number = {};
  Tensor coefficient = {};
};

struct Propagated {
  Type type;
  bool is_tangent = false;
  std::vector<Term> terms;   // of a tangent; none: zero
  Tensor tensor;             // of another value
  ValueRef known;            // it, where it follows from numbers and captured tensors
  bool is_constant = false;  // and from numbers alone
};

bool names(unsigned inputs, std::size_t i) { return i < max_operands ? (inputs >> i & 1U) != 0 : inputs == all_inputs; }

Tensor number_of(double value, DType dtype) {
  const AtLevel outside(nullptr);
  return to(tensor(value, float64), dtype);
}

/// Requires: the value is real, whatever its type.
double real_number(const ValueRef& value) {
  const AtLevel outside(nullptr);
  return to(wrap(value), float64).item<double>();
}

/// A view that changes nothing would still stand between loops.
Tensor as_vector(const Tensor& x) { return x.dim() == 1 ? x : flatten(x); }

Tensor in_type(const Tensor& x, const Type& type) { return x.dtype() == type.dtype ? x : to(x, type.dtype); }

/// What may still be spent: numbers that a call computes, and equations, which take a compiler time and memory. A value
/// may have so many terms: those of numbers cost a call nothing, but time and memory here.
struct Budget {
  std::int64_t numbers, equations;
  std::int64_t terms;
  bool is_spent() const { return numbers < 0 || equations < 0; }
};

/// Who reads the outputs: their nonzeros, or further operations.
enum class Outputs : bool { are_gathered, are_read };
std::optional<std::vector<Propagated>> run(const Program& program, const std::vector<Propagated>& inputs,
                                           Outputs outputs, Budget& budget);

/// One operation on values, some of them tangents.
class Propagation {
 public:
  /// `as_lists`: nothing but moves follows, so that elements are best moved once, at the end.
  Propagation(Op op, const std::vector<const Propagated*>& operands, const Type& result, bool as_lists, Budget& budget)
      : op_(op), x_(operands), type_(result), as_lists_(as_lists), budget_(budget) {}

  /// The terms of the result; none where there is no rule.
  std::optional<std::vector<Term>> terms() {
    const Rules& rules = *op_.rules;
    if (rules.kind == Kind::elementwise) return elementwise();
    if (rules.is_view()) return joined(viewed());
    const auto places = structure_as<AtPlaces>(op_);
    if (places && places->what == AtPlaces::What::adds) return joined(added(*places));
    if (rules.moves_elements) return joined(moved());
    if (rules.kind == Kind::linear && rules.accumulation()) return joined(summed());
    if (rules.kind == Kind::multilinear) return multiplied();
    return std::nullopt;
  }

 private:
  /// The columns of a term, as the result shows the elements of one of this type; null where a list cannot be shown.
  SharedNumbers broadcast(const Term& of, const Type& from) const {
    if (from.shape == type_.shape || numel(from) == numel(type_)) return of.columns;
    if (of.rows) return nullptr;
    std::vector<std::int32_t> shown;
    shown.reserve(at(numel(type_)));
    for_each_place(type_.shape, broadcast_strides(from.shape, type_.shape),
                   [&](std::int64_t, std::int64_t place) { shown.push_back((*of.columns)[at(place)]); });
    return shared(std::move(shown));
  }

  /// What is no tangent, at the elements of a list.
  Tensor at_rows(const Tensor& x, const SharedNumbers& rows) const {
    if (!rows || x.dim() == 0) return x;
    std::vector<std::int64_t> places;
    for (const std::int32_t row : *rows) places.push_back(std::max(row, 0));
    return index_select(flatten(expand(x, type_.shape)), 0, tensor(places));
  }

  /// The operation with these coefficients in the place of tangents; null: zero there.
  Term applied(SharedNumbers columns, SharedNumbers rows, const std::vector<const Term*>& of) const {
    Term term{.columns = std::move(columns), .rows = std::move(rows)};
    bool is_number = !is_complex(type_.dtype);  // a number is real
    for (std::size_t i = 0; i < x_.size(); ++i)
      is_number = is_number &&
                  (x_[i]->is_tangent ? !of[i] || of[i]->number : x_[i]->is_constant && x_[i]->type.rank() == 0);
    if (is_number) {
      Values numbers;
      for (std::size_t i = 0; i < x_.size(); ++i)
        numbers.push_back(x_[i]->is_tangent ? value_of(number_of(of[i] ? *of[i]->number : 0, x_[i]->type.dtype))
                                            : x_[i]->known);
      const AtLevel outside(nullptr);
      term.number = real_number(evaluate(op_, numbers)[0]);
      return term;
    }
    std::vector<Tensor> inputs;
    for (std::size_t i = 0; i < x_.size(); ++i)
      inputs.push_back(!x_[i]->is_tangent ? at_rows(x_[i]->tensor, term.rows)
                       : !of[i]           ? zeros_of({x_[i]->type.dtype, {}})
                       : of[i]->number    ? number_of(*of[i]->number, x_[i]->type.dtype)
                                          : of[i]->coefficient);
    term.coefficient = in_type(apply_all(op_, inputs)[0], type_);
    return term;
  }

  std::optional<std::vector<Term>> elementwise() const {
    std::vector<std::size_t> tangents;
    for (std::size_t i = 0; i < x_.size(); ++i)
      if (x_[i]->is_tangent) tangents.push_back(i);
    const bool jointly = std::ranges::all_of(tangents, [&](std::size_t i) { return names(op_.rules->linear_in, i); });
    if (!jointly && (tangents.size() > 1 || !names(op_.rules->linear_in_each, tangents[0]))) return std::nullopt;
    // Terms of the operands that have the same columns become one.
    struct Together {
      SharedNumbers columns, rows;
      std::vector<const Term*> of;
    };
    std::vector<Together> all;
    for (const std::size_t i : tangents)
      for (const Term& term : x_[i]->terms) {
        const SharedNumbers columns = broadcast(term, x_[i]->type);
        if (!columns) return std::nullopt;
        auto same = std::ranges::find_if(all, [&](const Together& other) {
          return !other.of[i] && are_equal(other.columns, columns) && are_equal(other.rows, term.rows);
        });
        if (same == all.end())
          same = all.insert(all.end(), {columns, term.rows, std::vector<const Term*>(x_.size(), nullptr)});
        same->of[i] = &term;
      }
    std::vector<Term> terms;
    for (const auto& [columns, rows, of] : all) terms.push_back(applied(columns, rows, of));
    return terms;
  }

  std::vector<Operand> operands() const {
    std::vector<Operand> all;
    for (const Propagated* x : x_) all.push_back({x->type, x->known});
    return all;
  }

  /// The coefficient as a tensor of the whole shape.
  static Tensor whole(const Term& term, const Type& type) {
    return expand(term.number ? number_of(*term.number, type.dtype) : term.coefficient, type.shape);
  }

  /// A term as a list, where element i of the result is element `from(i)` of what the term is of, or none; null where
  /// one element goes to several.
  template <class From>
  std::optional<Term> list_moved(const Term& of, const Type& type, const From& from) const {
    std::vector<std::int32_t> to(at(numel(type)), no_number);
    for (std::int64_t i = 0; i < numel(type_); ++i) {
      const std::int64_t element = from(i);
      if (element == no_number) continue;
      if (std::exchange(to[at(element)], static_cast<std::int32_t>(i)) != no_number) return std::nullopt;
    }
    return listed(of, type, shared(std::move(to)));
  }

  /// A term as a list, where element i of what it is of becomes element `to[i]` of the result, or none of it.
  Term listed(const Term& of, const Type& type, const SharedNumbers& to) const {
    Term term = of;
    if (of.rows) {
      std::vector<std::int32_t> rows;
      for (const std::int32_t row : *of.rows) rows.push_back(row == no_number ? no_number : (*to)[at(row)]);
      term.rows = shared(std::move(rows));
    } else {
      term.rows = to;
      if (!of.number) term.coefficient = as_vector(whole(of, type));
    }
    return term;
  }

  /// What is added to a table stands beside what the table has there.
  std::optional<std::vector<Term>> added(const AtPlaces& places) const {
    const auto named = at_named_places(places, operands());
    if (!named || !named->all_are_known()) return std::nullopt;
    const Propagated &table = *x_[0], &values = *x_[1];
    std::vector<std::int32_t> to(at(numel(values.type)), no_number);
    for (std::size_t i = 0; i < named->table.size(); ++i)
      to[at(named->others[i])] = static_cast<std::int32_t>(named->table[i]);
    const SharedNumbers places_of = shared(std::move(to));
    std::vector<Term> terms = table.terms;
    for (const Term& of : values.terms) terms.push_back(listed(of, values.type, places_of));
    for (Term& term : terms) convert(term);
    return terms;
  }

  std::optional<std::vector<Term>> viewed() const {
    const std::optional<Shown> shown = shown_by(op_, x_[0]->type);
    if (!shown || shown->count != 1 || x_[0]->type.dtype != type_.dtype) return std::nullopt;
    std::vector<Term> terms;
    for (const Term& of : x_[0]->terms) {
      if (of.rows || as_lists_) {
        auto list = list_moved(of, x_[0]->type, [&](std::int64_t i) { return shown->first[at(i)]; });
        if (!list && of.rows) return std::nullopt;
        if (list) {
          terms.push_back(std::move(*list));
          continue;
        }
      }
      std::vector<std::int32_t> columns;
      columns.reserve(shown->first.size());
      for (const std::int64_t from : shown->first) columns.push_back((*of.columns)[at(from)]);
      Term& term = terms.emplace_back(Term{.columns = shared(std::move(columns)), .number = of.number});
      const Tensor operand = of.number ? Tensor() : whole(of, x_[0]->type);
      if (!of.number) term.coefficient = apply_all(op_, {&operand, 1})[0];
    }
    return terms;
  }

  /// The first terms of all operands become one, then the second ones, and so on. Lists stay apart.
  std::optional<std::vector<Term>> moved() const {
    const auto moves = moves_of(op_, operands(), {type_});
    if (!moves) return std::nullopt;
    const std::vector<ElementSource>& sources = (*moves)[0];
    if (x_.size() == 1 && x_[0]->type.shape == type_.shape && is_in_place(sources)) {
      std::vector<Term> terms = x_[0]->terms;
      for (Term& term : terms) convert(term);
      return terms;
    }
    const unsigned moving = op_.rules->moves_elements(op_.parameters);
    std::size_t count = 0;
    std::vector<Term> terms;
    std::vector<std::vector<const Term*>> of(x_.size());
    for (std::size_t i = 0; i < x_.size(); ++i) {
      if (x_[i]->is_tangent && !names(moving, i)) return std::nullopt;
      for (const Term& term : x_[i]->terms) {
        std::optional<Term> list;
        if (term.rows || as_lists_)
          list = list_moved(term, x_[i]->type, [&](std::int64_t element) {
            const auto [k, from] = sources[at(element)];
            return k == static_cast<int>(i) ? from : no_number;
          });
        if (list) convert(terms.emplace_back(std::move(*list)));
        else if (term.rows) return std::nullopt;
        else of[i].push_back(&term);
      }
      count = std::max(count, of[i].size());
    }
    for (std::size_t t = 0; t < count; ++t) {
      std::vector<std::int32_t> columns;
      columns.reserve(sources.size());
      for (const auto [k, element] : sources)
        columns.push_back(k < 0 || t >= of[at(k)].size() ? no_number : (*of[at(k)][t]->columns)[at(element)]);
      Term& term = terms.emplace_back(Term{.columns = shared(std::move(columns))});
      bool is_number = true;
      for (const auto& own : of) {
        if (t >= own.size()) continue;
        is_number = is_number && own[t]->number && (!term.number || *term.number == *own[t]->number);
        if (is_number) term.number = own[t]->number;
      }
      if (is_number) {
        convert(term);
        continue;
      }
      term.number = {};
      std::vector<Tensor> inputs;
      for (std::size_t i = 0; i < x_.size(); ++i)
        inputs.push_back(!names(moving, i)  ? x_[i]->tensor
                         : t < of[i].size() ? whole(*of[i][t], x_[i]->type)
                                            : zeros_of(x_[i]->type));
      term.coefficient = in_type(apply_all(op_, inputs)[0], type_);
    }
    return terms;
  }

  /// To the element type of the result. A number is real, so that it stays one.
  void convert(Term& term) const {
    if (!term.number) term.coefficient = in_type(term.coefficient, type_);
    else term.number = real_number(value_of(number_of(*term.number, type_.dtype)));
  }

  static bool is_in_place(const std::vector<ElementSource>& sources) {
    for (std::size_t i = 0; i < sources.size(); ++i)
      if (sources[i].operand != 0 || sources[i].element != static_cast<std::int64_t>(i)) return false;
    return true;
  }

  static bool is_first_input(const Formula& formula) {
    const Formula::Step& step = formula.steps[at(formula.result)];
    return step.kind == Formula::Kind::input && step.from[0] == 0;
  }

  /// A term for each of a few elements that are added to one; of many, a list.
  std::optional<std::vector<Term>> summed() const {
    const Type& from = x_[0]->type;
    const Accumulation adds = op_.rules->accumulation()(op_.parameters);
    const auto axes = reduced_axes(op_, {from}, type_.rank());
    if (!axes || x_.size() != 1 || !is_first_input(adds.term) || !is_first_input(adds.finish)) return std::nullopt;
    const Groups groups = groups_along(from.shape, *axes);
    const auto count = std::ssize(groups.offsets);
    std::vector<std::int32_t> to(at(numel(from)));
    for (std::size_t i = 0; i < groups.begins.size(); ++i)
      for (const std::int64_t offset : groups.offsets)
        to[at(groups.begins[i] + offset)] = static_cast<std::int32_t>(i);
    const SharedNumbers sum_of = shared(std::move(to));  // by element
    constexpr std::int64_t few = 8;
    std::vector<Term> terms;
    for (const Term& of : x_[0]->terms) {
      if (of.rows || count > few) {
        terms.push_back(listed(of, from, sum_of));
        continue;
      }
      Tensor rows;  // [elements that are added, result…]
      for (std::int64_t r = 0; r < count; ++r) {
        std::vector<std::int32_t> columns;
        columns.reserve(at(numel(type_)));
        for (const std::int64_t begin : groups.begins)
          columns.push_back((*of.columns)[at(begin + groups.offsets[at(r)])]);
        Term term{.columns = shared(std::move(columns)), .number = of.number};
        if (!of.number) {
          if (!rows.defined()) {
            std::vector<std::int64_t> order;
            for (const bool is_reduced : {true, false})
              for (std::int64_t i = 0; i < std::ssize(*axes); ++i)
                if ((*axes)[at(i)] == is_reduced) order.push_back(i);
            Shape shape = type_.shape;
            shape.insert(0, count);
            rows = reshape(permute(whole(of, from), order), shape);
          }
          term.coefficient = in_type(select(rows, 0, r), type_);
        }
        terms.push_back(std::move(term));
      }
    }
    return terms;
  }

  /// Terms with the same columns become one.
  std::optional<std::vector<Term>> joined(std::optional<std::vector<Term>> terms) const {
    if (!terms) return terms;
    std::vector<Term> found;
    for (Term& term : *terms) {
      const auto same = std::ranges::find_if(found, [&](const Term& other) {
        return !term.rows && !other.rows && are_equal(other.columns, term.columns);
      });
      if (same == found.end()) {
        found.push_back(std::move(term));
      } else if (same->number && term.number) {
        *same->number += *term.number;
      } else {
        same->coefficient = whole(*same, type_) + whole(term, type_);
        same->number = {};
      }
    }
    return found;
  }

  /// Products of matrices, and sums of products: written down as products of elements, and sums.
  std::optional<std::vector<Term>> multiplied() const {
    const auto matrices = structure_as<ProductAxes>(op_);
    if (x_.size() != 2 || (x_[0]->is_tangent && x_[1]->is_tangent) || (!matrices && !op_.rules->accumulation()))
      return std::nullopt;
    const auto sums = [&](const Tensor& a, const Tensor& b) -> Tensor {
      if (matrices) return product(*matrices, a, b);
      const auto axes = reduced_axes(op_, {x_[0]->type, x_[1]->type}, type_.rank());
      if (!axes || x_[0]->type.shape != x_[1]->type.shape) return {};
      std::vector<std::int64_t> reduced;
      for (std::int64_t i = 0; i < std::ssize(*axes); ++i)
        if ((*axes)[at(i)]) reduced.push_back(i);
      return reshape(sum(a * b, reduced), type_.shape);
    };
    const auto alone = [](const Type& type) { return zeros(type.shape, type.dtype); };
    const Program simpler =
        runs::trace(call::any_function<Tensor, Tensor, Tensor>(sums),
                    call::any_list(alone(x_[0]->type), alone(x_[1]->type)), where_t::current());
    auto found = run(simpler, {*x_[0], *x_[1]}, Outputs::are_read, budget_);
    return found ? std::optional(std::move((*found)[0].terms)) : std::nullopt;
  }

  /// [batch…, rows, columns] as the sum of [batch…, rows, columns, k].
  Tensor product(const ProductAxes& axes, const Tensor& a, const Tensor& b) const {
    const auto lines = [&](const Tensor& x, bool is_left) {
      Lines as = lines_of(axes, x.shape(), is_left);
      as.shape.push_back(as.summed ? x.shape()[*as.summed] : Size(1));
      return reshape(as.summed && at(x.dim()) > *as.summed + 1 ? transpose(x, -1, -2) : x, as.shape);
    };
    return reshape(sum(lines(a, true) * lines(b, false), {-1}), type_.shape);
  }

  const Op op_;
  const std::vector<const Propagated*>& x_;
  const Type& type_;
  const bool as_lists_;
  Budget& budget_;
};

/// The values of an operation on known ones; none where it fails.
Values known_results(Op op, const std::vector<const Propagated*>& operands) {
  Values values;
  for (const Propagated* x : operands) {
    if (!x->known) return {};
    values.push_back(x->known);
  }
  const AtLevel outside(nullptr);
  try {
    return evaluate(op, values);
  } catch (const Error&) { return {}; }
}

/// Whether every equation may be computed anew: none draws, acts or holds a program.
bool is_plain(const ProgramBody& body) {
  return std::ranges::none_of(body.equations, [](const Equation& e) {
    return e.rules->kind == Kind::custom || e.rules->home || e.rules->effect != Effect::no_effect ||
           (e.rules->draws && e.rules->draws(e.parameters.get()));
  });
}

/// By variable, whether it depends on an input that is a tangent.
std::vector<bool> tangents_of(const ProgramBody& body, const std::vector<Propagated>& inputs) {
  std::vector<bool> is_tangent(body.types.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) is_tangent[at(body.inputs[i])] = inputs[i].is_tangent;
  for (const Equation& e : body.equations)
    if (std::ranges::any_of(e.inputs, [&](Variable v) { return is_tangent[at(v)]; }))
      for (const Variable v : e.outputs) is_tangent[at(v)] = true;
  return is_tangent;
}

/// By variable, whether its elements are only moved, added and multiplied by numbers on their way to the outputs.
std::vector<bool> only_moved(const Program& program, const std::vector<Propagated>& inputs) {
  const ProgramBody& body = program.body();
  const std::vector<bool> is_tangent = tangents_of(body, inputs);
  std::vector<bool> only(body.types.size(), true);
  for (auto e = body.equations.rbegin(); e != body.equations.rend(); ++e) {
    const Shape shape = type_of_variable(program, e->outputs[0]).shape;
    const bool is_linear = e->rules->kind == Kind::elementwise && std::ranges::all_of(e->inputs, [&](Variable v) {
      const Shape of = type_of_variable(program, v).shape;
      return is_tangent[at(v)] ? of == shape : of.empty();
    });
    // A view that shows elements more than once makes one nonzero several, which a list cannot.
    const bool is_view = e->rules->is_view() && numel(type_of_variable(program, e->inputs[0])) >= shape.numel().raw();
    const bool moves = is_view || e->rules->moves_elements || is_linear;
    for (const Variable v : e->inputs)
      only[at(v)] = only[at(v)] && moves && std::ranges::all_of(e->outputs, [&](Variable y) { return only[at(y)]; });
  }
  return only;
}

/// What so many directions through the program cost, or as many reverse passes.
Budget cost_of_directions(const Program& program, const std::vector<Propagated>& inputs, std::int64_t directions) {
  constexpr std::int64_t few_numbers = 1024, few_equations = 8192, few_terms = 64, equations_each = 16;
  const ProgramBody& body = program.body();
  const std::vector<bool> is_tangent = tangents_of(body, inputs);
  const auto elements = [&](Variable v) { return numel(type_of_variable(program, v)); };
  std::int64_t numbers = 0, equations = 0;
  for (const Equation& e : body.equations) {
    if (e.rules->is_view() || std::ranges::none_of(e.outputs, [&](Variable v) { return is_tangent[at(v)]; })) continue;
    std::int64_t own = 0;  // a sum reads more than it gives, a product of matrices multiplies more than it reads
    for (const Variable v : e.inputs) own = std::max(own, elements(v));
    for (const Variable v : e.outputs) own = std::max(own, elements(v));
    if (const auto matrices = structure_as<ProductAxes>(e.op()); matrices && !matrices->is_outer)
      own = std::max(own, elements(e.outputs[0]) * type_of_variable(program, e.inputs[0]).shape.back().raw());
    numbers += own;
    ++equations;
  }
  return {.numbers = std::max(few_numbers, directions * numbers),
          .equations = std::max(few_equations, equations_each * equations),
          .terms = std::max(few_terms, directions)};
}

/// Spends what the terms of an operation's result cost.
void spend(Budget& budget, const std::vector<Term>& terms) {
  for (const Term& term : terms) {
    if (term.number) continue;
    budget.numbers -= std::ssize(*term.columns);
    --budget.equations;
  }
}

/// The fewest numbers that an elementwise result may have: the terms of an operand do not become fewer.
std::int64_t fewest_numbers(const std::vector<const Propagated*>& operands, const Type& result) {
  std::int64_t most = 0;
  for (const Propagated* x : operands) {
    std::int64_t own = 0;
    for (const Term& term : x->terms)
      if (!term.number) own += term.rows ? std::ssize(*term.columns) : numel(result);
    most = std::max(most, own);
  }
  return most;
}

/// By variable, the number of the last equation that reads it; all of them for an output.
std::vector<std::size_t> last_uses(const ProgramBody& body) {
  std::vector<std::size_t> last(body.types.size());
  for (std::size_t e = 0; e < body.equations.size(); ++e)
    for (const Variable v : body.equations[e].inputs) last[at(v)] = e;
  for (const Variable v : body.outputs) last[at(v)] = body.equations.size();
  return last;
}

/// What the program's outputs are made of; none where there is no rule for an operation, or the budget is spent.
std::optional<std::vector<Propagated>> run(const Program& program, const std::vector<Propagated>& inputs,
                                           Outputs outputs, Budget& budget) {
  const ProgramBody& body = program.body();
  if (!is_plain(body)) return std::nullopt;
  std::vector<Propagated> values(body.types.size());
  for (std::size_t v = 0; v < values.size(); ++v) values[v].type = type_of_variable(program, static_cast<Variable>(v));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Type type = values[at(body.inputs[i])].type;
    values[at(body.inputs[i])] = inputs[i];
    values[at(body.inputs[i])].type = type;
  }
  for (const Constant& c : body.constants) {
    Propagated& value = values[at(c.variable)];
    value.tensor = wrap(c.value), value.known = c.value, value.is_constant = true;
  }
  for (const Capture& c : body.captures) {
    Propagated& value = values[at(c.variable)];
    value.tensor = c.tensor;
    if (const ValueRef& held = value_of(c.tensor); held->kind == ValueKind::array) value.known = held;
  }
  std::vector<bool> as_lists(body.types.size());
  if (outputs == Outputs::are_gathered) as_lists = only_moved(program, inputs);
  const std::vector<std::size_t> last = last_uses(body);
  for (std::size_t number = 0; number < body.equations.size(); ++number) {
    const Equation& e = body.equations[number];
    allow_interruption();
    const OwnedParameters parameters = parameters_in_call(e, program.shared_call_sizes());
    const Op op{e.rules, parameters.get()};
    std::vector<const Propagated*> operands;
    bool is_tangent = false, is_constant = true;
    for (const Variable v : e.inputs) {
      operands.push_back(&values[at(v)]);
      is_tangent = is_tangent || values[at(v)].is_tangent;
      is_constant = is_constant && values[at(v)].is_constant;
    }
    if (is_tangent) {
      if (e.outputs.size() != 1) return std::nullopt;
      Propagated& result = values[at(e.outputs[0])];
      if (e.rules->kind == Kind::elementwise && fewest_numbers(operands, result.type) > budget.numbers)
        return std::nullopt;
      auto terms = Propagation(op, operands, result.type, as_lists[at(e.outputs[0])], budget).terms();
      if (!terms || std::ssize(*terms) > budget.terms) return std::nullopt;
      if (!e.rules->is_view()) spend(budget, *terms);
      if (budget.is_spent()) return std::nullopt;
      result.is_tangent = true;
      result.terms = std::move(*terms);
      for (const Variable v : e.inputs)
        if (last[at(v)] == number) values[at(v)].terms.clear();
      continue;
    }
    std::vector<Tensor> tensors;
    for (const Propagated* operand : operands) tensors.push_back(operand->tensor);
    const Tensors results = apply_all(op, tensors);
    const Values known = known_results(op, operands);
    for (std::size_t r = 0; r < e.outputs.size(); ++r) {
      Propagated& result = values[at(e.outputs[r])];
      result.tensor = results[r];
      if (!known.empty()) result.known = known[r], result.is_constant = is_constant;
    }
  }
  std::vector<Propagated> found;
  for (const Variable v : body.outputs) found.push_back(values[at(v)]);
  return found;
}

/// A nonzero of a term: which, and where it stands in the pattern.
struct Entry {
  std::int64_t element, place;
  friend bool operator==(const Entry&, const Entry&) = default;
};
std::vector<Entry> entries_of(const Term& term, const Sparsity& sparsity) {
  std::vector<Entry> entries;
  for (std::int64_t e = 0; e < std::ssize(*term.columns); ++e) {
    const std::int64_t i = term.rows ? (*term.rows)[at(e)] : e;
    const std::int32_t column = (*term.columns)[at(e)];
    if (i == no_number || column == no_number) continue;
    const auto row = sparsity.row(i);
    const auto found = std::ranges::lower_bound(row, column);
    if (found != row.end() && *found == column)
      entries.push_back({e, sparsity.crow()[at(i)] + (found - row.begin())});
  }
  return entries;
}

/// Every `step`-th element of a term, from `first` on.
struct Piece {
  const Term* term;
  std::int64_t first, step;
  std::vector<Entry> entries;  // elements count in the piece
  std::size_t onto;            // the piece with the same entries to which it is added, or itself
  std::vector<Entry> further;  // those in places that others have

  Tensor vector(const Type& type) const {
    const Shape own{std::ssize(*term->columns)};
    const Tensor all = as_vector(expand(term->coefficient, term->rows ? own : type.shape));
    return step == 1 ? all : select(reshape(all, {own[0].raw() / step, step}), 1, first);
  }
};

/// Terms in as many pieces each, if they are as long as the result; which may be added to which.
std::vector<Piece> pieces_of(const std::vector<std::pair<const Term*, std::vector<Entry>>>& terms, std::int64_t step,
                             const Sparsity& sparsity) {
  std::vector<Piece> pieces;
  std::vector<std::int64_t> owner(at(sparsity.nnz()), no_number);
  for (const auto& [term, entries] : terms) {
    const bool is_whole = std::ssize(*term->columns) == sparsity.rows();
    const std::int64_t own = is_whole ? step : 1;
    for (std::int64_t first = 0; first < own; ++first) {
      Piece piece{.term = term, .first = first, .step = own, .entries = {}, .onto = pieces.size(), .further = {}};
      std::vector<Entry> of_piece;
      for (const Entry& entry : entries)
        if (entry.element % own == first) of_piece.push_back({entry.element / own, entry.place});
      if (of_piece.empty()) continue;
      if (const std::int64_t other = owner[at(of_piece[0].place)]; other != no_number) {
        const Piece& before = pieces[at(other)];
        if (before.entries == of_piece && before.further.empty() &&
            before.term->columns->size() / at(before.step) == term->columns->size() / at(own)) {
          piece.onto = at(other);
          pieces.push_back(std::move(piece));
          continue;
        }
      }
      for (const Entry& entry : of_piece) {
        const bool is_free = owner[at(entry.place)] == no_number;
        (is_free ? piece.entries : piece.further).push_back(entry);
        if (is_free) owner[at(entry.place)] = std::ssize(pieces);
      }
      pieces.push_back(std::move(piece));
    }
  }
  return pieces;
}

/// The nonzeros of the pattern, out of the terms that have them.
Tensor gathered(const Propagated& y, const Sparsity& sparsity) {
  // What numbers add up to, by place; and the other terms.
  std::vector<double> numbers(at(sparsity.nnz()));
  std::vector<std::pair<const Term*, std::vector<Entry>>> terms;
  for (const Term& term : y.terms) {
    std::vector<Entry> entries = entries_of(term, sparsity);
    if (!term.number) {
      terms.emplace_back(&term, std::move(entries));
      continue;
    }
    for (const Entry& entry : entries) numbers[at(entry.place)] += *term.number;
  }
  // The rows of a last axis may have their nonzeros in other terms each: taken apart, these can be added.
  std::vector<Piece> pieces;
  std::int64_t fewest = INT64_MAX;
  constexpr std::int64_t most_pieces = 8;
  for (std::int64_t step = 1; step <= most_pieces && fewest > 0; ++step) {
    if (sparsity.rows() % step != 0) continue;
    std::vector<Piece> found = pieces_of(terms, step, sparsity);
    std::int64_t further = 0;
    for (const Piece& piece : found) further += std::ssize(piece.further);
    if (further < fewest) pieces = std::move(found), fewest = further;
  }
  std::vector<Tensor> vectors(pieces.size()), further;
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    const Tensor own = pieces[p].vector(y.type);
    Tensor& vector = vectors[pieces[p].onto];
    vector = vector.defined() ? vector + own : own;
  }
  std::vector<Source> sources;
  for (const double number : numbers) sources.push_back({.number = number});
  std::vector<std::int64_t> further_places;
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    const Piece& piece = pieces[p];
    if (piece.onto != p) continue;
    std::vector<std::int64_t> elements;
    const auto is_further = [&](const Entry& entry) {
      elements.push_back(entry.element);
      further_places.push_back(entry.place);
    };
    for (const Entry& entry : piece.further) is_further(entry);
    // A number that is added to all of a piece is added here.
    const auto number_at = [&](const Entry& entry) { return numbers[at(entry.place)]; };
    const double number = piece.entries.empty() ? 0 : number_at(piece.entries[0]);
    const bool is_added = std::ranges::all_of(piece.entries, [&](const Entry& e) { return number_at(e) == number; });
    for (const Entry& entry : piece.entries) {
      if (is_added || number_at(entry) == 0)
        sources[at(entry.place)] = {.vector = static_cast<std::int32_t>(p), .element = entry.element};
      else is_further(entry);
    }
    if (!elements.empty()) further.push_back(index_select(vectors[p], 0, tensor(elements)));
    if (is_added && number != 0) vectors[p] = vectors[p] + number_of(number, y.type.dtype);
  }
  const Tensor values = assembled(sparsity, vectors, sources, y.type.dtype);
  return further.empty() ? values : index_add(values, 0, tensor(further_places), cat(further, 0));
}

}  // namespace

bool is_plain(const Program& program) { return is_plain(program.body()); }

std::optional<Tensor> propagated(const VectorFunction& f, const Tensor& x, const Coloring& coloring, where_t where) {
  const Sparsity& sparsity = coloring.sparsity();
  const Program program = tangent_program("jacobian", f, x, sparsity.columns(), where);
  std::vector<std::int32_t> own(at(sparsity.columns()));
  std::iota(own.begin(), own.end(), 0);
  Propagated point, direction;
  point.tensor = x;
  direction.is_tangent = true;
  direction.terms.push_back({.columns = shared(std::move(own)), .number = 1});
  const std::vector<Propagated> inputs{point, direction};
  Budget budget = cost_of_directions(program, inputs, coloring.colors());
  const auto found = run(program, inputs, Outputs::are_gathered, budget);
  if (!found) return std::nullopt;
  const Propagated& y = (*found)[0];
  if (numel(y.type) != sparsity.rows() || !is_floating(y.type.dtype)) return std::nullopt;
  if (!y.is_tangent) return zeros({sparsity.nnz()}, y.type.dtype);
  return gathered(y, sparsity);
}

}  // namespace ricci::sparse
