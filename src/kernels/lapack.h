// Factorisations of batches of matrices and solutions of square systems over raw strided views: float32, float64,
// complex64 and complex128. Knows nothing of tensors or error messages: `info` says which matrix failed, and where.
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

/// a [..., m, n] = P L U: lu [..., m, n] holds U and, below it, L without its unit diagonal. pivots [..., k], k the
/// smaller of m and n, int32, as LAPACK and PyTorch have them: row i was exchanged with row pivots[i], counted from 1.
/// info: 0, or the first zero on the diagonal of U, counted from 1.
void lu_factor(Strided lu, Strided pivots, Strided a, std::int32_t* info);

/// x [..., n, r] with op(a) x = b, from `lu_factor`'s results. A zero on U's diagonal gives infinities or nan.
void lu_solve(Strided x, Strided lu, Strided pivots, Strided b, Transpose transpose = Transpose::no);

/// x [..., n, r] with op(a) x = b; reads only the given triangle of a, and not its diagonal if that is unit.
void triangular_solve(Strided x, Strided a, Strided b, Triangle triangle, Transpose transpose = Transpose::no,
                      Diagonal diagonal = Diagonal::stored);

/// out [..., n, n]. info: as in `lu_factor`; then out is meaningless.
void inverse(Strided out, Strided a, std::int32_t* info);

/// ld [..., n, n], lower, of the symmetric part of a, or of its Hermitian part: L and the blocks of D in one matrix,
/// and pivots [..., n], int32, as LAPACK's sytrf leaves them. info: 0, or the first zero on D's diagonal, from 1 on.
void ldl_factor(Strided ld, Strided pivots, Strided a, bool hermitian, std::int32_t* info);

/// a [..., m, n] = q r: q [..., m, k] with orthonormal columns, r [..., k, n] upper triangular; k is the smaller of m
/// and n, or m.
void qr(Strided q, Strided r, Strided a);

/// Of the same, r in packed [..., m, n] and, below the diagonal, reflections 1 - scales_i v_i v_iᴴ, scales [..., k],
/// of which q is the product; v_i has a 1 on the diagonal.
void geqrf(Strided packed, Strided scales, Strided a);

/// values [..., n], in no order, and vectors [..., n, n] in columns, of a's complex type: a vectors = vectors
/// diag(values). Each vector has length 1 and a real greatest element. info: as in `eigh`.
void eig(Strided values, Strided vectors, Strided a, std::int32_t* info);
void eigvals(Strided values, Strided a, std::int32_t* info);  ///< the values alone

/// a [..., n, n] = z t zᴴ: z unitary, t upper triangular; of real matrices with blocks [[x, b], [c, x]], b c < 0 and
/// |b| >= |c|, for pairs of complex eigenvalues. Columns of z have real and positive greatest elements. info: as in
/// `eigh`.
void schur(Strided t, Strided z, Strided a, std::int32_t* info);

/// x [..., n, n] of which only elements in `below` are not 0, with x t - t x = c there; with `adjoint`, x tᴴ - tᴴ x. t
/// is upper triangular with blocks of one and two rows; its elements in `below`, bool [..., n, n], are not read. A
/// block has two rows where the element beside its diagonal is not in `below`. Infinite or NaN where two blocks of t
/// have an eigenvalue in common.
void masked_sylvester(Strided x, Strided t, Strided below, Strided c, bool adjoint);

/// values [..., n], ascending, and vectors [..., n, n] in columns: s vectors = vectors diag(values), where s is the
/// Hermitian part (a + aᴴ) / 2. Values are of a's real type; complex vectors have a real greatest element.
/// info: 0; -1 if an element is not finite; else how many values did not converge. Then the outputs are meaningless.
void eigh(Strided values, Strided vectors, Strided a, std::int32_t* info);
void eigvalsh(Strided values, Strided a, std::int32_t* info);  ///< the values alone

/// a [..., m, n] = u diag(s) vh: s [..., k], descending, of a's real type, k the smaller of m and n; u [..., m, k] or
/// [..., m, m], vh [..., k, n] or [..., n, n]. Complex vectors of u have a real greatest element. info: as in `eigh`.
void svd(Strided u, Strided s, Strided vh, Strided a, std::int32_t* info);
void svdvals(Strided s, Strided a, std::int32_t* info);  ///< the values alone

/// x [..., n, n] with s x + x s = c, where s is the Hermitian part of h; 0 in the place of 0 / 0. info: as in `eigh`.
void hermitian_sylvester(Strided x, Strided h, Strided c, std::int32_t* info);

/// The root x [..., n, n], Hermitian, of the Hermitian part of a; NaN where that has a value below 0. info: as in
/// `eigh`.
void hermitian_sqrt(Strided x, Strided a, std::int32_t* info);

/// a [..., m, n] = q h for m >= n: q [..., m, n] with orthonormal columns, h [..., n, n] Hermitian without values below
/// 0. info: as in `eigh`.
void polar(Strided q, Strided h, Strided a, std::int32_t* info);

/// out [..., n, n] = 1 + a + a² / 2 + a³ / 6 + …; NaN where a matrix has an element that is not finite.
void matrix_exp(Strided out, Strided a);

}  // namespace ricci::kernels
