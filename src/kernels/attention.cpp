// Each block of queries walks over the blocks of keys. A row of scores is kept with its greatest element so far, the
// sum of exponentials, and the sum of values times exponentials; both sums shrink where a greater element comes.
#include "kernels/attention.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <type_traits>

#include "kernels/elementwise.h"
#include "kernels/matmul.h"
#include "ricci/primitive/parallel.h"
#include "ricci/primitive/scratch.h"
#include "ricci/primitive/wide.h"

namespace ricci::kernels {
namespace {

using scalar::load_wide;
using scalar::store_wide;
using scalar::Wide;

// Borders of blocks follow from the sizes alone. A block of scores fits in half of a cache of 512 KiB.
constexpr std::int64_t queries_in_block = 64, keys_in_block = 512;
constexpr double nanoseconds_of_score = 0.05;  // for each element that is multiplied
constexpr double nanoseconds_of_check = 0.1;   // for each element that may not be finite
constexpr double nanoseconds_of_pair = 0.5;    // for each element that a plain loop multiplies

template <class T>
constexpr T infinity = std::numeric_limits<T>::infinity();

/// One matrix, whose rows and columns may lie anywhere.
template <class T>
struct Plane {
  T* data;
  std::int64_t rows, cols, row_stride, col_stride;

  T* row(std::int64_t i) const { return data + i * row_stride; }
  Plane of_rows(std::int64_t begin, std::int64_t count) const {
    return {data + begin * row_stride, count, cols, row_stride, col_stride};
  }
  Plane of_cols(std::int64_t begin, std::int64_t count) const {
    return {data + begin * col_stride, rows, count, row_stride, col_stride};
  }
  Plane transposed() const { return {data, cols, rows, col_stride, row_stride}; }
};

template <class T>
void multiply(const Plane<T>& c, const Plane<T>& a, const Plane<T>& b, Accumulate accumulate) {
  const auto shown = [](const Plane<T>& x, std::int64_t* sizes, std::int64_t* strides) {
    sizes[0] = x.rows, sizes[1] = x.cols, strides[0] = x.row_stride, strides[1] = x.col_stride;
    return Strided{x.data, dtype_of<T>, 2, sizes, strides};
  };
  std::int64_t sizes[3][2], strides[3][2];
  matmul(shown(c, sizes[0], strides[0]), shown(a, sizes[1], strides[1]), shown(b, sizes[2], strides[2]), accumulate);
}

/// The members of a batch in row-major order.
std::int64_t members(const Strided& x, int own_axes) {
  std::int64_t count = 1;
  for (int axis = 0; axis + own_axes < x.rank; ++axis) count *= x.shape[axis];
  return count;
}
template <class T>
T* member(const Strided& x, int own_axes, std::int64_t number) {
  std::int64_t offset = 0;
  for (int axis = x.rank - own_axes; axis-- > 0; number /= x.shape[axis])
    offset += number % x.shape[axis] * x.strides[axis];
  return static_cast<T*>(x.data) + offset;
}
template <class T>
Plane<T> plane(const Strided& x, std::int64_t number) {
  const std::int64_t *shape = x.shape + x.rank - 2, *strides = x.strides + x.rank - 2;
  return {member<T>(x, 2, number), shape[0], shape[1], strides[0], strides[1]};
}
/// One number for each query.
template <class T>
Plane<T> column(const Strided& x, std::int64_t number) {
  return {member<T>(x, 1, number), x.shape[x.rank - 1], 1, x.strides[x.rank - 1], 0};
}

/// Whether all elements are finite.
template <class T>
bool is_finite(const Plane<T>& x) {
  std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t> others = 0;  // as wide as T: a loop over vectors
  const auto look_at = [&](T element) { others |= !(std::fabs(element) <= std::numeric_limits<T>::max()); };
  for (std::int64_t i = 0; i < x.rows; ++i) {
    const T* row = x.row(i);
    if (x.col_stride == 1)
      for (std::int64_t c = 0; c < x.cols; ++c) look_at(row[c]);
    else
      for (std::int64_t c = 0; c < x.cols; ++c) look_at(row[c * x.col_stride]);
  }
  return others == 0;
}

/// Σ a[c] b[c] over the columns of two rows.
template <class T>
T inner(const Plane<T>& a, std::int64_t i, const Plane<T>& b, std::int64_t j) {
  T sum = 0;
  for (std::int64_t c = 0; c < a.cols; ++c) sum += a.row(i)[c * a.col_stride] * b.row(j)[c * b.col_stride];
  return sum;
}
/// to[i] += factor from[j], of two rows.
template <class T>
void add_row(const Plane<T>& to, std::int64_t i, T factor, const Plane<T>& from, std::int64_t j) {
  for (std::int64_t c = 0; c < to.cols; ++c) to.row(i)[c * to.col_stride] += factor * from.row(j)[c * from.col_stride];
}

template <class T>
std::int64_t padded(std::int64_t cols) {
  return (cols + Wide<T>::lanes - 1) / Wide<T>::lanes * Wide<T>::lanes;
}

/// Memory for a block of rows, each of whole vectors.
template <class T>
class Block {
 public:
  Block(std::int64_t rows, std::int64_t most_cols) : stride_(padded<T>(most_cols)), memory_(rows * stride_) {}
  Plane<T> plane(std::int64_t rows, std::int64_t cols) const { return {memory_.data(), rows, cols, stride_, 1}; }

