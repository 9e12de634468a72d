// Gamma numbers and what is made of them. They are taken as logarithms, so that nothing underflows where concentrations
// are small, and are differentiable: not along the path of the algorithm, which jumps, but along the quantile function
// at a fixed probability. Start with `log_gamma_slope`.
#include "kernels/random_samplers.h"
#include "ops/axes.h"
#include "ops/incomplete.h"
#include "random/element_samplers.h"
#include "random/samplers.h"

namespace ricci {
namespace {

/// dy/da of y, the logarithm of a gamma number of concentration a, at a fixed probability: -(∂F/∂a) / (∂F/∂y) with the
/// distribution function F of y, from the tail on y's side. In double precision: for small a, terms of 1/a² cancel.
Tensor log_gamma_slope(const Tensor& concentration, const Tensor& log_sample) {
  const Tensor a = to(concentration, DType::float64), y = to(log_sample, DType::float64);
  const Tensor zeroth = gamma_tail_moment(0, a, y), first = gamma_tail_moment(1, a, y);
  const Tensor upper = (y - digamma(a)) * zeroth + first;
  return to(where(gamma_tail_is_lower(a, y), -upper, upper), type_of(log_sample).dtype);
}

struct LogGammaByKeys {
  using kind = Explicit;
  static constexpr const char* name = "log_gamma_by_keys";
  static constexpr unsigned keeps = input(1) | output(0);

  Type type(const Type& keys, const Type& concentration) const {
    require_shape(keys.shape, concentration.shape);
    return {concentration.dtype, concentration.shape};
  }
  void eval(Outputs out, Inputs in) const { sample_elements(out, in, kernels::log_gamma_sample, 1); }
  Tensors jvp(const Forward& f) const { return {f.tangents[1] * log_gamma_slope(f.inputs[1], f.outputs[0])}; }
  Tensors vjp(const Reverse& r) const {
    return {Tensor(), r.cotangents[0] * log_gamma_slope(r.inputs[1], r.outputs[0])};
  }
  LogGammaByKeys lifted() const { return {}; }
  static std::vector<Sample<LogGammaByKeys>> samples() {
    return {{{}, {tensor({{1, 2}, {3, 4}}), rand({2, 2}) * 3 + 0.1}}, {{}, {tensor({5}), tensor({40.0})}}};
  }
};

Tensor log_gamma(const Tensor& keys, const Tensor& concentration, DType dtype) {
  return apply(LogGammaByKeys{}, keys, expand(to(concentration, dtype), type_of(keys).shape));
}

}  // namespace

Tensor GammaSampler::sample(const Request& r, const Tensor& concentration, const Tensor& rate) {
  require_floating_draw(r.noise.op(), r.dtype);
  return exp(log_gamma(r.noise.keys(r.shape), concentration, r.dtype)) / rate;
}

Tensor BetaSampler::sample(const Request& r, const Tensor& a, const Tensor& b) {
  require_floating_draw(r.noise.op(), r.dtype);
  Shape pairs = r.shape;
  pairs.insert(0, 2);
  const Tensor keys = r.noise.keys(pairs);  // the axes of a Key's keys come first
  const std::int64_t axis = -r.shape.rank() - 1;
  return sigmoid(log_gamma(select(keys, axis, 0), a, r.dtype) - log_gamma(select(keys, axis, 1), b, r.dtype));
}

Tensor DirichletSampler::sample(const Request& r, const Tensor& concentration) {
  if (r.shape.empty())
    raise<ValueError>("dirichlet: the concentration is " + type_text(concentration) +
                      "; it needs an axis, whose elements share the probability");
  return softmax(log_gamma(r.noise.keys(r.shape), concentration, r.dtype), -1);
}

namespace ops {

Tensor gamma(const Tensor& concentration) { return gamma(concentration, 1); }
Tensor gamma(const Tensor& concentration, RandomOptions options) { return gamma(concentration, 1, options); }
RICCI_DEFINE_SAMPLER_OF_TWO(gamma, GammaSampler)
RICCI_DEFINE_SAMPLER_OF_TWO(beta, BetaSampler)
Tensor dirichlet(const Tensor& concentration) {
  return sampled<DirichletSampler>(Noise("dirichlet", GeneratorOption()), concentration);
}
Tensor dirichlet(const Tensor& concentration, RandomOptions options) {
  return sampled<DirichletSampler>(Noise("dirichlet", GeneratorOption(options.generator)), concentration);
}

}  // namespace ops
}  // namespace ricci
