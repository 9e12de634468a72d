// The eager interpreter's ways past dispatch, for operations outside transforms, and small facts about broadcasting.
#pragma once

#include "primitive/interpreter.h"

namespace ricci {

/// Fast path of apply_one outside transforms; false if an input is not an array after all.
bool evaluate_directly(Op op, const Tensor* const* inputs, std::size_t count, Tensor& result);
/// Runs an elementwise operation into existing elements; a null array stands for the elements themselves. False if the
/// result would not fit them exactly. Requires: no other input overlaps them.
bool run_elementwise_into(Op op, const Type& type, Strided out, std::span<const Array* const> inputs);

/// Strides that show `array` under a shape it broadcasts to.
Strides broadcast_strides(const Array& array, const Shape& shape);

}  // namespace ricci
