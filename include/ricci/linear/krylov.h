// Linear systems whose matrix is known by what it does to a vector: a function, or a Sparse. Derivatives are implicit:
// they solve one more system and do not depend on the steps that were taken. Start with `cg`.
#pragma once

#include <cstdint>

#include "ricci/linear/operator.h"

namespace ricci::sparse {

struct SolverOptions {
  double tol = 1e-5;           ///< of the residual's norm, as a part of that of b
  double atol = 0;             ///< or of the norm itself, whichever is greater
  std::int64_t max_steps = 0;  ///< 0: ten for each element of b
  std::int64_t restart = 20;   ///< gmres: directions that are kept before it begins anew
};

/// The x with a(x) = b for a symmetric, positive definite a, by conjugate gradients (Hestenes and Stiefel, 1952). x is
/// like b, real and of any shape; it begins at 0. The loop ends where the residual's norm is at most
/// max(tol norm(b), atol), or after `max_steps`: whether that was enough, `norm(b - a(x))` says. Its derivatives by b
/// and by what `a` captures solve another system with the same options. Under vmap each example takes its own steps.
/// TypeError unless b is floating; errors of custom_linear_solve.
///   Tensor x = rc::sparse::cg([&](const Tensor& v) { return 2 * v - v.roll(1, 0) / 2 - v.roll(-1, 0) / 2; }, b);
Tensor cg(const LinearOperator& a, const Tensor& b, const SolverOptions& options = {});
/// The same for any symmetric a that has an inverse, by minimal residuals (Paige and Saunders, SIAM J. Numer. Anal. 12,
/// 1975).
Tensor minres(const LinearOperator& a, const Tensor& b, const SolverOptions& options = {});
/// The same for any a that has an inverse, by stabilised biconjugate gradients (van der Vorst, 1992): two products a
/// step. NaN where it breaks down; gmres does not.
Tensor bicgstab(const LinearOperator& a, const Tensor& b, const SolverOptions& options = {});
/// The same for any a that has an inverse, by generalised minimal residuals (Saad and Schultz, 1986), from the right
/// preconditioned; steps of the loop are restarts, of `restart` products each.
///   Tensor step = rc::sparse::gmres(j, -residual);
Tensor gmres(const LinearOperator& a, const Tensor& b, const SolverOptions& options = {});

}  // namespace ricci::sparse
