// A sum goes through the rows of the result in their order and writes each once: the pairs are sorted by the rows that
// they add to, unless they come in this order, as those of bags do. As many elements of a row as fit into registers are
// added at once.
#include "kernels/row_sums.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <limits>
#include <optional>

#include "kernels/elementwise.h"
#include "kernels/index_loops.h"
#include "kernels/known_step.h"
#include "kernels/row_strips.h"
#include "kernels/sort_keys.h"
#include "kernels/strided.h"
#include "ricci/primitive/parallel.h"
#include "ricci/primitive/scratch.h"

namespace ricci::kernels {
namespace {

// --- Pairs

/// The rows of a table that an index names, in row-major order of the index: how far each lies from the first.
class NamedRows {
 public:
  /// `table`: the steps of its axes.
  NamedRows(const Strided& index, const Strided& table, const std::int64_t* steps) : scale_(steps[index.rank - 1]) {
    AxisList axes;
    for (int i = 0; i < index.rank; ++i) {
      const bool has_own = i + 1 < index.rank && table.shape[i] != 1;
      axes.axis[axes.count++] = {index.shape[i], has_own ? steps[i] : 0, index.strides[i], 0};
    }
    if (is_empty(axes)) return;
    merge_axes(axes);
    const Axis run = axes.last();
    if (axes.count <= 1 && run.out == 0) {
      at_ = indices_of(index), step_ = run.x;
      return;
    }
    own_.allocate(steps_of(axes));
    std::int64_t* next = own_.data();
    for (Walk outer(axes.axis, axes.count - 1); !outer.done; outer.next()) {
      const std::int64_t* from = indices_of(index) + outer.at.x;
      for (std::int64_t i = 0; i < run.size; ++i) *next++ = outer.at.out + i * run.out + from[i * run.x] * scale_;
    }
    at_ = own_.data(), step_ = 1, scale_ = 1;
  }
  std::int64_t operator[](std::int64_t pair) const { return at_[pair * step_] * scale_; }

 private:
  Scratch<std::int64_t> own_;
  const std::int64_t* at_ = nullptr;
  std::int64_t step_ = 0, scale_;
};

/// One number for each pair, in row-major order.
template <class T>
struct Weights {
  explicit Weights(const Strided& weights) {
    AxisList axes = row_major_loops(weights);
    const Strided view = axes.count <= 1 ? weights : copied.emplace(weights).view();
    at = static_cast<const T*>(view.data), step = axes.count <= 1 ? axes.last().x : 1;
  }
  double operator[](std::int64_t pair) const { return static_cast<double>(at[pair * step]); }

  std::optional<RowMajorCopy> copied;
  const T* at;
  std::int64_t step;
};

/// Pairs whose rows of the result ascend.
struct InOrder {
  const NamedRows& rows;
  std::int64_t row(std::int64_t i) const { return rows[i]; }
  static std::int64_t pair(std::int64_t i) { return i; }
};
/// Pairs sorted by their rows; those of one row stand as they stood.
template <class Record>
struct Sorted {
  Sorted(const NamedRows& rows, std::int64_t count, std::int64_t different) : records(count) {
    const Scratch<Record> working(count);
    for (std::int64_t i = 0; i < count; ++i) records.data()[i] = Record(static_cast<std::uint64_t>(rows[i]), i);
    const int bits = std::bit_width(static_cast<std::uint64_t>(different - 1));
    sort_records(records.data(), working.data(), count, std::max(1, (bits + 7) / 8));
  }
  std::int64_t row(std::int64_t i) const { return static_cast<std::int64_t>(records.data()[i].key()); }
  std::int64_t pair(std::int64_t i) const { return records.data()[i].place(); }
  Scratch<Record> records;
};

bool ascend(const NamedRows& rows, std::int64_t count) {
  std::int64_t falls = 0;
  for (std::int64_t i = 1; i < count; ++i) falls += rows[i] < rows[i - 1] ? 1 : 0;
  return falls == 0;
}

// --- Elements

/// A table whose rows are runs of memory: itself, or a copy that takes no more than a row for each pair would.
class Runs {
 public:
  Runs(const Strided& table, std::int64_t pairs) : view_(table) {
    const int last = table.rank - 1;
    const bool are_runs = table.strides[last] == 1 || table.shape[last] == 1;
    if (!are_runs && element_count(table) <= pairs * table.shape[last]) view_ = copy_.emplace(table).view();
  }
  const Strided& view() const { return view_; }

