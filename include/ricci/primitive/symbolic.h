// What a value type must offer to stand in a scalar formula without being a number: a symbolic value records the words
// of the formula (a compiler backend turns them into instructions). Knows nothing of any such type.
#pragma once

#include <cstdint>

namespace ricci::scalar {

// clang-format off
#define RICCI_WORDS(WORD)                                                                                       \
  /* two values */                                                                                              \
  WORD(add) WORD(subtract) WORD(multiply) WORD(divide) WORD(min) WORD(max) WORD(pow) WORD(atan2) WORD(hypot)    \
  WORD(fmod) WORD(remainder) WORD(floor_div) WORD(trunc_div) WORD(copysign)                                     \
  /* one value */                                                                                               \
  WORD(negative) WORD(abs) WORD(sign) WORD(sqrt) WORD(cbrt) WORD(floor) WORD(ceil) WORD(round) WORD(trunc)      \
  WORD(exp) WORD(exp2) WORD(expm1) WORD(log) WORD(log2) WORD(log10) WORD(log1p) WORD(sin) WORD(cos) WORD(tan)   \
  WORD(asin) WORD(acos) WORD(atan) WORD(sinh) WORD(cosh) WORD(tanh) WORD(asinh) WORD(acosh) WORD(atanh)         \
  WORD(erf) WORD(erfc) WORD(lgamma) WORD(digamma) WORD(mills)                                                   \
  /* three values */                                                                                            \
  WORD(fma)                                                                                                     \
  /* two values to a mask */                                                                                    \
  WORD(equal) WORD(not_equal) WORD(less) WORD(less_equal) WORD(greater) WORD(greater_equal)                     \
  /* one value to a mask */                                                                                     \
  WORD(isnan) WORD(isinf) WORD(isfinite)                                                                        \
  /* two masks to a mask, one mask to a mask */                                                                 \
  WORD(logical_and) WORD(logical_or) WORD(logical_xor) WORD(logical_not)                                        \
  /* integers */                                                                                                \
  WORD(bit_and) WORD(bit_or) WORD(bit_xor) WORD(bit_not) WORD(left_shift) WORD(right_shift)                     \
  /* the steps that the elementary formulas are made of */                                                      \
  WORD(scale) WORD(exponent) WORD(mantissa) WORD(flip_sign) WORD(odd_sign) WORD(smaller) WORD(larger)
// clang-format on

/// Every word of ricci::scalar that a symbolic value can be asked for.
enum class Word : std::uint8_t {
#define RICCI_WORD(name) name,
  RICCI_WORDS(RICCI_WORD)
#undef RICCI_WORD
};

/// A symbolic value T is explicitly constructible from a number, has + - * / and unary -, names its mask type (with
/// && || ! ^) as `T::symbolic_mask`, and answers
///   `T::word(Word, T...) -> T`, `T::test(Word, T...) -> mask`, `T::select(mask, T, T) -> T`.
template <class T>
concept Symbolic = requires { typename T::symbolic_mask; };

}  // namespace ricci::scalar
