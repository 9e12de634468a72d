// Linear systems: one function for all operators and all ways to solve them. Start with `linear_solve`.
#pragma once

#include <cstdint>
#include <type_traits>

#include "ricci/linear/krylov.h"
#include "ricci/linear/operator.h"
#include "ricci/solve/result.h"

namespace ricci::solvers {

/// A way to solve linear systems; made by the functions below.
struct LinearSolver {
  enum class Method : std::uint8_t {
    automatic,
    lu,
    cholesky,
    qr,
    svd,
    diagonal,
    triangular,
    tridiagonal,
    sparse,
    cg,
    minres,
    bicgstab,
    gmres
  };
  Method method = Method::automatic;
  ricci::sparse::SolverOptions options = {};  ///< of the last four
};

/// What fits the operator: `diagonal`, `triangular`, `tridiagonal` or `sparse`, where its entries are such; else
/// `cholesky` where it is positive, `lu` where it is square, `qr` where it is not. A function's matrix is found by
/// n products.
LinearSolver automatic();

// ── of the matrix ──

LinearSolver lu();        ///< with partial pivoting, as `rc::solve`
LinearSolver cholesky();  ///< of a positive operator; a derivative uses the same factor
/// The least |a x - b|, and of those the shortest, as `rc::lstsq`: also of matrices that are not square.
LinearSolver qr();
/// The same by singular values; those that are the greatest one times max(m, n) times the dtype's epsilon, or less,
/// count as 0, as in `rc::pinv`.
LinearSolver svd();
LinearSolver diagonal();    ///< of a Diagonal
LinearSolver triangular();  ///< of a Triangular
/// Of a Tridiagonal in n steps, without exchanging rows (Thomas): accurate where each element of the diagonal is
/// greater than the sum of its neighbours in size, or the matrix is positive; else take lu.
LinearSolver tridiagonal();
/// Of a Sparse: `rc::sparse::solve` with an analysis made for this call. Keep one for many systems of one pattern.
LinearSolver sparse();

// ── of products alone: real operators from a Tensor to one like it; see ricci/linear/krylov.h ──

/// Of a positive operator.
LinearSolver cg(const ricci::sparse::SolverOptions& options = {});
/// Of a symmetric one.
LinearSolver minres(const ricci::sparse::SolverOptions& options = {});
LinearSolver bicgstab(const ricci::sparse::SolverOptions& options = {});
LinearSolver gmres(const ricci::sparse::SolverOptions& options = {});

struct LinearOptions {
  LinearSolver solver = {};
  bool throw_on_failure = false;  ///< ValueError unless the status is `converged`; under vmap that of any example
};

/// The x with a(x) = b; of an operator from n to m elements with n ≠ m, that with the least |a(x) - b|, and of those
/// the shortest. Derivatives, of any order, by b and by what the operator holds or captures, are those of the solution,
/// whatever the steps were. Under vmap each example takes its own steps; one matrix that serves all examples is
/// factored once. The result:
///   value     like the operator's argument
///   residual  the greatest |a(x) - b|
///   steps     of the loop; 0 where the matrix is factored
///   status    `converged`; `max_steps_reached`; `singular`: for lu, a pivot is 0; for diagonal and triangular, an
///             element of the diagonal is 0; for cholesky, the matrix is not positive definite; `not_finite` for
///             another NaN or infinity in x or the residual
/// ValueError for a b of another shape, for a solver that does not fit the operator; for a singular Sparse. TypeError
/// unless b is floating or complex.
///   Tensor x = solvers::linear_solve(rc::operators::Matrix{a}, b).value;
///   auto found = solvers::linear_solve(f, b, {.solver = solvers::cg({.tol = 1e-10})});
Result<Tensor> linear_solve(const LinearOperator& a, const Tensor& b, const LinearOptions& options = {});

/// Of an operator between trees: b is a tree with as many elements as its result, value a tree like its argument.
template <class X, class B>
Result<X> linear_solve(const operators::OfTrees<X>& a, const B& b, const LinearOptions& options = {}) {
  return runs::as_tree(linear_solve(a.of_vectors, ravel(b).vector, options), a.unravel);
}
/// Of a function from a tree to one like it.
template <class F, class B>
  requires(!std::is_same_v<B, Tensor> && std::is_invocable_v<const F&, const B&>)
Result<B> linear_solve(const F& f, const B& b, const LinearOptions& options = {}) {
  const auto [vector, unravel] = ravel(b);
  return runs::as_tree(linear_solve(LinearOperator(runs::of_vectors(f, unravel)), vector, options), unravel);
}

}  // namespace ricci::solvers
