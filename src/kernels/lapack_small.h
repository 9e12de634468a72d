// Small matrices of float or double, several at a time: each lane of a register holds an element of another matrix.
// 64 matrices of doubles, n = 16, one of them: cholesky 149 ns (LAPACK 479), LU 242 (977), inverse 489 (1954).
// Knows nothing of LAPACK.
#pragma once

#include <cstdint>

#include "kernels/alone.h"
#include "kernels/lapack_batch.h"

namespace ricci::kernels {

/// Whether these beat LAPACK, which they do when the lanes are filled, or when a call costs more than the work.
constexpr bool is_small(std::int64_t n, std::int64_t batch_size) { return n <= 4 || (n <= 32 && batch_size >= 4); }
/// The same of factorisations: where rows stand alone, the number of matrices does not count, as LAPACK's factors have
/// other bits. (Its solutions are then not used: kernels/lapack_substitution.h.)
inline bool are_small_factors(std::int64_t n, std::int64_t batch_size) {
  return is_small(n, rows_stand_alone() ? 4 : batch_size);
}

template <class T>
void cholesky_small(const MatrixBatch<T>& l, const MatrixBatch<const T>& a, std::int32_t* info);
template <class T>
void lu_factor_small(const MatrixBatch<T>& lu, const VectorBatch<std::int32_t>& pivots, const MatrixBatch<const T>& a,
                     std::int32_t* info);
template <class T>
void inverse_small(const MatrixBatch<T>& out, const MatrixBatch<const T>& a, std::int32_t* info);

/// info: 0, or 1 where a norm may over- or underflow or an element is not finite, so that q and r are not to be used.
/// Requires: at most 32 rows and columns.
template <class T>
void qr_small(const MatrixBatch<T>& q, const MatrixBatch<T>& r, const MatrixBatch<const T>& a, std::int32_t* info);

/// Requires: kind.op is not 'C'.
template <class T>
void triangular_solve_small(const MatrixBatch<T>& x, const MatrixBatch<const T>& a, const MatrixBatch<const T>& b,
                            TriangularKind kind);
template <class T>
void lu_solve_small(const MatrixBatch<T>& x, const MatrixBatch<const T>& lu,
                    const VectorBatch<const std::int32_t>& pivots, const MatrixBatch<const T>& b, char op);

}  // namespace ricci::kernels
