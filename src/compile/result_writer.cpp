// Coordinates, sizes and elements for one element of a result.
#include "compile/result_writer.h"

#include <algorithm>

namespace ricci::compiled {

ResultWriter::ResultWriter(LaneProgram& to, const ProgramBody& body, const LaneSizes& sizes, bool are_independent,
                           const Equation& e, const std::vector<const Elements*>& operands, std::size_t result)
    : GraphWriterOf(to.graph),
      to_(to),
      body_(body),
      sizes_(sizes),
      are_independent_(are_independent),
      equation_(e),
      operands_(operands),
      result_(static_cast<int>(result)) {
  if (!sizes.has_lanes()) return;
  const Shape& shape = body.types[at(e.outputs[result])].shape;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const Size size = shape[at(axis)];
    if (sizes.is_lane(size) && lane_axis_ < 0) lane_axis_ = axis;
    else if (sizes.depends_on_lanes(size)) refuse("a result whose size follows from the number of lanes");
  }
}

Element ResultWriter::element(Rules::ElementRule rule, Op op, const Elements& y, std::int64_t i) {
  const Strides strides = contiguous_strides(y.type.shape);
  first_ = of_lane_ = 0, is_numbered_ = true, coordinates_.clear();
  for (int axis = 0; axis < y.type.rank(); ++axis) {
    const std::int64_t index = i / strides[at(axis)] % y.type.shape[at(axis)].raw();
    coordinates_.emplace_back(index);
    if (axis == lane_axis_) {
      coordinates_.back().is_lane = true, of_lane_ = strides[at(axis)];
      continue;
    }
    first_ += index * strides[at(axis)];
    is_numbered_ = is_numbered_ && (axis > lane_axis_ || index == 0);
  }
  own_lane_ = lane_axis_ < 0 ? uniform : static_cast<int>(coordinates_[at(lane_axis_)].number);
  lane_ = uniform;
  const WritingScalars writing(this);
  const Scalar written = rule(op.parameters, *this);
  if (written == no_scalar) refuse("its elements are better computed side by side");
  return {written, lane_};
}

Whole ResultWriter::lane() {
  if (lane_axis_ < 0) return Whole(0);
  if (are_independent_) refuse("it asks which lane it is");
  join(own_lane_);
  return Whole::at(graph_.lane(given({Given::What::filling})));
}

std::int64_t ResultWriter::known_size(int operand, int axis) const {
  const Size size = symbolic_shape(operand)[at(axis)];
  return may_be_another(size) ? INT64_MAX : type(operand).shape[at(axis)].raw();
}

bool ResultWriter::may_be_another(Size size) const {
  return sizes_.depends_on_lanes(size) || sizes_.depends_on_outer(size) || sizes_.is_open(size);
}

Whole ResultWriter::size(int operand, int axis) {
  const Size size = symbolic_shape(operand)[at(axis)];
  if (are_independent_ && sizes_.depends_on_lanes(size)) refuse("it counts the lanes");
  if (sizes_.is_lane(size)) return Whole::at(graph_.lanes());
  if (sizes_.depends_on_lanes(size)) refuse("an operand whose size follows from the number of lanes");
  if (!may_be_another(size)) return Whole(type(operand).shape[at(axis)].raw());
  if (operands_[at(operand)]->tensor < 0) refuse("an operand whose size may be another");
  return Whole::at(given({Given::What::size, operands_[at(operand)]->tensor, axis}));
}

Scalar ResultWriter::element_of(int operand, std::span<const Coordinate> place) {
  const Elements& x = *operands_[at(operand)];
  const Strides strides = contiguous_strides(x.type.shape);
  std::ptrdiff_t last = -1, computed = 0;
  std::int64_t number = 0;  // as far as it is known
  for (std::size_t i = 0; i < place.size(); ++i) {
    if (is_known(place[i])) number += known(place[i]) * strides[i];
    else last = static_cast<std::ptrdiff_t>(i), ++computed;
  }
  if (last < 0 && (x.tensor < 0 || !x.of.empty())) return element_at(x, number);
  if (x.tensor >= 0) return loaded(operand, place, last);
  if (computed > 1) refuse("places that are computed, among elements that are computed too");
  return chosen(x, place[at(last)].computed, number, strides[at(last)], x.type.shape[at(last)].raw());
}

bool ResultWriter::is_known(const Coordinate& c) const {
  return c.computed == no_scalar || graph_.is_number(c.computed);
}
std::int64_t ResultWriter::known(const Coordinate& c) const {
  return c.computed == no_scalar ? c.number : static_cast<std::int64_t>(graph_[c.computed].payload);
}

/// An element is made of one lane.
void ResultWriter::join(int lane) {
  if (lane == uniform || lane == lane_) return;
  if (lane_ != uniform) refuse("it mixes lanes");
  lane_ = lane;
}

Node ResultWriter::given(const Given& what) {
  const auto found = std::ranges::find(to_.givens, what);
  const auto number = static_cast<std::uint64_t>(found - to_.givens.begin());
  if (found == to_.givens.end()) to_.givens.push_back(what);
  return graph_.given(number);
}

Scalar ResultWriter::element_at(const Elements& x, std::int64_t number) {
  if (x.of.empty()) refuse("an operand that has no elements here");
  join(x.of[at(number)].lane);
  return x.of[at(number)].node;
}

bool ResultWriter::is_known_from(int operand, std::size_t axis) const {
  const Shape& shape = symbolic_shape(operand);
  return std::none_of(shape.begin() + static_cast<std::ptrdiff_t>(axis), shape.end(),
                      [&](Size size) { return may_be_another(size); });
}

/// From memory: at a place that is computed, plus the part of it that is known, in the row behind the last coordinate
/// that is not known.
Scalar ResultWriter::loaded(int operand, std::span<const Coordinate> place, std::ptrdiff_t last_computed) {
  const Elements& x = *operands_[at(operand)];
  if (is_complex(x.type.dtype)) refuse("complex elements");
  const auto is_of_lanes = [&](Size size) { return sizes_.depends_on_lanes(size); };
  if (are_independent_ && std::ranges::any_of(symbolic_shape(operand), is_of_lanes)) refuse("it may read another lane");
  std::size_t row_begin = at(last_computed) + 1;
  for (std::size_t i = row_begin; i < place.size(); ++i)
    if (place[i].is_lane || !is_known_from(operand, i)) row_begin = i + 1;
  std::int64_t offset = 0, length = 1;
  for (std::size_t i = place.size(); i-- > row_begin;) {
    offset += known(place[i]) * length;
    length *= x.type.shape[i].raw();
  }
  if (length >= std::int64_t{1} << 31) refuse("rows that are too long");
  Whole row(0), step(length);
  for (std::size_t i = row_begin; i-- > 0;) {
    row = row + along(place[i]) * step;
    if (i > 0) step = step * size(operand, static_cast<int>(i));
  }
  return graph_.load(x.type.dtype, given({Given::What::address, x.tensor}), row.scalar(), offset, length);
}

/// One of a few elements.
Scalar ResultWriter::chosen(const Elements& x, Node index, std::int64_t first, std::int64_t step, std::int64_t count) {
  if (count > 16) refuse("places that are computed, among many elements");
  Scalar y = element_at(x, first);
  for (std::int64_t k = 1; k < count; ++k) {
    const Node is_this = graph_.word(Word::equal, index, graph_.number(DType::int64, static_cast<long double>(k)));
    y = graph_.select(is_this, element_at(x, first + k * step), y);
  }
  return y;
}

}  // namespace ricci::compiled
