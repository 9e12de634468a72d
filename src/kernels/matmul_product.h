// The vocabulary of the matrix product kernels: one product of two matrices, and the loop over a batch of them.
// Knows nothing of how a product is computed. Start with `BatchedProduct`.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "kernels/matmul.h"
#include "ricci/primitive/parallel.h"

namespace ricci::kernels {

template <class T>
struct Matrix {
  T* data;
  std::int64_t rows, cols, row_stride, col_stride;

  T& operator()(std::int64_t row, std::int64_t col) const { return data[row * row_stride + col * col_stride]; }
  Matrix transposed() const { return {data, cols, rows, col_stride, row_stride}; }
  Matrix with(T* other) const { return {other, rows, cols, row_stride, col_stride}; }
  Matrix part(std::int64_t row, std::int64_t part_rows, std::int64_t col, std::int64_t part_cols) const {
    return {data + row * row_stride + col * col_stride, part_rows, part_cols, row_stride, col_stride};
  }
};

template <class T>
Matrix<T> row_major(T* data, std::int64_t rows, std::int64_t cols) {
  return {data, rows, cols, cols, 1};
}

/// c = a b, or c += a b.
template <class T>
struct Product {
  Matrix<T> c;
  Matrix<const T> a, b;
  Accumulate accumulate;

  std::int64_t m() const { return c.rows; }
  std::int64_t n() const { return c.cols; }
  std::int64_t k() const { return a.cols; }
  Product transposed() const { return {c.transposed(), b.transposed(), a.transposed(), accumulate}; }
};

/// One loop around the product: its length, and the step of each matrix in elements.
struct BatchAxis {
  std::int64_t size, c, a, b;
};

inline constexpr int max_batch_rank = 64;

template <class T>
struct BatchedProduct {
  Product<T> product;
  int rank = 0;
  std::array<BatchAxis, max_batch_rank> axes;  // outermost first; only the first `rank` are set

  std::int64_t batch_size() const {
    std::int64_t size = 1;
    for (int i = 0; i < rank; ++i) size *= axes[i].size;
    return size;
  }

  void remove_axis(int axis) {
    std::copy(axes.begin() + axis + 1, axes.begin() + rank, axes.begin() + axis);
    --rank;
  }

  // From its parts: copying a product that was just written stalls the hot path of small products.
  BatchedProduct(const Matrix<T>& c, const Matrix<const T>& a, const Matrix<const T>& b, Accumulate accumulate)
      : product{c, a, b, accumulate} {}
  BatchedProduct(const Product<T>& p) : product(p) {}
  BatchedProduct(const BatchedProduct& other) : product(other.product), rank(other.rank) {
    std::copy_n(other.axes.begin(), rank, axes.begin());
  }

  BatchedProduct transposed() const {
    BatchedProduct result = *this;
    result.product = product.transposed();
    for (int i = 0; i < rank; ++i) std::swap(result.axes[i].a, result.axes[i].b);
    return result;
  }
};

/// multiply(part) for parts of the batch, on several threads where there are many products; else for all of it at once,
/// so that each product may be cut. Products are computed as in the whole batch, so a kernel is chosen before.
template <class T, class Multiply>
void cut_batch(const BatchedProduct<T>& batch, double nanoseconds_per_multiply_add, const Multiply& multiply) {
  const Product<T>& p = batch.product;
  const double nanoseconds = nanoseconds_per_multiply_add * static_cast<double>(p.m() * p.n() * p.k());
  if (batch.rank == 0 || !would_cut({batch.batch_size(), nanoseconds})) return multiply(batch);
  const std::int64_t enough = 2 * std::int64_t{thread_count()};
  int axis = 0;
  while (axis < batch.rank && batch.axes[axis].size < enough) ++axis;
  if (axis == batch.rank) return multiply(batch);
  const BatchAxis whole = batch.axes[axis];
  const double of_step = nanoseconds * static_cast<double>(batch.batch_size() / whole.size);
  parallel_for({whole.size, of_step}, [&](std::int64_t begin, std::int64_t end) {
    BatchedProduct<T> part = batch;
    part.axes[axis].size = end - begin;
    part.product.c.data += begin * whole.c;
    part.product.a.data += begin * whole.a;
    part.product.b.data += begin * whole.b;
    multiply(part);
  });
}

/// multiply(part) for parts of the rows of a single product, in multiples of `step`; the last part takes the rest.
template <class T, class Multiply>
void cut_rows(const Product<T>& p, double nanoseconds_per_multiply_add, std::int64_t step, const Multiply& multiply) {
  const std::int64_t units = std::max<std::int64_t>(1, p.m() / step);
  const double of_unit = nanoseconds_per_multiply_add * static_cast<double>(step * p.n() * p.k());
  parallel_for({units, of_unit}, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t first = begin * step, rows = end == units ? p.m() - first : (end - begin) * step;
    multiply(Product<T>{p.c.part(first, rows, 0, p.n()), p.a.part(first, rows, 0, p.k()), p.b, p.accumulate});
  });
}

/// Calls `f(c, a, b)` with the data pointers of every product of the batch, the last axis innermost.
template <class T, class F>
void for_each_product(const BatchedProduct<T>& batch, F&& f) {
  T* c = batch.product.c.data;
  const T* a = batch.product.a.data;
  const T* b = batch.product.b.data;
  if (batch.rank == 0) return f(c, a, b);
  const BatchAxis inner = batch.axes[batch.rank - 1];
  const auto run_inner = [&] {
    for (std::int64_t i = 0; i < inner.size; ++i) f(c + i * inner.c, a + i * inner.a, b + i * inner.b);
  };
  if (batch.rank == 1) return run_inner();
  std::array<std::int64_t, max_batch_rank> index{};
  while (true) {
    run_inner();
    int axis = batch.rank - 2;
    for (; axis >= 0; --axis) {
      const BatchAxis& outer = batch.axes[axis];
      c += outer.c, a += outer.a, b += outer.b;
      if (++index[axis] < outer.size) break;
      c -= outer.c * outer.size, a -= outer.a * outer.size, b -= outer.b * outer.size;
      index[axis] = 0;
    }
    if (axis < 0) return;
  }
}

}  // namespace ricci::kernels
