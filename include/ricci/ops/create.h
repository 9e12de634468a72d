// Tensors from nothing and from C++ values. Factories take a dtype or `{.dtype = …}`; the default is `default_dtype()`,
// float32 unless it was set, and for whole numbers int64. A negative size is a ValueError. What a factory makes inside
// vmap is one tensor for all examples, and can be written with a value per example.
#pragma once

#include <initializer_list>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "ricci/default_dtype.h"
#include "ricci/owned.h"
#include "ricci/tensor.h"

namespace ricci {

class Generator;

/// Where random numbers come from: the default generator, or one given as `{.generator = g}`.
struct GeneratorOption {
  Generator* generator = nullptr;
  GeneratorOption() = default;
  GeneratorOption(Generator& g) : generator(&g) {}
};

struct TensorOptions {
  DType dtype = default_dtype();
  GeneratorOption generator = {};
};

/// Of `tensor`, which draws nothing: `{.dtype = rc::float64}`.
struct DTypeOption {
  DType dtype;
};

/// For tensors that are like another one: its dtype if none is given.
struct LikeOptions {
  std::optional<DType> dtype = {};
  GeneratorOption generator = {};
};

/// Of randint and randperm.
struct IntegerOptions {
  DType dtype = DType::int64;
  GeneratorOption generator = {};
};

/// Sizes one by one, then a dtype or none: what stands in `zeros(2, 3)` and in `zeros(2, 3, rc::float64)`.
template <class... A>
inline constexpr bool are_extents = false;
template <WholeNumber I>
inline constexpr bool are_extents<I> = true;
template <WholeNumber I>
inline constexpr bool are_extents<I, DType> = true;
template <WholeNumber I, WholeNumber J, class... More>
inline constexpr bool are_extents<I, J, More...> = are_extents<J, More...>;
template <class... A>
concept Extents = are_extents<A...>;

/// The shape and the dtype that such arguments name, the default one if they name none.
struct ShapeAndOptions {
  Shape shape;
  TensorOptions options = {};

  template <class... A>
    requires Extents<A...>
  explicit ShapeAndOptions(A... extents) {
    (add(extents), ...);
  }

 private:
  void add(Size size) { shape.push_back(size); }
  void add(DType dtype) { options.dtype = dtype; }
};

template <class T>
concept Number =
    std::is_arithmetic_v<T> || std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

/// Nested braces of numbers, to any depth.
struct Braces {
  template <class T>
    requires std::is_arithmetic_v<T>
  Braces(T value)
      : leaf(true),
        dtype(dtype_of_number<T>()),
        number(static_cast<double>(value)),
        integer(static_cast<std::int64_t>(value)) {}
  Braces(const std::complex<double>& value);
  Braces(const std::complex<float>& value);
  Braces(std::initializer_list<Braces> list) : leaf(false), children(list) {}
  template <Number T>
  static constexpr DType dtype_of_number() {
    if constexpr (std::is_same_v<T, bool>) return DType::boolean;
    else if constexpr (!std::is_arithmetic_v<T>) return DType::complex64;
    else return std::is_integral_v<T> ? DType::int64 : DType::float32;
  }
  bool leaf;
  DType dtype = DType::float32;
  double number = 0, imaginary = 0;
  std::int64_t integer = 0;
  std::vector<Braces> children;
};

/// What lists within lists hold in the end, `double` for std::vector<std::array<double, 3>>; void where it is no
/// element type.
template <class T>
struct ListElement {
  using type = void;
};
template <class T>
  requires requires(const T& list) {
    typename T::value_type;
    list.size();
    list.begin();
    list.end();
  }
struct ListElement<T> {
  using value = typename T::value_type;
  using type = std::conditional_t<ElementType<value>, value, typename ListElement<value>::type>;
};
template <class T>
using list_element = typename ListElement<T>::type;

/// std::vector, array, span, … of numbers, or of such lists, to any depth.
template <class T>
concept List = ElementType<list_element<T>>;

/// Not for users: throws ValueError unless a list at this depth is as long as the first one there.
void require_length(const Shape& shape, std::size_t axis, std::int64_t found);

/// Lists within lists, laid out row by row. ValueError where those side by side differ in length.
template <class E>
struct LaidOut {
  Shape shape;
  std::vector<std::conditional_t<std::is_same_v<E, bool>, std::uint8_t, E>> elements;

