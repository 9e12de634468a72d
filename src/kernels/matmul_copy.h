// Copies of matrices between any two layouts, converting the elements: what packing is made of.
// Knows nothing of products. Start with `copy_matrix`.
#pragma once

#include "kernels/matmul_lanes.h"
#include "kernels/matmul_product.h"

namespace ricci::kernels {

template <class To, class From>
void copy_rows(Matrix<To> to, Matrix<From> from) {
  for (std::int64_t i = 0; i < to.rows; ++i) {
    To* out = to.data + i * to.row_stride;
    const From* in = from.data + i * from.row_stride;
    if (to.col_stride == 1 && from.col_stride == 1) {
      for (std::int64_t j = 0; j < to.cols; ++j) out[j] = static_cast<To>(in[j]);
    } else {
      for (std::int64_t j = 0; j < to.cols; ++j) out[j * to.col_stride] = static_cast<To>(in[j * from.col_stride]);
    }
  }
}

/// Transposes four columns of `from`, which is contiguous along its columns, into four columns of `to`, which is
/// contiguous along its rows: 4 x 4 elements at a time in registers, half a cycle an element.
template <class T>
void transpose_four_columns(T* to, std::int64_t to_step, const T* from, std::int64_t from_step, std::int64_t rows) {
  std::int64_t i = 0;
  for (; i + 4 <= rows; i += 4, to += 4 * to_step, from += 4) {
    const auto x0 = load<4>(from), x1 = load<4>(from + from_step);
    const auto x2 = load<4>(from + 2 * from_step), x3 = load<4>(from + 3 * from_step);
    const auto low01 = __builtin_shufflevector(x0, x1, 0, 4, 1, 5),
               high01 = __builtin_shufflevector(x0, x1, 2, 6, 3, 7);
    const auto low23 = __builtin_shufflevector(x2, x3, 0, 4, 1, 5),
               high23 = __builtin_shufflevector(x2, x3, 2, 6, 3, 7);
    store<4, T>(to, __builtin_shufflevector(low01, low23, 0, 1, 4, 5));
    store<4, T>(to + to_step, __builtin_shufflevector(low01, low23, 2, 3, 6, 7));
    store<4, T>(to + 2 * to_step, __builtin_shufflevector(high01, high23, 0, 1, 4, 5));
    store<4, T>(to + 3 * to_step, __builtin_shufflevector(high01, high23, 2, 3, 6, 7));
  }
  for (; i < rows; ++i, to += to_step, ++from) {
    for (int j = 0; j < 4; ++j) to[j] = from[j * from_step];
  }
}

/// Copies `from` to `to`. Requires: equal shapes, no overlap; any strides.
template <class To, class From>
void copy_matrix(Matrix<To> to, Matrix<From> from) {
  const bool along_columns = to.row_stride < to.col_stride ? to.rows > 1 : to.cols == 1;
  if (along_columns && to.rows > 1) return copy_matrix(to.transposed(), from.transposed());
  using T = std::remove_const_t<From>;
  if constexpr (std::is_same_v<T, To> && std::is_floating_point_v<T>) {
    if (to.col_stride == 1 && from.row_stride == 1 && from.col_stride > 1) {
      const std::int64_t transposed = to.cols / 4 * 4;
      for (std::int64_t j = 0; j < transposed; j += 4) {
        transpose_four_columns<T>(to.data + j, to.row_stride, from.data + j * from.col_stride, from.col_stride,
                                  to.rows);
      }
      to = {to.data + transposed, to.rows, to.cols - transposed, to.row_stride, 1};
      from = {from.data + transposed * from.col_stride, from.rows, to.cols, 1, from.col_stride};
    }
  }
  copy_rows(to, from);
}

template <class T>
void add_or_copy(const Matrix<T>& to, const Matrix<T>& from, Accumulate accumulate) {
  if (accumulate == Accumulate::no) return copy_matrix(to, from);
  for (std::int64_t i = 0; i < to.rows; ++i) {
    for (std::int64_t j = 0; j < to.cols; ++j) to(i, j) += from(i, j);
  }
}

}  // namespace ricci::kernels
