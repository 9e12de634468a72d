// Tensors from C++ values: numbers, braces, containers, and elements that the user lends.
#include <algorithm>
#include <complex>

#include "kernels/elementwise.h"
#include "ops/axes.h"
#include "primitive/interpreter.h"
#include "ricci/ops/create.h"
#include "ricci/ops/elementwise.h"
#include "tensor/default_dtype.h"

namespace ricci {
namespace {

template <class T>
Tensor number(T value, bool weak) {
  ArrayRef array = make_array({.dtype = dtype_of<T>, .shape = {}, .weak = weak});
  *static_cast<T*>(array->data) = value;
  return make_tensor(std::move(array), current_level());
}

/// The converted copy of row-major elements.
Tensor copied(const void* from, DType have, const Shape& shape, DType dtype) {
  ArrayRef array = make_array({dtype, shape});
  kernels::copy(array->strided(), {const_cast<void*>(from), have, shape.rank(), shape.host(), array->strides.data()});
  return make_tensor(std::move(array), current_level());
}

// ── braces ──

/// The lists along the first path.
Shape shape_of(const std::vector<Braces>& list) {
  Shape shape{Size(static_cast<std::int64_t>(list.size()))};
  for (const auto* at = &list; !at->empty() && !at->front().leaf; at = &at->front().children)
    shape.push_back(static_cast<std::int64_t>(at->front().children.size()));
  return shape;
}

std::string list_text(std::int64_t size) { return size < 0 ? "a number" : "a list of " + std::to_string(size); }

/// Appends the numbers of `list`, which stands at `axis`; lists side by side must be as long as the first of them.
void flatten(const std::vector<Braces>& list, std::size_t axis, const Shape& shape,
             std::vector<const Braces*>& numbers) {
  const std::int64_t expected = axis + 1 < shape.size() ? shape[axis + 1].host() : -1;
  for (const Braces& b : list) {
    const std::int64_t found = b.leaf ? -1 : static_cast<std::int64_t>(b.children.size());
    if (found != expected)
      raise<ValueError>("tensor: the braces are ragged: " + list_text(expected) + " and " + list_text(found) +
                        " stand at axis " + std::to_string(axis + 1));
    if (b.leaf) numbers.push_back(&b);
    else flatten(b.children, axis + 1, shape, numbers);
  }
}

template <class T, class F>
Tensor from_numbers(const std::vector<const Braces*>& numbers, const F& number, const Shape& shape, DType dtype) {
  std::vector<T> elements;
  for (const Braces* b : numbers) elements.push_back(number(*b));
  return copied(elements.data(), dtype_of<T>, shape, dtype);
}

Tensor from_braces(const std::vector<Braces>& list, std::optional<DType> wanted) {
  const Shape shape = shape_of(list);
  std::vector<const Braces*> numbers;
  flatten(list, 0, shape, numbers);
  DType dtype = numbers.empty() ? DType::float32 : DType::boolean;
  for (const Braces* b : numbers) dtype = std::max(dtype, b->dtype);
  const DType to = wanted.value_or(dtype_for_number(dtype));
  if (is_complex(dtype)) {
    const auto number = [](const Braces& b) { return std::complex<double>(b.number, b.imaginary); };
    return from_numbers<std::complex<double>>(numbers, number, shape, to);
  }
  if (is_floating(dtype)) return from_numbers<double>(numbers, [](const Braces& b) { return b.number; }, shape, to);
  return from_numbers<std::int64_t>(numbers, [](const Braces& b) { return b.integer; }, shape, to);
}

void end_blob(void* deleter, void* data) {
  const Owned<BlobDeleter> owned(static_cast<BlobDeleter*>(deleter));
  owned->end(data);
}

Tensor lend(void* data, const Shape& shape, DType dtype, Owned<BlobDeleter> deleter) {
  require_sizes("from_blob", shape);
  const auto bytes = static_cast<std::uintptr_t>(is_complex(dtype) ? element_size(dtype) / 2 : element_size(dtype));
  if (reinterpret_cast<std::uintptr_t>(data) % bytes != 0)
    raise<ValueError>("from_blob: the address of the elements is no multiple of the " + std::to_string(bytes) +
                      " bytes of " + short_name(dtype) + (is_complex(dtype) ? "'s parts" : "") +
                      "; copy them to memory that begins at one");
  if (!data && !(shape.numel() == 0))
    raise<ValueError>("from_blob: the address is null; pass that of " + to_string(Type{dtype, shape}));
  ArrayRef array = make_lent({dtype, shape}, data, deleter.get() ? end_blob : nullptr, deleter.get());
  deleter.release();
  return make_tensor(std::move(array), current_level());
}

}  // namespace

void require_length(const Shape& shape, std::size_t axis, std::int64_t found) {
  const std::int64_t expected = shape[axis].host();
  if (found != expected)
    raise<ValueError>("tensor: the lists are ragged: " + list_text(expected) + " and " + list_text(found) +
                      " stand at axis " + std::to_string(axis));
}

Braces::Braces(const std::complex<double>& value)
    : leaf(true), dtype(DType::complex64), number(value.real()), imaginary(value.imag()) {}
Braces::Braces(const std::complex<float>& value) : Braces(std::complex<double>(value)) {}

namespace ops {

Tensor Tensor::weak_boolean(bool value) { return number(value, true); }
Tensor Tensor::weak_integer(std::int64_t value) { return number(value, true); }
Tensor Tensor::weak_floating(double value) { return number(value, true); }
Tensor::Tensor(const std::complex<double>& value) : Tensor(number(value, true)) {}
Tensor::Tensor(const std::complex<float>& value) : Tensor(number(std::complex<double>(value), true)) {}

// ── from C++ values ──

Tensor tensor(std::initializer_list<Braces> values) { return from_braces(values, std::nullopt); }
Tensor tensor(std::initializer_list<Braces> values, DType dtype) { return from_braces(values, dtype); }

Tensor copy_of_elements(const void* elements, DType have, const Shape& shape, DType dtype) {
  return copied(elements, have, shape, dtype);
}

Tensor from_blob(void* data, const Shape& shape, DType dtype) { return lend(data, shape, dtype, {}); }
Tensor from_blob(void* data, const Shape& shape, DType dtype, Owned<BlobDeleter> deleter) {
  return lend(data, shape, dtype, std::move(deleter));
}
Tensor from_blob(const void* data, const Shape& shape, DType dtype) {
  // As another view of the lent elements, which is never written in place.
  const Tensor lent = lend(const_cast<void*>(data), shape, dtype, {});
  const auto& array = static_cast<const Array&>(*value_of(lent));
  return make_tensor(make_alias(array, array.type, array.strides, array.data), current_level());
}

}  // namespace ops
}  // namespace ricci
