// Roots of vector functions: methods that give a step, and the loop that they share.
#include "ricci/solve/root_find.h"

#include "ricci/control.h"
#include "ricci/no_grad.h"
#include "ricci/ops.h"
#include "ricci/ops/decompositions.h"
#include "ricci/primitive/raise.h"
#include "solve/problem.h"

namespace ricci::solvers {
namespace {

using Method = RootFinder::Method;

struct State {
  Tensor x, f;          // [n]
  Tensor inverse;       // of J, or of what stands in its place: [n, n]; chord and broyden
  Tensor lower, upper;  // bisection: f is negative at the lower one
  Tensor steps, status;
};

Tensor inverse_of(const Tensor& a) { return a.numel() == 1 ? 1 / a : inv_ex(a).first; }

struct Search {
  Tensor x, f, part;  // part: of the step
};
/// The point of a step that lowers |f|² enough, or the last one tried: Armijo's condition, parts by interpolation.
/// Dennis and Schnabel, Numerical Methods for Unconstrained Optimization and Nonlinear Equations, 6.3.
Search searched(const VectorFunction& f, const State& s, const Tensor& step) {
  constexpr double enough = 1e-4, least_part = 1e-10;
  const Tensor square = (s.f * s.f).sum();
  const auto is_too_long = [&](const Search& at) {
    return logical_and(logical_not((at.f * at.f).sum() <= (1 - 2 * enough * at.part) * square), at.part > least_part);
  };
  const auto shorter = [&](const Search& at) {
    // The minimum of the parabola with the value and slope at 0 and the value here.
    const Tensor least = square * at.part * at.part / ((at.f * at.f).sum() - square + 2 * square * at.part);
    const Tensor part = where(isfinite(least), clamp(least, 0.1 * at.part, 0.5 * at.part), 0.1 * at.part);
    const Tensor x = s.x + part * step;
    return Search{x, f(x), part};
  };
  const Tensor x = s.x + step;
  return while_loop(is_too_long, shorter, Search{x, f(x), ones({}, x.dtype())});
}

Result<Tensor> by_steps(const runs::Problem& problem, const Options<RootFinder>& options) {
  const auto& [f, start, coarsest] = problem;
  const RootFinder& solver = options.solver;
  const Tolerance tolerance(options.rtol, options.atol, problem);
  State first{start, f(start), {}, {}, {}, zeros({}, int64), {}};
  const Tensor small = tolerance.of(size_of(first.f));
  first.status = where(logical_not(all_finite(first.f)), not_finite, where((first.f == 0).all(), converged, running));
  if (solver.method != Method::newton) {
    const Tensor slope = jacobian_at(f, start);
    first.inverse = inverse_of(slope);
    first.status = where(logical_or(first.status != running, all_finite(first.inverse)), first.status,
                         where(all_finite(slope), singular, not_finite));
  }

  const auto step = [&](const State& s) {
    State next = s;
    Tensor slope = s.inverse, change;
    if (solver.method == Method::newton) slope = jacobian_at(f, s.x), change = solution_of(slope, -s.f);
    else change = -matmul(slope, s.f);
    next.x = s.x + change;
    Tensor ended = full({}, running, int64);
    if (solver.line_search) {
      const Search found = searched(f, s, change);
      next.x = found.x, next.f = found.f;
      ended = where((next.f * next.f).sum() < (s.f * s.f).sum(), ended, stalled);
    } else {
      next.f = f(next.x);
    }
    if (solver.method == Method::broyden) {
      const Tensor seen = matmul(s.inverse, next.f - s.f), along = matmul(change, s.inverse);
      const Tensor product = (change * seen).sum();  // 0 where f did not change: there is nothing to learn
      next.inverse = where(product == 0, s.inverse, s.inverse + outer(change - seen, along) / product);
    }
    ended = where(all_finite(next.f), ended, not_finite);
    // A step that is not finite: the slope of newton is f's, and inverses are made of finite numbers.
    const Tensor is_of_f = solver.method == Method::newton ? logical_not(all_finite(slope)) : zeros({}, boolean);
    ended = where(all_finite(change), ended, where(is_of_f, not_finite, singular));
    const Tensor is_finite = logical_and(ended != singular, ended != not_finite);
    const Tensor is_near = logical_and(tolerance.allows(change, next.x), size_of(next.f) <= small);
    const Tensor is_root = logical_or((next.f == 0).all(), logical_or(is_near, tolerance.is_hidden(change, next.x)));
    ended = where(logical_and(is_finite, is_root), converged, ended);
    next.x = where(is_finite, next.x, s.x), next.f = where(is_finite, next.f, s.f);
    next.steps = s.steps + 1;
    next.status = last_status(ended, next.steps, options.max_steps);
    return next;
  };
  const State end = while_loop([](const State& s) { return s.status == running; }, step, first);
  return {end.x, size_of(end.f), end.steps, end.status};
}

Result<Tensor> by_bisection(const runs::Problem& problem, const Options<RootFinder>& options) {
  const auto& [f, start, coarsest] = problem;
  const Tolerance tolerance(options.rtol, options.atol, problem);
  const auto bound = [&](const Tensor& given) { return to(given, start.dtype()).reshape({1}); };
  State first{{}, {}, {}, bound(options.solver.lower), bound(options.solver.upper), zeros({}, int64), {}};
  const Tensor at_lower = f(first.lower), at_upper = f(first.upper);
  const Tensor falls = at_lower > 0, lower = first.lower;
  first.lower = where(falls, first.upper, lower), first.upper = where(falls, lower, first.upper);
  first.x =
      where(at_lower == 0, lower, where(at_upper == 0, bound(options.solver.upper), (first.lower + first.upper) / 2));
  first.f = f(first.x);
  const Tensor brackets = sign(at_lower) * sign(at_upper) <= 0;
  first.status = where(logical_not(all_finite(at_lower + at_upper + first.f)), not_finite,
                       where(brackets.all(), where((first.f == 0).all(), converged, running), no_bracket));

  const auto step = [&](const State& s) {
    State next = s;
    next.lower = where(s.f < 0, s.x, s.lower), next.upper = where(s.f < 0, s.upper, s.x);
    next.x = (next.lower + next.upper) / 2;
    next.f = f(next.x);
    const Tensor is_root = logical_or((next.f == 0).all(), tolerance.allows((next.upper - next.lower) / 2, next.x));
    const Tensor ended = where(all_finite(next.f), where(is_root, converged, running), not_finite);
    next.steps = s.steps + 1;
    next.status = last_status(ended, next.steps, options.max_steps);
    return next;
  };
  const State end = while_loop([](const State& s) { return s.status == running; }, step, first);
  return {end.x, size_of(end.f), end.steps, end.status};
}

}  // namespace

RootFinder newton(const NewtonOptions& options) {
  return {.method = Method::newton, .line_search = options.line_search};
}
RootFinder chord() { return {.method = Method::chord}; }
RootFinder broyden() { return {.method = Method::broyden}; }
RootFinder bisection(const Tensor& lower, const Tensor& upper) {
  return {.method = Method::bisection, .lower = lower, .upper = upper};
}

Result<Tensor> runs::root_find(const Problem& given, const Options<RootFinder>& options) {
  const Tensor& start = given.start;
  require_start("root_find", start, options.max_steps);
  const VectorFunction f = square_function("root_find", given.f, "; for more, take least_squares");
  const runs::Problem problem{f, start, given.coarsest};
  const bool bisects = options.solver.method == Method::bisection;
  if (bisects && start.numel() != 1)
    raise<ValueError>("root_find: bisection has one unknown, and here are " + std::to_string(start.numel()) +
                      "; take another solver, or vmap for many equations of one unknown");
  if (start.numel() == 0) return nothing_to_find(start);
  Result<Tensor> found;
  {
    const no_grad constant;
    found = bisects ? by_bisection(problem, options) : by_steps(problem, options);
  }
  found.value = with_implicit_derivatives(f, found.value);
  return checked("root_find", std::move(found), options.throw_on_failure);
}

}  // namespace ricci::solvers
