// Registers hold one output of several channels. Some rows of outputs are computed with channels last, then copied
// transposed to the output: of rows that follow each other, so that a channel's part is long. Elements are known by
// their bytes, but where they are folded; loops there are short, so that the processor sees many loads ahead.
#include "kernels/pooling_channels.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "kernels/elementwise.h"
#include "kernels/strided.h"
#include "ricci/primitive/accumulators.h"
#include "ricci/primitive/scalar.h"

namespace ricci::kernels {
namespace {

/// The greatest of what is seen; NaN if one is.
template <class T>
struct Greatest {
  using Pack = scalar::Pack<T>;
  explicit Greatest(std::int64_t) {}
  static Pack start() { return Pack(lowest<T>()); }
  static Pack fold(Pack so_far, Pack x) { return scalar::max(x, so_far); }
  Pack finish(Pack folded) const { return folded; }
};
/// The sum over a divisor.
template <class T>
struct Quotient {
  using Pack = scalar::Pack<T>;
  explicit Quotient(std::int64_t by) : divisor(static_cast<T>(by)) {}
  static Pack start() { return Pack(T(0)); }
  static Pack fold(Pack so_far, Pack x) { return so_far + x; }
  Pack finish(Pack folded) const { return folded / divisor; }
  Pack divisor;
};
/// The sum times the reciprocal of a power of two: the same number as the quotient, in less time.
template <class T>
struct Product {
  using Pack = scalar::Pack<T>;
  explicit Product(std::int64_t power) : factor(T(1) / static_cast<T>(power)) {}
  static Pack start() { return Pack(T(0)); }
  static Pack fold(Pack so_far, Pack x) { return so_far + x; }
  Pack finish(Pack folded) const { return folded * factor; }
  Pack factor;
};

/// Neighbouring outputs that see the same positions of their windows, with all channels: the first output sees what
/// lies at each of `seen`, each later one what lies `step` further on.
struct Neighbours {
  const char* const* begin;
  const char* const* end;  // of the positions
  std::int64_t step;       // bytes
  std::int64_t count, channels;
  std::int64_t divisor;
};

/// The folds of `packs` registers of channels, the first at byte `at`.
template <int packs, class F>
RICCI_ALWAYS_INLINE void fold_packs(const F& f, const Neighbours& o, std::int64_t at,
                                    typename F::Pack (&folded)[packs]) {
  using Pack = typename F::Pack;
  for (Pack& each : folded) each = F::start();
  for (const char* const* from = o.begin; from != o.end; ++from)
    for (int k = 0; k < packs; ++k)
      folded[k] = F::fold(folded[k], load(*from + at + k * static_cast<int>(sizeof(Pack)), std::type_identity<Pack>()));
  for (Pack& each : folded) each = f.finish(each);
}

/// to: [outputs, channels].
template <class T, template <class> class Folded>
void fold_outputs(void* result, const Neighbours& o) {
  using Pack = scalar::Pack<T>;
  constexpr int at_once = 4, width = static_cast<int>(sizeof(Pack));
  const Folded<T> f(o.divisor);
  const std::int64_t bytes = o.channels * static_cast<std::int64_t>(sizeof(T));
  char* to = static_cast<char*>(result);
  for (std::int64_t i = 0; i < o.count; ++i, to += bytes) {
    const std::int64_t first = i * o.step;
    std::int64_t c = 0;
    for (; c + at_once * width <= bytes; c += at_once * width) {
      Pack folded[at_once];
      fold_packs(f, o, first + c, folded);
      for (int k = 0; k < at_once; ++k) store(to + c + k * width, folded[k]);
    }
    for (; c + width <= bytes; c += width) {
      Pack folded[1];
      fold_packs(f, o, first + c, folded);
      store(to + c, folded[0]);
    }
    if (c == bytes) continue;
    const int rest = static_cast<int>((bytes - c) / static_cast<std::int64_t>(sizeof(T)));
    Pack folded = f.start();
    for (const char* const* from = o.begin; from != o.end; ++from)
      folded = f.fold(folded, load(*from + first + c, rest, std::type_identity<Pack>()));
    store(to + c, f.finish(folded), rest);
  }
}

using FoldOutputs = void (*)(void* to, const Neighbours& outputs);

FoldOutputs fold_of(DType dtype, bool is_mean, bool by_power) {
  if (is_mean && dtype == DType::float32)
    return by_power ? fold_outputs<float, Product> : fold_outputs<float, Quotient>;
  if (is_mean) return by_power ? fold_outputs<double, Product> : fold_outputs<double, Quotient>;
  FoldOutputs fold = nullptr;
  visit_real(dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_arithmetic_v<T>) fold = fold_outputs<T, Greatest>;
  });
  return fold;
}

