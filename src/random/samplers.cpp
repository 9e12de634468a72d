// Samplers that are formulas of uniform or normal noise: their derivatives, batching and what `same` means follow from
// the operations they are made of.
#include "random/samplers.h"

#include <cmath>
#include <numbers>

#include "ops/axes.h"
#include "ricci/ops/special.h"

namespace ricci {

Tensor NormalSampler::sample(const Request& r, const Tensor& mean, const Tensor& std) {
  return mean + std * r.noise.real_or_complex_normal(r.shape, r.dtype);
}

Tensor UniformSampler::sample(const Request& r, const Tensor& low, const Tensor& high) {
  require_order(r.noise.op(), low, high, false);
  return low + (high - low) * r.uniform();
}

Tensor LogNormalSampler::sample(const Request& r, const Tensor& mean, const Tensor& std) {
  return exp(mean + std * r.normal());
}

Tensor ExponentialSampler::sample(const Request& r, const Tensor& rate) { return -log1p(-r.open_uniform()) / rate; }

Tensor CauchySampler::sample(const Request& r, const Tensor& median, const Tensor& sigma) {
  return median + sigma * tan(std::numbers::pi * (r.open_uniform() - 0.5));
}

Tensor LaplaceSampler::sample(const Request& r, const Tensor& loc, const Tensor& scale) {
  const Tensor v = 2 * r.open_uniform() - 1;
  return loc - scale * sign(v) * log1p(-abs(v));
}

Tensor GumbelSampler::sample(const Request& r, const Tensor& loc, const Tensor& scale) {
  return loc - scale * log(-log(r.open_uniform()));
}

/// In double precision, and from the lower tail, where probabilities are not rounded to 1.
Tensor TruncatedNormalSampler::sample(const Request& r, const Tensor& mean, const Tensor& std, const Tensor& low,
                                      const Tensor& high) {
  require_order(r.noise.op(), low, high, true);
  const Tensor center = to(mean, DType::float64), spread = to(std, DType::float64);
  const Tensor a = (to(low, DType::float64) - center) / spread, b = (to(high, DType::float64) - center) / spread;
  const Tensor turned = gt(a, 0);
  const Tensor from = ndtr(where(turned, -b, a)), until = ndtr(where(turned, -a, b));
  const Tensor z = ndtri(from + (until - from) * r.noise.uniform(r.shape, DType::float64));
  return clamp(center + spread * where(turned, -z, z), low, high);
}

Tensor BernoulliSampler::sample(const Request& r, const Tensor& p) {
  return lt(r.noise.uniform(r.shape, r.floating_dtype()), p);
}

Tensor GeometricSampler::sample(const Request& r, const Tensor& p) {
  const Tensor u = r.noise.uniform(r.shape, r.floating_dtype());
  return floor(log1p(-u) / log1p(-p)) + 1;
}

namespace ops {

RICCI_DEFINE_SAMPLER_OF_TWO(normal, NormalSampler)
RICCI_DEFINE_SAMPLER_OF_TWO(uniform, UniformSampler)
RICCI_DEFINE_SAMPLER_OF_TWO(log_normal, LogNormalSampler)
RICCI_DEFINE_SAMPLER_OF_ONE(exponential, ExponentialSampler)
RICCI_DEFINE_SAMPLER_OF_TWO(cauchy, CauchySampler)
RICCI_DEFINE_SAMPLER_OF_TWO(laplace, LaplaceSampler)
RICCI_DEFINE_SAMPLER_OF_TWO(gumbel, GumbelSampler)
RICCI_DEFINE_SAMPLER_OF_ONE(bernoulli, BernoulliSampler)
RICCI_DEFINE_SAMPLER_OF_ONE(geometric, GeometricSampler)

Tensor truncated_normal(const Tensor& mean, const Tensor& std, const Tensor& low, const Tensor& high) {
  return sampled<TruncatedNormalSampler>(Noise("truncated_normal", GeneratorOption()), mean, std, low, high);
}
Tensor truncated_normal(const Tensor& mean, const Tensor& std, const Tensor& low, const Tensor& high,
                        RandomOptions options) {
  return sampled<TruncatedNormalSampler>(Noise("truncated_normal", GeneratorOption(options.generator)), mean, std, low,
                                         high);
}
Tensor truncated_normal(const Tensor& mean, const Tensor& std, const Tensor& low, const Tensor& high,
                        const Shape& shape) {
  return truncated_normal(mean, std, low, high, shape, TensorOptions{});
}
Tensor truncated_normal(const Tensor& mean, const Tensor& std, const Tensor& low, const Tensor& high,
                        const Shape& shape, TensorOptions options) {
  return sampled_as<TruncatedNormalSampler>(Noise("truncated_normal", options.generator), shape, options.dtype, mean,
                                            std, low, high);
}

}  // namespace ops
}  // namespace ricci
