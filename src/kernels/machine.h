// What the kernels ask of the machine beyond packs (ricci/primitive/machine.h): parts of a register, stores past the
// caches, half precision, products of 32-bit integers, the processor itself.
// Knows nothing of matrices or loops. Without masked loads and stores (AVX2 or AVX-512), partial ones are slow.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "ricci/dtype.h"
#include "ricci/primitive/pack.h"

namespace ricci::kernels {

inline constexpr int register_bytes = scalar::pack_bytes;

/// A few lanes of T in one register.
template <class T, int N>
struct LanesOf {
  typedef T type __attribute__((vector_size(N * sizeof(T))));
};
template <class T, int N>
using Lanes = typename LanesOf<T, N>::type;

template <class T>
inline constexpr int max_lanes = register_bytes / static_cast<int>(sizeof(T));

/// Stops the compiler from repeating the load of x wherever x is used.
template <class V>
inline void keep_in_register([[maybe_unused]] V& x) {
#if defined(__x86_64__)
  asm("" : "+v"(x));
#elif defined(__aarch64__)
  asm("" : "+w"(x));
#endif
}

// --- Fused multiply-add and square roots of lanes

/// sum + x * y, rounded once where the machine can.
template <class T, int N>
inline Lanes<T, N> fused(Lanes<T, N> x, Lanes<T, N> y, Lanes<T, N> sum) {
#if RICCI_PACK_BYTES == 64
  if constexpr (sizeof(T) == 4 && N == 16) return (Lanes<T, N>)_mm512_fmadd_ps((__m512)x, (__m512)y, (__m512)sum);
  if constexpr (sizeof(T) == 8 && N == 8) return (Lanes<T, N>)_mm512_fmadd_pd((__m512d)x, (__m512d)y, (__m512d)sum);
#endif
#if defined(__FMA__)
  if constexpr (sizeof(T) == 4 && N == 8) return (Lanes<T, N>)_mm256_fmadd_ps((__m256)x, (__m256)y, (__m256)sum);
  if constexpr (sizeof(T) == 4 && N == 4) return (Lanes<T, N>)_mm_fmadd_ps((__m128)x, (__m128)y, (__m128)sum);
  if constexpr (sizeof(T) == 8 && N == 4) return (Lanes<T, N>)_mm256_fmadd_pd((__m256d)x, (__m256d)y, (__m256d)sum);
  if constexpr (sizeof(T) == 8 && N == 2) return (Lanes<T, N>)_mm_fmadd_pd((__m128d)x, (__m128d)y, (__m128d)sum);
#elif defined(__aarch64__)
  if constexpr (sizeof(T) == 4 && N == 4)
    return (Lanes<T, N>)vfmaq_f32((float32x4_t)sum, (float32x4_t)x, (float32x4_t)y);
  if constexpr (sizeof(T) == 4 && N == 2)
    return (Lanes<T, N>)vfma_f32((float32x2_t)sum, (float32x2_t)x, (float32x2_t)y);
  if constexpr (sizeof(T) == 8 && N == 2)
    return (Lanes<T, N>)vfmaq_f64((float64x2_t)sum, (float64x2_t)x, (float64x2_t)y);
#endif
  return sum + x * y;
}

/// Requires: T is float or double.
template <class T>
inline Lanes<T, max_lanes<T>> square_root(Lanes<T, max_lanes<T>> x) {
  return scalar::machine::sqrt(x);
}

// --- Memory

/// Stores past the caches. Requires: N is max_lanes and `to` is aligned to it. `finish_streaming` makes it visible.
template <int N, class T>
inline void stream(T* to, Lanes<T, N> x) {
#if RICCI_PACK_BYTES == 64
  _mm512_stream_si512(reinterpret_cast<__m512i*>(to), (__m512i)x);
#elif RICCI_PACK_BYTES == 32
  _mm256_stream_si256(reinterpret_cast<__m256i*>(to), (__m256i)x);
#elif defined(__x86_64__)
  _mm_stream_si128(reinterpret_cast<__m128i*>(to), (__m128i)x);
#else
  std::memcpy(to, &x, sizeof x);
#endif
}

/// Orders streamed stores before everything that follows.
inline void finish_streaming() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

#if RICCI_PACK_BYTES == 32
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
#if RICCI_PACK_BYTES == 64
  const auto mask = static_cast<std::uint32_t>((1U << count) - 1U);
  if constexpr (sizeof(T) == 4 && N == 16)
    return (Lanes<T, N>)_mm512_maskz_loadu_ps(static_cast<__mmask16>(mask), from);
  if constexpr (sizeof(T) == 4 && N == 8) return (Lanes<T, N>)_mm256_maskz_loadu_ps(static_cast<__mmask8>(mask), from);
  if constexpr (sizeof(T) == 4 && N == 4) return (Lanes<T, N>)_mm_maskz_loadu_ps(static_cast<__mmask8>(mask), from);
  if constexpr (sizeof(T) == 8 && N == 8) return (Lanes<T, N>)_mm512_maskz_loadu_pd(static_cast<__mmask8>(mask), from);
  if constexpr (sizeof(T) == 8 && N == 4) return (Lanes<T, N>)_mm256_maskz_loadu_pd(static_cast<__mmask8>(mask), from);
  if constexpr (sizeof(T) == 8 && N == 2) return (Lanes<T, N>)_mm_maskz_loadu_pd(static_cast<__mmask8>(mask), from);
#elif RICCI_PACK_BYTES == 32
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
#if RICCI_PACK_BYTES == 64
  const auto mask = static_cast<std::uint32_t>((1U << count) - 1U);
  if constexpr (sizeof(T) == 4 && N == 16) _mm512_mask_storeu_ps(to, static_cast<__mmask16>(mask), (__m512)x);
  if constexpr (sizeof(T) == 4 && N == 8) _mm256_mask_storeu_ps(to, static_cast<__mmask8>(mask), (__m256)x);
  if constexpr (sizeof(T) == 4 && N == 4) _mm_mask_storeu_ps(to, static_cast<__mmask8>(mask), (__m128)x);
  if constexpr (sizeof(T) == 8 && N == 8) _mm512_mask_storeu_pd(to, static_cast<__mmask8>(mask), (__m512d)x);
  if constexpr (sizeof(T) == 8 && N == 4) _mm256_mask_storeu_pd(to, static_cast<__mmask8>(mask), (__m256d)x);
  if constexpr (sizeof(T) == 8 && N == 2) _mm_mask_storeu_pd(to, static_cast<__mmask8>(mask), (__m128d)x);
#elif RICCI_PACK_BYTES == 32
  if constexpr (sizeof(T) == 4 && N == 8) _mm256_maskstore_ps(to, (__m256i)first_lanes<T, N>(count), (__m256)x);
  if constexpr (sizeof(T) == 4 && N == 4) _mm_maskstore_ps(to, (__m128i)first_lanes<T, N>(count), (__m128)x);
  if constexpr (sizeof(T) == 8 && N == 4) _mm256_maskstore_pd(to, (__m256i)first_lanes<T, N>(count), (__m256d)x);
  if constexpr (sizeof(T) == 8 && N == 2) _mm_maskstore_pd(to, (__m128i)first_lanes<T, N>(count), (__m128d)x);
#else
  for (int i = 0; i < count; ++i) to[i] = x[i];
#endif
}

