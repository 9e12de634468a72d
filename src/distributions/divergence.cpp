// Kullback and Leibler's divergence of pairs of distributions.
#include "ricci/distributions/divergence.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "distributions/chance.h"
#include "distributions/normal_factor.h"
#include "ops/constants.h"
#include "ricci/ops/bessel.h"

namespace ricci::distributions {
namespace {

using std::numbers::egamma;
using std::numbers::pi;
constexpr const char* op = "kl_divergence";

/// What the divergences of a pair with loc and scale begin with.
#define LOCS_AND_SCALES                                                                                  \
  {                                                                                                      \
    {p.loc, "p.loc", Range::any}, {p.scale, "p.scale", Range::positive}, {q.loc, "q.loc", Range::any}, { \
      q.scale, "q.scale", Range::positive                                                                \
    }                                                                                                    \
  }
#define CONCENTRATIONS_AND_RATES                                                                \
  {                                                                                             \
    {p.concentration, "p.concentration", Range::positive}, {p.rate, "p.rate", Range::positive}, \
        {q.concentration, "q.concentration", Range::positive}, {                                \
      q.rate, "q.rate", Range::positive                                                         \
    }                                                                                           \
  }

/// -E log q of a normal q over numbers of this mean and variance.
Tensor cross_entropy(const Tensor& mean, const Tensor& variance, const Normal& q) {
  const Method m(op, {{q.loc, "q.loc", Range::any}, {q.scale, "q.scale", Range::positive}});
  const Tensor s = to(q.scale, m.dtype);
  return 0.5 * (variance + square(mean - q.loc)) / square(s) + log(s) + 0.5 * std::log(2 * pi);
}
template <class P>
Tensor from_normal(const P& p, const Normal& q) {
  return cross_entropy(p.mean(), p.variance(), q) - p.entropy();
}

Tensor of_bernoulli(const Chance& p, const Chance& q) {
  const Tensor yes = p.probability(), no = p.rest();
  return (p.log_of(yes) - q.log_of(yes)) + (p.log_of_rest(no) - q.log_of_rest(no));
}

}  // namespace

Tensor kl_divergence(const Normal& p, const Normal& q) {
  const Method m(op, LOCS_AND_SCALES);
  const Tensor ratio = square(to(p.scale, m.dtype) / q.scale),
               distance = square((to(p.loc, m.dtype) - q.loc) / q.scale);
  return 0.5 * (ratio + distance - 1 - log(ratio));
}
Tensor kl_divergence(const LogNormal& p, const LogNormal& q) {
  return kl_divergence(Normal{p.loc, p.scale}, Normal{q.loc, q.scale});
}
Tensor kl_divergence(const HalfNormal& p, const HalfNormal& q) {
  return kl_divergence(Normal{0, p.scale}, Normal{0, q.scale});
}
Tensor kl_divergence(const Laplace& p, const Laplace& q) {
  const Method m(op, LOCS_AND_SCALES);
  const Tensor ratio = to(p.scale, m.dtype) / q.scale, distance = abs(to(p.loc, m.dtype) - q.loc);
  return -log(ratio) + distance / q.scale + ratio * exp(-distance / p.scale) - 1;
}
Tensor kl_divergence(const Cauchy& p, const Cauchy& q) {
  const Method m(op, LOCS_AND_SCALES);
  const Tensor a = to(p.scale, m.dtype), b = to(q.scale, m.dtype);
  return log(square(a + b) + square(to(p.loc, m.dtype) - q.loc)) - log(4 * a * b);
}
Tensor kl_divergence(const Gumbel& p, const Gumbel& q) {
  const Method m(op, LOCS_AND_SCALES);
  const Tensor ratio = to(p.scale, m.dtype) / q.scale, distance = (to(p.loc, m.dtype) - q.loc) / q.scale;
  return -log(ratio) + distance + ratio * egamma + exp(lgamma(1 + ratio) - distance) - (1 + egamma);
}
Tensor kl_divergence(const Exponential& p, const Exponential& q) {
  const Method m(op, {{p.rate, "p.rate", Range::positive}, {q.rate, "q.rate", Range::positive}});
  const Tensor ratio = to(q.rate, m.dtype) / p.rate;
  return ratio - 1 - log(ratio);
}
Tensor kl_divergence(const Gamma& p, const Gamma& q) {
  const Method m(op, CONCENTRATIONS_AND_RATES);
  const Tensor a = to(p.concentration, m.dtype), b = to(q.concentration, m.dtype), rate = to(p.rate, m.dtype);
  return b * log(rate / q.rate) + lgamma(b) - lgamma(a) + (a - b) * digamma(a) +
         (to(q.rate, m.dtype) - rate) * (a / rate);
}
Tensor kl_divergence(const Uniform& p, const Uniform& q) {
  const Method m(
      op, {{p.high - p.low, "p.high - p.low", Range::positive}, {q.high - q.low, "q.high - q.low", Range::positive}});
  const Tensor beyond = logical_or(p.low<q.low, p.high> q.high);
  return where(beyond, infinity, log((to(q.high, m.dtype) - q.low) / (to(p.high, m.dtype) - p.low)));
}
Tensor kl_divergence(const Beta& p, const Beta& q) {
  const Method m(op, {{p.concentration1, "p.concentration1", Range::positive},
                      {p.concentration0, "p.concentration0", Range::positive},
                      {q.concentration1, "q.concentration1", Range::positive},
                      {q.concentration0, "q.concentration0", Range::positive}});
  const Tensor a = to(p.concentration1, m.dtype), b = to(p.concentration0, m.dtype), n = a + b;
  const Tensor c = to(q.concentration1, m.dtype), d = to(q.concentration0, m.dtype);
  return lgamma(c) + lgamma(d) + lgamma(n) - (lgamma(a) + lgamma(b) + lgamma(c + d)) + (a - c) * digamma(a) +
         (b - d) * digamma(b) + (c + d - n) * digamma(n);
}
Tensor kl_divergence(const VonMises& p, const VonMises& q) {
  const Method m(op, {{p.loc, "p.loc", Range::any},
                      {p.concentration, "p.concentration", Range::positive},
                      {q.loc, "q.loc", Range::any},
                      {q.concentration, "q.concentration", Range::positive}});
  const Tensor k = to(p.concentration, m.dtype), l = to(q.concentration, m.dtype), scaled = i0e(k);
  return log(i0e(l) / scaled) + (l - k) + i1e(k) / scaled * (k - l * cos(to(p.loc, m.dtype) - q.loc));
}
Tensor kl_divergence(const Bernoulli& p, const Bernoulli& q) {
  const Method m(op, {chance_parameter(op, p.probs, p.logits, Range::probability),
                      chance_parameter(op, q.probs, q.logits, Range::probability)});
  return of_bernoulli(chance_of(p.probs, p.logits, m.dtype), chance_of(q.probs, q.logits, m.dtype));
}
Tensor kl_divergence(const Binomial& p, const Binomial& q) {
  const Method m(op, {{p.total_count, "p.total_count", Range::not_negative},
                      {q.total_count, "q.total_count", Range::not_negative},
                      chance_parameter(op, p.probs, p.logits, Range::probability),
                      chance_parameter(op, q.probs, q.logits, Range::probability)});
  const Tensor n = to(p.total_count, m.dtype), other = to(q.total_count, m.dtype);
  const Tensor one = of_bernoulli(chance_of(p.probs, p.logits, m.dtype), chance_of(q.probs, q.logits, m.dtype));
  const Tensor unequal = where(n > other, infinity, std::numeric_limits<double>::quiet_NaN());
  return where(n == other, n * one, unequal);
}
Tensor kl_divergence(const Poisson& p, const Poisson& q) {
  const Method m(op, {{p.rate, "p.rate", Range::not_negative}, {q.rate, "q.rate", Range::not_negative}});
  const Tensor a = to(p.rate, m.dtype), b = to(q.rate, m.dtype);
  return xlogy(a, a) - xlogy(a, b) - (a - b);
}
Tensor kl_divergence(const Categorical& p, const Categorical& q) {
  const Method m(op, {chance_parameter(op, p.probs, p.logits, Range::weight),
                      chance_parameter(op, q.probs, q.logits, Range::weight)});
  const Tensor a = log_of_classes(p.probs, p.logits, m.dtype), b = log_of_classes(q.probs, q.logits, m.dtype);
  const Tensor never = a == -infinity;
  return sum(where(never, 0, exp(a) * (where(never, 0, a) - where(never, 0, b))), -1);
}
Tensor kl_divergence(const MultivariateNormal& p, const MultivariateNormal& q) {
  const Tensor a = p.factor(), b = q.factor();
  const Method m(op, {{p.loc, "p.loc", Range::any},
                      {q.loc, "q.loc", Range::any},
                      {diagonal_of(a), "the diagonal of p.scale_tril", Range::positive},
                      {diagonal_of(b), "the diagonal of q.scale_tril", Range::positive}});
  const Tensor ratio = sum(square(solve_triangular(b, a, false)), {-2, -1});
  return log_determinant(b) - log_determinant(a) + 0.5 * (ratio + squared_distance(b, q.loc - p.loc)) -
         0.5 * m.shape.back();
}
Tensor kl_divergence(const Dirichlet& p, const Dirichlet& q) {
  const Method m(op, {{p.concentration, "p.concentration", Range::positive},
                      {q.concentration, "q.concentration", Range::positive}});
  const Tensor a = to(p.concentration, m.dtype), b = to(q.concentration, m.dtype), total = sum(a, -1, true);
  return lgamma(sum(a, -1)) - lgamma(sum(b, -1)) - sum(lgamma(a) - lgamma(b), -1) +
         sum((a - b) * (digamma(a) - digamma(total)), -1);
}

Tensor kl_divergence(const Uniform& p, const Normal& q) { return from_normal(p, q); }
Tensor kl_divergence(const Laplace& p, const Normal& q) { return from_normal(p, q); }
Tensor kl_divergence(const Exponential& p, const Normal& q) { return from_normal(p, q); }
Tensor kl_divergence(const Gamma& p, const Normal& q) { return from_normal(p, q); }
Tensor kl_divergence(const Beta& p, const Normal& q) { return from_normal(p, q); }
Tensor kl_divergence(const Exponential& p, const Gamma& q) { return kl_divergence(Gamma{1, p.rate}, q); }
Tensor kl_divergence(const Gamma& p, const Exponential& q) { return kl_divergence(p, Gamma{1, q.rate}); }

}  // namespace ricci::distributions
