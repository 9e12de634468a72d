// Random numbers as pure functions: element i depends on (seed, stream, i) and on the element type, on nothing else.
// The bits are Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011) with
// the seed as key and the counter {i / elements per block, stream}. Knows nothing of tensors or generators.
//
// Every function fills `out` in row-major order of its shape; its first element has i = `first`. So lane b of a batch
// of draws of n elements has `first` = b n, and a draw may be filled in pieces, in any order. Any strides and sizes.
#pragma once

#include <array>
#include <cstdint>

#include "tensor/strided.h"

namespace ricci::kernels {

/// One draw out of 2^128.
struct RandomSource {
  std::uint64_t seed, stream;
};

/// What a source is derived for: sources for different purposes have nothing in common.
enum class Purpose : std::uint8_t { scope, key, split, fold, element };
/// What the parent's seed is mixed with: odd multiples of the golden ratio's bits, far from the small seeds that users
/// choose.
constexpr std::uint64_t bits_of(Purpose purpose) {
  return (2 * static_cast<std::uint64_t>(purpose) + 1) * 0x9e3779b97f4a7c15U;
}
/// A source of its own for every number and purpose, and none that draws from `parent` itself: a block of Philox with
/// another key than theirs.
RandomSource derived_source(RandomSource parent, std::uint64_t number, Purpose purpose);

/// The ten rounds on one block: the published function.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

/// Random bits to any integer type or boolean: those of up to 32 bits take the low bits of word i mod 4 of block i / 4,
/// int64 takes words 2 (i mod 2) and 2 (i mod 2) + 1 of block i / 2.
void random_bits(Strided out, RandomSource source, std::uint64_t first = 0);

/// Uniform on [0, 1), a multiple of 2^-24 (float32), 2^-53 (float64), 2^-11 (float16) or 2^-8 (bfloat16).
void random_uniform(Strided out, RandomSource source, std::uint64_t first = 0);

/// Standard normal by Box and Muller's formula: elements 2j and 2j + 1 are the two coordinates of pair j, so a value
/// depends on its pair's bits. Floating types; float16 and bfloat16 are rounded from float32's. Relative error of the
/// formula below 6 * 2^-24 (float32), 6 * 2^-53 (float64). |z| <= 6.77 (float32), 9.50 (float64).
void random_normal(Strided out, RandomSource source, std::uint64_t first = 0);

/// Uniform on {low, …, high - 1} by the upper half of a 64 x 64-bit product of element i's 64 bits and the range: a
/// value's probability is off by less than 2^-64. `out` is any real type. Requires: low < high.
void random_integers(Strided out, std::int64_t low, std::int64_t high, RandomSource source, std::uint64_t first = 0);

/// A permutation of {0, …, n - 1} along the last axis of an int64 `out`: row r (row-major) sorts n 64-bit keys, which
/// are elements first + r n and on of the source. Requires: rank >= 1, n < 2^32.
void random_permutation(Strided out, RandomSource source, std::uint64_t first = 0);

}  // namespace ricci::kernels
