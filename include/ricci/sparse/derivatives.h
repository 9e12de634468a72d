// Jacobians and Hessians of known pattern: one derivative for each color, and the nonzeros read out of them. A function
// that is compiled or traced computes the nonzeros alone, where it can.
#pragma once

#include "ricci/sparse/coloring.h"
#include "ricci/sparse/sparse.h"

namespace ricci {

namespace sparse {

Sparse jacobian_of(const VectorFunction& f, const Tensor& x, const Coloring& coloring, where_t where);
Sparse hessian_of(const VectorFunction& loss, const Tensor& x, const Coloring& coloring, where_t where);

}  // namespace sparse

/// What `jacobian` with a coloring returns.
template <class F, int... I>
struct SparseJacobian {
  F f;
  Coloring coloring;
  where_t where;

  template <class... A>
  Sparse operator()(const A&... args) const {
    return sparse::of_elements<I...>(
        [&](const auto& of_vector, const Tensor& x) {
          const auto y = [&](const Tensor& v) { return ravel(of_vector(v)).vector; };
          return sparse::jacobian_of(y, x, coloring, where);
        },
        f, std::decay_t<const A>(args)...);
  }
};
/// What `hessian` with a coloring returns.
template <class F, int... I>
struct SparseHessian {
  F f;
  Coloring coloring;
  where_t where;

  template <class... A>
  Sparse operator()(const A&... args) const {
    return sparse::of_elements<I...>(
        [&](const auto& loss, const Tensor& x) { return sparse::hessian_of(loss, x, coloring, where); }, f,
        std::decay_t<const A>(args)...);
  }
};

/// The Jacobian of f by its first argument, as jacfwd's with both trees raveled, of the nonzeros that the coloring's
/// pattern has: others are taken for 0. `jacobian<1>(f, coloring)` by the second argument, `jacobian<0, 2>` by the
/// elements of both, as the pattern of `argnums<0, 2>`. One forward or reverse derivative for each color, all of them
/// mapped. In a function that is compiled or traced, each value carries its own nonzeros instead, if f is made of
/// elementwise operations, views, moves and additions at places that f itself makes of numbers, sums and products by
/// what is no derivative, and if these nonzeros are fewer numbers than the colors' derivatives. A function like any
/// other: it maps, differentiates, compiles. Errors as of jvp and vjp; TypeError for complex arguments or results,
/// ValueError where sizes are not those of the pattern.
///   auto coloring = rc::color(rc::jacobian_sparsity(f, x));
///   rc::Sparse j = rc::jacobian(f, coloring)(x);
template <int... I, class F>
SparseJacobian<F, I...> jacobian(F f, const Coloring& coloring, where_t where = where_t::current()) {
  return {std::move(f), coloring, where};
}
/// The Hessian of a loss in the same way, a product with the Hessian for each color. ValueError for a coloring of rows.
///   auto coloring = rc::color(rc::hessian_sparsity(loss, x), {.mode = rc::ColorMode::star});
///   rc::Sparse h = rc::hessian(loss, coloring)(x);
template <int... I, class F>
SparseHessian<F, I...> hessian(F f, const Coloring& coloring, where_t where = where_t::current()) {
  return {std::move(f), coloring, where};
}

}  // namespace ricci
