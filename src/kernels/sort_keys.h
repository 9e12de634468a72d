// Elements as unsigned keys in sorting order, and records of a key and a place. NaN is the greatest key, -0 and 0 share
// theirs. Knows nothing of lanes or algorithms.
#pragma once

#include <bit>
#include <compare>
#include <cstdint>
#include <type_traits>

#include "ricci/dtype.h"

namespace ricci::kernels {

template <int Bytes>
struct UnsignedOf;
template <> struct UnsignedOf<1> {
  using type = std::uint8_t;
};
template <> struct UnsignedOf<2> {
  using type = std::uint16_t;
};
template <> struct UnsignedOf<4> {
  using type = std::uint32_t;
};
template <> struct UnsignedOf<8> {
  using type = std::uint64_t;
};
template <class T>
using Key = typename UnsignedOf<sizeof(T)>::type;

template <class T>
inline constexpr Key<T> sign_bit = static_cast<Key<T>>(Key<T>{1} << (8 * sizeof(T) - 1));
template <class T>
inline constexpr Key<T> nan_key = static_cast<Key<T>>(~Key<T>{0});

/// Smaller for smaller elements.
template <class T>
Key<T> key_of(T x) {
  using K = Key<T>;
  if constexpr (std::is_same_v<T, bool> || std::is_unsigned_v<T>) {
    return static_cast<K>(x);
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<K>(static_cast<K>(x) ^ sign_bit<T>);
  } else {
    const auto number = static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(x);
    const K bits = std::bit_cast<K>(x);
    const K ordered = static_cast<K>((bits & sign_bit<T>) != 0 ? ~bits : bits | sign_bit<T>);
    return number != number ? nan_key<T> : number == 0 ? sign_bit<T> : ordered;
  }
}

/// Whether the element can be told from its key.
template <class T>
bool is_exact(Key<T> key) {
  return std::is_integral_v<T> || (key != nan_key<T> && key != sign_bit<T>);
}
/// Requires: is_exact(key).
template <class T>
T element_of(Key<T> key) {
  using K = Key<T>;
  if constexpr (std::is_same_v<T, bool> || std::is_unsigned_v<T>) return static_cast<T>(key);
  else if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<K>(key ^ sign_bit<T>));
  else return std::bit_cast<T>(static_cast<K>((key & sign_bit<T>) != 0 ? key ^ sign_bit<T> : ~key));
}

/// A key of up to 32 bits and a place below 2^32, in one integer.
struct PackedRecord {
  std::uint64_t bits;

  PackedRecord() = default;
  PackedRecord(std::uint64_t key, std::int64_t place) : bits(key << 32 | static_cast<std::uint64_t>(place)) {}
  std::uint64_t key() const { return bits >> 32; }
  std::int64_t place() const { return static_cast<std::int64_t>(bits & 0xffffffffU); }
  friend auto operator<=>(PackedRecord, PackedRecord) = default;
};

/// Any key and place.
struct WideRecord {
  std::uint64_t bits;
  std::int64_t index;

  WideRecord() = default;
  WideRecord(std::uint64_t key, std::int64_t place) : bits(key), index(place) {}
  std::uint64_t key() const { return bits; }
  std::int64_t place() const { return index; }
  friend bool operator<(const WideRecord& a, const WideRecord& b) {
    return a.bits < b.bits || (a.bits == b.bits && a.index < b.index);
  }
};

/// Sorts `count` records by key and, of equal keys, by place. Requires: places ascend; `working` has room for `count`;
/// keys have at most `key_bytes` bytes.
void sort_records(PackedRecord* records, PackedRecord* working, std::int64_t count, int key_bytes);
void sort_records(WideRecord* records, WideRecord* working, std::int64_t count, int key_bytes);

/// The same without places that ascend, in place, and slower.
void sort_shuffled(PackedRecord* records, std::int64_t count);
void sort_shuffled(WideRecord* records, std::int64_t count);

/// Puts the record that belongs at `place` there, with none behind it that is less and none before it that is greater.
void partition_records(PackedRecord* records, std::int64_t place, std::int64_t count);
void partition_records(WideRecord* records, std::int64_t place, std::int64_t count);

}  // namespace ricci::kernels
