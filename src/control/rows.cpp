// Filling rows, as an operation of its own: a compiler that computes one example at a time may drop it, since nobody
// sees the rows it fills.
#include "control/rows.h"

#include <cstddef>
#include <cstring>

#include "ops/axes.h"
#include "primitive/interpreter.h"
#include "primitive/origin.h"
#include "program/structure.h"

namespace ricci::runs {
namespace {

/// The rows with as many axes as x has, to choose elements of it by.
Tensor aligned(const Tensor& rows, const Type& x) {
  Shape shape = type_of(rows).shape;
  if (shape.rank() == x.rank()) return rows;
  while (shape.rank() < x.rank()) shape.push_back(1);
  return reshape(rows, shape);
}

Tensor only_rows(const Tensor& takes_part, const Tensor& x) {
  return x.defined() ? where(aligned(takes_part, type_of(x)), x, 0) : Tensor();
}

/// Inputs: which rows take part, then x.
struct FillRows {
  using kind = Custom;
  static constexpr const char* name = "fill_rows";

  Types type(const Types& inputs) const {
    require_between(2, std::ssize(inputs), 2);
    const Type &rows = inputs[0], &x = inputs[1];
    require_dtype(DType::boolean, rows);
    require_rank_of_at_least(1, rows);
    require_rank_of_at_least(rows.rank(), x);
    require_shape(Shape(x.shape.begin(), x.shape.begin() + rows.rank()), rows.shape);
    return {Type{x.dtype, x.shape}};
  }
  Structure structure() const { return Copied{.operand = 1, .fills_rows = true}; }
  Tensors call(std::span<const Tensor> inputs) const {
    const Tensor &rows = inputs[0], &x = inputs[1];
    const Type type = type_of(x);
    note_rows_that_take_part(rows);
    if (type.shape.numel() == 0) return {x};
    if (rows.dim() == 1 && !this_thread.innermost) return filled_at_once(rows, x);
    if (all(rows).item<bool>()) return {x};
    const Tensor first = argmax(to(rows, DType::int64), -1, true);
    return {where(aligned(rows, type), x, take_along_dim(x, aligned(first, type), rows.dim() - 1))};
  }
  Kept keep(std::span<const Tensor> inputs, const Mask&) const {
    return {.outputs = apply(*this, inputs), .residual = {{inputs[0]}, nullptr}};
  }
  Tensors vjp(const Reverse& rule) const {
    return {Tensor(), only_rows(rule.residual->tensors[0], rule.cotangents[0])};
  }
  Pushed jvp(std::span<const Tensor> inputs, std::span<const Tensor> tangents) const {
    return {apply(*this, inputs), {only_rows(inputs[0], tangents[1])}};
  }
  BatchedOutputs batch(const Batch& batch) const { return {.outputs = {apply(*this, batch.input(0), batch.input(1))}}; }

 private:
  /// Outside transforms: a loop does it at each step, for each part of its state.
  static Tensors filled_at_once(const Tensor& rows, const Tensor& x) {
    const Tensor dense = rows.contiguous();
    const auto* const flags = static_cast<const std::byte*>(static_cast<const Array&>(*value_of(dense)).data);
    const auto count = static_cast<std::size_t>(type_of(dense).shape[0].host());
    if (!std::memchr(flags, 0, count)) return {x};
    const auto* const taken = static_cast<const std::byte*>(std::memchr(flags, 1, count));
    const Tensor first = narrow(x, 0, taken ? taken - flags : 0, 1);
    return {where(aligned(rows, type_of(x)), x, first)};
  }
};

}  // namespace

Tensor one_for_each(const Tensor& answers) {
  const Shape shape = type_of(answers).shape;
  return shape.rank() == 1 ? answers : reshape(answers, {shape[0]});
}

Tensor filled_rows(const Tensor& takes_part, const Tensor& x) { return apply(FillRows{}, takes_part, x); }

Tensor chosen_rows(const Tensor& takes_part, const Tensor& one, const Tensor& other) {
  return where(aligned(takes_part, type_of(one)), one, other);
}

}  // namespace ricci::runs
