// The words of the gamma function and of the normal distribution: lgamma, digamma, mills. Written in the words of
// elementary.h, for any width of packs. Knows nothing of complex numbers.
#pragma once

#include <cmath>

#include "ricci/primitive/elementary.h"

namespace ricci::scalar {
inline namespace RICCI_ISA {

namespace special {

/// c[0] + c[1] x + c[2] x^2 + …, even and odd powers apart: half the latency of Horner's rule.
template <class T, int n>
RICCI_ALWAYS_INLINE T polynomial(const T& x, const double (&c)[n]) {
  const T x2 = x * x;
  T last(c[n - 1]), other(c[n - 2]);
  for (int i = n - 3; i > 0; i -= 2) {
    last = fma(last, x2, T(c[i]));
    other = fma(other, x2, T(c[i - 1]));
  }
  if constexpr (n % 2 == 0) return fma(last, x, other);
  else return fma(other, x, fma(last, x2, T(c[0])));
}

/// pi cot(pi t) for |t| <= 1/2: by the tangent of an angle of at most pi / 4, which is known beyond its own digits.
template <class E>
Pack<E> pi_cotangent(Pack<E> t) {
  using P = Pack<E>;
  constexpr bool f = std::is_same_v<E, float>;
  const P pi(f ? 0x1.921fb6p1 : 0x1.921fb54442d18p1), pi_low(f ? -0x1.777a5cp-24 : 0x1.1a62633145c07p-53);
  const P size = abs(t);
  const auto steep = less_equal(size, P(0.25)), tiny = less(size, P(0x1p-32));  // there it is 1 / t
  const P u = select(steep, size, P(0.5) - size);
  const P angle = pi * u, low = fma(pi, u, -angle) + pi_low * u;
  const P tangent = tan(angle), better = fma(low, fma(tangent, tangent, P(1)), tangent);
  const P rising = pi * better, falling = select(tiny, P(1), pi) / select(tiny, size, better);
  return copysign(select(steep, falling, rising), t);
}

/// digamma(x) / (x - its zero) for x = 1.5 + u, |u| <= 1/2: an interpolation at the Chebyshev nodes.
template <class E>
Pack<E> digamma_slope(Pack<E> u) {
  if constexpr (std::is_same_v<E, float>) {
    static constexpr double c[] = {0.9510558760318328,    -0.42362749747529066,  0.24054253501497624,
                                   -0.1483988613883281,   0.09498468507487738,   -0.062055980386091954,
                                   0.040850026740824504,  -0.025786883631264544, 0.01711498899971067,
                                   -0.016373620255320655, 0.010902588672572695};
    return polynomial(u, c);
  } else {
    static constexpr double c[] = {
        0.9510558760318328,    -0.4236274212814606,     0.24054248424078697,    -0.14840492305388092,
        0.09498872445289039,   -0.06192213327548831,    0.040760833940846085,   -0.026975796659787055,
        0.017907248317313294,  -0.011908220105959716,   0.007927021796868154,   -0.005279937255532708,
        0.003518106563802472,  -0.0023454947397380833,  0.0015633696313653504,  -0.0010364584817312839,
        0.0006909255761282986, -0.00048595039220036254, 0.00032395945401345196, -0.00014480643368061614,
        9.653646261410062e-05, -0.0001782188548855923,  0.00011881232908510335};
    return polynomial(u, c);
  }
}

/// The asymptotic series of digamma without its first two terms, over z = 1/x^2 (Abramowitz and Stegun 6.3.18).
template <class E>
Pack<E> digamma_rest(Pack<E> z) {
  if constexpr (std::is_same_v<E, float>) {
    static constexpr double c[] = {1. / 12, -1. / 120, 1. / 252, -1. / 240, 1. / 132};
    return polynomial(z, c);
  } else {
    static constexpr double c[] = {1. / 12,       -1. / 120, 1. / 252,      -1. / 240,      1. / 132,
                                   -691. / 32760, 1. / 12,   -3617. / 8160, 43867. / 14364, -174611. / 6600};
    return polynomial(z, c);
  }
}

}  // namespace special

/// The derivative of lgamma. For x >= 8 (float: 4) the asymptotic series; below that the recurrence (Abramowitz and
/// Stegun 6.3.5) to or from [1, 2), where the zero is a factor; for negative x the reflection 6.3.7. -inf at 0 (inf at
/// -0), NaN at negative integers.
template <Floating E>
Pack<E> digamma(Pack<E> x) {
  using P = Pack<E>;
  constexpr bool f = std::is_same_v<E, float>;
  constexpr int large = f ? 4 : 8;
  const P zero(0), one(1), infinite(std::numeric_limits<E>::infinity());
  const auto reflected = less(x, zero);
  const P y = select(reflected, one - x, x), r = one / y, z = r * r;
  const P beyond = log(y) - (P(0.5) * r + z * special::digamma_rest(z));

  const auto small = less(y, one);
  const P whole = trunc(y), base = select(small, y + one, y - (whole - one));  // in [1, 2)
  P steps = select(small, -r, zero);
  for (int k = large - 3; k >= 0; --k) {
    const P passed = base + P(k);
    steps = steps + select(less(P(k + 1), whole), one / passed, zero);
  }
  const P zero_high(f ? 0x1.762d86p+0 : 0x1.762d86356be3fp+0), zero_low(f ? 0x1.ab5f2p-27 : 0x1.b86a722197829p-54);
  const P rounded_off = select(small, y - (base - one), (one - y) - x);  // of y + 1, or of 1 - x
  const P from_zero = (base - zero_high) + (select(reflected || small, rounded_off, zero) - zero_low);
  const P near = fma(from_zero, special::digamma_slope(base - P(1.5)), steps);
  const P right = select(less(y, P(large)), near, beyond);

  const P t = x - round(x);
  const P left = right - special::pi_cotangent(t);
  const P poles = select(equal(x, zero), -copysign(infinite, x), P(std::numeric_limits<E>::quiet_NaN()));
  const auto pole = equal(t, zero) && less_equal(x, zero);
  return select(pole, poles, select(reflected, left, right));
}
RICCI_WORD_1(digamma)

/// log |Gamma(x)|. SLEEF's terms cancel next to its zeros at negative x, and its result is infinite a little before the
/// largest number: those lanes are the C library's in more digits.
template <Floating E>
Pack<E> lgamma(Pack<E> x) {
  Pack<E> y(sleef::lgamma(x.v));
  const auto near_zero = less(x, Pack<E>(-2)) && less(abs(y), Pack<E>(0x1p-4));
  const auto beyond = isinf(y) && greater(x, Pack<E>(1)) && isfinite(x);
  const auto rare = near_zero || beyond;
  if (any(rare)) [[unlikely]] {
    int sign = 0;
    for (int i = 0; i < Pack<E>::lanes; ++i) {
      if (!rare.v[i]) continue;
      if constexpr (std::is_same_v<E, float>) y.v[i] = static_cast<float>(::lgamma_r(x.v[i], &sign));
      else y.v[i] = static_cast<double>(::lgammal_r(x.v[i], &sign));
    }
  }
  return y;
}
RICCI_WORD_1(lgamma)

namespace special {

/// Phi(-x) exp(x^2 / 2) for x >= 0 and the normal distribution function Phi. It is nearly 0.45 / (x + 3/4), and what is
/// left an interpolation at the Chebyshev nodes in t = (x - k) / (x + k). What rounding took from t is given back as a
/// change of x, what it took from x + 3/4 as a factor.
template <class T>
T mills(const T& x) {
  constexpr double k = std::is_same_v<typename T::element, float> ? 4 : 5;
  const T above = x + T(k), below = x - T(k), t = below / above, size = x + T(0.75);
  T y(0);
  if constexpr (std::is_same_v<typename T::element, float>) {
    static constexpr double c[] = {0.4484505355358124,     -0.0541040413081646,     -0.017095137387514114,
                                   0.046526938676834106,   -0.03991452977061272,    0.02006201073527336,
                                   -0.005126720294356346,  -0.00045776544720865786, 0.0007335538393817842,
                                   -5.841015081387013e-05, -7.898035983089358e-05};
    y = polynomial(t, c) / size;
  } else {
    static constexpr double c[] = {
        0.4422860036062862,      -0.055687893018005925,   0.002013165454462163,  0.030223321701248924,
        -0.03836488103731841,    0.030390438365987094,    -0.017418258040713393, 0.007116711751364695,
        -0.001730960024383516,   -2.5777568092056806e-05, 0.0001974409957670847, -5.3848133967413386e-05,
        -1.1557161742563866e-05, 9.378075645580924e-06,   9.843097336431269e-08, -1.369852614682117e-06,
        1.0834686795111723e-07,  2.0828167880420888e-07,  -2.29039120741309e-08, -3.435638198667179e-08,
        2.3962177242079497e-09,  5.568352039902479e-09,   2.682317269308602e-10, -6.148107058360656e-10,
        -1.3033189177122077e-10};
    y = polynomial(t, c) / size;
  }
  const T above_off = x - (above - T(k)), below_off = x - (below + T(k)), size_off = x - (size - T(0.75));
  const T off = fma(-t, above, below) + fma(-t, above_off, below_off);                  // (x - k) - t (x + k)
  const T share = y / size, slope = fma(x, y, T(-0.398942280401432677939946)) + share;  // of y by x, size held
  return y + fma(off * above * T(0.5 / k), slope, -size_off * share);
}

}  // namespace special

/// Mills' ratio of the normal distribution, Phi(-x) exp(x^2 / 2). Requires: 0 <= x <= 56 or NaN.
template <Floating E>
Pack<E> mills(Pack<E> x) {
  return special::mills(x);
}
RICCI_WORD_1(mills)

}  // namespace RICCI_ISA
}  // namespace ricci::scalar
