// A few lanes of floats or doubles held in one vector register: what the product kernels compute with.
// Knows nothing of matrices. Without AVX2 partial loads and stores are slow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ricci::kernels {

template <class T, int N>
struct LanesOf {
  typedef T type __attribute__((vector_size(N * sizeof(T))));
};
template <class T, int N>
using Lanes = typename LanesOf<T, N>::type;

#if defined(__AVX512F__) && defined(__AVX512VL__)
inline constexpr int register_bytes = 64;
#elif defined(__AVX__)
inline constexpr int register_bytes = 32;
#else
inline constexpr int register_bytes = 16;
#endif

template <class T>
inline constexpr int max_lanes = register_bytes / static_cast<int>(sizeof(T));

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

/// sum + x * y, rounded once where the machine can.
template <class T, int N>
inline Lanes<T, N> fused(Lanes<T, N> x, Lanes<T, N> y, Lanes<T, N> sum) {
#if defined(__AVX512F__) && defined(__AVX512VL__)
  if constexpr (sizeof(T) == 4 && N == 16) return (Lanes<T, N>)_mm512_fmadd_ps((__m512)x, (__m512)y, (__m512)sum);
  if constexpr (sizeof(T) == 8 && N == 8) return (Lanes<T, N>)_mm512_fmadd_pd((__m512d)x, (__m512d)y, (__m512d)sum);
#endif
#if defined(__FMA__)
  if constexpr (sizeof(T) == 4 && N == 8) return (Lanes<T, N>)_mm256_fmadd_ps((__m256)x, (__m256)y, (__m256)sum);
  if constexpr (sizeof(T) == 4 && N == 4) return (Lanes<T, N>)_mm_fmadd_ps((__m128)x, (__m128)y, (__m128)sum);
  if constexpr (sizeof(T) == 8 && N == 4) return (Lanes<T, N>)_mm256_fmadd_pd((__m256d)x, (__m256d)y, (__m256d)sum);
  if constexpr (sizeof(T) == 8 && N == 2) return (Lanes<T, N>)_mm_fmadd_pd((__m128d)x, (__m128d)y, (__m128d)sum);
#endif
  return sum + x * y;
}

/// Stores past the caches. Requires: N is max_lanes and `to` is aligned to it. `finish_streaming` makes it visible.
template <int N, class T>
inline void stream(T* to, Lanes<T, N> x) {
#if defined(__AVX512F__) && defined(__AVX512VL__)
  _mm512_stream_si512(reinterpret_cast<__m512i*>(to), (__m512i)x);
#elif defined(__AVX__)
  _mm256_stream_si256(reinterpret_cast<__m256i*>(to), (__m256i)x);
#elif defined(__x86_64__)
  _mm_stream_si128(reinterpret_cast<__m128i*>(to), (__m128i)x);
#else
  store<N, T>(to, x);
#endif
}

/// Orders streamed stores before everything that follows.
inline void finish_streaming() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

#if defined(__AVX2__) && !(defined(__AVX512F__) && defined(__AVX512VL__))
/// All bits of the first `count` lanes, for masked loads and stores.
template <class T, int N>
inline auto first_lanes(int count) {
  using Index = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  Lanes<Index, N> index;
  for (int i = 0; i < N; ++i) index[i] = i;
  return index < static_cast<Index>(count);
}
#endif

