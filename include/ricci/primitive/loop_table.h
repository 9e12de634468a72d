// Elementwise loops with their types erased: what an operation's table holds and what the strided driver calls.
// Knows nothing of formulas or of any instruction set (loop.h makes the loops).
#pragma once

#include <complex>
#include <cstdint>

#include "ricci/dtype.h"

namespace ricci {

/// The most inputs a scalar formula may have.
inline constexpr int max_loop_inputs = 8;

/// Applies one operation to `n` elements. `data` and `strides` (in bytes, 0 for an operand that stays) hold the output
/// first, then the `n_in` inputs; `op` points at the operation's struct. The output may be exactly one of the inputs;
/// other overlaps are not allowed. With n of 1 the strides are not read.
using Loop = void (*)(const void* op, int n_in, char* const* data, const std::int64_t* strides, std::int64_t n);

/// The element types of a loop's operands in memory, output first.
struct LoopTypes {
  int n_in;
  DType types[1 + max_loop_inputs];
};

template <DType dtype>
constexpr auto computed_element() {
  if constexpr (dtype == DType::boolean) return bool{};
  else if constexpr (dtype == DType::uint8) return std::uint8_t{};
  else if constexpr (dtype == DType::int8) return std::int8_t{};
  else if constexpr (dtype == DType::int16) return std::int16_t{};
  else if constexpr (dtype == DType::int32) return std::int32_t{};
  else if constexpr (dtype == DType::int64) return std::int64_t{};
  else if constexpr (dtype == DType::float64) return double{};
  else if constexpr (dtype == DType::complex64) return std::complex<float>{};
  else if constexpr (dtype == DType::complex128) return std::complex<double>{};
  else return float{};
}
/// The C++ element type that loops compute in: float for the half precisions.
template <DType dtype>
using ElementOf = decltype(computed_element<dtype>());

/// A set of element types.
struct DTypes {
  std::uint16_t bits;
  static const DTypes floating, integral, boolean, complex, all;
  constexpr DTypes operator|(DTypes other) const { return {static_cast<std::uint16_t>(bits | other.bits)}; }
  constexpr bool has(DType dtype) const { return (bits >> static_cast<int>(dtype) & 1) != 0; }
};
inline constexpr DTypes DTypes::boolean{0x001}, DTypes::integral{0x03e}, DTypes::floating{0x3c0},
    DTypes::complex{0xc00}, DTypes::all{0xfff};

// What an operand or a result is, relative to the element type T of the loop.
struct SameAsInput {};  // T
struct Boolean {};      // truth values: Mask<T> in the formula, bool in memory
struct Real {};         // the real type of a complex T, else T

/// The kinds of an operation's inputs, where they are not all SameAsInput:
/// `using operands = OperandKinds<Boolean, SameAsInput, SameAsInput>;`
template <class... Kinds>
struct OperandKinds {};

template <class Kind>
constexpr DType dtype_of_kind(DType element) {
  if constexpr (std::is_same_v<Kind, Boolean>) return DType::boolean;
  else if constexpr (std::is_same_v<Kind, Real>) return real_dtype(element);
  else return element;
}

/// One operation's loops by element type.
struct LoopTable {
  Loop loops[dtype_count] = {};
  DType results[dtype_count] = {};
  int inputs = 0;
  unsigned conditions = 0;  // bit i: input i is Boolean and takes no part in promotion

  /// Null where the operation is not defined.
  constexpr Loop loop(DType element) const { return loops[static_cast<int>(element)]; }
  constexpr Loop operator[](DType element) const { return loop(element); }
  constexpr DType result_dtype(DType element) const { return results[static_cast<int>(element)]; }
  /// The element type to compute in for inputs promoted to `common`: integers and booleans become float32 where the
  /// operation is defined for neither.
  constexpr DType compute_dtype(DType common) const {
    const bool whole = loop(DType::boolean) != nullptr || loop(DType::int64) != nullptr;
    return is_integral(common) && !whole ? DType::float32 : common;
  }
};

namespace kernels {

/// Runs `loop`, which takes operands of `computed` types that are contiguous or of stride 0, over operands of `stored`
/// types and any strides: through buffers of a few hundred elements. Where types differ, computed is float and stored
/// is half precision.
void run_staged(Loop loop, const LoopTypes& computed, const LoopTypes& stored, const void* op, char* const* data,
                const std::int64_t* strides, std::int64_t n);

/// Runs `loop` over contiguous or stride-0 operands of `types`, writing the output past the caches.
/// Requires: wants_streaming (loop.h).
void run_streamed(Loop loop, const LoopTypes& types, const void* op, char* const* data, const std::int64_t* strides,
                  std::int64_t n);

}  // namespace kernels
}  // namespace ricci
