// What follows from the kind of a primitive: tangents and cotangents of any operation. Knows no primitive by name;
// where it computes, it calls public operations.
#pragma once

#include <algorithm>

#include "primitive/interpreter.h"

namespace ricci {

/// The tangents of an operation's outputs; undefined where they are zero.
Tensors tangents_of(Op op, const Forward& rule);
/// The same; of an elementwise operation on real elements, where an input moves in which it is not linear, as products
/// with the partial derivatives: the tangents do not go into those when they are differentiated in turn. The n-th
/// derivative of x' cos(x) needs n derivatives of cos(x), and not 2^n of terms such as x' x' sin(x). The price: an
/// infinite tangent times a partial derivative of 0, as that of relu below 0, is NaN.
Tensors tangents_by_factors(Op op, const Forward& rule);
/// The cotangents of an operation's inputs, each in its input's type; undefined where zero or not wanted.
Tensors cotangents_of(Op op, const Reverse& rule);
/// The bits of `keeps` that cotangents_of reads for the cotangent of input i.
inline unsigned kept_for_input(const Rules& rules, std::size_t i) { return rules.keeps[std::min(i, keepable_inputs)]; }

/// x once for each example, along a new axis 0, without copying.
Tensor repeated(const Tensor& x, Size examples);

/// `sum` plus `term`, in place where nobody else holds `sum`; either may be undefined, which is zero.
void accumulate(Tensor& sum, Tensor term);

}  // namespace ricci
