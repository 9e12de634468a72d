// Element types: their names, C++ counterparts, promotion, and the switch from a run-time DType to a C++ type.
// Knows nothing of tensors. Start with `DType`.
#pragma once

#include <bit>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <type_traits>

namespace ricci {

/// What one element is. The order is the order of promotion within and across categories.
enum class DType : std::uint8_t {
  boolean,
  uint8,
  int8,
  int16,
  int32,
  int64,
  float16,
  bfloat16,
  float32,
  float64,
  complex64,
  complex128
};

inline constexpr DType boolean = DType::boolean, uint8 = DType::uint8, int8 = DType::int8, int16 = DType::int16,
                       int32 = DType::int32, int64 = DType::int64, float16 = DType::float16, bfloat16 = DType::bfloat16,
                       float32 = DType::float32, float64 = DType::float64, complex64 = DType::complex64,
                       complex128 = DType::complex128;

inline constexpr int dtype_count = 12;

/// What the compiler converts IEEE binary16 by. g++ 12 knows no _Float16 in C++ for ARM.
#if defined(__aarch64__) && !defined(__clang__)
using Binary16 = __fp16;
#else
using Binary16 = _Float16;
#endif

/// IEEE binary16; arithmetic is done in float.
struct Half {
  std::uint16_t bits = 0;
  Half() = default;
  Half(float value) : bits(std::bit_cast<std::uint16_t>(static_cast<Binary16>(value))) {}
  operator float() const { return static_cast<float>(std::bit_cast<Binary16>(bits)); }
};

/// The upper half of an IEEE binary32, rounded to nearest even; arithmetic is done in float.
struct BFloat16 {
  std::uint16_t bits = 0;
  BFloat16() = default;
  BFloat16(float value) {
    const auto wide = std::bit_cast<std::uint32_t>(value);
    const bool is_nan = (wide & 0x7fffffffU) > 0x7f800000U;
    bits = static_cast<std::uint16_t>(is_nan ? (wide >> 16) | 0x40U : (wide + 0x7fffU + ((wide >> 16) & 1U)) >> 16);
  }
  operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
};

inline constexpr std::uint8_t element_sizes[dtype_count] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
constexpr std::size_t element_size(DType dtype) { return element_sizes[static_cast<int>(dtype)]; }

/// The short name used wherever types are printed: `f32` in `f32[3,4]`.
constexpr const char* short_name(DType dtype) {
  constexpr const char* names[dtype_count] = {"bool", "u8",   "i8",  "i16", "i32", "i64",
                                              "f16",  "bf16", "f32", "f64", "c64", "c128"};
  return names[static_cast<int>(dtype)];
}

std::string to_string(DType dtype);  ///< the name in programs: `float32`
std::ostream& operator<<(std::ostream& out, DType dtype);

constexpr bool is_complex(DType dtype) { return dtype >= DType::complex64; }
constexpr bool is_floating(DType dtype) { return dtype >= DType::float16 && dtype <= DType::float64; }
constexpr bool is_integral(DType dtype) { return dtype <= DType::int64; }  // boolean included
constexpr bool is_differentiable(DType dtype) { return dtype >= DType::float16; }

/// float16 and bfloat16 are computed in float32.
constexpr DType computed_dtype(DType dtype) {
  return dtype == DType::float16 || dtype == DType::bfloat16 ? DType::float32 : dtype;
}

/// boolean 0, integers 1, floating 2, complex 3.
constexpr int category(DType dtype) {
  if (dtype == DType::boolean) return 0;
  if (dtype <= DType::int64) return 1;
  return is_floating(dtype) ? 2 : 3;
}

/// The real type of a complex one; any other type is itself.
constexpr DType real_dtype(DType dtype) {
  if (dtype == DType::complex64) return DType::float32;
  return dtype == DType::complex128 ? DType::float64 : dtype;
}

constexpr DType complex_dtype(DType dtype) {
  return dtype == DType::float64 || dtype == DType::complex128 ? DType::complex128 : DType::complex64;
}

/// PyTorch's promotion of two element types of equal standing.
constexpr DType promote(DType a, DType b) {
  if (a == b) return a;
  if (a > b) return promote(b, a);  // now a < b
  if (a == DType::uint8 && b == DType::int8) return DType::int16;
  if (a == DType::float16 && b == DType::bfloat16) return DType::float32;
  if (b == DType::complex64 && a == DType::float64) return DType::complex128;
  return b;
}

template <class T>
struct dtype_of_t;  // undefined: T is no element type
template <> struct dtype_of_t<bool> {
  static constexpr DType value = DType::boolean;
};
template <> struct dtype_of_t<std::uint8_t> {
  static constexpr DType value = DType::uint8;
};
template <> struct dtype_of_t<std::int8_t> {
  static constexpr DType value = DType::int8;
};
template <> struct dtype_of_t<std::int16_t> {
  static constexpr DType value = DType::int16;
};
template <> struct dtype_of_t<std::int32_t> {
  static constexpr DType value = DType::int32;
};
template <> struct dtype_of_t<std::int64_t> {
  static constexpr DType value = DType::int64;
};
template <> struct dtype_of_t<long long> {
  static constexpr DType value = DType::int64;
};
template <> struct dtype_of_t<Half> {
  static constexpr DType value = DType::float16;
};
template <> struct dtype_of_t<BFloat16> {
  static constexpr DType value = DType::bfloat16;
};
template <> struct dtype_of_t<float> {
  static constexpr DType value = DType::float32;
};
template <> struct dtype_of_t<double> {
  static constexpr DType value = DType::float64;
};
template <> struct dtype_of_t<std::complex<float>> {
  static constexpr DType value = DType::complex64;
};
template <> struct dtype_of_t<std::complex<double>> {
  static constexpr DType value = DType::complex128;
};

/// The DType of a C++ element type.
template <class T>
inline constexpr DType dtype_of = dtype_of_t<T>::value;

template <class T>
concept ElementType = requires { dtype_of_t<T>::value; };

/// Calls `f(std::type_identity<T>{})` with the C++ type of `dtype`; the one switch over element types.
template <class F>
decltype(auto) visit_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::boolean: return f(std::type_identity<bool>{});
    case DType::uint8: return f(std::type_identity<std::uint8_t>{});
    case DType::int8: return f(std::type_identity<std::int8_t>{});
    case DType::int16: return f(std::type_identity<std::int16_t>{});
    case DType::int32: return f(std::type_identity<std::int32_t>{});
    case DType::int64: return f(std::type_identity<std::int64_t>{});
    case DType::float16: return f(std::type_identity<Half>{});
    case DType::bfloat16: return f(std::type_identity<BFloat16>{});
    case DType::float32: return f(std::type_identity<float>{});
    case DType::float64: return f(std::type_identity<double>{});
    case DType::complex64: return f(std::type_identity<std::complex<float>>{});
    case DType::complex128: return f(std::type_identity<std::complex<double>>{});
  }
  __builtin_unreachable();
}

}  // namespace ricci
