// Numbers with what rounding took from them, and powers of such numbers: products that lose nothing worth a unit in the
// last place. Knows nothing of operations.
#pragma once

#include <cstdint>

#include "ricci/primitive/scalar.h"

namespace ricci {

/// A number as the sum of its rounded value and what rounding took.
template <class T>
struct Unrounded {
  T value, off;
};
template <class T>
Unrounded<T> product(T a, T b) {
  const T value = a * b;
  return {value, scalar::fma(a, b, -value)};
}
template <class T>
Unrounded<T> product(T a, Unrounded<T> b) {
  const T value = a * b.value;
  return {value, scalar::fma(a, b.off, scalar::fma(a, b.value, -value))};
}
template <class T>
Unrounded<T> product(Unrounded<T> a, Unrounded<T> b) {
  const T value = a.value * b.value;
  return {value, scalar::fma(a.value, b.value, -value) + scalar::fma(a.value, b.off, a.off * b.value)};
}

/// x to a positive whole power.
template <class T>
Unrounded<T> whole_power(Unrounded<T> x, std::int64_t n) {
  if (n == 1) return x;
  const Unrounded<T> half = whole_power(x, n / 2), even = product(half, half);
  return n % 2 == 0 ? even : product(even, x);
}
/// The same of an exact x, for n >= 2.
template <class T>
Unrounded<T> whole_power(T x, std::int64_t n) {
  if (n < 4) return n == 2 ? product(x, x) : product(x, product(x, x));
  const Unrounded<T> half = whole_power(x, n / 2), even = product(half, half);
  return n % 2 == 0 ? even : product(x, even);
}

}  // namespace ricci
