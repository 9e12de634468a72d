// What an operation is, for readers of programs that know operations of its kind: a copy, a product of matrices, or
// elements at places of a table. To state it, the struct of an operation has a member `Structure structure() const`.
// Knows no operation by name.
#pragma once

#include <optional>
#include <variant>

#include "program/places.h"
#include "ricci/primitive.h"
#include "ricci/primitive/symbolic.h"

namespace ricci {

/// Some positions of an axis, side by side. Of a view: those that it shows of its operand.
struct AxisRun {
  std::int64_t axis;
  Size start, size;
};

/// The parameters alone determine the elements: there are no operands.
struct Made {
  /// Where all elements are equal: the parameters for a result of another shape and dtype. Else null.
  OwnedParameters (*of_type)(const void* op, const Type& type) = nullptr;
  /// Where no user wrote the zeros, so that 0 * x is 0 for each of them: the parameters for a run of the result. Else
  /// null.
  OwnedParameters (*run_of_structural)(const void* op, const AxisRun& run) = nullptr;
  /// Of a matrix whose element (i, j) is 1 where j is i and this many more, and 0 elsewhere: that number. Else null.
  Size (*diagonal)(const void* op) = nullptr;
};

/// A copy of one operand. A locally constant copy, such as that of `detach`, has no derivative.
struct Copied {
  std::size_t operand = 0;
  /// The first operand says which rows take part. Copies of the first of these stand in the place of the others, so
  /// that nothing fails there. Where each example is computed by itself the result is the operand.
  bool fills_rows = false;
};

/// The first operand with a part replaced by the second: turns the first one's layout into that of the part, as
/// `Rules::alias` does.
struct PartReplaced {
  bool (*alias)(const void* op, Type& type, Strides& strides, void*& data);
};

/// The operands one behind the other along an axis.
struct Joined {
  std::int64_t axis;
};

/// Applied twice, with the same parameters, it gives its operand, bit for bit.
struct UndoesItself {};

/// Products of matrices: how many axes of each operand, from behind, are the matrix. The axes before are batches, which
/// broadcast. A single axis is a row on the left and a column on the right; the other way round in an outer product.
struct ProductAxes {
  int left, right;
  bool is_outer;
};

/// Along an axis, each element becomes the word of all up to it, one after the other, in the type `computed_in`.
struct Running {
  scalar::Word word;
  std::int64_t axis;
  bool is_backward;  // from the last element to the first
  DType (*computed_in)(DType of_operand);
};

/// Draws from one source, the operand: elements are made in blocks of so many neighbours. `of_shape`: parameters of the
/// same draw in another shape, whose elements are these, row by row.
struct Blocks {
  std::int64_t elements;
  OwnedParameters (*of_shape)(const void* op, const Shape& shape);
};

/// A kernel that was made of equations: the flops of one run, for operands of these types; none: values tell.
struct KernelRun {
  std::optional<double> (*flops)(const void* op, const Types& in);
};

/// `monostate`: an operation of none of these kinds.
struct Structure : std::variant<std::monostate, AxisRun, Made, Copied, PartReplaced, Joined, UndoesItself, ProductAxes,
                                AtPlaces, Allowed, Running, Blocks, KernelRun> {
  using variant::variant;
};

/// No value: the operation is of another kind.
template <class Kind>
std::optional<Kind> structure_as(Op op) {
  if (!op.rules->structure) return std::nullopt;
  const Structure all = op.rules->structure(op.parameters);
  const Kind* const kind = std::get_if<Kind>(&all);
  return kind ? std::optional(*kind) : std::nullopt;
}

/// Whether the operation copies its first operand, and that operand is all it has.
inline bool is_plain_copy(Op op) {
  const auto copied = structure_as<Copied>(op);
  return copied && copied->operand == 0 && !copied->fills_rows;
}
/// Whether the operation has no operands and gives elements that are all equal.
inline bool fills(Op op) {
  const auto made = structure_as<Made>(op);
  return made && made->of_type;
}
/// The parameters for a result of that type. Requires: the operation fills.
inline OwnedParameters filling(Op op, const Type& type) { return structure_as<Made>(op)->of_type(op.parameters, type); }
/// Whether zeros among its elements were written by no user.
inline bool has_structural_zeros(Op op) {
  const auto made = structure_as<Made>(op);
  return made && made->run_of_structural;
}
/// Whether all elements are such zeros.
inline bool gives_structural_zeros(Op op) { return fills(op) && has_structural_zeros(op); }

}  // namespace ricci
