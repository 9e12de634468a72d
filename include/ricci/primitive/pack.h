// Pack<E>: as many elements of type E as one vector register of the compiling machine holds, with arithmetic,
// comparison, loads and stores. Knows nothing of tensors or mathematical functions (scalar.h has those).
// Everything depends on the instruction set of the translation unit, so it lives in an inline namespace named after it
// (machine.h). Start with `Pack`.
#pragma once

#include <cstdint>
#include <type_traits>

#include "ricci/dtype.h"
#include "ricci/primitive/machine.h"

namespace ricci::scalar {
inline namespace RICCI_ISA {

inline constexpr int pack_bytes = machine::register_bytes;

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
  return machine::any((machine::Bytes)m.v);
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
  if constexpr (machine::masks_memory) {
    return Pack<E>((typename Pack<E>::vector)machine::load_lanes<sizeof(lane_type<E>)>(from, count));
  } else {
    Pack<E> p(0);
    copy_lanes<sizeof(lane_type<E>), Pack<E>::lanes>(&p.v, from, count);
    return p;
  }
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
  if constexpr (machine::masks_memory) machine::store_lanes<sizeof(lane_type<E>)>(to, (machine::Bytes)p.v, count);
  else copy_lanes<sizeof(lane_type<E>), Pack<E>::lanes>(to, &p.v, count);
}

// Masks in memory are bool elements, one byte a lane.

template <int Bytes>
RICCI_ALWAYS_INLINE PackMask<Bytes> mask_of_bytes(typename PackMask<Bytes>::byte_vector bytes) {
  using Vector = typename PackMask<Bytes>::vector;
  return PackMask<Bytes>((Vector)(machine::widen_bytes<Vector>(bytes) != 0));
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
  if constexpr (machine::masks_memory) {
    const machine::Bytes loaded = machine::load_lanes<1>(from, count);
    __builtin_memcpy(&bytes, &loaded, sizeof bytes);
  } else {
    copy_lanes<1, PackMask<Bytes>::lanes>(&bytes, from, count);
  }
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
  if constexpr (machine::masks_memory) {
    machine::Bytes wide{};
    __builtin_memcpy(&wide, &bytes, sizeof bytes);
    machine::store_lanes<1>(to, wide, count);
  } else {
    copy_lanes<1, PackMask<Bytes>::lanes>(to, &bytes, count);
  }
}

}  // namespace RICCI_ISA
}  // namespace ricci::scalar
