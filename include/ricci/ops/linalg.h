// Products and matrix factorisations. Leading axes are batches; those of several operands broadcast. Element types
// promote; factorisations need floating or complex ones and compute float16 and bfloat16 in float32. All are
// differentiable to any order, in both modes.
#pragma once

#include <concepts>
#include <string_view>
#include <tuple>

#include "ricci/tensor.h"

namespace ricci {

/// `{.upper = false, .transpose = true, .unitriangular = true}`
struct TriangularOptions {
  bool upper = true, transpose = false, unitriangular = false;
};

}  // namespace ricci

namespace ricci::ops {

// ── products: boolean and integer ones too; integers wrap around ──

/// The product of the last two axes of a and of b. A vector on the left is a row, on the right a column, and its axis
/// is gone from the result: [n] with [n] gives a number. ValueError if inner sizes differ or an operand has no axes.
Tensor matmul(const Tensor& a, const Tensor& b);
Tensor mm(const Tensor& a, const Tensor& b);     ///< [m, k] [k, n] → [m, n]
Tensor bmm(const Tensor& a, const Tensor& b);    ///< [b, m, k] [b, k, n] → [b, m, n]
Tensor mv(const Tensor& a, const Tensor& x);     ///< [m, n] [n] → [m]
Tensor dot(const Tensor& a, const Tensor& b);    ///< [n] [n] → []; no conjugation
Tensor vdot(const Tensor& a, const Tensor& b);   ///< dot(conj(a), b)
Tensor outer(const Tensor& a, const Tensor& b);  ///< [m] [n] → [m, n]; no conjugation
/// The sum of products over the last axes: [..., n] with [---, n] gives [..., ---].
Tensor inner(const Tensor& a, const Tensor& b);
/// Contracts the last `dims` axes of a with the first `dims` of b, in order.
Tensor tensordot(const Tensor& a, const Tensor& b, std::int64_t dims);
/// Over these axes of a and those of b, pair by pair.
///   rc::tensordot(a, b, {0, 2}, {1, 0})
Tensor tensordot(const Tensor& a, const Tensor& b, const Axes& dims_a, const Axes& dims_b);
/// Einstein's summation: `einsum("bij,bjk->bik", a, b)`. A letter names an axis; letters that the result does not name
/// are summed; a letter twice in one term is a diagonal; `...` stands for any further axes, which broadcast. Without
/// an arrow the result has the letters that appear once, in alphabetical order. A size of 1 broadcasts against the
/// letter's size in other operands. Operands are contracted from left to right. ValueError if the equation does not
/// describe the operands.
Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands);
template <class... T>
  requires(std::is_convertible_v<T, Tensor> && ...)
Tensor einsum(std::string_view equation, const Tensor& first, const T&... rest) {
  return einsum(equation, std::vector<Tensor>{first, rest...});
}
Tensor addmm(const Tensor& bias, const Tensor& a, const Tensor& b);  ///< bias + mm(a, b); bias broadcasts
/// beta bias + alpha a b; of a beta of 0 the bias is not read.
Tensor addmm(const Tensor& bias, const Tensor& a, const Tensor& b, double beta, double alpha);
/// A linear layer: x [..., inputs], weight [outputs, inputs], bias [outputs] or undefined; gives x weightᵀ + bias. A
/// weight [inputs] is one output without its axis: [...].
Tensor linear(const Tensor& x, const Tensor& weight);
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias);
/// The product of all matrices in the order that takes the fewest multiplications; the first may be a row [n], the last
/// a column [n], whose axis is gone from the result. ValueError for fewer than two, or if inner sizes differ.
///   rc::multi_dot({a, b, x})  // [10,100] [100,5] [5] → [10]
Tensor multi_dot(const std::vector<Tensor>& matrices);
/// Kronecker's product: every element of a times all of b. The sizes of the result are products of sizes.
Tensor kron(const Tensor& a, const Tensor& b);
/// The vector product along `dim`, of size 3 in both (the last axis if not given). The two broadcast; `dim` counts the
/// axes of the result.
Tensor cross(const Tensor& a, const Tensor& b);
Tensor cross(const Tensor& a, const Tensor& b, std::int64_t dim);

// ── factorisations and solvers: [..., n, n] ──