/// Volumes of elements that are known by their bytes, and the windows that slide over them.
struct Channels {
  std::int64_t count, width;  // channels; bytes of an element
  Volume<const char> in;
  const SlidingWindow& window;
  const Divisors* divisors;
  DType dtype;

  std::int64_t pixel() const { return count * width; }  // bytes
};

/// One position in the windows of a row of outputs: output j of begin <= j < end sees what lies at from + j * step.
struct Position {
  const char* from;
  std::int64_t begin, end;
};

/// to[output, channel] of one row of outputs over the volume at `data`, by runs of outputs that see the same positions
/// and have one divisor.
void fold_row(char* to, const Channels& c, const char* data, std::int64_t z, std::int64_t y,
              std::vector<Position>& positions, std::vector<const char*>& seen) {
  const std::int64_t step = c.window.axes[2].stride * c.in.strides[2] * c.width;
  positions.clear();
  for_each_tap(c.window, z, y, [&](std::int64_t in_z, std::int64_t in_y, const Tap& tap) {
    const std::int64_t place = in_z * c.in.strides[0] + in_y * c.in.strides[1] + tap.column * c.in.strides[2];
    positions.push_back({data + place * c.width - tap.begin * step, tap.begin, tap.end});
  });
  const auto divisor = [&](std::int64_t j) { return c.divisors != nullptr ? (*c.divisors)(z, y, j) : 1; };
  for (std::int64_t j = 0, next = 0; j < c.window.count; j = next) {
    seen.clear();
    next = c.window.count;
    for (const Position& p : positions) {
      if (p.begin <= j && j < p.end) seen.push_back(p.from + j * step);
      for (const std::int64_t border : {p.begin, p.end})
        if (border > j) next = std::min(next, border);
    }
    const std::int64_t by = divisor(j);
    for (std::int64_t i = j + 1; i < next; ++i)
      if (divisor(i) != by) next = i;
    const bool by_power = by > 0 && std::has_single_bit(static_cast<std::uint64_t>(by));
    fold_of(c.dtype, c.divisors != nullptr, by_power)(
        to + j * c.pixel(), {seen.data(), seen.data() + seen.size(), step, next - j, c.count, by});
  }
}

}  // namespace

void pool_channels(const Strided& output, const Strided& input, int spatial, const SlidingWindow& window,
                   const Divisors* divisors) {
  if (is_empty(output)) return;
  constexpr std::int64_t block_bytes = 1 << 17;  // of results, which stay in a cache until they are turned
  const int axis = input.rank - spatial - 1;
  const Channels c{input.shape[axis],
                   static_cast<std::int64_t>(element_size(input.dtype)),
                   Volumes<const char>(input, spatial).first,
                   window,
                   divisors,
                   input.dtype};
  const BatchOffsets from(input, spatial + 1), to(output, spatial + 1);
  const Volume<char> out = Volumes<char>(output, spatial).first;
  const std::int64_t rows = out.rows(), of_row = window.count * c.pixel();
  const bool follow = out.strides[1] == window.count * out.strides[2] &&
                      (out.sizes[0] == 1 || out.strides[0] == out.sizes[1] * out.strides[1]);
  const std::int64_t least_blocks = std::min(rows, (rows * of_row + block_bytes - 1) / block_bytes);
  const std::int64_t rows_of_block = follow ? (rows + least_blocks - 1) / least_blocks : 1;
  const std::int64_t blocks = (rows + rows_of_block - 1) / rows_of_block;
  cut_volumes(
      from.size() * blocks, rows_of_block * window.count * c.count * window.size(),
      [&](std::int64_t begin, std::int64_t end) {
        const Scratch<char> results(rows_of_block * of_row);
        std::vector<Position> positions;
        std::vector<const char*> seen;
        for (; begin < end; ++begin) {
          const std::int64_t first = begin % blocks * rows_of_block;
          const std::int64_t last = std::min(first + rows_of_block, rows);
          for (std::int64_t row = first; row < last; ++row)
            fold_row(results.data() + (row - first) * of_row, c, c.in.data + from(begin / blocks) * c.width,
                     row / out.sizes[1], row % out.sizes[1], positions, seen);
          const std::int64_t place =
              to(begin / blocks) + first / out.sizes[1] * out.strides[0] + first % out.sizes[1] * out.strides[1];
          const std::int64_t shape[] = {c.count, (last - first) * window.count};
          const std::int64_t turned[] = {1, c.count}, steps[] = {output.strides[axis], out.strides[2]};
          copy({out.data + place * c.width, c.dtype, 2, shape, steps}, {results.data(), c.dtype, 2, shape, turned});
        }
      });
}

}  // namespace ricci::kernels
