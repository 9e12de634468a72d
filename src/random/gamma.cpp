// Gamma numbers and what is made of them. They are taken as logarithms, so that nothing underflows where concentrations
// are small, and are differentiable: not along the path of the algorithm, which jumps, but along the quantile function
// at a fixed probability. Start with `log_gamma_slope`.
#include <array>
#include <cmath>
#include <limits>

#include "kernels/random_samplers.h"
#include "ops/axes.h"
#include "ops/bounded_number.h"
#include "random/element_samplers.h"
#include "random/samplers.h"
#include "ricci/primitive/elementwise.h"

namespace ricci {
namespace {

/// A node of the trapezoidal rule for ∫ f(s) ds over (0, ∞) after s = exp(v - exp(-v)), for f that falls like exp(-s):
/// Takahasi and Mori, "Double exponential formulas for numerical integration", 1974.
struct Node {
  double s, weight;
};
constexpr int node_count = 101;
const std::array<Node, node_count>& nodes() {
  static const auto all = [] {
    std::array<Node, node_count> made;
    constexpr double step = 0.1, first = -4;
    for (int i = 0; i < node_count; ++i) {
      const double v = first + step * i, s = std::exp(v - std::exp(-v));
      made[static_cast<std::size_t>(i)] = {s, step * (1 + std::exp(-v)) * s};
    }
    return made;
  }();
  return all;
}

/// Moments of the nearer tail: ∫ wⁿ exp(a w - x (exp(w) - 1)) dw with x = exp(y), over w < 0 where x < a + 1/2, else
/// over w > 0. The integrand is the density of the logarithm of a gamma number, a being the concentration, at y + w
/// over that at y. Relative error 1e-11.
struct GammaTailMoment {
  using kind = Elementwise;
  static constexpr const char* name = "gamma_tail_moment";
  static constexpr double ulps = std::numeric_limits<double>::infinity();  // a quadrature; the reference tests it
  static constexpr unsigned keeps[] = {input(0) | input(1), input(0) | input(1) | output(0)};
  static constexpr double tolerance_factor = 64;  // a sum of a hundred terms whose exponents are differences
  BoundedNumber<0, 170> n;

  template <class T> auto formula(T a, T y) const {
    const T x = scalar::exp(y), one(1);
    const T below = -scalar::sqrt(one + a) / a, above = one / scalar::sqrt(one + x);
    const T scale = scalar::select(scalar::less(x, a + T(0.5)), below, above);
    T sum(0);
    for (const Node& node : nodes()) {
      const T w = scale * T(node.s);
      T term = T(node.weight) * scalar::exp(a * w - x * scalar::expm1(w));
      for (std::int64_t k = 0; k < n; ++k) term = term * w;
      sum = sum + term;
    }
    return sum * scalar::abs(scale);
  }
  /// By a, the next moment; by y, by parts.
  Tensor partial(int i, std::span<const Tensor> x, const Tensor& moment) const {
    if (i == 0) return apply(GammaTailMoment{n + 1}, x[0], x[1]);
    const Tensor slope = mul(sub(exp(x[1]), x[0]), moment);
    if (n > 0) return sub(slope, mul(apply(GammaTailMoment{n - 1}, x[0], x[1]), n.value));
    return add(slope, where(is_lower(x[0], x[1]), 1, -1));
  }
  static Tensor is_lower(const Tensor& a, const Tensor& y) { return lt(exp(y), add(a, 0.5)); }
  /// By Simpson's rule, up to where the integrand is below an ulp.
  double reference(double a, double y) const {
    const double x = std::exp(y), side = x < a + 0.5 ? -1 : 1;
    const auto f = [&](double s) {
      return std::pow(side * s, static_cast<double>(n)) * std::exp(a * side * s - x * std::expm1(side * s));
    };
    double end = 1;
    while (a * side * end - x * std::expm1(side * end) + static_cast<double>(n) * std::log(end) > -45) end *= 2;
    constexpr int intervals = 20000;
    double sum = f(0) + f(end);
    for (int i = 1; i < intervals; ++i) sum += (i % 2 ? 4 : 2) * f(end * i / intervals);
    return sum * end / intervals / 3;
  }
  static std::vector<Sample<GammaTailMoment>> samples() {
    std::vector<Sample<GammaTailMoment>> all;
    for (std::int64_t n : {0, 1, 2}) {
      all.push_back({{n}, {rand({2, 3}) * 3 + 0.5, rand({3}) - 3}});
      all.push_back({{n}, {rand({4}) + 0.5, rand({4}) + 2}});
    }
    return all;
  }
};

/// dy/da of y, the logarithm of a gamma number of concentration a, at a fixed probability: -(∂F/∂a) / (∂F/∂y) with the
/// distribution function F of y, from the tail on y's side. In double precision: for small a, terms of 1/a² cancel.
Tensor log_gamma_slope(const Tensor& concentration, const Tensor& log_sample) {
  const Tensor a = to(concentration, DType::float64), y = to(log_sample, DType::float64);
  const Tensor zeroth = apply(GammaTailMoment{0}, a, y), first = apply(GammaTailMoment{1}, a, y);
  const Tensor upper = (y - digamma(a)) * zeroth + first;
  return to(where(GammaTailMoment::is_lower(a, y), -upper, upper), type_of(log_sample).dtype);
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
