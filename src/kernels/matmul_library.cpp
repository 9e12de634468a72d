// Products of matrices through BLAS's gemm and, for float, oneDNN's, which is as fast as OpenBLAS with AVX-512 kernels
// on one core (245 GF/s against 240 at n = 1024) and does not depend on how OpenBLAS was loaded; products with a vector
// through gemv. Operands that have no contiguous axis are copied first.
#include "kernels/matmul_library.h"

#include <dnnl.h>

#include <complex>
#include <new>
#include <type_traits>

#include "kernels/blas.h"
#include "kernels/matmul_copy.h"
#include "kernels/matmul_tiny.h"
#include "ricci/primitive/parallel.h"
#include "ricci/primitive/scratch.h"

namespace ricci::kernels {
namespace {

/// Whether the rows are contiguous and far enough apart to have a leading dimension.
template <class T>
bool has_leading_dimension(const Matrix<T>& x) {
  return (x.col_stride == 1 || x.cols == 1) && (x.row_stride >= x.cols || x.rows == 1);
}

template <class T>
int leading_dimension(const Matrix<T>& x) {
  return static_cast<int>(x.rows == 1 ? x.cols : x.row_stride);
}

template <class T>
struct Operand {
  const T* data;
  char op;  // 'N': row-major, 'T': column-major
  int leading;
};

/// Reads x in place if BLAS can, else copies it into memory that `copy` keeps.
template <class T>
Operand<T> operand(const Matrix<const T>& x, Scratch<T>& copy) {
  if (has_leading_dimension(x)) return {x.data, 'N', leading_dimension(x)};
  if (has_leading_dimension(x.transposed())) return {x.data, 'T', leading_dimension(x.transposed())};
  copy.allocate(x.rows * x.cols);
  copy_matrix(row_major(copy.data(), x.rows, x.cols), x);
  return {copy.data(), 'N', static_cast<int>(x.cols)};
}

/// How one axis of a product is cut: into tiles of `side`, of which the last may be half as large again.
struct Tiles {
  std::int64_t size, side;

  std::int64_t count() const { return std::max<std::int64_t>(1, (size + side / 2) / side); }
  std::int64_t begin(std::int64_t tile) const { return tile * side; }
  std::int64_t end(std::int64_t tile) const { return tile + 1 == count() ? size : (tile + 1) * side; }
};

/// Tiles of a product, which follow from its sizes alone, as the bits of a library's sum may depend on the shape it is
/// given. Small products stay whole; the longer side of others is cut, and both sides of large ones. With float on one
/// core a product takes 0 to 4 % longer in tiles of 128 (up to 512), 256 (up to 1024) and 512.
struct Tiling {
  Tiles rows, cols;

  Tiling(std::int64_t m, std::int64_t n, std::int64_t k) : rows{m, m}, cols{n, n} {
    constexpr std::int64_t smallest = 4'000'000, large = std::int64_t{1} << 29;
    const std::int64_t volume = m * n * k;
    const auto side = [](std::int64_t size) { return size <= 512 ? 128 : size <= 1024 ? 256 : 512; };
    if (volume <= smallest) return;
    if (m >= n || volume >= large) rows.side = side(m);
    if (m < n || volume >= large) cols.side = std::max<std::int64_t>(side(n), volume >= large ? 512 : 0);
  }
  std::int64_t count() const { return rows.count() * cols.count(); }
};

template <class T>
const T* at(const Operand<T>& x, std::int64_t row, std::int64_t col) {
  return x.op == 'N' ? x.data + row * x.leading + col : x.data + col * x.leading + row;
}

/// BLAS is column-major, so it is given the transposed product.
template <class T>
void multiply_tile(const Operand<T>& a, const Operand<T>& b, int m, int n, int k, T beta, T* c, int ldc) {
  const T one = T(1);
  if constexpr (std::is_same_v<T, float>) {
    const OneOpenMpThread threads;
    const dnnl_status_t status =
        dnnl_sgemm(a.op, b.op, m, n, k, one, a.data, a.leading, b.data, b.leading, beta, c, ldc);
    if (status != dnnl_success) throw std::bad_alloc();  // the arguments are right
  } else {
    blas<T>()->gemm(&b.op, &a.op, &n, &m, &k, &one, b.data, &b.leading, a.data, &a.leading, &beta, c, &ldc, 1, 1);
  }
}

/// Requires: c has a leading dimension.
template <class T>
void multiply_matrices(const Product<T>& p) {
  Scratch<T> a_copy, b_copy;
  const Operand<T> a = operand(p.a, a_copy), b = operand(p.b, b_copy);
  const int k = static_cast<int>(p.k()), ldc = leading_dimension(p.c);
  const T beta = p.accumulate == Accumulate::yes ? T(1) : T(0);
  const Tiling tiling(p.m(), p.n(), p.k());
  const double nanoseconds = nanoseconds_of_tiny<T> * static_cast<double>(p.m() * p.n() * p.k() / tiling.count());
  parallel_for({tiling.count(), nanoseconds}, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t tile = begin; tile < end; ++tile) {
      const std::int64_t row = tile / tiling.cols.count(), col = tile % tiling.cols.count();
      const std::int64_t i = tiling.rows.begin(row), j = tiling.cols.begin(col);
      const int m = static_cast<int>(tiling.rows.end(row) - i), n = static_cast<int>(tiling.cols.end(col) - j);
      multiply_tile<T>({at(a, i, 0), a.op, a.leading}, {at(b, 0, j), b.op, b.leading}, m, n, k, beta,
                       p.c.data + i * ldc + j, ldc);
    }
  });
}

