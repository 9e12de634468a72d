// Filling views with random numbers: whole vectors of blocks straight to memory where it is contiguous, else through a
// buffer.
#include "kernels/random.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "kernels/random_normal.h"
#include "kernels/random_philox.h"
#include "kernels/sort_keys.h"
#include "ricci/primitive/parallel.h"
#include "ricci/primitive/reduction_axes.h"
#include "ricci/primitive/scratch.h"

namespace ricci::kernels {
namespace {

// What becomes of the words of a vector of blocks. `Words` says how many elements they make; `Element` which.

struct Raw32 {
  using Words = Words32;
  using Element = std::uint32_t;
  static Words32 make(std::uint64_t block, RandomSource source) { return words32(block, source); }
};
struct Raw64 {
  using Words = Words64;
  using Element = std::uint64_t;
  static Words64 make(std::uint64_t block, RandomSource source) { return words64(block, source); }
};
/// Of Digits bits.
template <int Digits>
struct Uniform32 {
  using Words = Words32;
  using Element = float;
  static Words32 make(std::uint64_t block, RandomSource source) {
    Words32 words = words32(block, source);
    using R = Registers<std::uint32_t>;
    for (auto& word : words.word) word = R::bits(uniform<Digits, R>(word));
    return words;
  }
};
struct Uniform64 {
  using Words = Words64;
  using Element = double;
  static Words64 make(std::uint64_t block, RandomSource source) {
    Words64 words = words64(block, source);
    using R = Registers<std::uint64_t>;
    for (auto& word : words.word) word = R::bits(uniform<53, R>(word));
    return words;
  }
};
struct Normal32 {
  using Words = Words32;
  using Element = float;
  static Words32 make(std::uint64_t block, RandomSource source) {
    Words32 words = words32(block, source);
    box_muller<std::uint32_t>(words.word[0], words.word[1]);
    box_muller<std::uint32_t>(words.word[2], words.word[3]);
    return words;
  }
};
struct Normal64 {
  using Words = Words64;
  using Element = double;
  static Words64 make(std::uint64_t block, RandomSource source) {
    Words64 words = words64(block, source);
    box_muller<std::uint64_t>(words.word[0], words.word[1]);
    return words;
  }
};

/// What an element takes, roughly.
template <class Kind>
constexpr double nanoseconds = 0.05 * sizeof(typename Kind::Element);

/// Elements [first, first + count) to contiguous memory, on this thread.
template <class Kind>
void fill_part(typename Kind::Element* to, std::int64_t count, RandomSource source, std::uint64_t first) {
  using E = typename Kind::Element;
  constexpr std::int64_t elements = Kind::Words::elements;
  constexpr std::uint64_t elements_of_block = 16 / sizeof(E);
  std::uint64_t block = first / elements_of_block;
  // Where the vector's first element belongs: up to a block before `to`.
  std::int64_t at = -static_cast<std::int64_t>(first % elements_of_block);
  for (; at < count; at += elements, block += elements / elements_of_block) {
    const auto words = Kind::make(block, source);
    if (at >= 0 && at + elements <= count) {
      store_in_order(to + at, words.word);
      continue;
    }
    E buffer[elements];
    store_in_order(buffer, words.word);
    const std::int64_t from = std::max<std::int64_t>(0, -at), until = std::min(elements, count - at);
    std::copy(buffer + from, buffer + until, to + at + from);
  }
}

template <class Kind>
void fill_run(typename Kind::Element* to, std::int64_t count, RandomSource source, std::uint64_t first) {
  parallel_for({count, nanoseconds<Kind>, line_step()}, [&](std::int64_t begin, std::int64_t end) {
    fill_part<Kind>(to + begin, end - begin, source, first + static_cast<std::uint64_t>(begin));
  });
}

bool is_row_major(const Strided& x) {
  std::int64_t step = 1;
  for (int i = x.rank - 1; i >= 0; --i) {
    if (x.strides[i] != step && x.shape[i] != 1) return false;
    step *= x.shape[i];
  }
  return true;
}

std::int64_t elements_of(const Strided& x) {
  std::int64_t count = 1;
  for (int i = 0; i < x.rank; ++i) count *= x.shape[i];
  return count;
}

/// The axes of x as loops, in their own order.
AxisList loops_over(const Strided& x) {
  assert(x.rank <= max_axes);
  AxisList list;
  for (int i = 0; i < x.rank; ++i) list.axis[list.count++] = {x.shape[i], x.strides[i], 0, 0};
  return list;
}

/// Elements of Kind, each converted, to an `out` of T.
template <class T, class Kind, class Convert>
void fill_converted(const Strided& out, RandomSource source, std::uint64_t first, Convert convert) {
  constexpr std::int64_t room = 1024;
  T* to = static_cast<T*>(out.data);
  const bool contiguous = is_row_major(out);
  const AxisList loops = loops_over(out);
  parallel_for({elements_of(out), 2 * nanoseconds<Kind>, line_step()}, [&](std::int64_t begin, std::int64_t end) {
    typename Kind::Element buffer[room];
    Walk place(loops.axis, loops.count, contiguous ? 0 : begin);
    for (std::int64_t i = begin; i < end; i += room) {
      const std::int64_t size = std::min(room, end - i);
      fill_part<Kind>(buffer, size, source, first + static_cast<std::uint64_t>(i));
      if (contiguous) std::transform(buffer, buffer + size, to + i, convert);
      else
        for (std::int64_t k = 0; k < size; ++k, place.next()) to[place.at.out] = convert(buffer[k]);
    }
  });
}

/// Elements of Kind to an `out` of T, which is Kind's element type but for its sign, or is rounded from it.
template <class T, class Kind>
void fill_view(const Strided& out, RandomSource source, std::uint64_t first) {
  using E = typename Kind::Element;
  if constexpr (sizeof(T) == sizeof(E)) {
    if (is_row_major(out)) return fill_run<Kind>(static_cast<E*>(out.data), elements_of(out), source, first);
  }
  fill_converted<T, Kind>(out, source, first, [](E x) { return static_cast<T>(x); });
}

/// Records in the order of random keys: by their upper halves, then the few equal ones by the whole keys.
/// Requires: `records` has room for 2 * size.
void sort_keys(const std::uint64_t* keys, PackedRecord* records, std::int64_t size) {
  for (std::int64_t i = 0; i < size; ++i) records[i] = PackedRecord(keys[i] >> 32, i);
  sort_records(records, records + size, size, sizeof(std::uint32_t));
  for (std::int64_t i = 1; i < size; ++i) {
    const PackedRecord record = records[i];
    std::int64_t at = i;
    for (; at > 0 && records[at - 1].key() == record.key() && keys[record.place()] < keys[records[at - 1].place()];
         --at)
      records[at] = records[at - 1];
    records[at] = record;
  }
}

}  // namespace

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  const auto joined = [](std::uint32_t low, std::uint32_t high) { return std::uint64_t{high} << 32 | low; };
  const BlockWords words = philox_words(Bits<std::uint64_t>{} + joined(counter[0], counter[1]),
                                        {joined(key[0], key[1]), joined(counter[2], counter[3])});
  std::array<std::uint32_t, 4> block;
  for (std::size_t w = 0; w < 4; ++w) block[w] = static_cast<std::uint32_t>(words.word[w][0]);
  return block;
}

