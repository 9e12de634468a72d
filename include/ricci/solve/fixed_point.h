// Fixed points: x with f(x) = x.
#pragma once

#include "ricci/solve/result.h"

namespace ricci::solvers {

/// A way to find fixed points; made by the functions below.
struct FixedPointSolver {
  enum class Method : std::uint8_t { iteration, anderson };
  Method method = Method::iteration;
  std::int64_t history = 0;
  double mixing = 1;
};
/// x ← f(x): converges where f brings points nearer to each other, linearly.
FixedPointSolver fixed_point_iteration();
struct AndersonOptions {
  std::int64_t history = 5;  ///< steps that are kept
  double mixing = 1;         ///< how far to go from the mean of the points to the mean of their images
};
/// Anderson's acceleration (1965): goes to the mixture of the last `history` points whose mixture of f(x) - x is
/// smallest. Much faster where f is nearly linear, and where plain steps diverge slowly.
FixedPointSolver anderson(const AndersonOptions& options = {});

namespace runs {
Result<Tensor> fixed_point(const Problem& problem, const Options<FixedPointSolver>& options);
}

/// An x with f(x) = x, from `initial` on. f: from a tree to a tree like it. It ends where f changes each element by at
/// most atol + rtol |element|; the residual is the greatest |f(x) - x|. Derivatives solve one system with the transpose
/// of 1 - J. ValueError if f gives another number of elements; TypeError for complex unknowns.
///   auto [x, residual, steps, status] = solvers::fixed_point([](Tensor x) { return cos(x); }, 1.0);
template <class F, class X>
auto fixed_point(const F& f, const X& initial, const Options<FixedPointSolver>& options = {}) {
  return runs::over_vectors("fixed_point", f, initial, runs::fixed_point, options);
}

}  // namespace ricci::solvers
