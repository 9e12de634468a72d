// Linear systems whose matrix is known by what it does to a vector: a function, or a Sparse. Derivatives are implicit:
// they solve one more system and do not depend on the steps that were taken. Start with `cg`.
#pragma once

#include "ricci/implicit.h"
#include "ricci/sparse/sparse.h"

namespace ricci::sparse {

/// Linear, from a Tensor to one of the same shape and dtype.
using LinearFunction = std::function<Tensor(const Tensor&)>;

struct SolverOptions {
  double tol = 1e-5;                   ///< of the residual's norm, as a part of that of b
  double atol = 0;                     ///< or of the norm itself, whichever is greater
  std::int64_t max_steps = 0;          ///< 0: ten for each element of b
  LinearFunction preconditioner = {};  ///< about the inverse of the matrix; for cg symmetric and positive definite
  std::int64_t restart = 20;           ///< gmres: directions that are kept before it begins anew
};

/// The x with a(x) = b for a symmetric, positive definite a, by conjugate gradients (Hestenes and Stiefel, 1952). x is
/// like b, real and of any shape; it begins at 0. The loop ends where the residual's norm is at most
/// max(tol norm(b), atol), or after `max_steps`: whether that was enough, `norm(b - a(x))` says. Its derivatives by b
/// and by what `a` captures solve another system with the same options. Under vmap each example takes its own steps.
/// TypeError unless b is floating; errors of custom_linear_solve.
///   Tensor x = rc::sparse::cg([&](const Tensor& v) { return 2 * v - v.roll(1, 0) / 2 - v.roll(-1, 0) / 2; }, b);
Tensor cg(const LinearFunction& a, const Tensor& b, const SolverOptions& options = {});
/// The same for any a that has an inverse, by stabilised biconjugate gradients (van der Vorst, 1992): two products a
/// step. NaN where it breaks down; gmres does not.
Tensor bicgstab(const LinearFunction& a, const Tensor& b, const SolverOptions& options = {});
/// The same for any a that has an inverse, by generalised minimal residuals (Saad and Schultz, 1986), from the right
/// preconditioned; steps of the loop are restarts, of `restart` products each.
Tensor gmres(const LinearFunction& a, const Tensor& b, const SolverOptions& options = {});

/// Of a sparse matrix [n, n] and b [n]: derivatives reach its values.
///   Tensor step = rc::sparse::gmres(j, -residual);
Tensor cg(const Sparse& a, const Tensor& b, const SolverOptions& options = {});
Tensor bicgstab(const Sparse& a, const Tensor& b, const SolverOptions& options = {});
Tensor gmres(const Sparse& a, const Tensor& b, const SolverOptions& options = {});

}  // namespace ricci::sparse
