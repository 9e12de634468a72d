// What a value type must offer to stand in a scalar formula without being a number: a symbolic value records the words
// of the formula (a compiler backend turns them into instructions). Knows nothing of any such type.
#pragma once

#include <cstdint>

namespace ricci::scalar {

// The words by what they take. Those of reals are for floating elements alone, those of integers for integers.
// clang-format off
#define RICCI_OPERATORS(WORD)            WORD(add) WORD(subtract) WORD(multiply) WORD(divide) WORD(negative) WORD(fma)
#define RICCI_WORDS_OF_TWO(WORD)         WORD(min) WORD(max) WORD(pow) WORD(fmod) WORD(remainder) WORD(floor_div) \
                                         WORD(trunc_div)
#define RICCI_WORDS_OF_TWO_REALS(WORD)   WORD(atan2) WORD(hypot) WORD(copysign)
#define RICCI_WORDS_OF_TWO_INTEGERS(WORD)                                                                         \
  WORD(bit_and) WORD(bit_or) WORD(bit_xor) WORD(left_shift) WORD(right_shift)
#define RICCI_WORDS_OF_ONE(WORD)         WORD(abs) WORD(sign) WORD(floor) WORD(ceil) WORD(round) WORD(trunc)
#define RICCI_WORDS_OF_ONE_REAL(WORD)                                                                             \
  WORD(sqrt) WORD(cbrt) WORD(exp) WORD(exp2) WORD(expm1) WORD(log) WORD(log2) WORD(log10) WORD(log1p) WORD(sin)   \
  WORD(cos) WORD(tan) WORD(asin) WORD(acos) WORD(atan) WORD(sinh) WORD(cosh) WORD(tanh) WORD(asinh) WORD(acosh)   \
  WORD(atanh) WORD(erf) WORD(erfc) WORD(lgamma) WORD(digamma) WORD(mills)
#define RICCI_WORDS_OF_ONE_INTEGER(WORD) WORD(bit_not)
#define RICCI_TESTS_OF_TWO(WORD)                                                                                  \
  WORD(equal) WORD(not_equal) WORD(less) WORD(less_equal) WORD(greater) WORD(greater_equal)
#define RICCI_TESTS_OF_ONE(WORD)         WORD(isnan) WORD(isinf) WORD(isfinite)
#define RICCI_WORDS_OF_TWO_MASKS(WORD)   WORD(logical_and) WORD(logical_or) WORD(logical_xor)
#define RICCI_WORDS_OF_ONE_MASK(WORD)    WORD(logical_not)
// The steps that the elementary formulas are made of.
#define RICCI_STEPS_OF_TWO(WORD)         WORD(scale) WORD(flip_sign) WORD(smaller) WORD(larger)
#define RICCI_STEPS_OF_ONE(WORD)         WORD(exponent) WORD(mantissa) WORD(odd_sign)

#define RICCI_WORDS(WORD)                                                                                         \
  RICCI_OPERATORS(WORD)                                                                                           \
  RICCI_WORDS_OF_TWO(WORD) RICCI_WORDS_OF_TWO_REALS(WORD) RICCI_WORDS_OF_TWO_INTEGERS(WORD)                       \
  RICCI_WORDS_OF_ONE(WORD) RICCI_WORDS_OF_ONE_REAL(WORD) RICCI_WORDS_OF_ONE_INTEGER(WORD)                         \
  RICCI_TESTS_OF_TWO(WORD) RICCI_TESTS_OF_ONE(WORD) RICCI_WORDS_OF_TWO_MASKS(WORD) RICCI_WORDS_OF_ONE_MASK(WORD)  \
  RICCI_STEPS_OF_TWO(WORD) RICCI_STEPS_OF_ONE(WORD)
// clang-format on

/// Every word of ricci::scalar that a symbolic value can be asked for.
enum class Word : std::uint8_t {
#define RICCI_WORD(name) name,
  RICCI_WORDS(RICCI_WORD)
#undef RICCI_WORD
};

/// As the formulas write it.
const char* name_of(Word word);
/// How many operands it takes.
int operands_of(Word word);
/// Whether it gives a truth value.
bool is_test(Word word);

/// A symbolic value T is explicitly constructible from a number, has + - * / and unary -, names its mask type (with
/// && || ! ^) as `T::symbolic_mask`, and answers
///   `T::word(Word, T...) -> T`, `T::test(Word, T...) -> mask`, `T::select(mask, T, T) -> T`.
template <class T>
concept Symbolic = requires { typename T::symbolic_mask; };

}  // namespace ricci::scalar
