// LAPACK is column-major and our matrices are mostly row-major: a row-major matrix is handed over as its transpose
// where that computes the same thing (cholesky, inverse, triangular_solve), and is transposed where it does not
// (lu_factor).
#include "kernels/lapack_large.h"

#include <algorithm>
#include <complex>

#include "kernels/alone.h"
#include "kernels/blas.h"
#include "kernels/lapack_substitution.h"
#include "kernels/matmul_copy.h"
#include "ricci/primitive/scratch.h"

namespace ricci::kernels {
namespace {

/// A matrix with contiguous rows: `original` itself, or a copy that `write_back` returns.
template <class T>
class Rows {
 public:
  explicit Rows(const Matrix<T>& original) : original_(original) {
    if (original.col_stride == 1 && original.row_stride >= original.cols) return;
    memory_.allocate(original.rows * original.cols);
  }

  Matrix<T> matrix() const {
    return memory_.data() != nullptr ? row_major(memory_.data(), original_.rows, original_.cols) : original_;
  }
  void write_back() const {
    if (memory_.data() != nullptr) copy_matrix(original_, matrix());
  }

 private:
  Matrix<T> original_;
  Scratch<T> memory_;
};

int as_int(std::int64_t size) { return static_cast<int>(size); }

template <class T>
void clear_above_diagonal(const Matrix<T>& x) {
  for (std::int64_t i = 0; i < x.rows; ++i) {
    for (std::int64_t j = i + 1; j < x.cols; ++j) x(i, j) = T{};
  }
}

/// 0, or its row counted from 1.
template <class T>
int first_nan_on_diagonal(const Matrix<T>& x) {
  for (std::int64_t i = 0; i < x.rows; ++i) {
    if (x(i, i) != x(i, i)) return as_int(i + 1);
  }
  return 0;
}

void exchange_rows(auto& x, std::int64_t i, std::int64_t j) {
  if (i == j) return;
  for (std::int64_t k = 0; k < x.cols; ++k) std::swap(x(i, k), x(j, k));
}

/// A triangle as BLAS sees it: column-major, so that a row-major matrix appears transposed.
template <class T>
struct Triangular {
  const T* data;
  int leading;
  char uplo, diag;
  char right_op;  // for x op(a)ᵀ = b, which is what op(a) x = b means for row-major x and b
};

template <class T>
Triangular<T> triangular(const Matrix<const T>& a, TriangularKind kind, Scratch<T>& copy) {
  const char diag = kind.unit ? 'U' : 'N';
  if (a.row_stride == 1 && a.col_stride >= a.rows && kind.op != 'C') {
    return {a.data, as_int(a.col_stride), kind.upper ? 'U' : 'L', diag, kind.op == 'N' ? 'T' : 'N'};
  }
  const char uplo = kind.upper ? 'L' : 'U';
  if (a.col_stride == 1 && a.row_stride >= a.cols) return {a.data, as_int(a.row_stride), uplo, diag, kind.op};
  copy.allocate(a.rows * a.cols);
  copy_matrix(row_major(copy.data(), a.rows, a.cols), a);
  return {copy.data(), as_int(a.cols), uplo, diag, kind.op};
}

/// Requires: x has contiguous rows and holds the right side, which the solution replaces.
template <class T>
void solve_in_place(const Matrix<T>& x, const Matrix<const T>& a, TriangularKind kind) {
  if (rows_stand_alone()) return substitute(x, a, kind);
  Scratch<T> copy;
  const Triangular<T> t = triangular(a, kind, copy);
  const int n = as_int(x.rows), r = as_int(x.cols), ldx = std::max(1, as_int(x.row_stride));
  const T one = T(1);
  if (r == 1 && t.right_op != 'C') {
    const char op = t.right_op == 'N' ? 'T' : 'N';
    return blas<T>()->trsv(&t.uplo, &op, &t.diag, &n, t.data, &t.leading, x.data, &ldx, 1, 1, 1);
  }
  blas<T>()->trsm("R", &t.uplo, &t.right_op, &t.diag, &r, &n, &one, t.data, &t.leading, x.data, &ldx, 1, 1, 1, 1);
}

}  // namespace

template <class T>
int cholesky_large(Matrix<T> l, Matrix<const T> a) {
  const int n = as_int(a.rows);
  const Scratch<T> memory(a.rows * a.cols);
  const Matrix<T> columns = row_major(memory.data(), a.cols, a.rows).transposed();
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = j; i < a.rows; ++i) columns(i, j) = hermitian_element(a, i, j);
  }
  int info = 0;
  // Of columns OpenBLAS factors the lower half: the upper one takes it half as long again.
  blas<T>()->potrf("L", &n, memory.data(), &n, &info, 1);
  if (info == 0) info = first_nan_on_diagonal(columns);  // OpenBLAS takes nan for a positive pivot
  clear_above_diagonal(columns);
  copy_matrix(l, columns);
  return info;
}

