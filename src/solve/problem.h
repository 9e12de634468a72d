// What the solvers share: tolerances, the checks of a start and of an end, linear systems that are no errors when
// singular, implicit derivatives.
#pragma once

#include "ricci/solve/result.h"

namespace ricci::solvers {

inline constexpr std::int64_t running = -1;  // a status inside loops

/// How far a step may change an element where the solver ends.
struct Tolerance {
  Tensor rtol, atol;
  Tolerance(const Tensor& rtol, const Tensor& atol, DType dtype);
  Tensor of(const Tensor& size) const { return atol + rtol * size; }
  /// Whether a step changes no element of x by more.
  Tensor allows(const Tensor& step, const Tensor& x) const;
};

/// The greatest absolute value.
Tensor size_of(const Tensor& x);
Tensor all_finite(const Tensor& x);

/// The rows without the first, and `row` at their end.
Tensor with_last_row(const Tensor& rows, const Tensor& row);

/// Throws ValueError unless one step at least is kept.
void require_history(const char* name, std::int64_t history);
/// Throws TypeError unless the unknowns are real, ValueError unless a step may be taken.
void require_start(const char* name, const Tensor& start, std::int64_t max_steps);

/// The Jacobian of a linear or any function at x: [m, n].
Tensor jacobian_at(const VectorFunction& f, const Tensor& x);
/// x with a x = b, infinite or NaN where a is singular. b: [n].
Tensor solution_of(const Tensor& a, const Tensor& b);

/// `x` with the derivatives of a root of f.
Tensor with_implicit_derivatives(const VectorFunction& f, const Tensor& x);

/// What a step changed of what was promised, both negative where they are good; 1 where rounding errors of the value
/// hide it. Conn, Gould and Toint, Trust Region Methods, 17.4.2.
Tensor quality_of(const Tensor& found, const Tensor& promised, const Tensor& value);

/// `status`, or that there were too many steps.
Tensor last_status(const Tensor& status, const Tensor& steps, std::int64_t max_steps);

/// What is found where there are no unknowns.
Result<Tensor> nothing_to_find(const Tensor& start);

/// What was found, once it is sure that it may be given: throws ValueError for another status than `converged`.
Result<Tensor> checked(const char* name, Result<Tensor> found, bool throw_on_failure);

}  // namespace ricci::solvers
