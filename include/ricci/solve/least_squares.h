// Least squares: x with the least Σ r(x)², or another loss of the residuals r, where bounds may be given.
#pragma once

#include "ricci/solve/result.h"

namespace ricci::solvers {

/// A way to find least squares; made by the functions below. In each step J dx = -r is solved as nearly as allowed, by
/// QR; J by forward mode where there are more residuals than unknowns, else by reverse mode, dense.
struct LeastSquaresSolver {
  enum class Method : std::uint8_t { gauss_newton, levenberg_marquardt, dogleg };
  Method method = Method::levenberg_marquardt;
  double first = 1e-3;  ///< λ, or the radius
};
/// Whole steps, without bounds: fast where they lead anywhere. Status `singular` where J's columns are dependent.
LeastSquaresSolver gauss_newton();
/// Steps that minimise |r + J dx|² + λ |D dx|², D the norms of J's columns; λ falls after good steps and grows after
/// bad ones, which are not taken (Marquardt, 1963; Nielsen, 1999). `damping`: λ at first.
LeastSquaresSolver levenberg_marquardt(double damping = 1e-3);
/// The best point of Powell's path, from the steepest descent to the whole step, in a ball |D dx| <= radius, with D as
/// above; the radius grows after good steps and shrinks after bad ones, which are not taken (Powell, 1970). `radius`:
/// at first, in units of |D x|, or of 1 if that is greater.
LeastSquaresSolver dogleg(double radius = 1);

/// What a residual r costs: scale² ρ((r / scale)²) / 2. Residuals far above the scale count less than their squares.
/// One of your own has ρ(0) = 0 and the slope ρ'(0) = 1.
struct Loss {
  std::function<Tensor(const Tensor& z)> rho = {};  ///< elementwise; empty: ρ(z) = z
  Tensor scale = 1;
};
Loss huber(const Tensor& scale = 1);    ///< z up to 1, then 2 √z - 1
Loss soft_l1(const Tensor& scale = 1);  ///< 2 (√(1 + z) - 1)
Loss cauchy(const Tensor& scale = 1);   ///< ln(1 + z)
Loss arctan(const Tensor& scale = 1);   ///< arctan(z)

struct LeastSquaresOptions {
  LeastSquaresSolver solver = {};
  Loss loss = {};
  /// Bounds of the unknowns: one number for all, or one for each element in the order of `rc::ravel`. Undefined: none.
  /// Steps are cut at them. A start outside is moved to the nearest point inside. Status `stalled` where a lower bound
  /// is above the upper one.
  Tensor lower = {}, upper = {};
  Tensor rtol = {}, atol = {};  ///< as in Options
  std::int64_t max_steps = 256;
  bool throw_on_failure = false;
};

namespace runs {
Result<Tensor> least_squares(const Problem& problem, const LeastSquaresOptions& options);
}

/// An x that minimises the loss of f(x), near `initial`. f: from a tree like `initial` to any tree, whose elements are
/// the residuals. It ends where a step is as small as the tolerances say and the cost changes by at most atol + rtol
/// times itself. The result's residual is the greatest slope of the cost, of an unknown at a bound only what points
/// inside. Steps count those not taken. Derivatives solve one system with the second derivatives of the cost; an
/// unknown at a bound moves with the bound. TypeError for complex unknowns, ValueError if bounds do not fit.
///   auto fit = solvers::least_squares([&](const Line& l) { return l.slope * t + l.height - y; }, Line{0, 0},
///                                     {.loss = solvers::huber(0.1)});
template <class F, class X>
auto least_squares(const F& f, const X& initial, const LeastSquaresOptions& options = {}) {
  return runs::over_vectors("least_squares", f, initial, runs::least_squares, options);
}

}  // namespace ricci::solvers
