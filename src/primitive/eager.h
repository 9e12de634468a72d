// What writing in place needs of the eager interpreter, and small facts about broadcasting.
#pragma once

#include "primitive/interpreter.h"

namespace ricci {

/// Runs an elementwise operation into existing elements; a null array stands for the elements themselves. False if the
/// result would not fit them exactly, or an input overlaps them.
bool run_elementwise_into(Op op, const Type& type, Strided out, std::span<const Array* const> inputs);

bool broadcasts_to(const Shape& from, const Shape& to);
/// Strides that show `array` under a shape it broadcasts to.
Strides broadcast_strides(const Array& array, const Shape& shape);

/// Shape and type checks of a write, then the write.
void write_result(const Tensor& target, const Tensor& result, const char* name);
Tensor conform(const Tensor& source, const Type& target, const char* name);
bool copy_directly(const Tensor& target, const Tensor& source, const char* name);
std::string in_place_name(const char* name, const Tensor& target, const Tensor* const* inputs);

}  // namespace ricci
