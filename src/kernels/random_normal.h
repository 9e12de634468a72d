// The formula of Box and Muller on vectors of random bits: two uniform numbers become two normal ones.
// Relative errors below 6 * 2^-24 (float) and 6 * 2^-53 (double), in the smallest results too.
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

// Coefficients: Chebyshev interpolation; relative errors below 2^-24 and 2^-53.

/// log(1 + f) for f in [-1/4, 1/2].
RICCI_ALWAYS_INLINE Pack<float> log_near_one(Pack<float> f) {
  using P = Pack<float>;
  P q(-0.051475917554351987518);
  for (const double c :
       {0.10896314393057356177, -0.13061415321604616395, 0.14382317375519056566, -0.16649448383010240693,
        0.19996874062453620769, -0.25000144076144829832, 0.33333346316681450395})
    q = fma(q, f, P(c));
  const P square = f * f;
  return fma(square, fma(q, f, P(-0.5)), f);
}
RICCI_ALWAYS_INLINE Pack<double> log_near_one(Pack<double> f) {
  using P = Pack<double>;
  const P s = f / (f + P(2.0)), z = s * s;
  P q(0.1538700299827247222);
  for (const double c : {0.15247352914447824664, 0.18186527068251933255, 0.22222133251303574861, 0.28571429481529044782,
                         0.39999999995436851274, 0.66666666666675370798})
    q = fma(q, z, P(c));
  // 2 s is f - s f, in which f is exact.
  return f - s * (f - z * q);
}

/// sin(pi/2 f) / f and cos(pi/2 f) at z = f^2 for f in [-1/2, 1/2].
template <class E>
RICCI_ALWAYS_INLINE Pack<E> sine_ratio(Pack<E> z) {
  using P = Pack<E>;
  if constexpr (std::is_same_v<E, float>) {
    P p(-0.0046021492128141759311);
    for (const double c : {0.079680217647755413373, -0.6459634776648117955, 1.5707963219532366854}) p = fma(p, z, P(c));
    return p;
  } else {
    P p(5.6339337815378539538e-8);
    for (const double c : {-3.598643352982309702e-6, 0.00016044115074219091052, -0.0046817541323409759917,
                           0.079692626246043003134, -0.64596409750624431573, 1.5707963267948966143})
      p = fma(p, z, P(c));
    return p;
  }
}
template <class E>
RICCI_ALWAYS_INLINE Pack<E> cosine(Pack<E> z) {
  using P = Pack<E>;
  if constexpr (std::is_same_v<E, float>) {
    P p(0.0009036280663802504916);
    for (const double c : {-0.02086006950026407703, 0.25366920365511347511, -1.2337005406331622196, 1.0})
      p = fma(p, z, P(c));
    return p;
  } else {
    P p(-6.3212568696285884105e-9);
    for (const double c : {4.7106097267578230119e-7, -0.000025202036770460258445, 0.00091926027418315572082,
                           -0.020863480763311209103, 0.2536695079010467091, -1.2337005501361698118, 1.0})
      p = fma(p, z, P(c));
    return p;
  }
}

template <class U>
struct Layout;
template <>
struct Layout<std::uint32_t> {
  using Signed = std::int32_t;
  static constexpr int mantissa_bits = 23;
  static constexpr std::uint32_t three_quarters = 0x3f400000U;  // as a float
  static constexpr float unit = 0x1p-32F;
};
template <>
struct Layout<std::uint64_t> {
  using Signed = std::int64_t;
  static constexpr int mantissa_bits = 52;
  static constexpr std::uint64_t three_quarters = 0x3fe8000000000000U;
  static constexpr double unit = 0x1p-64;
};

/// sqrt(-2 log u) for u = (x + 1/2) / 2^bits, accurate at both ends: near 1 by 1 - u, which is exact.
template <class U>
RICCI_ALWAYS_INLINE auto radius(Bits<U> x) {
  using L = Layout<U>;
  using E = typename FloatOf<U>::type;
  using P = Pack<E>;
  using V = typename P::vector;
  using S = typename Pack<typename L::Signed>::vector;
  constexpr int bits = 8 * sizeof(U);
  const auto near_one = x >= (U{3} << (bits - 2));
  const P up(__builtin_convertvector(x, V) + E(0.5)), rest(__builtin_convertvector(~x, V) + E(0.5));
  const S exponent = ((S)up.v - static_cast<typename L::Signed>(L::three_quarters)) >> L::mantissa_bits;
  const V mantissa = (V)((S)up.v - (exponent << L::mantissa_bits));  // in [3/4, 3/2)
  const P f(near_one ? rest.v * -L::unit : mantissa - E(1));
  const P power(near_one ? V{} : __builtin_convertvector(exponent - bits, V));
  const P log = fma(power, P(0.69314718055994530942), log_near_one(f));
  return scalar::sqrt(P(E(-2)) * log);
}

/// Turns x and y into the two coordinates.
template <class U>
RICCI_ALWAYS_INLINE void box_muller(Bits<U>& x, Bits<U>& y) {
  using L = Layout<U>;
  using E = typename FloatOf<U>::type;
  using P = Pack<E>;
  using V = typename P::vector;
  using S = typename Pack<typename L::Signed>::vector;
  constexpr int bits = 8 * sizeof(U);
  constexpr U sign = U{1} << (bits - 1), half_quarter = U{1} << (bits - 3), quarter = U{1} << (bits - 2);
  const P r = radius<U>(x);
  // y / 2^bits turns: a quarter, in the two highest bits after rounding, and f of a quarter.
  const P f(__builtin_convertvector((S)(y << 2), V) * L::unit);
  const Bits<U> rounded = y + half_quarter;
  const P z = f * f, s = f * sine_ratio(z), c = cosine(z);
  const auto swapped = (rounded & quarter) != 0;
  const P sine(swapped ? c.v : s.v), cosine(swapped ? s.v : c.v);
  x = (Bits<U>)(r * cosine).v ^ ((rounded + quarter) & sign);
  y = (Bits<U>)(r * sine).v ^ (rounded & sign);
}

}  // namespace ricci::kernels
