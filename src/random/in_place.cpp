// In-place draws: a sample in the target's shape and type, written under the rules of every write.
#include <climits>

#include "ops/axes.h"
#include "random/samplers.h"

namespace ricci {
namespace {

/// `op` is the in-place name that errors speak of.
template <class Sampler, class... P>
const Tensor& draw_into(const Tensor& target, const char* op, GeneratorOption generator, const P&... parameters) {
  require_defined(op, target, 0);
  const Type type = type_of(target);
  assign_into(target, sampled_as<Sampler>(Noise(op, generator), type.shape, type.dtype, parameters...), op);
  return target;
}

/// One above the greatest whole number up to which the type holds every one; for int64 that number itself.
std::int64_t end_of_whole_numbers(DType dtype) {
  switch (dtype) {
    case DType::boolean: return 2;
    case DType::uint8: return 1 << 8;
    case DType::int8: return 1 << 7;
    case DType::int16: return 1 << 15;
    case DType::int32: return std::int64_t{1} << 31;
    case DType::float16: return (1 << 11) + 1;
    case DType::bfloat16: return (1 << 8) + 1;
    case DType::float32: return (1 << 24) + 1;
    case DType::float64: return (std::int64_t{1} << 53) + 1;
    default: return INT64_MAX;
  }
}

const Tensor& draw_integers_into(const Tensor& target, GeneratorOption generator, Bound low, Bound high) {
  require_defined("random_", target, 0);
  const Type type = type_of(target);
  assign_into(target, Noise("random_", generator).integers(low, high, type.shape, type.dtype), "random_");
  return target;
}

const Tensor& draw_all_integers_into(const Tensor& target, GeneratorOption generator) {
  require_defined("random_", target, 0);
  return draw_integers_into(target, generator, 0, end_of_whole_numbers(type_of(target).dtype));
}

}  // namespace

namespace ops {

const Tensor& Tensor::normal_() const { return normal_(0, 1); }
const Tensor& Tensor::normal_(RandomOptions options) const { return normal_(0, 1, options); }
const Tensor& Tensor::normal_(const Tensor& mean, const Tensor& std) const {
  return draw_into<NormalSampler>(*this, "normal_", {}, mean, std);
}
const Tensor& Tensor::normal_(const Tensor& mean, const Tensor& std, RandomOptions options) const {
  return draw_into<NormalSampler>(*this, "normal_", options.generator, mean, std);
}
const Tensor& Tensor::uniform_() const { return uniform_(0, 1); }
const Tensor& Tensor::uniform_(RandomOptions options) const { return uniform_(0, 1, options); }
const Tensor& Tensor::uniform_(const Tensor& low, const Tensor& high) const {
  return draw_into<UniformSampler>(*this, "uniform_", {}, low, high);
}
const Tensor& Tensor::uniform_(const Tensor& low, const Tensor& high, RandomOptions options) const {
  return draw_into<UniformSampler>(*this, "uniform_", options.generator, low, high);
}
const Tensor& Tensor::log_normal_() const { return log_normal_(1, 2); }
const Tensor& Tensor::log_normal_(const Tensor& mean, const Tensor& std) const {
  return draw_into<LogNormalSampler>(*this, "log_normal_", {}, mean, std);
}
const Tensor& Tensor::log_normal_(const Tensor& mean, const Tensor& std, RandomOptions options) const {
  return draw_into<LogNormalSampler>(*this, "log_normal_", options.generator, mean, std);
}
const Tensor& Tensor::exponential_() const { return exponential_(1); }
const Tensor& Tensor::exponential_(RandomOptions options) const { return exponential_(1, options); }
const Tensor& Tensor::exponential_(const Tensor& rate) const {
  return draw_into<ExponentialSampler>(*this, "exponential_", {}, rate);
}
const Tensor& Tensor::exponential_(const Tensor& rate, RandomOptions options) const {
  return draw_into<ExponentialSampler>(*this, "exponential_", options.generator, rate);
}
const Tensor& Tensor::cauchy_() const { return cauchy_(0, 1); }
const Tensor& Tensor::cauchy_(RandomOptions options) const { return cauchy_(0, 1, options); }
const Tensor& Tensor::cauchy_(const Tensor& median, const Tensor& sigma) const {
  return draw_into<CauchySampler>(*this, "cauchy_", {}, median, sigma);
}
const Tensor& Tensor::cauchy_(const Tensor& median, const Tensor& sigma, RandomOptions options) const {
  return draw_into<CauchySampler>(*this, "cauchy_", options.generator, median, sigma);
}
const Tensor& Tensor::bernoulli_() const { return bernoulli_(0.5); }
const Tensor& Tensor::bernoulli_(RandomOptions options) const { return bernoulli_(0.5, options); }
const Tensor& Tensor::bernoulli_(const Tensor& p) const {
  return draw_into<BernoulliSampler>(*this, "bernoulli_", {}, p);
}
const Tensor& Tensor::bernoulli_(const Tensor& p, RandomOptions options) const {
  return draw_into<BernoulliSampler>(*this, "bernoulli_", options.generator, p);
}
const Tensor& Tensor::geometric_(const Tensor& p) const {
  return draw_into<GeometricSampler>(*this, "geometric_", {}, p);
}
const Tensor& Tensor::geometric_(const Tensor& p, RandomOptions options) const {
  return draw_into<GeometricSampler>(*this, "geometric_", options.generator, p);
}
const Tensor& Tensor::random_() const { return draw_all_integers_into(*this, {}); }
const Tensor& Tensor::random_(RandomOptions options) const { return draw_all_integers_into(*this, options.generator); }
const Tensor& Tensor::random_(Bound high) const { return random_(0, high); }
const Tensor& Tensor::random_(Bound high, RandomOptions options) const { return random_(0, high, options); }
const Tensor& Tensor::random_(Bound low, Bound high) const { return draw_integers_into(*this, {}, low, high); }
const Tensor& Tensor::random_(Bound low, Bound high, RandomOptions options) const {
  return draw_integers_into(*this, options.generator, low, high);
}

}  // namespace ops
}  // namespace ricci
