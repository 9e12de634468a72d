// What few operations say of themselves to compiled functions: which matrices they multiply, which places of a table
// they name, which numbers they let through, how they are made of simpler ones, and which draws come in blocks. Knows
// no operation by name.
#pragma once

#include <span>

#include "program/facts.h"
#include "program/places.h"
#include "program/program.h"
#include "ricci/primitive/symbolic.h"

namespace ricci {

/// Products of matrices: how many axes of each operand, from behind, are the matrix. The axes before are batches, which
/// broadcast. A single axis is a row on the left and a column on the right; the other way round in an outer product.
struct ProductAxes {
  int left, right;
  bool is_outer;
};
struct ProductAxesOf {
  using Function = ProductAxes (*)(const void* op);
};
template <class P>
bool multiplies_matrices() {
  return Facts<ProductAxesOf>::add(rules_of<P>, [](const void* op) { return erase::as<P>(op).product_axes(); });
}

/// Elements at places that whole numbers name (places.h).
struct AtPlacesOf {
  using Function = AtPlaces (*)(const void* op);
};
template <class P>
bool names_places() {
  return Facts<AtPlacesOf>::add(rules_of<P>, [](const void* op) { return erase::as<P>(op).at_places(); });
}

/// Which numbers an operation lets through (places.h).
struct AllowedOf {
  using Function = Allowed (*)(const void* op);
};
template <class P>
bool allows_some() {
  return Facts<AllowedOf>::add(rules_of<P>, [](const void* op) { return erase::as<P>(op).allowed(); });
}

/// The results in operations that are simpler: for where a kernel cannot hold the operation, and no library is there.
/// Sums may be made in another order. Requires: the operands are real, and none is empty.
struct SimplerOf {
  using Function = Tensors (*)(const void* op, std::span<const Tensor> operands);
};
template <class P>
bool has_simpler() {
  return Facts<SimplerOf>::add(rules_of<P>, [](const void* op, std::span<const Tensor> operands) {
    return erase::as<P>(op).simpler(operands[0]);
  });
}

/// Along an axis, each element becomes the word of all up to it, one after the other, in the type `computed_in`.
struct Running {
  scalar::Word word;
  std::int64_t axis;
  bool is_backward;  // from the last element to the first
  DType computed_in;
};
struct RunningOf {
  using Function = Running (*)(const void* op, DType operand);
};
template <class P>
bool runs_along() {
  return Facts<RunningOf>::add(rules_of<P>, [](const void* op, DType operand) {
    const P& p = erase::as<P>(op);
    return Running{P::word, p.way.axis, p.way.reverse, P::computed_in(operand)};
  });
}

/// Draws from one source, the operand: elements are made in blocks of so many neighbours. `of_shape`: parameters of the
/// same draw in another shape, whose elements are these, row by row.
struct Blocks {
  std::int64_t elements;
  OwnedParameters (*of_shape)(const void* op, const Shape& shape);
};
struct BlocksOf {
  using Function = Blocks (*)(const void* op);
};
template <class P>
bool draws_in_blocks() {
  return Facts<BlocksOf>::add(rules_of<P>, [](const void* op) {
    return Blocks{erase::as<P>(op).numbers.elements_of_block(), [](const void* of, const Shape& shape) {
                    P other = erase::as<P>(of);
                    other.shape = shape;
                    return OwnedParameters(rules_of<P>.parameters, &other);
                  }};
  });
}

}  // namespace ricci
