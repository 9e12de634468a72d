// Axes are joined where an equation says that they are one: of operands and results of elementwise operations, of
// reductions and of views.
#include "compile/axes_apart.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "primitive/interpreter.h"
#include "ricci/error.h"
#include "tensor/at.h"

namespace ricci::compiled {
namespace {

/// With numbers for the symbols that are known.
ProgramBody with_known_numbers(ProgramBody body, ExpandOptions options) {
  options.lanes = {.number = 1}, options.outer = {};  // no symbol has the lanes
  const LaneSizes sizes(body, 2, options);
  struct Put final : ParameterVisitor {
    const LaneSizes& sizes;
    explicit Put(const LaneSizes& sizes) : ParameterVisitor(Mode::edits), sizes(sizes) {}
    void size(Size& size) override {
      if (size.is_symbol() && !sizes.is_open(size)) sizes.put(size);
    }
  } put(sizes);
  for (Type& type : body.types)
    for (Size& size : type.shape) put.size(size);
  for (Equation& e : body.equations)
    if (e.has_symbols) e.parameters = {e.rules->parameters, e.parameters.get(), put};
  return body;
}

/// A number that is no size of the program, nor a parameter: an axis that has it is one of those told apart.
std::int64_t number_of_no_size(const ProgramBody& body) {
  struct Look final : ParameterVisitor {
    std::set<std::int64_t> taken;
    Look() : ParameterVisitor(Mode::reads) {}
    void size(Size& size) override {
      if (!size.is_symbol()) taken.insert(size.raw());
    }
    void integer(std::int64_t& value) override { taken.insert(value); }
  } look;
  for (const Type& type : body.types)
    for (Size size : type.shape) look.size(size);
  for (const Equation& e : body.equations) e.rules->parameters.walk(e.parameters.get(), look);
  std::int64_t number = 1'000'003;
  while (look.taken.contains(number)) ++number;
  return number;
}

/// Sets of axes. A set never holds two axes of one variable.
class Axes {
 public:
  explicit Axes(const ProgramBody& body) {
    for (std::size_t v = 0; v < body.types.size(); ++v) {
      first_.push_back(parent_.size());
      for (std::size_t axis = 0; axis < body.types[v].shape.size(); ++axis) {
        parent_.push_back(parent_.size());
        variables_.push_back({static_cast<Variable>(v)});
      }
    }
  }
  std::size_t axis(Variable v, std::size_t i) const { return first_[at(v)] + i; }
  std::size_t set_of(std::size_t axis) const {
    while (parent_[axis] != axis) axis = parent_[axis];
    return axis;
  }
  std::size_t variables_with(std::size_t axis) const { return variables_[set_of(axis)].size(); }
  void join(std::size_t a, std::size_t b) {
    a = set_of(a), b = set_of(b);
    if (variables_[a].size() < variables_[b].size()) std::swap(a, b);
    std::vector<Variable> both;
    std::ranges::set_union(variables_[a], variables_[b], std::back_inserter(both));
    if (a == b || both.size() < variables_[a].size() + variables_[b].size()) return;
    variables_[a] = std::move(both);
    variables_[b].clear();
    parent_[b] = a;
  }

