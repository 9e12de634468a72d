// Further factorisations of matrices and what is made of them, as torch.linalg; options of those in ricci/ops/linalg.h.
// Leading axes are batches. Element types are floating or complex; float16 and bfloat16 compute in float32. All are
// differentiable to any order, in both modes, unless said otherwise.
#pragma once

#include <string_view>
#include <tuple>
#include <utility>

#include "ricci/tensor.h"

namespace ricci {

/// `{.upper = false, .left = false}`
struct SolveTriangularOptions {
  bool upper, left = true, unitriangular = false;
};
/// `{.adjoint = true}`
struct LuSolveOptions {
  bool left = true, adjoint = false;
};
/// `{.hermitian = true}`: of complex matrices L D Lᴴ; else L D Lᵀ.
struct LdlOptions {
  bool hermitian = false;
};
/// `{.transpose = true}`
struct OrmqrOptions {
  bool left = true, transpose = false;
};

}  // namespace ricci

namespace ricci::ops {

// ── triangular factors ──

/// P [..., m, m], L [..., m, k] and U [..., k, n] with a = P L U, for a [..., m, n]: a permutation, a lower triangular
/// factor with ones on its diagonal, an upper triangular one; k is the smaller of m and n. By LU with partial pivoting.
/// Derivatives divide by U's diagonal, except its last element.
///   auto [p, l, u] = rc::lu(a);
std::tuple<Tensor, Tensor, Tensor> lu(const Tensor& a);
/// L and U in one matrix [..., m, n], L without its diagonal, and the pivots, int32 [..., k]: row i was exchanged with
/// row pivots[i], counted from 1. ValueError if a pivot is zero, by which `lu_solve` would divide.
///   auto [lu, pivots] = rc::lu_factor(a);  // then rc::lu_solve(lu, pivots, b)
std::pair<Tensor, Tensor> lu_factor(const Tensor& a);
/// The same without that error, and, int32 [...], the first zero on U's diagonal, counted from 1; 0 if there is none.
std::tuple<Tensor, Tensor, Tensor> lu_factor_ex(const Tensor& a);
/// P, L and U, as `lu` gives them, of what `lu_factor` gives. ValueError if the two do not fit.
std::tuple<Tensor, Tensor, Tensor> lu_unpack(const Tensor& lu, const Tensor& pivots);
/// x [..., n, k] with a x = b, of `lu_factor`'s results for a [..., n, n]; leading axes broadcast. With `.adjoint`,
/// aᴴ x = b; with `.left = false`, x a = b for b [..., k, n]. A zero on U's diagonal gives infinity or NaN. ValueError
/// if sizes do not fit. The arguments stand as in torch.linalg.lu_solve; torch.lu_solve has b first.
Tensor lu_solve(const Tensor& lu, const Tensor& pivots, const Tensor& b);
Tensor lu_solve(const Tensor& lu, const Tensor& pivots, const Tensor& b, LuSolveOptions options);
/// The inverse, and, int32 [...], the first zero on the diagonal of U, or 0: of singular matrices, whose inverse is
/// infinities or NaN, no error.
std::pair<Tensor, Tensor> inv_ex(const Tensor& a);
/// `solve(a, b)`, likewise.
std::pair<Tensor, Tensor> solve_ex(const Tensor& a, const Tensor& b);
/// `cholesky(a)`, and, int32 [...], the order of the first leading minor that is not positive, where the factor means
/// nothing, or 0. With `upper`, the factor is U with Uᴴ U = a.
std::pair<Tensor, Tensor> cholesky_ex(const Tensor& a);
std::pair<Tensor, Tensor> cholesky_ex(const Tensor& a, bool upper);

// ── factors of symmetric matrices that need not be positive ──

/// L D Lᵀ of a symmetric a [..., n, n], or L D Lᴴ of a Hermitian one, in one matrix as LAPACK's sytrf leaves them, L
/// unit lower triangular, D of blocks of one and two rows; and the pivots, int32 [..., n], negative for blocks of two.
/// `ldl_solve` takes both. Both triangles are read, and the symmetric part is factored, so gradients are symmetric.
/// Derivatives hold for fixed pivots (PyTorch has none). ValueError if D has a zero on its diagonal, by which
/// `ldl_solve` would divide, or a is not square.
///   auto [ld, pivots] = rc::ldl_factor(a);  // then rc::ldl_solve(ld, pivots, b)
std::pair<Tensor, Tensor> ldl_factor(const Tensor& a);
std::pair<Tensor, Tensor> ldl_factor(const Tensor& a, LdlOptions options);
/// The same without that error, and, int32 [...], the first zero on D's diagonal, counted from 1; 0 if there is none.
std::tuple<Tensor, Tensor, Tensor> ldl_factor_ex(const Tensor& a);
std::tuple<Tensor, Tensor, Tensor> ldl_factor_ex(const Tensor& a, LdlOptions options);
/// x [..., n, k] with a x = b, of `ldl_factor`'s results for a [..., n, n] and with its option; leading axes broadcast.
/// Differentiable in the factors and b (PyTorch: in neither). A zero in D gives infinity or NaN. ValueError if sizes do
/// not fit.
Tensor ldl_solve(const Tensor& ld, const Tensor& pivots, const Tensor& b);
Tensor ldl_solve(const Tensor& ld, const Tensor& pivots, const Tensor& b, LdlOptions options);

// ── orthogonal factors ──

/// q [..., m, k] with orthonormal columns and r [..., k, n], upper triangular: a = q r; k is the smaller of m and n.
/// The mode "complete" makes q [..., m, m] and r [..., m, n]; for m > n the last columns of q are any that complete the
/// others, and derivatives are right for what depends on their span alone. The mode "r" gives r alone and an empty q.
/// Derivatives divide by the diagonal of r: the first k columns of a must be independent. By LAPACK's geqrf; signs are
/// its own. ValueError for another mode, or fewer than two axes.
///   auto [q, r] = rc::qr(a);  // a = matmul(q, r)
std::pair<Tensor, Tensor> qr(const Tensor& a);
std::pair<Tensor, Tensor> qr(const Tensor& a, std::string_view mode);
/// The same factors as LAPACK leaves them: r in [..., m, n], below it the vectors of reflections whose product is q,
/// and their scales tau [..., k]; `householder_product` and `ormqr` take the two. Derivatives as those of `qr`.
std::pair<Tensor, Tensor> geqrf(const Tensor& a);
/// The first n columns [..., m, n] of the product of k reflections 1 - tau_i v_i v_iᴴ, as `geqrf` leaves them:
/// v_i in column i of a [..., m, n] below the diagonal, where it has a 1, the scales in tau [..., k]. ValueError unless
/// m >= n >= k. As a whole: Schreiber and Van Loan, 1989.
Tensor householder_product(const Tensor& a, const Tensor& tau);
/// The whole product Q [..., m, m] of such reflections times other [..., m, k], without making Q; with `.transpose`,
/// Qᴴ; with `.left = false`, other [..., k, m] times Q.
///   Tensor c = rc::ormqr(a, tau, b, {.transpose = true});
Tensor ormqr(const Tensor& a, const Tensor& tau, const Tensor& other);
Tensor ormqr(const Tensor& a, const Tensor& tau, const Tensor& other, OrmqrOptions options);
/// q [..., m, n] with orthonormal columns and h [..., n, n], Hermitian without negative eigenvalues: a = q h, for
/// m >= n (else ValueError). Derivatives divide by sums of singular values, never by gaps; for m > n, by h.
/// torch.linalg.polar; complex numbers of a radius and an angle are `polar`'s.
///   auto [q, h] = rc::polar_decomposition(a);
std::pair<Tensor, Tensor> polar_decomposition(const Tensor& a);

// ── spectra ──

/// The eigenvalues [..., n] of a [..., n, n], in no order, and the eigenvectors in the columns of [..., n, n]: complex,
/// of real matrices too. A vector has length 1, and its greatest element is real and positive: derivatives keep that,
/// where PyTorch's refuse what reads the phase. They divide by the gaps between values: infinite or NaN where two are
/// equal. Of symmetric matrices `eigh` is faster and more accurate. ValueError for an element that is not finite.
///   auto [values, vectors] = rc::eig(a);  // matmul(a, vectors) = vectors * values
std::pair<Tensor, Tensor> eig(const Tensor& a);
Tensor eigvals(const Tensor& a);  ///< the values alone
/// t and z [..., n, n] with a = z t zᴴ: z unitary, t upper triangular, with blocks of two on its diagonal for complex
/// eigenvalues of real matrices. A block is [[x, b], [c, x]] for x ± i sqrt(-b c), |b| >= |c|. Values are in no order.
/// With the output "complex" ("real" if not given) a real a is converted first. Columns of z have real and positive
/// greatest elements. (SciPy has LAPACK's signs, phases and blocks.) Derivatives keep signs, phases and the two equal x
/// of a block. They divide by gaps between values and by b + c: infinite or NaN where two are equal, or b = -c, as in
/// rotations; there "complex" has derivatives. ValueError for another output, or an element that is not finite.
/// By LAPACK's gees: a is z t zᴴ and z is unitary up to roundings, some n of the greatest element.
///   auto [t, z] = rc::schur(a);  // a real a is matmul(z, matmul(t, z.mT()))
std::pair<Tensor, Tensor> schur(const Tensor& a);
std::pair<Tensor, Tensor> schur(const Tensor& a, std::string_view output);
/// u [..., m, q], s [..., q] and v [..., n, q] with u diag(s) vᴴ nearly a, from random projections of a: exact where a
/// has no more than q singular values that are not 0 (q is 6 if not given). `niter` rounds of iteration (2 if not
/// given) sharpen the subspace. ValueError unless q is from 0 to the smaller of m and n. It draws; under vmap,
/// `randomness` says how. Halko, Martinsson and Tropp, 2009.
///   auto [u, s, v] = rc::svd_lowrank(a, 10);
std::tuple<Tensor, Tensor, Tensor> svd_lowrank(const Tensor& a);
std::tuple<Tensor, Tensor, Tensor> svd_lowrank(const Tensor& a, Size q);
std::tuple<Tensor, Tensor, Tensor> svd_lowrank(const Tensor& a, Size q, std::int64_t niter);
/// The same of a minus the mean of its rows, unless `center` is false: the principal components are v's columns. q is 6
/// or the smaller of m and n, if not given.
std::tuple<Tensor, Tensor, Tensor> pca_lowrank(const Tensor& a);
std::tuple<Tensor, Tensor, Tensor> pca_lowrank(const Tensor& a, Size q);
std::tuple<Tensor, Tensor, Tensor> pca_lowrank(const Tensor& a, Size q, bool center);
std::tuple<Tensor, Tensor, Tensor> pca_lowrank(const Tensor& a, Size q, bool center, std::int64_t niter);

// ── functions of matrices ──

/// 1 + a + a² / 2 + a³ / 6 + …, by scaling, squaring and a Padé approximant (Higham, 2005): [..., n, n] → [..., n, n].
/// The error is that of a change of a by about a rounding; NaN where an element of a matrix is not finite.
///   Tensor turn = rc::matrix_exp(rc::tensor({{0., -t}, {t, 0.}}));
Tensor matrix_exp(const Tensor& a);
/// The Hermitian root x without negative eigenvalues, x x = a. Both triangles are read, as by `eigh`; NaN where a has a
/// negative eigenvalue. Derivatives divide by sums of the roots' eigenvalues, never by gaps.
Tensor matrix_sqrth(const Tensor& a);
/// The inverse of l lᴴ, l lower triangular as `cholesky` gives it; with `upper`, of lᴴ l for an upper triangular l.
Tensor cholesky_inverse(const Tensor& l);
Tensor cholesky_inverse(const Tensor& l, bool upper);

// ── least squares, ranks and norms ──

/// The pseudo-inverse [..., m, n] → [..., n, m]; singular values that are the greatest one times `rtol`, or less, count
/// as 0 (max(m, n) times the epsilon of the type if not given). The derivative is along changes that keep the rank,
/// and divides by no gap between singular values.
Tensor pinv(const Tensor& a);
Tensor pinv(const Tensor& a, double rtol);
/// x with the least |a x - b|, and of those the shortest, by QR: [..., m, n], b [..., m, k] or [m] → [..., n, k] or
/// [n]. Where the rank is less than the smaller of m and n, counted as by `matrix_rank`, that is `matmul(pinv(a), b)`,
/// by singular values. The derivative is along changes that keep the rank, as that of `pinv`. ValueError if sizes do
/// not fit.
///   Tensor x = rc::lstsq(a, b);
Tensor lstsq(const Tensor& a, const Tensor& b);
/// How many singular values are greater than the greatest one times `rtol` (as in `pinv`): [..., m, n] → i64[...].
Tensor matrix_rank(const Tensor& a);
Tensor matrix_rank(const Tensor& a, double rtol);
/// Of the matrices along two axes, the last two if not given: "fro" (if not given) the root of a sum of squares, "nuc"
/// the sum of singular values; 2 and -2 the greatest and the least of them, 1 and -1 the greatest and the least sum of
/// |a| over a column, inf and -inf over a row. ValueError for another. The gradient of "nuc" is right where singular
/// values are equal, and one of several where some are 0.
Tensor matrix_norm(const Tensor& a);
Tensor matrix_norm(const Tensor& a, std::string_view ord);
Tensor matrix_norm(const Tensor& a, std::string_view ord, const Axes& dims);
Tensor matrix_norm(const Tensor& a, std::string_view ord, const Axes& dims, bool keepdim);
Tensor matrix_norm(const Tensor& a, double ord);
Tensor matrix_norm(const Tensor& a, double ord, const Axes& dims);
Tensor matrix_norm(const Tensor& a, double ord, const Axes& dims, bool keepdim);
/// "fro", the root of the sum of squares along all axes or those given; "nuc", `matrix_norm` of the last two or those.
Tensor norm(const Tensor& x, std::string_view p);
Tensor norm(const Tensor& x, std::string_view p, const Axes& dims);
Tensor norm(const Tensor& x, std::string_view p, const Axes& dims, bool keepdim);
/// The greatest singular value over the least; with an order as `matrix_norm` has it, the norm of a times that of a⁻¹.
/// torch.linalg.cond.
Tensor condition_number(const Tensor& a);
Tensor condition_number(const Tensor& a, std::string_view p);
Tensor condition_number(const Tensor& a, double p);

// ── tensors as matrices, vectors as powers ──

/// The tensor y that inverts `tensordot(a, x)`: the first `ind` axes of a (2 if not given) count rows of a square
/// matrix, the others columns; y has first those, then these. ValueError if there are not as many.
Tensor tensorinv(const Tensor& a);
Tensor tensorinv(const Tensor& a, std::int64_t ind);
/// x with tensordot(a, x, x.dim()) = b: a has b's axes and then those of x, which have as many elements. Axes `dims`
/// of a are moved to its end first. ValueError if sizes do not fit, or the matrix is singular.
Tensor tensorsolve(const Tensor& a, const Tensor& b);
Tensor tensorsolve(const Tensor& a, const Tensor& b, const Axes& dims);
/// Σ conj(a) b along an axis, the last if not given; the two broadcast. `vdot` for many vectors.
Tensor vecdot(const Tensor& a, const Tensor& b);
Tensor vecdot(const Tensor& a, const Tensor& b, std::int64_t dim);
/// 1, x, x², … in the columns: [..., m] → [..., m, n]; n = m if not given. ValueError for n < 0, or a number x.
Tensor vander(const Tensor& x);
Tensor vander(const Tensor& x, Size n);

// ── options of operations in ricci/ops/linalg.h ──

Tensor cholesky(const Tensor& a, bool upper);  ///< with `upper`, the upper triangular U with Uᴴ U = a
Tensor cholesky_solve(const Tensor& b, const Tensor& l, bool upper);  ///< with `upper`, l is such a U
Tensor solve(const Tensor& a, const Tensor& b, bool left);            ///< unless `left`, x a = b, b [..., k, n]
/// With `.left = false`, x a = b for b [..., k, n]; with `.unitriangular`, a's diagonal is taken as ones.
///   Tensor x = rc::solve_triangular(a, b, {.upper = true, .left = false});
Tensor solve_triangular(const Tensor& a, const Tensor& b, SolveTriangularOptions options);
/// Reads one triangle of a alone, "L" the lower or "U" the upper one; `eigh(a)` reads both. ValueError for another
/// letter.
std::pair<Tensor, Tensor> eigh(const Tensor& a, std::string_view UPLO);
Tensor eigvalsh(const Tensor& a, std::string_view UPLO);
/// With `full_matrices`, u is [..., m, m] and vh [..., n, n]: the vectors behind the first k, of no value, are any that
/// complete the others, and derivatives are right for what depends on their span alone.
std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& a, bool full_matrices);

}  // namespace ricci::ops