/// The lower triangular L with L Lᴴ = a, for a positive definite Hermitian a. Both triangles are read: where they
/// differ, the Hermitian part (a + aᴴ) / 2 is factored, so gradients are Hermitian. ValueError if it is not positive
/// definite. Derivatives after Murray, "Differentiation of the Cholesky decomposition" (arXiv 1602.07527).
Tensor cholesky(const Tensor& a);
/// x with l lᴴ x = b, l lower triangular as cholesky gives it. b is [..., n, k] or a vector [n]; leading axes
/// broadcast. One vector for each of many matrices is [..., n, 1]. ValueError for a b of other sizes.
///   Tensor x = rc::cholesky_solve(b, rc::cholesky(a));
Tensor cholesky_solve(const Tensor& b, const Tensor& l);
/// x with a x = b, by LU with partial pivoting. b is [..., n, k], or a vector [n], or, as for torch.linalg.solve alone,
/// vectors [..., n] of the very leading axes that a has: with two matrices of size 2, b [2, 2] is two vectors; write
/// b.unsqueeze(0) for one matrix that serves both. One matrix with many right-hand sides is factored once, under vmap
/// too. ValueError if a is singular. `solve(a, b)`, where one might write `inverse(a) b`.
Tensor solve(const Tensor& a, const Tensor& b);
/// x with a x = b for a triangular a, of which only the triangle is read: the upper one if `upper`. b as in
/// `cholesky_solve`. A zero on the diagonal gives infinities or NaN. torch.linalg.solve_triangular.
///   Tensor x = rc::solve_triangular(l, b, false);
Tensor solve_triangular(const Tensor& a, const Tensor& b, bool upper);
/// The same with the right-hand side first, as torch.triangular_solve: the upper triangle unless `.upper = false`. With
/// `.transpose`, aᵀ x = b; with `.unitriangular`, the diagonal is taken as ones.
///   Tensor x = rc::triangular_solve(b, l, {.upper = false});
Tensor triangular_solve(const Tensor& b, const Tensor& a);
Tensor triangular_solve(const Tensor& b, const Tensor& a, TriangularOptions options);
/// Does not compile: with options by position the matrix came first once, and two square matrices would be swapped.
template <std::same_as<bool>... B>
  requires(sizeof...(B) > 0)
Tensor triangular_solve(const Tensor&, const Tensor&, B...) {
  static_assert(sizeof...(B) == 0,
                "ricci: triangular_solve takes the right-hand side first and its options by name: "
                "triangular_solve(b, a, {.upper = false}); with the matrix first, solve_triangular(a, b, upper)");
  return {};
}
/// a⁻¹. ValueError if a is singular. To apply it, `solve` is faster and more accurate.
Tensor inverse(const Tensor& a);
Tensor inv(const Tensor& a);  ///< inverse
/// The determinant, by LU; 1 of a matrix of size 0. Derivatives are sums of minors of the matrix, right for singular
/// and nearly singular matrices too, up to order 8; their error is that of a change of the matrix by a few roundings.
/// One of order k takes about k n³ steps, from the third on another nᵏ / k! sums of 4ᵏ terms.
///   Tensor h = rc::hessian([](Tensor a) { return rc::det(a); })(rc::zeros({2, 2}));  // ±1 and 0
Tensor det(const Tensor& a);
/// The sign (complex: a number of size 1) and log |det|, which neither overflows nor underflows. A singular matrix has
/// sign 0 and logarithm -inf, and its derivative is a ValueError.
std::pair<Tensor, Tensor> slogdet(const Tensor& a);
Tensor logdet(const Tensor& a);  ///< log det; NaN where a real determinant is negative, -inf where it is 0
/// a multiplied by itself n times, in about log₂ n products; the identity for n = 0, powers of the inverse for n < 0.
Tensor matrix_power(const Tensor& a, std::int64_t n);

// ── spectra: ValueError where an element is not finite ──

/// The real eigenvalues [..., n] of Hermitian a [..., n, n], ascending, and orthonormal eigenvectors in the columns of
/// [..., n, n]. Both triangles are read: where they differ, those of (a + aᴴ) / 2 are taken; gradients are Hermitian.
/// Vectors have either sign; of complex ones the greatest element is real and positive, in derivatives too. Derivatives
/// of vectors, and second ones of values, divide by the gaps between values (Magnus, 1985).
///
/// Where two values are equal, their vectors have no derivative. First derivatives in reverse mode are right for smooth
/// functions of vectors alone (a projector onto all vectors of equal values), and for those that hand back 0 to the
/// pair, to values and vectors (the projector onto another, times its value). Others give infinities or NaN: vectors ·
/// f(values) · vectorsᴴ (a logarithm at the identity), second derivatives of Σ f(values) and of vectors. What hands
/// back 0 by chance counts as not reading the pair: element (0, 1) of that logarithm has gradient 0. Forward mode gives
/// what reads neither vector, and directions that do not mix them. Close values lose the digits that they share. Second
/// derivatives lose twice as many if the function does not change, to first order, as the two turn: for gaps below
/// 4 √ε of the greatest value (6e-8, float32 1.4e-3) they are infinite or NaN. So are those of forward mode.
///   auto [values, vectors] = rc::eigh(a);  // matmul(a, vectors) = vectors * values
std::pair<Tensor, Tensor> eigh(const Tensor& a);
Tensor eigvalsh(const Tensor& a);  ///< the values alone
/// u [..., m, k], s [..., k], vh [..., k, n] with a = u diag(s) vh, k the smaller of m and n: orthonormal columns,
/// singular values from the greatest to the least, orthonormal rows; torch.linalg.svd with full_matrices = false. Pairs
/// have either sign; complex ones as for `eigh`. Derivatives of vectors, and second ones of values, divide by the gaps
/// between values and by their sums, and by the values where a is not square (Townsend, 2016). Equal values are as for
/// `eigh`: in reverse mode, what reads the vectors of all of them but no values is right (the polar factor u vh), and
/// so is what reads nothing of the pair (an approximation of low rank, by greater values). u · f(s) · vh with equal
/// values gives NaN.
///   auto [u, s, vh] = rc::svd(a);  // a = matmul(u * s, vh)
std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& a);
Tensor svdvals(const Tensor& a);  ///< the singular values alone

}  // namespace ricci::ops
