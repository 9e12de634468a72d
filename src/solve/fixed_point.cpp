// Fixed points of vector functions.
#include "ricci/solve/fixed_point.h"

#include "ops/factorizations.h"
#include "ricci/control.h"
#include "ricci/no_grad.h"
#include "ricci/ops.h"
#include "solve/problem.h"

namespace ricci::solvers {
namespace {

using Method = FixedPointSolver::Method;

struct State {
  Tensor x, rest;         // rest: f(x) - x
  Tensor moves, changes;  // anderson: of x and rest in the last steps, in rows; zeros where there were none
  Tensor steps, status;
};

/// x plus what the last steps say of where the rest is 0: the mean of least rest, and on to its image.
Tensor accelerated(const State& s, double mixing) {
  const Tensor products = matmul(s.changes, mT(s.changes)), sizes = products.diagonal();
  // Steps that say the same, and those that were not made, have no share.
  const Tensor ridge = where(sizes > 0, 10 * epsilon_of(sizes.dtype()) * sizes.sum(), 1);
  const Tensor shares = solution_of(products + diag(ridge), matmul(s.changes, s.rest));
  return s.x + mixing * s.rest - matmul(shares, s.moves + mixing * s.changes);
}

Result<Tensor> by_steps(const runs::Problem& problem, const Options<FixedPointSolver>& options) {
  const auto& [f, start, coarsest] = problem;
  const FixedPointSolver& solver = options.solver;
  const Tolerance tolerance(options.rtol, options.atol, problem);
  const bool accelerates = solver.method == Method::anderson;
  State first{start, f(start) - start, {}, {}, zeros({}, int64), {}};
  if (accelerates) first.moves = first.changes = zeros({solver.history, start.size(0)}, start.dtype());
  first.status =
      where(all_finite(first.rest), where(tolerance.allows(first.rest, start), converged, running), not_finite);
  const auto step = [&](const State& s) {
    State next = s;
    const Tensor x = accelerates ? accelerated(s, solver.mixing) : s.x + s.rest, rest = f(x) - x;
    const Tensor is_finite = all_finite(rest);
    if (accelerates) {
      next.moves = with_last_row(s.moves, x - s.x);
      next.changes = with_last_row(s.changes, rest - s.rest);
    }
    next.x = where(is_finite, x, s.x), next.rest = where(is_finite, rest, s.rest);
    next.steps = s.steps + 1;
    const Tensor ended = where(is_finite, where(tolerance.allows(rest, x), converged, running), not_finite);
    next.status = last_status(ended, next.steps, options.max_steps);
    return next;
  };
  const State end = while_loop([](const State& s) { return s.status == running; }, step, first);
  return {end.x, size_of(end.rest), end.steps, end.status};
}

}  // namespace

FixedPointSolver fixed_point_iteration() { return {}; }
FixedPointSolver anderson(const AndersonOptions& options) {
  require_history("anderson", options.history);
  return {.method = Method::anderson, .history = options.history, .mixing = options.mixing};
}

Result<Tensor> runs::fixed_point(const Problem& given, const Options<FixedPointSolver>& options) {
  const Tensor& start = given.start;
  require_start("fixed_point", start, options.max_steps);
  if (start.numel() == 0) return nothing_to_find(start);
  const VectorFunction f = square_function("fixed_point", given.f);
  Result<Tensor> found;
  {
    const no_grad constant;
    found = by_steps({f, start, given.coarsest}, options);
  }
  found.value = with_implicit_derivatives([f](const Tensor& x) { return f(x) - x; }, found.value);
  return checked("fixed_point", std::move(found), options.throw_on_failure);
}

}  // namespace ricci::solvers
