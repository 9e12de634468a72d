// Looking at values: the elements behind a tensor, as far as the running transforms allow. Operations that need a value
// on the host (item, nonzero, arange of a tensor) start here. Names no operation.
#pragma once

#include <string>

#include "interpreters/batch.h"
#include "kernels/elementwise.h"
#include "primitive/interpreter.h"
#include "program/structure.h"
#include "tensor/value.h"

namespace ricci {

/// The elements behind x, seen through differentiation. `op` is the operation errors speak of. Throws ValueError if x
/// is undefined, TransformError if it differs per example of a running vmap, is stale, or is being recorded.
ArrayRef concrete(const char* op, const Tensor& x);
/// The same for an operation whose result's size depends on the values of x: only the remedy differs.
ArrayRef concrete_for_size(const char* op, const Tensor& x);

/// The elements behind x for all running examples of the running vmaps, with an axis in front for each of these.
struct AllExamples {
  ArrayRef elements;
  Vmaps vmaps;
};
/// For checks from which only an error follows. The elements are null while x is being recorded.
AllExamples elements_of_all_examples(const char* op, const Tensor& x);

/// A check of values as an operation without results, for programs. `Check::look(elements, vmaps)` throws what is
/// wrong; `Check::allowed()` is for objects (program/structure.h).
template <class Check>
struct Checked {
  using kind = Explicit;
  static constexpr const char* name = Check::name;
  static constexpr Effect effect = Effect::checks_values;
  static constexpr bool locally_constant = true;
  Check check;
  std::int64_t vmaps = 0;  // axes of examples in front

  Types type(const Type&) const { return {}; }
  void eval(Outputs, Inputs in) const { check.look(in[0], Vmaps(static_cast<std::size_t>(vmaps), nullptr)); }
  Checked lifted() const { return {check, vmaps + 1}; }
  Structure structure() const
    requires requires { check.allowed(); }
  {
    return check.allowed();
  }
};
/// Looks at the elements of x for all running examples. While x, or a size that the check reads, is being recorded the
/// check becomes part of the program, which looks each time it runs.
template <class Check>
void check_elements(const char* op, const Tensor& x, const Check& check, bool knows_sizes = true) {
  const AllExamples all = elements_of_all_examples(op, x);
  if (all.elements && knows_sizes) check.look(all.elements->strided(), all.vmaps);
  else ricci::apply(Checked<Check>{check}, std::span<const Tensor>(&x, 1));
}

/// The row-major place of the first of these integers for which `is_bad(number)`, -1 if there is none. One by one: for
/// errors.
template <class F>
std::int64_t first_place(const Strided& integers, const F& is_bad) {
  const ArrayRef rows = make_array({DType::int64, Shape(integers.shape, integers.shape + integers.rank)});
  kernels::copy(rows->strided(), integers);
  const auto* number = static_cast<const std::int64_t*>(rows->data);
  const std::int64_t count = rows->numel();
  for (std::int64_t i = 0; i < count; ++i)
    if (is_bad(number[i])) return i;
  return -1;
}

/// `count`, the size that the result of `op` on x has; where it differs per example of a vmap that allows it, examples
/// of one size go on together.
std::int64_t size_of_result(const char* op, const Tensor& count, const Tensor& x);
/// Whether x has a value of its own for each example of a running vmap.
bool differs_per_example(const char* op, const Tensor& x);

/// The one element of `array`, converted; ValueError `op: … exactly one is needed; REMEDY`, TypeError if it is complex
/// and T is not. T: std::int64_t, double, std::complex<double>.
template <class T>
T only_element(const char* op, const Array& array, const char* remedy);

}  // namespace ricci
