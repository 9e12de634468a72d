// Checks the views and chooses, by size, between lanes of small matrices and LAPACK one matrix at a time. Spectra are
// LAPACK's at every size.
#include "kernels/lapack.h"

#include <algorithm>
#include <cassert>
#include <complex>

#include "kernels/blas.h"
#include "kernels/lapack_batch.h"
#include "kernels/lapack_functions.h"
#include "kernels/lapack_general.h"
#include "kernels/lapack_indefinite.h"
#include "kernels/lapack_large.h"
#include "kernels/lapack_small.h"
#include "kernels/lapack_spectral.h"
#include "kernels/lapack_sylvester.h"
#include "kernels/strided.h"
#include "ricci/primitive/parallel.h"
#include "ricci/primitive/scratch.h"

namespace ricci::kernels {
namespace {

template <class F>
void visit_lapack_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::float32: return f(std::type_identity<float>{});
    case DType::float64: return f(std::type_identity<double>{});
    case DType::complex64: return f(std::type_identity<std::complex<float>>{});
    case DType::complex128: return f(std::type_identity<std::complex<double>>{});
    default: assert(false && "only float32, float64, complex64 and complex128");
  }
}

[[maybe_unused]] bool is_square(const Strided& a) {
  return a.rank >= 2 && a.rank <= max_batch_rank && a.shape[a.rank - 2] == a.shape[a.rank - 1] &&
         fits_blas(a.shape[a.rank - 1]);
}

/// Whether x and b are right sides of systems with the matrices a.
[[maybe_unused]] bool are_right_sides(const Strided& x, const Strided& a, const Strided& b) {
  const int r = a.rank;
  if (!is_square(a) || x.rank != r || b.rank != r || x.dtype != a.dtype || b.dtype != a.dtype) return false;
  return x.shape[r - 2] == a.shape[r - 1] && b.shape[r - 2] == a.shape[r - 1] && x.shape[r - 1] == b.shape[r - 1];
}

/// Matrices of size 0 have nothing to compute, but their batch still has its info.
void clear_info(const Strided& a, std::int32_t* info) {
  const BatchOffsets offsets(a, 2);
  for (std::int64_t i = 0; i < offsets.size(); ++i) info[i] = 0;
}

void set_identity(const Strided& x) {
  if (is_empty(x)) return;
  visit_lapack_dtype(x.dtype, [&]<class T>(std::type_identity<T>) {
    const MatrixBatch<T> all(x);
    for (std::int64_t matrix = 0; matrix < all.size(); ++matrix) {
      for (std::int64_t i = 0; i < all.first.rows; ++i)
        for (std::int64_t j = 0; j < all.first.cols; ++j) all[matrix](i, j) = i == j ? T(1) : T(0);
    }
  });
}

char letter(Transpose transpose) {
  constexpr char letters[] = {'N', 'T', 'C'};
  return letters[static_cast<int>(transpose)];
}

/// For real numbers conjugation is nothing.
template <class T>
char letter_for(Transpose transpose) {
  return std::is_floating_point_v<T> && transpose == Transpose::conjugate ? 'T' : letter(transpose);
}

/// work(i) for every matrix of a batch; `multiply_adds` are those of one.
template <class Work>
void for_each_matrix(std::int64_t size, double multiply_adds, const Work& work) {
  constexpr double nanoseconds = 0.03;
  parallel_for({size, nanoseconds * multiply_adds}, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) work(i);
  });
}

/// Of solving with a for the right sides b.
template <class T>
double multiply_adds_of_solving(const Matrix<T>& a, const Matrix<T>& b) {
  return static_cast<double>(a.rows) * static_cast<double>(a.rows) * static_cast<double>(b.cols);
}

template <class T>
double multiply_adds_of_factoring(const Matrix<T>& a) {
  return static_cast<double>(std::min(a.rows, a.cols)) * static_cast<double>(a.rows) * static_cast<double>(a.cols);
}

}  // namespace