RandomSource derived_source(RandomSource parent, std::uint64_t number, Purpose purpose) {
  const BlockWords words =
      philox_words(Bits<std::uint64_t>{} + number, {parent.seed ^ bits_of(purpose), parent.stream});
  const auto joined = [&](int w) { return (words.word[w][0] & 0xffffffffU) | words.word[w + 1][0] << 32; };
  return {joined(0), joined(2)};
}

void random_bits(Strided out, RandomSource source, std::uint64_t first) {
  switch (out.dtype) {
    case DType::boolean:
      return fill_converted<bool, Raw32>(out, source, first, [](std::uint32_t bits) { return (bits & 1) != 0; });
    case DType::uint8: return fill_view<std::uint8_t, Raw32>(out, source, first);
    case DType::int8: return fill_view<std::int8_t, Raw32>(out, source, first);
    case DType::int16: return fill_view<std::int16_t, Raw32>(out, source, first);
    case DType::int32: return fill_view<std::int32_t, Raw32>(out, source, first);
    case DType::int64: return fill_view<std::int64_t, Raw64>(out, source, first);
    default: assert(false && "random_bits: an integer type");
  }
}

void random_uniform(Strided out, RandomSource source, std::uint64_t first) {
  switch (out.dtype) {
    case DType::float16: return fill_view<Half, Uniform32<11>>(out, source, first);
    case DType::bfloat16: return fill_view<BFloat16, Uniform32<8>>(out, source, first);
    case DType::float32: return fill_view<float, Uniform32<24>>(out, source, first);
    case DType::float64: return fill_view<double, Uniform64>(out, source, first);
    default: assert(false && "random_uniform: a floating type");
  }
}