/// The first `count` < N lanes; the others are zero and their memory is not read.
template <int N, class T>
inline Lanes<T, N> load_first(const T* from, int count) {
#if defined(__AVX512F__) && defined(__AVX512VL__)
  const auto mask = static_cast<std::uint32_t>((1U << count) - 1U);
  if constexpr (sizeof(T) == 4 && N == 16)
    return (Lanes<T, N>)_mm512_maskz_loadu_ps(static_cast<__mmask16>(mask), from);
  if constexpr (sizeof(T) == 4 && N == 8) return (Lanes<T, N>)_mm256_maskz_loadu_ps(static_cast<__mmask8>(mask), from);
  if constexpr (sizeof(T) == 4 && N == 4) return (Lanes<T, N>)_mm_maskz_loadu_ps(static_cast<__mmask8>(mask), from);
  if constexpr (sizeof(T) == 8 && N == 8) return (Lanes<T, N>)_mm512_maskz_loadu_pd(static_cast<__mmask8>(mask), from);
  if constexpr (sizeof(T) == 8 && N == 4) return (Lanes<T, N>)_mm256_maskz_loadu_pd(static_cast<__mmask8>(mask), from);
  if constexpr (sizeof(T) == 8 && N == 2) return (Lanes<T, N>)_mm_maskz_loadu_pd(static_cast<__mmask8>(mask), from);
#elif defined(__AVX2__)
  if constexpr (sizeof(T) == 4 && N == 8)
    return (Lanes<T, N>)_mm256_maskload_ps(from, (__m256i)first_lanes<T, N>(count));
  if constexpr (sizeof(T) == 4 && N == 4) return (Lanes<T, N>)_mm_maskload_ps(from, (__m128i)first_lanes<T, N>(count));
  if constexpr (sizeof(T) == 8 && N == 4)
    return (Lanes<T, N>)_mm256_maskload_pd(from, (__m256i)first_lanes<T, N>(count));
  if constexpr (sizeof(T) == 8 && N == 2) return (Lanes<T, N>)_mm_maskload_pd(from, (__m128i)first_lanes<T, N>(count));
#else
  Lanes<T, N> x = {};
  for (int i = 0; i < count; ++i) x[i] = from[i];
  return x;
#endif
}

/// Writes the first `count` < N lanes and touches no memory after them.
template <int N, class T>
inline void store_first(T* to, Lanes<T, N> x, int count) {
#if defined(__AVX512F__) && defined(__AVX512VL__)
  const auto mask = static_cast<std::uint32_t>((1U << count) - 1U);
  if constexpr (sizeof(T) == 4 && N == 16) _mm512_mask_storeu_ps(to, static_cast<__mmask16>(mask), (__m512)x);
  if constexpr (sizeof(T) == 4 && N == 8) _mm256_mask_storeu_ps(to, static_cast<__mmask8>(mask), (__m256)x);
  if constexpr (sizeof(T) == 4 && N == 4) _mm_mask_storeu_ps(to, static_cast<__mmask8>(mask), (__m128)x);
  if constexpr (sizeof(T) == 8 && N == 8) _mm512_mask_storeu_pd(to, static_cast<__mmask8>(mask), (__m512d)x);
  if constexpr (sizeof(T) == 8 && N == 4) _mm256_mask_storeu_pd(to, static_cast<__mmask8>(mask), (__m256d)x);
  if constexpr (sizeof(T) == 8 && N == 2) _mm_mask_storeu_pd(to, static_cast<__mmask8>(mask), (__m128d)x);
#elif defined(__AVX2__)
  if constexpr (sizeof(T) == 4 && N == 8) _mm256_maskstore_ps(to, (__m256i)first_lanes<T, N>(count), (__m256)x);
  if constexpr (sizeof(T) == 4 && N == 4) _mm_maskstore_ps(to, (__m128i)first_lanes<T, N>(count), (__m128)x);
  if constexpr (sizeof(T) == 8 && N == 4) _mm256_maskstore_pd(to, (__m256i)first_lanes<T, N>(count), (__m256d)x);
  if constexpr (sizeof(T) == 8 && N == 2) _mm_maskstore_pd(to, (__m128i)first_lanes<T, N>(count), (__m128d)x);
#else
  for (int i = 0; i < count; ++i) to[i] = x[i];
#endif
}

/// Stops the compiler from repeating the load of x wherever x is used.
template <class V>
inline void keep_in_register([[maybe_unused]] V& x) {
#if defined(__x86_64__)
  asm("" : "+v"(x));
#endif
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
