// The samplers: each a struct with a name, the names and ranges of its parameters, and what a sample is. From these
// come the public overloads, the draws from keys and the in-place forms. Start with `sampled`.
#pragma once

#include <array>
#include <utility>

#include "primitive/called.h"
#include "random/request.h"

namespace ricci {

struct ParameterRange {
  const char* name;
  Range range = Range::any;
};
template <std::size_t n>
using Ranges = std::array<ParameterRange, n>;

struct NormalSampler {
  static constexpr const char* name = "normal";
  static constexpr Ranges<2> ranges{{{"mean"}, {"std", Range::not_negative}}};
  static Tensor sample(const Request& r, const Tensor& mean, const Tensor& std);
};
struct UniformSampler {
  static constexpr const char* name = "uniform";
  static constexpr Ranges<2> ranges{{{"low"}, {"high"}}};
  static Tensor sample(const Request& r, const Tensor& low, const Tensor& high);
};
struct LogNormalSampler {
  static constexpr const char* name = "log_normal";
  static constexpr Ranges<2> ranges{{{"mean"}, {"std", Range::positive}}};
  static Tensor sample(const Request& r, const Tensor& mean, const Tensor& std);
};
struct ExponentialSampler {
  static constexpr const char* name = "exponential";
  static constexpr Ranges<1> ranges{{{"rate", Range::positive}}};
  static Tensor sample(const Request& r, const Tensor& rate);
};
struct CauchySampler {
  static constexpr const char* name = "cauchy";
  static constexpr Ranges<2> ranges{{{"median"}, {"sigma", Range::positive}}};
  static Tensor sample(const Request& r, const Tensor& median, const Tensor& sigma);
};
struct LaplaceSampler {
  static constexpr const char* name = "laplace";
  static constexpr Ranges<2> ranges{{{"loc"}, {"scale", Range::positive}}};
  static Tensor sample(const Request& r, const Tensor& loc, const Tensor& scale);
};
struct GumbelSampler {
  static constexpr const char* name = "gumbel";
  static constexpr Ranges<2> ranges{{{"loc"}, {"scale", Range::positive}}};
  static Tensor sample(const Request& r, const Tensor& loc, const Tensor& scale);
};
struct TruncatedNormalSampler {
  static constexpr const char* name = "truncated_normal";
  static constexpr Ranges<4> ranges{{{"mean"}, {"std", Range::positive}, {"low"}, {"high"}}};
  static Tensor sample(const Request& r, const Tensor& mean, const Tensor& std, const Tensor& low, const Tensor& high);
};
struct BernoulliSampler {
  static constexpr const char* name = "bernoulli";
  static constexpr Ranges<1> ranges{{{"p", Range::probability}}};
  static Tensor sample(const Request& r, const Tensor& p);
};
struct GeometricSampler {
  static constexpr const char* name = "geometric";
  static constexpr Ranges<1> ranges{{{"p", Range::positive_probability}}};
  static Tensor sample(const Request& r, const Tensor& p);
};
struct PoissonSampler {
  static constexpr const char* name = "poisson";
  static constexpr Ranges<1> ranges{{{"rate", Range::not_negative}}};
  static Tensor sample(const Request& r, const Tensor& rate);
};
struct BinomialSampler {
  static constexpr const char* name = "binomial";
  static constexpr Ranges<2> ranges{{{"count", Range::not_negative}, {"probability", Range::probability}}};
  static Tensor sample(const Request& r, const Tensor& count, const Tensor& probability);
};
struct GammaSampler {
  static constexpr const char* name = "gamma";
  static constexpr Ranges<2> ranges{{{"concentration", Range::positive}, {"rate", Range::positive}}};
  static Tensor sample(const Request& r, const Tensor& concentration, const Tensor& rate);
};
struct BetaSampler {
  static constexpr const char* name = "beta";
  static constexpr Ranges<2> ranges{{{"a", Range::positive}, {"b", Range::positive}}};
  static Tensor sample(const Request& r, const Tensor& a, const Tensor& b);
};
struct DirichletSampler {
  static constexpr const char* name = "dirichlet";
  static constexpr Ranges<1> ranges{{{"concentration", Range::positive}}};
  static Tensor sample(const Request& r, const Tensor& concentration);
};

namespace samplers {
/// What is asked for; a formula may give the type that its parameters promote to.
template <class Sampler, class... P>
Tensor sample(const Request& r, const P&... p) {
  const Called as(r.noise.op());
  return to(Sampler::sample(r, p...), r.dtype);
}
template <class Sampler, std::size_t... I, class... P>
Tensor sampled(std::index_sequence<I...>, const Noise& noise, const P&... p) {
  return sample<Sampler>(request(noise, {{p, Sampler::ranges[I].name, Sampler::ranges[I].range}...}), p...);
}
template <class Sampler, std::size_t... I, class... P>
Tensor sampled_as(std::index_sequence<I...>, const Noise& noise, const Shape& shape, std::optional<DType> dtype,
                  const P&... p) {
  return sample<Sampler>(request(noise, {{p, Sampler::ranges[I].name, Sampler::ranges[I].range}...}, shape, dtype),
                         p...);
}
}  // namespace samplers

/// A sample of the shape and type that follow from the parameters.
template <class Sampler, class... P>
Tensor sampled(const Noise& noise, const P&... p) {
  return samplers::sampled<Sampler>(std::index_sequence_for<P...>(), noise, p...);
}
/// A sample of this shape and type; none: the type follows from the parameters.
template <class Sampler, class... P>
Tensor sampled_as(const Noise& noise, const Shape& shape, std::optional<DType> dtype, const P&... p) {
  return samplers::sampled_as<Sampler>(std::index_sequence_for<P...>(), noise, shape, dtype, p...);
}

// The public overloads of a sampler of one and of two parameters: from the default or a given generator, in the
// parameters' shape or a given one.
#define RICCI_DEFINE_SAMPLER_OF_ONE(sampler, Sampler)                                                 \
  Tensor sampler(const Tensor& a) { return sampled<Sampler>(Noise(#sampler, GeneratorOption()), a); } \
  Tensor sampler(const Tensor& a, RandomOptions options) {                                            \
    return sampled<Sampler>(Noise(#sampler, GeneratorOption(options.generator)), a);                  \
  }                                                                                                   \
  Tensor sampler(const Tensor& a, const Shape& shape) { return sampler(a, shape, TensorOptions{}); }  \
  Tensor sampler(const Tensor& a, const Shape& shape, TensorOptions options) {                        \
    return sampled_as<Sampler>(Noise(#sampler, options.generator), shape, options.dtype, a);          \
  }
#define RICCI_DEFINE_SAMPLER_OF_TWO(sampler, Sampler)                                           \
  Tensor sampler(const Tensor& a, const Tensor& b) {                                            \
    return sampled<Sampler>(Noise(#sampler, GeneratorOption()), a, b);                          \
  }                                                                                             \
  Tensor sampler(const Tensor& a, const Tensor& b, RandomOptions options) {                     \
    return sampled<Sampler>(Noise(#sampler, GeneratorOption(options.generator)), a, b);         \
  }                                                                                             \
  Tensor sampler(const Tensor& a, const Tensor& b, const Shape& shape) {                        \
    return sampler(a, b, shape, TensorOptions{});                                               \
  }                                                                                             \
  Tensor sampler(const Tensor& a, const Tensor& b, const Shape& shape, TensorOptions options) { \
    return sampled_as<Sampler>(Noise(#sampler, options.generator), shape, options.dtype, a, b); \
  }

}  // namespace ricci
