// Least squares of vector functions: one loop; methods differ in the step that they propose.
#include "ricci/solve/least_squares.h"

#include <cmath>

#include "ops/factorizations.h"
#include "ricci/control.h"
#include "ricci/no_grad.h"
#include "ricci/ops.h"
#include "ricci/ops/decompositions.h"
#include "ricci/primitive/raise.h"
#include "ricci/transforms.h"
#include "solve/problem.h"

namespace ricci::solvers {
namespace {

using Method = LeastSquaresSolver::Method;

/// The sum of squares of a vector.
Tensor square_of(const Tensor& x) { return dot(x, x); }

/// What is minimised.
struct Cost {
  VectorFunction f;
  Loss loss;

  Tensor operator()(const Tensor& x) const { return of_residuals(f(x)); }
  Tensor of_residuals(const Tensor& r) const {
    if (!loss.rho) return square_of(r) / 2;
    const Tensor scale = to(loss.scale, r.dtype()), part = r / scale;
    return (scale * scale * loss.rho(part * part)).sum() / 2;
  }
};

/// What residuals and their slopes are multiplied by, so that their squares have the slope of the cost: iteratively
/// reweighted least squares. With ρ'' in it, steps are too long where losses are flat.
Tensor weight_of(const Loss& loss, const Tensor& r) {
  const Tensor part = r / to(loss.scale, r.dtype()), z = part * part;
  return sqrt(jvp(loss.rho, z, ones_like(z)).second);
}

struct Bounds {
  Tensor lower, upper;  // [n]; undefined: none

  bool any() const { return lower.defined() || upper.defined(); }
  /// Whether nothing is inside.
  Tensor cross() const {
    return lower.defined() && upper.defined() ? (lower > upper).any() : zeros({}, boolean);
  }
  Tensor cut(const Tensor& x) const {
    const Tensor above = lower.defined() ? maximum(x, lower) : x;
    return upper.defined() ? minimum(above, upper) : above;
  }
  /// Zero exactly where no change inside the bounds makes the cost smaller: its slope; at a bound only what points
  /// inside.
  Tensor slope(const Tensor& x, const Tensor& gradient) const { return any() ? x - cut(x - gradient) : gradient; }
  /// 0 where an unknown is at a bound and the cost falls outside, else 1.
  Tensor free(const Tensor& x, const Tensor& gradient) const {
    Tensor is_held = zeros_like(x, boolean);
    if (lower.defined()) is_held = logical_or(is_held, logical_and(x <= lower, gradient > 0));
    if (upper.defined()) is_held = logical_or(is_held, logical_and(x >= upper, gradient < 0));
    return to(logical_not(is_held), x.dtype());
  }
};

/// The cost near x: |residuals + j dx|² / 2 up to a constant.
struct Model {
  Tensor j, residuals;  // [m, n] and [m]
  Tensor gradient;      // [n]
  Tensor norms;         // [n]: of j's columns
  bool is_bounded;

  Tensor scale() const { return where(norms > 0, norms, 1); }