 private:
  std::int64_t stride_;
  Scratch<T> memory_;
};

/// The operands of one member of the batch.
template <class T>
struct Member {
  Plane<T> q, k, v, mask;
  bool has_mask, causal;

  Member(const AttentionInputs& in, std::int64_t number)
      : q(plane<T>(in.q, number)),
        k(plane<T>(in.k, number)),
        v(plane<T>(in.v, number)),
        mask(in.mask ? plane<T>(*in.mask, number) : Plane<T>{}),
        has_mask(in.mask != nullptr),
        causal(in.causal) {}

  /// How many keys the queries before `end` see together.
  std::int64_t keys_before(std::int64_t end) const { return causal ? std::min(k.rows, end) : k.rows; }

  bool sees(std::int64_t i, std::int64_t j) const {
    return (!causal || j <= i) && (!has_mask || mask.row(i)[j * mask.col_stride] != -infinity<T>);
  }
  /// The score of one pair that sees.
  T score_of(std::int64_t i, std::int64_t j) const {
    return inner(q, i, k, j) + (has_mask ? mask.row(i)[j * mask.col_stride] : T(0));
  }

  /// Scores of the queries from i on by the keys from j on; -∞ of keys that are not seen, and behind the last one.
  void score(const Plane<T>& scores, std::int64_t i, std::int64_t j) const {
    const std::int64_t cols = scores.cols;
    multiply(scores, q.of_rows(i, scores.rows), k.of_rows(j, cols).transposed(), Accumulate::no);
    for (std::int64_t r = 0; r < scores.rows; ++r) {
      T* row = scores.row(r);
      if (has_mask) add_mask(row, mask.row(i + r) + j * mask.col_stride, cols);
      const std::int64_t seen = causal ? std::clamp<std::int64_t>(i + r + 1 - j, 0, cols) : cols;
      std::fill(row + seen, row + padded<T>(cols), -infinity<T>);
    }
  }
  void add_mask(T* row, const T* of_mask, std::int64_t cols) const {
    if (mask.col_stride == 1)
      for (std::int64_t c = 0; c < cols; ++c) row[c] = masked(row[c], of_mask[c]);
    else
      for (std::int64_t c = 0; c < cols; ++c) row[c] = masked(row[c], of_mask[c * mask.col_stride]);
  }
  static T masked(T score, T of_mask) { return of_mask == -infinity<T> ? of_mask : score + of_mask; }
};

template <class T>
T greatest(const T* row, std::int64_t cols) {
  Wide<T> most(-infinity<T>);
  for (std::int64_t c = 0; c < cols; c += Wide<T>::lanes) most = max(most, load_wide<T>(row + c));
  return fold(most, [](Wide<T> a, Wide<T> b) { return max(a, b); }).part[0].v[0];
}

/// The row becomes exp(row - shift); the sum of that.
template <class T>
T exponentials(T* row, std::int64_t cols, T shift) {
  Wide<T> sum(T(0));
  const Wide<T> shifts(shift);
  for (std::int64_t c = 0; c < cols; c += Wide<T>::lanes) {
    const Wide<T> e = exp(load_wide<T>(row + c) - shifts);
    store_wide(row + c, e);
    sum = sum + e;
  }
  return fold(sum, [](Wide<T> a, Wide<T> b) { return a + b; }).part[0].v[0];
}

/// The row becomes weights (row - offset); 0 where the weight is, even where the row overflowed.
template <class T>
void slopes(T* row, const T* weights, std::int64_t cols, T offset) {
  for (std::int64_t c = 0; c < cols; ++c) {
    const T slope = weights[c] * (row[c] - offset);
    row[c] = weights[c] == 0 ? T(0) : slope;
  }
}

/// y of one query, pair by pair: products by blocks multiply values that are not seen by 0, which is NaN where they are
/// not finite.
template <class T>
void attend_by_pairs(const Plane<T>& y, const Member<T>& of, std::int64_t i, T l) {
  for (std::int64_t c = 0; c < y.cols; ++c) y.row(i)[c * y.col_stride] = 0;
  for (std::int64_t j = 0; j < of.k.rows; ++j)
    if (of.sees(i, j)) add_row(y, i, std::exp(of.score_of(i, j) - l), of.v, j);
}

/// y and l of the queries [begin, end) of one member.
template <class T>
void attend(const Plane<T>& y, const Plane<T>& l, const Member<T>& of, std::int64_t begin, std::int64_t end,
            const Block<T>& score_block, const Block<T>& value_block) {
  const std::int64_t rows = end - begin, keys = of.keys_before(end);
  const Plane<T> values = value_block.plane(rows, of.v.cols);
  T most[queries_in_block], sums[queries_in_block];
  std::fill_n(most, rows, -infinity<T>);
  std::fill_n(sums, rows, T(0));
  for (std::int64_t j = 0; j < keys; j += keys_in_block) {
    const Plane<T> scores = score_block.plane(rows, std::min(keys_in_block, keys - j));
    of.score(scores, begin, j);
    for (std::int64_t r = 0; r < rows; ++r) {
      const T now = scalar::max(most[r], greatest(scores.row(r), scores.cols));
      const T sum = exponentials(scores.row(r), scores.cols, now == -infinity<T> ? T(0) : now);
      if (j > 0 && now != most[r]) {
        const T shrunk = std::exp(most[r] - now);
        sums[r] *= shrunk;
        for (std::int64_t c = 0; c < values.cols; ++c) values.row(r)[c] *= shrunk;
      }
      sums[r] += sum;
      most[r] = now;
    }
    multiply(values, scores, of.v.of_rows(j, scores.cols), j > 0 ? Accumulate::yes : Accumulate::no);
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    const bool has_none = sums[r] == 0;
    *l.row(begin + r) = has_none ? infinity<T> : most[r] + std::log(sums[r]);
    const T share = has_none ? T(0) : 1 / sums[r];
    T* to = y.row(begin + r);
    const T* from = values.row(r);
    if (has_none)
      for (std::int64_t c = 0; c < y.cols; ++c) to[c * y.col_stride] = 0;
    else if (y.col_stride == 1)
      for (std::int64_t c = 0; c < y.cols; ++c) to[c] = from[c] * share;
    else
      for (std::int64_t c = 0; c < y.cols; ++c) to[c * y.col_stride] = from[c] * share;
    // A NaN for a sum comes from a key that is seen, and has made all of y NaN: nothing is left to repair.
    const bool is_settled = has_none || std::isnan(sums[r]);
    if (!is_settled && !is_finite(y.of_rows(begin + r, 1))) attend_by_pairs(y, of, begin + r, *l.row(begin + r));
  }
}

template <class T>
void attend_all(Strided y, Strided l, const AttentionInputs& in) {
  const std::int64_t batch = members(in.q, 2), queries = in.q.shape[in.q.rank - 2], keys = in.k.shape[in.k.rank - 2];
  const std::int64_t width = in.q.shape[in.q.rank - 1] + in.v.shape[in.v.rank - 1];
  const std::int64_t blocks = (queries + queries_in_block - 1) / queries_in_block;
  const double nanoseconds = nanoseconds_of_score * static_cast<double>(std::min(queries, queries_in_block) * keys) *
                             static_cast<double>(width);
  parallel_for({batch * blocks, nanoseconds}, [&](std::int64_t first, std::int64_t last) {
    const std::int64_t rows = std::min(queries, queries_in_block);
    const Block<T> scores(rows, std::min(keys, keys_in_block)), values(rows, in.v.shape[in.v.rank - 1]);
    for (std::int64_t unit = first; unit < last; ++unit) {
      const std::int64_t number = unit / blocks, begin = unit % blocks * queries_in_block;
      attend(plane<T>(y, number), column<T>(l, number), Member<T>(in, number), begin,
             std::min(queries, begin + queries_in_block), scores, values);
    }
  });
}

template <class T>
void clear(const Plane<T>& x) {
  for (std::int64_t i = 0; i < x.rows; ++i)
    for (std::int64_t c = 0; c < x.cols; ++c) x.row(i)[c * x.col_stride] = 0;
}

/// Of one member of the batch.
template <class T>
struct Gradients {
  Plane<T> dq, dk, dv, dmask;
  bool of_mask;
  Plane<T> ct, l, offset;

