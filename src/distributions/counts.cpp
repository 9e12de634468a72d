// Distributions of counts. Where a value has probability 0, formulas see 0 instead of it.
#include "ricci/distributions/counts.h"

#include "distributions/chance.h"
#include "ops/constants.h"
#include "ricci/ops/incomplete.h"
#include "ricci/ops/special.h"

namespace ricci::distributions {
namespace {

Tensor is_no_count(const Tensor& v) { return logical_or(v < 0, v != floor(v)); }

}  // namespace

#define CHANCE(op) chance_parameter(op, probs, logits, Range::probability)

// ── Bernoulli ──

Tensor Bernoulli::sample(const Key& key) const { return sample(key, {}); }
Tensor Bernoulli::sample(const Key& key, const Shape& sample_shape) const {
  constexpr const char* op = "Bernoulli.sample";
  const Parameter given = CHANCE(op);
  return sampled<BernoulliSampler>(op, key, sample_shape, {given}, probs ? *probs : sigmoid(*logits));
}
Tensor Bernoulli::log_prob(const Tensor& value) const {
  constexpr const char* op = "Bernoulli.log_prob";
  const Method m(op, {CHANCE(op)}, value);
  const Tensor v = m.value(value), is_outside = logical_or(is_no_count(v), v > 1), k = where(is_outside, 0, v);
  const Chance chance = chance_of(probs, logits, m.dtype);
  return where(is_outside, -infinity, chance.log_of(k) + chance.log_of_rest(1 - k));
}
Tensor Bernoulli::cdf(const Tensor& value) const {
  constexpr const char* op = "Bernoulli.cdf";
  const Method m(op, {CHANCE(op)}, value);
  const Tensor v = m.value(value);
  return where(v < 0, 0, where(v < 1, chance_of(probs, logits, m.dtype).rest(), 1));
}
Tensor Bernoulli::entropy() const {
  constexpr const char* op = "Bernoulli.entropy";
  const Method m(op, {CHANCE(op)});
  return chance_of(probs, logits, m.dtype).entropy();
}
Tensor Bernoulli::mean() const {
  constexpr const char* op = "Bernoulli.mean";
  const Method m(op, {CHANCE(op)});
  return chance_of(probs, logits, m.dtype).probability();
}
Tensor Bernoulli::variance() const {
  constexpr const char* op = "Bernoulli.variance";
  const Method m(op, {CHANCE(op)});
  const Chance chance = chance_of(probs, logits, m.dtype);
  return chance.probability() * chance.rest();
}

// ── Binomial ──

#define TRIALS(op) {{total_count, "total_count", Range::not_negative}, CHANCE(op)}

Tensor Binomial::sample(const Key& key) const { return sample(key, {}); }
Tensor Binomial::sample(const Key& key, const Shape& sample_shape) const {
  constexpr const char* op = "Binomial.sample";
  const Tensor& given = one_of(op, probs, logits);
  return sampled<BinomialSampler>(op, key, sample_shape, TRIALS(op), total_count, probs ? given : sigmoid(given));
}
Tensor Binomial::log_prob(const Tensor& value) const {
  constexpr const char* op = "Binomial.log_prob";
  const Method m(op, TRIALS(op), value);
  const Tensor n = to(total_count, m.dtype), v = m.value(value), is_outside = logical_or(is_no_count(v), v > n);
  const Tensor k = where(is_outside, 0, v), rest = n - k;
  const Chance chance = chance_of(probs, logits, m.dtype);
  return where(is_outside, -infinity,
               lgamma(n + 1) - lgamma(k + 1) - lgamma(rest + 1) + chance.log_of(k) + chance.log_of_rest(rest));
}
Tensor Binomial::cdf(const Tensor& value) const {
  constexpr const char* op = "Binomial.cdf";
  const Method m(op, TRIALS(op), value);
  const Tensor n = to(total_count, m.dtype), v = m.value(value), k = floor(v);
  const Tensor inside = logical_and(k >= 0, k < n);
  const Tensor below =
      betainc(where(inside, n - k, 1), where(inside, k + 1, 1), chance_of(probs, logits, m.dtype).rest());
  return where(inside, below, where(k < 0, 0, where(isnan(v), v, 1)));
}
Tensor Binomial::entropy() const {
  constexpr const char* op = "Binomial.entropy";
  const Method m(op, TRIALS(op));
  const auto most = static_cast<std::int64_t>(amax(to(total_count, DType::float64)).item<double>());
  Shape first = Shape::filled(m.shape.size() + 1, 1);
  first[0] = most + 1;
  const Tensor k = reshape(arange(0, most + 1, m.dtype), first), never = detach(log_prob(k)) == -infinity;
  // Where k never comes, a count that does stands for it, so that no slope is infinite.
  const Tensor possible = where(chance_of(probs, logits, m.dtype).probability() < 0.5, 0, total_count);
  const Tensor log_p = log_prob(where(never, possible, k));
  return -sum(where(never, 0, exp(log_p) * log_p), 0);
}
Tensor Binomial::mean() const {
  constexpr const char* op = "Binomial.mean";
  const Method m(op, TRIALS(op));
  return m.of_batch(total_count * chance_of(probs, logits, m.dtype).probability());
}
Tensor Binomial::variance() const {
  constexpr const char* op = "Binomial.variance";
  const Method m(op, TRIALS(op));
  const Chance chance = chance_of(probs, logits, m.dtype);
  return m.of_batch(total_count * chance.probability() * chance.rest());
}

// ── Poisson ──

#define RATE                              \
  {                                       \
    { rate, "rate", Range::not_negative } \
  }

Tensor Poisson::sample(const Key& key) const { return sample(key, {}); }
Tensor Poisson::sample(const Key& key, const Shape& sample_shape) const {
  return sampled<PoissonSampler>("Poisson.sample", key, sample_shape, RATE, rate);
}
Tensor Poisson::log_prob(const Tensor& value) const {
  const Method m("Poisson.log_prob", RATE, value);
  const Tensor v = m.value(value), is_outside = is_no_count(v), k = where(is_outside, 0, v), mean = to(rate, m.dtype);
  return where(is_outside, -infinity, xlogy(k, mean) - mean - lgamma(k + 1));
}
Tensor Poisson::cdf(const Tensor& value) const {
  const Method m("Poisson.cdf", RATE, value);
  const Tensor v = m.value(value), is_outside = v < 0;
  return where(is_outside, 0, igammac(floor(where(is_outside, 0, v)) + 1, to(rate, m.dtype)));
}
Tensor Poisson::mean() const {
  const Method m("Poisson.mean", RATE);
  return to(rate, m.dtype);
}
Tensor Poisson::variance() const {
  const Method m("Poisson.variance", RATE);
  return to(rate, m.dtype);
}

}  // namespace ricci::distributions

#undef RATE