void cholesky(Strided l, Strided a, std::int32_t* info) {
  assert(is_square(a) && is_square(l) && l.rank == a.rank && l.dtype == a.dtype);
  if (is_empty(a)) return clear_info(a, info);
  visit_lapack_dtype(a.dtype, [&]<class T>(std::type_identity<T>) {
    const MatrixBatch<T> to(l);
    const MatrixBatch<const T> from(a);
    if constexpr (std::is_floating_point_v<T>) {
      if (are_small_factors(from.first.rows, from.size())) return cholesky_small(to, from, info);
    }
    for_each_matrix(from.size(), multiply_adds_of_factoring(from.first) / 3,
                    [&](std::int64_t i) { info[i] = cholesky_large(to[i], from[i]); });
  });
}

void lu_factor(Strided lu, Strided pivots, Strided a, std::int32_t* info) {
  assert(a.rank >= 2 && lu.rank == a.rank && lu.dtype == a.dtype);
  assert(pivots.dtype == DType::int32 && pivots.rank == a.rank - 1);
  if (is_empty(a)) return clear_info(a, info);
  const VectorBatch<std::int32_t> exchanges(pivots);
  visit_lapack_dtype(a.dtype, [&]<class T>(std::type_identity<T>) {
    const MatrixBatch<T> to(lu);
    const MatrixBatch<const T> from(a);
    if constexpr (std::is_floating_point_v<T>) {
      if (from.first.rows == from.first.cols && are_small_factors(from.first.rows, from.size()))
        return lu_factor_small(to, exchanges, from, info);
    }
    for_each_matrix(from.size(), multiply_adds_of_factoring(from.first),
                    [&](std::int64_t i) { info[i] = lu_factor_large(to[i], exchanges[i], from[i]); });
  });
}

void lu_solve(Strided x, Strided lu, Strided pivots, Strided b, Transpose transpose) {
  assert(are_right_sides(x, lu, b));
  assert(pivots.dtype == DType::int32 && pivots.rank == lu.rank - 1);
  if (is_empty(x)) return;
  const VectorBatch<const std::int32_t> exchanges(pivots);
  visit_lapack_dtype(x.dtype, [&]<class T>(std::type_identity<T>) {
    const MatrixBatch<T> to(x);
    const MatrixBatch<const T> factors(lu), from(b);
    const char op = letter_for<T>(transpose);
    if constexpr (std::is_floating_point_v<T>) {
      if (is_small(factors.first.rows, to.size())) return lu_solve_small(to, factors, exchanges, from, op);
    }
    for_each_matrix(to.size(), 2 * multiply_adds_of_solving(factors.first, from.first),
                    [&](std::int64_t i) { lu_solve_large(to[i], factors[i], exchanges[i], from[i], op); });
  });
}

void triangular_solve(Strided x, Strided a, Strided b, Triangle triangle, Transpose transpose, Diagonal diagonal) {
  assert(are_right_sides(x, a, b));
  if (is_empty(x)) return;
  visit_lapack_dtype(x.dtype, [&]<class T>(std::type_identity<T>) {
    const MatrixBatch<T> to(x);
    const MatrixBatch<const T> matrices(a), from(b);
    const TriangularKind kind = {triangle == Triangle::upper, diagonal == Diagonal::unit, letter_for<T>(transpose)};
    if constexpr (std::is_floating_point_v<T>) {
      if (is_small(matrices.first.rows, to.size())) return triangular_solve_small(to, matrices, from, kind);
    }
    for_each_matrix(to.size(), multiply_adds_of_solving(matrices.first, from.first),
                    [&](std::int64_t i) { triangular_solve_large(to[i], matrices[i], from[i], kind); });
  });
}