  /// Whether all that is multiplied for these queries and keys is finite; l is +∞ where a query sees no key.
  bool is_finite_at(const Member<T>& of, std::int64_t i, std::int64_t rows, std::int64_t j, std::int64_t cols) const {
    bool is_number = true;
    for (std::int64_t r = i; r < i + rows; ++r) is_number &= !std::isnan(*l.row(r));
    return is_number && is_finite(of.q.of_rows(i, rows)) && is_finite(of.k.of_rows(j, cols)) &&
           is_finite(of.v.of_rows(j, cols)) && is_finite(ct.of_rows(i, rows)) && is_finite(offset.of_rows(i, rows));
  }
  /// What the queries [first, last) and the keys [begin, end) add, pair by pair, as `attend_by_pairs`.
  void add_by_pairs(const Member<T>& of, std::int64_t first, std::int64_t last, std::int64_t begin,
                    std::int64_t end) const {
    for (std::int64_t i = first; i < last; ++i)
      for (std::int64_t j = begin; j < end; ++j) {
        if (!of.sees(i, j)) continue;
        const T weight = std::exp(of.score_of(i, j) - *l.row(i));
        const T slope = weight * (inner(ct, i, of.v, j) - *offset.row(i));
        add_row(dq, i, slope, of.k, j);
        add_row(dk, j, slope, of.q, i);
        add_row(dv, j, weight, ct, i);
        if (of_mask) dmask.row(i)[j * dmask.col_stride] = slope;
      }
  }

