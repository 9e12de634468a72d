// The vector registers of the machine this file is compiled for: their size, and those of their instructions that the
// compiler's vector types have no operator for. Knows nothing of packs or elements.
// A new machine is one more section here, one in src/kernels/machine.h and, for its half precision, a line in dtype.h;
// nothing else asks which machine it is. Everything lives in an inline namespace named after the instruction set: a
// program may be compiled for another one than the library.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

// RICCI_PACK_FMA: whether a * b + c, rounded once, is one instruction. RICCI_SLEEF_…: the parts of SLEEF's names.
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define RICCI_ISA avx512
#define RICCI_PACK_BYTES 64
#define RICCI_PACK_FMA 1
#define RICCI_SLEEF_FLOAT "f16_"
#define RICCI_SLEEF_DOUBLE "d8_"
#define RICCI_SLEEF_ISA "avx512f"
#elif defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#define RICCI_ISA avx2
#define RICCI_PACK_BYTES 32
#define RICCI_PACK_FMA 1
#define RICCI_SLEEF_FLOAT "f8_"
#define RICCI_SLEEF_DOUBLE "d4_"
#define RICCI_SLEEF_ISA "avx2"
#elif defined(__x86_64__)
#define RICCI_ISA baseline
#define RICCI_PACK_BYTES 16
#define RICCI_PACK_FMA 0
#define RICCI_SLEEF_FLOAT "f4_"
#define RICCI_SLEEF_DOUBLE "d2_"
#define RICCI_SLEEF_ISA "sse2"
#elif defined(__aarch64__)
#define RICCI_ISA neon
#define RICCI_PACK_BYTES 16
#define RICCI_PACK_FMA 1
#define RICCI_SLEEF_FLOAT "f4_"
#define RICCI_SLEEF_DOUBLE "d2_"
#define RICCI_SLEEF_ISA "advsimd"
#else
#error "Ricci knows the vector registers of x86-64 and 64-bit ARM; this machine needs a section in machine.h"
#endif

#define RICCI_ALWAYS_INLINE [[gnu::always_inline]] inline

