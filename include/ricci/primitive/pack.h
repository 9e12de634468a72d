// Pack<E>: as many elements of type E as one vector register of the compiling machine holds, with arithmetic,
// comparison, loads and stores. Knows nothing of tensors or mathematical functions (scalar.h has those).
// Everything depends on the instruction set of the translation unit, so it lives in an inline namespace named after it:
// a program may be compiled for another one than the library. Start with `Pack`.
#pragma once

#include <cstdint>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "ricci/dtype.h"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define RICCI_ISA avx512
#define RICCI_PACK_BYTES 64
#elif defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#define RICCI_ISA avx2
#define RICCI_PACK_BYTES 32
#else
#define RICCI_ISA baseline
#define RICCI_PACK_BYTES 16
#endif

#define RICCI_ALWAYS_INLINE [[gnu::always_inline]] inline

namespace ricci::scalar {
inline namespace RICCI_ISA {

inline constexpr int pack_bytes = RICCI_PACK_BYTES;

/// The integers that share an element's width; `mask` is what a comparison of such elements gives.
template <int Bytes>
struct Width;
template <> struct Width<1> {
  using mask = std::int8_t;
  using bits = std::uint8_t;
};
template <> struct Width<2> {
  using mask = std::int16_t;
  using bits = std::uint16_t;
};
template <> struct Width<4> {
  using mask = std::int32_t;
  using bits = std::uint32_t;
};
template <> struct Width<8> {
  using mask = std::int64_t;
  using bits = std::uint64_t;
};

template <class E>
using lane_type = std::conditional_t<std::is_same_v<E, bool>, std::uint8_t, E>;

/// One truth value per lane, all bits set or none. Packs of elements of one width share their masks.
template <int Bytes>
struct PackMask {
  using lane = typename Width<Bytes>::mask;
  static constexpr int lanes = pack_bytes / Bytes;
  typedef lane vector __attribute__((vector_size(pack_bytes)));
  typedef std::int8_t byte_vector __attribute__((vector_size(lanes)));

  vector v;

  PackMask() = default;
  explicit PackMask(vector bits) : v(bits) {}
  explicit PackMask(bool constant) : v(splat(constant ? lane{-1} : lane{0})) {}

  static vector splat(lane value) { return value - vector{}; }

  friend PackMask operator&&(PackMask a, PackMask b) { return PackMask(a.v & b.v); }
  friend PackMask operator||(PackMask a, PackMask b) { return PackMask(a.v | b.v); }
  friend PackMask operator^(PackMask a, PackMask b) { return PackMask(a.v ^ b.v); }
  friend PackMask operator!(PackMask a) { return PackMask(~a.v); }
  friend PackMask operator&(PackMask a, PackMask b) { return a && b; }
  friend PackMask operator|(PackMask a, PackMask b) { return a || b; }
};

/// `lanes` elements. Arithmetic on integers wraps; on bool, + is or and * is and, as promotion to bool demands.
template <class E>
struct Pack {
  using element = E;
  using lane = lane_type<E>;
  using mask = PackMask<sizeof(lane)>;
  static constexpr int lanes = pack_bytes / static_cast<int>(sizeof(lane));
  static constexpr bool floating = std::is_floating_point_v<E>;
  typedef lane vector __attribute__((vector_size(pack_bytes)));
  typedef typename Width<sizeof(lane)>::bits bit_vector __attribute__((vector_size(pack_bytes)));

  vector v;

  Pack() = default;
  explicit Pack(vector values) : v(values) {}
  /// Every lane holds `constant`, converted as by static_cast (to bool: is it not 0).
  template <class A>
    requires std::is_arithmetic_v<A>
  explicit Pack(A constant) : v(splat(static_cast<E>(constant))) {}

  static vector splat(lane value) { return value - vector{}; }

  lane operator[](int i) const { return v[i]; }

  friend Pack operator+(Pack a, Pack b) {
    if constexpr (std::is_same_v<E, bool>) return Pack(a.v | b.v);
    else if constexpr (floating) return Pack(a.v + b.v);
    else return Pack((vector)((bit_vector)a.v + (bit_vector)b.v));
  }
  friend Pack operator-(Pack a, Pack b) {
    if constexpr (std::is_same_v<E, bool>) return Pack(a.v ^ b.v);
    else if constexpr (floating) return Pack(a.v - b.v);
    else return Pack((vector)((bit_vector)a.v - (bit_vector)b.v));
  }
  friend Pack operator*(Pack a, Pack b) {
    if constexpr (std::is_same_v<E, bool>) return Pack(a.v & b.v);
    else if constexpr (floating) return Pack(a.v * b.v);
    else return Pack((vector)((bit_vector)a.v * (bit_vector)b.v));
  }
  friend Pack operator/(Pack a, Pack b)
    requires floating
  {
    return Pack(a.v / b.v);
  }
  friend Pack operator-(Pack a) {
    if constexpr (floating) return Pack(-a.v);
    else return Pack(0) - a;
  }
};

/// Whether any lane is set.
template <int Bytes>
RICCI_ALWAYS_INLINE bool any(PackMask<Bytes> m) {
#if RICCI_PACK_BYTES == 64
  return _mm512_test_epi32_mask((__m512i)m.v, (__m512i)m.v) != 0;
#elif RICCI_PACK_BYTES == 32
  return _mm256_movemask_epi8((__m256i)m.v) != 0;
#elif defined(__x86_64__)
  return _mm_movemask_epi8((__m128i)m.v) != 0;
#else
  typedef std::uint64_t halves __attribute__((vector_size(16)));
  const auto h = (halves)m.v;
  return (h[0] | h[1]) != 0;
#endif
}

/// The same bits seen as another element type of the same width.
template <class To, class From>
RICCI_ALWAYS_INLINE Pack<To> bit_cast(Pack<From> x) {
  static_assert(sizeof(lane_type<To>) == sizeof(lane_type<From>));
  return Pack<To>((typename Pack<To>::vector)x.v);
}

/// Value conversion between element types of the same width, towards zero where it must round.
template <class To, class From>
RICCI_ALWAYS_INLINE Pack<To> convert(Pack<From> x) {
  static_assert(Pack<To>::lanes == Pack<From>::lanes);
  return Pack<To>(__builtin_convertvector(x.v, typename Pack<To>::vector));
}

// --- Loads and stores. `count` in [1, lanes) says how many lanes exist; the others read as zero, or as lane 0 when
// --- count is 1, and are not written.

/// Copies `count` of `Lanes` elements of `Bytes` bytes each. Requires: 1 <= count < Lanes.
template <int Bytes, int Lanes>
RICCI_ALWAYS_INLINE void copy_lanes(void* to, const void* from, int count) {
  if (count < 1 || count >= Lanes) __builtin_unreachable();
  __builtin_memcpy(to, from, static_cast<std::size_t>(count) * Bytes);
}

#if RICCI_PACK_BYTES == 64
template <int Bytes>
RICCI_ALWAYS_INLINE __m512i load_lanes(const void* from, int count) {
  if constexpr (Bytes == 1) return _mm512_maskz_loadu_epi8(_bzhi_u64(~0ULL, static_cast<unsigned>(count)), from);
  if constexpr (Bytes == 2) return _mm512_maskz_loadu_epi16(_bzhi_u32(~0U, static_cast<unsigned>(count)), from);
  const unsigned mask = _bzhi_u32(~0U, static_cast<unsigned>(count));
  if constexpr (Bytes == 4) return _mm512_maskz_loadu_epi32(static_cast<__mmask16>(mask), from);
  return _mm512_maskz_loadu_epi64(static_cast<__mmask8>(mask), from);
}
template <int Bytes>
RICCI_ALWAYS_INLINE void store_lanes(void* to, __m512i v, int count) {
  const auto wide = _bzhi_u64(~0ULL, static_cast<unsigned>(count));
  if constexpr (Bytes == 1) _mm512_mask_storeu_epi8(to, wide, v);
  if constexpr (Bytes == 2) _mm512_mask_storeu_epi16(to, static_cast<__mmask32>(wide), v);
  if constexpr (Bytes == 4) _mm512_mask_storeu_epi32(to, static_cast<__mmask16>(wide), v);
  if constexpr (Bytes == 8) _mm512_mask_storeu_epi64(to, static_cast<__mmask8>(wide), v);
}
#endif

template <class E>
RICCI_ALWAYS_INLINE Pack<E> load(const void* from, std::type_identity<Pack<E>>) {
  Pack<E> p;
  __builtin_memcpy(&p.v, from, pack_bytes);
  return p;
}

template <class E>
RICCI_ALWAYS_INLINE Pack<E> load(const void* from, int count, std::type_identity<Pack<E>>) {
  if (count == 1) {
    lane_type<E> one;
    __builtin_memcpy(&one, from, sizeof one);
    return Pack<E>(one);
  }
#if RICCI_PACK_BYTES == 64
  return Pack<E>((typename Pack<E>::vector)load_lanes<sizeof(lane_type<E>)>(from, count));
#else
  Pack<E> p(0);
  copy_lanes<sizeof(lane_type<E>), Pack<E>::lanes>(&p.v, from, count);
  return p;
#endif
}

template <class E>
RICCI_ALWAYS_INLINE void store(void* to, Pack<E> p) {
  __builtin_memcpy(to, &p.v, pack_bytes);
}

template <class E>
RICCI_ALWAYS_INLINE void store(void* to, Pack<E> p, int count) {
  if (count == 1) {
    const lane_type<E> one = p.v[0];
    __builtin_memcpy(to, &one, sizeof one);
    return;
  }
#if RICCI_PACK_BYTES == 64
  store_lanes<sizeof(lane_type<E>)>(to, (__m512i)p.v, count);
#else
  copy_lanes<sizeof(lane_type<E>), Pack<E>::lanes>(to, &p.v, count);
#endif
}

// Masks in memory are bool elements, one byte a lane.

/// Sign-extends one byte a lane. By intrinsics where there are some: g++ 12 takes a conversion of loaded bytes apart.
template <int Bytes>
RICCI_ALWAYS_INLINE typename PackMask<Bytes>::vector widen_bytes(typename PackMask<Bytes>::byte_vector bytes) {
  using Vector = typename PackMask<Bytes>::vector;
  if constexpr (Bytes == 1) return (Vector)bytes;
#if RICCI_PACK_BYTES == 64
  if constexpr (Bytes == 2) return (Vector)_mm512_maskz_cvtepi8_epi16(~0U, (__m256i)bytes);
  if constexpr (Bytes == 4) return (Vector)_mm512_maskz_cvtepi8_epi32(0xffff, (__m128i)bytes);
  if constexpr (Bytes == 8) return (Vector)_mm512_maskz_cvtepi8_epi64(0xff, _mm_cvtsi64_si128((long long)bytes));
#elif RICCI_PACK_BYTES == 32
  if constexpr (Bytes == 2) return (Vector)_mm256_cvtepi8_epi16((__m128i)bytes);
  if constexpr (Bytes == 4) return (Vector)_mm256_cvtepi8_epi32(_mm_cvtsi64_si128((long long)bytes));
  if constexpr (Bytes == 8) return (Vector)_mm256_cvtepi8_epi64(_mm_cvtsi32_si128((int)bytes));
#else
  return __builtin_convertvector(bytes, Vector);
#endif
}

template <int Bytes>
RICCI_ALWAYS_INLINE PackMask<Bytes> mask_of_bytes(typename PackMask<Bytes>::byte_vector bytes) {
  return PackMask<Bytes>((typename PackMask<Bytes>::vector)(widen_bytes<Bytes>(bytes) != 0));
}

template <int Bytes>
RICCI_ALWAYS_INLINE PackMask<Bytes> load(const void* from, std::type_identity<PackMask<Bytes>>) {
  typename PackMask<Bytes>::byte_vector bytes;
  __builtin_memcpy(&bytes, from, sizeof bytes);
  return mask_of_bytes<Bytes>(bytes);
}

template <int Bytes>
RICCI_ALWAYS_INLINE PackMask<Bytes> load(const void* from, int count, std::type_identity<PackMask<Bytes>>) {
  if (count == 1) return PackMask<Bytes>(*static_cast<const std::uint8_t*>(from) != 0);
  typename PackMask<Bytes>::byte_vector bytes{};
#if RICCI_PACK_BYTES == 64
  const __m512i loaded = load_lanes<1>(from, count);
  __builtin_memcpy(&bytes, &loaded, sizeof bytes);
#else
  copy_lanes<1, PackMask<Bytes>::lanes>(&bytes, from, count);
#endif
  return mask_of_bytes<Bytes>(bytes);
}

template <int Bytes>
RICCI_ALWAYS_INLINE typename PackMask<Bytes>::byte_vector bytes_of_mask(PackMask<Bytes> m) {
  return __builtin_convertvector(m.v, typename PackMask<Bytes>::byte_vector) & 1;
}

template <int Bytes>
RICCI_ALWAYS_INLINE void store(void* to, PackMask<Bytes> m) {
  const auto bytes = bytes_of_mask(m);
  __builtin_memcpy(to, &bytes, sizeof bytes);
}

template <int Bytes>
RICCI_ALWAYS_INLINE void store(void* to, PackMask<Bytes> m, int count) {
  if (count == 1) {
    *static_cast<std::uint8_t*>(to) = m.v[0] != 0;
    return;
  }
  const auto bytes = bytes_of_mask(m);
#if RICCI_PACK_BYTES == 64
  __m512i wide = _mm512_setzero_si512();
  __builtin_memcpy(&wide, &bytes, sizeof bytes);
  store_lanes<1>(to, wide, count);
#else
  copy_lanes<1, PackMask<Bytes>::lanes>(to, &bytes, count);
#endif
}

}  // namespace RICCI_ISA
}  // namespace ricci::scalar
