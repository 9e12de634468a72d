// What special functions have in common: the series that compute them, Euler's constant, and how they are called.
// Knows nothing of any one function.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ops/sums.h"
#include "primitive/called.h"
#include "ricci/primitive/elementwise.h"

namespace ricci {

/// A Chebyshev series at t in [-1, 1], by Clenshaw's recurrence.
template <class T, std::size_t n>
T chebyshev(T t, const double (&c)[n]) {
  const T twice = t + t;
  T last(c[n - 1]), before(0);
  for (std::size_t i = n - 2; i > 0; --i) {
    const T next = scalar::fma(twice, last, T(c[i]) - before);
    before = last;
    last = next;
  }
  return scalar::fma(t, last, T(c[0]) - before);
}

/// xⁿ for a whole n >= 0.
template <class T>
T power(T x, std::int64_t n) {
  T y(1);
  for (std::int64_t k = 0; k < n; ++k) y = y * x;
  return y;
}

/// Euler's constant, in as many digits as T has.
template <class T>
T euler_constant() {
  return T(0x1.2788cfc6fb619p-1) + (T(-0x1.6cb90701fbfabp-58) + T(-0x1.34a95ep-112));
}

/// Whether a number is where a bound of an error is claimed; elsewhere `exact` is 1 and its `unit` uncounted. In more
/// digits.
template <class T>
bool is_within(T x, double low, double high) {
  return scalar::less_equal(T(low), x) && scalar::less_equal(x, T(high));
}
template <class T>
T uncounted() {
  return T(1) / T(0);
}
/// The operation on a real x, else TypeError; errors begin with `name`.
template <class P>
Tensor of_real(const P& op, const char* name, const Tensor& x) {
  const Called as(name, x);
  require_order(name, x);
  return apply(op, x);
}

}  // namespace ricci
