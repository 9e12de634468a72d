// Layouts through views, arguments of transforms and levels.
#include "interpreters/layout.h"

#include "interpreters/batch.h"
#include "interpreters/record.h"
#include "primitive/interpreter.h"

namespace ricci {
namespace {

Shape in_numbers(Shape shape) {
  for (Size& size : shape) size = size.hint();
  return shape;
}

/// Of a cell that views no other: as its elements lie, of one example; in row-major order where they are yet to come.
Layout layout_of_root(const Cell& root) {
  const Value* value = root.value.get();
  std::size_t batches = 0;
  while (const ValueRef* inner = inner_of(*value)) {
    if (value->kind == ValueKind::batched) {
      if (static_cast<const Batched&>(*value).is_computed) break;
      ++batches;
    }
    value = inner->get();
  }
  if (value->kind == ValueKind::recorded) {
    const auto* recording = static_cast<const RecordInterpreter*>(find_interpreter(value->level));
    if (const Strides* strides = recording ? recording->strides_of_input(root) : nullptr)
      return {in_numbers(root.value->type.shape), *strides};
  }
  if (value->kind != ValueKind::array) {
    const Shape shape = in_numbers(root.value->type.shape);
    return {shape, contiguous_strides(shape)};
  }
  const auto& array = static_cast<const Array&>(*value);
  return {Shape(array.type.shape.begin() + batches, array.type.shape.end()),
          Strides(array.strides.begin() + batches, array.strides.end())};
}

}  // namespace

Layout layout_of(const Tensor& tensor) {
  value_of(tensor);                   // throws
  SmallVector<const Link*, 8> links;  // of views and arguments, the root's last
  const Cell* root = tensor.cell();
  for (; root->link; root = root->link->base.cell()) links.push_back(root->link);
  const Layout whole = layout_of_root(*root);
  Type type{root->value->type.dtype, whole.shape};
  Strides strides = whole.strides;
  void* nowhere = nullptr;
  for (std::size_t i = links.size(); i-- > 0;) {
    if (links[i]->locate(type, strides, nowhere)) continue;
    strides = contiguous_strides(type.shape);  // the view is one of a copy
    links[i]->locate(type, strides, nowhere);
  }
  return {in_numbers(type.shape), strides};
}

}  // namespace ricci
