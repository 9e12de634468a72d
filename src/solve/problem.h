// What the solvers share: tolerances, the checks of a start and of an end, linear systems that are no errors when
// singular, implicit derivatives.
#pragma once

#include <utility>

#include "ricci/solve/result.h"

namespace ricci::solvers {

inline constexpr std::int64_t running = -1;  // a status inside loops

/// How far a step may change an element where the solver ends, and what rounding hides.
struct Tolerance {
  Tensor rtol, atol;
  double rounding;  // of numbers, relative
  Tolerance(const Tensor& rtol, const Tensor& atol, const runs::Problem& problem);
  Tensor of(const Tensor& size) const { return atol + rtol * size; }
  /// Whether a step changes no element of x by more.
  Tensor allows(const Tensor& step, const Tensor& x) const;
  /// Whether it changes none by more than rounding does.
  Tensor is_hidden(const Tensor& step, const Tensor& x) const;
};

/// A step that is taken only if the value falls by enough of what a model promised.
struct Trial {
  Tensor value, gain, promised;  // the value before; what it falls by, and by how much it should
  Tensor quality;                // gain / promised; 1 where rounding errors of the value hide it
  Tensor is_taken;
};
/// Requires: `is_possible` is false where something is not finite. Conn, Gould and Toint, Trust Region Methods, 17.4.2.
Trial trial_of(const Tolerance& tolerance, const Tensor& value, const Tensor& found, const Tensor& promised,
               const Tensor& is_possible);
/// The status after it, which converges where the step is small and the value falls by little. is_small: the step is;
/// is_cut: the model wanted a longer one. A step that was cut says nothing of a solution, unless rounding hides what it
/// promised: steps also get shorter and shorter before a wall of NaN.
Tensor status_after(const Tolerance& tolerance, const Trial& trial, const Tensor& is_small, const Tensor& is_cut);
/// The radius of the ball for the next step, after one of this size.
Tensor next_radius(const Trial& trial, const Tensor& radius, const Tensor& size);

/// The greatest absolute value.
Tensor size_of(const Tensor& x);
Tensor all_finite(const Tensor& x);

/// The rows without the first, and `row` at their end.
Tensor with_last_row(const Tensor& rows, const Tensor& row);

/// Throws ValueError unless one step at least is kept.
void require_history(const char* name, std::int64_t history);
/// Throws TypeError unless the unknowns are real, ValueError unless a step may be taken.
void require_start(const char* name, const Tensor& start, std::int64_t max_steps);

/// `given` with its result in the dtype of x. TypeError for a complex result.
VectorFunction real_function(const char* name, const VectorFunction& given);
/// The same, with ValueError for another number of elements than x has. hint: what else the error says.
VectorFunction square_function(const char* name, const VectorFunction& given, const char* hint = "");

/// The Jacobian of a linear or any function at x: [m, n].
Tensor jacobian_at(const VectorFunction& f, const Tensor& x);
/// x with a x = b, infinite or NaN where a is singular. b: [n].
Tensor solution_of(const Tensor& a, const Tensor& b);

/// The solution and the adjoint for a reverse rule: 0 where function::is_idle (custom/implicit.h) holds.
std::pair<Tensor, Tensor> zero_where_idle(const Tensor& ct, const Tensor& x, const Tensor& adjoint);

/// `x` with the derivatives of a root of f.
Tensor with_implicit_derivatives(const VectorFunction& f, const Tensor& x);

/// `status`, or that there were too many steps.
Tensor last_status(const Tensor& status, const Tensor& steps, std::int64_t max_steps);

/// What is found where there are no unknowns.
Result<Tensor> nothing_to_find(const Tensor& start);

/// What was found, once it is sure that it may be given: throws ValueError for another status than `converged`.
Result<Tensor> checked(const char* name, Result<Tensor> found, bool throw_on_failure);

}  // namespace ricci::solvers
