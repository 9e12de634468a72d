// The words whose result is exact or rounded once: comparison, selection, rounding, signs, square root, fused
// multiply-add, and integer division and bits; for packs, plain numbers and symbolic values.
// Knows nothing of transcendental functions (elementary.h) or complex numbers (complex_words.h).
#pragma once

#include <limits>

#include "ricci/primitive/pack.h"
#include "ricci/primitive/symbolic.h"

namespace ricci::scalar {
inline namespace RICCI_ISA {

/// A plain number; a word applied to it gives what every lane of a pack would get.
template <class A>
concept Number = std::is_arithmetic_v<A>;

template <class T>
struct mask_of {
  using type = bool;
};
template <class E>
struct mask_of<Pack<E>> {
  using type = typename Pack<E>::mask;
};
template <Symbolic T>
struct mask_of<T> {
  using type = typename T::symbolic_mask;
};

/// What comparing two T gives, and what `select` chooses by.
template <class T>
using Mask = typename mask_of<T>::type;

template <class E>
concept Floating = std::is_floating_point_v<E>;
template <class E>
concept Whole = std::is_integral_v<E>;  // bool included

// A word for packs becomes one for plain numbers and symbolic values.
#define RICCI_WORD_1(name)                      \
  template <Number A>                           \
  A name(A x) {                                 \
    return static_cast<A>(name(Pack<A>(x))[0]); \
  }                                             \
  template <Symbolic T>                         \
  T name(const T& x) {                          \
    return T::word(Word::name, x);              \
  }
#define RICCI_WORD_2(name)                                  \
  template <Number A>                                       \
  A name(A x, A y) {                                        \
    return static_cast<A>(name(Pack<A>(x), Pack<A>(y))[0]); \
  }                                                         \
  template <Symbolic T>                                     \
  T name(const T& x, const T& y) {                          \
    return T::word(Word::name, x, y);                       \
  }
#define RICCI_TEST_1(name)             \
  template <Number A>                  \
  bool name(A x) {                     \
    return name(Pack<A>(x)).v[0] != 0; \
  }                                    \
  template <Symbolic T>                \
  Mask<T> name(const T& x) {           \
    return T::test(Word::name, x);     \
  }
#define RICCI_TEST_2(name, symbol)                                          \
  template <class E>                                                        \
  Mask<Pack<E>> name(Pack<E> x, Pack<E> y) {                                \
    return Mask<Pack<E>>((typename Mask<Pack<E>>::vector)(x.v symbol y.v)); \
  }                                                                         \
  template <Number A>                                                       \
  bool name(A x, A y) {                                                     \
    return x symbol y;                                                      \
  }                                                                         \
  template <Symbolic T>                                                     \
  Mask<T> name(const T& x, const T& y) {                                    \
    return T::test(Word::name, x, y);                                       \
  }

// --- Comparison and selection

RICCI_TEST_2(equal, ==)
RICCI_TEST_2(not_equal, !=)
RICCI_TEST_2(less, <)
RICCI_TEST_2(less_equal, <=)
RICCI_TEST_2(greater, >)
RICCI_TEST_2(greater_equal, >=)

/// `yes` where the mask is set, else `no`. Both are computed.
template <class E>
Pack<E> select(Mask<Pack<E>> mask, Pack<E> yes, Pack<E> no) {
  return Pack<E>((typename Pack<E>::vector)(mask.v ? yes.v : no.v));
}
template <int Bytes>
PackMask<Bytes> select(PackMask<Bytes> mask, PackMask<Bytes> yes, PackMask<Bytes> no) {
  return (mask && yes) || (!mask && no);
}
template <Number A>
A select(bool mask, A yes, A no) {
  return mask ? yes : no;
}
template <Symbolic T>
T select(const Mask<T>& mask, const T& yes, const T& no) {
  return T::select(mask, yes, no);
}

template <class M>
auto logical_and(const M& a, const M& b) {
  return a && b;
}
template <class M>
auto logical_or(const M& a, const M& b) {
  return a || b;
}
template <class M>
auto logical_xor(const M& a, const M& b) {
  return (a || b) && !(a && b);
}
template <class M>
auto logical_not(const M& a) {
  return !a;
}

/// Whether x is not 0.
template <class T>
Mask<T> is_true(const T& x) {
  return not_equal(x, T(0));
}

template <class E>
Mask<Pack<E>> isnan(Pack<E> x) {
  return not_equal(x, x);
}
RICCI_TEST_1(isnan)

// --- Signs

template <class E>
Pack<E> abs(Pack<E> x) {
  using B = typename Pack<E>::bit_vector;
  if constexpr (std::is_unsigned_v<E>) return x;
  else if constexpr (Floating<E>) return Pack<E>((typename Pack<E>::vector)((B)x.v & ~(B)Pack<E>(-0.0).v));
  else return select(less(x, Pack<E>(0)), -x, x);
}
RICCI_WORD_1(abs)

template <Floating E>
Pack<E> copysign(Pack<E> magnitude, Pack<E> sign) {
  using B = typename Pack<E>::bit_vector;
  const B sign_bit = (B)Pack<E>(-0.0).v;
  return Pack<E>((typename Pack<E>::vector)(((B)magnitude.v & ~sign_bit) | ((B)sign.v & sign_bit)));
}
RICCI_WORD_2(copysign)

/// -1, 0 or 1; 0 for NaN, as in PyTorch.
template <class E>
Pack<E> sign(Pack<E> x) {
  const Pack<E> zero(0), one(1);
  const Pack<E> positive = select(greater(x, zero), one, zero);
  if constexpr (std::is_unsigned_v<E>) return positive;
  else return select(less(x, zero), -one, positive);
}
RICCI_WORD_1(sign)

template <class E>
Mask<Pack<E>> isinf(Pack<E> x) {
  if constexpr (Floating<E>) return equal(abs(x), Pack<E>(std::numeric_limits<E>::infinity()));
  else return Mask<Pack<E>>(false);
}
template <class E>
Mask<Pack<E>> isfinite(Pack<E> x) {
  if constexpr (Floating<E>) return less(abs(x), Pack<E>(std::numeric_limits<E>::infinity()));
  else return Mask<Pack<E>>(true);
}
RICCI_TEST_1(isinf)
RICCI_TEST_1(isfinite)

/// The smaller and the larger; NaN if either is.
template <class E>
Pack<E> min(Pack<E> a, Pack<E> b) {
  return select(less(a, b) || isnan(a), a, b);
}
template <class E>
Pack<E> max(Pack<E> a, Pack<E> b) {
  return select(greater(a, b) || isnan(a), a, b);
}
RICCI_WORD_2(min)
RICCI_WORD_2(max)

// --- Rounded once

template <Floating E>
RICCI_ALWAYS_INLINE Pack<E> round(Pack<E> x) {
  return Pack<E>(machine::round(x.v));
}
template <Floating E>
RICCI_ALWAYS_INLINE Pack<E> floor(Pack<E> x) {
  return Pack<E>(machine::floor(x.v));
}
template <Floating E>
RICCI_ALWAYS_INLINE Pack<E> ceil(Pack<E> x) {
  return Pack<E>(machine::ceil(x.v));
}
template <Floating E>
RICCI_ALWAYS_INLINE Pack<E> trunc(Pack<E> x) {
  return Pack<E>(machine::trunc(x.v));
}
template <Floating E>
RICCI_ALWAYS_INLINE Pack<E> sqrt(Pack<E> x) {
  return Pack<E>(machine::sqrt(x.v));
}
template <Floating E>
RICCI_ALWAYS_INLINE Pack<E> fma(Pack<E> a, Pack<E> b, Pack<E> c) {
  return Pack<E>(machine::fma(a.v, b.v, c.v));
}
// round: to nearest, half to even. floor and its sisters leave integers alone.
template <Whole E>
Pack<E> round(Pack<E> x) {
  return x;
}
template <Whole E>
Pack<E> floor(Pack<E> x) {
  return x;
}
template <Whole E>
Pack<E> ceil(Pack<E> x) {
  return x;
}
template <Whole E>
Pack<E> trunc(Pack<E> x) {
  return x;
}
template <Whole E>
Pack<E> fma(Pack<E> a, Pack<E> b, Pack<E> c) {
  return a * b + c;
}
RICCI_WORD_1(round)
RICCI_WORD_1(floor)
RICCI_WORD_1(ceil)
RICCI_WORD_1(trunc)
RICCI_WORD_1(sqrt)

/// a * b + c, rounded once.
template <Number A>
A fma(A a, A b, A c) {
  return static_cast<A>(fma(Pack<A>(a), Pack<A>(b), Pack<A>(c))[0]);
}
template <Symbolic T>
T fma(const T& a, const T& b, const T& c) {
  return T::word(Word::fma, a, b, c);
}

template <class T>
auto square(const T& x) {
  return static_cast<T>(x * x);
}
template <class T>
auto reciprocal(const T& x) {
  return T(1) / x;
}
template <class T>
auto rsqrt(const T& x) {
  return T(1) / sqrt(x);
}

// --- Division of integers: PyTorch's roundings; anything over 0 is 0, and the most negative number over -1 wraps.

namespace division {

template <Whole E>
struct Parts {
  Pack<E> quotient, remainder;  // towards zero
};

template <Whole E>
Parts<E> divide(Pack<E> a, Pack<E> b) {
  const Pack<E> zero(0), one(1);
  auto trivial = equal(b, zero);
  if constexpr (std::is_signed_v<E>) trivial = trivial || equal(b, Pack<E>(-1));
  const Pack<E> divisor = select(trivial, one, b);
  const Pack<E> quotient((typename Pack<E>::vector)(a.v / divisor.v));
  const Pack<E> remainder = a - quotient * divisor;
  if constexpr (std::is_same_v<E, bool>) return {a * b, zero};
  else return {select(trivial, select(equal(b, zero), zero, -a), quotient), select(trivial, zero, remainder)};
}

template <class E>
Mask<Pack<E>> opposite(Pack<E> remainder, Pack<E> divisor) {
  const Pack<E> zero(0);
  return not_equal(remainder, zero) && (less(remainder, zero) ^ less(divisor, zero));
}

}  // namespace division

template <Whole E>
Pack<E> trunc_div(Pack<E> a, Pack<E> b) {
  return division::divide(a, b).quotient;
}

template <Whole E>
Pack<E> floor_div(Pack<E> a, Pack<E> b) {
  const auto [quotient, remainder] = division::divide(a, b);
  return select(division::opposite(remainder, b), quotient - Pack<E>(1), quotient);
}

/// The remainder of division towards zero: it has the dividend's sign.
template <Whole E>
Pack<E> fmod(Pack<E> a, Pack<E> b) {
  return division::divide(a, b).remainder;
}

/// The remainder of floor division: it has the divisor's sign, as in Python.
template <Whole E>
Pack<E> remainder(Pack<E> a, Pack<E> b) {
  const Pack<E> rest = division::divide(a, b).remainder;
  return select(division::opposite(rest, b), rest + b, rest);
}

/// By repeated squaring, wrapping; a negative exponent gives 0 except for the bases 1 and -1.
template <Whole E>
Pack<E> pow(Pack<E> base, Pack<E> exponent) {
  const Pack<E> zero(0), one(1);
  Pack<E> result = one, power = base, left = exponent;
  if constexpr (std::is_same_v<E, bool>) return select(is_true(exponent), base, one);
  for (unsigned bit = 0; bit < 8 * sizeof(E); ++bit) {
    const Pack<E> low((typename Pack<E>::vector)(left.v & one.v));
    result = select(is_true(low), result * power, result);
    power = power * power;
    left = Pack<E>((typename Pack<E>::vector)((typename Pack<E>::bit_vector)left.v >> 1));
    if (!any(is_true(left))) break;
  }
  if constexpr (std::is_unsigned_v<E>) return result;
  else {
    const auto unit = equal(base, one) || equal(base, -one);
    return select(less(exponent, zero) && !unit, zero, result);
  }
}

// --- Bits of integers

template <Whole E>
Pack<E> bit_and(Pack<E> a, Pack<E> b) {
  return Pack<E>((typename Pack<E>::vector)(a.v & b.v));
}
template <Whole E>
Pack<E> bit_or(Pack<E> a, Pack<E> b) {
  return Pack<E>((typename Pack<E>::vector)(a.v | b.v));
}
template <Whole E>
Pack<E> bit_xor(Pack<E> a, Pack<E> b) {
  return Pack<E>((typename Pack<E>::vector)(a.v ^ b.v));
}
template <Whole E>
Pack<E> bit_not(Pack<E> a) {
  if constexpr (std::is_same_v<E, bool>) return bit_xor(a, Pack<E>(true));
  else return Pack<E>(~a.v);
}

/// Shifts by less than 0 or by the width and more push every bit out; to the right, the sign stays.
template <Whole E>
Pack<E> left_shift(Pack<E> a, Pack<E> count) {
  const Pack<E> width(8 * sizeof(lane_type<E>));
  auto inside = less(count, width);
  if constexpr (std::is_signed_v<E>) inside = inside && greater_equal(count, Pack<E>(0));
  using B = typename Pack<E>::bit_vector;
  const Pack<E> shifted((typename Pack<E>::vector)((B)a.v << (B)select(inside, count, Pack<E>(0)).v));
  return select(inside, shifted, Pack<E>(0));
}
template <Whole E>
Pack<E> right_shift(Pack<E> a, Pack<E> count) {
  const Pack<E> most(8 * sizeof(lane_type<E>) - (std::is_signed_v<E> ? 1 : 0));
  auto inside = less(count, most);
  if constexpr (std::is_signed_v<E>) inside = inside && greater_equal(count, Pack<E>(0));
  const Pack<E> shifted((typename Pack<E>::vector)(a.v >> select(inside, count, Pack<E>(0)).v));
  if constexpr (std::is_signed_v<E>) return select(inside, shifted, Pack<E>((typename Pack<E>::vector)(a.v >> most.v)));
  else return select(inside, shifted, Pack<E>(0));
}
RICCI_WORD_2(bit_and)
RICCI_WORD_2(bit_or)
RICCI_WORD_2(bit_xor)
RICCI_WORD_1(bit_not)
RICCI_WORD_2(left_shift)
RICCI_WORD_2(right_shift)

}  // namespace RICCI_ISA
}  // namespace ricci::scalar
