// What an operation says about single elements of its results, for a compiler that unrolls small axes. An operation
// that moves elements says that it does; the compiler runs its eval to learn which element goes where. A small dense
// algorithm is written over a scalar type. An elementwise operation has its formula.
//
// An operation moves elements where each element of its results is an element of an operand or a number, chosen by
// types, parameters and the other operands alone. What it puts between elements (padding, the other half of a triangle)
// is zero:
//   static constexpr unsigned moves_elements = all_inputs;                            // Cat
//   static constexpr unsigned moves_elements = input(0);                              // Take: the others choose places
//   unsigned moves_elements() const { return accumulate ? 0 : input(0) | input(1); }  // 0: it computes
//
// A small dense algorithm is written once over a scalar type that has the words of ricci::scalar:
//   template <class T> Elements<T> on_elements(const Elements<T>& a, const Elements<T>& b) const;
// One that throws for some values takes `Checks& checks` first and says what must hold: `checks.require(mask)`. Where
// it does not hold, the operation itself is run, and throws. `static DType computed_in(DType)` says in which type it
// computes results of a type, where that is another.
// The results are those of eval to the bit, but for the order in which terms are added.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ricci/primitive.h"
#include "ricci/primitive/formula.h"

namespace ricci {

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

namespace erase {

template <class P, std::size_t... I>
Elements<Written> elements_of(const P& op, Checks& checks, const std::vector<Elements<Written>>& x,
                              std::index_sequence<I...>) {
  if constexpr (requires { op.on_elements(checks, x[I]...); }) return op.on_elements(checks, x[I]...);
  else return op.on_elements(x[I]...);
}

template <class P, class... X>
constexpr std::size_t operands_of(Elements<Written> (P::*)(X...) const) {
  static_assert(((std::is_same_v<X, const Elements<Written>&> || std::is_same_v<X, Checks&>) && ...),
                "ricci: on_elements takes its operands as `const Elements<T>&`, and `Checks&` before them where it "
                "throws for some values");
  return (0 + ... + std::is_same_v<X, const Elements<Written>&>);
}

template <class P>
ElementFormula element_formula_of(const void* op, std::span<const Shape> operands) {
  ElementFormula written;
  Written::into(written.formula, [&] {
    std::vector<Elements<Written>> x;
    int next = 0;
    for (const Shape& shape : operands) {
      Elements<Written>& elements = x.emplace_back(Elements<Written>{shape, {}});
      for (std::int64_t i = shape.numel(); i > 0; --i) elements.of.push_back(Written::input(next++));
    }
    Checks checks;
    constexpr std::size_t count = operands_of(&P::template on_elements<Written>);
    for (const Written& element : elements_of(as<P>(op), checks, x, std::make_index_sequence<count>()).of)
      written.results.push_back(element.step());
    written.required = checks.steps;
  });
  if constexpr (requires { P::computed_in(DType::float32); }) written.computed_in = &P::computed_in;
  return written;
}

}  // namespace erase
}  // namespace ricci