 private:
  std::optional<RowMajorCopy> copy_;
  Strided view_;
};

// --- Sums

/// What the rows of a result are sums of.
template <class T>
struct Terms {
  const T* table;
  std::int64_t step;  // between elements of a row
  const NamedRows& rows;
  Weights<T> weights;
  std::int64_t count;
};

/// to[d…] = Σ of terms [begin, end), for `wides` vectors of elements, the first in column `d`. A function of its own,
/// whose variables the registers hold.
template <int wides, class T, class Order, class Step>
[[gnu::noinline]] void add_strip(T* to, const T* table, const Terms<T>& terms, const Order& order, Step step,
                                 std::int64_t begin, std::int64_t end) {
  constexpr std::int64_t ahead = 24;  // terms
  W sum[wides];
  for_each_of<wides>([&](auto k) { sum[k] = W(0.0); });
  for (std::int64_t i = begin; i < end; ++i) {
    if (i + ahead < terms.count) fetch(table + terms.rows[order.pair(i + ahead)], wides * W::lanes);
    const std::int64_t pair = order.pair(i);
    const W weight(terms.weights[pair]);
    const T* row = table + terms.rows[pair];
    for_each_of<wides>([&](auto k) { sum[k] = fma(weight, load(row + k * W::lanes * step, step), sum[k]); });
  }
  for_each_of<wides>([&](auto k) { store(to + k * W::lanes, sum[k]); });
}
/// The same of one element.
template <class T, class Order>
T sum_of_terms(const T* table, const Terms<T>& terms, const Order& order, std::int64_t begin, std::int64_t end) {
  double sum = 0;
  for (std::int64_t i = begin; i < end; ++i) {
    const std::int64_t pair = order.pair(i);
    sum = scalar::fma(terms.weights[pair], static_cast<double>(table[terms.rows[pair]]), sum);
  }
  return static_cast<T>(sum);
}

/// to[d] = Σ of terms [begin, end), for d in [first, last).
template <class T, class Order>
void add_terms(T* to, std::int64_t first, std::int64_t last, const Terms<T>& terms, const Order& order,
               std::int64_t begin, std::int64_t end) {
  constexpr int most = scalar::Pack<double>::lanes;  // vectors that half the registers hold
  first = by_strips<most>(first, last, [&](auto wides, std::int64_t d) {
    with_step<1>(terms.step,
                 [&](auto step) { add_strip<wides>(to + d, terms.table + d * step, terms, order, step, begin, end); });
  });
  for (; first < last; ++first) to[first] = sum_of_terms(terms.table + first * terms.step, terms, order, begin, end);
}

/// Elements [first, last) of the rows whose first terms are among [begin, end), and zeros in the rows without terms
/// before each of them and behind the last one.
template <class T, class Order>
void sum_piece(const Strided& out, std::int64_t first, std::int64_t last, const Terms<T>& terms, const Order& order,
               std::int64_t begin, std::int64_t end) {
  const std::int64_t width = out.shape[out.rank - 1];
  const auto of_row = [&](std::int64_t row) { return static_cast<T*>(out.data) + row * width; };
  const auto clear = [&](std::int64_t row, std::int64_t behind) {
    if (first == 0 && last == width) return std::fill(of_row(row), of_row(behind), T(0));
    for (; row < behind; ++row) std::fill(of_row(row) + first, of_row(row) + last, T(0));
  };
  const auto begins_row = [&](std::int64_t i) { return i == 0 || order.row(i) != order.row(i - 1); };
  while (begin < end && !begins_row(begin)) ++begin;
  while (begin < end) {
    const std::int64_t row = order.row(begin);
    std::int64_t next = begin + 1;
    while (next < terms.count && order.row(next) == row) ++next;
    clear(begin == 0 ? 0 : order.row(begin - 1) + 1, row);
    add_terms(of_row(row), first, last, terms, order, begin, next);
    if (next == terms.count) clear(row + 1, element_count(out) / width);
    begin = next;
  }
}

template <class T, class Order>
void sum_in_order(const Strided& out, const Terms<T>& terms, const Order& order) {
  constexpr double nanoseconds_per_element = 0.1;
  constexpr std::int64_t few = 64, columns = 64;  // rows of a result; elements that are worth a piece
  const std::int64_t width = out.shape[out.rank - 1], rows = element_count(out) / width;
  if (rows < few)
    return parallel_for(
        {width, nanoseconds_per_element * static_cast<double>(terms.count), columns},
        [&](std::int64_t first, std::int64_t last) { sum_piece(out, first, last, terms, order, 0, terms.count); });
  const double rows_per_term = static_cast<double>(rows) / static_cast<double>(terms.count);
  parallel_for({terms.count, nanoseconds_per_element * static_cast<double>(width) * (1 + rows_per_term)},
               [&](std::int64_t begin, std::int64_t end) { sum_piece(out, 0, width, terms, order, begin, end); });
}

}  // namespace

void sum_rows(Strided out, Strided src, Strided weights, Strided from, Strided to) {
  assert(out.dtype == src.dtype && out.dtype == weights.dtype && is_contiguous(out));
  const std::int64_t count = element_count(from);
  if (element_count(out) == 0) return;
  if (count == 0) return fill(out, 0.0, 0.0);
  const Runs runs(src, count);
  src = runs.view();
  std::int64_t numbers[max_axes];  // from row to row of `out`
  std::int64_t rows = 1;
  for (int i = out.rank - 2; i >= 0; rows *= out.shape[i--]) numbers[i] = rows;
  const NamedRows read(from, src, src.strides), written(to, out, numbers);
  visit_floating(out.dtype, [&]<class T>(std::type_identity<T>) {
    const Terms<T> terms{static_cast<const T*>(src.data), src.strides[src.rank - 1], read, Weights<T>(weights), count};
    if (ascend(written, count)) return sum_in_order(out, terms, InOrder{written});
    constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
    if (std::max(count, rows) <= most) return sum_in_order(out, terms, Sorted<PackedRecord>(written, count, rows));
    sum_in_order(out, terms, Sorted<WideRecord>(written, count, rows));
  });
}

// --- Products

namespace {

template <class T, class Step>
double product(const T* a, Step step_a, const T* b, Step step_b, std::int64_t width) {
  W sum[4];  // on all machines: so the sum is the same number
  for_each_of<4>([&](auto k) { sum[k] = W(0.0); });
  std::int64_t d = by_strips<4>(0, width, [&](auto wides, std::int64_t first) __attribute__((always_inline)) {
    for_each_of<wides>([&](auto k) {
      const std::int64_t at = first + k * W::lanes;
      sum[k] = fma(load(a + at * step_a, step_a), load(b + at * step_b, step_b), sum[k]);
    });
  });
  sum[0] = (sum[0] + sum[2]) + (sum[1] + sum[3]);
  double total = scalar::fold(sum[0], [](auto x, auto y) { return x + y; }).part[0][0];
  for (; d < width; ++d)
    total = scalar::fma(static_cast<double>(a[d * step_a]), static_cast<double>(b[d * step_b]), total);
  return total;
}

}  // namespace

void multiply_rows(Strided out, Strided a, Strided b, Strided from, Strided to) {
  assert(out.dtype == a.dtype && out.dtype == b.dtype && is_contiguous(out));
  constexpr double nanoseconds_per_element = 0.1;
  constexpr std::int64_t ahead = 16;  // pairs
  const std::int64_t count = element_count(from), width = a.shape[a.rank - 1];
  const Runs runs_of_a(a, count), runs_of_b(b, count);
  a = runs_of_a.view(), b = runs_of_b.view();
  const std::int64_t step_a = a.strides[a.rank - 1], step_b = b.strides[b.rank - 1];
  const NamedRows rows_a(from, a, a.strides), rows_b(to, b, b.strides);
  visit_floating(out.dtype, [&]<class T>(std::type_identity<T>) {
    const auto *of_a = static_cast<const T*>(a.data), *of_b = static_cast<const T*>(b.data);
    const int fetched = static_cast<int>(std::min<std::int64_t>(width, 512));
    const auto multiply = [&](auto of_a_step, auto of_b_step) {
      parallel_for({count, nanoseconds_per_element * static_cast<double>(width), line_step()},
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t i = begin; i < end; ++i) {
                       if (i + ahead < end) {
                         fetch(of_a + rows_a[i + ahead], fetched);
                         fetch(of_b + rows_b[i + ahead], fetched);
                       }
                       static_cast<T*>(out.data)[i] =
                           static_cast<T>(product(of_a + rows_a[i], of_a_step, of_b + rows_b[i], of_b_step, width));
                     }
                   });
    };
    constexpr std::integral_constant<std::int64_t, 1> one;
    if (step_a == 1 && step_b == 1) multiply(one, one);
    else multiply(step_a, step_b);
  });
}

}  // namespace ricci::kernels
