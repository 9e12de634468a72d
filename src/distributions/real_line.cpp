// Distributions on the real line.
#include "ricci/distributions/real_line.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "distributions/parameters.h"
#include "ops/constants.h"
#include "ops/incomplete.h"
#include "ricci/ops/incomplete.h"
#include "ricci/ops/special.h"

namespace ricci::distributions {
namespace {

using std::numbers::egamma;
using std::numbers::pi;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

#define LOC_AND_SCALE                                             \
  {                                                               \
    {loc, "loc", Range::any}, { scale, "scale", Range::positive } \
  }

Tensor standard(const Tensor& value, const Tensor& loc, const Tensor& scale) { return (value - loc) / scale; }

}  // namespace

// ── Normal ──

Tensor Normal::sample(const Key& key) const { return sample(key, {}); }
Tensor Normal::sample(const Key& key, const Shape& sample_shape) const {
  return sampled<NormalSampler>("Normal.sample", key, sample_shape, LOC_AND_SCALE, loc, scale);
}
Tensor Normal::log_prob(const Tensor& value) const {
  const Method m("Normal.log_prob", LOC_AND_SCALE, value);
  return normal_log_density(standard(m.value(value), loc, scale)) - log(to(scale, m.dtype));
}
Tensor Normal::cdf(const Tensor& value) const {
  const Method m("Normal.cdf", LOC_AND_SCALE, value);
  return ndtr(standard(m.value(value), loc, scale));
}
Tensor Normal::log_cdf(const Tensor& value) const {
  const Method m("Normal.log_cdf", LOC_AND_SCALE, value);
  return log_ndtr(standard(m.value(value), loc, scale));
}
Tensor Normal::icdf(const Tensor& probability) const {
  const Method m("Normal.icdf", LOC_AND_SCALE, probability);
  return loc + scale * ndtri(m.value(probability));
}
Tensor Normal::entropy() const {
  const Method m("Normal.entropy", LOC_AND_SCALE);
  return m.of_batch(log(to(scale, m.dtype)) + (0.5 + 0.5 * std::log(2 * pi)));
}
Tensor Normal::mean() const { return Method("Normal.mean", LOC_AND_SCALE).of_batch(loc); }
Tensor Normal::variance() const {
  const Method m("Normal.variance", LOC_AND_SCALE);
  return m.of_batch(square(to(scale, m.dtype)));
}

// ── StudentT ──

#define STUDENT                                                                                \
  {                                                                                            \
    {df, "df", Range::positive}, {loc, "loc", Range::any}, { scale, "scale", Range::positive } \
  }

Tensor StudentT::sample(const Key& key) const { return sample(key, {}); }
/// A normal number over the root of a mean of squares of others, which is a gamma number.
Tensor StudentT::sample(const Key& key, const Shape& sample_shape) const {
  const auto [above, below] = split(key);
  const Request r = request_for("StudentT.sample", above, sample_shape, STUDENT);
  const Request squares = {Noise("StudentT.sample", below), r.shape, r.dtype};
  const Tensor half = to(df, r.dtype) * 0.5, gamma = samplers::sample<GammaSampler>(squares, half, Tensor(1));
  return to(loc + scale * r.normal() * sqrt(half / gamma), r.dtype);
}
Tensor StudentT::log_prob(const Tensor& value) const {
  const Method m("StudentT.log_prob", STUDENT, value);
  const Tensor n = to(df, m.dtype), z = standard(m.value(value), loc, scale);
  const Tensor normalizer =
      log(to(scale, m.dtype)) + 0.5 * log(n) + 0.5 * std::log(pi) + lgamma(n * 0.5) - lgamma((n + 1) * 0.5);
  return (n + 1) * -0.5 * log1p(square(z) / n) - normalizer;
}
/// Of the tail beyond z, by the incomplete beta function of t = df / (df + z²), or of 1 - t where that is smaller. Next
/// to 0 along the density, where the square is flat.
Tensor StudentT::cdf(const Tensor& value) const {
  const Method m("StudentT.cdf", STUDENT, value);
  const Tensor n = to(df, m.dtype), z = standard(m.value(value), loc, scale), size = abs(z);
  const Tensor at_zero = size<1e-150, in_tail = square(z)> n;
  const Tensor inner = where(logical_or(at_zero, in_tail), 1, z), outer = where(in_tail, z, infinity);
  const Tensor near = betainc_upper(0.5, n * 0.5, square(inner) / (n + square(inner)));
  const Tensor far = betainc(n * 0.5, 0.5, n / (n + square(where(in_tail, outer, 1))));
  const Tensor tail = 0.5 * where(in_tail, far, near);
  const Tensor density = exp(lgamma((n + 1) * 0.5) - lgamma(n * 0.5)) / sqrt(n * pi);
  return where(at_zero, 0.5 + density * where(at_zero, z, 0), where(z < 0, tail, 1 - tail));
}
Tensor StudentT::entropy() const {
  const Method m("StudentT.entropy", STUDENT);
  const Tensor n = to(df, m.dtype), half = n * 0.5, next = half + 0.5;
  const Tensor log_beta = lgamma(half) + 0.5 * std::log(pi) - lgamma(next);
  return m.of_batch(log(to(scale, m.dtype)) + next * (digamma(next) - digamma(half)) + 0.5 * log(n) + log_beta);
}
Tensor StudentT::mean() const {
  const Method m("StudentT.mean", STUDENT);
  return m.of_batch(where(df > 1, to(loc, m.dtype), nan));
}
Tensor StudentT::variance() const {
  const Method m("StudentT.variance", STUDENT);
  const Tensor n = to(df, m.dtype), has_one = n > 2, enough = where(has_one, n, 3);
  return m.of_batch(where(has_one, square(to(scale, m.dtype)) * enough / (enough - 2), where(n > 1, infinity, nan)));
}

// ── Cauchy ──

Tensor Cauchy::sample(const Key& key) const { return sample(key, {}); }
Tensor Cauchy::sample(const Key& key, const Shape& sample_shape) const {
  return sampled<CauchySampler>("Cauchy.sample", key, sample_shape, LOC_AND_SCALE, loc, scale);
}
Tensor Cauchy::log_prob(const Tensor& value) const {
  const Method m("Cauchy.log_prob", LOC_AND_SCALE, value);
  return -std::log(pi) - log(to(scale, m.dtype)) - log1p(square(standard(m.value(value), loc, scale)));
}
/// The angle counts from the lower end, so that the lower tail keeps its digits.
Tensor Cauchy::cdf(const Tensor& value) const {
  const Method m("Cauchy.cdf", LOC_AND_SCALE, value);
  const Tensor z = standard(m.value(value), loc, scale);
  return atan2(ones_like(z), -z) / pi;
}
Tensor Cauchy::icdf(const Tensor& probability) const {
  const Method m("Cauchy.icdf", LOC_AND_SCALE, probability);
  return loc + scale * tan(pi * (m.value(probability) - 0.5));
}
Tensor Cauchy::entropy() const {
  const Method m("Cauchy.entropy", LOC_AND_SCALE);
  return m.of_batch(log(to(scale, m.dtype)) + std::log(4 * pi));
}
Tensor Cauchy::mean() const { return Method("Cauchy.mean", LOC_AND_SCALE).of_batch(nan); }
Tensor Cauchy::variance() const { return Method("Cauchy.variance", LOC_AND_SCALE).of_batch(infinity); }

// ── Laplace ──

Tensor Laplace::sample(const Key& key) const { return sample(key, {}); }
Tensor Laplace::sample(const Key& key, const Shape& sample_shape) const {
  return sampled<LaplaceSampler>("Laplace.sample", key, sample_shape, LOC_AND_SCALE, loc, scale);
}
Tensor Laplace::log_prob(const Tensor& value) const {
  const Method m("Laplace.log_prob", LOC_AND_SCALE, value);
  return -abs(standard(m.value(value), loc, scale)) - log(to(scale, m.dtype) * 2);
}
Tensor Laplace::cdf(const Tensor& value) const {
  const Method m("Laplace.cdf", LOC_AND_SCALE, value);
  const Tensor z = standard(m.value(value), loc, scale), below = z < 0;
  return where(below, 0.5 * exp(where(below, z, 0)), 1 - 0.5 * exp(-where(below, 0, z)));
}
Tensor Laplace::icdf(const Tensor& probability) const {
  const Method m("Laplace.icdf", LOC_AND_SCALE, probability);
  const Tensor p = m.value(probability);
  return loc + scale * where(p < 0.5, log(2 * p), -log(2 - 2 * p));
}
Tensor Laplace::entropy() const {
  const Method m("Laplace.entropy", LOC_AND_SCALE);
  return m.of_batch(1 + log(to(scale, m.dtype) * 2));
}
Tensor Laplace::mean() const { return Method("Laplace.mean", LOC_AND_SCALE).of_batch(loc); }
Tensor Laplace::variance() const {
  const Method m("Laplace.variance", LOC_AND_SCALE);
  return m.of_batch(2 * square(to(scale, m.dtype)));
}

// ── Gumbel ──

Tensor Gumbel::sample(const Key& key) const { return sample(key, {}); }
Tensor Gumbel::sample(const Key& key, const Shape& sample_shape) const {
  return sampled<GumbelSampler>("Gumbel.sample", key, sample_shape, LOC_AND_SCALE, loc, scale);
}
Tensor Gumbel::log_prob(const Tensor& value) const {
  const Method m("Gumbel.log_prob", LOC_AND_SCALE, value);
  const Tensor z = standard(m.value(value), loc, scale);
  return -(z + exp(-z)) - log(to(scale, m.dtype));
}
Tensor Gumbel::cdf(const Tensor& value) const {
  const Method m("Gumbel.cdf", LOC_AND_SCALE, value);
  return exp(-exp(-standard(m.value(value), loc, scale)));
}
Tensor Gumbel::icdf(const Tensor& probability) const {
  const Method m("Gumbel.icdf", LOC_AND_SCALE, probability);
  return loc - scale * log(-log(m.value(probability)));
}
Tensor Gumbel::entropy() const {
  const Method m("Gumbel.entropy", LOC_AND_SCALE);
  return m.of_batch(log(to(scale, m.dtype)) + (1 + egamma));
}
Tensor Gumbel::mean() const {
  const Method m("Gumbel.mean", LOC_AND_SCALE);
  return m.of_batch(loc + to(scale, m.dtype) * egamma);
}
Tensor Gumbel::variance() const {
  const Method m("Gumbel.variance", LOC_AND_SCALE);
  return m.of_batch(square(to(scale, m.dtype)) * (pi * pi / 6));
}

}  // namespace ricci::distributions

#undef LOC_AND_SCALE
