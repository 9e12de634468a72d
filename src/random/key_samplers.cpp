// The samplers on keys.
#include "random/samplers.h"

namespace ricci::ops {

// The overloads with a shape, of a sampler of one and of two parameters.
#define RICCI_DEFINE_SAMPLER_OF_ONE_BY_KEY(sampler, Sampler)                                    \
  Tensor sampler(const Key& key, const Tensor& a, const Shape& shape) {                         \
    return sampled_as<Sampler>(Noise(#sampler, key), shape, {}, a);                             \
  }                                                                                             \
  Tensor sampler(const Key& key, const Tensor& a, const Shape& shape, DType dtype) {            \
    return sampled_as<Sampler>(Noise(#sampler, key), shape, dtype, a);                          \
  }
#define RICCI_DEFINE_SAMPLER_OF_TWO_BY_KEY(sampler, Sampler)                                          \
  Tensor sampler(const Key& key, const Tensor& a, const Tensor& b, const Shape& shape) {              \
    return sampled_as<Sampler>(Noise(#sampler, key), shape, {}, a, b);                                \
  }                                                                                                   \
  Tensor sampler(const Key& key, const Tensor& a, const Tensor& b, const Shape& shape, DType dtype) { \
    return sampled_as<Sampler>(Noise(#sampler, key), shape, dtype, a, b);                             \
  }

RICCI_DEFINE_SAMPLER_OF_TWO_BY_KEY(uniform, UniformSampler)
RICCI_DEFINE_SAMPLER_OF_TWO_BY_KEY(normal, NormalSampler)
RICCI_DEFINE_SAMPLER_OF_TWO_BY_KEY(log_normal, LogNormalSampler)
RICCI_DEFINE_SAMPLER_OF_ONE_BY_KEY(exponential, ExponentialSampler)
RICCI_DEFINE_SAMPLER_OF_TWO_BY_KEY(cauchy, CauchySampler)
RICCI_DEFINE_SAMPLER_OF_TWO_BY_KEY(laplace, LaplaceSampler)
RICCI_DEFINE_SAMPLER_OF_TWO_BY_KEY(gumbel, GumbelSampler)
RICCI_DEFINE_SAMPLER_OF_ONE_BY_KEY(bernoulli, BernoulliSampler)
RICCI_DEFINE_SAMPLER_OF_ONE_BY_KEY(geometric, GeometricSampler)
RICCI_DEFINE_SAMPLER_OF_ONE_BY_KEY(poisson, PoissonSampler)
RICCI_DEFINE_SAMPLER_OF_TWO_BY_KEY(binomial, BinomialSampler)
RICCI_DEFINE_SAMPLER_OF_TWO_BY_KEY(beta, BetaSampler)

Tensor uniform(const Key& key, const Shape& shape) { return uniform(key, shape, default_dtype()); }
Tensor uniform(const Key& key, const Shape& shape, DType dtype) { return Noise("uniform", key).uniform(shape, dtype); }
Tensor uniform(const Key& key, const Tensor& low, const Tensor& high) {
  return sampled<UniformSampler>(Noise("uniform", key), low, high);
}
Tensor normal(const Key& key, const Shape& shape) { return normal(key, shape, default_dtype()); }
Tensor normal(const Key& key, const Shape& shape, DType dtype) {
  return Noise("normal", key).real_or_complex_normal(shape, dtype);
}
Tensor normal(const Key& key, const Tensor& mean, const Tensor& std) {
  return sampled<NormalSampler>(Noise("normal", key), mean, std);
}
Tensor log_normal(const Key& key, const Tensor& mean, const Tensor& std) {
  return sampled<LogNormalSampler>(Noise("log_normal", key), mean, std);
}
Tensor exponential(const Key& key, const Shape& shape) { return exponential(key, 1, shape); }
Tensor exponential(const Key& key, const Shape& shape, DType dtype) { return exponential(key, 1, shape, dtype); }
Tensor cauchy(const Key& key, const Shape& shape) { return cauchy(key, 0, 1, shape); }
Tensor cauchy(const Key& key, const Shape& shape, DType dtype) { return cauchy(key, 0, 1, shape, dtype); }
Tensor laplace(const Key& key, const Shape& shape) { return laplace(key, 0, 1, shape); }
Tensor laplace(const Key& key, const Shape& shape, DType dtype) { return laplace(key, 0, 1, shape, dtype); }
Tensor gumbel(const Key& key, const Shape& shape) { return gumbel(key, 0, 1, shape); }
Tensor gumbel(const Key& key, const Shape& shape, DType dtype) { return gumbel(key, 0, 1, shape, dtype); }
Tensor truncated_normal(const Key& key, const Tensor& low, const Tensor& high, const Shape& shape) {
  return sampled_as<TruncatedNormalSampler>(Noise("truncated_normal", key), shape, {}, Tensor(0), Tensor(1), low, high);
}
Tensor truncated_normal(const Key& key, const Tensor& low, const Tensor& high, const Shape& shape, DType dtype) {
  return sampled_as<TruncatedNormalSampler>(Noise("truncated_normal", key), shape, dtype, Tensor(0), Tensor(1), low,
                                            high);
}
Tensor bernoulli(const Key& key, const Tensor& p) { return sampled<BernoulliSampler>(Noise("bernoulli", key), p); }
Tensor poisson(const Key& key, const Tensor& rate) { return sampled<PoissonSampler>(Noise("poisson", key), rate); }
Tensor binomial(const Key& key, const Tensor& count, const Tensor& probability) {
  return sampled<BinomialSampler>(Noise("binomial", key), count, probability);
}
Tensor gamma(const Key& key, const Tensor& concentration) {
  return sampled<GammaSampler>(Noise("gamma", key), concentration, Tensor(1));
}
Tensor gamma(const Key& key, const Tensor& concentration, const Shape& shape) {
  return sampled_as<GammaSampler>(Noise("gamma", key), shape, {}, concentration, Tensor(1));
}
Tensor gamma(const Key& key, const Tensor& concentration, const Shape& shape, DType dtype) {
  return sampled_as<GammaSampler>(Noise("gamma", key), shape, dtype, concentration, Tensor(1));
}
Tensor beta(const Key& key, const Tensor& a, const Tensor& b) { return sampled<BetaSampler>(Noise("beta", key), a, b); }
Tensor dirichlet(const Key& key, const Tensor& concentration) {
  return sampled<DirichletSampler>(Noise("dirichlet", key), concentration);
}

}  // namespace ricci::ops
