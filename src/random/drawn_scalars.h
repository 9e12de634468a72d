// Draws written down as scalars: element i of a source in words of whole numbers and floats, by the formulas that the
// kernels use. Knows nothing of who reads them. Start with `DrawnElement`.
#pragma once

#include <array>

#include "kernels/random_normal.h"
#include "program/element_writer.h"
#include "tensor/at.h"

namespace ricci {

/// The words of the rounds: in the lower halves of whole numbers.
struct BlockScalars {
  using Word = Whole;
  using Key = Whole;
  static Word of_key(const Key& key) { return key; }
  static Key number(std::uint32_t n) { return Key(n); }
  static Word lower(const Word& x) { return x & Word(std::int64_t{0xffffffff}); }
  static Word product(std::uint32_t factor, const Word& x) { return lower(x) * Word(factor); }
  static Word upper(const Word& x) { return x >> 32; }
};

/// The words of the formulas, for bits of U in whole numbers of the same size.
template <class U>
struct DrawnScalars {
  using Unsigned = U;
  using Element = std::make_signed_t<U>;
  using Whole = Typed<Element>;
  using Float = Typed<typename kernels::FloatOf<U>::type>;
  static constexpr U sign = U{1} << (8 * sizeof(U) - 1);
  static Whole whole(U n) { return Whole(static_cast<Element>(n)); }
  static Whole shifted(const Whole& x, int bits) { return (x >> bits) & whole(static_cast<U>(-1) >> bits); }
  static Whole shifted_as_signed(const Whole& x, int bits) { return x >> bits; }
  static Float of_unsigned(const Whole& x) { return x.template to_from_unsigned<typename Float::element>(); }
  static Float of_signed(const Whole& x) { return x.template to<typename Float::element>(); }
  static Whole bits(const Float& x) { return x.template bits<Element>(); }
  static Float of_bits(const Whole& x) { return x.template bits<typename Float::element>(); }
  static TypedMask is_at_least(const Whole& x, U bound) {
    return scalar::greater_equal(x ^ whole(sign), whole(bound ^ sign));
  }
  static TypedMask is_not_zero(const Whole& x) { return scalar::not_equal(x, whole(0)); }
  static Float select(const TypedMask& mask, const Float& yes, const Float& no) {
    return scalar::select(mask, yes, no);
  }
};

/// The words of a block of a source, in the lower halves.
inline std::array<Whole, 4> block_scalars(const Whole& seed, const Whole& stream, const Whole& number) {
  const Whole stream_words[] = {BlockScalars::lower(stream), BlockScalars::upper(stream)};
  const Whole key[] = {seed, BlockScalars::upper(seed)};
  const auto made = kernels::philox<BlockScalars>(number, stream_words, key);
  return {made.word[0], made.word[1], made.word[2], made.word[3]};
}
inline Whole joined(const Whole& low, const Whole& high) { return BlockScalars::lower(low) | high << 32; }

/// As kernels::derived_source: its seed, or its stream.
inline Scalar derived_scalar(const Whole& seed, const Whole& stream, const Whole& number, kernels::Purpose purpose,
                             bool is_stream) {
  const Whole own = seed ^ Whole(static_cast<std::int64_t>(kernels::bits_of(purpose)));
  const std::array<Whole, 4> words = block_scalars(own, stream, number);
  return is_stream ? joined(words[2], words[3]).scalar() : joined(words[0], words[1]).scalar();
}

/// An element of a draw: the source, and the element's number, `first + of_lane * lane`. Requires: neighbouring lanes
/// have no block of `elements_of_block` in common.
struct DrawnElement {
  Whole seed, stream;
  std::int64_t first, of_lane;
  Whole lane;

  /// The bits of the element of number `i`, in the block of this one, where a block has four.
  Typed<std::int32_t> word32(std::int64_t i) const { return block(i / 4, of_lane / 4)[at(i % 4)].to<std::int32_t>(); }
  /// The same where it has two.
  Whole word64(std::int64_t i) const {
    const std::array<Whole, 4> words = block(i / 2, of_lane / 2);
    const std::size_t low = at(2 * (i % 2));
    return joined(words[low], words[low + 1]);
  }

 private:
  std::array<Whole, 4> block(std::int64_t number, std::int64_t blocks_of_lane) const {
    return block_scalars(seed, stream, Whole(number) + lane * Whole(blocks_of_lane));
  }
};

/// Uniform on [0, 1), as kernels::random_uniform.
inline Scalar uniform_scalar(const DrawnElement& x, DType dtype) {
  using Single = DrawnScalars<std::uint32_t>;
  if (dtype == DType::float64) return kernels::uniform<53, DrawnScalars<std::uint64_t>>(x.word64(x.first)).scalar();
  const auto word = x.word32(x.first);
  if (dtype == DType::float32) return kernels::uniform<24, Single>(word).scalar();
  const auto narrow = dtype == DType::float16 ? kernels::uniform<11, Single>(word) : kernels::uniform<8, Single>(word);
  return this_thread.scalars->converted(dtype, narrow.scalar(), false);
}

/// Standard normal, as kernels::random_normal: two elements are the coordinates of one point.
inline Scalar normal_scalar(const DrawnElement& x, DType dtype) {
  const std::int64_t even = x.first / 2 * 2;
  const bool is_second = x.first % 2 == 1;
  const auto coordinate = [&]<class W>(auto first, auto second, W) {
    kernels::box_muller_words<W>(first, second);
    return W::of_bits(is_second ? second : first).scalar();
  };
  if (dtype == DType::float64) return coordinate(x.word64(even), x.word64(even + 1), DrawnScalars<std::uint64_t>());
  const Scalar single = coordinate(x.word32(even), x.word32(even + 1), DrawnScalars<std::uint32_t>());
  return this_thread.scalars->converted(dtype, single, false);
}

/// On {low, …, high - 1}, as kernels::random_integers. Requires: low < high.
inline Scalar integer_scalar(const DrawnElement& x, std::int64_t low, std::int64_t high, DType dtype) {
  using W = DrawnScalars<std::uint64_t>;
  const std::uint64_t range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  // The upper half of bits * range, by products of halves.
  const Whole bits = x.word64(x.first), halves[] = {BlockScalars::lower(bits), W::shifted(bits, 32)};
  const Whole of_range[] = {Whole(range & 0xffffffffU), Whole(range >> 32)};
  const Whole carried = halves[1] * of_range[0] + W::shifted(halves[0] * of_range[0], 32);
  const Whole middle = halves[0] * of_range[1] + BlockScalars::lower(carried);
  const Whole upper = halves[1] * of_range[1] + W::shifted(carried, 32) + W::shifted(middle, 32);
  return this_thread.scalars->converted(dtype, (Whole(low) + upper).scalar(), false);
}

}  // namespace ricci