  template <List L>
  explicit LaidOut(const L& list) {
    append(list, 0);
  }
  template <List L>
  void append(const L& list, std::size_t axis) {
    if (axis == shape.size()) shape.push_back(static_cast<std::int64_t>(list.size()));
    require_length(shape, axis, static_cast<std::int64_t>(list.size()));
    for (const auto& item : list)
      if constexpr (ElementType<typename L::value_type>) elements.push_back(item);
      else append(item, axis + 1);
  }
};

/// What ends the elements lent to from_blob. Must not throw.
struct BlobDeleter {
  virtual ~BlobDeleter() = default;
  virtual void end(void* data) = 0;
};

namespace ops {

// ── from C++ values ──

/// Nested braces: complex if any number is, floating if any has a point (of the default dtype, complex64 or float32
/// unless it was set), else int64; booleans alone stay boolean.
/// ValueError if the lists side by side differ in length.
///   rc::Tensor a = rc::tensor({{1., 2.}, {3., 4.}});  // f32[2,2]
///   rc::Tensor b = rc::tensor({1., 2.}, {.dtype = rc::float64});
Tensor tensor(std::initializer_list<Braces> values);
Tensor tensor(std::initializer_list<Braces> values, DType dtype);
inline Tensor tensor(std::initializer_list<Braces> values, const DTypeOption& options) {
  return tensor(values, options.dtype);
}
/// 0-dim, with the dtype that braces of the one number have.
///   rc::Tensor rate = rc::tensor(0.1, rc::float64);  // f64[]
template <Number T>
Tensor tensor(T number, DType dtype) {
  return Tensor(number).to(dtype);
}
template <Number T>
Tensor tensor(T number, const DTypeOption& options) {
  return tensor(number, options.dtype);
}
template <Number T>
Tensor tensor(T number) {
  return tensor(number, dtype_for_number(Braces::dtype_of_number<T>()));
}
/// Not for users: a copy of row-major elements of type `have`.
Tensor copy_of_elements(const void* elements, DType have, const Shape& shape, DType dtype);
/// A copy of a list, or of lists within lists, whose element type it keeps: std::vector, array, span, …. ValueError if
/// lists side by side differ in length.
///   rc::Tensor b = rc::tensor(std::vector<double>{1, 2, 3});                // f64[3]
///   rc::Tensor c = rc::tensor(std::vector<std::array<float, 2>>{{1, 2}});  // f32[1,2]
template <List L>
Tensor tensor(const L& values, DType dtype) {
  using E = list_element<L>;
  if constexpr (requires {
                  { values.data() } -> std::same_as<const E*>;
                }) {
    return copy_of_elements(values.data(), dtype_of<E>, Shape(values.size()), dtype);
  } else {
    const LaidOut<E> rows(values);
    return copy_of_elements(rows.elements.data(), dtype_of<E>, rows.shape, dtype);
  }
}
template <List L>
Tensor tensor(const L& values, const DTypeOption& options) {
  return tensor(values, options.dtype);
}
template <List L>
Tensor tensor(const L& values) {
  return tensor(values, dtype_of<list_element<L>>);
}
/// Row-major elements where they are, without a copy: `data` must outlive the tensor and its views, or `deleter(data)`
/// is called when the last of them is gone; the deleter is any callable, with captures or without. In-place operations
/// write to it, in transforms too; from a const pointer never. ValueError if the address is no multiple of an
/// element's bytes (of a complex one: of its parts').
///   rc::Tensor image = rc::from_blob(pixels, {height, width}, rc::uint8);
///   rc::Tensor frame = rc::from_blob(p, {n}, rc::float32, [&camera](void* data) { camera.give_back(data); });
Tensor from_blob(void* data, const Shape& shape, DType dtype);
Tensor from_blob(const void* data, const Shape& shape, DType dtype);
Tensor from_blob(void* data, const Shape& shape, DType dtype, Owned<BlobDeleter> deleter);
template <class F>
  requires std::is_invocable_v<F&, void*>
Tensor from_blob(void* data, const Shape& shape, DType dtype, F deleter) {
  struct Held final : BlobDeleter {
    F f;
    explicit Held(F&& function) : f(std::move(function)) {}
    void end(void* elements) override { f(elements); }
  };
  return from_blob(data, shape, dtype, Owned<BlobDeleter>(new Held(std::move(deleter))));
}

// ── one value everywhere ──

/// `zeros({2, 3})`, `zeros(2, 3)`, `zeros({2, 3}, rc::int64)`, `zeros(2, 3, rc::int64)`.
Tensor zeros(const Shape& shape);
Tensor zeros(const Shape& shape, TensorOptions options);
Tensor ones(const Shape& shape);
Tensor ones(const Shape& shape, TensorOptions options);
Tensor empty(const Shape& shape);  ///< elements are whatever the memory holds
Tensor empty(const Shape& shape, TensorOptions options);
/// `value` is a number or a 0-dim tensor, with respect to which the result is differentiable. A number gives the dtype
/// that `tensor(number)` has, a tensor its own. ValueError if it has axes.
Tensor full(const Shape& shape, const Tensor& value);
Tensor full(const Shape& shape, const Tensor& value, TensorOptions options);
inline Tensor zeros(const Shape& shape, DType dtype) { return zeros(shape, TensorOptions{.dtype = dtype}); }
inline Tensor ones(const Shape& shape, DType dtype) { return ones(shape, TensorOptions{.dtype = dtype}); }
inline Tensor empty(const Shape& shape, DType dtype) { return empty(shape, TensorOptions{.dtype = dtype}); }
inline Tensor full(const Shape& shape, const Tensor& value, DType dtype) {
  return full(shape, value, TensorOptions{.dtype = dtype});
}
template <class... A>
  requires Extents<A...>
Tensor zeros(A... extents) {
  const ShapeAndOptions made(extents...);
  return zeros(made.shape, made.options);
}
template <class... A>
  requires Extents<A...>
Tensor ones(A... extents) {
  const ShapeAndOptions made(extents...);
  return ones(made.shape, made.options);
}
template <class... A>
  requires Extents<A...>
Tensor empty(A... extents) {
  const ShapeAndOptions made(extents...);
  return empty(made.shape, made.options);
}

/// The shape and dtype of x, as one example sees them inside vmap.
Tensor zeros_like(const Tensor& x);
Tensor ones_like(const Tensor& x);
Tensor empty_like(const Tensor& x);
Tensor full_like(const Tensor& x, const Tensor& value);
Tensor full_like(const Tensor& x, const Tensor& value, DType dtype);
/// The same with another dtype.
inline Tensor zeros_like(const Tensor& x, DType dtype) { return zeros_like(x).to(dtype); }
inline Tensor ones_like(const Tensor& x, DType dtype) { return ones_like(x).to(dtype); }
inline Tensor empty_like(const Tensor& x, DType dtype) { return empty_like(x).to(dtype); }
inline Tensor zeros_like(const Tensor& x, LikeOptions options) {
  return options.dtype ? zeros_like(x, *options.dtype) : zeros_like(x);
}
inline Tensor ones_like(const Tensor& x, LikeOptions options) {
  return options.dtype ? ones_like(x, *options.dtype) : ones_like(x);
}
inline Tensor empty_like(const Tensor& x, LikeOptions options) {
  return options.dtype ? empty_like(x, *options.dtype) : empty_like(x);
}
inline Tensor full_like(const Tensor& x, const Tensor& value, LikeOptions options) {
  return options.dtype ? full_like(x, value, *options.dtype) : full_like(x, value);
}

// ── patterns ──

/// Rows [first, first + rows) of the identity of size `columns`; rows outside it are zero.
Tensor eye_rows(Size first, Size rows, Size columns, DType dtype);
/// [n,n] or [n,m]: ones at (i, i).
Tensor eye(Size n);
Tensor eye(Size n, DType dtype);
Tensor eye(Size n, Size m);
Tensor eye(Size n, Size m, DType dtype);
inline Tensor eye(Size n, TensorOptions options) { return eye(n, options.dtype); }
inline Tensor eye(Size n, Size m, TensorOptions options) { return eye(n, m, options.dtype); }
/// start, start + step, … before end: [ceil((end - start) / step)]; int64 if all are integers, else the default
/// dtype. start is 0 and step 1 if not given. ValueError if step is 0 or leads away from end; the numbers are read, so
/// a value that differs per example of a vmap is a TransformError. Sizes among integers stay open in a recorded
/// program: `arange(x.shape()[0])`.
///   rc::Tensor i = rc::arange(5);  // 0 1 2 3 4
Tensor arange(const Tensor& end);
Tensor arange(const Tensor& end, DType dtype);
Tensor arange(const Tensor& start, const Tensor& end);
Tensor arange(const Tensor& start, const Tensor& end, DType dtype);
Tensor arange(const Tensor& start, const Tensor& end, const Tensor& step);
Tensor arange(const Tensor& start, const Tensor& end, const Tensor& step, DType dtype);
inline Tensor arange(const Tensor& end, TensorOptions options) { return arange(end, options.dtype); }
inline Tensor arange(const Tensor& start, const Tensor& end, TensorOptions options) {
  return arange(start, end, options.dtype);
}
inline Tensor arange(const Tensor& start, const Tensor& end, const Tensor& step, TensorOptions options) {
  return arange(start, end, step, options.dtype);
}
/// [steps]: from start to end, both included, in equal steps; in the default dtype if none is given. start and end are
/// numbers or 0-dim tensors, with respect to which it is differentiable. ValueError if steps is negative or an end has
/// axes.
///   rc::Tensor x = rc::linspace(0, 1, 5);  // 0 0.25 0.5 0.75 1
Tensor linspace(const Tensor& start, const Tensor& end, Size steps);
Tensor linspace(const Tensor& start, const Tensor& end, Size steps, DType dtype);
inline Tensor linspace(const Tensor& start, const Tensor& end, Size steps, TensorOptions options) {
  return linspace(start, end, steps, options.dtype);
}

}  // namespace ops
}  // namespace ricci
