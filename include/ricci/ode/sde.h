// sde_solve: a stochastic differential equation along a Brownian path.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "ricci/keys.h"
#include "ricci/ode/solve.h"

namespace ricci::ode {

/// Strong order p: the error at t1 along one path is O(dt^p). Weak order p: the error of means over paths is O(dt^p).
enum class SdeSolver : std::uint8_t {
  EulerMaruyama,  ///< Itô; strong order 0.5, weak order 1
  Heun,           ///< Stratonovich; strong order 1, weak order 1
  Milstein,       ///< Itô; strong order 1, weak order 1: takes the derivative of the diffusion, by forward mode
};

struct SdeOptions {
  SdeSolver solver = SdeSolver::EulerMaruyama;
  Number dt = {};            ///< the size of steps, which must be given; the last one is what is left
  Tensor save_at = {};       ///< as of ode::Options; values between steps are on straight lines
  std::int64_t levels = 15;  ///< the path is drawn at 2^levels times: many more than there are steps
  std::int64_t max_steps = 1'000'000'000;
  Checkpoints checkpoint = Checkpoints::every_step;
  bool throw_on_failure = false;
};

namespace runs {
Solution<tree::AnyTree> sde_solve(const tree::AnyFunction& drift, const tree::AnyFunction& diffusion,
                                  const tree::AnyTree& y0, const Number& t0, const Number& t1, const Key& key,
                                  const SdeOptions& options);
}  // namespace runs

/// The solution of dy = drift(t, y) dt + diffusion(t, y) dW, y(t0) = y0 up to t1, along one path W by the key. Both
/// functions give a tree like y: each element of y has its own element of W, and its diffusion should not depend on
/// other elements of y, else the strong order is 0.5. The path is that of `BrownianPath{key, t0, t1}`, of y's elements
/// one leaf after the other: it stays the same for any `dt` and solver, so errors of one path can be seen.
/// Under vmap with a key for each example these are as many paths. Derivatives by y0 and by all that both functions
/// capture go through the steps. Otherwise as ode_solve. ValueError without `dt`.
///   auto grows = ode::sde_solve([](Tensor, Tensor y) { return 0.05 * y; }, [](Tensor, Tensor y) { return 0.2 * y; },
///                               100.0, 0, 1, rc::Key(0), {.solver = ode::SdeSolver::Milstein, .dt = 0.01});
template <class F, class G, class Y>
Solution<state_t<Y>> sde_solve(const F& drift, const G& diffusion, const Y& y0, const Number& t0, const Number& t1,
                               const Key& key, const SdeOptions& options) {
  using State = state_t<Y>;
  return of_type<State>(runs::sde_solve(slope_function<State>(drift), slope_function<State>(diffusion), start_of(y0),
                                        t0, t1, key, options));
}

}  // namespace ricci::ode
