// What the Bessel functions of several kinds have in common. Knows nothing of how their values are found.
#pragma once

#include "ops/series.h"

namespace ricci {

/// The derivative of a Bessel function of order 1 that is 0 at 0: order0 - order1 / x, times a factor that both values
/// and the factor have. Next to 0 by the power series (DLMF 10.2.2, 10.25.2): seven terms, right to rounding for
/// the value and its first derivatives; each further one loses digits. The terms alternate for J₁, where `side` is -1.
inline Tensor slope_of_order1(const Tensor& x, const Tensor& order0, const Tensor& order1, const Tensor& factor,
                              double side) {
  constexpr double c[] = {1. / 2, 3. / 16, 5. / 384, 7. / 18432, 9. / 1474560, 11. / 176947200, 13. / 29727129600};
  const Tensor near = lt(abs(x), 0.25), z = mul(square(where(near, x, 0)), side);
  Tensor series = add(mul(z, c[6]), c[5]);
  for (int k = 4; k >= 0; --k) series = add(mul(series, z), c[k]);
  return where(near, mul(series, factor), sub(order0, div(order1, where(near, 1, x))));
}

/// The terms of the power series of order 0 or 1 in x² / 4 = ±quarter: their sum, and the sum that those of the second
/// kind need, each term times the sum of 1 / k up to it (DLMF 10.8.2, 10.31.2). In more digits.
template <class T>
struct ExactSeries {
  T first, second;

  ExactSeries(int order, T x, T quarter) : first(0), second(0) {
    T term = order == 0 ? T(1) : x * T(0.5), harmonic(0);
    for (int k = 0; k < 120; ++k) {
      const T next = harmonic + T(1) / T(static_cast<double>(k + 1));
      first = first + term;
      second = second + term * (order == 0 ? harmonic : (harmonic + next) * T(0.5));
      term = term * quarter / T(static_cast<double>((k + 1) * (k + 1 + order)));
      harmonic = next;
    }
  }
};

}  // namespace ricci
