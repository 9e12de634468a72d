// Distributions of classes.
#include "ricci/distributions/classes.h"

#include "distributions/chance.h"
#include "ops/axes.h"
#include "ops/constants.h"
#include "primitive/promotion.h"
#include "ricci/distributions/counts.h"

namespace ricci::distributions {
namespace {

#define CLASSES(op) chance_parameter(op, probs, logits, Range::weight)

/// Classes of weights [batch…, n]: [sample…, batch…], behind the axes of the key.
Tensor classes_of(const Key& key, const Shape& sample_shape, const Tensor& weights, const Shape& batch) {
  const Tensor drawn = multinomial(key, weights, sample_shape.numel(), true);  // [key…, batch…, samples]
  const Shape shape = type_of(drawn).shape;
  const std::int64_t of_key = shape.rank() - 1 - batch.rank();
  const Shape whole = joined(Shape(shape.begin(), shape.begin() + of_key), joined(sample_shape, batch));
  return reshape(movedim(drawn, -1, of_key), whole);
}

/// -p log p, with 0 for classes that never come.
Tensor entropy_of(const Tensor& log_p) {
  const Tensor never = log_p == -infinity, finite = where(never, 0, log_p);
  return -sum(where(never, 0, exp(finite) * finite), -1);
}

}  // namespace

// ── Categorical ──

Tensor Categorical::sample(const Key& key) const { return sample(key, {}); }
Tensor Categorical::sample(const Key& key, const Shape& sample_shape) const {
  constexpr const char* op = "Categorical.sample";
  const Parameter given = CLASSES(op);
  const Shape batch = batch_of_classes(op, given.value);
  const Request r = request_for(op, key, sample_shape, {given});
  const Called as(op);
  return classes_of(key, sample_shape, probs ? *probs : softmax(to(*logits, r.dtype), -1), batch);
}
Tensor Categorical::log_prob(const Tensor& value) const {
  constexpr const char* op = "Categorical.log_prob";
  const Method m(op, {CLASSES(op)}, value);
  require_defined(op, value, 0);
  const Type given = type_of(value), batch{m.dtype, batch_of_classes(op, one_of(op, probs, logits))};
  const Type* const types[] = {&given, &batch};
  const Shape shape = broadcast_shape(op, types), one = joined(shape, {1});
  const Size n = m.shape.back();
  const Tensor k = to(value, DType::int64);
  const Tensor is_none = logical_or(logical_or(k < 0, k >= n), k != value);
  const Tensor place = expand(unsqueeze(where(is_none, 0, k), -1), one);
  const Tensor log_p = expand(log_of_classes(probs, logits, m.dtype), joined(shape, {n}));
  return where(is_none, -infinity, squeeze(gather(log_p, -1, place), -1));
}
Tensor Categorical::entropy() const {
  constexpr const char* op = "Categorical.entropy";
  const Method m(op, {CLASSES(op)});
  return entropy_of(log_of_classes(probs, logits, m.dtype));
}
Tensor Categorical::log_probs() const {
  constexpr const char* op = "Categorical.log_probs";
  const Method m(op, {CLASSES(op)});
  return log_of_classes(probs, logits, m.dtype);
}

// ── Multinomial ──

namespace {

void require_trials(const char* op, std::int64_t total_count) {
  require_in_range(op, "total_count", static_cast<double>(total_count), Range::not_negative);
}

}  // namespace

Tensor Multinomial::sample(const Key& key) const { return sample(key, {}); }
Tensor Multinomial::sample(const Key& key, const Shape& sample_shape) const {
  constexpr const char* op = "Multinomial.sample";
  require_trials(op, total_count);
  const Parameter given = CLASSES(op);
  const Shape batch = batch_of_classes(op, given.value);
  const Request r = request_for(op, key, sample_shape, {given});
  const Called as(op);
  const Tensor weights = probs ? *probs : softmax(to(*logits, r.dtype), -1);
  const Tensor drawn = classes_of(key, joined(sample_shape, {total_count}), weights, batch);
  const Tensor each = movedim(drawn, -1 - batch.rank(), -1);  // [key…, sample…, batch…, total_count]
  Shape counts = type_of(each).shape;
  counts.back() = type_of(given.value).shape.back();
  return scatter_add(zeros(counts, r.dtype), -1, each, ones(type_of(each).shape, r.dtype));
}
Tensor Multinomial::log_prob(const Tensor& value) const {
  constexpr const char* op = "Multinomial.log_prob";
  require_trials(op, total_count);
  const Method m(op, {CLASSES(op)}, value);
  const Tensor v = m.value(value), is_no_count = logical_or(v < 0, v != floor(v)), k = where(is_no_count, 0, v);
  const Tensor log_p = log_of_classes(probs, logits, m.dtype), total = sum(k, -1);
  const Tensor powers = sum(where(k == 0, 0, k * where(k == 0, 0, log_p)), -1);
  const Tensor is_outside = logical_or(any(is_no_count, -1), total != total_count);
  return where(is_outside, -infinity, lgamma(total + 1) - sum(lgamma(k + 1), -1) + powers);
}
/// Of the classes' entropy, and the mean of log k! over the counts k of each class, which are binomial.
Tensor Multinomial::entropy() const {
  constexpr const char* op = "Multinomial.entropy";
  require_trials(op, total_count);
  const Method m(op, {CLASSES(op)});
  const Tensor log_p = log_of_classes(probs, logits, m.dtype), n = full({}, total_count, m.dtype);
  Shape first = Shape::filled(m.shape.size() + 1, 1);
  first[0] = total_count;
  const Tensor counts = reshape(arange(1, total_count + 1, m.dtype), first);
  const Tensor never = log_p == -infinity, p = exp(where(never, -1, log_p));
  const Tensor of_count = where(never, 0, exp(Binomial{n, p}.log_prob(counts)) * lgamma(counts + 1));
  return n * entropy_of(log_p) - lgamma(n + 1) + sum(sum(of_count, 0), -1);
}
Tensor Multinomial::mean() const {
  constexpr const char* op = "Multinomial.mean";
  require_trials(op, total_count);
  const Method m(op, {CLASSES(op)});
  return total_count * exp(log_of_classes(probs, logits, m.dtype));
}
Tensor Multinomial::variance() const {
  constexpr const char* op = "Multinomial.variance";
  require_trials(op, total_count);
  const Method m(op, {CLASSES(op)});
  const Tensor p = exp(log_of_classes(probs, logits, m.dtype));
  return total_count * p * (1 - p);
}

}  // namespace ricci::distributions
