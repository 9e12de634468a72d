// Mutation, the only place of it: views of cells made by operations, and in-place writes under the rule of birth
// levels. A cell may only take a value of levels it was born under. Names no operation.
#pragma once

#include "primitive/interpreter.h"

namespace ricci {

/// A view made by an operation: its value is the operation applied to the base's.
struct OperationLink final : Link {
  const Rules* rules;
  OwnedParameters parameters;

  OperationLink(const Tensor& base, Op op);
  Op op() const { return {rules, parameters.get()}; }
  ValueRef value_of(const ValueRef& base) const override;
  ValueRef base_after(const ValueRef& base, const ValueRef& value) const override;
  bool locate(const Array& base, Type& type, Strides& strides, void*& data) const override;

  static void* operator new(std::size_t bytes);
  static void operator delete(void* link, std::size_t bytes);
};

/// The argument of a running transform, which shows a tensor of the caller: it keeps its own value, and passes what is
/// written to it on to the caller's tensor.
struct ArgumentLink : Link {
  Level level = 0;  // of the transform
  ValueRef value_of(const ValueRef& base) const override { return base; }
  bool locate(const Array&, Type&, Strides&, void*&) const override { return false; }
  bool is_argument() const override { return true; }
};

/// Fast path of apply_one outside transforms; false if an input is not an array after all.
bool evaluate_directly(Op op, const Tensor* const* inputs, std::size_t count, Tensor& result);

/// `base` with the part that the view operation shows replaced by `value`. Lives in ops/, as an operation.
ValueRef put_through_view(Op view, const ValueRef& base, const ValueRef& value);

/// Throws if `target` may not take a value like `value` (semantics.md §2, §3). `name` is the writing operation.
void check_write(const Tensor& target, const ValueRef& value, const char* name);

}  // namespace ricci
