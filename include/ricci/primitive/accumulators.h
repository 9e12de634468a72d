// What elements are added in and compared as, by their type; and calls by dtype. Knows nothing of loops.
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>

#include "ricci/dtype.h"

namespace ricci::kernels {

/// What elements of type T are added in: int64 for integers, float for the 16-bit types.
template <class T>
struct accumulator_of {
  using type = std::conditional_t<std::is_integral_v<T>, std::int64_t, T>;
};
template <> struct accumulator_of<Half> {
  using type = float;
};
template <> struct accumulator_of<BFloat16> {
  using type = float;
};
template <class T>
using accumulator = typename accumulator_of<T>::type;

/// What elements of a real type T are compared as.
template <class T>
using comparable = std::conditional_t<std::is_integral_v<T>, T, accumulator<T>>;

template <class T>
struct real_part {
  using type = T;
};
template <class E>
struct real_part<std::complex<E>> {
  using type = E;
};
template <class T>
using real_of = typename real_part<T>::type;

template <class T>
inline constexpr bool is_complex_element = !std::is_same_v<real_of<T>, T>;
template <class T>
inline constexpr bool is_floating_element =
    std::is_floating_point_v<T> || std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

/// The element type of a sum of T.
template <class T>
using sum_element = std::conditional_t<std::is_integral_v<T>, std::int64_t, T>;

/// The element type in which elements of `dtype` are added.
constexpr DType accumulator_dtype(DType dtype) { return is_integral(dtype) ? DType::int64 : computed_dtype(dtype); }

/// Calls f(std::type_identity<T>{}) for float16 to float64.
template <class F>
void visit_floating(DType dtype, F&& f) {
  switch (dtype) {
    case DType::float16: return f(std::type_identity<Half>{});
    case DType::bfloat16: return f(std::type_identity<BFloat16>{});
    case DType::float32: return f(std::type_identity<float>{});
    case DType::float64: return f(std::type_identity<double>{});
    default: __builtin_unreachable();
  }
}
/// And for the complex types.
template <class F>
void visit_inexact(DType dtype, F&& f) {
  switch (dtype) {
    case DType::complex64: return f(std::type_identity<std::complex<float>>{});
    case DType::complex128: return f(std::type_identity<std::complex<double>>{});
    default: return visit_floating(dtype, f);
  }
}
/// For all types but the complex ones; booleans are taken as uint8.
template <class F>
void visit_real(DType dtype, F&& f) {
  switch (dtype) {
    case DType::boolean:
    case DType::uint8: return f(std::type_identity<std::uint8_t>{});
    case DType::int8: return f(std::type_identity<std::int8_t>{});
    case DType::int16: return f(std::type_identity<std::int16_t>{});
    case DType::int32: return f(std::type_identity<std::int32_t>{});
    case DType::int64: return f(std::type_identity<std::int64_t>{});
    default: return visit_floating(dtype, f);
  }
}

/// For all types; booleans are taken as uint8.
template <class F>
void visit_numbers(DType dtype, F&& f) {
  return is_complex(dtype) ? visit_inexact(dtype, f) : visit_real(dtype, f);
}

}  // namespace ricci::kernels
