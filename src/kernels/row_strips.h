// Parts of a row of elements, held in registers and added in float64. Knows nothing of what is added.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "ricci/primitive/wide.h"

namespace ricci::kernels {
namespace {

/// Elements are added in float64.
using W = scalar::Wide<double>;

/// A vector of neighbours, or of elements `step` apart.
template <class T, class Step>
RICCI_ALWAYS_INLINE W load(const T* from, Step step) {
  if (step != 1) return scalar::load_wide_strided<double>(from, step);
  return scalar::load_wide<double>(from);
}

template <class T>
RICCI_ALWAYS_INLINE void store(T* to, W x) {
  double wide[W::lanes];
  scalar::store_wide(wide, x);
  for (int i = 0; i < W::lanes; ++i) to[i] = static_cast<T>(wide[i]);
}

/// f(0), f(1), …, with constants: a vector of an array stays in its register if no number but a constant names it.
template <int count, class F>
RICCI_ALWAYS_INLINE void for_each_of(const F& f) {
  [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
    (f(std::integral_constant<int, i>{}), ...);
  }(std::make_integer_sequence<int, count>{});
}

/// f(how many vectors, first element) for `most` vectors at once, then for half as many, until less than one is left;
/// returns the first element that is left.
template <int most, class F>
RICCI_ALWAYS_INLINE std::int64_t by_strips(std::int64_t begin, std::int64_t end, const F& f) {
  for (; begin + most * W::lanes <= end; begin += most * W::lanes) f(std::integral_constant<int, most>{}, begin);
  if constexpr (most > 1) return by_strips<most / 2>(begin, end, f);
  else return begin;
}

/// Starts to load `count` elements.
template <class T>
RICCI_ALWAYS_INLINE void fetch(const T* from, int count) {
  constexpr int line = 64 / static_cast<int>(sizeof(T));
  for (int i = 0; i < count; i += line) __builtin_prefetch(from + i);
}

}  // namespace
}  // namespace ricci::kernels
