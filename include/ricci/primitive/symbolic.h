// What a value type must offer to stand in a scalar formula without being a number: a symbolic value records the words
// of the formula (a compiler backend turns them into instructions). Knows nothing of any such type.
#pragma once

#include <cstdint>

namespace ricci::scalar {

/// Every word of ricci::scalar that a symbolic value can be asked for.
enum class Word : std::uint8_t {
  // two values
  add,
  subtract,
  multiply,
  divide,
  min,
  max,
  pow,
  atan2,
  hypot,
  fmod,
  remainder,
  floor_div,
  trunc_div,
  copysign,
  // one value
  negative,
  abs,
  sign,
  sqrt,
  rsqrt,
  cbrt,
  floor,
  ceil,
  round,
  trunc,
  exp,
  exp2,
  expm1,
  log,
  log2,
  log10,
  log1p,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  tanh,
  asinh,
  acosh,
  atanh,
  erf,
  erfc,
  lgamma,
  digamma,
  mills,
  // three values
  fma,
  // two values to a mask
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  // one value to a mask
  isnan,
  isinf,
  isfinite,
  // two masks to a mask, one mask to a mask
  logical_and,
  logical_or,
  logical_xor,
  logical_not,
  // integers
  bit_and,
  bit_or,
  bit_xor,
  bit_not,
  left_shift,
  right_shift,
  // the steps that the elementary formulas are made of
  scale,
  exponent,
  mantissa,
  flip_sign,
  odd_sign,
  smaller,
  larger
};

/// A symbolic value T is explicitly constructible from a number, has + - * / and unary -, names its mask type (with
/// && || ! ^) as `T::symbolic_mask`, and answers
///   `T::word(Word, T...) -> T`, `T::test(Word, T...) -> mask`, `T::select(mask, T, T) -> T`.
template <class T>
concept Symbolic = requires { typename T::symbolic_mask; };

}  // namespace ricci::scalar
