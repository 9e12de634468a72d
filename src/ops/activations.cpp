// Activation functions of networks. The `…_slope` operations apply a derivative to a tangent in one pass instead of
// several; their own derivatives are written in other operations. Start with `Sigmoid`.
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

#include "ops/constants.h"
#include "ops/logistic.h"
#include "ops/sums.h"
#include "primitive/called.h"
#include "ricci/primitive/elementwise.h"

namespace ricci {
namespace {

/// 1 / (1 + exp(-x)), by exp(-|x|): the results that are subnormal would otherwise be 1 / inf.
template <class T>
T logistic_of(T x) {
  const T one(1), e = scalar::exp(-scalar::abs(x));
  return scalar::select(scalar::less(x, T(0)), e, one) / (one + e);
}
template <class F>
std::complex<F> logistic_of(std::complex<F> x) {
  return F(1) / (F(1) + std::exp(-x));
}

/// exp(-56.625), which float32 and float64 hold to a hundredth of an ulp.
constexpr double deep_exponent = 56.625, deep_factor = 2.559027554624811123470684204e-25;

/// exp(-|x|) as a product e · last. Where x is far below 0, last is the deep factor, and e is larger by as much, so
/// that e is not subnormal before it is multiplied: a subnormal number has few digits. Elsewhere last is 1.
template <class T>
struct Falling {
  T e, last;
};
template <class T>
Falling<T> falling(T x) {
  const auto deep = scalar::less(x, T(-64));
  return {scalar::exp(scalar::select(deep, T(deep_exponent), T(0)) - scalar::abs(x)),
          scalar::select(deep, T(deep_factor), T(1))};
}

/// t weight / (1 + exp(-x)).
template <class T>
T share(T t, T weight, T x) {
  const auto [e, last] = falling(x);
  const T part = scalar::select(scalar::less(x, T(0)), e * weight, weight);
  return t * part / scalar::fma(e, last, T(1)) * last;
}

/// x, or 2000 with the sign of an infinite x: there the sigmoid is 0 or 1 already, and 0 times infinity would be NaN.
template <class T>
T made_finite(T x) {
  return scalar::select(scalar::isinf(x), scalar::copysign(T(2000), x), x);
}

double logistic_reference(double x) { return 1 / (1 + std::exp(-x)); }

/// t y (1 - y).
struct SigmoidSlope {
  using kind = Elementwise;
  static constexpr const char* name = "sigmoid_slope";
  static constexpr unsigned linear_in = input(0);
  static constexpr double ulps = 2.5;
  static constexpr DTypes dtypes = fields;
  static constexpr unsigned keeps = input(0) | input(1);
  template <class T> auto formula(T t, T y) const { return t * (y * (T(1) - y)); }
  /// y is a sigmoid, so |y| <= 1; beyond that nothing is promised.
  template <class T> static T unit(T, T y) {
    return scalar::select(scalar::less_equal(scalar::abs(y), T(1)), T(0), T(infinity));
  }
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor&) const {
    return i == 0 ? apply(SigmoidSlope{}, t, x[1]) : mul(mul(t, x[0]), sub(1, mul(x[1], 2)));
  }
  static double reference(double t, double y) { return t * y * (1 - y); }
};

struct Sigmoid {
  using kind = Elementwise;
  static constexpr const char* name = "sigmoid";
  static constexpr double ulps = 2.5;
  static constexpr DTypes dtypes = fields;
  static constexpr unsigned keeps = output(0);
  template <class T> auto formula(T x) const { return logistic_of(x); }
  Tensor scale(const Tensor& t, const Tensor&, const Tensor& y) const { return apply(SigmoidSlope{}, t, y); }
  static double reference(double x) { return logistic_reference(x); }
};

/// A sigmoid whose derivative is computed from x: near y = 1, y (1 - y) has lost the digits of 1 - y.
struct Logistic {
  using kind = Elementwise;
  static constexpr const char* name = "logistic";
  static constexpr double ulps = 2.5;
  static constexpr unsigned keeps = input(0);
  template <class T> auto formula(T x) const { return logistic_of(x); }
  Tensor partial(const Tensor& x, const Tensor&) const { return mul(apply(Logistic{}, x), apply(Logistic{}, neg(x))); }
  static double reference(double x) { return logistic_reference(x); }
};

struct Logsigmoid {
  using kind = Elementwise;
  static constexpr const char* name = "logsigmoid";
  static constexpr double ulps = 1.6;
  static constexpr unsigned keeps = input(0);
  template <class T> auto formula(T x) const {
    return scalar::min(x, T(0)) - scalar::log1p(scalar::exp(-scalar::abs(x)));
  }
  Tensor partial(const Tensor& x, const Tensor&) const { return apply(Logistic{}, neg(x)); }
  static double reference(double x) { return -std::log1p(std::exp(-x)); }
};

/// t where y is positive (or NaN), else 0. A step: constant in y.
struct ReluSlope {
  using kind = Elementwise;
  static constexpr const char* name = "relu_slope";
  static constexpr unsigned linear_in = input(0);
  static constexpr double ulps = 0;
  static constexpr unsigned keeps[] = {input(1), nothing};
  template <class T> auto formula(T t, T y) const { return scalar::select(scalar::less_equal(y, T(0)), T(0), t); }
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor&) const {
    return i == 0 ? apply(ReluSlope{}, t, x[1]) : Tensor();
  }
  static double reference(double t, double y) { return y > 0 ? t : 0; }
};

