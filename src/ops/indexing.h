// What the indexing families share: where an index came from, for errors, and reading by index tensors as a primitive.
#pragma once

#include <span>

#include "ops/axes.h"
#include "program/element_writer.h"
#include "ricci/primitive/scalar.h"

namespace ricci {

/// How the user wrote an indexing operation, so that an index out of range is told in these terms.
struct IndexPlace {
  std::string op;
  Axes axes;    // indexed, one for each index tensor
  Shape shape;  // of one example
  bool wraps;   // negative indices count from the back
  std::int64_t vmaps = 0;  // axes of examples in front of each index tensor, in a recorded program

  /// The place of the same operation with one more axis of examples in front of the indices.
  IndexPlace in_examples() const {
    IndexPlace place = *this;
    ++place.vmaps;
    return place;
  }
};

/// IndexError if an index lies outside `axis` of x, which the user knows as axis `k` of the place.
void check_indices(const IndexPlace& place, std::size_t k, Strided index, const Strided& x, std::int64_t axis);

/// The same in an element rule: what the index names along an axis of this size.
Coordinate named(ElementWriter& y, const IndexPlace& place, const Whole& index, const Whole& size);

/// In which type elements of `dtype` are added at places; else it is theirs.
DType dtype_of_total(bool accumulate, DType dtype);
/// What stands at a place that held `old`, of type `total`, once `value` was put there, or added, if it is this place.
Scalar written(bool accumulate, DType total, const TypedMask& is_here, Scalar old, Scalar value);
/// Elements of a table times indices: of more, the operation is better run.
inline constexpr std::int64_t most_pairs_looked_at = 256;

/// For the error of check_indices where a user's call is mapped: says it again, with the example, as far as one of
/// `indices`, those of the place, differs per example. `dtype` is that of what is indexed.
void check_indices_of_examples(const IndexPlace& place, std::span<const Tensor> indices, DType dtype);
/// run(), an operation that calls check_indices, with the example in its error.
template <class Run>
Tensor naming_the_example(const IndexPlace& place, std::span<const Tensor> indices, const Tensor& x, const Run& run) {
  try {
    return run();
  } catch (const IndexError&) {
    check_indices_of_examples(place, indices, type_of(x).dtype);
    throw;
  }
}

/// int64 indices; TypeError for other types than integers, booleans excluded.
Tensor require_indices(const char* op, const Tensor& index, int operand);

/// The operands of an operation that scatters, checked and in x's dtype: a 0-dim index, or x, has become a vector of
/// one element. src may be larger than the index.
struct Scattered {
  Tensor x;
  std::int64_t axis;
  Tensor index, src;
  IndexPlace place;
};
Scattered scattered_operands(const char* op, const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& src);

/// x: [n₀, n₁, …, r…] read at index tuples: [p…, r…], where the indices broadcast to p.
Tensor take_front(const Tensor& x, std::span<const Tensor> indices, const IndexPlace& place);
/// base with [p…, r…] values written (or added) at the index tuples.
Tensor put_front(const Tensor& base, const Tensor& values, std::span<const Tensor> indices, bool accumulate,
                 const IndexPlace& place);

/// Of `rows`, read back from where several may have been written to one place, those that stayed: zero for the others.
/// `index` is the shape of the places; `write` and `read` do there with numbers what was done with the rows.
template <class Write, class Read>
Tensor of_last_writes(const Tensor& rows, const Shape& index, const Write& write, const Read& read) {
  const Size count = index.numel();
  if (!count.is_symbol() && count.host() <= 1) return rows;
  const Tensor numbers = reshape(cumsum(ones({count}, TensorOptions{.dtype = DType::int64}), 0), index);
  Shape beside = index;
  while (beside.rank() < type_of(rows).rank()) beside.push_back(1);
  return where(reshape(eq(read(write(numbers)), numbers), beside), rows, 0);
}

}  // namespace ricci
