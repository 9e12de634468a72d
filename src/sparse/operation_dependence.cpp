// What an element of an operation's result depends on, from what the operation says of its elements: views and moves,
// places named by numbers, formulas, reductions, products, the axis that vmap added.
#include <algorithm>
#include <optional>

#include "primitive/interpreter.h"
#include "program/structure.h"
#include "ricci/primitive/element_rules.h"
#include "sparse/dependence.h"
#include "sparse/moves.h"
#include "tensor/at.h"

namespace ricci::sparse {
namespace {

class Reader {
 public:
  Reader(Op op, const DependenceOperands& operands, Dependences& results, ElementSets& sets)
      : op_(op), x_(operands), y_(results), sets_(sets) {}

  void read() {
    const Rules& rules = *op_.rules;
    if (rules.is_locally_constant()) return;
    if (rules.kind == Kind::elementwise) return elementwise();
    if (rules.is_view() && view()) return;
    if (const auto places = structure_as<AtPlaces>(op_); places && at_places(*places)) return;
    if (moved()) return;
    if (rules.accumulation() && reduced()) return;
    if (const auto axes = structure_as<ProductAxes>(op_)) return multiplied(*axes);
    if (example_by_example()) return;
    if (rules.on_elements() && by_formula()) return;
    std::vector<SetId> all;
    for (const Dependence* x : x_) {
      if (x->is_uniform()) all.push_back(x->all);
      else all.insert(all.end(), x->of.begin(), x->of.end());
    }
    const SetId everything = sets_.unite(all);
    for (Dependence& y : y_) y.all = everything;
  }

 private:
  void make_elements(Dependence& y) { y.of.assign(at(numel(y.type)), empty_set); }

  /// Adds what x, which broadcasts to y's shape, depends on.
  void add(Dependence& y, const Dependence& x) {
    if (x.is_nothing()) return;
    if (y.is_nothing() && x.is_uniform()) {
      y.all = x.all;
      return;
    }
    if (y.is_nothing() && x.type.shape == y.type.shape) {
      y.of = x.of;
      return;
    }
    if (y.is_uniform()) y.of.assign(at(numel(y.type)), y.all);
    if (x.is_uniform()) {
      for (SetId& set : y.of) set = sets_.unite(set, x.all);
      return;
    }
    for_each_place(y.type.shape, broadcast_strides(x.type.shape, y.type.shape),
                   [&](std::int64_t i, std::int64_t place) {
                     SetId& set = y.of[at(i)];
                     set = sets_.unite(set, x.of[at(place)]);
                   });
  }
  void elementwise() {
    for (const Dependence* x : x_) add(y_[0], *x);
  }

  /// Along these axes, which become of size 1, what all elements depend on.
  Dependence united_along(const Dependence& x, const std::vector<bool>& axes) {
    Dependence y{.type = x.type, .of = {}, .all = x.all, .number = {}};
    for (std::size_t i = 0; i < axes.size(); ++i)
      if (axes[i]) y.type.shape[i] = 1;
    if (x.is_uniform() || std::ranges::find(axes, true) == axes.end()) {
      y.of = x.of;
      return y;
    }
    const Groups groups = groups_along(x.type.shape, axes);
    make_elements(y);
    std::vector<SetId> group;
    for (std::size_t i = 0; i < y.of.size(); ++i) {
      group.clear();
      for (const std::int64_t offset : groups.offsets) group.push_back(x.of[at(groups.begins[i] + offset)]);
      y.of[i] = sets_.unite(group);
    }
    if (y.of.empty()) y.all = empty_set;
    return y;
  }

  bool view() {
    const Dependence& x = *x_[0];
    Dependence& y = y_[0];
    if (x.is_uniform()) {
      y.all = x.all;
      return true;
    }
    const std::optional<Shown> shown = shown_by(op_, x.type);
    if (!shown) return false;
    make_elements(y);
    for (std::size_t i = 0; i < y.of.size(); ++i)
      for (std::int64_t k = 0; k < shown->count; ++k) y.of[i] = sets_.unite(y.of[i], x.of[at(shown->first[i] + k)]);
    return true;
  }

  std::vector<Operand> operands() const {
    std::vector<Operand> all;
    for (const Dependence* x : x_) all.push_back({x->type, x->number});
    return all;
  }

