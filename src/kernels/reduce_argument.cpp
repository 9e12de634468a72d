// Where the greatest or smallest element stands: in long rows, the block that holds it is found with vectors first.
#include <algorithm>
#include <cassert>
#include <cmath>

#include "ricci/primitive/accumulators.h"
#include "ricci/primitive/reduction_axes.h"
#include "ricci/primitive/scratch.h"
#include "ricci/primitive/wide.h"

namespace ricci::kernels {
namespace {

using scalar::fold, scalar::load_wide, scalar::store_wide, scalar::Wide;

/// Whether x comes before best: it is greater (or smaller), or the first NaN.
template <bool greatest, class A>
RICCI_ALWAYS_INLINE bool beats(A x, A best) {
  const bool better = greatest ? x > best : x < best;
  return better | ((x != x) & (best == best));
}

/// The place of the first best among `size` > 0 elements, `step` apart.
template <bool greatest, class T>
std::int64_t find_best(const T* x, std::int64_t size, std::int64_t step) {
  auto best = static_cast<comparable<T>>(x[0]);
  std::int64_t place = 0;
  for (std::int64_t i = 1; i < size; ++i) {
    const auto element = static_cast<comparable<T>>(x[i * step]);
    if (beats<greatest>(element, best)) best = element, place = i;
  }
  return place;
}

/// The best of `block` neighbouring elements.
inline constexpr std::int64_t block = 256;
template <bool greatest, class T>
comparable<T> best_of_block(const T* x) {
  using W = Wide<comparable<T>>;
  const auto join = [](auto a, auto b) { return greatest ? max(a, b) : min(a, b); };
  const auto at = [&](std::int64_t i) { return load_wide<comparable<T>>(x + i * W::lanes); };
  W a = at(0), b = at(1), c = at(2), d = at(3);
  for (std::int64_t i = 4; i < block / W::lanes; i += 4)
    a = join(a, at(i)), b = join(b, at(i + 1)), c = join(c, at(i + 2)), d = join(d, at(i + 3));
  const W best = fold(join(join(a, b), join(c, d)), join);
  comparable<T> lanes[W::lanes];
  store_wide(lanes, best);
  return lanes[0];
}

template <bool greatest, class T>
std::int64_t find_best_in_part(const T* x, std::int64_t size) {
  if (size < 2 * block) return find_best<greatest>(x, size, 1);
  auto best = best_of_block<greatest>(x);
  std::int64_t from = 0, i = block;
  for (; i + block <= size && best == best; i += block) {
    const auto candidate = best_of_block<greatest>(x + i);
    if (beats<greatest>(candidate, best)) best = candidate, from = i;
  }
  const std::int64_t place = from + find_best<greatest>(x + from, block, 1);
  if (i >= size || best != best) return place;
  const std::int64_t tail = i + find_best<greatest>(x + i, size - i, 1);
  return beats<greatest>(static_cast<comparable<T>>(x[tail]), best) ? tail : place;
}

constexpr double nanoseconds_per_element = 0.03;

/// The best of a row that several threads look through; the first of equals, or the first NaN.
template <bool greatest, class T>
std::int64_t find_best_in_row(const T* x, std::int64_t size) {
  if (!would_cut({size, nanoseconds_per_element})) return find_best_in_part<greatest>(x, size);
  const std::int64_t parts = 4 * std::int64_t{thread_count()};
  const Scratch<std::int64_t> best(parts);
  const auto begin_of = [&](std::int64_t part) { return size * part / parts; };
  const double nanoseconds = nanoseconds_per_element * static_cast<double>(size / parts);
  parallel_for({parts, nanoseconds}, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t p = first; p < last; ++p) {
      const std::int64_t begin = begin_of(p), part = begin_of(p + 1) - begin;
      best.data()[p] = part == 0 ? 0 : begin + find_best_in_part<greatest>(x + begin, part);
    }
  });
  std::int64_t place = best.data()[0];
  for (std::int64_t p = 1; p < parts; ++p) {
    const std::int64_t other = best.data()[p];
    if (other > place && beats<greatest>(static_cast<comparable<T>>(x[other]), static_cast<comparable<T>>(x[place])))
      place = other;
  }
  return place;
}

/// The places of the best in up to `strip` neighbouring columns of `rows` rows.
inline constexpr std::int64_t strip = 256;
template <bool greatest, class Place, class T>
void find_best_in_columns(const T* x, std::int64_t rows, std::int64_t row_step, std::int64_t columns, std::int64_t* out,
                          std::int64_t out_step) {
  comparable<T> best[strip];
  Place places[strip];
  for (std::int64_t c = 0; c < columns; ++c) best[c] = static_cast<comparable<T>>(x[c]), places[c] = 0;
  for (std::int64_t r = 1; r < rows; ++r) {
    const T* row = x + r * row_step;
    const auto place = static_cast<Place>(r);
    for (std::int64_t c = 0; c < columns; ++c) {
      const auto element = static_cast<comparable<T>>(row[c]);
      const bool found = beats<greatest>(element, best[c]);
      best[c] = found ? element : best[c];
      places[c] = found ? place : places[c];
    }
  }
  for (std::int64_t c = 0; c < columns; ++c) out[c * out_step] = places[c];
}

template <bool greatest, class T>
void find_places(const ReductionAxes& axes, std::int64_t* out, const T* x) {
  const Axis row = axes.reduced.last(), column = axes.kept.last();
  if (column.x != 1 || row.x == 1) {
    for (Walk at(axes.kept.axis, axes.kept.count); !at.done; at.next()) {
      const T* from = x + at.at.x;
      out[at.at.out] =
          row.x == 1 ? find_best_in_row<greatest>(from, row.size) : find_best<greatest>(from, row.size, row.x);
    }
    return;
  }
  const bool narrow = row.size <= std::numeric_limits<std::int32_t>::max();
  const auto find =
      narrow ? find_best_in_columns<greatest, std::int32_t, T> : find_best_in_columns<greatest, std::int64_t, T>;
  for (Walk at(axes.kept.axis, axes.kept.count - 1); !at.done; at.next()) {
    for (std::int64_t c = 0; c < column.size; c += strip)
      find(x + at.at.x + c, row.size, row.x, std::min(strip, column.size - c), out + at.at.out + c * column.out,
           column.out);
  }
}

}  // namespace

void argreduce(bool greatest, Strided out, Strided in, int axis) {
  assert(out.dtype == DType::int64 && !is_complex(in.dtype));
  bool reduced[max_axes] = {};
  if (in.rank > 0) reduced[axis] = true;
  ReductionAxes axes = reduction_axes(out, in, nullptr, reduced);
  if (axes.empty) return;
  assert(axes.reduced_elements > 0);
  auto* places = static_cast<std::int64_t*>(out.data);
  visit_real(in.dtype, [&]<class T>(std::type_identity<T>) {
    const auto* x = static_cast<const T*>(in.data);
    cut_kept(axes, nanoseconds_per_element, [&](const ReductionAxes& piece, const Offsets& at) {
      if (greatest) find_places<true>(piece, places + at.out, x + at.x);
      else find_places<false>(piece, places + at.out, x + at.x);
    });
  });
}

}  // namespace ricci::kernels
