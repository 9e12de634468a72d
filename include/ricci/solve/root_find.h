// Roots: x with f(x) = 0, for an f that gives as many numbers as x has.
#pragma once

#include "ricci/solve/result.h"

namespace ricci::solvers {

/// A way to find roots; made by the functions below.
struct RootFinder {
  enum class Method : std::uint8_t { newton, chord, broyden, bisection };
  Method method = Method::newton;
  bool line_search = false;
  Tensor lower = {}, upper = {};
};

struct NewtonOptions {
  /// A step that does not make |f| smaller (Armijo's condition on |f|²) is shortened until it does: for starts far
  /// away. Status `stalled` where no step does, as in a minimum of |f|.
  bool line_search = false;
};
/// Newton's method: a step solves J dx = -f(x), J by forward mode, dense. Converges quadratically.
RootFinder newton(const NewtonOptions& options = {});
/// Newton's method with the J of the start throughout: f alone is computed at each step. Converges linearly.
RootFinder chord();
/// Broyden's first method (1965): starts from the inverse of J at `initial`; after each step a rank-one update makes it
/// map the change of f to the step. Converges faster than linearly; f alone is computed at each step.
RootFinder broyden();
/// Halves an interval at whose ends f has different signs, of one unknown. `initial` gives only the tree and the dtype
/// of x; the search starts from the bounds. It ends where half the interval is at most atol + rtol |x|, whatever |f|
/// is. Status `no_bracket` where the signs agree.
///   solvers::root_find(f, 0.0, {.solver = solvers::bisection(0, 2)})
RootFinder bisection(const Tensor& lower, const Tensor& upper);

namespace runs {
Result<Tensor> root_find(const Problem& problem, const Options<RootFinder>& options);
}

/// An x with f(x) = 0, from `initial` on. f: from a tree like `initial` to a tree of as many elements. The residual is
/// the greatest |f(x)|; at the end it is at most atol + rtol times that of the start, or the step is below the rounding
/// of x. Derivatives solve one system with
/// the transpose of J; where J is singular they are infinite or NaN. ValueError if f gives another number of elements,
/// or if bisection is given more than one unknown; TypeError for complex unknowns. A tree without leaves has
/// converged.
///   auto [x, residual, steps, status] = solvers::root_find([](Tensor x) { return cos(x) - x; }, 1.0);
template <class F, class X>
auto root_find(const F& f, const X& initial, const Options<RootFinder>& options = {}) {
  return runs::over_vectors("root_find", f, initial, runs::root_find, options);
}

}  // namespace ricci::solvers