  /// False where a place that numbers name is outside the table: the operation throws.
  bool at_places(const AtPlaces& places) {
    const std::optional<AtNamedPlaces> named = at_named_places(places, operands());
    if (!named) return false;
    const Dependence& table = *x_[0];
    Dependence& y = y_[0];
    if (places.what == AtPlaces::What::reads) {
      if (table.is_uniform()) {
        y.all = table.all;
        return true;
      }
      const Dependence read = united_along(table, named->unknown);
      make_elements(y);
      for (std::size_t i = 0; i < named->table.size(); ++i) y.of[at(named->others[i])] = read[at(named->table[i])];
      return true;
    }
    const Dependence& values = *x_[1];
    const bool replaces = places.what == AtPlaces::What::sets && named->all_are_known();
    // What is written is collected in a table whose axes of unknown places have size 1.
    Dependence written = united_along({.type = table.type}, named->unknown);
    if (replaces) add(y, table), written.of = y.is_uniform() ? std::vector<SetId>(at(numel(y.type)), y.all) : y.of;
    else make_elements(written);
    for (std::size_t i = 0; i < named->table.size(); ++i) {
      SetId& set = written.of[at(named->table[i])];
      const SetId value = values[at(named->others[i])];
      set = replaces ? value : sets_.unite(set, value);
    }
    if (replaces) y.of = std::move(written.of);
    else add(y, table), add(y, written);
    return true;
  }

  bool moved() {
    Types types;
    for (const Dependence& y : y_) types.push_back(y.type);
    const auto moves = moves_of(op_, operands(), types);
    if (!moves) return false;
    for (std::size_t r = 0; r < y_.size(); ++r) {
      make_elements(y_[r]);
      for (std::size_t i = 0; i < y_[r].of.size(); ++i)
        if (const auto [k, element] = (*moves)[r][i]; k >= 0) y_[r].of[i] = (*x_[at(k)])[at(element)];
    }
    return true;
  }

  bool reduced() {
    Types types;
    for (const Dependence* x : x_) types.push_back(x->type);
    const std::optional<std::vector<bool>> axes = reduced_axes(op_, types, y_[0].type.rank());
    if (!axes) return false;
    for (const Dependence* x : x_) {
      if (x->type.shape != x_[0]->type.shape) return false;
      Dependence total = united_along(*x, *axes);
      total.type.shape = y_[0].type.shape;
      add(y_[0], total);
    }
    return true;
  }

  /// Each element depends on a row of the left and a column of the right.
  void multiplied(const ProductAxes& axes) {
    const auto united = [&](const Dependence& x, bool is_left) {
      const Lines lines = lines_of(axes, x.type.shape, is_left);
      std::vector<bool> summed(x.type.shape.size());
      if (lines.summed) summed[*lines.summed] = true;
      Dependence of_lines = united_along(x, summed);
      of_lines.type.shape = lines.shape;
      return of_lines;
    };
    const Dependence rows = united(*x_[0], true), columns = united(*x_[1], false);
    Dependence& y = y_[0];
    const Shape shape = y.type.shape;
    const std::size_t cores = axes.is_outer ? 2 : at(axes.left + axes.right - 2);
    Shape whole(shape.begin(), shape.end() - static_cast<std::ptrdiff_t>(cores));
    whole.push_back(rows.type.shape[rows.type.shape.size() - 2]);
    whole.push_back(columns.type.shape[columns.type.shape.size() - 1]);
    y.type.shape = whole;
    add(y, rows);
    add(y, columns);
    y.type.shape = shape;
  }

  /// A small dense algorithm, step by step.
  bool by_formula() {
    constexpr std::int64_t most_elements = 2048;
    std::int64_t elements = 0;
    std::vector<Shape> shapes;
    for (const Dependence* x : x_) {
      elements += numel(x->type);
      shapes.push_back(x->type.shape);
    }
    if (elements > most_elements || y_.size() != 1) return false;
    const ElementFormula written = op_.rules->on_elements()(op_.parameters, shapes);
    if (std::ssize(written.results) != numel(y_[0].type)) return false;
    std::vector<SetId> inputs, steps;
    for (const Dependence* x : x_)
      for (std::int64_t i = 0; i < numel(x->type); ++i) inputs.push_back((*x)[at(i)]);
    for (const Formula::Step& step : written.formula.steps) {
      SetId set = empty_set;
      if (step.kind == Formula::Kind::input) set = inputs[at(step.from[0])];
      else if (step.kind != Formula::Kind::number && !step.is_mask)
        for (const int from : step.from)
          if (from >= 0) set = sets_.unite(set, steps[at(from)]);
      steps.push_back(set);
    }
    for (const int result : written.results) y_[0].of.push_back(steps[at(result)]);
    return true;
  }

