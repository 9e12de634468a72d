// The formulas that make numbers of random bits: uniform ones, and by Box and Muller's two normal ones of two words.
// Relative errors of these below 6 * 2^-24 (float) and 6 * 2^-53 (double), in the smallest results too.
// Knows nothing of generators.
#pragma once

#include "kernels/random_philox.h"

namespace ricci::kernels {

template <class U>
struct FloatOf;
template <> struct FloatOf<std::uint32_t> {
  using type = float;
};
template <> struct FloatOf<std::uint64_t> {
  using type = double;
};

/// The words that the formulas are written in, for registers of U. A value that is written down brings its own
/// (random/drawn_scalars.h).
template <class U>
struct Registers {
  using Unsigned = U;
  using Whole = Bits<U>;
  using Float = Pack<typename FloatOf<U>::type>;
  using Signed = typename Pack<std::make_signed_t<U>>::vector;
  using Vector = typename Float::vector;
  static Whole whole(U n) { return Whole{} + n; }
  static Whole shifted(Whole x, int bits) { return x >> bits; }
  static Whole shifted_as_signed(Whole x, int bits) { return (Whole)((Signed)x >> bits); }
  static Float of_unsigned(Whole x) { return Float(__builtin_convertvector(x, Vector)); }
  static Float of_signed(Whole x) { return Float(__builtin_convertvector((Signed)x, Vector)); }
  static Whole bits(Float x) { return (Whole)x.v; }
  static Float of_bits(Whole x) { return Float((Vector)x); }
  static auto is_at_least(Whole x, U bound) { return x >= bound; }
  static auto is_not_zero(Whole x) { return x != 0; }
  template <class Mask>
  static Float select(Mask mask, Float yes, Float no) {
    return Float(mask ? yes.v : no.v);
  }
};

/// A multiple of 2^-Digits in [0, 1), of the highest bits of x.
template <int Digits, class W>
RICCI_ALWAYS_INLINE typename W::Float uniform(typename W::Whole x) {
  using F = typename W::Float;
  constexpr int bits = 8 * sizeof(typename W::Unsigned);
  return W::of_signed(W::shifted(x, bits - Digits)) * F(1 / static_cast<double>(std::uint64_t{1} << Digits));
}

// Coefficients: Chebyshev interpolation; relative errors below 2^-24 and 2^-53.

/// log(1 + f) for f in [-1/4, 1/2].
template <class P>
  requires std::is_same_v<typename P::element, float>
RICCI_ALWAYS_INLINE P log_near_one(P f) {
  P q(-0.051475917554351987518);
  for (const double c :
       {0.10896314393057356177, -0.13061415321604616395, 0.14382317375519056566, -0.16649448383010240693,
        0.19996874062453620769, -0.25000144076144829832, 0.33333346316681450395})
    q = scalar::fma(q, f, P(c));
  const P square = f * f;
  return scalar::fma(square, scalar::fma(q, f, P(-0.5)), f);
}
template <class P>
  requires std::is_same_v<typename P::element, double>
RICCI_ALWAYS_INLINE P log_near_one(P f) {
  const P s = f / (f + P(2.0)), z = s * s;
  P q(0.1538700299827247222);
  for (const double c : {0.15247352914447824664, 0.18186527068251933255, 0.22222133251303574861, 0.28571429481529044782,
                         0.39999999995436851274, 0.66666666666675370798})
    q = scalar::fma(q, z, P(c));
  // 2 s is f - s f, in which f is exact.
  return f - s * (f - z * q);
}

/// sin(pi/2 f) / f and cos(pi/2 f) at z = f^2 for f in [-1/2, 1/2].
template <class P>
RICCI_ALWAYS_INLINE P sine_ratio(P z) {
  if constexpr (std::is_same_v<typename P::element, float>) {
    P p(-0.0046021492128141759311);
    for (const double c : {0.079680217647755413373, -0.6459634776648117955, 1.5707963219532366854})
      p = scalar::fma(p, z, P(c));
    return p;
  } else {
    P p(5.6339337815378539538e-8);
    for (const double c : {-3.598643352982309702e-6, 0.00016044115074219091052, -0.0046817541323409759917,
                           0.079692626246043003134, -0.64596409750624431573, 1.5707963267948966143})
      p = scalar::fma(p, z, P(c));
    return p;
  }
}
template <class P>
RICCI_ALWAYS_INLINE P cosine(P z) {
  if constexpr (std::is_same_v<typename P::element, float>) {
    P p(0.0009036280663802504916);
    for (const double c : {-0.02086006950026407703, 0.25366920365511347511, -1.2337005406331622196, 1.0})
      p = scalar::fma(p, z, P(c));
    return p;
  } else {
    P p(-6.3212568696285884105e-9);
    for (const double c : {4.7106097267578230119e-7, -0.000025202036770460258445, 0.00091926027418315572082,
                           -0.020863480763311209103, 0.2536695079010467091, -1.2337005501361698118, 1.0})
      p = scalar::fma(p, z, P(c));
    return p;
  }
}

template <class U>
struct Layout;
template <>
struct Layout<std::uint32_t> {
  static constexpr int mantissa_bits = 23;
  static constexpr std::uint32_t three_quarters = 0x3f400000U;  // as a float
  static constexpr float unit = 0x1p-32F;
};
template <>
struct Layout<std::uint64_t> {
  static constexpr int mantissa_bits = 52;
  static constexpr std::uint64_t three_quarters = 0x3fe8000000000000U;
  static constexpr double unit = 0x1p-64;
};

/// sqrt(-2 log u) for u = (x + 1/2) / 2^bits, accurate at both ends: near 1 by 1 - u, which is exact.
template <class W>
RICCI_ALWAYS_INLINE typename W::Float radius(typename W::Whole x) {
  using U = typename W::Unsigned;
  using L = Layout<U>;
  using F = typename W::Float;
  constexpr int bits = 8 * sizeof(U);
  const auto near_one = W::is_at_least(x, U{3} << (bits - 2));
  const F up = W::of_unsigned(x) + F(0.5), rest = W::of_unsigned(~x) + F(0.5);
  const auto exponent = W::shifted_as_signed(W::bits(up) - W::whole(L::three_quarters), L::mantissa_bits);
  const F mantissa = W::of_bits(W::bits(up) - (exponent << L::mantissa_bits));  // in [3/4, 3/2)
  const F f = W::select(near_one, rest * F(-L::unit), mantissa - F(1));
  const F power = W::select(near_one, F(0), W::of_signed(exponent - W::whole(bits)));
  const F log = scalar::fma(power, F(0.69314718055994530942), log_near_one(f));
  return scalar::sqrt(F(-2) * log);
}

/// Turns x and y into the bits of the two coordinates.
template <class W>
RICCI_ALWAYS_INLINE void box_muller_words(typename W::Whole& x, typename W::Whole& y) {
  using U = typename W::Unsigned;
  using F = typename W::Float;
  constexpr int bits = 8 * sizeof(U);
  const auto sign = W::whole(U{1} << (bits - 1)), half_quarter = W::whole(U{1} << (bits - 3)),
             quarter = W::whole(U{1} << (bits - 2));
  const F r = radius<W>(x);
  // y / 2^bits turns: a quarter, in the two highest bits after rounding, and f of a quarter.
  const F f = W::of_signed(y << 2) * F(Layout<U>::unit);
  const auto rounded = y + half_quarter;
  const F z = f * f, s = f * sine_ratio(z), c = cosine(z);
  const auto swapped = W::is_not_zero(rounded & quarter);
  const F sine = W::select(swapped, c, s), turned = W::select(swapped, s, c);
  x = W::bits(r * turned) ^ ((rounded + quarter) & sign);
  y = W::bits(r * sine) ^ (rounded & sign);
}
template <class U>
RICCI_ALWAYS_INLINE void box_muller(Bits<U>& x, Bits<U>& y) {
  box_muller_words<Registers<U>>(x, y);
}

}  // namespace ricci::kernels
