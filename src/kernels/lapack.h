// Factorisations of batches of matrices and solutions of square systems over raw strided views: float32, float64, and,
// but for `eigh` and `svd`, complex64 and complex128. Knows nothing of tensors or error messages: `info` says which
// matrix failed, and where.
//
// Everywhere: all leading axes are batch axes and agree in size (stride 0 where an input was broadcast); any strides;
// an output overlaps no input. `info` has one entry per matrix, in row-major order of the batch.
#pragma once

#include <cstdint>

#include "ricci/strided.h"

namespace ricci::kernels {

enum class Triangle : std::uint8_t { lower, upper };
enum class Diagonal : std::uint8_t { stored, unit };
/// Solve with A, with its transpose, or with its conjugate transpose.
enum class Transpose : std::uint8_t { no, yes, conjugate };

/// l [..., n, n], lower, with l lᴴ = (a + aᴴ) / 2; the upper triangle of l is set to zero.
/// info: 0, or the order of the first leading minor that is not positive, counted from 1; then l is meaningless.
void cholesky(Strided l, Strided a, std::int32_t* info);

/// a = P L U: lu [..., n, n] holds U and, below it, L without its unit diagonal. pivots [..., n], int32, as LAPACK and
/// PyTorch have them: row i was exchanged with row pivots[i], counted from 1.
/// info: 0, or the first zero on the diagonal of U, counted from 1.
void lu_factor(Strided lu, Strided pivots, Strided a, std::int32_t* info);

/// x [..., n, r] with op(a) x = b, from `lu_factor`'s results. A zero on U's diagonal gives infinities or nan.
void lu_solve(Strided x, Strided lu, Strided pivots, Strided b, Transpose transpose = Transpose::no);

/// x [..., n, r] with op(a) x = b; reads only the given triangle of a, and not its diagonal if that is unit.
void triangular_solve(Strided x, Strided a, Strided b, Triangle triangle, Transpose transpose = Transpose::no,
                      Diagonal diagonal = Diagonal::stored);

/// out [..., n, n]. info: as in `lu_factor`; then out is meaningless.
void inverse(Strided out, Strided a, std::int32_t* info);

/// values [..., n], ascending, and vectors [..., n, n] in columns: s vectors = vectors diag(values), where s is the
/// symmetric part (a + aᵀ) / 2.
/// info: 0; -1 if an element is not finite; else how many values did not converge. Then the outputs are meaningless.
void eigh(Strided values, Strided vectors, Strided a, std::int32_t* info);

/// a [..., m, n] = u diag(s) vh: u [..., m, k], s [..., k], descending, and vh [..., k, n], k being the smaller of m
/// and n. info: as in `eigh`.
void svd(Strided u, Strided s, Strided vh, Strided a, std::int32_t* info);

}  // namespace ricci::kernels
