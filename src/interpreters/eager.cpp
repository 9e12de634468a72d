// The interpreter at the bottom: computes. Elementwise operands are brought together without copies where their layout
// allows, and views share elements.
#include "primitive/eager.h"

#include <algorithm>

#include "kernels/elementwise.h"
#include "kernels/elementwise_run.h"
#include "primitive/custom.h"
#include "primitive/given.h"
#include "primitive/promotion.h"
#include "primitive/writing.h"
#include "ricci/primitive/loop_table.h"
#include "ricci/primitive/raise.h"

namespace ricci {
namespace {

const Array& array_of(const ValueRef& v) { return static_cast<const Array&>(*v); }

ArrayRef elementwise_in_step(Op op, std::span<const Array* const> inputs);

/// An operand ready for the loops: its own elements, or a converted copy.
struct Ready {
  ArrayRef copy;
  alignas(16) unsigned char number[16];
  const void* data = nullptr;
  Strides strides;
};

void make_ready(const Array& array, DType dtype, const Shape& shape, Ready& ready) {
  ready.strides = broadcast_strides(array, shape);
  ready.data = array.data;
  if (array.type.dtype == dtype) return;
  if (array.type.shape.empty()) {
    kernels::copy({ready.number, dtype, 0, nullptr, nullptr}, array.strided());
    ready.data = ready.number;
    return;
  }
  ready.copy = make_array({dtype, array.type.shape});
  kernels::copy(ready.copy->strided(), array.strided());
  ready.data = ready.copy->data;
  ready.strides = broadcast_strides(*ready.copy, shape);
}

void run_loops(Op op, const Operands& operands, Strided out, std::span<const Array* const> inputs) {
  const Shape& shape = operands.result.shape;
  const LoopTable& table = *op.rules->loops();
  Ready ready[max_loop_inputs];
  Strided in[max_loop_inputs];
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const DType dtype = operands.promoted(static_cast<int>(i)) ? operands.dtype : DType::boolean;
    make_ready(*inputs[i], dtype, shape, ready[i]);
    in[i] = {const_cast<void*>(ready[i].data), dtype, shape.rank(), shape.host(), ready[i].strides.data()};
  }
  kernels::elementwise(table.loop(operands.dtype), op.parameters, out, in, static_cast<int>(inputs.size()));
}

ArrayRef elementwise(Op op, std::span<const Array* const> inputs) {
  if (ArrayRef out = elementwise_in_step(op, inputs)) return out;
  const Type* types[max_loop_inputs];
  for (std::size_t i = 0; i < inputs.size(); ++i) types[i] = &inputs[i]->type;
  const std::span<const Type* const> span{types, inputs.size()};
  const Operands operands = operands_of(op.rules->name, *op.rules, span);
  ArrayRef out = make_array(operands.result);
  run_loops(op, operands, out->strided(), inputs);
  return out;
}

/// The way of small tensors: operands of one element type that are the result's elements one by one, or single numbers.
/// Null if the operation needs broadcasting or promotion in earnest.
ArrayRef elementwise_in_step(Op op, std::span<const Array* const> inputs) {
  const LoopTable& table = *op.rules->loops();
  if (table.conditions || inputs.size() > 4) return {};
  const Array* lead = inputs[0];
  for (const Array* x : inputs)
    if (!x->type.weak && (lead->type.weak || x->type.rank() > lead->type.rank())) lead = x;
  const DType dtype = lead->type.dtype;
  const Loop loop = table.loop(dtype);
  if (!loop || lead->type.weak) return {};

  char* data[5];
  std::int64_t strides[5];
  alignas(16) unsigned char numbers[4][16];
  const auto bytes = static_cast<std::int64_t>(element_size(dtype));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Array& x = *inputs[i];
    data[i + 1] = static_cast<char*>(x.data);
    strides[i + 1] = bytes;
    if (x.type.shape.empty()) {
      strides[i + 1] = 0;
      if (x.type.dtype == dtype) continue;
      if (!x.type.weak || category(x.type.dtype) > category(dtype)) return {};
      kernels::copy({numbers[i], dtype, 0, nullptr, nullptr}, x.strided());
      data[i + 1] = reinterpret_cast<char*>(numbers[i]);
    } else if (x.type.dtype != dtype || !(x.type.shape == lead->type.shape) ||
               !is_contiguous(x.type.shape, x.strides)) {
      return {};
    }
  }
  const DType result = table.result_dtype(dtype);
  ArrayRef out = make_array({result, lead->type.shape});
  data[0] = static_cast<char*>(out->data);
  strides[0] = static_cast<std::int64_t>(element_size(result));
  kernels::run_loop(loop, op.parameters, static_cast<int>(inputs.size()), data, strides, out->numel(), result);
  return out;
}