void inverse(Strided out, Strided a, std::int32_t* info) {
  assert(is_square(a) && is_square(out) && out.rank == a.rank && out.dtype == a.dtype);
  if (is_empty(a)) return clear_info(a, info);
  visit_lapack_dtype(a.dtype, [&]<class T>(std::type_identity<T>) {
    const MatrixBatch<T> to(out);
    const MatrixBatch<const T> from(a);
    if constexpr (std::is_floating_point_v<T>) {
      if (are_small_factors(from.first.rows, from.size())) return inverse_small(to, from, info);
    }
    for_each_matrix(from.size(), 3 * multiply_adds_of_factoring(from.first),
                    [&](std::int64_t i) { info[i] = inverse_large(to[i], from[i]); });
  });
}

void ldl_factor(Strided ld, Strided pivots, Strided a, bool hermitian, std::int32_t* info) {
  assert(is_square(a) && is_square(ld) && ld.rank == a.rank && ld.dtype == a.dtype);
  assert(pivots.dtype == DType::int32 && pivots.rank == a.rank - 1);
  if (is_empty(a)) return clear_info(a, info);
  const VectorBatch<std::int32_t> exchanges(pivots);
  visit_lapack_dtype(a.dtype, [&]<class T>(std::type_identity<T>) {
    const MatrixBatch<T> to(ld);
    const MatrixBatch<const T> from(a);
    for_each_matrix(from.size(), multiply_adds_of_factoring(from.first) / 3,
                    [&](std::int64_t i) { info[i] = ldl_of_one<T>(to[i], exchanges[i], from[i], hermitian); });
  });
}

void qr(Strided q, Strided r, Strided a) {
  assert(a.rank >= 2 && q.rank == a.rank && r.rank == a.rank && q.dtype == a.dtype && r.dtype == a.dtype);
  if (is_empty(q)) return;
  visit_lapack_dtype(a.dtype, [&]<class T>(std::type_identity<T>) {
    const MatrixBatch<T> columns(q), triangle(r);
    const MatrixBatch<const T> from(a);
    if constexpr (std::is_floating_point_v<T>) {
      const std::int64_t longest = std::max({from.first.rows, from.first.cols, columns.first.cols});
      if (are_small_factors(longest, from.size())) {
        const Scratch<std::int32_t> unsafe(from.size());
        qr_small(columns, triangle, from, unsafe.data());
        return for_each_matrix(from.size(), 2 * multiply_adds_of_factoring(from.first), [&](std::int64_t i) {
          if (unsafe.data()[i] != 0) qr_of_one(columns[i], triangle[i], from[i]);
        });
      }
    }
    for_each_matrix(from.size(), 2 * multiply_adds_of_factoring(from.first),
                    [&](std::int64_t i) { qr_of_one(columns[i], triangle[i], from[i]); });
  });
}

void geqrf(Strided packed, Strided scales, Strided a) {
  assert(a.rank >= 2 && packed.rank == a.rank && scales.rank == a.rank - 1);
  assert(packed.dtype == a.dtype && scales.dtype == a.dtype);
  if (is_empty(a)) return;
  visit_lapack_dtype(a.dtype, [&]<class T>(std::type_identity<T>) {
    const MatrixBatch<T> to(packed);
    const VectorBatch<T> tau(scales);
    const MatrixBatch<const T> from(a);
    for_each_matrix(from.size(), multiply_adds_of_factoring(from.first),
                    [&](std::int64_t i) { geqrf_of_one(to[i], tau[i], from[i]); });
  });
}

void eig(Strided values, Strided vectors, Strided a, std::int32_t* info) {
  assert(is_square(a) && is_square(vectors) && vectors.rank == a.rank && values.rank == a.rank - 1);
  assert(values.dtype == complex_dtype(a.dtype) && vectors.dtype == values.dtype);
  if (is_empty(a)) return clear_info(a, info);
  visit_lapack_dtype(a.dtype, [&]<class T>(std::type_identity<T>) {
    const VectorBatch<complex_of<T>> to(values);
    const MatrixBatch<complex_of<T>> columns(vectors);
    const MatrixBatch<const T> from(a);
    for_each_matrix(from.size(), 25 * multiply_adds_of_factoring(from.first),
                    [&](std::int64_t i) { info[i] = eig_of_one<T>(to[i], columns[i], from[i]); });
  });
}