  /// Where the operation is what vmap made of one with an axis less, no example reads another's elements.
  bool example_by_example() {
    const Rules& rules = *op_.rules;
    const auto has_examples = [](const Dependence& of, Size size) {
      return !of.type.shape.empty() && of.type.shape[0] == size;
    };
    if (!rules.lifted || x_.empty() || x_[0]->type.shape.empty()) return false;
    const Size examples = x_[0]->type.shape[0];
    if (examples == 0 || !std::ranges::all_of(x_, [&](const auto* x) { return has_examples(*x, examples); }) ||
        !std::ranges::all_of(y_, [&](const Dependence& y) { return has_examples(y, examples); }))
      return false;
    const std::optional<OwnedParameters> of_one = without_axis(examples);
    if (!of_one) return false;
    const Op one{op_.rules, of_one->get()};
    Types in, out;
    std::vector<std::int64_t> sizes;
    std::int64_t elements = 0;
    for (const Dependence* x : x_) {
      in.push_back(x->type);
      in.back().shape.erase(0);
      sizes.push_back(numel(in.back()));
      elements += sizes.back();
    }
    try {
      out = types_of(one, in);
    } catch (const Error&) { return false; }
    for (std::size_t r = 0; r < y_.size(); ++r) {
      Shape shape = out[r].shape;
      shape.insert(0, examples);
      if (shape != y_[r].type.shape || out[r].dtype != y_[r].type.dtype) return false;
    }
    // What one example does, said once: by number among all elements of its operands.
    ElementSets numbers(static_cast<std::int32_t>(elements));
    Dependences singles;
    std::int64_t next = 0;
    for (std::size_t k = 0; k < x_.size(); ++k) {
      Dependence& x = singles.emplace_back(Dependence{.type = in[k], .of = {}, .all = empty_set, .number = {}});
      const bool is_read = !x_[k]->is_nothing();
      for (std::int64_t i = 0; i < sizes[k]; ++i, ++next)
        if (is_read) x.of.push_back(ElementSets::single(next));
    }
    DependenceOperands operands;
    for (const Dependence& x : singles) operands.push_back(&x);
    const Dependences said = dependences_of(one, operands, out, numbers);
    std::vector<std::pair<std::size_t, std::int64_t>> element_of;  // by number: the operand, the element in an example
    for (std::size_t k = 0; k < x_.size(); ++k)
      for (std::int64_t i = 0; i < sizes[k]; ++i) element_of.emplace_back(k, i);
    std::vector<SetId> group;
    for (std::size_t r = 0; r < y_.size(); ++r) {
      const std::int64_t of_example = numel(out[r]);
      make_elements(y_[r]);
      for (std::int64_t e = 0; e < examples; ++e)
        for (std::int64_t i = 0; i < of_example; ++i) {
          if (said[r].is_uniform() && i > 0) {
            y_[r].of[at(e * of_example + i)] = y_[r].of[at(e * of_example)];
            continue;
          }
          group.clear();
          for (const std::int32_t n : numbers.of(said[r][at(i)])) {
            const auto [k, element] = element_of[at(n)];
            group.push_back((*x_[k])[at(e * sizes[k] + element)]);
          }
          y_[r].of[at(e * of_example + i)] = sets_.unite(group);
        }
    }
    return true;
  }

  /// The parameters that `lifted` makes these of; none if there are no such. It adds one to numbers of axes: one less
  /// of the numbers to which it adds one here.
  std::optional<OwnedParameters> without_axis(Size examples) const try {
    struct Numbers final : ParameterVisitor {
      std::vector<std::int64_t> all;
      Numbers() : ParameterVisitor(Mode::reads) {}
      void integer(std::int64_t& i) override { all.push_back(i); }
    } own, lifted;
    const Rules& rules = *op_.rules;
    const OwnedParameters more = rules.lifted(op_.parameters, examples);
    rules.parameters.walk(op_.parameters, own);
    rules.parameters.walk(more.get(), lifted);
    if (own.all.size() != lifted.all.size()) return std::nullopt;
    struct Lower final : ParameterVisitor {
      const std::vector<std::int64_t>&own, &lifted;
      std::size_t next = 0;
      Lower(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b)
          : ParameterVisitor(Mode::edits), own(a), lifted(b) {}
      void integer(std::int64_t& i) override {
        i -= lifted[next] == own[next] + 1 ? 1 : 0;
        ++next;
      }
    } lower(own.all, lifted.all);
    OwnedParameters fewer(rules.parameters, op_.parameters, lower);
    const OwnedParameters again = rules.lifted(fewer.get(), examples);
    if (!rules.parameters.equal(again.get(), op_.parameters)) return std::nullopt;
    return fewer;
  } catch (const Error&) { return std::nullopt; }

  const Op op_;
  const DependenceOperands& x_;
  Dependences& y_;
  ElementSets& sets_;
};

}  // namespace

Dependences dependences_of(Op op, const DependenceOperands& operands, const Types& results, ElementSets& sets) {
  Dependences y;
  for (const Type& type : results) y.push_back({.type = type, .of = {}, .all = empty_set, .number = {}});
  Reader(op, operands, y, sets).read();
  for (Dependence& of : y)
    if (!is_floating(of.type.dtype) && !is_complex(of.type.dtype)) of.of.clear(), of.all = empty_set;
  return y;
}

}  // namespace ricci::sparse
