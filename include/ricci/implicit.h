// Derivatives of what an equation defines: custom_root, custom_linear_solve. How the equation was solved does not
// matter to them: they follow from the implicit function theorem. What the equation's function captures counts as its
// parameters and is differentiated; for that the function is recorded once, so it may not look at values.
#pragma once

#include <type_traits>

#include "ricci/transforms/call.h"

namespace ricci {

namespace function {

/// What an unknown is kept as: a number as a Tensor.
template <class X>
using tree_of_t = std::conditional_t<std::is_arithmetic_v<X>, Tensor, tree::plain_t<X>>;

/// The function that a solver is given: that of the equation, or a linear map.
template <class X>
struct Equation {
  tree::AnyFunction f;

  X operator()(const X& x) const { return f(call::any_list(x)).template take<X>(); }
};

/// A solver of equations of X.
template <class X, class Solve>
struct Solver {
  Solve solve;

  X operator()(const tree::AnyFunction& g, const X& y) const { return X(solve(Equation<X>{g}, y)); }
};

/// A function of X that gives a tree like its argument.
template <class X, class F>
tree::AnyFunction equation(const F& f) {
  static_assert(std::is_same_v<call::result_t<F, X>, X>,
                "ricci: custom_root, custom_linear_solve: the function must return a tree like its argument");
  return call::kept_function<X, X>(f);
}
template <class X, class Solve>
tree::AnyFunction solver(const Solver<X, Solve>& solve) {
  return call::kept_function<X, tree::AnyFunction, X>(solve);
}

/// A number in the floating or complex dtype that `f` gives for it, where that holds it. f is recorded for that, not
/// run. Any other tree as it is.
tree::AnyTree unknown_of(const char* name, const tree::AnyFunction& f, tree::AnyTree x);
tree::AnyTree custom_root(const tree::AnyFunction& f, tree::AnyTree initial, const tree::AnyFunction& solve,
                          const tree::AnyFunction& tangent_solve);
tree::AnyTree custom_linear_solve(const tree::AnyFunction& matvec, tree::AnyTree b, const tree::AnyFunction& solve,
                                  const tree::AnyFunction& transpose_solve);

}  // namespace function

/// A root of `f`: what `solve(f, initial)` returns, an x like `initial` with f(x) = 0. Its derivative with respect to
/// everything f captures is by the implicit function theorem; that with respect to `initial` is zero. A number as
/// `initial` takes the dtype that f gives for it.
/// `tangent_solve(g, y)` returns the x with g(x) = y for a linear g, and must be differentiable in y as often as
/// derivatives are asked for. f: from x to a tree like x. Throws ValueError if f or a solver gives another structure,
/// shape or dtype.
///   Tensor r = rc::custom_root([a](Tensor x) { return x * x - a; }, 1.0, newton,
///                              [](auto g, Tensor y) { return y / g(1.0); });
template <class F, class X, class Solve, class TangentSolve>
auto custom_root(const F& f, const X& initial, const Solve& solve, const TangentSolve& tangent_solve) {
  using Tree = function::tree_of_t<X>;
  const function::Solver<Tree, Solve> by{solve};
  const function::Solver<Tree, TangentSolve> tangent_by{tangent_solve};
  return function::custom_root(function::equation<Tree>(f), tree::any(Tree(initial)), function::solver(by),
                               function::solver(tangent_by))
      .template take<Tree>();
}

/// The x with matvec(x) = b: what `solve(matvec, b)` returns. Its derivatives with respect to b and everything matvec
/// captures solve a system with the same matrix, by `solve`, or with its transpose, by `transpose_solve(vecmat, b)`.
/// matvec: linear, from a tree like b to a tree like b. A number as b takes the dtype that matvec gives for it. Throws
/// ValueError if it or a solver gives another structure, shape or dtype.
///   Tensor x = rc::custom_linear_solve([a](Tensor v) { return matmul(a, v); }, b, solve, solve_transposed);
template <class F, class X, class Solve, class TransposeSolve>
auto custom_linear_solve(const F& matvec, const X& b, const Solve& solve, const TransposeSolve& transpose_solve) {
  using Tree = function::tree_of_t<X>;
  const function::Solver<Tree, Solve> by{solve};
  const function::Solver<Tree, TransposeSolve> transpose_by{transpose_solve};
  return function::custom_linear_solve(function::equation<Tree>(matvec), tree::any(Tree(b)), function::solver(by),
                                       function::solver(transpose_by))
      .template take<Tree>();
}

}  // namespace ricci
