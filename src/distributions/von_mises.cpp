// The von Mises distribution: its distribution function as the density at the angle times an integral over the nearer
// tail, and samples with implicit derivatives. Start with `VonMisesTailMoment`.
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "distributions/parameters.h"
#include "kernels/random_samplers.h"
#include "ops/axes.h"
#include "ops/bounded_number.h"
#include "ops/incomplete.h"
#include "random/element_samplers.h"
#include "ricci/ops/bessel.h"
#include "ricci/distributions/interval.h"
#include "ricci/primitive/elementwise.h"

namespace ricci {
namespace {

using std::numbers::pi;

/// Nodes of Gauss and Legendre's rule on [0, 1]: the zeros of Legendre's polynomial by Newton's method.
constexpr int node_count = 40;
const std::array<Node, node_count>& unit_nodes() {
  static const auto all = [] {
    std::array<Node, node_count> made;
    for (int i = 0; i < node_count; ++i) {
      double x = std::cos(pi * (i + 0.75) / (node_count + 0.5)), slope = 1;
      for (int step = 0; step < 100; ++step) {
        double before = 1, p = x;
        for (int k = 2; k <= node_count; ++k) {
          const double next = ((2 * k - 1) * x * p - (k - 1) * before) / k;
          before = p;
          p = next;
        }
        slope = node_count * (x * p - before) / (x * x - 1);
        x -= p / slope;
        if (std::fabs(p / slope) < 1e-16) break;
      }
      made[static_cast<std::size_t>(i)] = {(1 + x) / 2, 1 / ((1 - x * x) * slope * slope)};
    }
    return made;
  }();
  return all;
}

/// Moments of the lower tail at the angle z: ∫ (cos t - cos z)ⁿ exp(k (cos t - cos z)) dt over -pi < t < z, k being the
/// concentration. What lies below exp(-44) of the integrand at z is left out. Relative error 1e-13.
/// Requires: -pi <= z <= 0, k > 0.
struct VonMisesTailMoment {
  using kind = Elementwise;
  static constexpr const char* name = "von_mises_tail_moment";
  static constexpr double ulps = 100;  // a sum of forty exponentials
  static constexpr unsigned keeps[] = {input(0) | input(1), input(0) | input(1) | output(0)};
  static constexpr double tolerance_factor = 64;  // a sum of exponentials whose exponents are differences
  BoundedNumber<0, 170> n;

  template <class T> auto formula(T k, T z) const {
    const T least = scalar::cos(z) - T(44) / k;
    const T length = z + scalar::acos(scalar::max(least, T(-1)));
    T sum(0);
    for (const Node& node : unit_nodes()) {
      const T u = length * T(node.s), half = T(0.5) * u;                  // t = z - u
      const T change = T(2) * scalar::sin(half) * scalar::sin(z - half);  // cos t - cos z
      sum = sum + T(node.weight) * scalar::exp(k * change) * power(change, n);
    }
    return sum * length;
  }
  template <class T> T exact(T k, T z) const {
    if (!is_claimed(k, z)) return T(1);
    const T length = z + (T(0x1.921fb54442d18p1) + T(0x1.1a62633145c07p-53));
    return length * exact_half_line<T>([&](T s) {
             const T half = T(-0.5) * length * scalar::expm1(-s);
             const T change = T(2) * scalar::sin(half) * scalar::sin(z - half);
             return scalar::exp(k * change - s) * power(change, n);
           });
  }
  template <class T> T unit(T k, T z) const { return is_claimed(k, z) ? T(0) : uncounted<T>(); }
  template <class T> static bool is_claimed(T k, T z) { return is_within(k, 0.125, 64) && is_within(z, -3, -0.125); }
  /// By k, the next moment; by z, by parts.
  Tensor partial(int i, std::span<const Tensor> x, const Tensor& moment) const {
    if (i == 0) return apply(VonMisesTailMoment{n + 1}, x[0], x[1]);
    const Tensor slope = mul(mul(x[0], sin(x[1])), moment);
    if (n == 0) return add(slope, 1);
    return add(slope, mul(mul(sin(x[1]), n.value), apply(VonMisesTailMoment{n - 1}, x[0], x[1])));
  }
  /// By Simpson's rule.
  double reference(double k, double z) const {
    const auto f = [&](double t) {
      return std::pow(std::cos(t) - std::cos(z), static_cast<double>(n)) * std::exp(k * (std::cos(t) - std::cos(z)));
    };
    constexpr int intervals = 20000;
    double sum = f(-pi) + f(z);
    for (int i = 1; i < intervals; ++i) sum += (i % 2 ? 4 : 2) * f(-pi + (z + pi) * i / intervals);
    return sum * (z + pi) / intervals / 3;
  }
  static std::vector<Sample<VonMisesTailMoment>> samples() {
    std::vector<Sample<VonMisesTailMoment>> all;
    for (std::int64_t n : {0, 1, 2}) all.push_back({{n}, {rand({2, 3}) * 3 + 0.5, rand({3}) * -2.5 - 0.2}});
    return all;
  }
};

Tensor tail_moment(std::int64_t n, const Tensor& k, const Tensor& z) { return apply(VonMisesTailMoment{n}, k, z); }

/// dz/dk of an angle z at a fixed probability: -(∂F/∂k) / (∂F/∂z) with the distribution function F, from the tail on
/// z's side. In double precision.
Tensor angle_slope(const Tensor& concentration, const Tensor& angle) {
  const Tensor k = to(concentration, DType::float64), z = to(angle, DType::float64);
  const Tensor below = z < 0, lower = where(below, z, -z), mean = i1e(k) / i0e(k);
  const Tensor slope = (cos(z) - mean) * tail_moment(0, k, lower) + tail_moment(1, k, lower);
  return to(where(below, -slope, slope), type_of(angle).dtype);
}

struct VonMisesByKeys {
  using kind = Explicit;
  static constexpr const char* name = "von_mises_by_keys";
  static constexpr unsigned keeps = input(1) | output(0);

