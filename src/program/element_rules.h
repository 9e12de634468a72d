// What operations say about single elements of their results, beside their formulas. A compiler asks; it knows no
// operation by name.
//
// An operation moves elements where each element of its results is an element of an operand or a number, chosen by
// types and parameters alone. Its own eval, run over numbers of elements, tells which:
//   const bool moves = moves_elements<Cat>();              in the file of the struct
//   const bool moves = moves_elements<Take>(input(0));     the other operands choose places
// An operation that adds where places meet moves nothing: `bool moves_elements() const` of its struct says so. What it
// puts between elements (padding, the other half of a triangle) are structural zeros.
//
// A small dense algorithm is written once over a scalar type, as a member of the struct, and recorded in words:
//   template <class T> Elements<T> expand(const Elements<T>& a, const Elements<T>& b) const;
//   const bool expands = expands_to_elements<Product>();
// One that throws for some values says what must hold: `expand(Checks& checks, a)` calls `checks.require(mask)`. Where
// it does not hold, the operation itself is run, and throws. `static DType expanded_in(DType)` says in which type it
// computes results of a type, where that is another.
#pragma once

#include <span>

#include "program/facts.h"
#include "ricci/primitive/formula.h"

namespace ricci {

/// A bit for each operand whose elements move; the others choose places. 0: the operation moves nothing.
using MovedOperands = unsigned (*)(const void* op);

template <class P, unsigned moved = ~0U>
bool moves_elements() {
  return Facts<MovedOperands>::add(rules_of<P>, [](const void* op) {
    if constexpr (requires(const P& p) { p.moves_elements(); }) return erase::as<P>(op).moves_elements() ? moved : 0U;
    else return moved;
  });
}

/// All elements of one operand or result, row by row.
template <class T>
struct Elements {
  Shape shape;
  std::vector<T> of;

  std::int64_t size(int axis_from_the_back) const {
    return shape[shape.size() - static_cast<std::size_t>(axis_from_the_back)].host();
  }
};

/// What must hold of the elements of the operands.
class Checks {
 public:
  void require(const Written::Mask& mask) { steps.push_back(mask.step()); }
  std::vector<int> steps;
};

/// The elements of a result in words, of the elements of all operands in one row.
struct ElementFormula {
  Formula formula;                                  // its own result is not used
  std::vector<int> results, required;               // steps
  DType (*computed_in)(DType of_result) = nullptr;  // null: halves in float, others as they are
};
using ExpansionOf = ElementFormula (*)(const void* op, std::span<const Shape> operands);

template <class P>
bool expands_to_elements() {
  return Facts<ExpansionOf>::add(rules_of<P>, [](const void* parameters, std::span<const Shape> operands) {
    const P& op = erase::as<P>(parameters);
    ElementFormula written;
    const Written::Writing writing(written.formula);
    std::vector<Elements<Written>> x;
    int next = 0;
    for (const Shape& shape : operands) {
      Elements<Written>& elements = x.emplace_back(Elements<Written>{shape, {}});
      for (std::int64_t i = shape.numel(); i > 0; --i) elements.of.push_back(Written::input(next++));
    }
    Checks checks;
    const Elements<Written> result = [&] {
      if constexpr (requires { op.expand(x[0]); }) return op.expand(x[0]);
      else if constexpr (requires { op.expand(x[0], x[1]); }) return op.expand(x[0], x[1]);
      else if constexpr (requires { op.expand(checks, x[0]); }) return op.expand(checks, x[0]);
      else return op.expand(checks, x[0], x[1]);
    }();
    for (const Written& element : result.of) written.results.push_back(element.step());
    written.required = checks.steps;
    if constexpr (requires { P::expanded_in(DType::float32); }) written.computed_in = &P::expanded_in;
    return written;
  });
}

}  // namespace ricci
