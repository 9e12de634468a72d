// The interpreter at the bottom: computes. Broadcasting and promotion of elementwise operations happen here, and views
// share elements.
#include "primitive/eager.h"

#include <algorithm>

#include "kernels/elementwise.h"
#include "primitive/custom.h"
#include "primitive/writing.h"
#include "ricci/primitive/loop_table.h"
#include "ricci/primitive/raise.h"

namespace ricci {
namespace {

const Array& array_of(const ValueRef& v) { return static_cast<const Array&>(*v); }

/// PyTorch's three standings: tensors with axes, 0-dim tensors, numbers.
int standing(const Type& type) { return type.weak ? 2 : type.shape.empty() ? 1 : 0; }

[[noreturn]] void raise_broadcast(const char* name, std::span<const Type* const> inputs) {
  std::string list;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (i) list += i + 1 == inputs.size() ? " and " : ", ";
    list += to_string(*inputs[i]);
  }
  for (int back = 1;; ++back) {
    std::int64_t seen = 1;
    for (const Type* t : inputs) {
      if (t->rank() < back) continue;
      const std::int64_t size = t->shape[static_cast<std::size_t>(t->rank() - back)].hint();
      if (size != 1 && seen != 1 && size != seen)
        raise<ValueError>(std::string(name) + ": shapes do not broadcast: " + list + "; axis -" + std::to_string(back) +
                          " is " + std::to_string(seen) + " against " + std::to_string(size) + ", and neither is 1");
      if (size != 1) seen = size;
    }
  }
}

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

void run_loops(Op op, const Operands& operands, const Shape& shape, Strided out, std::span<const Array* const> inputs) {
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
  Type type = elementwise_type(*op.rules, span);
  ArrayRef out = make_array(type);
  run_loops(op, operands, type.shape, out->strided(), inputs);
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
  loop(op.parameters, static_cast<int>(inputs.size()), data, strides, out->numel());
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

Shape broadcast_shape(const char* op, std::span<const Type* const> inputs) {
  const Shape* longest = &inputs[0]->shape;
  for (const Type* t : inputs)
    if (t->shape.size() > longest->size()) longest = &t->shape;
  Shape shape = *longest;
  for (const Type* t : inputs) {
    if (&t->shape == longest) continue;
    const std::size_t extra = shape.size() - t->shape.size();
    for (std::size_t i = 0; i < t->shape.size(); ++i) {
      const Size size = t->shape[i];
      if (size == shape[extra + i] || size == 1) continue;
      if (!(shape[extra + i] == 1)) raise_broadcast(op, inputs);
      shape[extra + i] = size;
    }
  }
  return shape;
}

DType result_dtype(std::span<const Type* const> types) {
  bool same = true;
  for (const Type* t : types) same &= t->dtype == types[0]->dtype;
  if (same) return types[0]->dtype;
  int found[3] = {-1, -1, -1};
  for (const Type* t : types) {
    int& dtype = found[standing(*t)];
    dtype = dtype < 0 ? static_cast<int>(t->dtype) : static_cast<int>(promote(static_cast<DType>(dtype), t->dtype));
  }
  int result = found[0];
  for (int rank = 1; rank < 3; ++rank) {
    if (found[rank] < 0) continue;
    DType dtype = static_cast<DType>(found[rank]);
    if (result < 0) {
      result = found[rank];
      continue;
    }
    const DType higher = static_cast<DType>(result);
    if (category(dtype) <= category(higher)) continue;
    if (rank == 2 && is_floating(dtype)) dtype = DType::float32;
    if (rank == 2 && is_complex(dtype)) dtype = complex_dtype(higher);
    else if (is_complex(dtype) && is_floating(higher)) dtype = promote(dtype, higher);
    result = static_cast<int>(dtype);
  }
  return static_cast<DType>(result);
}

Operands operands_of(const char* name, const Rules& rules, std::span<const Type* const> inputs) {
  const LoopTable& table = *rules.loops();
  const Type* promoted[max_loop_inputs];
  std::size_t count = 0;
  int rank = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    rank = std::max(rank, inputs[i]->rank());
    if (!((table.conditions >> i) & 1U)) promoted[count++] = inputs[i];
  }
  const DType common = count ? result_dtype({promoted, count}) : DType::boolean;
  const DType compute = table.compute_dtype(common);
  if (!table.loop(compute) && is_complex(common))
    raise<TypeError>(std::string(name) + ": not defined for the complex " + short_name(common) +
                     "; pass real parts, imaginary parts or absolute values");
  if (!table.loop(compute))
    raise<TypeError>(std::string(name) + ": not defined for " + short_name(common) +
                     "; convert the operands first, for example with x.to(rc::float32)");
  if (inputs.size() > 1) broadcast_shape(name, inputs);
  return {compute, rank, table.conditions};
}

Type elementwise_type(const Rules& rules, std::span<const Type* const> inputs) {
  const LoopTable& table = *rules.loops();
  const Type* promoted[max_loop_inputs];
  std::size_t count = 0;
  bool weak = true;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if ((table.conditions >> i) & 1U) continue;
    promoted[count++] = inputs[i];
    weak &= inputs[i]->weak;
  }
  const DType compute = table.compute_dtype(count ? result_dtype({promoted, count}) : DType::boolean);
  const DType result = table.result_dtype(compute);
  return {result, inputs.size() == 1 ? inputs[0]->shape : broadcast_shape(rules.name, inputs),
          weak && count > 0 && is_floating(result)};
}

bool broadcasts_to(const Shape& from, const Shape& to) {
  if (from.size() > to.size()) return false;
  const std::size_t extra = to.size() - from.size();
  for (std::size_t i = 0; i < from.size(); ++i)
    if (!(from[i] == 1) && !(from[i] == to[extra + i])) return false;
  return true;
}

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
  if (op.rules->is_view) {
    op.rules->type(op.parameters, Types{arrays[0]->type});
    result = make_view(alias(op, *arrays[0]), 0, new OperationLink(*inputs[0], op));
  } else if (op.rules->kind == Kind::elementwise) {
    result = make_tensor(elementwise(op, {arrays, count}), 0);
  } else if (op.rules->kind == Kind::custom) {
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
  const Type result = elementwise_type(*op.rules, span);
  if (!(result == type)) return false;
  // A converted copy of the target would be read while it is written.
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i] && type.dtype != operands.dtype) return false;
  run_loops(op, operands, type.shape, out, {arrays, inputs.size()});
  return true;
}

Values evaluate(Op op, std::span<const ValueRef> inputs) {
  if (op.rules->kind == Kind::elementwise) {
    const Array* arrays[max_loop_inputs];
    for (std::size_t i = 0; i < inputs.size(); ++i) arrays[i] = &array_of(inputs[i]);
    return {elementwise(op, {arrays, inputs.size()})};
  }
  if (op.rules->kind == Kind::custom) return custom::call(op, inputs);
  Types types;
  for (const ValueRef& v : inputs) types.push_back(v->type);
  const Types out_types = op.rules->type(op.parameters, types);
  if (op.rules->is_view) return {alias(op, array_of(inputs[0]))};
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
