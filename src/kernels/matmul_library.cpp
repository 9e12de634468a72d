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
#include "kernels/matmul_scratch.h"

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

/// Requires: c has a leading dimension. BLAS is column-major, so it is given the transposed product.
template <class T>
void multiply_matrices(const Product<T>& p) {
  Scratch<T> a_copy, b_copy;
  const Operand<T> a = operand(p.a, a_copy), b = operand(p.b, b_copy);
  const int m = static_cast<int>(p.m()), n = static_cast<int>(p.n()), k = static_cast<int>(p.k());
  const T one = T(1), beta = p.accumulate == Accumulate::yes ? T(1) : T(0);
  const int ldc = leading_dimension(p.c);
  const bool several = is_worth_threads(p.m() * p.n() * p.k());
  if constexpr (std::is_same_v<T, float>) {
    const OpenMpThreads threads(several);
    const dnnl_status_t status =
        dnnl_sgemm(a.op, b.op, m, n, k, one, a.data, a.leading, b.data, b.leading, beta, p.c.data, ldc);
    if (status != dnnl_success) throw std::bad_alloc();  // the arguments are right
  } else {
    const BlasThreads threads(several);
    blas<T>().gemm(&b.op, &a.op, &n, &m, &k, &one, b.data, &b.leading, a.data, &a.leading, &beta, p.c.data, &ldc, 1, 1);
  }
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
  const int m = static_cast<int>(p.m()), k = static_cast<int>(p.k());
  const int y_step = m == 1 ? 1 : static_cast<int>(p.c.row_stride);
  const T one = T(1), beta = p.accumulate == Accumulate::yes ? T(1) : T(0);
  const BlasThreads threads(is_worth_threads(p.m() * p.k()));
  if (a.op == 'N') {
    blas<T>().gemv("T", &k, &m, &one, a.data, &a.leading, x, &x_step, &beta, p.c.data, &y_step, 1);
  } else {
    blas<T>().gemv("N", &m, &k, &one, a.data, &a.leading, x, &x_step, &beta, p.c.data, &y_step, 1);
  }
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
