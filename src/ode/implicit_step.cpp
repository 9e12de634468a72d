// Stages y = base + γ h f(t, y), with one matrix for all of a step: I - γ h J, of the Jacobian J where the step begins.
#include "ode/implicit_step.h"

#include <cmath>
#include <limits>

#include "ops/factorizations.h"
#include "ricci/control.h"
#include "ricci/no_grad.h"
#include "ricci/ops.h"
#include "ricci/ops/decompositions.h"
#include "ricci/transforms.h"
#include "solve/problem.h"

namespace ricci::ode {
namespace {

struct Iteration {
  Tensor y, change, count;  // change: of y, as a part of the tolerance
};

/// A root of g by Newton's iterations, with the inverse of one matrix; NaN where they do not converge. It has no
/// derivative.
Tensor iterated(const std::function<Tensor(const Tensor&)>& g, const Tensor& inverse, const Tolerance& tolerance,
                const Tensor& start) {
  constexpr double is_small = 0.01;
  constexpr int most = 10;
  const no_grad guard;
  // Iterations cannot change y by less than its rounding, so a smaller rtol would never be met.
  const double rounding = 4 * epsilon_of(start.dtype()) / is_small;
  const Tolerance reachable{maximum(tolerance.rtol, rounding), tolerance.atol};
  const Iteration last = while_loop(
      [](const Iteration& at) { return logical_and(lt(at.count, most), logical_not(lt(at.change, is_small))); },
      [&](const Iteration& at) {
        const Tensor change = matmul(inverse, g(at.y));
        return Iteration{at.y - change, scaled_norm(reachable, change, at.y), at.count + 1};
      },
      Iteration{start.detach(), full({}, std::numeric_limits<double>::infinity(), float64), zeros({}, int64)});
  return where(lt(last.change, is_small), last.y, std::nan("")).detach();
}

/// I - γ h J, inverted; NaN where it has no inverse.
Tensor inverse_of(const Field& field, const Span& span, const Tensor& factor) {
  const no_grad guard;
  const Tensor jacobian = jacfwd([&](const Tensor& y) { return field(span.t, y); })(span.y.detach());
  const auto [inverse, info] = inv_ex(eye(span.y.shape()[0], jacobian.dtype()) - factor * jacobian);
  return where(eq(info, 0), inverse, std::nan(""));
}

}  // namespace

Step implicit_step(const Tableau& method, const Field& field, const Tolerance& tolerance, const Span& span) {
  const auto& [t, y, f, end, h] = span;
  const Tensor factor = method.gamma * h, inverse = inverse_of(field, span, factor.detach());
  Step step;
  step.slopes = {f};
  const auto add_stage = [&](const std::vector<double>& weights, const Tensor& time) {
    const Tensor known = weighted(weights, step.slopes), base = known.defined() ? y + h * known : y;
    const auto g = [=](const Tensor& x) { return x - base - factor * field(time, x); };
    const Tensor start = base + factor * step.slopes.back();
    const Tensor root = solvers::with_implicit_derivatives(g, iterated(g, inverse, tolerance, start));
    step.slopes.push_back((root - base) / factor);
    return root;
  };
  for (std::size_t i = 1; i < method.a.size(); ++i)
    add_stage(method.a[i], method.c[i] == 1 ? end : t + method.c[i] * h);
  step.y = add_stage(method.b, end);
  step.f = step.slopes.back();
  step.error = h * weighted(method.error, step.slopes);
  return step;
}

}  // namespace ricci::ode
