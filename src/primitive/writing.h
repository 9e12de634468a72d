// Mutation, the only place of it: views of cells made by operations, and in-place writes under the rule of birth
// levels. A cell may only take a value of levels it was born under. Knows no primitive by name; what converts and
// broadcasts a source are public operations.
#pragma once

#include <functional>
#include <memory>

#include "primitive/interpreter.h"

namespace ricci {

/// A view made by an operation: its value is the operation applied to the base's.
struct OperationLink final : Link {
  const Rules* rules;
  OwnedParameters parameters;

  OperationLink(const Tensor& base, Op op);
  /// As if it had been made where and when the one was that it replaces.
  OperationLink(const Tensor& base, Op op, const OperationLink& replaced);
  Op op() const { return {rules, parameters.get()}; }
  const OperationLink* operation() const override { return this; }
  ValueRef value_of(const ValueRef& base) const override;
  ValueRef base_after(const ValueRef& base, const ValueRef& value) const override;
  bool locate(Type& type, Strides& strides, void*& data) const override;

  bool made_here() const { return made_at_ == current_level(); }

  static void* operator new(std::size_t bytes);
  static void operator delete(void* link, std::size_t bytes);

 private:
  Level made_at_ = current_level();
};

/// The link of the view of `base` that the operation shows. Where `base` ends a long chain of views, the new view is
/// tied to the root instead, if strides can describe it; views in between that nobody holds are then freed.
Owned<Link> view_link(const Tensor& base, Op op);
/// The view of the elements of `root` in row-major order that these strides show. Lives in ops/, as an operation.
Owned<Link> strided_link(const Tensor& root, const Shape& shape, const Strides& strides, std::int64_t offset);

/// The view of all elements of `root` in row-major order, in this shape, in place of another view. Lives in ops/, as an
/// operation.
Owned<Link> link_to_all(const Tensor& root, const Shape& shape, const OperationLink& replaced);

/// The argument of a running transform, which shows a tensor of the caller: it keeps its own value, and passes what is
/// written to it on to the caller's tensor. It lies as the caller's tensor does.
struct ArgumentLink : Link {
  Level level = 0;  // of the transform
  ValueRef value_of(const ValueRef& base) const override { return base; }
  bool locate(Type&, Strides&, void*&) const override { return true; }
  const ArgumentLink* argument() const override { return this; }
  /// The part of the caller's tensor that these views, the first one of the argument, show of the argument. Requires,
  /// here and below: `transform` is its own, and the innermost level is the one that it runs at.
  virtual Tensor part_of_caller(const Interpreter& transform, std::span<const Op> views) const = 0;
  /// What is written there where `value` is written to the same part of the argument.
  virtual ValueRef value_of_caller(Interpreter& transform, const ValueRef& value) const = 0;
};

/// Whether the elements behind the value are memory that the user lent.
bool is_lent(const Value& value);
/// The value, of a copy where it is of memory that the user lent: only the handle and its views are that memory. What
/// outlasts the call that reads a handle, or stands in another cell, takes its value by way of this.
ValueRef with_own_elements(ValueRef value);
/// A result that can be written to: in a cell of its own, apart from other results, from a cotangent and from what it
/// is a view of. Elements are shared until it is.
Tensor in_own_cell(Tensor result);
/// A handle of lent memory, once it holds plain elements again, which that memory has too, shows them there.
void show_lent_elements(Cell& handle);

/// `base` with a part replaced by `value`: the one that the last of these views shows, each of the one before and the
/// first of `base`. Requires: if they are several, all of them can be lifted. Lives in ops/, as an operation.
ValueRef put_through_views(std::span<const Op> views, const ValueRef& base, const ValueRef& value);
/// As put_through_views, where `shown` stands in the base's own elements: where the views show all of them, the base is
/// what is seen the other way round, and no derivative of the old base is taken. Lives in ops/, as an operation.
ValueRef base_of_shown(std::span<const Op> views, const ValueRef& base, const ValueRef& shown);

/// Throws TransformError if `target` holds one value for what `value` has per example of a running vmap, or was
/// captured by a function under differentiation. `name` is the writing operation.
void check_write(const Tensor& target, const ValueRef& value, const char* name);
/// As `assign_into`, with all that a program wrote to the target at once. Errors name its first write, to a target of
/// the type `named`. Example: the program writes to a row of the target.
void assign_whole(const Tensor& target, const Tensor& source, const char* name, const Type& named);

/// The innermost vmap of which `value` has a value per example and `target` one for all, so that it may not be written
/// there; null if there is none.
const Interpreter* vmap_that_forbids(const Tensor& target, const ValueRef& value);

/// The result of an elementwise operation in the elements of one of its operands, which `operands` holds alone;
/// undefined where none has the result's type or somebody else sees its elements. Requires: no transform runs.
Tensor applied_in_place(Op op, const Tensors& operands);

/// Throws unless a write of such a result keeps its target's shape and dtype.
void require_fit(const Type& result, const Tensor& target, const char* name);
/// These checks of a write, then the write.
void write_result(const Tensor& target, const Tensor& result, const char* name);
/// Writes what `compute` gives, the result of an operation that replaces some elements of the target, as `scatter_`
/// does. The operation replaces the elements where they stand, if nobody else can see them. After an error they have
/// their old values.
///   overwrite_some(x, "scatter_", [&] { return scatter(x, dim, index, src); });
void overwrite_some(const Tensor& target, const char* name, const std::function<Tensor()>& compute);

/// x in another dtype, and as a number or as a tensor. Lives in ops/, as an operation.
Tensor to_type(const Tensor& x, DType dtype, bool weak);
/// The source in the element type of what it is written to; TypeError where its imaginary parts would be lost.
Tensor converted(const Tensor& source, DType target, const char* name);
/// The source's value in the target's shape and type: what is written to a number is one.
Tensor conform(const Tensor& source, const Type& target, const char* name);
/// Copies elements into elements, where both are arrays and nobody else sees the target's; else false.
bool copy_directly(const Tensor& target, const Tensor& source, const char* name);
/// `add_` for a method, `add_out` for out=: the target is an operand only of the former.
std::string in_place_name(const char* name, const Tensor& target, const Tensor* const* inputs);

}  // namespace ricci
