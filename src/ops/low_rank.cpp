// Singular values of matrices of low rank from random projections: Halko, Martinsson and Tropp, "Finding structure with
// randomness", 2009, algorithms 4.4 and 5.1, as PyTorch has them.
#include <algorithm>

#include "ops/axes.h"
#include "ops/factorizations.h"
#include "ops/orthonormal.h"
#include "primitive/called.h"
#include "ricci/ops/decompositions.h"
#include "tensor/symbols.h"

namespace ricci {
namespace {

/// Orthonormal columns [..., m, q] that nearly span those of a.
Tensor range_of(const Tensor& a, Size q, std::int64_t iterations) {
  const Type type = type_of(a);
  Shape shape(type.shape.begin(), type.shape.end() - 2);
  shape.push_back(type.shape.back());
  shape.push_back(q);
  Tensor noise = randn(shape, real_dtype(type.dtype));
  if (is_complex(type.dtype)) noise = complex(noise, randn(shape, real_dtype(type.dtype)));
  Tensor basis = qr(matmul(a, noise)).first;
  for (std::int64_t i = 0; i < iterations; ++i) basis = qr(matmul(a, qr(matmul(adjoint(a), basis)).first)).first;
  return basis;
}

}  // namespace

namespace ops {

std::tuple<Tensor, Tensor, Tensor> svd_lowrank(const Tensor& a) { return svd_lowrank(a, 6); }
std::tuple<Tensor, Tensor, Tensor> svd_lowrank(const Tensor& a, Size q) { return svd_lowrank(a, q, 2); }
std::tuple<Tensor, Tensor, Tensor> svd_lowrank(const Tensor& a, Size q, std::int64_t niter) {
  const Called as("svd_lowrank", a);
  require_matrices("svd_lowrank", a);
  const bool is_wide = rows_of(a) < columns_of(a);
  if (q < 0 || (is_wide ? rows_of(a) : columns_of(a)) < q)
    raise<ValueError>("svd_lowrank: q is " + hint_text(q) + "; it must be from 0 to the smaller size of " +
                      type_text(a));
  if (niter < 0)
    raise<ValueError>("svd_lowrank: the number of iterations is " + std::to_string(niter) + "; at least 0");
  if (is_wide) {
    auto [v, s, u] = svd_lowrank(adjoint(a), q, niter);
    return {u, s, v};
  }
  const Tensor basis = range_of(a, q, niter);
  const auto [u, s, vh] = svd(matmul(adjoint(basis), a));
  return {matmul(basis, u), s, adjoint(vh)};
}

std::tuple<Tensor, Tensor, Tensor> pca_lowrank(const Tensor& a) {
  const Called as("pca_lowrank", a);
  require_matrices("pca_lowrank", a);
  return pca_lowrank(a, std::min(Size(6), rows_of(a) < columns_of(a) ? rows_of(a) : columns_of(a)));
}
std::tuple<Tensor, Tensor, Tensor> pca_lowrank(const Tensor& a, Size q) { return pca_lowrank(a, q, true); }
std::tuple<Tensor, Tensor, Tensor> pca_lowrank(const Tensor& a, Size q, bool center) {
  return pca_lowrank(a, q, center, 2);
}
std::tuple<Tensor, Tensor, Tensor> pca_lowrank(const Tensor& a, Size q, bool center, std::int64_t niter) {
  const Called as("pca_lowrank", a);
  require_matrices("pca_lowrank", a);
  return svd_lowrank(center ? a - mean(a, {-2}, true) : a, q, niter);
}

}  // namespace ops
}  // namespace ricci
