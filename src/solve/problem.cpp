// What the solvers share.
#include "solve/problem.h"

#include <array>
#include <cmath>
#include <limits>

#include "custom/implicit.h"
#include "ops/factorizations.h"
#include "ricci/debug.h"
#include "ricci/function.h"
#include "ricci/ops.h"
#include "ricci/ops/decompositions.h"
#include "ricci/primitive/raise.h"
#include "ricci/transforms.h"

namespace ricci::solvers {
namespace {

constexpr std::array<const char*, 6> texts = {"converged", "max_steps_reached", "not_finite",
                                              "singular",  "stalled",           "no_bracket"};

}  // namespace

std::string text_of(std::int64_t status) {
  if (status < 0 || status >= std::ssize(texts))
    raise<ValueError>("text_of: " + std::to_string(status) + " is no status; pass the status of a result");
  return texts[static_cast<std::size_t>(status)];
}

DType runs::coarsest_dtype(const tree::Walk& start) {
  DType coarsest = float64;
  for (const Tensor* leaf : start.leaves)
    if (leaf->defined() && is_differentiable(leaf->dtype()) && epsilon_of(leaf->dtype()) > epsilon_of(coarsest))
      coarsest = real_dtype(leaf->dtype());
  return coarsest;
}

Tolerance::Tolerance(const Tensor& rtol, const Tensor& atol, const runs::Problem& problem)
    : rounding(4 * epsilon_of(problem.coarsest)) {
  const Tensor usual = std::sqrt(epsilon_of(problem.coarsest));
  this->rtol = to(rtol.defined() ? rtol : usual, problem.start.dtype());
  this->atol = to(atol.defined() ? atol : usual, problem.start.dtype());
}

Tensor Tolerance::allows(const Tensor& step, const Tensor& x) const { return (abs(step) <= of(abs(x))).all(); }
Tensor Tolerance::is_hidden(const Tensor& step, const Tensor& x) const {
  return (abs(step) <= rounding * abs(x)).all();
}

Trial trial_of(const Tolerance& tolerance, const Tensor& value, const Tensor& found, const Tensor& promised,
               const Tensor& is_possible) {
  constexpr double least_quality = 1e-4;
  const Tensor gain = value - found, hidden = tolerance.rounding * abs(value);
  const Tensor quality = (gain + hidden) / (promised + hidden);
  return {value, gain, promised, quality, logical_and(is_possible, logical_and(promised > 0, quality > least_quality))};
}

Tensor status_after(const Tolerance& tolerance, const Trial& trial, const Tensor& is_small, const Tensor& is_cut) {
  const Tensor size = abs(trial.value), is_hidden = abs(trial.promised) <= tolerance.rounding * size;
  const Tensor gains_little = logical_or(logical_not(trial.is_taken), trial.gain <= tolerance.of(size));
  const Tensor is_done = where(is_cut, is_hidden, gains_little);
  return where(is_small, where(is_done, converged, where(trial.is_taken, running, stalled)), running);
}

Tensor next_radius(const Trial& trial, const Tensor& radius, const Tensor& size) {
  const Tensor grown = where(trial.quality > 0.75, maximum(radius, 2 * size), radius);
  return where(logical_and(trial.is_taken, trial.quality > 0.25), grown, 0.25 * size);
}

Tensor size_of(const Tensor& x) { return abs(x).amax(); }
Tensor all_finite(const Tensor& x) { return isfinite(x).all(); }

Tensor with_last_row(const Tensor& rows, const Tensor& row) {
  return cat({rows.slice(0, 1, std::nullopt), row.unsqueeze(0)}, 0);
}

void require_history(const char* name, std::int64_t history) {
  if (history < 1)
    raise<ValueError>(std::string(name) + ": the history is " + std::to_string(history) + "; it must be 1 at least");
}

void require_start(const char* name, const Tensor& start, std::int64_t max_steps) {
  if (start.is_complex())
    raise<TypeError>(std::string(name) + ": the unknowns are " + tree::type_of(start) +
                     "; make them real and imaginary parts, for example with view_as_real");
  if (max_steps < 1)
    raise<ValueError>(std::string(name) + ": .max_steps is " + std::to_string(max_steps) + "; it must be 1 at least");
}

VectorFunction real_function(const char* name, const VectorFunction& given) {
  return [name, given](const Tensor& x) {
    const Tensor y = given(x);
    if (y.is_complex())
      raise<TypeError>(std::string(name) + ": the function gives " + tree::type_of(y) +
                       "; it must be real: give real and imaginary parts, for example with view_as_real");
    return to(y, x.dtype());
  };
}

VectorFunction square_function(const char* name, const VectorFunction& given, const char* hint) {
  return real_function(name, [name, given, hint](const Tensor& x) {
    const Tensor y = given(x);
    if (y.shape() != x.shape())
      raise<ValueError>(std::string(name) + ": the function gives " + tree::type_of(y) + " for the unknowns " +
                        tree::type_of(x) + "; it must give as many elements" + hint);
    return y;
  });
}

Tensor jacobian_at(const VectorFunction& f, const Tensor& x) { return jacfwd(f)(x); }

Tensor solution_of(const Tensor& a, const Tensor& b) {
  if (b.numel() == 1) return b / a.reshape({1});
  if (b.numel() == 2) {  // Cramer's rule: operations that compiled loops have in registers, where LU is a call
    const Tensor scale = size_of(a), m = a / scale;  // no product overflows
    const Tensor determinant = m[0][0] * m[1][1] - m[0][1] * m[1][0];
    const Tensor both = stack({m[1][1] * b[0] - m[0][1] * b[1], m[0][0] * b[1] - m[1][0] * b[0]}, 0);
    return both / determinant / scale;
  }
  return solve_ex(a, b).first;
}

std::pair<Tensor, Tensor> zero_where_idle(const Tensor& ct, const Tensor& x, const Tensor& adjoint) {
  const Tensor idle = function::is_idle(tree::any(ct), tree::any(x), tree::any(adjoint));
  return {where(idle, 0, x), where(idle, 0, adjoint)};
}

namespace {

/// `solution_of`, whose derivatives of any order are 0 where the system is singular and nobody uses its solution.
struct SolvedDensely : Function<SolvedDensely> {
  static Tensor forward(const Tensor& a, const Tensor& b) { return solution_of(a, b); }
  static void setup_context(Context& ctx, const std::tuple<Tensor, Tensor>& inputs, const Tensor& x) {
    ctx.save_for_backward(std::get<0>(inputs), x);
  }
  static std::tuple<Tensor, Tensor> backward(Context& ctx, const Tensor& ct) {
    const auto [x, adjoint] = zero_where_idle(ct, ctx.saved(1), apply(ctx.saved(0).mT(), ct));
    return {-outer(adjoint, x), adjoint};
  }
  static Tensor jvp(Context& ctx, const Tensor& change, const Tensor& change_of_b) {
    return apply(ctx.saved(0), change_of_b - matmul(change, ctx.saved(1)));
  }
  static constexpr bool generate_vmap_rule = true;
};

}  // namespace

Tensor with_implicit_derivatives(const VectorFunction& f, const Tensor& x) {
  const auto slope_of = [](const auto& g, const Tensor& y) {
    return jacobian_at([&](const Tensor& v) { return g(v); }, zeros_like(y));
  };
  const auto as_it_is = [](const auto&, const Tensor& found) { return found; };
  const auto dense = [=](const auto& g, const Tensor& y) { return SolvedDensely::apply(slope_of(g, y), y); };
  const auto dense_adjoint = [=](const auto& g, const Tensor& ct) {
    return SolvedDensely::apply(slope_of(g, ct).mT(), ct);
  };
  const auto solver = [](const auto& solve) { return function::Solver<Tensor, std::decay_t<decltype(solve)>>{solve}; };
  const auto by = solver(as_it_is);
  const auto tangent_by = solver(dense);
  const auto adjoint_by = solver(dense_adjoint);
  const tree::AnyFunction adjoint = function::solver(adjoint_by);
  return function::custom_root(function::equation<Tensor>(f), tree::any(x), function::solver(by),
                               function::solver(tangent_by), &adjoint)
      .take<Tensor>();
}

Tensor last_status(const Tensor& status, const Tensor& steps, std::int64_t max_steps) {
  return where(logical_and(status == running, steps >= max_steps), max_steps_reached, status);
}

Result<Tensor> nothing_to_find(const Tensor& start) {
  return {start, zeros({}, start.dtype()), zeros({}, int64), zeros({}, int64)};
}

Result<Tensor> checked(const char* name, Result<Tensor> found, bool throw_on_failure) {
  if (!throw_on_failure) return found;
  Tensor passed = zeros({}, float64);
  for (std::int64_t status = converged + 1; status < std::ssize(texts); ++status)
    passed = debug::check_finite(where(found.status == status, std::numeric_limits<double>::quiet_NaN(), passed),
                                 "the value of " + std::string(name) + ", which ended as " + text_of(status) + ",");
  found.value = found.value + to(passed, found.value.dtype());
  return found;
}

}  // namespace ricci::solvers
