// Samplers that are formulas of uniform or normal noise: their derivatives, batching and what `same` means follow from
// the operations they are made of.
#include "random/samplers.h"

#include <cmath>
#include <numbers>

#include "ops/axes.h"
#include "ricci/primitive/elementwise.h"

namespace ricci {
namespace {

template <class T, std::size_t n>
T polynomial(T x, const double (&coefficients)[n]) {
  T y(coefficients[n - 1]);
  for (std::size_t i = n - 1; i-- > 0;) y = y * x + T(coefficients[i]);
  return y;
}

/// The inverse of the normal distribution function: Wichura, "Algorithm AS 241: the percentage points of the normal
/// distribution", 1988, PPND16.
struct NormalQuantile {
  using kind = Elementwise;
  static constexpr const char* name = "normal_quantile";
  static constexpr double ulps = 8;  // as published: polynomials of degree 7, a quotient, and a root of a logarithm
  static constexpr unsigned keeps = output(0);
  static constexpr Interval domain = {0.001, 0.999};
  static constexpr double tolerance_factor = 8;  // two polynomials of degree 7 and a quotient

  static constexpr double middle_above[] = {
      3.3871328727963666080,    1.3314166789178437745e+2, 1.9715909503065514427e+3, 1.3731693765509461125e+4,
      4.5921953931549871457e+4, 6.7265770927008700853e+4, 3.3430575583588128105e+4, 2.5090809287301226727e+3};
  static constexpr double middle_below[] = {1,
                                            4.2313330701600911252e+1,
                                            6.8718700749205790830e+2,
                                            5.3941960214247511077e+3,
                                            2.1213794301586595867e+4,
                                            3.9307895800092710610e+4,
                                            2.8729085735721942674e+4,
                                            5.2264952788528545610e+3};
  static constexpr double side_above[] = {
      1.42343711074968357734, 4.63033784615654529590,    5.76949722146069140550,    3.64784832476320460504,
      1.27045825245236838258, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4};
  static constexpr double side_below[] = {1,
                                          2.05319162663775882187,
                                          1.67638483018380384940,
                                          6.89767334985100004550e-1,
                                          1.48103976427480074590e-1,
                                          1.51986665636164571966e-2,
                                          5.47593808499534494600e-4,
                                          1.05075007164441684324e-9};
  static constexpr double tail_above[] = {
      6.65790464350110377720,    5.46378491116411436990,    1.78482653991729133580,    2.96560571828504891230e-1,
      2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static constexpr double tail_below[] = {1,
                                          5.99832206555887937690e-1,
                                          1.36929880922735805310e-1,
                                          1.48753612908506148525e-2,
                                          7.86869131145613259100e-4,
                                          1.84631831751005468180e-5,
                                          1.42151175831644588870e-7,
                                          2.04426310338993978564e-15};

  template <class T> auto formula(T p) const {
    const T q = p - T(0.5), in_middle = T(0.180625) - q * q;
    const T middle = q * polynomial(in_middle, middle_above) / polynomial(in_middle, middle_below);
    const T r = scalar::sqrt(-scalar::log(scalar::min(p, T(1) - p)));
    const T at_side = r - T(1.6), in_tail = r - T(5);
    const T side = polynomial(at_side, side_above) / polynomial(at_side, side_below);
    const T tail = polynomial(in_tail, tail_above) / polynomial(in_tail, tail_below);
    const T size = scalar::select(scalar::less_equal(r, T(5)), side, scalar::select(scalar::isinf(r), r, tail));
    return scalar::select(scalar::less_equal(scalar::abs(q), T(0.425)), middle, scalar::copysign(size, q));
  }
  /// Newton's step from the formula's value doubles its digits.
  template <class T> T exact(T p) const {
    const T z = formula(p), root = scalar::sqrt(T(0.5));
    const T below = scalar::erfc(-z * root) * T(0.5) - p, above = T(1) - p - scalar::erfc(z * root) * T(0.5);
    const T error = scalar::select(scalar::less(p, T(0.5)), below, above);
    const T moved = z - error * scalar::sqrt(T(2) * T(std::numbers::pi_v<long double>)) * scalar::exp(z * z * T(0.5));
    return scalar::select(scalar::isfinite(z), moved, z);
  }
  Tensor partial(const Tensor&, const Tensor& z) const {
    return mul(exp(div(square(z), 2)), std::sqrt(2 * std::numbers::pi));
  }
  /// By bisection.
  static double reference(double p) {
    double low = -40, high = 40;
    for (int i = 0; i < 100; ++i) {
      const double z = (low + high) / 2;
      (std::erfc(-z / std::numbers::sqrt2) / 2 < p ? low : high) = z;
    }
    return (low + high) / 2;
  }
};

Tensor normal_distribution(const Tensor& z) { return erfc(z * -(1 / std::numbers::sqrt2)) / 2; }

}  // namespace

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
  const Tensor from = normal_distribution(where(turned, -b, a)), until = normal_distribution(where(turned, -a, b));
  const Tensor z = apply(NormalQuantile{}, from + (until - from) * r.noise.uniform(r.shape, DType::float64));
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