  Tensor change(const Tensor& dx) const { return dot(gradient, dx) + square_of(matmul(j, dx)) / 2; }
};

Tensor jacobian_of(const VectorFunction& f, const Tensor& x, const Tensor& r) {
  return r.numel() >= x.numel() ? jacfwd(f)(x) : jacrev(f)(x);
}

Model model_at(const Cost& cost, const Bounds& bounds, const Tensor& x, const Tensor& r) {
  Model model{jacobian_of(cost.f, x, r), r, {}, {}, bounds.any()};
  if (cost.loss.rho) {
    const Tensor weight = weight_of(cost.loss, r);
    model.residuals = weight * r, model.j = weight.unsqueeze(1) * model.j;
  }
  model.gradient = matmul(model.residuals, model.j);
  if (model.is_bounded) {  // what is at a bound stays there
    const Tensor free = bounds.free(x, model.gradient);
    model.j = model.j * free, model.gradient = model.gradient * free;
  }
  model.norms = sqrt((model.j * model.j).sum(0));
  return model;
}

/// The dx of least |residuals + j dx|, by R and Qᵀ residuals, which R of [j residuals] has as its last column.
Tensor solved(const Tensor& j, const Tensor& residuals) {
  const std::int64_t n = j.size(1);
  const Tensor r = qr(cat({j, residuals.unsqueeze(1)}, 1), "r").second.slice(0, 0, n);
  const Tensor triangle = r.slice(1, 0, n), rest = r.select(1, n);
  if (n == 1) return -rest / triangle.reshape({1});
  return -solve_triangular(triangle, rest, true);
}
/// The same with |more dx|² in it, with numbers of [n] for the diagonal `more`.
Tensor solved_with(const Model& model, const Tensor& more) {
  return solved(cat({model.j, diag(more)}, 0), cat({model.residuals, zeros_like(more)}, 0));
}
/// Without damping. What is held at a bound has a column of zeros, and stays.
Tensor whole_step(const Model& model) {
  if (!model.is_bounded && model.j.size(0) >= model.j.size(1)) return solved(model.j, model.residuals);
  return solved_with(model, to(model.norms == 0, model.norms.dtype()));
}
Tensor damped_step(const Model& model, const Tensor& damping) {
  return solved_with(model, sqrt(damping) * model.scale());
}

/// In scaled unknowns D dx, so that their units do not matter.
Tensor dogleg_step(const Model& model, const Tensor& radius) {
  const Tensor scale = model.scale(), slope = model.gradient / scale, image = matmul(model.j, slope / scale);
  const Tensor flat = square_of(image) == 0;
  const Tensor steepest = -where(flat, 0, square_of(slope) / where(flat, 1, square_of(image))) * slope;
  const Tensor whole = scale * whole_step(model), size = norm(steepest);
  // Where the path from the one to the other leaves the ball: |steepest + t beyond| = radius.
  const Tensor beyond = whole - steepest, a = square_of(beyond), b = dot(steepest, beyond);
  const Tensor c = size * size - radius * radius, root = sqrt(clamp_min(b * b - a * c, 0));
  const Tensor bent = steepest + where(b > 0, -c / (b + root), (root - b) / a) * beyond;
  const Tensor along = where(all_finite(bent), bent, steepest);  // a singular J has no whole step
  const Tensor cut = where(size < radius, along, steepest * (radius / size));
  return where(norm(whole) <= radius, whole, cut) / scale;
}

struct State {
  Tensor x, r, cost;
  Tensor trust;   // levenberg_marquardt: λ; dogleg: the radius
  Tensor growth;  // levenberg_marquardt: of λ after the next bad step
  Tensor steps, status;
};

Tensor proposed_step(Method method, const Model& model, const Tensor& trust) {
  switch (method) {
    case Method::gauss_newton: return whole_step(model);
    case Method::levenberg_marquardt: return damped_step(model, trust);
    case Method::dogleg: return dogleg_step(model, trust);
  }
  return {};
}

/// Whether the step is shorter than the model wants: one of this size.
Tensor is_cut(Method method, const Tensor& trust, const Tensor& size) {
  return method == Method::levenberg_marquardt ? trust > 1 : size > 0.99 * trust;
}

/// How far the next step may go, after one of this size.
void adapt_trust(Method method, State& next, const Trial& trial, const Tensor& size) {
  if (method == Method::levenberg_marquardt) {
    constexpr double fastest = 1. / 3, slowest = 2;
    const Tensor factor = clamp(1 - pow(2 * trial.quality - 1, 3), fastest, slowest);
    next.trust = clamp_min(next.trust * where(trial.is_taken, factor, next.growth), epsilon_of(size.dtype()));
    next.growth = where(trial.is_taken, 2, 2 * next.growth);
  } else {
    next.trust = next_radius(trial, next.trust, size);
  }
}

State stepped(const Cost& cost, const Bounds& bounds, const Tolerance& tolerance, Method method, const State& s) {
  const Model model = model_at(cost, bounds, s.x, s.r);
  const Tensor dx = proposed_step(method, model, s.trust), x = bounds.cut(s.x + dx), r = cost.f(x);
  const Tensor value = cost.of_residuals(r), change = x - s.x;
  const Tensor is_finite = all_finite(dx), gives_finite = logical_and(is_finite, isfinite(value));
  const Tensor is_small = tolerance.allows(change, s.x);
  const Tensor reason = where(is_finite, running, where(all_finite(model.norms), singular, not_finite));

  State next = s;
  next.steps = s.steps + 1;
  Tensor is_taken = gives_finite;
  if (method == Method::gauss_newton) {
    const Tensor is_done = logical_and(is_small, abs(value - s.cost) <= tolerance.of(abs(s.cost)));
    next.status = where(gives_finite, where(is_done, converged, running), where(is_finite, not_finite, reason));
  } else {
    const Trial trial = trial_of(tolerance, s.cost, value, -model.change(change), gives_finite);
    const Tensor size = norm(model.scale() * dx);
    is_taken = trial.is_taken;
    next.status = where(is_finite, status_after(tolerance, trial, is_small, is_cut(method, s.trust, size)), reason);
    adapt_trust(method, next, trial, size);
  }
  next.x = where(is_taken, x, s.x), next.r = where(is_taken, r, s.r), next.cost = where(is_taken, value, s.cost);
  return next;
}

Result<Tensor> by_steps(const runs::Problem& problem, const Cost& cost, const Bounds& bounds,
                        const LeastSquaresOptions& o) {
  const Tensor& start = problem.start;
  const DType dtype = start.dtype();
  const Tolerance tolerance(o.rtol, o.atol, problem);
  const Method method = o.solver.method;
  const Tensor x = bounds.cut(start), r = cost.f(x), value = cost.of_residuals(r);
  const Tensor begins = where(bounds.cross(), stalled, where(value == 0, converged, running));
  const Tensor status = where(isfinite(value), begins, not_finite);
  State first{x, r, value, full({}, o.solver.first, dtype), full({}, 2, dtype), zeros({}, int64), status};
  if (method == Method::dogleg)
    first.trust = first.trust * clamp_min(norm(model_at(cost, bounds, x, r).scale() * x), 1);

  const State end = while_loop([](const State& s) { return s.status == running; },
                               [&](const State& s) {
                                 State next = stepped(cost, bounds, tolerance, method, s);
                                 next.status = last_status(next.status, next.steps, o.max_steps);
                                 return next;
                               },
                               first);
  return {end.x, size_of(bounds.slope(end.x, grad(cost)(end.x))), end.steps, end.status};
}

Tensor bound_from(const char* name, const Tensor& bound, const Tensor& start) {
  if (!bound.defined()) return bound;
  if (bound.numel() != 1 && bound.numel() != start.numel())
    raise<ValueError>("least_squares: ." + std::string(name) + " is " + tree::type_of(bound) + " and there are " +
                      std::to_string(start.numel()) + " unknowns; give one number, or one for each");
  return expand(to(bound, start.dtype()).reshape({-1}), start.shape());
}

}  // namespace

LeastSquaresSolver gauss_newton() { return {.method = Method::gauss_newton}; }
LeastSquaresSolver levenberg_marquardt(double damping) {
  return {.method = Method::levenberg_marquardt, .first = damping};
}
LeastSquaresSolver dogleg(double radius) { return {.method = Method::dogleg, .first = radius}; }

Loss huber(const Tensor& scale) {
  return {[](const Tensor& z) { return where(z <= 1, z, 2 * sqrt(maximum(z, 1)) - 1); }, scale};
}
Loss soft_l1(const Tensor& scale) {
  return {[](const Tensor& z) { return 2 * (sqrt(1 + z) - 1); }, scale};
}
Loss cauchy(const Tensor& scale) {
  return {[](const Tensor& z) { return log1p(z); }, scale};
}
Loss arctan(const Tensor& scale) {
  return {[](const Tensor& z) { return atan(z); }, scale};
}

Result<Tensor> runs::least_squares(const Problem& given, const LeastSquaresOptions& options) {
  const Tensor& start = given.start;
  require_start("least_squares", start, options.max_steps);
  if (options.solver.method == Method::gauss_newton && (options.lower.defined() || options.upper.defined()))
    raise<ValueError>("least_squares: gauss_newton knows no bounds; take levenberg_marquardt or dogleg");
  const Bounds bounds{bound_from("lower", options.lower, start), bound_from("upper", options.upper, start)};
  if (start.numel() == 0) return nothing_to_find(start);
  const Cost cost{real_function("least_squares", given.f), options.loss};
  Result<Tensor> found;
  {
    const no_grad constant;
    found = by_steps(given, cost, bounds, options);
  }
  const auto slope = [cost, bounds](const Tensor& x) { return bounds.slope(x, grad(cost)(x)); };
  found.value = with_implicit_derivatives(slope, found.value);
  return checked("least_squares", std::move(found), options.throw_on_failure);
}

}  // namespace ricci::solvers
