// The loops of every reduction. An operation says what a term is and how terms are joined:
//
//   struct Sum { using X = float; using A = float; static constexpr int inputs = 1;    // element and accumulator type
//                W identity() const; W first(X x) const; W add(W sum, X x) const; W join(W a, W b) const;
//                W finish(W total) const;        // from a total to a result
//                W nothing() const; };           // the total of no elements; W is Wide<A>
//
// Knows nothing of dtypes. Start with `reduce_with`.
#pragma once

#include <algorithm>
#include <array>
#include <limits>

#include "ricci/primitive/parallel.h"
#include "ricci/primitive/reduction_axes.h"
#include "ricci/primitive/wide.h"

namespace ricci::kernels {
inline namespace RICCI_ISA {

using scalar::first_of, scalar::fold, scalar::fold_each, scalar::folds_each, scalar::load_wide, scalar::load_wide_some,
    scalar::load_wide_strided, scalar::spread, scalar::store_wide, scalar::Wide;

// The order of additions is the same whether vectors run along the reduced axis (`reduce_rows`) or across kept ones
// (`reduce_columns`), so a lane of a batch gets the bits it would get alone. With L lanes to a vector, element k of a
// reduced axis goes to partial sum k mod L of its block of 16 L elements; blocks are joined four by four by the
// cascade, and the L partial sums are folded at the end. Where several reduced axes cannot be merged into one loop, the
// cascade takes the blocks of the innermost, step after step of the others.
//
// Threads take kept axes apart; where those are few, they take fours of blocks, fours of fours and so on, which the
// cascade would join before it joins them with others. So the number of threads changes no bit.

/// Whether terms are a formula that takes many instructions.
template <class Op>
inline constexpr bool is_heavy = requires { Op::heavy; };

/// Vectors in a block, which are summed one after the other.
inline constexpr int block_vectors = 16;

/// How an operand goes on from lane to lane.
enum class Access { unit, same, strided };

template <class T>
struct Operand {
  const T* data;
  std::int64_t lane, row;  // steps from lane to lane and from vector to vector

  Operand at(std::int64_t lanes, std::int64_t rows) const { return {data + lanes * lane + rows * row, lane, row}; }
};

template <Access access, class A, class T>
RICCI_ALWAYS_INLINE Wide<A> read(const Operand<T>& from) {
  if constexpr (access == Access::unit) return load_wide<A>(from.data);
  else if constexpr (access == Access::same) return spread<A>(*from.data);
  else return load_wide_strided<A>(from.data, from.lane);
}
template <Access access, class A, class T>
RICCI_ALWAYS_INLINE Wide<A> read_some(const Operand<T>& from, int count) {
  if constexpr (access == Access::unit) return load_wide_some<A>(from.data, count);
  else if constexpr (access == Access::same) return spread<A>(*from.data);
  else return load_wide_strided<A>(from.data, from.lane, count);
}

/// One or two operands at one place.
template <class Op, Access x_access, Access y_access>
struct Terms {
  using W = Wide<typename Op::A>;
  using XL = typename Op::XLane;
  using YL = typename Op::YLane;
  /// How much code to spend on speed. An operation with `heavy` terms hides the latency of its additions behind them.
  static constexpr bool runs = x_access == Access::unit && std::is_arithmetic_v<typename Op::A> && !is_heavy<Op>;
  static constexpr bool unrolled = runs && y_access != Access::strided && std::is_floating_point_v<typename Op::X> &&
                                   std::is_floating_point_v<typename Op::A>;

  Op op;
  Operand<typename Op::X> x;
  Operand<typename Op::Y> y;

  Terms at(std::int64_t lanes, std::int64_t rows) const { return {op, x.at(lanes, rows), y.at(lanes, rows)}; }
  Terms moved(const Offsets& by) const { return {op, {x.data + by.x, x.lane, x.row}, {y.data + by.y, y.lane, y.row}}; }

  W first() const {
    if constexpr (Op::inputs == 1) return op.first(read<x_access, XL>(x));
    else return op.first(read<x_access, XL>(x), read<y_access, YL>(y));
  }
  W add(W sum) const {
    if constexpr (Op::inputs == 1) return op.add(sum, read<x_access, XL>(x));
    else return op.add(sum, read<x_access, XL>(x), read<y_access, YL>(y));
  }
  /// Lanes from `count` on get the identity.
  W first(int count) const {
    if constexpr (Op::inputs == 1) return first_of(op.first(read_some<x_access, XL>(x, count)), count, op.identity());
    else
      return first_of(op.first(read_some<x_access, XL>(x, count), read_some<y_access, YL>(y, count)), count,
                      op.identity());
  }
  /// Lanes from `count` on keep their sum.
  W add(W sum, int count) const {
    if constexpr (Op::inputs == 1) return first_of(op.add(sum, read_some<x_access, XL>(x, count)), count, sum);
    else return first_of(op.add(sum, read_some<x_access, XL>(x, count), read_some<y_access, YL>(y, count)), count, sum);
  }
};

// --- Along the reduced axis

// Where the words of a reduction stand in a loop, they are inlined (gnu::flatten), however long the loop has become.

/// The partial sums of one block of `size` elements.
template <class T>
RICCI_ALWAYS_INLINE typename T::W row_block(const T& terms, std::int64_t size) {
  constexpr int lanes = T::W::lanes;
  if (size < lanes) return terms.first(static_cast<int>(size));
  auto sum = terms.first();
  std::int64_t k = lanes;
  for (; k + lanes <= size; k += lanes) sum = terms.at(k, 0).add(sum);
  if (k < size) sum = terms.at(k, 0).add(sum, static_cast<int>(size - k));
  return sum;
}

/// Pushes the blocks of a row of `size` elements, four at a time to hide the latency of additions.
template <class T, class C>
[[gnu::noinline, gnu::flatten]] void push_row(const T& terms, std::int64_t size, C& cascade) {
  constexpr int lanes = T::W::lanes, block = block_vectors * lanes;
  std::int64_t k = 0;
  for (; T::runs && k + 4 * block <= size; k += 4 * block) {
    auto a = terms.at(k, 0).first(), b = terms.at(k + block, 0).first(), c = terms.at(k + 2 * block, 0).first(),
         d = terms.at(k + 3 * block, 0).first();
    for (int v = lanes; v < block; v += lanes) {
      a = terms.at(k + v, 0).add(a);
      b = terms.at(k + v + block, 0).add(b);
      c = terms.at(k + v + 2 * block, 0).add(c);
      d = terms.at(k + v + 3 * block, 0).add(d);
    }
    cascade.push(a);
    cascade.push(b);
    cascade.push(c);
    cascade.push(d);
  }
  for (; k < size; k += block) {
    auto sums = short_row_sums(terms.at(k, 0), std::min<std::int64_t>(block, size - k));
    cascade.push(sums);
  }
}

/// What one element takes, roughly: its way from memory, or the formula of a heavy term.
template <class Op>
constexpr double nanoseconds_per_element() {
  if constexpr (is_heavy<Op>) return 0.3;
  else return 0.006 * (sizeof(typename Op::X) + (Op::inputs > 1 ? sizeof(typename Op::Y) : 0));
}

template <class T>
struct JoinRows {
  const T& terms;
  void operator()(const typename T::W& older, typename T::W& newer) const { newer = terms.op.join(older, newer); }
};

template <class T>
[[gnu::noinline]] void sum_row_blocks(const void* erased, const BlockSequence& order, const Roots& roots,
                                      std::int64_t begin, std::int64_t end, void* total) {
  using W = typename T::W;
  const T& terms = *static_cast<const T*>(erased);
  W levels[32];
  Cascade cascade(levels, JoinRows<T>{terms});
  cascade.push_all(roots);
  order.for_each_part(begin, end, [&](const Offsets& row, std::int64_t first, std::int64_t last) {
    push_row(terms.moved(row).at(first, 0), last - first, cascade);
  });
  cascade.total(*static_cast<W*>(total));
}

/// The partial sums of one output of many blocks.
template <class T>
[[gnu::noinline]] typename T::W long_row_sums(const T& terms, const AxisList& reduced) {
  using W = typename T::W;
  constexpr std::int64_t block = block_vectors * W::lanes;
  constexpr double nanoseconds = nanoseconds_per_element<decltype(terms.op)>();
  const std::int64_t size = reduced.last().size;
  W total;
  if (reduced.count == 1 && parallel::is_little({size, nanoseconds})) {
    W levels[32];
    Cascade cascade(levels, JoinRows<T>{terms});
    push_row(terms, size, cascade);
    cascade.total(total);
  } else {
    cascade_blocks({reduced, block}, {sizeof(W), nanoseconds * block, 64}, sum_row_blocks<T>, &terms, &total);
  }
  return total;
}

template <class T>
[[gnu::noinline]] typename T::W short_row_sums(const T& terms, std::int64_t size) {
  return row_block(terms, size);
}

/// The partial sums of one output.
template <class T>
RICCI_ALWAYS_INLINE typename T::W row_sums(const T& terms, const AxisList& reduced) {
  const std::int64_t size = reduced.last().size;
  if (reduced.count > 1 || size > block_vectors * T::W::lanes) return long_row_sums(terms, reduced);
  if constexpr (T::unrolled) return row_block(terms, size);
  else return short_row_sums(terms, size);
}

template <class Out, class E>
RICCI_ALWAYS_INLINE Out convert_element(E x) {
  if constexpr (std::is_same_v<Out, Half> || std::is_same_v<Out, BFloat16>) return Out(static_cast<float>(x));
  else return static_cast<Out>(x);
}

/// The first `count` lanes, finished, to elements `step` apart.
template <class Op, class W>
RICCI_ALWAYS_INLINE void store_results(const Op& op, typename Op::Out* to, std::int64_t step, W totals, int count) {
  using Out = typename Op::Out;
  using A = typename Op::A;
  const W results = op.finish(totals);
  if constexpr (std::is_same_v<Out, A>) {
    if (count == W::lanes && step == 1) return store_wide(to, results);
  }
  A buffer[W::lanes];
  store_wide(buffer, results);
  for (int i = 0; i < count; ++i) to[i * step] = convert_element<Out>(buffer[i]);
}

/// Up to `lanes` neighbouring outputs along `axis`.
template <class T, class Out>
RICCI_ALWAYS_INLINE void reduce_group_of_rows(const T& terms, const AxisList& reduced, const Axis& axis, int count,
                                              Out* out) {
  using W = typename T::W;
  const auto join = [&](auto a, auto b) { return terms.op.join(a, b); };
  const auto partial = [&](int i) __attribute__((always_inline)) {
    return row_sums(terms.moved({0, i * axis.x, i * axis.y}), reduced);
  };
  if constexpr (folds_each<W> && T::unrolled) {
    if (count > 4) {
      W sums[W::lanes];
      for (int i = 0; i < count; ++i) sums[i] = partial(i);
      for (int i = count; i < W::lanes; ++i) sums[i] = sums[0];
      return store_results(terms.op, out, axis.out, fold_each(sums, join), count);
    }
  }
#pragma GCC unroll 1
  for (int i = 0; i < count; ++i) store_results(terms.op, out + i * axis.out, 1, fold(partial(i), join), 1);
}

template <Access x_access, Access y_access, class Op>
void reduce_rows(const Op& op, const ReductionAxes& axes, typename Op::Out* out, const typename Op::X* x,
                 const typename Op::Y* y) {
  using T = Terms<Op, x_access, y_access>;
  const Axis lane = axes.reduced.last(), group = axes.kept.last();
  const T terms{op, {x, lane.x, 0}, {y, lane.y, 0}};
  for (Walk outer(axes.kept.axis, axes.kept.count - 1); !outer.done; outer.next()) {
    Offsets at = outer.at;
    for (std::int64_t i = 0; i < group.size; i += T::W::lanes) {
      const int count = static_cast<int>(std::min<std::int64_t>(T::W::lanes, group.size - i));
      reduce_group_of_rows(terms.moved(at), axes.reduced, group, count, out + at.out);
      at.out += count * group.out, at.x += count * group.x, at.y += count * group.y;
    }
  }
}

// --- Across kept axes

/// The partial sums of C vectors of columns. The first `lanes` rows of them exist.
template <class W, int C>
struct ColumnBlock {
  W sums[W::lanes][C];
  int lanes;

  ColumnBlock() {}  // leaves the sums unset
};

template <class W, int C, class Join>
[[gnu::noinline]] void join_columns(const ColumnBlock<W, C>& older, ColumnBlock<W, C>& newer, const Join& join) {
#pragma GCC unroll 1
  for (int l = 0; l < older.lanes; ++l) {
    for (int c = 0; c < C; ++c)
      newer.sums[l][c] = l < newer.lanes ? join(older.sums[l][c], newer.sums[l][c]) : older.sums[l][c];
  }
  newer.lanes = std::max(newer.lanes, older.lanes);
}

/// Adds `lanes` rows at a time to the sums of `to`, from row k on, while there are as many; returns the row it came to.
template <class T, std::size_t... L>
RICCI_ALWAYS_INLINE std::int64_t add_rows(const T& terms, std::int64_t k, std::int64_t rows, int count,
                                          ColumnBlock<typename T::W, 1>& to, std::index_sequence<L...>) {
  // A loop over L would keep the sums in memory.
  std::array<typename T::W, sizeof...(L)> sums = {to.sums[L][0]...};
  T row = terms.at(0, k);
  for (; k + T::W::lanes <= rows; k += T::W::lanes) {
    ((sums[L] = row.at(0, L).add(sums[L], count)), ...);
    row = row.at(0, T::W::lanes);
  }
  ((to.sums[L][0] = sums[L]), ...);
  return k;
}

/// The partial sums of `rows` rows of one vector of `count` columns, read in the order of memory.
template <class T>
[[gnu::noinline, gnu::flatten]] void narrow_block(const T& terms, std::int64_t rows, int count,
                                                  ColumnBlock<typename T::W, 1>& to) {
  using W = typename T::W;
  to.lanes = static_cast<int>(std::min<std::int64_t>(W::lanes, rows));
#pragma GCC unroll 1
  for (int l = 0; l < to.lanes; ++l) to.sums[l][0] = terms.at(0, l).first(count);
  std::int64_t k = to.lanes;
  if constexpr (T::unrolled) k = add_rows(terms, k, rows, count, to, std::make_index_sequence<W::lanes>{});
#pragma GCC unroll 1
  for (; k < rows; ++k) to.sums[k % W::lanes][0] = terms.at(0, k).add(to.sums[k % W::lanes][0], count);
}

/// The partial sums of `rows` rows of C vectors of columns. One partial sum after the other: those of all columns do
/// not fit into registers.
template <int C, class T>
[[gnu::noinline, gnu::flatten]] void wide_block(const T& terms, std::int64_t rows, ColumnBlock<typename T::W, C>& to) {
  using W = typename T::W;
  to.lanes = static_cast<int>(std::min<std::int64_t>(W::lanes, rows));
#pragma GCC unroll 1
  for (int l = 0; l < to.lanes; ++l) {
    T row = terms.at(0, l);
    W sums[C];
    for (int c = 0; c < C; ++c) sums[c] = row.at(c * W::lanes, 0).first();
    for (std::int64_t k = l + W::lanes; k < rows; k += W::lanes) {
      row = row.at(0, W::lanes);
      for (int c = 0; c < C; ++c) sums[c] = row.at(c * W::lanes, 0).add(sums[c]);
    }
    for (int c = 0; c < C; ++c) to.sums[l][c] = sums[c];
  }
}

/// Folds the partial sums in the order of `fold` into sums[0].
template <class W, int C, class Join>
[[gnu::noinline]] void fold_columns(ColumnBlock<W, C>& block, const Join& join) {
#pragma GCC unroll 1
  for (int half = W::lanes / 2; half > 0; half /= 2) {
    for (int l = 0; l < half && l + half < block.lanes; ++l) {
      for (int c = 0; c < C; ++c) block.sums[l][c] = join(block.sums[l][c], block.sums[l + half][c]);
    }
    block.lanes = std::min(block.lanes, half);
  }
}

/// C vectors of neighbouring columns; if C is 1, the first `count` of them.
template <int C, class T>
struct Strip {
  using W = typename T::W;
  using Block = ColumnBlock<W, C>;
  static constexpr std::int64_t block_rows = block_vectors * W::lanes;

  const T& terms;
  int count;

  /// The partial sums of `rows` rows from `from` on.
  void block(const T& from, std::int64_t rows, Block& to) const {
    if constexpr (C == 1) narrow_block(from, rows, count, to);
    else wide_block(from, rows, to);
  }
  W join(const W& a, const W& b) const { return terms.op.join(a, b); }

  static void sum(const void* strip, const Offsets& part, std::int64_t from, std::int64_t rows, void* to) {
    const Strip& of = *static_cast<const Strip*>(strip);
    of.block(of.terms.moved(part).at(0, from), rows, *static_cast<Block*>(to));
  }
  static void join_blocks(const void* strip, const void* older, void* newer) {
    const Strip& of = *static_cast<const Strip*>(strip);
    join_columns(*static_cast<const Block*>(older), *static_cast<Block*>(newer),
                 [&](const W& a, const W& b) { return of.join(a, b); });
  }
};

/// The outputs of a strip.
template <int C, class T, class Out>
[[gnu::noinline]] void reduce_strip(const T& terms, const AxisList& reduced, int count, Out* out,
                                    std::int64_t out_step) {
  using S = Strip<C, T>;
  using W = typename T::W;
  const S strip{terms, count};
  const std::int64_t rows = reduced.last().size;
  typename S::Block total;
  if (reduced.count <= 1 && rows <= S::block_rows) {
    strip.block(terms, rows, total);
  } else {
    const double nanoseconds = nanoseconds_per_element<decltype(terms.op)>() * S::block_rows * C * W::lanes;
    const BlocksOfColumns blocks{&strip, sizeof total, S::block_rows, S::sum, S::join_blocks};
    cascade_blocks({reduced, S::block_rows}, {sizeof total, nanoseconds, 16}, sum_blocks_of_columns, &blocks, &total);
  }
  fold_columns(total, [&](const W& a, const W& b) { return strip.join(a, b); });
  for (int c = 0; c < C; ++c) store_results(terms.op, out + c * W::lanes * out_step, out_step, total.sums[0][c], count);
}

/// `lane`: the kept axis along which vectors lie.
template <Access x_access, Access y_access, class Op>
void reduce_columns(const Op& op, const ReductionAxes& axes, int lane, typename Op::Out* out, const typename Op::X* x,
                    const typename Op::Y* y) {
  using T = Terms<Op, x_access, y_access>;
  constexpr int lanes = T::W::lanes, wide = 16, medium = 4;
  const Axis across = axes.kept.axis[lane], row = axes.reduced.last();
  AxisList others;
  for (int i = 0; i < axes.kept.count; ++i) {
    if (i != lane) others.axis[others.count++] = axes.kept.axis[i];
  }
  const T terms{op, {x, across.x, row.x}, {y, across.y, row.y}};
  for (Walk outer(others.axis, others.count); !outer.done; outer.next()) {
    const T start = terms.moved(outer.at);
    const auto to = [&](std::int64_t i) { return out + outer.at.out + i * across.out; };
    std::int64_t i = 0;
    for (; T::unrolled && i + wide * lanes <= across.size; i += wide * lanes)
      reduce_strip<T::unrolled ? wide : 1>(start.at(i, 0), axes.reduced, lanes, to(i), across.out);
    for (; i + medium * lanes <= across.size; i += medium * lanes)
      reduce_strip<medium>(start.at(i, 0), axes.reduced, lanes, to(i), across.out);
    for (; i < across.size; i += lanes) {
      const int count = static_cast<int>(std::min<std::int64_t>(lanes, across.size - i));
      reduce_strip<1>(start.at(i, 0), axes.reduced, count, to(i), across.out);
    }
  }
}

// --- Choosing

/// The output of a reduction of nothing.
template <class Op>
[[gnu::noinline]] void reduce_nothing(const Op& op, const ReductionAxes& axes, typename Op::Out* out) {
  for (Walk kept(axes.kept.axis, axes.kept.count); !kept.done; kept.next())
    store_results(op, out + kept.at.out, 1, op.nothing(), 1);
}

/// How many elements `x` has if all its axes are reduced and it is one run of memory, else -1.
inline std::int64_t dense_size(const Strided& x, const bool* reduced) {
  std::int64_t size = 1;
  for (int i = x.rank - 1; i >= 0; --i) {
    if (!reduced[i] || (x.strides[i] != size && x.shape[i] != 1)) return -1;
    size *= x.shape[i];
  }
  return size;
}

/// The short cut for `size` > 0 elements without gaps.
template <class Op>
void reduce_dense(const Op& op, std::int64_t size, typename Op::Out* out, const typename Op::X* x,
                  const typename Op::Y* y) {
  constexpr Access y_access = Op::inputs == 1 ? Access::same : Access::unit;
  const Terms<Op, Access::unit, y_access> terms{op, {x, 1, 0}, {y, 1, 0}};
  AxisList reduced;
  reduced.axis[reduced.count++] = {size, 0, 1, 1};
  store_results(op, out, 1, fold(row_sums(terms, reduced), [&](auto a, auto b) { return op.join(a, b); }), 1);
}

template <class Op>
void reduce_one(const Op& op, const ReductionAxes& axes, typename Op::Out* out, const typename Op::X* x) {
  if (axes.reduced.last().x == 1) return reduce_rows<Access::unit, Access::same>(op, axes, out, x, x);
  for (int i = axes.kept.count - 1; i >= 0; --i) {
    if (axes.kept.axis[i].x == 1) return reduce_columns<Access::unit, Access::same>(op, axes, i, out, x, x);
  }
  reduce_rows<Access::strided, Access::same>(op, axes, out, x, x);
}

inline void exchange_inputs(AxisList& list) {
  for (int i = 0; i < list.count; ++i) std::swap(list.axis[i].x, list.axis[i].y);
}

template <class Op>
void reduce_two(const Op& op, ReductionAxes& axes, typename Op::Out* out, const typename Op::X* x,
                const typename Op::Y* y) {
  const auto is = [](const Axis& axis, std::int64_t x_step, std::int64_t y_step) {
    return axis.x == x_step && axis.y == y_step;
  };
  const Axis row = axes.reduced.last();
  if (is(row, 1, 1)) return reduce_rows<Access::unit, Access::unit>(op, axes, out, x, y);
  if (is(row, 1, 0)) return reduce_rows<Access::unit, Access::same>(op, axes, out, x, y);
  for (int i = axes.kept.count - 1; i >= 0; --i) {
    const Axis column = axes.kept.axis[i];
    if (is(column, 1, 1)) return reduce_columns<Access::unit, Access::unit>(op, axes, i, out, x, y);
    if (is(column, 1, 0)) return reduce_columns<Access::unit, Access::same>(op, axes, i, out, x, y);
    if constexpr (Op::symmetric) {
      if (!is(column, 0, 1)) continue;
      exchange_inputs(axes.kept);
      exchange_inputs(axes.reduced);
      return reduce_columns<Access::unit, Access::same>(op, axes, i, out, y, x);
    }
  }
  reduce_rows<Access::strided, Access::strided>(op, axes, out, x, y);
}

/// Reduces `x`, or `x` and `y`, into `out` as `op` says. Requires: the element types are Op's.
template <class Op>
void reduce_with(const Op& op, Strided out, Strided x, const Strided* y, const bool* reduced) {
  auto* to = static_cast<typename Op::Out*>(out.data);
  const auto* from = static_cast<const typename Op::X*>(x.data);
  const auto* and_from = static_cast<const typename Op::Y*>(y ? y->data : x.data);
  const std::int64_t dense = dense_size(x, reduced);
  if (dense > 0 && (!y || dense_size(*y, reduced) > 0)) return reduce_dense(op, dense, to, from, and_from);
  ReductionAxes axes = reduction_axes(out, x, y, reduced);
  if (axes.empty) return;
  if (axes.reduced_elements == 0) return reduce_nothing(op, axes, to);
  const auto run = [&](ReductionAxes& piece, const Offsets& at) {
    if constexpr (Op::inputs == 1) reduce_one(op, piece, to + at.out, from + at.x);
    else reduce_two(op, piece, to + at.out, from + at.x, and_from + at.y);
  };
  cut_kept(axes, nanoseconds_per_element<Op>(), run);
}

}  // namespace RICCI_ISA
}  // namespace ricci::kernels