// --- Half precision

/// Rounds to nearest even.
inline void narrow_halves(Half* to, scalar::Pack<float> x) {
#if RICCI_PACK_BYTES == 64
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                      _mm512_maskz_cvtps_ph(-1, (__m512)x.v, _MM_FROUND_TO_NEAREST_INT));
#elif RICCI_PACK_BYTES == 32
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_cvtps_ph((__m256)x.v, _MM_FROUND_TO_NEAREST_INT));
#elif defined(__aarch64__)
  const float16x4_t halves = vcvt_f16_f32((float32x4_t)x.v);
  std::memcpy(static_cast<void*>(to), &halves, sizeof halves);
#else
  for (int i = 0; i < scalar::Pack<float>::lanes; ++i) to[i] = Half(x.v[i]);
#endif
}

// --- Integers

/// The products of the lower halves of the lanes.
template <class V>
RICCI_ALWAYS_INLINE V multiply_low(V a, V b) {
  static_assert(sizeof(V) == register_bytes && sizeof(a[0]) == 8);
#if RICCI_PACK_BYTES == 64
  return (V)_mm512_maskz_mul_epu32(0xff, (__m512i)a, (__m512i)b);
#elif RICCI_PACK_BYTES == 32
  return (V)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#elif defined(__x86_64__)
  return (V)_mm_mul_epu32((__m128i)a, (__m128i)b);
#elif defined(__aarch64__)
  return (V)vmull_u32(vmovn_u64((uint64x2_t)a), vmovn_u64((uint64x2_t)b));
#else
  return (a & 0xffffffffU) * (b & 0xffffffffU);
#endif
}

// --- The processor

/// Whether the processor that runs this, which may be a better one than it was compiled for, has AVX-512.
inline bool cpu_has_avx512() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

/// Between two looks at memory that another thread will change: the core's other thread goes first.
inline void pause() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// How this thread rounds and whether subnormals are numbers to it, without the flags of past exceptions.
inline std::uint64_t float_mode() {
#if defined(__x86_64__)
  return _mm_getcsr() & ~0x3fU;
#elif defined(__aarch64__)
  std::uint64_t mode;
  asm volatile("mrs %0, fpcr" : "=r"(mode));
  return mode;
#else
  return 0;
#endif
}
inline void set_float_mode([[maybe_unused]] std::uint64_t mode) {
#if defined(__x86_64__)
  _mm_setcsr(static_cast<unsigned>(mode));
#elif defined(__aarch64__)
  asm volatile("msr fpcr, %0" : : "r"(mode));
#endif
}

}  // namespace ricci::kernels