  /// dk and dv of the keys [begin, end), and in dq what these keys add to it.
  void find(const Member<T>& of, std::int64_t begin, std::int64_t end, const Block<T>& weight_block,
            const Block<T>& slope_block) const {
    for (const Plane<T>& x : {dq, dk.of_rows(begin, end - begin), dv.of_rows(begin, end - begin)}) clear(x);
    if (of_mask) clear(dmask.of_cols(begin, end - begin));
    for (std::int64_t i = 0; i < dq.rows; i += queries_in_block) {
      const std::int64_t rows = std::min(queries_in_block, dq.rows - i), keys = std::min(end, of.keys_before(i + rows));
      for (std::int64_t j = begin; j < keys; j += keys_in_block) {
        const std::int64_t cols = std::min(keys_in_block, keys - j);
        if (!is_finite_at(of, i, rows, j, cols)) {
          add_by_pairs(of, i, i + rows, j, j + cols);
          continue;
        }
        const Plane<T> weights = weight_block.plane(rows, cols), slope = slope_block.plane(rows, cols);
        of.score(weights, i, j);
        for (std::int64_t r = 0; r < rows; ++r) exponentials(weights.row(r), cols, *l.row(i + r));
        multiply(dv.of_rows(j, cols), weights.transposed(), ct.of_rows(i, rows), Accumulate::yes);
        multiply(slope, ct.of_rows(i, rows), of.v.of_rows(j, cols).transposed(), Accumulate::no);
        for (std::int64_t r = 0; r < rows; ++r) slopes(slope.row(r), weights.row(r), cols, *offset.row(i + r));
        multiply(dq.of_rows(i, rows), slope, of.k.of_rows(j, cols), Accumulate::yes);
        multiply(dk.of_rows(j, cols), slope.transposed(), of.q.of_rows(i, rows), Accumulate::yes);
        if (of_mask)
          for (std::int64_t r = 0; r < rows; ++r)
            for (std::int64_t c = 0; c < cols; ++c) dmask.row(i + r)[(j + c) * dmask.col_stride] = slope.row(r)[c];
      }
    }
  }
};

/// Cuts the keys of each member into pieces so that there are about 16 in all: threads share a member where there are
/// few. The cut follows from the sizes alone, so results do not depend on the number of threads. Every piece but the
/// first adds up its own share of dq.
struct KeyPieces {
  std::int64_t count, size;

