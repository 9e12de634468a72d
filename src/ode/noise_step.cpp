// Euler and Maruyama's, Heun's and Milstein's steps (Kloeden and Platen, Numerical Solution of Stochastic Differential
// Equations, 1992).
#include "ode/noise_step.h"

#include <tuple>

#include "ricci/ops.h"
#include "ricci/transforms.h"

namespace ricci::ode {
namespace {

/// g's value, and half its derivative along itself.
std::pair<Tensor, Tensor> with_slope(const Field& diffusion, const Tensor& t, const Tensor& y) {
  const auto at = [&](const Tensor& x) { return diffusion(t, x); };
  const Tensor g = at(y);
  return {g, 0.5 * std::get<1>(jvp(at, y, g))};
}

}  // namespace

Step noise_step(const Noise& noise, const Field& drift, const Span& span, const Tensor& change) {
  const auto& [t, y, f, end, h] = span;
  Step step;
  switch (noise.solver) {
    case SdeSolver::EulerMaruyama: step.y = y + h * f + noise.diffusion(t, y) * change; break;
    case SdeSolver::Heun: {
      const Tensor g = noise.diffusion(t, y), first = y + h * f + g * change;
      step.y = y + 0.5 * (h * (f + drift(end, first)) + (g + noise.diffusion(end, first)) * change);
      break;
    }
    case SdeSolver::Milstein: {
      const auto [g, slope] = with_slope(noise.diffusion, t, y);
      step.y = y + h * f + g * change + slope * (change * change - abs(h));
      break;
    }
  }
  step.f = drift(end, step.y);
  step.slopes = {(step.y - y) / h};
  return step;
}

const Tableau& tableau_of(SdeSolver solver) {
  static const Tableau lines[] = {{.name = "EulerMaruyama", .b = {1}, .dense = {{1}}},
                                  {.name = "Heun", .b = {1}, .dense = {{1}}},
                                  {.name = "Milstein", .b = {1}, .dense = {{1}}}};
  return lines[static_cast<std::size_t>(solver)];
}

}  // namespace ricci::ode
