// Distributions on an interval, but VonMises.
#include "ricci/distributions/interval.h"

#include "distributions/parameters.h"
#include "ops/constants.h"
#include "ricci/ops/incomplete.h"
#include "ricci/ops/special.h"

namespace ricci::distributions {
namespace {

Tensor log_beta(const Tensor& a, const Tensor& b) { return lgamma(a) + lgamma(b) - lgamma(a + b); }

}  // namespace

// ── Uniform ──

#define BOUNDS                                                                                          \
  {                                                                                                     \
    {low, "low", Range::any}, {high, "high", Range::any}, { high - low, "high - low", Range::positive } \
  }

Tensor Uniform::sample(const Key& key) const { return sample(key, {}); }
Tensor Uniform::sample(const Key& key, const Shape& sample_shape) const {
  return sampled<UniformSampler>("Uniform.sample", key, sample_shape, BOUNDS, low, high);
}
Tensor Uniform::log_prob(const Tensor& value) const {
  const Method m("Uniform.log_prob", BOUNDS, value);
  const Tensor v = m.value(value);
  return where(logical_and(v >= low, v < high), -log(to(high, m.dtype) - low), -infinity);
}
Tensor Uniform::cdf(const Tensor& value) const {
  const Method m("Uniform.cdf", BOUNDS, value);
  return clamp((m.value(value) - low) / (to(high, m.dtype) - low), 0, 1);
}
Tensor Uniform::icdf(const Tensor& probability) const {
  const Method m("Uniform.icdf", BOUNDS, probability);
  return low + (to(high, m.dtype) - low) * m.value(probability);
}
Tensor Uniform::entropy() const {
  const Method m("Uniform.entropy", BOUNDS);
  return m.of_batch(log(to(high, m.dtype) - low));
}
Tensor Uniform::mean() const {
  const Method m("Uniform.mean", BOUNDS);
  return m.of_batch((to(low, m.dtype) + high) * 0.5);
}
Tensor Uniform::variance() const {
  const Method m("Uniform.variance", BOUNDS);
  return m.of_batch(square(to(high, m.dtype) - low) / 12);
}

// ── Beta ──

#define CONCENTRATIONS                                                                                         \
  {                                                                                                            \
    {concentration1, "concentration1", Range::positive}, { concentration0, "concentration0", Range::positive } \
  }

Tensor Beta::sample(const Key& key) const { return sample(key, {}); }
Tensor Beta::sample(const Key& key, const Shape& sample_shape) const {
  return sampled<BetaSampler>("Beta.sample", key, sample_shape, CONCENTRATIONS, concentration1, concentration0);
}
Tensor Beta::log_prob(const Tensor& value) const {
  const Method m("Beta.log_prob", CONCENTRATIONS, value);
  const Tensor v = m.value(value), is_outside = logical_or(v < 0, v > 1), x = where(is_outside, 0.5, v);
  const Tensor a = to(concentration1, m.dtype), b = to(concentration0, m.dtype);
  return where(is_outside, -infinity, xlogy(a - 1, x) + xlog1py(b - 1, -x) - log_beta(a, b));
}
Tensor Beta::cdf(const Tensor& value) const {
  const Method m("Beta.cdf", CONCENTRATIONS, value);
  const Tensor v = m.value(value), is_outside = logical_or(v < 0, v > 1);
  return where(is_outside, to(v > 0, m.dtype), betainc(concentration1, concentration0, where(is_outside, 0.5, v)));
}
Tensor Beta::entropy() const {
  const Method m("Beta.entropy", CONCENTRATIONS);
  const Tensor a = to(concentration1, m.dtype), b = to(concentration0, m.dtype);
  return m.of_batch(log_beta(a, b) - (a - 1) * digamma(a) - (b - 1) * digamma(b) + (a + b - 2) * digamma(a + b));
}
Tensor Beta::mean() const {
  const Method m("Beta.mean", CONCENTRATIONS);
  const Tensor a = to(concentration1, m.dtype);
  return m.of_batch(a / (a + concentration0));
}
Tensor Beta::variance() const {
  const Method m("Beta.variance", CONCENTRATIONS);
  const Tensor a = to(concentration1, m.dtype), b = to(concentration0, m.dtype), n = a + b;
  return m.of_batch(a * b / (square(n) * (n + 1)));
}

}  // namespace ricci::distributions
