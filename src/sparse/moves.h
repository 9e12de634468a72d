// Which elements of an operand each element of a result is made of: of views, of operations that move elements, of
// reductions and products of matrices. Knows no operation by name.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "primitive/interpreter.h"
#include "program/element_sources.h"
#include "program/structure.h"

namespace ricci::sparse {

inline std::int64_t numel(const Type& type) { return type.shape.numel().raw(); }

/// Of a view: by element of the result, row by row, the first element of the operand that it shows, and how many: two
/// numbers in a complex one. None where that cannot be told.
struct Shown {
  std::vector<std::int64_t> first;
  std::int64_t count;
};
std::optional<Shown> shown_by(Op op, const Type& operand);

/// An operand, and its value where it is known.
struct Operand {
  const Type& type;
  const ValueRef& number;
};
/// Of an operation that moves elements, by result; none where it computes, or a value that chooses places is not known.
std::optional<std::vector<std::vector<ElementSource>>> moves_of(Op op, const std::vector<Operand>& operands,
                                                                const Types& results);

/// The elements at places that numbers name, in pairs: of the table; and of what is read there, row by row, or of the
/// operand that is written there. Where an index has no number, the places along an axis of the table are unknown:
/// elements count in a table where this axis has size 1.
struct AtNamedPlaces {
  std::vector<bool> unknown;  // by axis of the table
  std::vector<std::int64_t> table, others;
  bool all_are_known() const { return std::ranges::find(unknown, true) == unknown.end(); }
};
/// None where a number names a place outside the table: the operation throws.
std::optional<AtNamedPlaces> at_named_places(const AtPlaces& places, const std::vector<Operand>& operands);

/// What a reduction along these axes joins: element i of the result is made of those at `begins[i]` plus each offset.
struct Groups {
  std::vector<std::int64_t> begins, offsets;
};
Groups groups_along(const Shape& shape, const std::vector<bool>& axes);

/// An operand of a product of matrices as lines, which the product multiplies and sums along an axis of the operand; an
/// outer product sums nothing. The lines are [batch…, rows, 1] on the left and [batch…, 1, columns] on the right, so
/// that they broadcast to [batch…, rows, columns], in the order of the product's elements.
struct Lines {
  std::optional<std::size_t> summed;
  Shape shape;
};
Lines lines_of(const ProductAxes& axes, const Shape& operand, bool is_left);

/// f(number of the element in the shape, its place by the strides), row by row.
template <class F>
void for_each_place(const Shape& shape, const Strides& strides, const F& f) {
  const std::int64_t count = shape.numel().raw();
  if (count == 0) return;
  const std::size_t axes = shape.size();
  const std::int64_t row = axes == 0 ? 1 : shape[axes - 1].raw(), step = axes == 0 ? 0 : strides[axes - 1];
  std::vector<std::int64_t> index(axes);
  std::int64_t start = 0;
  for (std::int64_t i = 0; i < count;) {
    for (std::int64_t k = 0; k < row; ++k) f(i++, start + k * step);
    for (std::size_t axis = axes; axis-- > 1;) {
      const std::size_t outer = axis - 1;
      start += strides[outer];
      if (++index[outer] < shape[outer].raw()) break;
      start -= strides[outer] * shape[outer].raw();
      index[outer] = 0;
    }
  }
}

/// Strides that show contiguous elements of one shape under a shape that it broadcasts to.
Strides broadcast_strides(const Shape& from, const Shape& to);

}  // namespace ricci::sparse