template <class T>
int lu_factor_large(Matrix<T> lu, Matrix<std::int32_t> pivots, Matrix<const T> a) {
  const int m = as_int(a.rows), n = as_int(a.cols), exchanges = std::min(m, n);
  const Scratch<T> memory(a.rows * a.cols);
  const Scratch<int> pivot_memory(exchanges);
  const Matrix<T> columns = row_major(memory.data(), a.cols, a.rows).transposed();
  copy_matrix(columns, a);
  int info = 0;
  blas<T>()->getrf(&m, &n, memory.data(), &m, pivot_memory.data(), &info);
  copy_matrix(lu, columns);
  copy_matrix(pivots, row_major(pivot_memory.data(), exchanges, 1));
  return info;
}

template <class T>
int inverse_large(Matrix<T> out, Matrix<const T> a) {
  const Rows<T> rows(out);
  const Matrix<T> x = rows.matrix();
  copy_matrix(x, a);
  const int n = as_int(x.rows), ld = as_int(x.row_stride), work_size = 64 * n;
  const Scratch<int> pivots(n);
  int info = 0;
  blas<T>()->getrf(&n, &n, x.data, &ld, pivots.data(), &info);  // of aᵀ, whose inverse is the transpose of a's
  if (info != 0) {                                              // report the zero that factoring a itself meets
    return lu_factor_large(row_major(Scratch<T>(a.rows * a.cols).data(), a.rows, a.cols),
                           row_major(pivots.data(), n, 1), a);
  }
  const Scratch<T> work(work_size);
  blas<T>()->getri(&n, x.data, &ld, pivots.data(), work.data(), &work_size, &info);
  rows.write_back();
  return info;
}

template <class T>
void triangular_solve_large(Matrix<T> x, Matrix<const T> a, Matrix<const T> b, TriangularKind kind) {
  const Rows<T> rows(x);
  copy_matrix(rows.matrix(), b);
  solve_in_place(rows.matrix(), a, kind);
  rows.write_back();
}

template <class T>
void lu_solve_large(Matrix<T> x, Matrix<const T> lu, Matrix<const std::int32_t> pivots, Matrix<const T> b, char op) {
  const Rows<T> rows(x);
  const Matrix<T> y = rows.matrix();
  copy_matrix(y, b);
  const TriangularKind lower = {false, true, op}, upper = {true, false, op};
  if (op == 'N') {
    for (std::int64_t i = 0; i < y.rows; ++i) exchange_rows(y, i, pivots(i, 0) - 1);
    solve_in_place(y, lu, lower);
    solve_in_place(y, lu, upper);
  } else {
    solve_in_place(y, lu, upper);
    solve_in_place(y, lu, lower);
    for (std::int64_t i = y.rows - 1; i >= 0; --i) exchange_rows(y, i, pivots(i, 0) - 1);
  }
  rows.write_back();
}

#define RICCI_LAPACK_LARGE(T)                                                                        \
  template int cholesky_large(Matrix<T>, Matrix<const T>);                                           \
  template int lu_factor_large(Matrix<T>, Matrix<std::int32_t>, Matrix<const T>);                    \
  template int inverse_large(Matrix<T>, Matrix<const T>);                                            \
  template void triangular_solve_large(Matrix<T>, Matrix<const T>, Matrix<const T>, TriangularKind); \
  template void lu_solve_large(Matrix<T>, Matrix<const T>, Matrix<const std::int32_t>, Matrix<const T>, char);
RICCI_LAPACK_LARGE(float)
RICCI_LAPACK_LARGE(double)
RICCI_LAPACK_LARGE(std::complex<float>)
RICCI_LAPACK_LARGE(std::complex<double>)

}  // namespace ricci::kernels