  Type type(const Type& keys, const Type& concentration) const {
    require_shape(keys.shape, concentration.shape);
    return {concentration.dtype, concentration.shape};
  }
  void eval(Outputs out, Inputs in) const { sample_elements(out, in, kernels::von_mises_sample, 1); }
  Tensors jvp(const Forward& f) const { return {f.tangents[1] * angle_slope(f.inputs[1], f.outputs[0])}; }
  Tensors vjp(const Reverse& r) const { return {Tensor(), r.cotangents[0] * angle_slope(r.inputs[1], r.outputs[0])}; }
  VonMisesByKeys lifted() const { return {}; }
  static std::vector<Sample<VonMisesByKeys>> samples() {
    return {{{}, {tensor({{1, 2}, {3, 4}}), rand({2, 2}) * 3 + 0.1}}, {{}, {tensor({5}), tensor({40.0})}}};
  }
};

}  // namespace

namespace distributions {

#define LOC_AND_CONCENTRATION                                                     \
  {                                                                               \
    {loc, "loc", Range::any}, { concentration, "concentration", Range::positive } \
  }

Tensor VonMises::sample(const Key& key) const { return sample(key, {}); }
Tensor VonMises::sample(const Key& key, const Shape& sample_shape) const {
  const Request r = request_for("VonMises.sample", key, sample_shape, LOC_AND_CONCENTRATION);
  const Called as("VonMises.sample");
  const Tensor keys = r.noise.keys(r.shape);
  const Tensor angle = loc + apply(VonMisesByKeys{}, keys, expand(to(concentration, r.dtype), type_of(keys).shape));
  return to(angle - 2 * pi * floor((angle + pi) / (2 * pi)), r.dtype);
}
Tensor VonMises::log_prob(const Tensor& value) const {
  const Method m("VonMises.log_prob", LOC_AND_CONCENTRATION, value);
  const Tensor k = to(concentration, m.dtype), half = sin((m.value(value) - loc) * 0.5);
  return -2 * k * square(half) - std::log(2 * pi) - log(i0e(k));
}
Tensor VonMises::cdf(const Tensor& value) const {
  const Method m("VonMises.cdf", LOC_AND_CONCENTRATION, value);
  const Tensor distance = m.value(value) - loc, z = to(clamp(distance, -pi, pi), DType::float64);
  const Tensor k = to(concentration, DType::float64), below = z <= 0, lower = where(below, z, -z);
  const Tensor density = exp(-2 * k * square(sin(lower * 0.5))) / (2 * pi * i0e(k));
  const Tensor tail = density * tail_moment(0, k, lower);
  return to(where(below, tail, 1 - tail), floating_dtype_of(distance, concentration));
}
Tensor VonMises::entropy() const {
  const Method m("VonMises.entropy", LOC_AND_CONCENTRATION);
  const Tensor k = to(concentration, m.dtype), scaled = i0e(k);
  return m.of_batch(std::log(2 * pi) + log(scaled) + k * (1 - i1e(k) / scaled));
}
Tensor VonMises::mean() const { return Method("VonMises.mean", LOC_AND_CONCENTRATION).of_batch(loc); }
Tensor VonMises::variance() const {
  const Method m("VonMises.variance", LOC_AND_CONCENTRATION);
  const Tensor k = to(concentration, m.dtype);
  return m.of_batch(1 - i1e(k) / i0e(k));
}

}  // namespace distributions
}  // namespace ricci
