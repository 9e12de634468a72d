// Every registered operation at the inputs at which laws are tried. Knows no operation by name: elementwise inputs are
// made from the rule table, all others are the samples that stand beside the operation.
#pragma once

#include <string>
#include <vector>

#include "functions.h"
#include "primitive/interpreter.h"

namespace laws {

using ricci::DType;

/// One operation, its parameters and its inputs.
struct Case {
  const ricci::Rules* rules;
  ricci::OwnedParameters parameters;
  List inputs;

  ricci::Op op() const { return {rules, parameters.get()}; }
  std::string text() const;  ///< `sum[axes=(0)] f64[3]`
  /// The operation on other inputs.
  List operator()(const List& x) const;
  /// The one output of the operation on `x`, written into `target`, which may be one of them.
  void write(const Tensor& target, const List& x) const;
};
/// Whether a write may leave `y` in `target`.
bool fits(const Tensor& y, const Tensor& target);

/// All registered operations, by name.
std::vector<const ricci::Rules*> operations();
std::vector<const ricci::Rules*> elementwise_operations();
/// Inputs in float64; where an elementwise operation has no such loop, in int64 or boolean.
std::vector<Case> cases_of(const ricci::Rules& rules);
/// An elementwise operation on elements of `dtype`: on inputs made up to fit it, or its samples converted.
std::vector<Case> elementwise_cases(const ricci::Rules& rules, DType dtype);
/// The case with its float64 inputs converted. Requires: `dtype` is floating or complex.
Case converted(const Case& c, DType dtype);
/// The case in complex128, imaginary parts added; no inputs if the operation is not known to be defined there: those
/// that are not elementwise or linear have complex samples if they are.
Case complexified(const Case& c);

/// The part of a case that has derivatives: from its floating and complex inputs to such outputs.
struct Smooth {
  Function f;
  List x;
  List y;
  bool empty() const { return x.empty() || y.empty(); }
};
Smooth smooth_part(const Case& c);
/// A function of one input of `s` alone, or to one of its outputs alone.
Smooth by_input(const Smooth& s, std::size_t input);
Smooth to_output(const Smooth& s, std::size_t output);

/// A tensor of x's type with values in [low, high), the same for the same seed; both parts of complex numbers.
Tensor uniform(const ricci::Shape& shape, DType dtype, double low, double high, unsigned seed);
/// One direction per tensor of the list.
List directions(const List& like, unsigned seed);

}  // namespace laws
