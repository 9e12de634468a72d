// Minima of a function that gives one number.
#pragma once

#include "ricci/solve/result.h"

namespace ricci::solvers {

/// A way to find minima; made by the functions below.
struct Minimiser {
  enum class Method : std::uint8_t { bfgs, lbfgs, nonlinear_cg, trust_region, nelder_mead };
  Method method = Method::bfgs;
  std::int64_t history = 0;
};
/// Quasi-Newton steps by an approximate inverse of the Hessian, [n, n], from two gradients a step (Broyden, Fletcher,
/// Goldfarb and Shanno, 1970). Line searches end where the strong Wolfe conditions hold, with 1e-4 and 0.9.
Minimiser bfgs();
/// The same from the last `history` steps alone: for many unknowns (Nocedal, 1980).
Minimiser lbfgs(std::int64_t history = 10);
/// Conjugate gradients after Polak and Ribière, begun anew where their β is negative; strong Wolfe conditions with 1e-4
/// and 0.1.
Minimiser nonlinear_cg();
/// Newton's method in a ball, whose radius grows after good steps and shrinks after bad ones; steps by conjugate
/// gradients with Hessian-vector products (Steihaug, 1983). Saddle points are left, unless the start is one: there the
/// gradient is 0 and it has converged.
Minimiser trust_region();
/// A simplex of n + 1 points that needs no derivatives (Nelder and Mead, 1965; coefficients of Gao and Han, 2012). It
/// ends where all points lie as near as the tolerances say; the result's residual is the greatest difference of values.
Minimiser nelder_mead();

namespace runs {
Result<Tensor> minimise(const Problem& problem, const Options<Minimiser>& options);
}

/// An x with the least f(x), near `initial`. f: from a tree like `initial` to a Tensor of one element. It ends where a
/// step is as small as the tolerances say and f changes by at most atol + rtol |f|. The residual is the greatest
/// |gradient|. Derivatives solve one system with the Hessian; infinite or NaN where it is singular. Status `stalled`
/// where a line search finds no lower point, as where the gradient is wrong. TypeError for complex unknowns, ValueError
/// if f gives another number of elements.
///   auto [x, residual, steps, status] = solvers::minimise([](Tensor x) { return (x * x - x).sum(); }, rc::ones({3}));
template <class F, class X>
auto minimise(const F& f, const X& initial, const Options<Minimiser>& options = {}) {
  return runs::over_vectors("minimise", f, initial, runs::minimise, options);
}

}  // namespace ricci::solvers