ArrayRef alias(Op op, const Array& base) {
  Type type = base.type;
  Strides strides = base.strides;
  void* data = base.data;
  if (op.rules->alias(op.parameters, type, strides, data))
    return make_alias(base, std::move(type), std::move(strides), data);
  // The layout does not allow it: the same view of a contiguous copy.
  const ArrayRef copy = make_array({base.type.dtype, base.type.shape});
  kernels::copy(copy->strided(), base.strided());
  type = copy->type;
  strides = copy->strides;
  data = copy->data;
  op.rules->alias(op.parameters, type, strides, data);
  return make_alias(*copy, std::move(type), std::move(strides), data);
}

}  // namespace

Strides broadcast_strides(const Array& array, const Shape& shape) {
  if (array.type.shape.size() == shape.size() && array.type.shape == shape) return array.strides;
  Strides strides;
  strides.resize(shape.size(), 0);
  const std::size_t extra = shape.size() - array.strides.size();
  for (std::size_t i = 0; i < array.strides.size(); ++i)
    strides[extra + i] = array.type.shape.host()[i] == 1 ? 0 : array.strides[i];
  return strides;
}

bool evaluate_directly(Op op, const Tensor* const* inputs, std::size_t count, Tensor& result) {
  const Array* arrays[max_loop_inputs];
  if (count > max_loop_inputs) return false;
  for (std::size_t i = 0; i < count; ++i) {
    if (!inputs[i]->defined()) return false;
    const ValueRef& value = value_of(*inputs[i]);
    if (value->kind != ValueKind::array) return false;
    arrays[i] = static_cast<const Array*>(value.get());
  }
  if (op.rules->is_view()) {
    op.rules->type(op.parameters, Types{arrays[0]->type});
    result = make_view(alias(op, *arrays[0]), 0, view_link(*inputs[0], op));
  } else if (op.rules->kind == Kind::elementwise) {
    result = make_tensor(elementwise(op, {arrays, count}), 0);
  } else if (op.rules->kind == Kind::custom || (op.rules->overwrite && GivenAway::is_offered())) {
    return false;
  } else {
    Types types;
    Strided in[max_loop_inputs];
    for (std::size_t i = 0; i < count; ++i) {
      types.push_back(arrays[i]->type);
      in[i] = arrays[i]->strided();
    }
    const Types out_types = op.rules->type(op.parameters, types);
    if (out_types.size() != 1) return false;
    ArrayRef out = make_array(out_types[0]);
    const Strided written = out->strided();
    op.rules->eval(op.parameters, {&written, 1}, {in, count});
    result = make_tensor(std::move(out), 0);
  }
  return true;
}

bool run_elementwise_into(Op op, const Type& type, Strided out, std::span<const Array* const> inputs) {
  Array self({type.dtype, type.shape}, Strides(out.strides, out.strides + out.rank), out.data, nullptr, nullptr);
  const Array* arrays[max_loop_inputs];
  const Type* types[max_loop_inputs];
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    arrays[i] = inputs[i] ? inputs[i] : &self;
    types[i] = &arrays[i]->type;
  }
  const std::span<const Type* const> span{types, inputs.size()};
  const Operands operands = operands_of(op.rules->name, *op.rules, span);
  if (!(operands.result == type)) return false;
  // A converted copy of the target would be read while it is written.
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i] && type.dtype != operands.dtype) return false;
  run_loops(op, operands, out, {arrays, inputs.size()});
  return true;
}

Values evaluate(Op op, std::span<const ValueRef> inputs) {
  if (op.rules->kind == Kind::elementwise) {
    const Array* arrays[max_loop_inputs];
    for (std::size_t i = 0; i < inputs.size(); ++i) arrays[i] = &array_of(inputs[i]);
    return one_value(elementwise(op, {arrays, inputs.size()}));
  }
  if (op.rules->kind == Kind::custom) return custom::call(op, inputs);
  Types types;
  for (const ValueRef& v : inputs) types.push_back(v->type);
  const Types out_types = op.rules->type(op.parameters, types);
  if (op.rules->is_view()) return one_value(alias(op, array_of(inputs[0])));
  if (op.rules->overwrite)
    if (ValueRef result = GivenAway::overwritten(op, inputs)) return one_value(std::move(result));
  Values results;
  SmallVector<Strided, 4> out, in;
  for (const ValueRef& v : inputs) in.push_back(array_of(v).strided());
  for (const Type& type : out_types) {
    ArrayRef array = make_array(type);
    out.push_back(array->strided());
    results.push_back(std::move(array));
  }
  op.rules->eval(op.parameters, {out.data(), out.size()}, {in.data(), in.size()});
  return results;
}

}  // namespace ricci
