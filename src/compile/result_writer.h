// One element of a result after the other, as an operation writes it into the scalar graph: what it asks for is
// answered for the lane that the element belongs to. Knows no operation by name.
#pragma once

#include "compile/elements.h"
#include "compile/expansion.h"
#include "compile/graph_writer.h"
#include "compile/lane_sizes.h"
#include "program/element_writer.h"

namespace ricci::compiled {

class ResultWriter final : public GraphWriterOf<ElementWriter> {
 public:
  /// Of result number `result` of the equation; `are_independent` as in ExpandOptions. Throws NotExpandable.
  ResultWriter(LaneProgram& to, const ProgramBody& body, const LaneSizes& sizes, bool are_independent,
               const Equation& e, const std::vector<const Elements*>& operands, std::size_t result);

  /// Element `i`, row by row. Throws NotExpandable.
  Element element(Rules::ElementRule rule, Op op, const Elements& y, std::int64_t i);

  int result() const override { return result_; }
  int operands() const override { return static_cast<int>(operands_.size()); }
  const Type& type(int operand) const override { return operands_[at(operand)]->type; }
  Coordinate coordinate(int axis) override { return coordinates_[at(axis)]; }
  bool number_by_lane(std::int64_t& first, std::int64_t& of_lane) override {
    first = first_, of_lane = of_lane_;
    return is_numbered_;
  }
  std::int64_t known_size(int operand, int axis) const override;
  Whole lane() override;
  Whole size(int operand, int axis) override;
  Scalar element_of(int operand, std::span<const Coordinate> place) override;
  void require(const TypedMask& mask) override { to_.required.push_back(mask.scalar); }

 private:
  const Shape& symbolic_shape(int operand) const { return body_.types[at(equation_.inputs[at(operand)])].shape; }
  bool may_be_another(Size size) const;
  void join(int lane);
  Node given(const Given& what);
  Scalar element_at(const Elements& x, std::int64_t number);
  Scalar loaded(int operand, std::span<const Coordinate> place, std::ptrdiff_t last_computed);
  Scalar chosen(const Elements& x, Node index, std::int64_t first, std::int64_t step, std::int64_t count);
  bool is_known(const Coordinate& c) const;
  std::int64_t known(const Coordinate& c) const;
  bool is_known_from(int operand, std::size_t axis) const;
  Whole along(const Coordinate& c) { return c.is_lane ? lane() : c.value(); }

  LaneProgram& to_;
  const ProgramBody& body_;
  const LaneSizes& sizes_;
  const bool are_independent_;
  const Equation& equation_;
  const std::vector<const Elements*>& operands_;
  const int result_;
  int lane_axis_ = -1;  // of the result
  // Of the element.
  std::vector<Coordinate> coordinates_;
  int own_lane_ = uniform, lane_ = uniform;  // where it stands; what it was made of
  std::int64_t first_ = 0, of_lane_ = 0;
  bool is_numbered_ = true;
};

}  // namespace ricci::compiled
