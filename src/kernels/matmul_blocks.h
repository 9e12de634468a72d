// The innermost loops of a product: blocks of the result held in registers while k runs.
// Knows nothing of caches, packing or batches. Start with `strip_by_columns`.
#pragma once

#include "kernels/matmul_lanes.h"
#include "kernels/matmul_product.h"

namespace ricci::kernels {

/// A whole register of columns, or the first `count` < N of them.
template <int N, bool Partial, class T>
inline Lanes<T, N> load_columns(const T* from, int count) {
  if constexpr (Partial) return load_first<N>(from, count);
  return load<N>(from);
}

template <int N, bool Partial, class T>
inline void store_columns(T* to, Lanes<T, N> x, int count) {
  if constexpr (Partial) return store_first<N, T>(to, x, count);
  store<N, T>(to, x);
}

/// R rows by C registers of out, of which the last has `count` columns if Partial.
template <class T, int N, int R, int C, bool Partial>
inline void block_by_columns(const Product<T>& p, T* c, const T* a, const T* b, int count) {
  const std::int64_t c_step = p.c.row_stride, a_step = p.a.row_stride;
  Lanes<T, N> sum[R][C] = {};
  if (p.accumulate == Accumulate::yes) {
    unrolled<R>([&](auto r) {
      unrolled<C - 1>([&](auto j) { sum[r][j] = load<N>(c + r * c_step + j * N); });
      sum[r][C - 1] = load_columns<N, Partial>(c + r * c_step + (C - 1) * N, count);
    });
  }
  for (std::int64_t k = p.a.cols; k > 0; --k, a += p.a.col_stride, b += p.b.row_stride) {
    Lanes<T, N> row[C];
    unrolled<C - 1>([&](auto j) { row[j] = load<N>(b + j * N); });
    row[C - 1] = load_columns<N, Partial>(b + (C - 1) * N, count);
    unrolled<C>([&](auto j) { keep_in_register(row[j]); });
    unrolled<R>([&](auto r) {
      const Lanes<T, N> x = splat<N>(a[r * a_step]);
      unrolled<C>([&](auto j) { sum[r][j] = fused<T, N>(x, row[j], sum[r][j]); });
    });
  }
  unrolled<R>([&](auto r) {
    unrolled<C - 1>([&](auto j) { store<N, T>(c + r * c_step + j * N, sum[r][j]); });
    store_columns<N, Partial, T>(c + r * c_step + (C - 1) * N, sum[r][C - 1], count);
  });
}

/// All rows of a strip of C registers of columns. Requires: b and c are contiguous along n; a has any strides.
template <class T, int N, int C, bool Partial>
inline void strip_by_columns(const Product<T>& p, T* c, const T* a, const T* b, int count) {
  constexpr int most_rows = C == 1 || register_bytes == 64 ? 8 : 4;  // as many sums as there are registers for
  std::int64_t i = 0;
  const auto block = [&]<int R>() {
    block_by_columns<T, N, R, C, Partial>(p, c + i * p.c.row_stride, a + i * p.a.row_stride, b, count);
    i += R;
  };
  while (i + most_rows <= p.c.rows) block.template operator()<most_rows>();
  if (i + 4 <= p.c.rows) block.template operator()<4>();
  switch (p.c.rows - i) {
    case 3: return block.template operator()<3>();
    case 2: return block.template operator()<2>();
    case 1: return block.template operator()<1>();
  }
}

}  // namespace ricci::kernels
