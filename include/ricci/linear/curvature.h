// What is known of a function's second derivatives without its Hessian: products, traces, and a few directions of any
// operator. Start with `hvp`.
#pragma once

#include <cstdint>

#include "ricci/keys.h"
#include "ricci/linear/operator.h"
#include "ricci/ops/elementwise.h"
#include "ricci/transforms/grad.h"
#include "ricci/transforms/jet.h"
#include "ricci/transforms/jvp.h"
#include "ricci/transforms/vjp.h"
#include "ricci/transforms/vmap.h"

namespace ricci {

/// The Hessian of f at x times v, trees like x: forward over reverse mode, a few times the work of f.
///   Mlp product = rc::hvp(loss, mlp, direction);
template <class F, class X>
tree::plain_t<X> hvp(const F& f, const X& x, const tree::plain_t<X>& v) {
  return jvp(grad(f), x, v).second;
}

/// The generalised Gauss-Newton matrix at x times v: Jᵀ H J v, with the Jacobian J of `model` at x and the Hessian H of
/// `loss` at model(x). This is the Hessian of loss(model(x)) without the curvature of the model, and has no negative
/// eigenvalues where the loss is convex (Schraudolph, Neural Computation 14, 2002).
///   Mlp product = rc::ggn_vp([&](const Mlp& m) { return apply(m, x); }, [&](Tensor y) { return rc::mse_loss(y, t); },
///                            mlp, v);
template <class M, class L, class X>
tree::plain_t<X> ggn_vp(const M& model, const L& loss, const X& x, const tree::plain_t<X>& v) {
  const auto [output, pullback] = vjp(model, x);
  const auto along = jvp(model, x, v).second;
  return pullback(jvp(grad(loss), output, along).second);
}

/// The Fisher matrix at x times v: the mean of g gᵀ v over the gradients g of the elements of `log_likelihoods(x)`, a
/// Tensor of one element for each outcome. With outcomes drawn from the model this estimates the Fisher matrix; with
/// those of the data it is the empirical Fisher matrix, which may differ much (Kunstner, Balles and Hennig, 2019).
template <class F, class X>
tree::plain_t<X> fisher_vp(const F& log_likelihoods, const X& x, const tree::plain_t<X>& v) {
  const auto [each, pullback] = vjp(log_likelihoods, x);
  const Tensor along = jvp(log_likelihoods, x, v).second;
  return pullback(along / static_cast<double>(each.numel()));
}

namespace operators {

Tensor basis_like(const Tensor& vector);       ///< unit vectors as rows [n, n]
void add_up_examples(const tree::Walk& walk);  ///< each leaf's sum along axis 0

}  // namespace operators

/// The sum of the second derivatives of f by each element of x, that is the trace of the Hessian of each element of
/// f(x): a tree like f(x). By Taylor mode along each axis, side by side, without mixed derivatives; f runs once.
///   Tensor residual = rc::laplacian(u, x) - source(x);
template <class F, class X>
auto laplacian(const F& f, const X& x) {
  const auto [vector, unravel] = ravel(x);
  const auto of_vector = [&, &unravel = unravel](const Tensor& v) { return sparse::called(f, unravel(v)); };
  const auto along = [&, &vector = vector](const Tensor& direction) {
    return jet(of_vector, vector, std::vector{direction, Tensor(direction * 0)}).second[1];
  };
  auto second = vmap(along)(operators::basis_like(vector));
  tree::Walk walk;
  tree::walk(second, walk);
  operators::add_up_examples(walk);
  return second;
}

struct HutchinsonOptions {
  std::int64_t samples = 32;  ///< products with the operator
};
/// A mean of samples.
struct Estimate {
  Tensor value;
  Tensor standard_error;  ///< of the mean, from the spread of the samples; NaN of one sample
};

/// An unbiased estimate of the trace of a square operator: the mean of v·a(v) over vectors v of signs, all products
/// side by side (Hutchinson, 1990). The samples' variance is twice the sum of squares beside the diagonal of a
/// symmetric operator, so a diagonal one is exact. ValueError if the operator's `argument` is not known, or samples <
/// 1.
///   rc::Estimate trace = rc::hutchinson(rc::operators::jacobian(rc::grad(loss), x).of_vectors, key, {.samples = 100});
Estimate hutchinson(const LinearOperator& a, const Key& key, const HutchinsonOptions& options = {});
/// The same of the diagonal: the mean of v a(v), elementwise, in the argument's shape (Bekas, Kokiopoulou and Saad,
/// 2007).
Estimate hutchinson_diagonal(const LinearOperator& a, const Key& key, const HutchinsonOptions& options = {});

/// A symmetric or Hermitian operator in an orthonormal basis of k vectors, where it is tridiagonal and real.
struct LanczosBasis {
  Tensor diagonal;  ///< [k]
  Tensor beside;    ///< [k - 1]
  Tensor vectors;   ///< [k, the argument's shape]
};
/// k products with a symmetric or Hermitian operator, from a start that is not 0. The eigenvalues of the tridiagonal
/// matrix come near the operator's, the outer ones first. Each vector is made orthogonal to all before it, twice
/// (Lanczos, 1950; Parlett, 1998). Where the products of the start span less than k dimensions, what is beyond is 0.
/// The start takes the dtype of the operator's argument, where that is higher. ValueError unless k is positive.
///   auto [diagonal, beside, vectors] = rc::lanczos(a, rc::normal(key, {n}), 20);
LanczosBasis lanczos(const LinearOperator& a, const Tensor& start, std::int64_t k);

}  // namespace ricci
