// The samplers on keys.
#include "random/samplers.h"

namespace ricci::ops {

Tensor uniform(const Key& key, const Shape& shape) { return uniform(key, shape, default_dtype()); }
Tensor uniform(const Key& key, const Shape& shape, DType dtype) { return Noise("uniform", key).uniform(shape, dtype); }
Tensor uniform(const Key& key, const Tensor& low, const Tensor& high) {
  return sampled<UniformSampler>(Noise("uniform", key), low, high);
}
Tensor uniform(const Key& key, const Tensor& low, const Tensor& high, const Shape& shape) {
  return sampled_as<UniformSampler>(Noise("uniform", key), shape, {}, low, high);
}
Tensor normal(const Key& key, const Shape& shape) { return normal(key, shape, default_dtype()); }
Tensor normal(const Key& key, const Shape& shape, DType dtype) {
  return Noise("normal", key).real_or_complex_normal(shape, dtype);
}
Tensor normal(const Key& key, const Tensor& mean, const Tensor& std) {
  return sampled<NormalSampler>(Noise("normal", key), mean, std);
}
Tensor normal(const Key& key, const Tensor& mean, const Tensor& std, const Shape& shape) {
  return sampled_as<NormalSampler>(Noise("normal", key), shape, {}, mean, std);
}
Tensor log_normal(const Key& key, const Tensor& mean, const Tensor& std) {
  return sampled<LogNormalSampler>(Noise("log_normal", key), mean, std);
}
Tensor log_normal(const Key& key, const Tensor& mean, const Tensor& std, const Shape& shape) {
  return sampled_as<LogNormalSampler>(Noise("log_normal", key), shape, {}, mean, std);
}
Tensor exponential(const Key& key, const Shape& shape) { return exponential(key, 1, shape); }
Tensor exponential(const Key& key, const Tensor& rate, const Shape& shape) {
  return sampled_as<ExponentialSampler>(Noise("exponential", key), shape, {}, rate);
}
Tensor cauchy(const Key& key, const Shape& shape) { return cauchy(key, 0, 1, shape); }
Tensor cauchy(const Key& key, const Tensor& median, const Tensor& sigma, const Shape& shape) {
  return sampled_as<CauchySampler>(Noise("cauchy", key), shape, {}, median, sigma);
}
Tensor laplace(const Key& key, const Shape& shape) { return laplace(key, 0, 1, shape); }
Tensor laplace(const Key& key, const Tensor& loc, const Tensor& scale, const Shape& shape) {
  return sampled_as<LaplaceSampler>(Noise("laplace", key), shape, {}, loc, scale);
}
Tensor gumbel(const Key& key, const Shape& shape) { return gumbel(key, 0, 1, shape); }
Tensor gumbel(const Key& key, const Tensor& loc, const Tensor& scale, const Shape& shape) {
  return sampled_as<GumbelSampler>(Noise("gumbel", key), shape, {}, loc, scale);
}
Tensor truncated_normal(const Key& key, const Tensor& low, const Tensor& high, const Shape& shape) {
  return sampled_as<TruncatedNormalSampler>(Noise("truncated_normal", key), shape, {}, Tensor(0), Tensor(1), low, high);
}
Tensor bernoulli(const Key& key, const Tensor& p) { return sampled<BernoulliSampler>(Noise("bernoulli", key), p); }
Tensor bernoulli(const Key& key, const Tensor& p, const Shape& shape) {
  return sampled_as<BernoulliSampler>(Noise("bernoulli", key), shape, {}, p);
}
Tensor geometric(const Key& key, const Tensor& p, const Shape& shape) {
  return sampled_as<GeometricSampler>(Noise("geometric", key), shape, {}, p);
}
Tensor poisson(const Key& key, const Tensor& rate) { return sampled<PoissonSampler>(Noise("poisson", key), rate); }
Tensor poisson(const Key& key, const Tensor& rate, const Shape& shape) {
  return sampled_as<PoissonSampler>(Noise("poisson", key), shape, {}, rate);
}
Tensor binomial(const Key& key, const Tensor& count, const Tensor& probability) {
  return sampled<BinomialSampler>(Noise("binomial", key), count, probability);
}
Tensor binomial(const Key& key, const Tensor& count, const Tensor& probability, const Shape& shape) {
  return sampled_as<BinomialSampler>(Noise("binomial", key), shape, {}, count, probability);
}
Tensor gamma(const Key& key, const Tensor& concentration) {
  return sampled<GammaSampler>(Noise("gamma", key), concentration, Tensor(1));
}
Tensor gamma(const Key& key, const Tensor& concentration, const Shape& shape) {
  return sampled_as<GammaSampler>(Noise("gamma", key), shape, {}, concentration, Tensor(1));
}
Tensor beta(const Key& key, const Tensor& a, const Tensor& b) { return sampled<BetaSampler>(Noise("beta", key), a, b); }
Tensor beta(const Key& key, const Tensor& a, const Tensor& b, const Shape& shape) {
  return sampled_as<BetaSampler>(Noise("beta", key), shape, {}, a, b);
}
Tensor dirichlet(const Key& key, const Tensor& concentration) {
  return sampled<DirichletSampler>(Noise("dirichlet", key), concentration);
}

}  // namespace ricci::ops