struct Relu {
  using kind = Elementwise;
  static constexpr const char* name = "relu";
  static constexpr double ulps = 0;
  static constexpr DTypes dtypes = DTypes::floating | DTypes::integral;
  static constexpr unsigned keeps = output(0);
  template <class T> auto formula(T x) const { return scalar::select(scalar::less_equal(x, T(0)), T(0), x); }
  Tensor scale(const Tensor& t, const Tensor&, const Tensor& y) const { return apply(ReluSlope{}, t, y); }
  static double reference(double x) { return std::fmax(x, 0); }
};

struct LeakyRelu {
  using kind = Elementwise;
  static constexpr const char* name = "leaky_relu";
  static constexpr double ulps = 1;
  static constexpr unsigned keeps = input(0);
  double negative_slope;

  template <class T> auto formula(T x) const {
    return scalar::select(scalar::greater(x, T(0)), x, x * T(negative_slope));
  }
  Tensor scale(const Tensor& t, const Tensor& x, const Tensor&) const {
    return where(gt(x, 0), t, mul(t, negative_slope));
  }
  double reference(double x) const { return x > 0 ? x : negative_slope * x; }
  static std::vector<Sample<LeakyRelu>> samples() { return {{{0.01}, {sub(rand({2, 3}), 0.5)}}}; }
};

/// t where x > 0, else t alpha exp(x). Its derivative at 0 is that of x > 0, as in PyTorch.
struct EluSlope {
  using kind = Elementwise;
  static constexpr const char* name = "elu_slope";
  static constexpr unsigned linear_in = input(0);
  static constexpr double ulps = 2.5;
  static constexpr unsigned keeps = input(0) | input(1);
  double alpha;

  template <class T> auto formula(T t, T x) const {
    return scalar::select(scalar::greater(x, T(0)), t, t * (T(alpha) * scalar::exp(x)));
  }
  template <class T> T exact(T t, T x) const {
    return scalar::select(scalar::greater(x, T(0)), t, t * T::in_element(alpha) * scalar::exp(x));
  }
  /// Where exp(x) or alpha exp(x) is subnormal, what it multiplies has no more digits.
  template <class T> T unit(T t, T x) const {
    const T size = scalar::abs(T::in_element(alpha)), least = scalar::max(size, T(1)) * T::smallest_normal();
    return scalar::select(scalar::greater(x, T(0)), T(0), t * scalar::max(size * scalar::exp(x), least));
  }
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor&) const {
    if (i == 0) return apply(*this, t, x[1]);
    return where(ge(x[1], 0), 0, apply(*this, mul(t, x[0]), x[1]));
  }
  double reference(double t, double x) const { return x > 0 ? t : t * alpha * std::exp(x); }
  static std::vector<Sample<EluSlope>> samples() { return {{{0.3}, {rand({8}), sub(rand({8}), 0.5)}}}; }
};