 private:
  std::vector<std::size_t> first_, parent_;       // by variable; by axis
  std::vector<std::vector<Variable>> variables_;  // of a set, in ascending order
};

/// By axis of a result: which axis of the operand it is; -1: none.
using AxisMap = std::vector<int>;

AxisMap of_broadcast(const Shape& operand, const Shape& result) {
  AxisMap map(result.size(), -1);
  for (std::size_t i = 0; i < operand.size(); ++i) map[result.size() - operand.size() + i] = static_cast<int>(i);
  return map;
}

Types types_in(const ProgramBody& body, const auto& variables) {
  Types types;
  for (const Variable v : variables) types.push_back(body.types[at(v)]);
  return types;
}

/// Sizes that are all different say which axes are left.
AxisMap of_reduction(const Equation& e, Types operands) {
  constexpr std::int64_t first = 101;
  for (Type& type : operands)
    for (std::size_t i = 0; i < type.shape.size(); ++i) type.shape[i] = first + static_cast<std::int64_t>(i);
  AxisMap map;
  const Types results = types_of(e.op(), operands);
  for (const Size size : results[0].shape) map.push_back(static_cast<int>(size.raw() - first));
  return map;
}

/// Strides say which axes a view shows.
AxisMap of_view(const Equation& e, const Type& operand, const Shape& result) {
  AxisMap map(result.size(), -1);
  const Strides before = contiguous_strides(operand.shape);
  Type type = operand;
  Strides strides = before;
  std::uint64_t element = 0;
  void* data = &element;
  if (!e.rules->alias(e.parameters.get(), type, strides, data)) return map;
  for (std::size_t axis = 0; axis < type.shape.size(); ++axis)
    for (std::size_t i = 0; i < before.size(); ++i)
      if (strides[axis] == before[i] && type.shape[axis] == operand.shape[i]) map[axis] = static_cast<int>(i);
  return map;
}

AxisMap map_of(const ProgramBody& body, const Equation& e, std::size_t operand) try {
  const auto has_symbol = [](const Type& type) { return std::ranges::any_of(type.shape, &Size::is_symbol); };
  const Types in = types_in(body, e.inputs);
  if (std::ranges::any_of(in, has_symbol)) return {};
  const Shape& result = body.types[at(e.outputs[0])].shape;
  if (e.rules->kind == Kind::elementwise) return of_broadcast(in[operand].shape, result);
  if (e.rules->accumulation()) return of_reduction(e, in);
  if (e.rules->is_view()) return of_view(e, in[operand], result);
  return AxisMap(result.size(), -1);
} catch (const Error&) { return {}; }

/// Axes of an operand and of a result that are one.
struct Link {
  std::size_t operand, result;
};
/// By equation.
using Links = std::vector<std::vector<Link>>;

Links links_of(const ProgramBody& body, const Axes& axes, std::int64_t size) {
  const auto is_of_size = [&](Variable v, std::size_t axis) {
    const Shape& shape = body.types[at(v)].shape;
    return axis < shape.size() && !shape[axis].is_symbol() && shape[axis].raw() == size;
  };
  Links all;
  for (const Equation& e : body.equations) {
    std::vector<Link>& links = all.emplace_back();
    for (std::size_t k = 0; k < e.inputs.size() && e.outputs.size() == 1; ++k) {
      const AxisMap map = map_of(body, e, k);
      for (std::size_t axis = 0; axis < map.size(); ++axis)
        if (map[axis] >= 0 && is_of_size(e.outputs[0], axis) && is_of_size(e.inputs[k], at(map[axis])))
          links.push_back({axes.axis(e.inputs[k], at(map[axis])), axes.axis(e.outputs[0], axis)});
    }
  }
  return all;
}

/// Where an equation has operands of two axes, as x + x.t() has, its result goes to that of `first`.
Axes joined_by_computing(const ProgramBody& body, Axes axes, const Links& links, std::size_t first) {
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (body.equations[i].rules->is_view()) continue;
    for (const bool are_first : {true, false})
      for (const Link& link : links[i])
        if (are_first == (axes.set_of(link.operand) == axes.set_of(first))) axes.join(link.operand, link.result);
  }
  return axes;
}
/// A value of which two views show two axes belongs to `first`.
void join_by_views(const ProgramBody& body, Axes& axes, const Links& links, std::size_t first) {
  for (std::size_t before = 0; before != axes.variables_with(first);) {
    before = axes.variables_with(first);
    for (std::size_t i = 0; i < links.size(); ++i)
      for (const Link& link : links[i]) {
        const std::size_t set = axes.set_of(first);
        const bool reaches = axes.set_of(link.operand) == set || axes.set_of(link.result) == set;
        if (body.equations[i].rules->is_view() && reaches) axes.join(link.operand, link.result);
      }
  }
}

/// The parameters with `number` in the place of those sizes that the types of operands and results ask for; as they are
/// where none fit.
OwnedParameters with_number(const ProgramBody& body, const Equation& e, std::int64_t size, std::int64_t number) {
  constexpr unsigned most_places = 4;
  struct Put final : ParameterVisitor {
    std::int64_t before, number;
    unsigned chosen, seen = 0;  // places, up to the most
    Put(std::int64_t before, std::int64_t number, unsigned chosen)
        : ParameterVisitor(Mode::edits), before(before), number(number), chosen(chosen) {}
    void size(Size& size) override {
      if (size.is_symbol() || size.raw() != before || seen == most_places) return;
      if ((chosen >> seen++) & 1U) size = number;
    }
  };
  const Types in = types_in(body, e.inputs), out = types_in(body, e.outputs);
  const auto has_shape = [](const Type& a, const Type& b) { return a.shape == b.shape; };
  for (unsigned chosen = 0; chosen < 1U << most_places; ++chosen) {
    Put put(size, number, chosen);
    OwnedParameters parameters(e.rules->parameters, e.parameters.get(), put);
    if (chosen >> put.seen) break;
    try {
      if (std::ranges::equal(types_of({e.rules, parameters.get()}, in), out, has_shape)) return parameters;
    } catch (const Error&) {}  // these sizes do not fit
  }
  return e.parameters;
}

AxesApart told_apart(const ProgramBody& body, const Axes& axes, std::size_t told, std::int64_t size,
                     std::int64_t number) {
  AxesApart apart{body, {.unknown = {}, .number = number, .stands_for = size}};
  std::vector<bool> has_set(body.types.size());
  for (std::size_t v = 0; v < body.types.size(); ++v)
    for (std::size_t axis = 0; axis < body.types[v].shape.size(); ++axis)
      if (axes.set_of(axes.axis(static_cast<Variable>(v), axis)) == axes.set_of(told))
        apart.body.types[v].shape[axis] = number, has_set[v] = true;
  for (Equation& e : apart.body.equations) {
    const auto is_told = [&](Variable v) { return has_set[at(v)]; };
    if (std::ranges::any_of(e.inputs, is_told) || std::ranges::any_of(e.outputs, is_told))
      e.parameters = with_number(apart.body, e, size, number);
  }
  return apart;
}

}  // namespace

