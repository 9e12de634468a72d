// backsolve: ode_solve with derivatives by the adjoint equation, in memory that does not grow with the steps.
#pragma once

#include "ricci/ode/solve.h"

namespace ricci::ode {

namespace runs {
Solution<tree::AnyTree> backsolve(const tree::AnyFunction& f, const tree::AnyTree& y0, const Number& t0,
                                  const Number& t1, const tree::AnyTree& params, const Options& options);
}  // namespace runs

/// The solution of y' = f(t, y, params), as ode_solve gives it. Reverse mode solves y and the adjoint equation
/// a' = -a ∂f/∂y back in time, with the same options, and gives derivatives by y0, params, t0 and t1 (Pontryagin 1962;
/// Chen et al., Neural ordinary differential equations, 2018). These derivatives have the error of the
/// backward solution; they are not the derivatives of the steps. Not for stiff equations: backwards they are unstable.
/// Derivatives are NaN if the way there or the way back fails. Nothing but the states at t1 and `save_at` is kept;
/// `save_at` itself has no derivative. What f captures has none either: it is an error to ask for it.
/// Forward mode: NotImplementedError. TypeError for complex states and params. Otherwise as ode_solve.
///   auto loss = [&](Mlp mlp) { return ode::backsolve(net, y0, 0, 1, mlp, {.rtol = 1e-6, .atol = 1e-6}).y.sum(); };
template <class F, class Y, class P>
Solution<state_t<Y>> backsolve(const F& f, const Y& y0, const Number& t0, const Number& t1, const P& params,
                               const Options& options = {}) {
  using State = state_t<Y>;
  using Params = state_t<P>;
  static_assert(call::takes<F, Tensor, State, Params>,
                "ricci: the function of backsolve must take the time, the state and the parameters");
  return of_type<State>(runs::backsolve(call::kept_function<State, Tensor, State, Params>(f), start_of(y0), t0, t1,
                                        tree::any(Params(params)), options));
}

}  // namespace ricci::ode
