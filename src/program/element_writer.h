// What an operation says about one element of its results where it neither moves elements nor is an algorithm of one
// type: its elements follow from where they stand (draws, counting), or stand in an operand where another operand says
// (gathers). It writes such an element in scalar operations of several types (scalar_writer.h):
//   Scalar element(ElementWriter& y) const;
// The rule gives no_scalar where this element cannot be said. It asks `y` for coordinates and sizes: those among its
// parameters may be others for the lanes.
#pragma once

#include <span>
#include <vector>

#include "program/scalar_writer.h"
#include "ricci/primitive.h"

namespace ricci {

using Whole = Typed<std::int64_t>;

/// Where an element stands along one axis: a number in the result that is being written, or computed.
struct Coordinate {
  std::int64_t number = 0;
  Scalar computed = no_scalar;  // no_scalar: it is the number
  bool is_lane = false;         // `number` is that of the lane which is being written, so another one in another lane

  Coordinate(std::int64_t number) : number(number) {}
  Coordinate(const Whole& value) : computed(value.scalar()) {}
  /// Requires: it is not of a lane.
  Whole value() const { return computed == no_scalar ? Whole(number) : Whole::at(computed); }
};

/// One element of a result.
class ElementWriter : public ScalarWriter {
 public:
  virtual int result() const = 0;  ///< which one the element is of
  virtual int operands() const = 0;
  /// Of operands. Sizes that are not known are made up: `known_size` tells which.
  virtual const Type& type(int operand) const = 0;
  virtual Coordinate coordinate(int axis) = 0;  ///< of the element in the result
  /// The element's number in the result, row by row: `first + of_lane * lane`. False: it is no such number.
  virtual bool number_by_lane(std::int64_t& first, std::int64_t& of_lane) = 0;
  /// INT64_MAX where it may be another: a rule that goes through an axis gives up where there are too many.
  virtual std::int64_t known_size(int operand, int axis) const = 0;
  virtual Whole lane() = 0;
  virtual Whole size(int operand, int axis) = 0;
  /// Requires: computed coordinates are in range, also where `require` says that something does not hold.
  virtual Scalar element_of(int operand, std::span<const Coordinate> at) = 0;
  /// Where it does not hold, the operation itself is run, and throws.
  virtual void require(const TypedMask& mask) = 0;

  std::vector<Coordinate> coordinates(int axes) {
    std::vector<Coordinate> all;
    for (int i = 0; i < axes; ++i) all.push_back(coordinate(i));
    return all;
  }

 protected:
  ~ElementWriter() = default;
};

}  // namespace ricci
