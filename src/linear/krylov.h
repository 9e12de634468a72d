// Krylov methods with what they counted, for linear_solve.
#pragma once

#include "ricci/linear/krylov.h"

namespace ricci::sparse {

/// A tree of floating numbers. What is counted is float64, which holds any count, and carries no derivative.
struct Counted {
  Tensor x;
  Tensor steps;      ///< 0-dim
  Tensor converged;  ///< 0-dim: 1 where the residual is as small as the options ask, else 0
};

using Method = Counted (*)(const LinearOperator& a, const Tensor& b, const SolverOptions& options);
Counted by_cg(const LinearOperator& a, const Tensor& b, const SolverOptions& options);
Counted by_minres(const LinearOperator& a, const Tensor& b, const SolverOptions& options);
Counted by_bicgstab(const LinearOperator& a, const Tensor& b, const SolverOptions& options);
Counted by_gmres(const LinearOperator& a, const Tensor& b, const SolverOptions& options);

/// The method inside custom_linear_solve; `name` is for errors.
Counted solved(const char* name, Method by, const LinearOperator& a, const Tensor& b, const SolverOptions& options);

/// A vector that is made orthogonal to others, and shrinks to this part or less, is rounding.
double rounding_of(DType dtype);

/// Adds a row to a matrix at a place that is counted: a 0-dim or one-element integer.
Tensor with_row(const Tensor& matrix, const Tensor& place, const Tensor& row);

}  // namespace ricci::sparse