void random_normal(Strided out, RandomSource source, std::uint64_t first) {
  switch (out.dtype) {
    case DType::float16: return fill_view<Half, Normal32>(out, source, first);
    case DType::bfloat16: return fill_view<BFloat16, Normal32>(out, source, first);
    case DType::float32: return fill_view<float, Normal32>(out, source, first);
    case DType::float64: return fill_view<double, Normal64>(out, source, first);
    default: assert(false && "random_normal: a floating type");
  }
}

void random_integers(Strided out, std::int64_t low, std::int64_t high, RandomSource source, std::uint64_t first) {
  assert(low < high && !is_complex(out.dtype));
  const std::uint64_t range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  const auto draw = [=](std::uint64_t bits) {
    const auto upper = static_cast<std::uint64_t>(static_cast<unsigned __int128>(bits) * range >> 64);
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + upper);
  };
  visit_dtype(out.dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (is_complex(dtype_of<T>)) __builtin_unreachable();
    else
      fill_converted<T, Raw64>(out, source, first, [&](std::uint64_t bits) {
        const std::int64_t value = draw(bits);
        if constexpr (sizeof(T) == 2 && !std::is_integral_v<T>) return T(static_cast<float>(value));
        else return static_cast<T>(value);
      });
  });
}

void random_permutation(Strided out, RandomSource source, std::uint64_t first) {
  assert(out.dtype == DType::int64 && out.rank >= 1);
  const AxisList loops = loops_over(out);
  const Axis lane = loops.last();
  assert(lane.size < (std::int64_t{1} << 32));
  if (elements_of(out) == 0) return;
  constexpr double nanoseconds_per_key = 10;
  const double nanoseconds_per_row = nanoseconds_per_key * static_cast<double>(lane.size);
  parallel_for({elements_of(out) / lane.size, nanoseconds_per_row}, [&](std::int64_t begin, std::int64_t end) {
    const Scratch<std::uint64_t> keys(lane.size);
    const Scratch<PackedRecord> records(2 * lane.size);
    Walk row(loops.axis, loops.count - 1, begin);
    for (std::int64_t r = begin; r < end; ++r, row.next()) {
      fill_run<Raw64>(keys.data(), lane.size, source, first + static_cast<std::uint64_t>(r * lane.size));
      sort_keys(keys.data(), records.data(), lane.size);
      auto* to = static_cast<std::int64_t*>(out.data) + row.at.out;
      for (std::int64_t i = 0; i < lane.size; ++i) to[i * lane.out] = records.data()[i].place();
    }
  });
}

}  // namespace ricci::kernels