struct Elu {
  using kind = Elementwise;
  static constexpr const char* name = "elu";
  static constexpr double ulps = 2.5;
  static constexpr unsigned keeps = input(0);
  double alpha;

  template <class T> auto formula(T x) const {
    return scalar::select(scalar::greater(x, T(0)), x, T(alpha) * scalar::expm1(x));
  }
  Tensor scale(const Tensor& t, const Tensor& x, const Tensor&) const { return apply(EluSlope{alpha}, t, x); }
  double reference(double x) const { return x > 0 ? x : alpha * std::expm1(x); }
  static std::vector<Sample<Elu>> samples() {
    return {{{1}, {sub(rand({2, 3}), 0.5)}}, {{0.3}, {sub(rand({4}), 0.5)}}};
  }
};

/// Parts of the normal distribution's tail at x. size is |x|, at most 56; ratio is Mills' ratio at size. The density
/// exp(-x^2 / 2) is density · last, split as in `falling`, but of the rounded x^2: multiply it by 1 + correction.
template <class T>
struct NormalTail {
  T size, ratio, density, correction, last;
};
template <class T>
NormalTail<T> normal_tail(T x) {
  const T size = scalar::min(scalar::abs(x), T(56)), squared = size * size;
  const auto deep = scalar::greater(squared, T(128));
  const T density = scalar::exp(scalar::fma(squared, T(-0.5), scalar::select(deep, T(deep_exponent), T(0))));
  return {size, scalar::mills(size), density, scalar::fma(size, size, -squared) * T(-0.5),
          scalar::select(deep, T(deep_factor), T(1))};
}

constexpr double normal_peak = 0.398942280401432677939946059934;  // 1 / sqrt(2 pi)

/// Phi and phi for the laws.
template <class T>
T exact_distribution(T x) {
  return T(0.5) * scalar::erfc(-x * scalar::sqrt(T(0.5)));
}
template <class T>
T exact_density(T x) {
  return scalar::exp(T(-0.5) * x * x) / scalar::sqrt(T(2) * T(std::numbers::pi_v<long double>));
}

/// t (Phi(x) + x phi(x)).
struct GeluSlope {
  using kind = Elementwise;
  static constexpr const char* name = "gelu_slope";
  static constexpr unsigned linear_in = input(0);
  static constexpr double ulps = 5;  // the terms of two slopes, a density in two factors, and t
  static constexpr unsigned keeps = input(0) | input(1);
  template <class T> auto formula(T t, T x) const {
    const auto [size, ratio, density, correction, last] = normal_tail(x);
    const T slope = scalar::fma(size, T(normal_peak), -ratio) * density;
    const T tail = scalar::fma(slope, correction, slope) * t * last;
    return scalar::select(scalar::less(x, T(0)), -tail, t + tail);
  }
  template <class T> static T exact(T t, T x) { return t * (exact_distribution(x) + x * exact_density(x)); }
  /// The terms cancel near x = -0.75; where the slope itself is subnormal, t times it has no more digits.
  template <class T> static T unit(T t, T x) { return t * scalar::max(exact_distribution(x), T::smallest_normal()); }
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor&) const {
    if (i == 0) return apply(GeluSlope{}, t, x[1]);
    const Tensor squared = square(clamp(x[1], -40, 40));  // what is beyond is 0, and infinite squares would make it NaN
    const Tensor change = mul(exp(mul(squared, -0.5)), mul(sub(2, squared), normal_peak));
    return mul(mul(t, x[0]), change);
  }
  static double reference(double t, double x) {
    return t * (0.5 * std::erfc(-x / std::sqrt(2.0)) + x * std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi));
  }
};

