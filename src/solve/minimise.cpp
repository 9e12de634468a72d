// Minima of functions of vectors: line searches along several directions, steps in a ball, and simplices.
#include "ricci/solve/minimise.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "ops/factorizations.h"
#include "ricci/control.h"
#include "ricci/no_grad.h"
#include "ricci/ops.h"
#include "ricci/primitive/raise.h"
#include "ricci/transforms.h"
#include "solve/problem.h"

namespace ricci::solvers {
namespace {

using Method = Minimiser::Method;

struct Point {
  Tensor x, value, gradient;
};
Point point_at(const VectorFunction& f, const Tensor& x) {
  const auto [value, gradient] = value_and_grad(f)(x);
  return {x, value, gradient};
}
Point chosen(const Tensor& is_first, const Point& first, const Point& second) {
  return {where(is_first, first.x, second.x), where(is_first, first.value, second.value),
          where(is_first, first.gradient, second.gradient)};
}
Tensor is_finite(const Point& at) { return logical_and(isfinite(at.value), all_finite(at.gradient)); }

// ── the line search ──

/// A place on a line.
struct Place {
  Tensor part, value, slope;
};
struct LineSearch {
  Point at;
  Place here, lower, upper;  // a good place is between lower and upper
  Tensor tries;
};

struct Wolfe {
  double decrease, curvature;
};

/// Where the cubic with the values and slopes at both ends is least; within, and away from both. Nocedal and Wright,
/// Numerical Optimization, (3.59).
Tensor between(const Place& a, const Place& b) {
  constexpr double margin = 0.1;
  const Tensor width = b.part - a.part, chord = 3 * (a.value - b.value) / width, d = a.slope + b.slope + chord;
  const Tensor root = sqrt(d * d - a.slope * b.slope);
  const Tensor least = b.part - width * (b.slope + root - d) / (b.slope - a.slope + 2 * root);
  const Tensor inside = clamp(least, a.part + margin * width, b.part - margin * width);
  return where(isfinite(inside), inside, a.part + width / 2);
}

/// A point along the direction at which the strong Wolfe conditions hold, or the last one tried. A place where f still
/// falls steeply bounds good ones from below, one where the value or slope is too high from above: between two such
/// there is a good one (Moré and Thuente, 1994). Values that differ by rounding alone count as equal.
LineSearch searched(const VectorFunction& f, const Point& from, const Tensor& direction, const Tensor& first,
                    const Wolfe& wolfe, const Tensor& rounding) {
  constexpr double growth = 3;
  constexpr int most_tries = 30;
  const Tensor slope = dot(from.gradient, direction);
  const auto at_part = [&](const Tensor& part) {
    const Point at = point_at(f, from.x + part * direction);
    return std::pair{at, Place{part, at.value, dot(at.gradient, direction)}};
  };
  const auto is_beyond = [&](const Place& p) {
    const Tensor is_low = p.value <= from.value + wolfe.decrease * p.part * slope + rounding;
    return logical_not(logical_and(is_low, p.slope <= -wolfe.curvature * slope));
  };
  const auto is_before = [&](const Place& p) { return p.slope < wolfe.curvature * slope; };
  const auto is_bad = [&](const LineSearch& s) {
    return logical_and(logical_or(is_beyond(s.here), is_before(s.here)), s.tries < most_tries);
  };
  const auto next = [&](const LineSearch& s) {
    const Tensor beyond = is_beyond(s.here);
    const auto either = [&](const Tensor& is_here, const Place& other) {
      return Place{where(is_here, s.here.part, other.part), where(is_here, s.here.value, other.value),
                   where(is_here, s.here.slope, other.slope)};
    };
    LineSearch result;
    result.lower = either(logical_not(beyond), s.lower), result.upper = either(beyond, s.upper);
    const Tensor part = where(isfinite(result.upper.part), between(result.lower, result.upper), growth * s.here.part);
    std::tie(result.at, result.here) = at_part(part);
    result.tries = s.tries + 1;
    return result;
  };
  const auto [at, here] = at_part(first);
  const Tensor infinite = full_like(slope, std::numeric_limits<double>::infinity());
  const Place start{zeros_like(slope), from.value, slope}, nowhere{infinite, infinite, infinite};
  return while_loop(is_bad, next, LineSearch{at, here, start, nowhere, zeros({}, int64)});
}

// ── methods ──

struct State {
  Point at;
  Tensor inverse;                         // bfgs: of the Hessian, about
  Tensor steps_before, changes, weights;  // lbfgs: the last ones in rows, of x and the gradient; 1 / their product
  Tensor direction, part;                 // of the last line search
  Tensor radius;                          // trust_region
  Tensor steps, status;
};

/// s yᵀ may not be divided by where it is this small.
Tensor is_positive(const Tensor& product, const Tensor& s, const Tensor& y) {
  return product > epsilon_of(product.dtype()) * norm(s) * norm(y);
}

/// The inverse of the Hessian, after the gradient has changed by y along s.
Tensor bfgs_update(const Tensor& inverse, const Tensor& s, const Tensor& y, const Tensor& is_first) {
  const Tensor product = dot(s, y), divisor = where(is_positive(product, s, y), product, 1);
  const Tensor scaled = where(is_first, product / dot(y, y) * inverse, inverse);
  const Tensor image = matmul(scaled, y), stretch = (1 + dot(y, image) / divisor) / divisor;
  const Tensor updated = scaled + stretch * outer(s, s) - (outer(image, s) + outer(s, image)) / divisor;
  return where(is_positive(product, s, y), updated, inverse);
}

/// The product with the inverse of the Hessian by two loops over the last steps: Nocedal and Wright, algorithm 7.4.
Tensor lbfgs_product(const State& s, const Tensor& gradient) {
  const std::tuple rows{s.steps_before, s.changes, s.weights};
  using Row = std::tuple<Tensor, Tensor, Tensor>;
  const auto [rest, parts] = scan(
      [](const Tensor& q, const Row& row) {
        const auto& [step, change, weight] = row;
        const Tensor part = weight * dot(step, q);
        return std::pair{q - part * change, part};
      },
      gradient, rows, {.reverse = true});
  const Tensor last_change = s.changes[-1], last_weight = s.weights[-1], square = dot(last_change, last_change);
  const Tensor has_steps = last_weight > 0;
  const Tensor scale = where(has_steps, 1 / where(has_steps, last_weight * square, 1), 1);
  return scan(
             [](const Tensor& r, const std::tuple<Row, Tensor>& given) {
               const auto& [row, part] = given;
               const auto& [step, change, weight] = row;
               return std::pair{r + (part - weight * dot(change, r)) * step, part};
             },
             scale * rest, std::tuple{rows, parts})
      .first;
}

struct Minimum {
  VectorFunction f;
  Tolerance tolerance;
  Minimiser solver;

