// What reductions have in common: the type of a result, axes taken out and put back, and sums that rules are made of.
// Knows nothing of any one reduction.
#pragma once

#include "kernels/reduce.h"
#include "ops/axes.h"
#include "ricci/primitive/reduction.h"

namespace ricci {

/// Runs a reduction of kernels/reduce.h, whose words are those of the operation, over `axes` of its operand.
using ReduceKernel = void (*)(Strided out, Strided in, const bool* reduced);
void reduce_by(ReduceKernel kernel, const Axes& axes, Outputs out, Inputs in);

/// The type of what is computed along `axis` of real floating elements, one from each. Throws like the checks of axes
/// and types.
Type type_along(const char* name, std::int64_t axis, const Type& x);
/// `y`, which has lost `axes` of a tensor of `rank` axes, so that it broadcasts against that tensor.
Tensor beside(Tensor y, const Axes& axes, int rank);
/// `y` repeated along `axes` until it has the shape it was reduced from.
Tensor spread(const Tensor& y, const Axes& axes, const Shape& shape);
/// `y` with `axes` put back as axes of size 1, if wanted.
Tensor kept(Tensor y, const Axes& axes, bool keepdim);

/// How many elements `axes` of `shape` hold together.
Size size_along(const Axes& axes, const Shape& shape);

/// A number times x, in x's type if both are whole.
Tensor times(double factor, const Tensor& x);
Tensor sum_along(const Tensor& x, const Axes& axes);
/// The sum of a * b, without the product in memory. Requires: equal shapes and types.
Tensor inner_along(const Tensor& a, const Tensor& b, const Axes& axes);
/// What each element of x has of the derivative of one of them, y, which broadcasts against x: the elements along
/// `axes` that equal y share it evenly, and where an element is NaN, those that are NaN.
Tensor even_share(const Tensor& x, const Tensor& y, const Axes& axes);
/// The real part of the sum of conj(a) * b.
Tensor real_inner_along(const Tensor& a, const Tensor& b, const Axes& axes);

/// Throws TypeError for complex tensors: `amax: c64[3] has no order; …`.
void require_order(const char* op, const Tensor& x);
/// Throws ValueError if one of `axes` has no elements.
void require_elements(const char* op, const Tensor& x, const Axes& axes);
/// Throws TypeError unless x is floating and real.
void require_real_floating(const char* op, const Tensor& x);

/// Samples in [-1, 1), and complex ones in that square.
Tensor real_sample(const Shape& shape);
Tensor complex_sample(const Shape& shape);
/// For an operation whose parameter is the axis: each axis of two, the only one, and one without elements.
template <class Op>
std::vector<Sample<Op>> samples_along_axes() {
  return {{{0}, {real_sample({3})}},
          {{1}, {real_sample({2, 3})}},
          {{0}, {real_sample({3, 2})}},
          {{1}, {real_sample({2, 0})}}};
}
/// For one whose parameter `axes` are several, and which asks whether elements are not 0.
template <class Op>
std::vector<Sample<Op>> samples_of_truths() {
  return {{{{0}}, {real_sample({3})}},
          {{{1}}, {real_sample({2, 3}) > 0}},
          {{{0, 1}}, {real_sample({2, 2})}},
          {{{0}}, {real_sample({0, 2})}}};
}

}  // namespace ricci