void eigvals(Strided values, Strided a, std::int32_t* info) {
  assert(is_square(a) && values.rank == a.rank - 1 && values.dtype == complex_dtype(a.dtype));
  if (is_empty(a)) return clear_info(a, info);
  visit_lapack_dtype(a.dtype, [&]<class T>(std::type_identity<T>) {
    const VectorBatch<complex_of<T>> to(values);
    const MatrixBatch<const T> from(a);
    for_each_matrix(from.size(), 10 * multiply_adds_of_factoring(from.first),
                    [&](std::int64_t i) { info[i] = eigvals_of_one<T>(to[i], from[i]); });
  });
}

void schur(Strided t, Strided z, Strided a, std::int32_t* info) {
  assert(is_square(a) && is_square(t) && is_square(z) && t.dtype == a.dtype && z.dtype == a.dtype);
  if (is_empty(a)) return clear_info(a, info);
  visit_lapack_dtype(a.dtype, [&]<class T>(std::type_identity<T>) {
    const MatrixBatch<T> form(t), vectors(z);
    const MatrixBatch<const T> from(a);
    for_each_matrix(from.size(), 25 * multiply_adds_of_factoring(from.first),
                    [&](std::int64_t i) { info[i] = schur_of_one(form[i], vectors[i], from[i]); });
  });
}

void masked_sylvester(Strided x, Strided t, Strided below, Strided c, bool adjoint) {
  assert(are_right_sides(x, t, c) && is_square(c) && is_square(below) && below.dtype == DType::boolean);
  if (is_empty(x)) return;
  const MatrixBatch<const bool> masks(below);
  visit_lapack_dtype(x.dtype, [&]<class T>(std::type_identity<T>) {
    const MatrixBatch<T> to(x);
    const MatrixBatch<const T> forms(t), right(c);
    for_each_matrix(to.size(), 2 * multiply_adds_of_factoring(to.first),
                    [&](std::int64_t i) { masked_sylvester_of_one<T>(to[i], forms[i], masks[i], right[i], adjoint); });
  });
}

void eigh(Strided values, Strided vectors, Strided a, std::int32_t* info) {
  assert(is_square(a) && is_square(vectors) && vectors.rank == a.rank && vectors.dtype == a.dtype);
  assert(values.rank == a.rank - 1 && values.dtype == real_dtype(a.dtype));
  if (is_empty(a)) return clear_info(a, info);
  visit_lapack_dtype(a.dtype, [&]<class T>(std::type_identity<T>) {
    const VectorBatch<real_of<T>> to(values);
    const MatrixBatch<T> columns(vectors);
    const MatrixBatch<const T> from(a);
    for_each_matrix(from.size(), 10 * multiply_adds_of_factoring(from.first),
                    [&](std::int64_t i) { info[i] = eigh_of_one(to[i], columns[i], from[i]); });
  });
}

void eigvalsh(Strided values, Strided a, std::int32_t* info) {
  assert(is_square(a) && values.rank == a.rank - 1 && values.dtype == real_dtype(a.dtype));
  if (is_empty(a)) return clear_info(a, info);
  visit_lapack_dtype(a.dtype, [&]<class T>(std::type_identity<T>) {
    const VectorBatch<real_of<T>> to(values);
    const MatrixBatch<const T> from(a);
    for_each_matrix(from.size(), 2 * multiply_adds_of_factoring(from.first),
                    [&](std::int64_t i) { info[i] = eigvalsh_of_one<T>(to[i], from[i]); });
  });
}