namespace ricci::scalar {
inline namespace RICCI_ISA {
namespace machine {

inline constexpr int register_bytes = RICCI_PACK_BYTES;
/// Whether fma(a, b, c) is one instruction. Where it is not, it takes about 30, and SLEEF's functions are less exact.
inline constexpr bool fuses = RICCI_PACK_FMA;

typedef float Floats __attribute__((vector_size(register_bytes)));
typedef double Doubles __attribute__((vector_size(register_bytes)));
typedef std::int8_t Bytes __attribute__((vector_size(register_bytes)));

// Each section defines, for Floats and Doubles:
//   round (half to even), floor, ceil, trunc, sqrt; fma(a, b, c) = a * b + c, rounded once
//   smaller(a, b), larger(a, b): b if either is NaN or both are zeros
// for Bytes:
//   any(mask): whether a bit is set
// for all:
//   widen_bytes<Vector>(bytes): sign-extends one byte a lane
//   load_lanes<Bytes>, store_lanes<Bytes>: if masks_memory; the first lanes, of so many bytes each, the others as zero
//   scale, exponent, mantissa, as in elementary.h: if knows_exponents
//   widen_halves(from): Floats of as many IEEE halves, if knows_halves

#if RICCI_PACK_BYTES == 64  // in their masked forms, as g++ 12 warns of its own header in the others

#define RICCI_ROUNDING(word, mode)                                                                              \
  RICCI_ALWAYS_INLINE Floats word(Floats x) { return (Floats)_mm512_maskz_roundscale_ps(-1, (__m512)x, mode); } \
  RICCI_ALWAYS_INLINE Doubles word(Doubles x) { return (Doubles)_mm512_maskz_roundscale_pd(-1, (__m512d)x, mode); }
RICCI_ROUNDING(round, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
RICCI_ROUNDING(floor, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)
RICCI_ROUNDING(ceil, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC)
RICCI_ROUNDING(trunc, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)
#undef RICCI_ROUNDING
RICCI_ALWAYS_INLINE Floats sqrt(Floats x) { return (Floats)_mm512_maskz_sqrt_ps(-1, (__m512)x); }
RICCI_ALWAYS_INLINE Doubles sqrt(Doubles x) { return (Doubles)_mm512_maskz_sqrt_pd(-1, (__m512d)x); }
RICCI_ALWAYS_INLINE Floats fma(Floats a, Floats b, Floats c) {
  return (Floats)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}
RICCI_ALWAYS_INLINE Doubles fma(Doubles a, Doubles b, Doubles c) {
  return (Doubles)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}
RICCI_ALWAYS_INLINE Floats smaller(Floats a, Floats b) { return (Floats)_mm512_maskz_min_ps(-1, (__m512)a, (__m512)b); }
RICCI_ALWAYS_INLINE Doubles smaller(Doubles a, Doubles b) {
  return (Doubles)_mm512_maskz_min_pd(-1, (__m512d)a, (__m512d)b);
}
RICCI_ALWAYS_INLINE Floats larger(Floats a, Floats b) { return (Floats)_mm512_maskz_max_ps(-1, (__m512)a, (__m512)b); }
RICCI_ALWAYS_INLINE Doubles larger(Doubles a, Doubles b) {
  return (Doubles)_mm512_maskz_max_pd(-1, (__m512d)a, (__m512d)b);
}
RICCI_ALWAYS_INLINE bool any(Bytes mask) { return _mm512_test_epi32_mask((__m512i)mask, (__m512i)mask) != 0; }

template <class Vector, class Narrow>
RICCI_ALWAYS_INLINE Vector widen_bytes(Narrow bytes) {
  constexpr std::size_t width = register_bytes / sizeof(Narrow);
  if constexpr (width == 1) return (Vector)bytes;
  if constexpr (width == 2) return (Vector)_mm512_maskz_cvtepi8_epi16(~0U, (__m256i)bytes);
  if constexpr (width == 4) return (Vector)_mm512_maskz_cvtepi8_epi32(0xffff, (__m128i)bytes);
  if constexpr (width == 8) return (Vector)_mm512_maskz_cvtepi8_epi64(0xff, _mm_cvtsi64_si128((long long)bytes));
}

inline constexpr bool knows_halves = true;
RICCI_ALWAYS_INLINE Floats widen_halves(const void* from) {
  return (Floats)_mm512_maskz_cvtph_ps(-1, _mm256_loadu_si256(static_cast<const __m256i*>(from)));
}

inline constexpr bool masks_memory = true;
template <int Width>
RICCI_ALWAYS_INLINE Bytes load_lanes(const void* from, int count) {
  if constexpr (Width == 1) return (Bytes)_mm512_maskz_loadu_epi8(_bzhi_u64(~0ULL, static_cast<unsigned>(count)), from);
  if constexpr (Width == 2) return (Bytes)_mm512_maskz_loadu_epi16(_bzhi_u32(~0U, static_cast<unsigned>(count)), from);
  const unsigned mask = _bzhi_u32(~0U, static_cast<unsigned>(count));
  if constexpr (Width == 4) return (Bytes)_mm512_maskz_loadu_epi32(static_cast<__mmask16>(mask), from);
  return (Bytes)_mm512_maskz_loadu_epi64(static_cast<__mmask8>(mask), from);
}
template <int Width>
RICCI_ALWAYS_INLINE void store_lanes(void* to, Bytes bytes, int count) {
  const auto v = (__m512i)bytes;
  const auto wide = _bzhi_u64(~0ULL, static_cast<unsigned>(count));
  if constexpr (Width == 1) _mm512_mask_storeu_epi8(to, wide, v);
  if constexpr (Width == 2) _mm512_mask_storeu_epi16(to, static_cast<__mmask32>(wide), v);
  if constexpr (Width == 4) _mm512_mask_storeu_epi32(to, static_cast<__mmask16>(wide), v);
  if constexpr (Width == 8) _mm512_mask_storeu_epi64(to, static_cast<__mmask8>(wide), v);
}

inline constexpr bool knows_exponents = true;
RICCI_ALWAYS_INLINE Floats scale(Floats x, Floats n) {
  return (Floats)_mm512_maskz_scalef_ps(-1, (__m512)x, (__m512)n);
}
RICCI_ALWAYS_INLINE Doubles scale(Doubles x, Doubles n) {
  return (Doubles)_mm512_maskz_scalef_pd(-1, (__m512d)x, (__m512d)n);
}
RICCI_ALWAYS_INLINE Floats exponent(Floats x) { return (Floats)_mm512_maskz_getexp_ps(-1, (__m512)x); }
RICCI_ALWAYS_INLINE Doubles exponent(Doubles x) { return (Doubles)_mm512_maskz_getexp_pd(-1, (__m512d)x); }
RICCI_ALWAYS_INLINE Floats mantissa(Floats x) {
  return (Floats)_mm512_maskz_getmant_ps(-1, (__m512)x, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_nan);
}
RICCI_ALWAYS_INLINE Doubles mantissa(Doubles x) {
  return (Doubles)_mm512_maskz_getmant_pd(-1, (__m512d)x, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_nan);
}

#else

// Declared, so that code which is discarded can name them.
inline constexpr bool masks_memory = false;
template <int Width>
Bytes load_lanes(const void* from, int count);
template <int Width>
void store_lanes(void* to, Bytes bytes, int count);

inline constexpr bool knows_exponents = false;
template <class V>
V scale(V x, V n);
template <class V>
V exponent(V x);
template <class V>
V mantissa(V x);

#if RICCI_PACK_BYTES == 32

#define RICCI_ROUNDING(word, mode)                                                               \
  RICCI_ALWAYS_INLINE Floats word(Floats x) { return (Floats)_mm256_round_ps((__m256)x, mode); } \
  RICCI_ALWAYS_INLINE Doubles word(Doubles x) { return (Doubles)_mm256_round_pd((__m256d)x, mode); }
RICCI_ROUNDING(round, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
RICCI_ROUNDING(floor, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)
RICCI_ROUNDING(ceil, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC)
RICCI_ROUNDING(trunc, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)
#undef RICCI_ROUNDING
RICCI_ALWAYS_INLINE Floats sqrt(Floats x) { return (Floats)_mm256_sqrt_ps((__m256)x); }
RICCI_ALWAYS_INLINE Doubles sqrt(Doubles x) { return (Doubles)_mm256_sqrt_pd((__m256d)x); }
inline constexpr bool knows_halves = true;
RICCI_ALWAYS_INLINE Floats widen_halves(const void* from) {
  return (Floats)_mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i*>(from)));
}
RICCI_ALWAYS_INLINE Floats fma(Floats a, Floats b, Floats c) {
  return (Floats)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}
RICCI_ALWAYS_INLINE Doubles fma(Doubles a, Doubles b, Doubles c) {
  return (Doubles)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}
RICCI_ALWAYS_INLINE Floats smaller(Floats a, Floats b) { return (Floats)_mm256_min_ps((__m256)a, (__m256)b); }
RICCI_ALWAYS_INLINE Doubles smaller(Doubles a, Doubles b) { return (Doubles)_mm256_min_pd((__m256d)a, (__m256d)b); }
RICCI_ALWAYS_INLINE Floats larger(Floats a, Floats b) { return (Floats)_mm256_max_ps((__m256)a, (__m256)b); }
RICCI_ALWAYS_INLINE Doubles larger(Doubles a, Doubles b) { return (Doubles)_mm256_max_pd((__m256d)a, (__m256d)b); }
RICCI_ALWAYS_INLINE bool any(Bytes mask) { return _mm256_movemask_epi8((__m256i)mask) != 0; }

template <class Vector, class Narrow>
RICCI_ALWAYS_INLINE Vector widen_bytes(Narrow bytes) {
  constexpr std::size_t width = register_bytes / sizeof(Narrow);
  if constexpr (width == 1) return (Vector)bytes;
  if constexpr (width == 2) return (Vector)_mm256_cvtepi8_epi16((__m128i)bytes);
  if constexpr (width == 4) return (Vector)_mm256_cvtepi8_epi32(_mm_cvtsi64_si128((long long)bytes));
  if constexpr (width == 8) return (Vector)_mm256_cvtepi8_epi64(_mm_cvtsi32_si128((int)bytes));
}

#elif defined(__aarch64__)

#define RICCI_NEON_1(word, instruction)                                                            \
  RICCI_ALWAYS_INLINE Floats word(Floats x) { return (Floats)instruction##q_f32((float32x4_t)x); } \
  RICCI_ALWAYS_INLINE Doubles word(Doubles x) { return (Doubles)instruction##q_f64((float64x2_t)x); }
RICCI_NEON_1(round, vrndn)
RICCI_NEON_1(floor, vrndm)
RICCI_NEON_1(ceil, vrndp)
RICCI_NEON_1(trunc, vrnd)
RICCI_NEON_1(sqrt, vsqrt)
#undef RICCI_NEON_1
inline constexpr bool knows_halves = true;
RICCI_ALWAYS_INLINE Floats widen_halves(const void* from) {
  float16x4_t halves;
  __builtin_memcpy(&halves, from, sizeof halves);
  return (Floats)vcvt_f32_f16(halves);
}
RICCI_ALWAYS_INLINE Floats fma(Floats a, Floats b, Floats c) {
  return (Floats)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
}
RICCI_ALWAYS_INLINE Doubles fma(Doubles a, Doubles b, Doubles c) {
  return (Doubles)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
}
RICCI_ALWAYS_INLINE Floats smaller(Floats a, Floats b) { return a < b ? a : b; }
RICCI_ALWAYS_INLINE Doubles smaller(Doubles a, Doubles b) { return a < b ? a : b; }
RICCI_ALWAYS_INLINE Floats larger(Floats a, Floats b) { return a > b ? a : b; }
RICCI_ALWAYS_INLINE Doubles larger(Doubles a, Doubles b) { return a > b ? a : b; }
RICCI_ALWAYS_INLINE bool any(Bytes mask) { return vmaxvq_u32((uint32x4_t)mask) != 0; }

template <class Vector, class Narrow>
RICCI_ALWAYS_INLINE Vector widen_bytes(Narrow bytes) {
  constexpr std::size_t width = register_bytes / sizeof(Narrow);
  if constexpr (width == 1) {
    return (Vector)bytes;
  } else {
    std::uint64_t word = 0;
    __builtin_memcpy(&word, &bytes, sizeof bytes);
    const int16x8_t by_2 = vmovl_s8(vcreate_s8(word));
    if constexpr (width == 2) return (Vector)by_2;
    const int32x4_t by_4 = vmovl_s16(vget_low_s16(by_2));
    if constexpr (width == 4) return (Vector)by_4;
    return (Vector)vmovl_s32(vget_low_s32(by_4));
  }
}

#else  // x86-64 as it began: SSE2, which neither rounds to integers nor fuses. SLEEF rounds

#define RICCI_SLEEF_SSE2(name, type) __asm__("Sleef_" name type RICCI_SLEEF_ISA)
#define RICCI_ROUNDING(word, name)                               \
  Floats word(Floats) RICCI_SLEEF_SSE2(name, RICCI_SLEEF_FLOAT); \
  Doubles word(Doubles) RICCI_SLEEF_SSE2(name, RICCI_SLEEF_DOUBLE);
RICCI_ROUNDING(round, "rint")
RICCI_ROUNDING(floor, "floor")
RICCI_ROUNDING(ceil, "ceil")
RICCI_ROUNDING(trunc, "trunc")
#undef RICCI_ROUNDING
#undef RICCI_SLEEF_SSE2
RICCI_ALWAYS_INLINE Floats sqrt(Floats x) { return (Floats)_mm_sqrt_ps((__m128)x); }
RICCI_ALWAYS_INLINE Doubles sqrt(Doubles x) { return (Doubles)_mm_sqrt_pd((__m128d)x); }
RICCI_ALWAYS_INLINE Floats smaller(Floats a, Floats b) { return (Floats)_mm_min_ps((__m128)a, (__m128)b); }
RICCI_ALWAYS_INLINE Doubles smaller(Doubles a, Doubles b) { return (Doubles)_mm_min_pd((__m128d)a, (__m128d)b); }
RICCI_ALWAYS_INLINE Floats larger(Floats a, Floats b) { return (Floats)_mm_max_ps((__m128)a, (__m128)b); }
RICCI_ALWAYS_INLINE Doubles larger(Doubles a, Doubles b) { return (Doubles)_mm_max_pd((__m128d)a, (__m128d)b); }
RICCI_ALWAYS_INLINE bool any(Bytes mask) { return _mm_movemask_epi8((__m128i)mask) != 0; }

inline constexpr bool knows_halves = false;
Floats widen_halves(const void* from);

// a * b + c rounded once, by sums that are rounded to odd: S. Boldo, G. Melquiond, Emulation of a FMA and correctly
// rounded sums, IEEE Transactions on Computers 57 (2008).

typedef std::int64_t Longs __attribute__((vector_size(register_bytes)));

struct ExactSum {
  Doubles rounded, rest;
};
RICCI_ALWAYS_INLINE ExactSum exact_sum(Doubles a, Doubles b) {
  const Doubles sum = a + b, of_b = sum - a;
  return {sum, (a - (sum - of_b)) + (b - of_b)};
}
/// a + b rounded to odd: exact, or that neighbour whose last bit is 1. Whoever rounds the result to fewer digits rounds
/// a + b.
RICCI_ALWAYS_INLINE Doubles odd_sum(Doubles a, Doubles b) {
  const ExactSum sum = exact_sum(a, b);
  const Longs bits = (Longs)sum.rounded;
  const Longs is_rounded = (Longs)(sum.rest < 0) | (Longs)(sum.rest > 0), is_even = (bits & 1) - 1;
  const Longs away_from_zero = ((bits ^ (Longs)sum.rest) >> 63) | 1;  // 1, or -1 where the signs differ
  return (Doubles)(bits + (is_rounded & is_even & away_from_zero));
}

/// A double holds the product of two floats exactly.
inline Floats fma(Floats a, Floats b, Floats c) {
  const auto half = [](__m128 x, __m128 y, __m128 z) {
    return _mm_cvtpd_ps(
        (__m128d)odd_sum((Doubles)_mm_cvtps_pd(x) * (Doubles)_mm_cvtps_pd(y), (Doubles)_mm_cvtps_pd(z)));
  };
  const auto upper = [](Floats x) { return _mm_movehl_ps((__m128)x, (__m128)x); };
  return (Floats)_mm_movelh_ps(half((__m128)a, (__m128)b, (__m128)c), half(upper(a), upper(b), upper(c)));
}

[[gnu::noinline]] inline Doubles fma_one_by_one(Doubles a, Doubles b, Doubles c) {
  for (std::size_t i = 0; i < register_bytes / sizeof(double); ++i) c[i] = __builtin_fma(a[i], b[i], c[i]);
  return c;
}
inline Doubles fma(Doubles a, Doubles b, Doubles c) {
  const auto is_beyond = [](Doubles x, double least, double most) {
    const Doubles size = (Doubles)((Longs)x & INT64_MAX);
    return ~((Longs)(size >= least) & (Longs)(size <= most));
  };
  // Within these, no product, rest or sum overflows or loses digits to subnormal numbers.
  const Longs beyond = is_beyond(a, 0x1p-400, 0x1p400) | is_beyond(b, 0x1p-400, 0x1p400) |
                       (is_beyond(c, 0x1p-800, 0x1p800) & (Longs)(c != 0));
  if (any((Bytes)beyond)) [[unlikely]]
    return fma_one_by_one(a, b, c);
  const auto upper_half = [](Doubles x) {  // of its digits
    const Doubles shifted = x * 0x1.0000002p27;
    return shifted - (shifted - x);
  };
  const Doubles a1 = upper_half(a), a2 = a - a1, b1 = upper_half(b), b2 = b - b1, product = a * b;
  const Doubles product_rest = ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2;
  const ExactSum low = exact_sum(c, product_rest), high = exact_sum(product, low.rounded);
  return high.rounded + odd_sum(low.rest, high.rest);
}

template <class Vector, class Narrow>
RICCI_ALWAYS_INLINE Vector widen_bytes(Narrow bytes) {
  if constexpr (sizeof(Narrow) == register_bytes) return (Vector)bytes;
  else return __builtin_convertvector(bytes, Vector);
}

#endif
#endif

}  // namespace machine
}  // namespace RICCI_ISA
}  // namespace ricci::scalar
