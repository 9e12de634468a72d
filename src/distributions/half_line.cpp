// Distributions of numbers that are not negative. Outside of the support the formulas see 1 instead of the value, so
// that neither they nor their derivatives are NaN there.
#include "ricci/distributions/half_line.h"

#include <cmath>
#include <numbers>

#include "distributions/parameters.h"
#include "ops/constants.h"
#include "ricci/ops/incomplete.h"
#include "ricci/ops/special.h"

namespace ricci::distributions {
namespace {

using std::numbers::egamma;
using std::numbers::pi;

/// A value as formulas see it, and whether it is in the support.
struct Seen {
  Tensor x, is_inside;
  Tensor log_prob(const Tensor& y) const { return where(is_inside, y, -infinity); }
  Tensor cdf(const Tensor& y) const { return where(is_inside, y, 0); }
};
Seen seen(const Tensor& value, const Tensor& is_outside) {
  return {where(is_outside, 1, value), logical_not(is_outside)};
}

}  // namespace

// ── LogNormal ──

#define LOC_AND_SCALE                                             \
  {                                                               \
    {loc, "loc", Range::any}, { scale, "scale", Range::positive } \
  }

Tensor LogNormal::sample(const Key& key) const { return sample(key, {}); }
Tensor LogNormal::sample(const Key& key, const Shape& sample_shape) const {
  return sampled<LogNormalSampler>("LogNormal.sample", key, sample_shape, LOC_AND_SCALE, loc, scale);
}
Tensor LogNormal::log_prob(const Tensor& value) const {
  const Method m("LogNormal.log_prob", LOC_AND_SCALE, value);
  const Tensor v = m.value(value);
  const Seen s = seen(v, v <= 0);
  const Tensor y = log(s.x);
  return s.log_prob(normal_log_density((y - loc) / scale) - log(to(scale, m.dtype)) - y);
}
Tensor LogNormal::cdf(const Tensor& value) const {
  const Method m("LogNormal.cdf", LOC_AND_SCALE, value);
  const Tensor v = m.value(value);
  const Seen s = seen(v, v <= 0);
  return s.cdf(ndtr((log(s.x) - loc) / scale));
}
Tensor LogNormal::icdf(const Tensor& probability) const {
  const Method m("LogNormal.icdf", LOC_AND_SCALE, probability);
  return exp(loc + scale * ndtri(m.value(probability)));
}
Tensor LogNormal::entropy() const {
  const Method m("LogNormal.entropy", LOC_AND_SCALE);
  return m.of_batch(loc + log(to(scale, m.dtype)) + (0.5 + 0.5 * std::log(2 * pi)));
}
Tensor LogNormal::mean() const {
  const Method m("LogNormal.mean", LOC_AND_SCALE);
  return m.of_batch(exp(loc + square(to(scale, m.dtype)) * 0.5));
}
Tensor LogNormal::variance() const {
  const Method m("LogNormal.variance", LOC_AND_SCALE);
  const Tensor s = square(to(scale, m.dtype));
  return m.of_batch(expm1(s) * exp(2 * loc + s));
}

// ── HalfNormal ──

#define SCALE                           \
  {                                     \
    { scale, "scale", Range::positive } \
  }

Tensor HalfNormal::sample(const Key& key) const { return sample(key, {}); }
Tensor HalfNormal::sample(const Key& key, const Shape& sample_shape) const {
  const Request r = request_for("HalfNormal.sample", key, sample_shape, SCALE);
  return to(scale * abs(r.normal()), r.dtype);
}
Tensor HalfNormal::log_prob(const Tensor& value) const {
  const Method m("HalfNormal.log_prob", SCALE, value);
  const Tensor v = m.value(value);
  const Seen s = seen(v, v < 0);
  return s.log_prob(normal_log_density(s.x / scale) + std::numbers::ln2 - log(to(scale, m.dtype)));
}
Tensor HalfNormal::cdf(const Tensor& value) const {
  const Method m("HalfNormal.cdf", SCALE, value);
  const Tensor v = m.value(value);
  const Seen s = seen(v, v < 0);
  return s.cdf(erf(s.x / scale * (std::numbers::sqrt2 / 2)));
}
Tensor HalfNormal::icdf(const Tensor& probability) const {
  const Method m("HalfNormal.icdf", SCALE, probability);
  return scale * (std::numbers::sqrt2 * erfinv(m.value(probability)));
}
Tensor HalfNormal::entropy() const {
  const Method m("HalfNormal.entropy", SCALE);
  return m.of_batch(log(to(scale, m.dtype)) + (0.5 + 0.5 * std::log(pi / 2)));
}
Tensor HalfNormal::mean() const { return Method("HalfNormal.mean", SCALE).of_batch(scale * std::sqrt(2 / pi)); }
Tensor HalfNormal::variance() const {
  return Method("HalfNormal.variance", SCALE).of_batch(square(scale) * (1 - 2 / pi));
}

// ── Exponential ──

#define RATE                          \
  {                                   \
    { rate, "rate", Range::positive } \
  }

Tensor Exponential::sample(const Key& key) const { return sample(key, {}); }
Tensor Exponential::sample(const Key& key, const Shape& sample_shape) const {
  return sampled<ExponentialSampler>("Exponential.sample", key, sample_shape, RATE, rate);
}
Tensor Exponential::log_prob(const Tensor& value) const {
  const Method m("Exponential.log_prob", RATE, value);
  const Tensor v = m.value(value);
  const Seen s = seen(v, v < 0);
  return s.log_prob(log(to(rate, m.dtype)) - rate * s.x);
}
Tensor Exponential::cdf(const Tensor& value) const {
  const Method m("Exponential.cdf", RATE, value);
  const Tensor v = m.value(value);
  const Seen s = seen(v, v < 0);
  return s.cdf(-expm1(-(rate * s.x)));
}
Tensor Exponential::icdf(const Tensor& probability) const {
  const Method m("Exponential.icdf", RATE, probability);
  return -log1p(-m.value(probability)) / rate;
}
Tensor Exponential::entropy() const {
  const Method m("Exponential.entropy", RATE);
  return m.of_batch(1 - log(to(rate, m.dtype)));
}
Tensor Exponential::mean() const {
  const Method m("Exponential.mean", RATE);
  return reciprocal(to(rate, m.dtype));
}
Tensor Exponential::variance() const {
  const Method m("Exponential.variance", RATE);
  return reciprocal(square(to(rate, m.dtype)));
}

// ── Gamma ──

#define GAMMA                                                                            \
  {                                                                                      \
    {concentration, "concentration", Range::positive}, { rate, "rate", Range::positive } \
  }

Tensor Gamma::sample(const Key& key) const { return sample(key, {}); }
Tensor Gamma::sample(const Key& key, const Shape& sample_shape) const {
  return sampled<GammaSampler>("Gamma.sample", key, sample_shape, GAMMA, concentration, rate);
}
Tensor Gamma::log_prob(const Tensor& value) const {
  const Method m("Gamma.log_prob", GAMMA, value);
  const Tensor v = m.value(value), a = to(concentration, m.dtype), b = to(rate, m.dtype);
  const Seen s = seen(v, v < 0);
  return s.log_prob(a * log(b) + xlogy(a - 1, s.x) - b * s.x - lgamma(a));
}
Tensor Gamma::cdf(const Tensor& value) const {
  const Method m("Gamma.cdf", GAMMA, value);
  const Tensor v = m.value(value);
  const Seen s = seen(v, v < 0);
  return s.cdf(igamma(concentration, rate * s.x));
}
Tensor Gamma::entropy() const {
  const Method m("Gamma.entropy", GAMMA);
  const Tensor a = to(concentration, m.dtype);
  return m.of_batch(a - log(to(rate, m.dtype)) + lgamma(a) + (1 - a) * digamma(a));
}
Tensor Gamma::mean() const {
  const Method m("Gamma.mean", GAMMA);
  return m.of_batch(to(concentration, m.dtype) / rate);
}
Tensor Gamma::variance() const {
  const Method m("Gamma.variance", GAMMA);
  return m.of_batch(to(concentration, m.dtype) / square(to(rate, m.dtype)));
}

// ── Weibull ──

#define WEIBULL                                                                            \
  {                                                                                        \
    {scale, "scale", Range::positive}, { concentration, "concentration", Range::positive } \
  }

Tensor Weibull::sample(const Key& key) const { return sample(key, {}); }
Tensor Weibull::sample(const Key& key, const Shape& sample_shape) const {
  const Request r = request_for("Weibull.sample", key, sample_shape, WEIBULL);
  const Tensor exponential = ExponentialSampler::sample(r, Tensor(1));
  return to(scale * pow(exponential, reciprocal(to(concentration, r.dtype))), r.dtype);
}
Tensor Weibull::log_prob(const Tensor& value) const {
  const Method m("Weibull.log_prob", WEIBULL, value);
  const Tensor v = m.value(value), k = to(concentration, m.dtype);
  const Seen s = seen(v, v < 0);
  const Tensor z = s.x / to(scale, m.dtype);
  return s.log_prob(log(k / scale) + xlogy(k - 1, z) - pow(z, k));
}
Tensor Weibull::cdf(const Tensor& value) const {
  const Method m("Weibull.cdf", WEIBULL, value);
  const Tensor v = m.value(value);
  const Seen s = seen(v, v <= 0);
  return s.cdf(-expm1(-pow(s.x / scale, concentration)));
}
Tensor Weibull::icdf(const Tensor& probability) const {
  const Method m("Weibull.icdf", WEIBULL, probability);
  return scale * pow(-log1p(-m.value(probability)), reciprocal(to(concentration, m.dtype)));
}
Tensor Weibull::entropy() const {
  const Method m("Weibull.entropy", WEIBULL);
  const Tensor k = to(concentration, m.dtype);
  return m.of_batch(egamma * (1 - reciprocal(k)) + log(scale / k) + 1);
}
Tensor Weibull::mean() const {
  const Method m("Weibull.mean", WEIBULL);
  return m.of_batch(scale * exp(lgamma(1 + reciprocal(to(concentration, m.dtype)))));
}
Tensor Weibull::variance() const {
  const Method m("Weibull.variance", WEIBULL);
  const Tensor r = reciprocal(to(concentration, m.dtype));
  return m.of_batch(square(to(scale, m.dtype)) * (exp(lgamma(1 + 2 * r)) - exp(2 * lgamma(1 + r))));
}

}  // namespace ricci::distributions

#undef LOC_AND_SCALE
#undef RATE