void svd(Strided u, Strided s, Strided vh, Strided a, std::int32_t* info) {
  assert(a.rank >= 2 && u.rank == a.rank && vh.rank == a.rank && s.rank == a.rank - 1);
  assert(u.dtype == a.dtype && s.dtype == real_dtype(a.dtype) && vh.dtype == a.dtype);
  if (is_empty(a)) {
    set_identity(u);
    set_identity(vh);
    return clear_info(a, info);
  }
  visit_lapack_dtype(a.dtype, [&]<class T>(std::type_identity<T>) {
    const MatrixBatch<T> left(u), right(vh);
    const VectorBatch<real_of<T>> values(s);
    const MatrixBatch<const T> from(a);
    for_each_matrix(from.size(), 10 * multiply_adds_of_factoring(from.first),
                    [&](std::int64_t i) { info[i] = svd_of_one(left[i], values[i], right[i], from[i]); });
  });
}

void svdvals(Strided s, Strided a, std::int32_t* info) {
  assert(a.rank >= 2 && s.rank == a.rank - 1 && s.dtype == real_dtype(a.dtype));
  if (is_empty(a)) return clear_info(a, info);
  visit_lapack_dtype(a.dtype, [&]<class T>(std::type_identity<T>) {
    const VectorBatch<real_of<T>> values(s);
    const MatrixBatch<const T> from(a);
    for_each_matrix(from.size(), 3 * multiply_adds_of_factoring(from.first),
                    [&](std::int64_t i) { info[i] = svdvals_of_one<T>(values[i], from[i]); });
  });
}

void hermitian_sylvester(Strided x, Strided h, Strided c, std::int32_t* info) {
  assert(are_right_sides(x, h, c) && is_square(c));
  if (is_empty(h)) return clear_info(h, info);
  visit_lapack_dtype(h.dtype, [&]<class T>(std::type_identity<T>) {
    const MatrixBatch<T> to(x);
    const MatrixBatch<const T> from(h), right(c);
    for_each_matrix(from.size(), 14 * multiply_adds_of_factoring(from.first),
                    [&](std::int64_t i) { info[i] = hermitian_sylvester_of_one<T>(to[i], from[i], right[i]); });
  });
}

void hermitian_sqrt(Strided x, Strided a, std::int32_t* info) {
  assert(is_square(a) && is_square(x) && x.rank == a.rank && x.dtype == a.dtype);
  if (is_empty(a)) return clear_info(a, info);
  visit_lapack_dtype(a.dtype, [&]<class T>(std::type_identity<T>) {
    const MatrixBatch<T> to(x);
    const MatrixBatch<const T> from(a);
    for_each_matrix(from.size(), 11 * multiply_adds_of_factoring(from.first),
                    [&](std::int64_t i) { info[i] = hermitian_sqrt_of_one<T>(to[i], from[i]); });
  });
}

void polar(Strided q, Strided h, Strided a, std::int32_t* info) {
  assert(a.rank >= 2 && q.rank == a.rank && is_square(h) && q.dtype == a.dtype && h.dtype == a.dtype);
  if (is_empty(a)) return clear_info(a, info);
  visit_lapack_dtype(a.dtype, [&]<class T>(std::type_identity<T>) {
    const MatrixBatch<T> columns(q), factor(h);
    const MatrixBatch<const T> from(a);
    for_each_matrix(from.size(), 12 * multiply_adds_of_factoring(from.first),
                    [&](std::int64_t i) { info[i] = polar_of_one<T>(columns[i], factor[i], from[i]); });
  });
}

void matrix_exp(Strided out, Strided a) {
  assert(is_square(a) && is_square(out) && out.rank == a.rank && out.dtype == a.dtype);
  if (is_empty(a)) return;
  visit_lapack_dtype(a.dtype, [&]<class T>(std::type_identity<T>) {
    const MatrixBatch<T> to(out);
    const MatrixBatch<const T> from(a);
    for_each_matrix(from.size(), 10 * multiply_adds_of_factoring(from.first),
                    [&](std::int64_t i) { exp_of_one<T>(to[i], from[i]); });
  });
}

}  // namespace ricci::kernels