/// Requires: n == 1 and c does not repeat an element.
template <class T>
void multiply_vector(const Product<T>& p) {
  Scratch<T> a_copy, x_copy;
  const Operand<T> a = operand(p.a, a_copy);
  const T* x = p.b.data;
  int x_step = static_cast<int>(p.b.row_stride);
  if (x_step == 0) {
    x_copy.allocate(p.k());
    copy_matrix(row_major(x_copy.data(), p.k(), 1), p.b);
    x = x_copy.data();
    x_step = 1;
  }
  const int k = static_cast<int>(p.k());
  const int y_step = p.m() == 1 ? 1 : static_cast<int>(p.c.row_stride);
  const T one = T(1), beta = p.accumulate == Accumulate::yes ? T(1) : T(0);
  constexpr std::int64_t smallest = 500'000;
  const std::int64_t usual = a.op == 'N' ? 256 : 2048;  // columns are read in runs of as many elements
  const Tiles rows{p.m(), p.m() * p.k() <= smallest ? p.m() : usual};
  const double nanoseconds = 0.02 * sizeof(T) * static_cast<double>(p.m() * p.k() / rows.count());
  parallel_for({rows.count(), nanoseconds}, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t tile = begin; tile < end; ++tile) {
      const std::int64_t i = rows.begin(tile);
      const int part = static_cast<int>(rows.end(tile) - i);
      T* y = p.c.data + i * y_step;
      if (a.op == 'N') {
        blas<T>()->gemv("T", &k, &part, &one, at(a, i, 0), &a.leading, x, &x_step, &beta, y, &y_step, 1);
      } else {
        blas<T>()->gemv("N", &part, &k, &one, at(a, i, 0), &a.leading, x, &x_step, &beta, y, &y_step, 1);
      }
    }
  });
}

template <class T>
void multiply_into_copy(const Product<T>& p) {
  const Scratch<T> memory(p.m() * p.n());
  const Matrix<T> c = row_major(memory.data(), p.m(), p.n());
  if (p.accumulate == Accumulate::yes) copy_matrix(c, p.c);
  multiply_matrices<T>({c, p.a, p.b, p.accumulate});
  copy_matrix(p.c, c);
}

}  // namespace

template <class T>
void multiply_by_library(const Product<T>& p) {
  if (p.n() == 1) return multiply_vector(p);
  if (p.m() == 1) return multiply_vector(p.transposed());
  if (has_leading_dimension(p.c)) return multiply_matrices(p);
  if (has_leading_dimension(p.c.transposed())) return multiply_matrices(p.transposed());
  multiply_into_copy(p);
}

template void multiply_by_library(const Product<float>&);
template void multiply_by_library(const Product<double>&);
template void multiply_by_library(const Product<std::complex<float>>&);
template void multiply_by_library(const Product<std::complex<double>>&);

}  // namespace ricci::kernels