  KeyPieces(std::int64_t members, std::int64_t keys) {
    constexpr std::int64_t most = 16, least_size = 128;
    const std::int64_t wanted = members > 0 ? (most + members - 1) / members : 1;
    size = std::max(least_size, (keys + wanted - 1) / wanted);
    count = keys > size ? (keys + size - 1) / size : 1;
  }
};

/// `gradients_of(number)`: those of a member of the batch.
template <class T, class Of>
void find_all(const AttentionInputs& in, const Of& gradients_of) {
  const std::int64_t batch = members(in.q, 2), queries = in.q.shape[in.q.rank - 2], keys = in.k.shape[in.k.rank - 2];
  const std::int64_t features = in.q.shape[in.q.rank - 1], width = features + in.v.shape[in.v.rank - 1];
  const KeyPieces pieces(batch, keys);
  const std::int64_t shares_of_one = (pieces.count - 1) * queries * features;
  const Scratch<T> shares(batch * shares_of_one);
  const auto share = [&](std::int64_t number, std::int64_t piece) {
    return Plane<T>{shares.data() + number * shares_of_one + (piece - 1) * queries * features, queries, features,
                    features, 1};
  };
  const double nanoseconds = 3 * nanoseconds_of_score * static_cast<double>(queries * std::min(keys, pieces.size)) *
                             static_cast<double>(width);
  parallel_for({batch * pieces.count, nanoseconds}, [&](std::int64_t first, std::int64_t last) {
    const std::int64_t rows = std::min(queries, queries_in_block), cols = std::min(keys, keys_in_block);
    const Block<T> weights(rows, cols), slope(rows, cols);
    for (std::int64_t unit = first; unit < last; ++unit) {
      const std::int64_t number = unit / pieces.count, piece = unit % pieces.count, begin = piece * pieces.size;
      Gradients<T> gradients = gradients_of(number);
      if (piece > 0) gradients.dq = share(number, piece);
      gradients.find(Member<T>(in, number), begin, std::min(keys, begin + pieces.size), weights, slope);
    }
  });
  if (pieces.count == 1) return;
  parallel_for({batch * queries, static_cast<double>(pieces.count * features)},
               [&](std::int64_t first, std::int64_t last) {
                 for (std::int64_t unit = first; unit < last; ++unit) {
                   const Plane<T> dq = gradients_of(unit / queries).dq;
                   T* to = dq.row(unit % queries);
                   for (std::int64_t piece = 1; piece < pieces.count; ++piece) {
                     const T* from = share(unit / queries, piece).row(unit % queries);
                     for (std::int64_t c = 0; c < features; ++c) to[c * dq.col_stride] += from[c];
                   }
                 }
               });
}

/// c = a b row by row where the row is not finite, without the rows of b whose weight in a is 0.
template <class T>
void repair_rows(const Strided& c, const Strided& a, const Strided& b) {
  const std::int64_t rows = c.shape[c.rank - 2], cols = c.shape[c.rank - 1], keys = b.shape[b.rank - 2];
  const std::int64_t count = members(c, 2) * rows;
  const auto row = [&](const Strided& x, std::int64_t unit) {
    return plane<T>(x, unit / rows).of_rows(unit % rows, 1);
  };
  std::atomic<bool> all_finite = true;
  parallel_for({count, nanoseconds_of_check * static_cast<double>(cols)}, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t unit = first; unit < last; ++unit)
      if (!is_finite(row(c, unit))) all_finite = false;
  });
  if (all_finite) return;
  const double nanoseconds = nanoseconds_of_pair * static_cast<double>(cols * keys);
  parallel_for({count, nanoseconds}, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t unit = first; unit < last; ++unit) {
      const Plane<T> to = row(c, unit), weights = row(a, unit), from = plane<T>(b, unit / rows);
      if (is_finite(to)) continue;
      clear(to);
      for (std::int64_t j = 0; j < keys; ++j)
        if (const T weight = weights.data[j * weights.col_stride]; weight != 0) add_row(to, 0, weight, from, j);
    }
  });
}

}  // namespace

void attention(Strided y, Strided l, const AttentionInputs& in) {
  if (in.q.dtype == DType::float64) attend_all<double>(y, l, in);
  else attend_all<float>(y, l, in);
}

void product_of_seen(Strided c, Strided a, Strided b) {
  matmul(c, a, b, Accumulate::no);
  if (c.dtype == DType::float64) repair_rows<double>(c, a, b);
  else repair_rows<float>(c, a, b);
}

void attention_gradients(Strided dq, Strided dk, Strided dv, const Strided* dmask, Strided ct, Strided l,
                         Strided offset, const AttentionInputs& in) {
  const auto find = [&]<class T>(std::type_identity<T>) {
    find_all<T>(in, [&](std::int64_t number) {
      return Gradients<T>{plane<T>(dq, number), plane<T>(dk, number),
                          plane<T>(dv, number), dmask ? plane<T>(*dmask, number) : Plane<T>{},
                          dmask != nullptr,     plane<T>(ct, number),
                          column<T>(l, number), column<T>(offset, number)};
    });
  };
  if (in.q.dtype == DType::float64) find(std::type_identity<double>());
  else find(std::type_identity<float>());
}

}  // namespace ricci::kernels
