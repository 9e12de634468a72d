// Arithmetic on a few lanes of floats or doubles held in one vector register: what the product kernels compute with.
// Knows nothing of matrices. What machines do differently stands in kernels/machine.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "kernels/machine.h"

namespace ricci::kernels {

template <int N, class T>
inline Lanes<T, N> load(const T* from) {
  Lanes<T, N> x;
  std::memcpy(&x, from, sizeof(x));
  return x;
}

template <int N, class T>
inline void store(T* to, Lanes<T, N> x) {
  std::memcpy(to, &x, sizeof(x));
}

/// The same value in every lane.
template <int N, class T>
inline Lanes<T, N> splat(T x) {
  return x - Lanes<T, N>{};  // minus, so that -0 stays -0
}

/// Calls `f(std::integral_constant<int, 0>{})` to N - 1: a loop whose array elements the compiler keeps in registers.
template <int N, class F>
inline void unrolled(F&& f) {
  [&]<int... I>(std::integer_sequence<int, I...>) {
    (f(std::integral_constant<int, I>{}), ...);
  }(std::make_integer_sequence<int, N>{});
}

/// [x0+x1, x2+x3, …, y0+y1, y2+y3, …]
template <class T, int N>
inline Lanes<T, N> add_neighbours(Lanes<T, N> x, Lanes<T, N> y) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return __builtin_shufflevector(x, y, static_cast<int>(2 * I)...) +
           __builtin_shufflevector(x, y, static_cast<int>(2 * I + 1)...);
  }(std::make_index_sequence<N>{});
}

/// The lower half of the lanes plus the upper half.
template <class T, int N>
inline Lanes<T, N / 2> add_halves(Lanes<T, N> x) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return __builtin_shufflevector(x, x, static_cast<int>(I)...) +
           __builtin_shufflevector(x, x, static_cast<int>(N / 2 + I)...);
  }(std::make_index_sequence<N / 2>{});
}

template <class T, int N, int R>
inline Lanes<T, N> add_neighbours_of(Lanes<T, N>* x) {
  if constexpr (R == 1) {
    return x[0];
  } else {
    unrolled<R / 2>([&](auto r) { x[r] = add_neighbours<T, N>(x[2 * r], x[2 * r + 1]); });
    return add_neighbours_of<T, N, R / 2>(x);
  }
}

/// Lane r of the result is the sum of the lanes of x[r]. Overwrites x. Requires: R and N are powers of two, R <= N.
template <class T, int N, int R>
inline Lanes<T, R> sum_lanes_of_each(Lanes<T, N>* x) {
  if constexpr (N > R) {
    Lanes<T, N / 2> halves[R];
    unrolled<R>([&](auto r) { halves[r] = add_halves<T, N>(x[r]); });
    return sum_lanes_of_each<T, N / 2, R>(halves);
  } else {
    return add_neighbours_of<T, N, R>(x);
  }
}

}  // namespace ricci::kernels
