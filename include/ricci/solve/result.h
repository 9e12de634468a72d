// What every solver gives, and what every solver can be told.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "ricci/implicit.h"
#include "ricci/ravel.h"
#include "ricci/tree/unknowns.h"

namespace ricci::solvers {

// What a status says: `found.status == solvers::converged`.
inline constexpr std::int64_t converged = 0;          ///< the value is a solution, to the tolerances
inline constexpr std::int64_t max_steps_reached = 1;  ///< more steps were needed
inline constexpr std::int64_t not_finite = 2;         ///< the function or its derivative gave NaN or an infinity
inline constexpr std::int64_t singular = 3;           ///< a linear system had no solution
inline constexpr std::int64_t stalled = 4;            ///< no step made it better
inline constexpr std::int64_t no_bracket = 5;         ///< bisection: the function has one sign at both bounds

/// A status as a text: "converged", "max_steps_reached", …
///   solvers::text_of(found.status.item<std::int64_t>())
std::string text_of(std::int64_t status);

/// A solution: a tree.
template <class T>
struct Result {
  T value;
  Tensor residual;  ///< 0-dim: what should be 0, its greatest absolute value; each solver says of what
  Tensor steps;     ///< int64, 0-dim
  Tensor status;    ///< int64, 0-dim: `converged`, or why it ended
};

/// What a function that solves can be told. Solver: its ways to do so.
template <class Solver>
struct Options {
  Solver solver = {};
  /// The solver ends where a step changes each element by at most atol + rtol |element|, and the residual is small too:
  /// each solver says how small. Undefined: the square root of the epsilon of the unknowns' coarsest dtype, 1.5e-8 of
  /// float64, 3.5e-4 of float32, as steps converge faster than linearly. Those that converge linearly stop about
  /// tolerance / (1 - rate) away.
  Tensor rtol = {}, atol = {};
  std::int64_t max_steps = 256;   ///< ValueError if it is below 1
  bool throw_on_failure = false;  ///< ValueError unless the status is `converged`; under vmap that of any example
};

/// A function of the unknown's elements.
using VectorFunction = std::function<Tensor(const Tensor&)>;

/// What the solvers' templates make of trees, and what they call.
namespace runs {

/// What the solver starts from: of a number, a Tensor in the dtype that `f` gives for it; 1 is 1.0.
template <class F, class X>
function::tree_of_t<X> unknown_of(const char* name, const F& f, const X& initial) {
  if constexpr (std::is_integral_v<X>) return unknown_of(name, f, static_cast<double>(initial));
  using Tree = function::tree_of_t<X>;
  Tree start(initial);
  if constexpr (std::is_same_v<Tree, Tensor>)
    start = function::unknown_of(name, call::any_function<call::result_t<F, Tree>, Tree>(f), tree::any(start))
                .template take<Tensor>();
  tree::require_unknowns(name, call::walk(start));
  return start;
}

/// `f` from a vector to a vector.
template <class F, class X>
VectorFunction of_vectors(const F& f, const Unravel<X>& unravel) {
  return [kept = std::decay_t<F>(f), unravel](const Tensor& vector) {  // a plain function as a pointer
    auto at = unravel(vector);
    return ravel(call::invoke(kept, at)).vector;
  };
}

template <class X>
Result<X> as_tree(Result<Tensor> found, const Unravel<X>& unravel) {
  return {unravel(found.value), found.residual, found.steps, found.status};
}

/// Of the dtypes of a tree's unknowns the coarsest: float32 of (float64, float32). float64 of none.
DType coarsest_dtype(const tree::Walk& start);

/// What is solved, without the type of its tree.
struct Problem {
  VectorFunction f;
  Tensor start;    // [n]
  DType coarsest;  // of the unknowns' dtypes: f does not see changes below its rounding
};

/// What `find` finds, as the tree.
template <class F, class X, class Options>
auto over_vectors(const char* name, const F& f, const X& initial,
                  Result<Tensor> (&find)(const Problem&, const Options&), const Options& options) {
  const auto [start, unravel] = ravel(unknown_of(name, f, initial));
  const Problem problem{of_vectors(f, unravel), start, coarsest_dtype(call::walk(unravel.like))};
  return as_tree(find(problem, options), unravel);
}

}  // namespace runs

}  // namespace ricci::solvers