struct Gelu {
  using kind = Elementwise;
  static constexpr const char* name = "gelu";
  static constexpr double ulps = 4;
  static constexpr unsigned keeps = input(0);
  template <class T> auto formula(T x) const {
    const auto [size, ratio, density, correction, last] = normal_tail(x);
    const T rounded = size * ratio * density, tail = scalar::fma(rounded, correction, rounded) * last;
    return scalar::select(scalar::less(x, T(0)), -tail, x - tail);
  }
  template <class T> static T exact(T x) { return x * exact_distribution(x); }
  Tensor scale(const Tensor& t, const Tensor& x, const Tensor&) const { return apply(GeluSlope{}, t, x); }
  static double reference(double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }
};

/// With s = sigmoid(x): t s (1 + x (1 - s)).
struct SiluSlope {
  using kind = Elementwise;
  static constexpr const char* name = "silu_slope";
  static constexpr unsigned linear_in = input(0);
  static constexpr double ulps = 6;  // a logistic in two factors, its complement magnified by x, and t
  static constexpr unsigned keeps = input(0) | input(1);
  template <class T> auto formula(T t, T x) const {
    const T finite = made_finite(x);
    return share(t, scalar::fma(finite, logistic_of(-finite), T(1)), finite);
  }
  template <class T> static T exact(T t, T x) { return t * logistic_of(x) * (T(1) + x * logistic_of(-x)); }
  /// The terms cancel near x = -1.28; where the slope itself is subnormal, t times it has no more digits.
  template <class T> static T unit(T t, T x) { return t * scalar::max(logistic_of(x), T::smallest_normal()); }
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor&) const {
    if (i == 0) return apply(SiluSlope{}, t, x[1]);
    const Tensor finite = clamp(x[1], -2000, 2000);  // beyond, the change is 0
    const Tensor s = apply(Logistic{}, finite), left = apply(Logistic{}, neg(finite));
    return mul(mul(t, x[0]), mul(mul(s, left), add(mul(finite, sub(left, s)), 2)));
  }
  static double reference(double t, double x) {
    const double s = logistic_reference(x);
    return t * s * (1 + x * (1 - s));
  }
};

struct Silu {
  using kind = Elementwise;
  static constexpr const char* name = "silu";
  static constexpr double ulps = 3;
  static constexpr unsigned keeps = input(0);
  template <class T> auto formula(T x) const {
    return share(scalar::select(scalar::less(x, T(0)), made_finite(x), x), T(1), x);
  }
  template <class T> static T exact(T x) { return x * logistic_of(x); }
  Tensor scale(const Tensor& t, const Tensor& x, const Tensor&) const { return apply(SiluSlope{}, t, x); }
  static double reference(double x) { return x * logistic_reference(x); }
};

/// y exp(|z| - |beta x|), where z is beta x rounded: it turns y = exp(-|z|) into exp(-|beta x|). The exponent,
/// `shrink`, is so small that exp(shrink) is 1 + shrink. Where z is not finite, y.
template <class T>
T corrected_for_rounding(T y, T x, T z, double beta) {
  const T error = scalar::fma(x, T(beta), -z), shrink = scalar::select(scalar::less(z, T(0)), error, -error);
  return scalar::select(scalar::isfinite(error), scalar::fma(y, shrink, y), y);
}

/// t sigmoid(beta x), and t beyond the threshold.
struct SoftplusSlope {
  using kind = Elementwise;
  static constexpr const char* name = "softplus_slope";
  static constexpr unsigned linear_in = input(0);
  static constexpr double ulps = 3.5;
  static constexpr unsigned keeps = input(0) | input(1);
  double beta, threshold;

  template <class T> auto formula(T t, T x) const {
    const T z = x * T(beta), one(1);
    const T weight = scalar::select(scalar::less(z, T(0)), corrected_for_rounding(one, x, z, beta), one);
    return scalar::select(scalar::greater(z, T(threshold)), t, share(t, weight, z));
  }
  template <class T> T exact(T t, T x) const {
    const T z = x * T::in_element(beta);
    return scalar::select(scalar::greater(z, T(threshold)), t, t * logistic_of(z));
  }
  /// Where the slope itself is subnormal, t times it has no more digits.
  template <class T> T unit(T t, T x) const {
    return t * scalar::max(logistic_of(x * T::in_element(beta)), T::smallest_normal());
  }
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor&) const {
    if (i == 0) return apply(*this, t, x[1]);
    const Tensor z = mul(x[1], beta), change = mul(apply(Logistic{}, z), apply(Logistic{}, neg(z)));
    return where(ge(z, threshold), 0, mul(mul(t, x[0]), mul(change, beta)));  // at the threshold 0, as in PyTorch
  }
  double reference(double t, double x) const { return x * beta > threshold ? t : t * logistic_reference(x * beta); }
  static std::vector<Sample<SoftplusSlope>> samples() { return {{{2, 1}, {rand({2, 3}), rand({2, 3})}}}; }
};

