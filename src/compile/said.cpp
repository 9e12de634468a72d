// Index by index: elementwise operations, views, parts that are replaced.
#include "compile/said.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "primitive/interpreter.h"
#include "primitive/promotion.h"
#include "program/constants.h"
#include "program/structure.h"
#include "ricci/primitive/formula.h"

namespace ricci::compiled {
namespace {

constexpr std::size_t most_steps_of_formula = 60, most_nodes = 1500;
constexpr int most_depth = 300;  // of equations, each read by the next one: of calls on the stack

/// A layout as numbers: by axis of the operand, where the view begins and how far each of its own axes goes there.
struct Layout {
  std::vector<std::int64_t> begin;                 ///< by axis of the operand
  std::vector<std::vector<std::int64_t>> by_axis;  ///< by axis of the operand, then of the view
  Shape shape;                                     ///< of the view
};

/// The layout rule is run with one axis of the operand at a time, whose stride is 1, and all others 0. None where the
/// view is none of a tensor that lies so.
template <class Alias>
std::optional<Layout> layout_of(const Shape& operand, const Alias& alias) {
  Layout layout;
  const auto first = std::make_unique<std::byte[]>(1);  // an address to count from
  for (std::size_t axis = 0; axis < operand.size(); ++axis) {
    Type type{DType::int8, operand};
    Strides strides;
    strides.resize(operand.size(), 0);
    strides[axis] = 1;
    void* data = first.get();
    if (!alias(type, strides, data)) return std::nullopt;
    layout.begin.push_back(static_cast<std::byte*>(data) - first.get());
    layout.by_axis.emplace_back(strides.begin(), strides.end());
    layout.shape = type.shape;
    for (std::size_t k = 0; k < layout.shape.size(); ++k)
      if (layout.shape[k].raw() == 1) layout.by_axis.back()[k] = 0;
  }
  return layout;
}

std::optional<Layout> layout_of_view(const ProgramBody& body, const Equation& e) {
  return layout_of(body.types[at(e.inputs[0])].shape, [&](Type& type, Strides& strides, void*& data) {
    return e.rules->alias(e.parameters.get(), type, strides, data);
  });
}
std::optional<Layout> layout_of_part(const ProgramBody& body, const Equation& e) {
  const auto part = structure_as<PartReplaced>(e.op());
  return layout_of(body.types[at(e.inputs[0])].shape, [&](Type& type, Strides& strides, void*& data) {
    return part->alias(e.parameters.get(), type, strides, data);
  });
}

/// Whether an element of the operand is one of the view where each coordinate for itself is: not so of a diagonal.
bool has_own_axes(const Layout& layout) {
  for (std::size_t k = 0; k < layout.shape.size(); ++k)
    if (std::ranges::count_if(layout.by_axis, [&](const auto& by_axis) { return by_axis[k] != 0; }) > 1) return false;
  return true;
}

bool has_formula(const Equation& e) { return e.rules->kind == Kind::elementwise && e.rules->formula(); }
bool has_one_number(const Equation& e) { return e.inputs.empty() && fills(e.op()); }
bool has_diagonal(const Equation& e) {
  const auto made = structure_as<Made>(e.op());
  return made && made->diagonal;
}

}  // namespace

bool says_elements_at_index(const ProgramBody& body, const Equation& e) {
  const Rules& rules = *e.rules;
  if (rules.kind == Kind::custom || rules.effect != Effect::no_effect || rules.home || e.outputs.size() != 1)
    return false;
  const auto fits = [&](Variable v) {
    const Type& type = body.types[at(v)];
    return !is_complex(type.dtype) && type.shape.numel().raw() > 0;
  };
  if (!std::ranges::all_of(e.inputs, fits) || !std::ranges::all_of(e.outputs, fits)) return false;
  if (has_one_number(e) || has_diagonal(e)) return true;
  if (has_formula(e)) return rules.formula()(e.parameters.get()).steps.size() <= most_steps_of_formula;
  if (rules.is_view()) return layout_of_view(body, e).has_value();
  if (structure_as<Joined>(e.op())) return true;
  if (!structure_as<PartReplaced>(e.op()) || body.types[at(e.inputs[0])].rank() == 0) return false;
  const std::optional<Layout> part = layout_of_part(body, e);
  return part && has_own_axes(*part);
}

SaidInRegion::SaidInRegion(const ProgramBody& body, const SaidBy& said, const Ranges& ranges, ScalarGraph& graph)
    : body_(body), said_(said), ranges_(ranges), graph_(graph), times_said_(body.equations.size()) {}

/// A range of one position is a number.
void SaidInRegion::simplify(Affine& c) const {
  c.by_range.resize(ranges_.count(), 0);
  for (std::size_t k = 0; k < c.by_range.size(); ++k)
    if (ranges_.size(k) == 1) c.offset += std::exchange(c.by_range[k], 0) * ranges_.begin[k];
}

Index SaidInRegion::simplified(const Shape& shape, Index at) const {
  for (std::size_t axis = 0; axis < at.size(); ++axis) {
    if (shape[axis].raw() == 1) at[axis] = {};
    simplify(at[axis]);
  }
  return at;
}

Node SaidInRegion::made(std::size_t equation, Index at) {
  const Variable v = body_.equations[equation].outputs[0];
  if (said_[ricci::at(v)] >= 0) return value(v, std::move(at));
  return said(equation, simplified(type(v).shape, std::move(at)));
}

Node SaidInRegion::value(Variable v, Index at) {
  at = simplified(type(v).shape, std::move(at));
  const auto known = known_.find({v, at});
  if (known != known_.end()) return known->second;
  if (graph_.steps().size() > most_nodes || depth_ == most_depth) throw TooLong();
  const std::ptrdiff_t equation = said_[ricci::at(v)];
  ++depth_;
  const Node n = equation < 0 ? read(v, at) : said(static_cast<std::size_t>(equation), at);
  --depth_;
  known_.emplace(std::pair(v, std::move(at)), n);
  return n;
}

Node SaidInRegion::read(Variable v, const Index& at) {
  for (const Constant& c : body_.constants)
    if (c.variable == v) return graph_.number(type(v).dtype, bits_of(*c.value).bits[0]);
  reads_.push_back({v, at});
  return graph_.input(reads_.size() - 1, type(v).dtype);
}

Node SaidInRegion::said(std::size_t equation, const Index& at) {
  const Equation& e = body_.equations[equation];
  ++times_said_[equation];
  Node n = no_node;
  try {
    if (has_one_number(e)) n = number(equation);
    else if (has_diagonal(e)) n = on_diagonal(equation, at);
    else if (has_formula(e)) n = elementwise(equation, at);
    else if (e.rules->is_view()) {
      const std::optional<Layout> layout = layout_of_view(body_, e);
      Index from(layout->begin.size());
      for (std::size_t axis = 0; axis < from.size(); ++axis) {
        from[axis].offset = layout->begin[axis];
        from[axis].by_range.resize(ranges_.count(), 0);
        for (std::size_t k = 0; k < at.size(); ++k) {
          const std::int64_t factor = layout->by_axis[axis][k];
          from[axis].offset += factor * at[k].offset;
          for (std::size_t r = 0; r < ranges_.count(); ++r) from[axis].by_range[r] += factor * at[k].by_range[r];
        }
      }
      n = graph_.convert(type(e.outputs[0]).dtype, value(e.inputs[0], std::move(from)));
    } else if (structure_as<Joined>(e.op())) n = joined(equation, at);
    else n = part_replaced(equation, at);
  } catch (const NoSuchWord&) { throw CannotSay{equation}; }
  return n;
}

Node SaidInRegion::elementwise(std::size_t equation, const Index& at) {
  const Equation& e = body_.equations[equation];
  SmallVector<const Type*, 4> types;
  for (const Variable v : e.inputs) types.push_back(&type(v));
  const Operands promoted = operands_of(e.rules->name, *e.rules, {types.data(), types.size()});
  if (is_complex(promoted.dtype)) throw CannotSay{equation};
  const DType element = computed_dtype(promoted.dtype);
  std::vector<Node> operands;
  for (std::size_t k = 0; k < e.inputs.size(); ++k) {
    const std::size_t rank = type(e.inputs[k]).shape.size();
    const Node x = value(e.inputs[k], Index(at.end() - static_cast<std::ptrdiff_t>(rank), at.end()));
    const bool is_promoted = promoted.promoted(static_cast<int>(k));
    operands.push_back(is_promoted ? graph_.convert(element, graph_.convert(promoted.dtype, x))
                                   : graph_.convert(DType::boolean, x));
  }
  return graph_.convert(type(e.outputs[0]).dtype,
                        graph_.read(e.rules->formula()(e.parameters.get()), element, operands));
}

Node SaidInRegion::number(std::size_t equation) {
  const Equation& e = body_.equations[equation];
  const OwnedParameters parameters = filling(e.op(), {type(e.outputs[0]).dtype, {}});
  std::uint64_t bits = 0;
  const Strided one{&bits, type(e.outputs[0]).dtype, 0, nullptr, nullptr};
  e.rules->eval(parameters.get(), {&one, 1}, {});
  return graph_.number(one.dtype, bits, bits == 0 && gives_structural_zeros(e.op()));
}

/// Where one range decides, it is cut around the diagonal. Where several do, a row is read, at how far the element is
/// behind the diagonal.
Node SaidInRegion::on_diagonal(std::size_t equation, const Index& at) {
  const Equation& e = body_.equations[equation];
  Affine behind = at[1];  // so far behind the diagonal
  behind.offset -= at[0].offset + structure_as<Made>(e.op())->diagonal(e.parameters.get()).raw();
  behind.by_range.resize(ranges_.count(), 0);
  for (std::size_t k = 0; k < at[0].by_range.size(); ++k) behind.by_range[k] -= at[0].by_range[k];
  const auto decides = [](std::int64_t along) { return along != 0; };
  const auto innermost = std::find_if(behind.by_range.rbegin(), behind.by_range.rend(), decides);
  if (innermost != behind.by_range.rend() && *innermost < 0) {
    behind.offset = -behind.offset;
    for (std::int64_t& along : behind.by_range) along = -along;
  }
  if (std::ranges::count_if(behind.by_range, decides) > 1) {
    reads_.push_back({e.outputs[0], {std::move(behind)}, true});
    return graph_.input(reads_.size() - 1, type(e.outputs[0]).dtype);
  }
  const bool is_on_it = inside(equation, behind, 0, 0) == Inside::yes;
  return graph_.number(type(e.outputs[0]).dtype, is_on_it ? 1.0L : 0.0L, !is_on_it);
}

/// Of a coordinate between two numbers, both included.
SaidInRegion::Inside SaidInRegion::inside(std::size_t equation, const Affine& c, std::int64_t first,
                                          std::int64_t last) const {
  std::int64_t least = c.offset, most = c.offset;
  std::size_t range = ranges_.count();
  int ranges = 0;
  for (std::size_t k = 0; k < c.by_range.size(); ++k) {
    if (c.by_range[k] == 0) continue;
    if (c.by_range[k] < 0) throw CannotSay{equation};
    least += c.by_range[k] * ranges_.begin[k], most += c.by_range[k] * (ranges_.end[k] - 1);
    range = k, ++ranges;
  }
  if (least >= first && most <= last) return Inside::yes;
  if (most < first || least > last) return Inside::no;
  if (ranges != 1) throw CannotSay{equation};
  const std::int64_t step = c.by_range[range];
  if (least < first) throw CutAt{range, (first - c.offset + step - 1) / step};
  throw CutAt{range, (last - c.offset) / step + 1};
}

bool SaidInRegion::is_inside(const Shape& shape, const Index& at) const {
  for (std::size_t axis = 0; axis < at.size(); ++axis) {
    Affine c = at[axis];
    simplify(c);
    if (inside(0, c, 0, shape[axis].raw() - 1) == Inside::no) return false;
  }
  return true;
}

Node SaidInRegion::joined(std::size_t equation, Index at) {
  const Equation& e = body_.equations[equation];
  const auto axis = ricci::at(structure_as<Joined>(e.op())->axis);
  std::size_t operand = 0;
  const auto size = [&] { return type(e.inputs[operand]).shape[axis].raw(); };
  for (; inside(equation, at[axis], 0, size() - 1) == Inside::no; ++operand) at[axis].offset -= size();
  return graph_.convert(type(e.outputs[0]).dtype, value(e.inputs[operand], std::move(at)));
}

Node SaidInRegion::part_replaced(std::size_t equation, const Index& at) {
  const Equation& e = body_.equations[equation];
  const std::optional<Layout> layout = layout_of_part(body_, e);
  Index in_part(layout->shape.size());
  for (Affine& c : in_part) c.by_range.assign(ranges_.count(), 0);
  bool is_in_part = true;
  for (std::size_t axis = 0; is_in_part && axis < at.size(); ++axis) {
    const auto& by_axis = layout->by_axis[axis];
    const auto along = std::ranges::find_if(by_axis, [](std::int64_t step) { return step != 0; });
    const bool is_place = along == by_axis.end();  // one position of the axis
    const bool is_alone = std::count(by_axis.begin(), by_axis.end(), 0) + 1 == std::ssize(by_axis);
    if (!is_place && !is_alone) throw CannotSay{equation};
    const std::int64_t first = layout->begin[axis], step = is_place ? 1 : *along;
    const auto axis_of_part = along - by_axis.begin();
    const std::int64_t size = is_place ? 1 : layout->shape[ricci::at(axis_of_part)].raw();
    is_in_part = inside(equation, at[axis], first, first + (size - 1) * step) == Inside::yes;
    if (!is_in_part || is_place) continue;
    Affine& c = in_part[ricci::at(axis_of_part)];
    const auto divides = [&](std::int64_t x) { return x % step == 0; };
    if (!std::ranges::all_of(at[axis].by_range, divides)) throw CannotSay{equation};
    is_in_part = divides(at[axis].offset - first);
    c.offset = (at[axis].offset - first) / step;
    for (std::size_t k = 0; k < c.by_range.size(); ++k) c.by_range[k] = at[axis].by_range[k] / step;
  }
  const DType dtype = type(e.outputs[0]).dtype;
  return is_in_part ? graph_.convert(dtype, value(e.inputs[1], std::move(in_part)))
                    : graph_.convert(dtype, value(e.inputs[0], at));
}

}  // namespace ricci::compiled