  Tensor is_small(const Tensor& change, const Tensor& x) const { return tolerance.allows(change, x); }
  Tensor allowed(const Tensor& value) const { return tolerance.of(abs(value)); }
};

State first_state(const Minimum& problem, const Tensor& start) {
  State s;
  s.at = point_at(problem.f, start);
  const DType dtype = start.dtype();
  const std::int64_t n = start.size(0), kept = problem.solver.history;
  if (problem.solver.method == Method::bfgs) s.inverse = eye(n, dtype);
  if (problem.solver.method == Method::lbfgs) {
    s.steps_before = s.changes = zeros({kept, n}, dtype);
    s.weights = zeros({kept}, dtype);
  }
  s.direction = zeros_like(start), s.part = ones({}, dtype), s.radius = clamp_min(norm(start), 1);
  s.steps = zeros({}, int64);
  s.status = where(is_finite(s.at), where((s.at.gradient == 0).all(), converged, running), not_finite);
  return s;
}

State line_search_step(const Minimum& problem, const State& s) {
  const Method method = problem.solver.method;
  const Tensor& gradient = s.at.gradient;
  const Tensor downhill = method == Method::bfgs    ? -matmul(s.inverse, gradient)
                          : method == Method::lbfgs ? -lbfgs_product(s, gradient)
                                                    : s.direction - gradient;
  const Tensor leads_down = dot(downhill, gradient) < 0;
  const Tensor direction = where(leads_down, downhill, -gradient);
  // A first step of length 1 at most; then the whole step, or as much gain as the last one promised.
  const Tensor is_first = s.steps == 0, shortest = clamp_max(1 / norm(gradient), 1);
  const Tensor usual = method == Method::nonlinear_cg
                           ? s.part / clamp_min(-dot(direction, gradient), std::numeric_limits<float>::min())
                           : ones_like(s.part);
  const LineSearch found = searched(problem.f, s.at, direction, where(is_first, shortest, usual),
                                    method == Method::nonlinear_cg ? Wolfe{1e-4, 0.1} : Wolfe{1e-4, 0.9},
                                    problem.tolerance.rounding * abs(s.at.value));
  const Tensor gain = s.at.value - found.at.value, is_taken = logical_and(is_finite(found.at), gain > 0);
  const Tensor change = where(is_taken, found.at.x - s.at.x, direction), y = found.at.gradient - gradient;

  State next = s;
  next.at = chosen(is_taken, found.at, s.at);
  next.steps = s.steps + 1;
  // What is too small to be seen in the value is no failure.
  const Tensor seen = where(is_taken, gain, abs(dot(direction, gradient)));
  const Tensor is_small = logical_and(problem.is_small(change, s.at.x), seen <= problem.allowed(s.at.value));
  const Tensor reason = where(is_small, converged, where(is_taken, running, stalled));
  next.status = where(is_finite(found.at), reason, not_finite);
  if (method == Method::bfgs) next.inverse = bfgs_update(s.inverse, change, y, is_first);
  if (method == Method::lbfgs) {
    const Tensor product = dot(change, y), fits = is_positive(product, change, y);
    next.steps_before = where(fits, with_last_row(s.steps_before, change), s.steps_before);
    next.changes = where(fits, with_last_row(s.changes, y), s.changes);
    next.weights = where(fits, cat({s.weights.slice(0, 1, std::nullopt), (1 / product).reshape({1})}), s.weights);
  }
  if (method == Method::nonlinear_cg) {
    const Tensor beta = clamp_min(dot(found.at.gradient, y) / dot(gradient, gradient), 0);
    next.direction = beta * direction;
    next.part = -found.here.part * dot(direction, gradient);
  }
  return next;
}

/// The step in the ball that minimises gradient · dx + dx · H dx / 2, about: conjugate gradients up to the ball, or as
/// far as the curvature is positive. Nocedal and Wright, algorithm 7.2.
template <class Hessian>
Tensor step_in_ball(const Hessian& hessian, const Tensor& gradient, const Tensor& radius) {
  struct Inner {
    Tensor dx, rest, direction, tries, is_done;
  };
  const Tensor size = norm(gradient), small = size * clamp_max(size, 0.1);
  const std::int64_t most = 2 * gradient.size(0);
  const auto body = [&](const Inner& s) {
    const Tensor image = hessian(s.direction), curvature = dot(s.direction, image), square = dot(s.rest, s.rest);
    const Tensor part = square / curvature, along = s.dx + part * s.direction;
    const Tensor leaves = logical_not(logical_and(curvature > 0, norm(along) < radius));
    const Tensor a = dot(s.direction, s.direction), b = dot(s.dx, s.direction), c = dot(s.dx, s.dx) - radius * radius;
    const Tensor to_edge = (sqrt(clamp_min(b * b - a * c, 0)) - b) / a;
    Inner next;
    next.dx = where(leaves, s.dx + to_edge * s.direction, along);
    next.rest = s.rest + part * image;
    const Tensor left = dot(next.rest, next.rest);
    next.direction = left / square * s.direction - next.rest;
    next.tries = s.tries + 1;
    next.is_done = logical_or(leaves, logical_or(sqrt(left) <= small, next.tries >= most));
    return next;
  };
  return while_loop([](const Inner& s) { return logical_not(s.is_done); }, body,
                    Inner{zeros_like(gradient), gradient, -gradient, zeros({}, int64), size == 0})
      .dx;
}

State trust_region_step(const Minimum& problem, const State& s) {
  const auto [gradient, hessian] = linearize(grad(problem.f), s.at.x);
  const Tensor dx = step_in_ball(hessian, gradient, s.radius);
  const Tensor promised = -dot(gradient, dx) - dot(dx, hessian(dx)) / 2;
  const Point there = point_at(problem.f, s.at.x + dx);
  const Trial trial = trial_of(problem.tolerance, s.at.value, there.value, promised, is_finite(there));
  const Tensor size = norm(dx);

  State next = s;
  next.at = chosen(trial.is_taken, there, s.at);
  next.steps = s.steps + 1;
  next.radius = next_radius(trial, s.radius, size);
  const Tensor reason = status_after(problem.tolerance, trial, problem.is_small(dx, s.at.x), size > 0.99 * s.radius);
  next.status = where(all_finite(dx), reason, not_finite);
  return next;
}

Result<Tensor> by_steps(const Minimum& problem, const Tensor& start, std::int64_t max_steps) {
  const bool is_in_ball = problem.solver.method == Method::trust_region;
  const State end = while_loop([](const State& s) { return s.status == running; },
                               [&](const State& s) {
                                 State next = is_in_ball ? trust_region_step(problem, s) : line_search_step(problem, s);
                                 next.status = last_status(next.status, next.steps, max_steps);
                                 return next;
                               },
                               first_state(problem, start));
  return {end.at.x, size_of(end.at.gradient), end.steps, end.status};
}

struct Simplex {
  Tensor points, values;  // [n + 1, n] and [n + 1], the least value first
  Tensor steps, status;
};

Simplex in_order(Simplex s) {
  const Tensor order = argsort(where(isnan(s.values), std::numeric_limits<double>::infinity(), s.values));
  s.points = index_select(s.points, 0, order), s.values = index_select(s.values, 0, order);
  return s;
}

Simplex simplex_step(const Minimum& problem, const Simplex& s) {
  const std::int64_t n = s.points.size(1);
  const double of = static_cast<double>(std::max<std::int64_t>(n, 2));  // Gao and Han have two unknowns or more
  const double expansion = 1 + 2 / of, contraction = 0.75 - 0.5 / of, shrinkage = 1 - 1 / of;
  const Tensor worst = s.points[n], highest = s.values[n], best = s.points[0], lowest = s.values[0];
  const Tensor middle = s.points.slice(0, 0, n).mean(0), way = middle - worst;
  const Tensor reflected = middle + way, value = problem.f(reflected);
  const Tensor is_best = value < lowest, is_fair = value < s.values[n - 1], is_better = value < highest;
  // The second trial: further out, or nearer on this side or the other.
  const Tensor factor = where(is_best, expansion, where(is_better, contraction, -contraction));
  const Tensor tried = middle + factor * way, second = problem.f(tried);
  const Tensor takes_second =
      where(is_best, second < value, logical_and(logical_not(is_fair), second < minimum(value, highest)));
  const Tensor takes_one = logical_or(takes_second, is_fair);
  const auto replaced = [&] {
    const Tensor point = where(takes_second, tried, reflected);
    return std::pair{cat({s.points.slice(0, 0, n), point.unsqueeze(0)}, 0),
                     cat({s.values.slice(0, 0, n), where(takes_second, second, value).reshape({1})})};
  };
  const auto shrunk = [&] {
    const Tensor points = best + shrinkage * (s.points - best);
    return std::pair{points, cat({s.values.slice(0, 0, 1), vmap(problem.f)(points.slice(0, 1, std::nullopt))})};
  };
  Simplex next = s;
  std::tie(next.points, next.values) = cond(takes_one, replaced, shrunk);
  next = in_order(next);
  next.steps = s.steps + 1;
  return next;
}

Result<Tensor> by_simplex(const Minimum& problem, const Tensor& start, std::int64_t max_steps) {
  const std::int64_t n = start.size(0);
  constexpr double part = 0.05, of_zero = 0.00025;  // as SciPy
  const Tensor moves = diag(where(start != 0, part * start, of_zero));
  const Tensor points = cat({start.unsqueeze(0), start + moves}, 0);
  Simplex first = in_order({points, vmap(problem.f)(points), zeros({}, int64), {}});
  first.status = where(isfinite(first.values[0]), running, not_finite);
  const auto spread = [n](const Simplex& s) { return s.values[n] - s.values[0]; };
  const Simplex end =
      while_loop([](const Simplex& s) { return s.status == running; },
                 [&](const Simplex& s) {
                   Simplex next = simplex_step(problem, s);
                   const Tensor is_near = problem.is_small(next.points - next.points[0], next.points[0]);
                   const Tensor is_done = logical_and(is_near, spread(next) <= problem.allowed(next.values[0]));
                   next.status = last_status(where(is_done, converged, running), next.steps, max_steps);
                   return next;
                 },
                 first);
  return {end.points[0], spread(end), end.steps, end.status};
}

}  // namespace

Minimiser bfgs() { return {.method = Method::bfgs}; }
Minimiser lbfgs(std::int64_t history) {
  require_history("lbfgs", history);
  return {.method = Method::lbfgs, .history = history};
}
Minimiser nonlinear_cg() { return {.method = Method::nonlinear_cg}; }
Minimiser trust_region() { return {.method = Method::trust_region}; }
Minimiser nelder_mead() { return {.method = Method::nelder_mead}; }

Result<Tensor> runs::minimise(const Problem& given, const Options<Minimiser>& options) {
  const Tensor& start = given.start;
  require_start("minimise", start, options.max_steps);
  if (start.numel() == 0) return nothing_to_find(start);
  const VectorFunction f = [real = real_function("minimise", given.f)](const Tensor& x) {
    const Tensor y = real(x);
    if (y.numel() != 1)
      raise<ValueError>("minimise: the function gives " + tree::type_of(y) +
                        "; it must give one number, for example a sum");
    return y.reshape({});
  };
  Result<Tensor> found;
  {
    const no_grad constant;
    f(start);  // an error of f is that of a call by hand
    const Minimum problem{f, Tolerance(options.rtol, options.atol, {f, start, given.coarsest}), options.solver};
    const bool is_simplex = options.solver.method == Method::nelder_mead;
    found = is_simplex ? by_simplex(problem, start, options.max_steps) : by_steps(problem, start, options.max_steps);
  }
  found.value = with_implicit_derivatives(grad(f), found.value);
  return checked("minimise", std::move(found), options.throw_on_failure);
}

}  // namespace ricci::solvers
