// Distributions of vectors.
#include "ricci/distributions/vectors.h"

#include <cmath>
#include <numbers>

#include "distributions/normal_factor.h"
#include "distributions/parameters.h"
#include "ops/axes.h"
#include "ops/constants.h"

namespace ricci::distributions {
namespace {

/// L with L Lᵀ = P⁻¹, from the factor of P with its axes backwards: no inverse of P is rounded.
Tensor factor_of_precision(const Tensor& precision) {
  const Tensor backwards = flip(cholesky(flip(precision, {-2, -1})), {-2, -1});
  const Type type = type_of(backwards);
  return solve_triangular(transpose(backwards, -2, -1), eye(type.shape.back(), type.dtype), false);
}

Tensor factor_of(const char* op, const MultivariateNormal& d) {
  const int given = d.covariance_matrix.has_value() + d.precision_matrix.has_value() + d.scale_tril.has_value();
  if (given != 1)
    raise<ValueError>(
        std::string(op) + ": " + std::to_string(given) +
        " of covariance_matrix, precision_matrix and scale_tril were given; give one of them, by its name");
  const Tensor& matrix = d.covariance_matrix  ? *d.covariance_matrix
                         : d.precision_matrix ? *d.precision_matrix
                                              : *d.scale_tril;
  const Called as(op, matrix);
  if (const Type type = type_of(matrix); type.rank() < 2 || type.shape.back() != type.shape[at(type.rank() - 2)])
    raise<ValueError>(std::string(op) + ": the matrix is " + type_text(matrix) + "; its last two axes must be equal");
  if (d.covariance_matrix) return cholesky(matrix);
  return d.precision_matrix ? factor_of_precision(matrix) : tril(matrix);
}

/// The events' shape follows from these two.
#define LOC_AND_DIAGONAL(factor)                                                                     \
  {                                                                                                  \
    {loc, "loc", Range::any}, { diagonal_of(factor), "the diagonal of scale_tril", Range::positive } \
  }

}  // namespace

Tensor squared_distance(const Tensor& factor, const Tensor& x) {
  const Type l = type_of(factor), type = type_of(x);
  if (l.rank() > 2 || type.rank() < 2) return sum(square(solve_triangular(factor, unsqueeze(x, -1), false)), {-2, -1});
  const Tensor columns = transpose(reshape(x, {-1, type.shape.back()}), 0, 1);
  const Shape rows(type.shape.begin(), type.shape.end() - 1);
  return reshape(sum(square(solve_triangular(factor, columns, false)), 0), rows);
}

// ── MultivariateNormal ──

Tensor MultivariateNormal::factor() const { return factor_of("MultivariateNormal.factor", *this); }
Tensor MultivariateNormal::sample(const Key& key) const { return sample(key, {}); }
Tensor MultivariateNormal::sample(const Key& key, const Shape& sample_shape) const {
  constexpr const char* op = "MultivariateNormal.sample";
  const Tensor l = factor_of(op, *this);
  const Request r = request_for(op, key, sample_shape, LOC_AND_DIAGONAL(l));
  const Called as(op);
  const Tensor z = r.normal(), factor = to(l, r.dtype);
  const bool is_shared = type_of(l).rank() == 2;
  return loc + (is_shared ? matmul(z, transpose(factor, 0, 1)) : squeeze(matmul(factor, unsqueeze(z, -1)), -1));
}
Tensor MultivariateNormal::log_prob(const Tensor& value) const {
  constexpr const char* op = "MultivariateNormal.log_prob";
  const Tensor l = factor_of(op, *this);
  const Method m(op, LOC_AND_DIAGONAL(l), value);
  const double constant = 0.5 * std::log(2 * std::numbers::pi);
  return squared_distance(l, m.value(value) - loc) * -0.5 - log_determinant(l) - constant * m.shape.back();
}
Tensor MultivariateNormal::entropy() const {
  constexpr const char* op = "MultivariateNormal.entropy";
  const Tensor l = factor_of(op, *this);
  const Method m(op, LOC_AND_DIAGONAL(l));
  const Tensor one = log_determinant(l) + (0.5 + 0.5 * std::log(2 * std::numbers::pi)) * m.shape.back();
  return expand(one, Shape(m.shape.begin(), m.shape.end() - 1));
}
Tensor MultivariateNormal::mean() const {
  constexpr const char* op = "MultivariateNormal.mean";
  const Tensor l = factor_of(op, *this);
  return Method(op, LOC_AND_DIAGONAL(l)).of_batch(loc);
}
Tensor MultivariateNormal::variance() const {
  constexpr const char* op = "MultivariateNormal.variance";
  const Tensor l = factor_of(op, *this);
  return Method(op, LOC_AND_DIAGONAL(l)).of_batch(sum(square(l), -1));
}

// ── Dirichlet ──

#define CONCENTRATION                                   \
  {                                                     \
    { concentration, "concentration", Range::positive } \
  }

Tensor Dirichlet::sample(const Key& key) const { return sample(key, {}); }
Tensor Dirichlet::sample(const Key& key, const Shape& sample_shape) const {
  return sampled<DirichletSampler>("Dirichlet.sample", key, sample_shape, CONCENTRATION, concentration);
}
Tensor Dirichlet::log_prob(const Tensor& value) const {
  const Method m("Dirichlet.log_prob", CONCENTRATION, value);
  const Tensor a = to(concentration, m.dtype), v = m.value(value), is_outside = v < 0;
  const Tensor powers = sum(xlogy(a - 1, where(is_outside, 1, v)), -1);
  return where(any(is_outside, -1), -infinity, powers + lgamma(sum(a, -1)) - sum(lgamma(a), -1));
}
Tensor Dirichlet::entropy() const {
  const Method m("Dirichlet.entropy", CONCENTRATION);
  const Tensor a = to(concentration, m.dtype), total = sum(a, -1);
  return sum(lgamma(a), -1) - lgamma(total) + sum(a - 1, -1) * digamma(total) - sum((a - 1) * digamma(a), -1);
}
Tensor Dirichlet::mean() const {
  const Method m("Dirichlet.mean", CONCENTRATION);
  const Tensor a = to(concentration, m.dtype);
  return a / sum(a, -1, true);
}
Tensor Dirichlet::variance() const {
  const Method m("Dirichlet.variance", CONCENTRATION);
  const Tensor a = to(concentration, m.dtype), total = sum(a, -1, true), p = a / total;
  return p * (1 - p) / (total + 1);
}

}  // namespace ricci::distributions
