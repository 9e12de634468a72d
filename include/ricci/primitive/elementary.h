// The transcendental words. exp, expm1, log, sin, cos and tanh are our own formulas, written in the words of
// arithmetic.h, so they inline into loops and a compiler backend can emit the very same steps; the rest is SLEEF.
// Knows nothing of complex numbers. Errors are in units in the last place, measured in elementwise_test.cpp.
#pragma once

#include <cmath>

#include "ricci/primitive/arithmetic.h"
#include "ricci/primitive/sleef.h"

namespace ricci::scalar {
inline namespace RICCI_ISA {

// --- Steps that the formulas are made of; they need fused multiply-add, as x86-64-v3 and ARM have.

#if RICCI_PACK_FMA

/// Bit layout of a floating element.
template <class E>
struct Layout;
template <>
struct Layout<float> {
  static constexpr int mantissa_bits = 23, bias = 127;
  static constexpr double integer_shift = 0x1.8p23, two_to_mantissa_bits = 0x1p23, smallest_normal = 0x1p-126;
};
template <>
struct Layout<double> {
  static constexpr int mantissa_bits = 52, bias = 1023;
  static constexpr double integer_shift = 0x1.8p52, two_to_mantissa_bits = 0x1p52, smallest_normal = 0x1p-1022;
};

template <class E>
Pack<E> from_bits(typename Pack<E>::bit_vector bits) {
  return Pack<E>((typename Pack<E>::vector)bits);
}
template <class E>
typename Pack<E>::bit_vector to_bits(Pack<E> x) {
  return (typename Pack<E>::bit_vector)x.v;
}

/// x with its sign turned where `by` is negative (-0 included).
template <Floating E>
Pack<E> flip_sign(Pack<E> x, Pack<E> by) {
  return from_bits<E>(to_bits(x) ^ (to_bits(by) & to_bits(Pack<E>(-0.0))));
}

/// -0 where the integral value n is odd, else 0. Requires |n| < 2^22 (float) or 2^51.
template <Floating E>
Pack<E> odd_sign(Pack<E> n) {
  return from_bits<E>(to_bits(n + Pack<E>(Layout<E>::integer_shift)) << (8 * sizeof(E) - 1));
}

/// The smaller and the larger; b if either is NaN. One instruction each, where min and max take four.
template <Floating E>
Pack<E> smaller(Pack<E> a, Pack<E> b) {
  return Pack<E>(machine::smaller(a.v, b.v));
}
template <Floating E>
Pack<E> larger(Pack<E> a, Pack<E> b) {
  return Pack<E>(machine::larger(a.v, b.v));
}

/// 2^n. Requires n integral and 2^n normal.
template <Floating E>
Pack<E> power_of_two(Pack<E> n) {
  return from_bits<E>(to_bits(n + Pack<E>(Layout<E>::integer_shift + Layout<E>::bias)) << Layout<E>::mantissa_bits);
}
/// x * 2^n for integral n. Requires |n| < 2 * bias.
template <Floating E>
Pack<E> scale(Pack<E> x, Pack<E> n) {
  if constexpr (machine::knows_exponents) return Pack<E>(machine::scale(x.v, n.v));
  const Pack<E> half = floor(n * Pack<E>(0.5));
  return x * power_of_two(half) * power_of_two(n - half);
}
/// floor(log2 |x|): -inf for 0, inf for inf.
template <Floating E>
Pack<E> exponent(Pack<E> x) {
  if constexpr (machine::knows_exponents) return Pack<E>(machine::exponent(x.v));
  using L = Layout<E>;
  const Pack<E> size = abs(x), shift(L::two_to_mantissa_bits), inf(std::numeric_limits<E>::infinity());
  const auto subnormal = less(size, Pack<E>(L::smallest_normal));
  const auto bits = to_bits(select(subnormal, size * shift, size)) >> L::mantissa_bits;
  const Pack<E> biased = from_bits<E>(bits | to_bits(shift)) - shift;
  const Pack<E> e = biased - select(subnormal, Pack<E>(L::bias + L::mantissa_bits), Pack<E>(L::bias));
  return select(equal(size, Pack<E>(0)), -inf, select(less(size, inf), e, size));
}
/// x / 2^exponent(x), in [1, 2); 1 for 0 and inf, NaN for negative x.
template <Floating E>
Pack<E> mantissa(Pack<E> x) {
  if constexpr (machine::knows_exponents) return Pack<E>(machine::mantissa(x.v));
  using L = Layout<E>;
  const Pack<E> one(1);
  const Pack<E> normal = select(less(x, Pack<E>(L::smallest_normal)), x * Pack<E>(L::two_to_mantissa_bits), x);
  const auto ones = ~typename Pack<E>::bit_vector{} >> (8 * sizeof(E) - Layout<E>::mantissa_bits);
  const Pack<E> fraction = from_bits<E>((to_bits(normal) & ones) | to_bits(one));
  const Pack<E> result = select(equal(x, Pack<E>(0)), one, fraction);
  return select(greater_equal(x, Pack<E>(0)), result, Pack<E>(std::numeric_limits<E>::quiet_NaN()));
}

template <Symbolic T>
T flip_sign(const T& x, const T& by) {
  return T::word(Word::flip_sign, x, by);
}
template <Symbolic T>
T odd_sign(const T& n) {
  return T::word(Word::odd_sign, n);
}
template <Symbolic T>
T smaller(const T& a, const T& b) {
  return T::word(Word::smaller, a, b);
}
template <Symbolic T>
T larger(const T& a, const T& b) {
  return T::word(Word::larger, a, b);
}
template <Symbolic T>
T scale(const T& x, const T& n) {
  return T::word(Word::scale, x, n);
}
template <Symbolic T>
T exponent(const T& x) {
  return T::word(Word::exponent, x);
}
template <Symbolic T>
T mantissa(const T& x) {
  return T::word(Word::mantissa, x);
}

#endif

}  // namespace RICCI_ISA

#if RICCI_PACK_FMA
namespace elementary {
inline namespace RICCI_ISA {

// The formulas, for any T with the words above and an element type `T::element`, float or double. Coefficients are
// minimax fits by Sollya's fpminimax.

template <class T>
inline constexpr bool single = std::is_same_v<typename T::element, float>;

template <class T>
RICCI_ALWAYS_INLINE T horner(const T&, const T&, double c0) {
  return T(c0);
}
template <class T>
RICCI_ALWAYS_INLINE T horner(const T& x, const T&, double c0, double c1) {
  return fma(T(c1), x, T(c0));
}
template <class T, class... C>
RICCI_ALWAYS_INLINE T horner(const T& x, const T& x2, double c0, double c1, C... rest) {
  return fma(horner(x, x2, rest...), x2, fma(T(c1), x, T(c0)));
}
/// c0 + c1 x + c2 x^2 + …, in pairs: half the latency of Horner's rule.
template <class T, class... C>
RICCI_ALWAYS_INLINE T polynomial(const T& x, C... coefficients) {
  return horner(x, x * x, coefficients...);
}

/// x limited to [low, high]; NaN stays.
template <class T>
RICCI_ALWAYS_INLINE T clamp(const T& x, double low, double high) {
  return smaller(T(high), larger(T(low), x));
}

/// x = n ln 2 + r with |r| <= ln(2) / 2, and tail = exp(r) - 1.
template <class T>
struct ExpParts {
  T n, tail;
};

template <class T>
RICCI_ALWAYS_INLINE ExpParts<T> exp_parts(const T& x) {
  const T n = round(x * T(1.442695040888963407));
  if constexpr (single<T>) {
    const T r = fma(n, T(0x1.05c61p-29), fma(n, T(-0x1.62e43p-1), x));
    const T q =
        polynomial(r, 0.5, 0.16666667163372039794921875, 4.16665114462375640869140625e-2,
                   8.333199657499790191650390625e-3, 1.3930499553680419921875e-3, 1.9951045396737754344940185546875e-4);
    return {n, fma(r * r, q, r)};
  } else {
    const T r = fma(n, T(-0x1.abc9e3b39803fp-56), fma(n, T(-0x1.62e42fefa39efp-1), x));
    const T q = polynomial(r, 0.5, 0.1666666666666667129259593593815225176513195037841796875,
                           4.166666666666664353702032030923874117434024810791015625e-2,
                           8.33333333332590339703743699273676082731783390045166015625e-3,
                           1.3888888888905046199717663313322191243059933185577392578125e-3,
                           1.984126987538123497532144279276167253556195646524429321289062e-4,
                           2.480158727186730069141570866465480079874828647077083587646484e-5,
                           2.755725486152800141932553770751646027292736107483506202697754e-6,
                           2.75573269207262210830536959191294776871927751926705241203308e-7,
                           2.510539630162697268893347258503917496241797380207572132349014e-8,
                           2.089646724010509083679315868431990155240640660849749110639095e-9);
    return {n, fma(r * r, q, r)};
  }
}

template <class T>
RICCI_ALWAYS_INLINE T exp(const T& x) {
  const auto [n, tail] = exp_parts(single<T> ? clamp(x, -104, 89) : clamp(x, -746, 710));
  return scale(tail + T(1), n);
}

/// exp(x) - 1. Requires: 2^n is finite.
template <class T>
RICCI_ALWAYS_INLINE T expm1(const ExpParts<T>& x, const T& n) {
  const T power = scale(T(1), n);
  return fma(power, x.tail, power - T(1));
}

template <class T>
RICCI_ALWAYS_INLINE T expm1(const T& x) {
  const ExpParts<T> parts = exp_parts(single<T> ? clamp(x, -20, 89) : clamp(x, -40, 710));
  const T n = smaller(T(single<T> ? 127 : 1023), parts.n);
  return copysign(scale(expm1(parts, n), parts.n - n), x);
}

template <class T>
RICCI_ALWAYS_INLINE T tanh(const T& x) {
  const T size = abs(x), capped = smaller(T(single<T> ? 10 : 20), size);
  const ExpParts<T> parts = exp_parts(capped + capped);
  const T e = expm1(parts, parts.n);
  return flip_sign(e / (e + T(2)), x);
}

template <class T>
RICCI_ALWAYS_INLINE T log(const T& x) {
  const T m = mantissa(x), e = exponent(x);
  const auto upper = greater_equal(m, T(1.5));
  const T power = select(upper, e + T(1), e);
  const T f = select(upper, m * T(0.5), m) - T(1);  // in [-0.25, 0.5)
  const T f2 = f * f;
  if constexpr (single<T>) {
    const T q =
        polynomial(f, 0.3333333432674407958984375, -0.2500005662441253662109375, 0.20000033080577850341796875,
                   -0.16660691797733306884765625, 0.1427088081836700439453125, -0.126451313495635986328125,
                   0.116650037467479705810546875, -9.5015309751033782958984375e-2, 4.2382128536701202392578125e-2);
    const T small = fma(f * f2, q, power * T(0x1.fdf474p-25));
    return fma(power, T(0x1.62e42ep-1), f - fma(T(0.5), f2, -small));
  } else {
    const T s = f / (f + T(2)), z = s * s, half_f2 = f2 * T(0.5);
    const T series = z * polynomial(z, 0.66666666666666662965923251249478198587894439697265625,
                                    0.40000000000009094947017729282379150390625,
                                    0.285714285669596945727022330174804665148258209228515625,
                                    0.222222230864312642051320416970537300221920390338897705078125,
                                    0.18181735278578603498544907779432833194732666015625,
                                    0.1538894517158208852247724962580832652747631072998046875,
                                    0.1320841181571749956003003490199968250505626201629638671875,
                                    0.1361770991521248086453255154992802999913692474365234375);
    const T small = fma(s, half_f2 + series, power * T(0x1.abc9e3b39803fp-56));
    return fma(power, T(0x1.62e42fefa39efp-1), f - (half_f2 - small));
  }
}

/// sin(r + low) for |r| <= pi / 2 and a much smaller low. Exactly 1 at pi / 2.
template <class T>
RICCI_ALWAYS_INLINE T sin_near_zero(const T& r, const T& low) {
  const T s = r * r;
  if constexpr (single<T>) {
    const T p = polynomial(s, -0.16666667163372039794921875, 8.3333589136600494384765625e-3,
                           -1.98448295122943818569183349609375e-4, 2.773613005047081969678401947021484375e-6,
                           -2.764287465595316461985930800437927246e-8);
    return r + fma(s * r, p, low);
  } else {
    const T p =
        polynomial(s, -0x1.5555555555555p-3, 0x1.11111111110b6p-7, -0x1.a01a01a0136adp-13, 0x1.71de3a51d5306p-19,
                   -0x1.ae645465dd98p-26, 0x1.6123ade5a91e6p-33, -0x1.ae3ac143172bap-41, 0x1.8738e6acd2bc1p-49);
    return r + fma(s * r, p, low);
  }
}

/// sin(size - n pi).
template <class T>
RICCI_ALWAYS_INLINE T sin_reduced(const T& size, const T& n) {
  constexpr bool f = single<T>;
  const T r =
      fma(n, T(f ? 0x1.777a5cp-24 : -0x1.1a62633145c07p-53), fma(n, T(f ? -0x1.921fb6p1 : -0x1.921fb54442d18p1), size));
  return sin_near_zero(r, n * T(f ? 0x1.ee59dap-49 : 0x1.f1976b7ed8fbcp-109));
}

/// Beyond this size of x, sin and cos need another reduction of the argument.
template <class E>
inline constexpr double circular_limit = std::is_same_v<E, float> ? 1e5 : 1e7;

/// Requires |x| <= circular_limit or NaN.
template <class T>
RICCI_ALWAYS_INLINE T sin(const T& x) {
  const T size = abs(x), n = round(size * T(0.318309886183790671537767526745));
  return flip_sign(flip_sign(sin_reduced(size, n), odd_sign(n)), x);
}
template <class T>
RICCI_ALWAYS_INLINE T cos(const T& x) {
  const T size = abs(x), n = round(fma(size, T(0.318309886183790671537767526745), T(-0.5)));
  return flip_sign(sin_reduced(size, n + T(0.5)), odd_sign(n + T(1)));
}

}  // namespace RICCI_ISA
}  // namespace elementary
#endif

inline namespace RICCI_ISA {

#if RICCI_PACK_FMA
#define RICCI_OWN_1(word)       \
  template <Floating E>         \
  Pack<E> word(Pack<E> x) {     \
    return elementary::word(x); \
  }
RICCI_OWN_1(exp)
RICCI_OWN_1(expm1)
RICCI_OWN_1(log)
RICCI_OWN_1(tanh)
#undef RICCI_OWN_1
#else
RICCI_SLEEF_DECLARE_1(exp, "exp", "u10")
RICCI_SLEEF_1(expm1, "expm1", "u10")
RICCI_SLEEF_1(log, "log", "u10")
RICCI_SLEEF_1(tanh, "tanh", "u10")
#endif

// SLEEF's circular functions reduce all lanes of a pack by what the largest needs. So that each lane's result depends
// on that lane alone, they see only arguments below sleef_circular_limit together and the others one by one.
RICCI_SLEEF_DECLARE_1(sin, "sin", "u10")
RICCI_SLEEF_DECLARE_1(cos, "cos", "u10")
RICCI_SLEEF_DECLARE_1(tan, "tan", "u10")

template <class E>
inline constexpr double sleef_circular_limit = std::is_same_v<E, float> ? 125 : 15;

/// y, with f(x) in the lanes of `rare`, where all lanes hold the same x when f is called.
template <class E, class F>
[[gnu::noinline]] Pack<E> redo_lanes(Mask<Pack<E>> rare, Pack<E> x, Pack<E> y, F f) {
  for (int i = 0; i < Pack<E>::lanes; ++i) {
    if (rare.v[i]) y.v[i] = f(Pack<E>(x.v[i]).v)[i];
  }
  return y;
}

/// `f` of SLEEF, lane by lane where it must be.
template <class E, class F>
RICCI_ALWAYS_INLINE Pack<E> circular(Pack<E> x, F f) {
  const Pack<E> limit(sleef_circular_limit<E>), size = abs(x);
  const auto rare = greater_equal(size, limit);
  const Pack<E> y = select(isnan(x), x, Pack<E>(f(select(less(size, limit), x, Pack<E>(0)).v)));
  return any(rare) ? redo_lanes(rare, x, y, f) : y;
}

#if !RICCI_PACK_FMA
/// SLEEF's is infinite a little too early.
template <Floating E>
Pack<E> exp(Pack<E> x) {
  const Pack<E> y(sleef::exp(x.v));
  const auto rare = logical_and(greater(x, Pack<E>(0)), isinf(y));
  return any(rare) ? select(rare, square(Pack<E>(sleef::exp((x * Pack<E>(0.5)).v))), y) : y;
}
#endif

template <Floating E>
Pack<E> tan(Pack<E> x) {
  return circular(x, [](auto v) { return sleef::tan(v); });
}
#if RICCI_PACK_FMA
template <Floating E>
Pack<E> sin(Pack<E> x) {
  const auto rare = greater(abs(x), Pack<E>(elementary::circular_limit<E>));
  const Pack<E> y = elementary::sin(x);
  if (any(rare)) [[unlikely]]
    return redo_lanes(rare, x, y, [](auto v) { return sleef::sin(v); });
  return y;
}
template <Floating E>
Pack<E> cos(Pack<E> x) {
  const auto rare = greater(abs(x), Pack<E>(elementary::circular_limit<E>));
  const Pack<E> y = elementary::cos(x);
  if (any(rare)) [[unlikely]]
    return redo_lanes(rare, x, y, [](auto v) { return sleef::cos(v); });
  return y;
}
#else
template <Floating E>
Pack<E> sin(Pack<E> x) {
  return circular(x, [](auto v) { return sleef::sin(v); });
}
template <Floating E>
Pack<E> cos(Pack<E> x) {
  return circular(x, [](auto v) { return sleef::cos(v); });
}
#endif

RICCI_SLEEF_1(exp2, "exp2", "u10")
RICCI_SLEEF_1(log2, "log2", "u10")
RICCI_SLEEF_1(log10, "log10", "u10")
RICCI_SLEEF_1(asin, "asin", "u10")
RICCI_SLEEF_1(acos, "acos", "u10")
RICCI_SLEEF_1(atan, "atan", "u10")
RICCI_SLEEF_1(atanh, "atanh", "u10")
RICCI_SLEEF_1(cbrt, "cbrt", "u10")
RICCI_SLEEF_1(erf, "erf", "u10")
RICCI_SLEEF_1(erfc, "erfc", "u15")
RICCI_SLEEF_DECLARE_1(lgamma, "lgamma", "u10")
RICCI_SLEEF_2(atan2, "atan2", "u10")
RICCI_SLEEF_2(hypot, "hypot", "u05")
RICCI_SLEEF_DECLARE_2(pow, "pow", "u10")
RICCI_SLEEF_DECLARE_2(fmod, "fmod", "")

// SLEEF's hyperbolic functions and log1p give infinity before their results do: at the upper end they are logarithms
// and exponentials.
RICCI_SLEEF_DECLARE_1(log1p, "log1p", "u10")
RICCI_SLEEF_DECLARE_1(sinh, "sinh", "u10")
RICCI_SLEEF_DECLARE_1(cosh, "cosh", "u10")
RICCI_SLEEF_DECLARE_1(asinh, "asinh", "u10")
RICCI_SLEEF_DECLARE_1(acosh, "acosh", "u10")

template <class E>
inline constexpr double exponential_limit = std::is_same_v<E, float> ? 88 : 709;

/// exp(x) / 2 for x near where exp(x) overflows: exp(x - 1) times e / 2, which takes two numbers.
template <Floating E>
Pack<E> half_exp(Pack<E> x) {
  constexpr bool f = std::is_same_v<E, float>;
  const Pack<E> lower = exp(x - Pack<E>(1)), factor(f ? 0x1.5bf0a80000000p+0 : 0x1.5bf0a8b145769p+0),
                rest(f ? 0x1.628aee0000000p-25 : 0x1.4d57ee2b1013ap-54);
  return fma(lower, factor, lower * rest);
}

template <Floating E>
Pack<E> sinh(Pack<E> x) {
  const Pack<E> y(sleef::sinh(x.v)), size = abs(x);
  const auto large = greater(size, Pack<E>(exponential_limit<E>));
  if (any(large)) [[unlikely]]
    return select(large, copysign(half_exp(size), x), y);
  return y;
}
template <Floating E>
Pack<E> cosh(Pack<E> x) {
  const Pack<E> y(sleef::cosh(x.v)), size = abs(x);
  const auto large = greater(size, Pack<E>(exponential_limit<E>));
  if (any(large)) [[unlikely]]
    return select(large, half_exp(size), y);
  return y;
}
template <Floating E>
Pack<E> asinh(Pack<E> x) {
  const Pack<E> y(sleef::asinh(x.v)), size = abs(x);
  const auto large = greater(size, Pack<E>(0x1p60));
  if (any(large)) [[unlikely]]
    return select(large, copysign(log(size) + Pack<E>(0.693147180559945309417), x), y);
  return y;
}
template <Floating E>
Pack<E> acosh(Pack<E> x) {
  const Pack<E> y(sleef::acosh(x.v));
  const auto large = greater(x, Pack<E>(0x1p60));
  if (any(large)) [[unlikely]]
    return select(large, log(x) + Pack<E>(0.693147180559945309417), y);
  return y;
}
template <Floating E>
Pack<E> log1p(Pack<E> x) {
  const Pack<E> y(sleef::log1p(x.v));
  const auto large = greater(x, Pack<E>(0x1p60));
  if (any(large)) [[unlikely]]
    return select(large, log(x), y);
  return y;
}

RICCI_WORD_1(exp)
RICCI_WORD_1(expm1)
RICCI_WORD_1(log)
RICCI_WORD_1(tanh)
RICCI_WORD_1(sin)
RICCI_WORD_1(cos)
RICCI_WORD_1(exp2)
RICCI_WORD_1(log2)
RICCI_WORD_1(log10)
RICCI_WORD_1(log1p)
RICCI_WORD_1(tan)
RICCI_WORD_1(asin)
RICCI_WORD_1(acos)
RICCI_WORD_1(atan)
RICCI_WORD_1(sinh)
RICCI_WORD_1(cosh)
RICCI_WORD_1(asinh)
RICCI_WORD_1(acosh)
RICCI_WORD_1(atanh)
RICCI_WORD_1(cbrt)
RICCI_WORD_1(erf)
RICCI_WORD_1(erfc)
RICCI_WORD_2(atan2)
RICCI_WORD_2(hypot)

/// SLEEF's doubles are infinite a little before their power is: those lanes are the C library's.
template <Floating E>
Pack<E> pow(Pack<E> x, Pack<E> exponent) {
  Pack<E> y(sleef::pow(x.v, exponent.v));
  if constexpr (std::is_same_v<E, double>) {
    const auto infinite = isinf(y) && isfinite(x) && isfinite(exponent) && not_equal(x, Pack<E>(0));
    if (any(infinite)) [[unlikely]] {
      for (int i = 0; i < Pack<E>::lanes; ++i) {
        if (infinite.v[i]) y.v[i] = std::pow(x.v[i], exponent.v[i]);
      }
    }
  }
  return y;
}

/// The remainder of division towards zero, which is exact. SLEEF's knows no quotient near the largest number: those
/// lanes are the C library's.
template <Floating E>
Pack<E> fmod(Pack<E> a, Pack<E> b) {
  Pack<E> y(sleef::fmod(a.v, b.v));
  const auto large = greater(abs(a / b), Pack<E>(std::is_same_v<E, float> ? 0x1p100 : 0x1p900)) && isfinite(a) &&
                     not_equal(b, Pack<E>(0));
  if (any(large)) [[unlikely]] {
    for (int i = 0; i < Pack<E>::lanes; ++i) {
      if (large.v[i]) y.v[i] = std::fmod(a.v[i], b.v[i]);
    }
  }
  return y;
}

// Floating division with a rounded quotient, as in PyTorch.

template <Floating E>
Pack<E> remainder(Pack<E> a, Pack<E> b) {
  const Pack<E> rest = fmod(a, b);
  return select(division::opposite(rest, b), rest + b, rest);
}
template <Floating E>
Pack<E> trunc_div(Pack<E> a, Pack<E> b) {
  return trunc(a / b);
}
/// The quotient may have been rounded up to an integer: then the remainder has the other sign than b. NaN for infinite
/// a, as in Python.
template <Floating E>
Pack<E> floor_div(Pack<E> a, Pack<E> b) {
  const Pack<E> zero(0), ratio = a / b, down = floor(ratio);
  const Pack<E> rest = select(equal(down, zero), a, fma(-down, b, a));  // b may be infinite
  const Pack<E> whole = select(division::opposite(rest, b), down - Pack<E>(1), down);
  const Pack<E> finite = select(isinf(a), Pack<E>(std::numeric_limits<E>::quiet_NaN()), whole);
  return select(equal(b, zero), ratio, finite);
}
RICCI_WORD_2(pow)
RICCI_WORD_2(fmod)
RICCI_WORD_2(remainder)
RICCI_WORD_2(trunc_div)
RICCI_WORD_2(floor_div)

}  // namespace RICCI_ISA
}  // namespace ricci::scalar