struct Softplus {
  using kind = Elementwise;
  static constexpr const char* name = "softplus";
  static constexpr double ulps = 3;
  static constexpr unsigned keeps = input(0);
  double beta, threshold;

  template <class T> auto formula(T x) const {
    const T z = x * T(beta);
    const auto [e, last] = falling(z);
    const T right = corrected_for_rounding(e, x, z, beta), soft = scalar::max(z, T(0)) + scalar::log1p(right);
    const T low = scalar::select(scalar::less(z, T(-64)), right, soft) / T(beta) * last;
    return scalar::select(scalar::greater(z, T(threshold)), x, low);
  }
  template <class T> T exact(T x) const {
    const T b = T::in_element(beta), z = x * b;
    const T soft = scalar::max(z, T(0)) + scalar::log1p(scalar::exp(-scalar::abs(z)));
    return scalar::select(scalar::greater(z, T(threshold)), x, soft / b);
  }
  Tensor scale(const Tensor& t, const Tensor& x, const Tensor&) const {
    return apply(SoftplusSlope{beta, threshold}, t, x);
  }
  double reference(double x) const { return x * beta > threshold ? x : std::log1p(std::exp(x * beta)) / beta; }
  static std::vector<Sample<Softplus>> samples() {
    return {{{1, 20}, {sub(rand({2, 3}), 0.5)}}, {{2, 1}, {sub(mul(rand({8}), 4), 2)}}, {{0.3, 20}, {rand({3})}}};
  }
};

}  // namespace

Tensor logistic(const Tensor& x) { return apply(Logistic{}, x); }

namespace ops {

Tensor sigmoid(const Tensor& x) { return apply(Sigmoid{}, x); }
Tensor logsigmoid(const Tensor& x) { return apply(Logsigmoid{}, x); }
Tensor relu(const Tensor& x) { return apply(Relu{}, x); }
Tensor leaky_relu(const Tensor& x) { return leaky_relu(x, 0.01); }
Tensor leaky_relu(const Tensor& x, double negative_slope) { return apply(LeakyRelu{negative_slope}, x); }
Tensor elu(const Tensor& x) { return elu(x, 1); }
Tensor elu(const Tensor& x, double alpha) { return apply(Elu{alpha}, x); }
Tensor gelu(const Tensor& x) { return apply(Gelu{}, x); }
Tensor gelu_tanh(const Tensor& x) {
  const Called as("gelu_tanh", x);
  const double factor = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  return mul(mul(x, 0.5), add(tanh(mul(add(x, mul(mul(square(x), x), 0.044715)), factor)), 1));
}
Tensor silu(const Tensor& x) {
  const Called as("silu", x);
  return x.is_complex() ? x * sigmoid(x) : apply(Silu{}, x);
}
Tensor threshold(const Tensor& x, const Tensor& threshold, const Tensor& value) {
  const Called as("threshold", x, threshold, value);
  require_order("threshold", x);
  return where(le(x, threshold), value, x);
}
Tensor softplus(const Tensor& x) { return softplus(x, 1, 20); }
Tensor softplus(const Tensor& x, double beta, double threshold) { return apply(Softplus{beta, threshold}, x); }

const Tensor& Tensor::sigmoid_() const { return apply_into(*this, Sigmoid{}, *this); }
const Tensor& Tensor::relu_() const { return apply_into(*this, Relu{}, *this); }
const Tensor& sigmoid_(const Tensor& x) { return x.sigmoid_(); }
const Tensor& relu_(const Tensor& x) { return x.relu_(); }

}  // namespace ops
}  // namespace ricci
