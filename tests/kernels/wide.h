// What kernel tests compute their references in: elements of small size, drawn and widened so that sums of their
// products hardly round. Knows nothing of layouts. Start with `Wide`.
#pragma once

#include <complex>
#include <cstdint>
#include <random>
#include <type_traits>

#include "ricci/dtype.h"

namespace ricci::kernel_tests {

template <class T>
struct WideOf {
  using type = double;
};
template <class R>
struct WideOf<std::complex<R>> {
  using type = std::complex<double>;
};
template <class T>
  requires std::is_integral_v<T>
struct WideOf<T> {
  using type = std::uint64_t;
};
/// The type for sums of products of T; of integers modulo 2^64.
template <class T>
using Wide = typename WideOf<T>::type;

template <class T>
Wide<T> widen(T x) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) return double{static_cast<float>(x)};
  else return static_cast<Wide<T>>(x);
}

/// Truth values, mostly false; any integer; parts in [-1, 1].
template <class T>
T draw(std::mt19937& random) {
  if constexpr (std::is_same_v<T, bool>) return random() % 4 == 0;
  else if constexpr (std::is_integral_v<T>) return static_cast<T>(random());
  else if constexpr (is_complex(dtype_of<T>))
    return {draw<typename T::value_type>(random), draw<typename T::value_type>(random)};
  else return T(static_cast<float>(random() % 2001) / 1000.0f - 1.0f);
}

}  // namespace ricci::kernel_tests