std::vector<AxesApart> axes_told_apart(const ProgramBody& whole, const ExpandOptions& options, std::int64_t fewest) {
  constexpr std::size_t most_sizes = 2, most_sets = 2;
  const ProgramBody body = with_known_numbers(whole, options);
  std::map<std::int64_t, int> counts;  // of values with several axes of a size
  for (const Type& type : body.types) {
    std::map<std::int64_t, int> axes;
    for (const Size size : type.shape)
      if (!size.is_symbol() && size.raw() >= fewest && ++axes[size.raw()] == 2) ++counts[size.raw()];
  }
  const auto most_frequent = [](const auto& counts, std::size_t most) {
    std::vector<std::pair<std::int64_t, std::int64_t>> all;
    for (const auto& [what, count] : counts) all.emplace_back(what, count);
    std::ranges::stable_sort(all, [](const auto& a, const auto& b) { return a.second > b.second; });
    if (all.size() > most) all.resize(most);
    return all;
  };
  if (counts.empty()) return {};
  const std::int64_t number = number_of_no_size(body);
  std::vector<AxesApart> all;
  for (const auto& [size, count] : most_frequent(counts, most_sizes)) {
    const auto is_size = [&](Size s) { return !s.is_symbol() && s.raw() == size; };
    const Axes none(body);
    const Links links = links_of(body, none, size);
    const Axes axes = joined_by_computing(body, none, links, 0);
    // By set: how many variables it has. Of two, the one whose elements lie side by side.
    std::map<std::size_t, std::size_t> sets;
    for (std::size_t v = 0; v < body.types.size(); ++v) {
      const Shape& shape = body.types[v].shape;
      if (std::ranges::count_if(shape, is_size) < 2) continue;
      std::size_t last = 0;
      for (std::size_t i = 0; i < shape.size(); ++i) {
        if (!is_size(shape[i])) continue;
        last = axes.axis(static_cast<Variable>(v), i);
        sets.try_emplace(axes.set_of(last), 2 * axes.variables_with(last));
      }
      sets[axes.set_of(last)] |= 1U;
    }
    for (const auto& [set, weight] : most_frequent(sets, most_sets)) {
      Axes along = joined_by_computing(body, none, links, at(set));
      join_by_views(body, along, links, at(set));
      all.push_back(told_apart(body, along, at(set), size, number));
    }
  }
  return all;
}

}  // namespace ricci::compiled
