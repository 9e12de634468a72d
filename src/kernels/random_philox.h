// Philox4x32-10 on vectors of blocks, and the order that turns words by block into elements in memory.
// Knows nothing of distributions. Start with `philox_words`.
#pragma once

#include <cstdint>
#include <utility>

#include "kernels/machine.h"
#include "kernels/random.h"
#include "ricci/primitive/scalar.h"

namespace ricci::kernels {

using scalar::Pack;

template <class U>
struct BitsOf {
  static constexpr int lanes = scalar::pack_bytes / static_cast<int>(sizeof(U));
  typedef U type __attribute__((vector_size(scalar::pack_bytes)));
};
/// One register of unsigned integers.
template <class U>
using Bits = typename BitsOf<U>::type;

/// Lane i holds i's block among the blocks of a vector.
using BlockOrder = Bits<std::uint64_t>;

/// The words of one block a lane, in the lower halves; the upper halves are unspecified.
struct BlockWords {
  Bits<std::uint64_t> word[4];
};

/// The words that the ten rounds are written in, for registers: of 64 bits, of which the upper half is unspecified. A
/// value that is written down brings its own (random/drawn_scalars.h).
struct BlockRegisters {
  using Word = Bits<std::uint64_t>;
  using Key = std::uint32_t;
  static Word of_key(Key key) { return Word{} + key; }
  static Key number(std::uint32_t n) { return n; }
  /// Of the lower half of x.
  RICCI_ALWAYS_INLINE static Word product(std::uint32_t factor, Word x) { return multiply_low(Word{} + factor, x); }
  static Word upper(Word x) { return x >> 32; }
};

template <class W>
struct WordsOfBlock {
  typename W::Word word[4];
};

/// `stream` and `key`: their lower and upper halves.
template <class W>
RICCI_ALWAYS_INLINE WordsOfBlock<W> philox(typename W::Word block, const typename W::Word (&stream)[2],
                                           const typename W::Key (&key)[2]) {
  typename W::Word c0 = block, c1 = W::upper(block), c2 = stream[0], c3 = stream[1];
  typename W::Key k0 = key[0], k1 = key[1];
  for (int round = 0; round < 10; ++round) {
    const auto product0 = W::product(0xD2511F53U, c0), product1 = W::product(0xCD9E8D57U, c2);
    c0 = W::upper(product1) ^ c1 ^ W::of_key(k0), c1 = product1;
    c2 = W::upper(product0) ^ c3 ^ W::of_key(k1), c3 = product0;
    k0 = k0 + W::number(0x9E3779B9U), k1 = k1 + W::number(0xBB67AE85U);
  }
  return {{c0, c1, c2, c3}};
}

RICCI_ALWAYS_INLINE BlockWords philox_words(Bits<std::uint64_t> block, RandomSource source) {
  const Bits<std::uint64_t> zero = {}, stream[] = {zero + (source.stream & 0xffffffffU), zero + (source.stream >> 32)};
  const std::uint32_t key[] = {static_cast<std::uint32_t>(source.seed), static_cast<std::uint32_t>(source.seed >> 32)};
  const auto words = philox<BlockRegisters>(block, stream, key);
  return {{words.word[0], words.word[1], words.word[2], words.word[3]}};
}

// --- Elements of 32 bits: word w of block b is element 4 b + w.

/// Words by their number; lane l belongs to block_of_lane32(l).
struct Words32 {
  static constexpr int lanes = BitsOf<std::uint32_t>::lanes;
  static constexpr int elements = 4 * lanes;
  Bits<std::uint32_t> word[4];
};

/// Chosen so that `in_order` stays within 128-bit parts of registers, where shuffles are cheap.
constexpr std::uint64_t block_of_lane32(int lane) {
  return static_cast<std::uint64_t>(lane % 4 * (Words32::lanes / 4) + lane / 4);
}

template <int Odd>
inline constexpr BlockOrder blocks32 = []<std::size_t... I>(std::index_sequence<I...>) {
  return BlockOrder{block_of_lane32(static_cast<int>(2 * I + Odd))...};
}(std::make_index_sequence<BitsOf<std::uint64_t>::lanes>{});

/// Blocks [first, first + lanes).
RICCI_ALWAYS_INLINE Words32 words32(std::uint64_t first, RandomSource source) {
  const BlockWords even = philox_words(blocks32<0> + first, source), odd = philox_words(blocks32<1> + first, source);
  Words32 words;
  for (int w = 0; w < 4; ++w) words.word[w] = (Bits<std::uint32_t>)((even.word[w] & 0xffffffffU) | (odd.word[w] << 32));
  return words;
}

/// a's and b's lanes in turn, from the lower (or upper) half of each 128-bit part.
template <bool Upper, class V>
RICCI_ALWAYS_INLINE V interleave(V a, V b) {
  constexpr int part = 16 / static_cast<int>(sizeof(a[0])), lanes = scalar::pack_bytes / static_cast<int>(sizeof(a[0]));
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return __builtin_shufflevector(a, b, (I / part * part + (Upper ? part / 2 : 0) + I % part / 2 + I % 2 * lanes)...);
  }(std::make_integer_sequence<int, lanes>{});
}

/// Stores what the words became, in the order of elements.
template <class E>
RICCI_ALWAYS_INLINE void store_in_order(E* to, const Bits<std::uint32_t> (&word)[4]) {
  static_assert(sizeof(E) == 4);
  const auto low01 = interleave<false>(word[0], word[1]), low23 = interleave<false>(word[2], word[3]);
  const auto high01 = interleave<true>(word[0], word[1]), high23 = interleave<true>(word[2], word[3]);
  using Wide = Bits<std::uint64_t>;
  const Wide ordered[4] = {interleave<false>((Wide)low01, (Wide)low23), interleave<true>((Wide)low01, (Wide)low23),
                           interleave<false>((Wide)high01, (Wide)high23), interleave<true>((Wide)high01, (Wide)high23)};
  __builtin_memcpy(to, ordered, sizeof ordered);
}

// --- Elements of 64 bits: words 2 h and 2 h + 1 of block b are the lower and upper half of element 2 b + h.

struct Words64 {
  static constexpr int lanes = BitsOf<std::uint64_t>::lanes;
  static constexpr int elements = 2 * lanes;
  Bits<std::uint64_t> word[2];
};

inline constexpr BlockOrder blocks64 = []<std::size_t... I>(std::index_sequence<I...>) {
  return BlockOrder{static_cast<std::uint64_t>(I % 2 * (Words64::lanes / 2) + I / 2)...};
}(std::make_index_sequence<BitsOf<std::uint64_t>::lanes>{});

RICCI_ALWAYS_INLINE Words64 words64(std::uint64_t first, RandomSource source) {
  const BlockWords c = philox_words(blocks64 + first, source);
  return {{(c.word[0] & 0xffffffffU) | (c.word[1] << 32), (c.word[2] & 0xffffffffU) | (c.word[3] << 32)}};
}

template <class E>
RICCI_ALWAYS_INLINE void store_in_order(E* to, const Bits<std::uint64_t> (&word)[2]) {
  static_assert(sizeof(E) == 8);
  const Bits<std::uint64_t> ordered[2] = {interleave<false>(word[0], word[1]), interleave<true>(word[0], word[1])};
  __builtin_memcpy(to, ordered, sizeof ordered);
}

}  // namespace ricci::kernels
