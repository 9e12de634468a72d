// Activation functions of networks. The `…_slope` operations apply a derivative to a tangent in one pass instead of
// several; their own derivatives are written in other operations. Start with `Sigmoid`.
#include <cmath>
#include <numbers>

#include "ops/sums.h"
#include "primitive/called.h"
#include "ricci/primitive/elementwise.h"

namespace ricci {
namespace {

constexpr DTypes fields = DTypes::floating | DTypes::complex;

/// 1 / (1 + exp(-x)), which needs no case for large x: exp gives inf or 0.
template <class T>
T logistic(T x) {
  return T(1) / (T(1) + scalar::exp(-x));
}
double logistic_reference(double x) { return 1 / (1 + std::exp(-x)); }

/// t y (1 - y).
struct SigmoidSlope {
  using kind = Elementwise;
  static constexpr const char* name = "sigmoid_slope";
  static constexpr DTypes dtypes = fields;
  static constexpr unsigned keeps = input(0) | input(1);
  template <class T> auto formula(T t, T y) const { return t * (y * (T(1) - y)); }
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor&) const {
    return i == 0 ? apply(SigmoidSlope{}, t, x[1]) : mul(mul(t, x[0]), sub(1, mul(x[1], 2)));
  }
  static double reference(double t, double y) { return t * y * (1 - y); }
};

struct Sigmoid {
  using kind = Elementwise;
  static constexpr const char* name = "sigmoid";
  static constexpr DTypes dtypes = fields;
  static constexpr unsigned keeps = output(0);
  template <class T> auto formula(T x) const { return logistic(x); }
  Tensor scale(const Tensor& t, const Tensor&, const Tensor& y) const { return apply(SigmoidSlope{}, t, y); }
  static double reference(double x) { return logistic_reference(x); }
};

struct Logsigmoid {
  using kind = Elementwise;
  static constexpr const char* name = "logsigmoid";
  static constexpr unsigned keeps = input(0);
  template <class T> auto formula(T x) const {
    return scalar::min(x, T(0)) - scalar::log1p(scalar::exp(-scalar::abs(x)));
  }
  Tensor partial(const Tensor& x, const Tensor&) const { return sigmoid(neg(x)); }
  static double reference(double x) { return -std::log1p(std::exp(-x)); }
};

/// t where y is positive (or NaN), else 0. A step: constant in y.
struct ReluSlope {
  using kind = Elementwise;
  static constexpr const char* name = "relu_slope";
  static constexpr unsigned keeps = input(1);
  template <class T> auto formula(T t, T y) const { return scalar::select(scalar::less_equal(y, T(0)), T(0), t); }
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor&) const {
    return i == 0 ? apply(ReluSlope{}, t, x[1]) : Tensor();
  }
  static double reference(double t, double y) { return y > 0 ? t : 0; }
};

struct Relu {
  using kind = Elementwise;
  static constexpr const char* name = "relu";
  static constexpr DTypes dtypes = DTypes::floating | DTypes::integral;
  static constexpr unsigned keeps = output(0);
  template <class T> auto formula(T x) const { return scalar::select(scalar::less_equal(x, T(0)), T(0), x); }
  Tensor scale(const Tensor& t, const Tensor&, const Tensor& y) const { return apply(ReluSlope{}, t, y); }
  static double reference(double x) { return std::fmax(x, 0); }
};

struct LeakyRelu {
  using kind = Elementwise;
  static constexpr const char* name = "leaky_relu";
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

struct Elu {
  using kind = Elementwise;
  static constexpr const char* name = "elu";
  static constexpr unsigned keeps = input(0) | output(0);
  double alpha;

  template <class T> auto formula(T x) const {
    return scalar::select(scalar::greater(x, T(0)), x, T(alpha) * scalar::expm1(x));
  }
  /// alpha exp(x) is y + alpha.
  Tensor scale(const Tensor& t, const Tensor& x, const Tensor& y) const {
    return where(gt(x, 0), t, mul(t, add(y, alpha)));
  }
  double reference(double x) const { return x > 0 ? x : alpha * std::expm1(x); }
  static std::vector<Sample<Elu>> samples() {
    return {{{1}, {sub(rand({2, 3}), 0.5)}}, {{0.3}, {sub(rand({4}), 0.5)}}};
  }
};

/// Phi(x) by erfc, so that it keeps its digits far to the left.
template <class T>
T normal_distribution(T x) {
  return T(0.5) * scalar::erfc(x * T(-std::numbers::sqrt2 / 2));
}

constexpr double normal_peak = 0.398942280401432677939946059934;  // 1 / sqrt(2 pi)

/// t (Phi(x) + x phi(x)).
struct GeluSlope {
  using kind = Elementwise;
  static constexpr const char* name = "gelu_slope";
  static constexpr unsigned keeps = input(0) | input(1);
  template <class T> auto formula(T t, T x) const {
    return t * (normal_distribution(x) + x * T(normal_peak) * scalar::exp(T(-0.5) * x * x));
  }
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor&) const {
    if (i == 0) return apply(GeluSlope{}, t, x[1]);
    const Tensor squared = square(x[1]);
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
  static constexpr unsigned keeps = input(0);
  template <class T> auto formula(T x) const { return x * normal_distribution(x); }
  Tensor scale(const Tensor& t, const Tensor& x, const Tensor&) const { return apply(GeluSlope{}, t, x); }
  static double reference(double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }
};

/// With s = sigmoid(x): t s (1 + x (1 - s)).
struct SiluSlope {
  using kind = Elementwise;
  static constexpr const char* name = "silu_slope";
  static constexpr unsigned keeps = input(0) | input(1);
  template <class T> auto formula(T t, T x) const {
    const T s = logistic(x);
    return t * (s * (T(1) + x * (T(1) - s)));
  }
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor&) const {
    if (i == 0) return apply(SiluSlope{}, t, x[1]);
    const Tensor s = sigmoid(x[1]), left = sub(1, s);
    return mul(mul(t, x[0]), mul(mul(s, left), add(mul(x[1], sub(left, s)), 2)));
  }
  static double reference(double t, double x) {
    const double s = logistic_reference(x);
    return t * s * (1 + x * (1 - s));
  }
};

struct Silu {
  using kind = Elementwise;
  static constexpr const char* name = "silu";
  static constexpr unsigned keeps = input(0);
  template <class T> auto formula(T x) const { return x / (T(1) + scalar::exp(-x)); }
  Tensor scale(const Tensor& t, const Tensor& x, const Tensor&) const { return apply(SiluSlope{}, t, x); }
  static double reference(double x) { return x * logistic_reference(x); }
};

/// t sigmoid(beta x), and t beyond the threshold.
struct SoftplusSlope {
  using kind = Elementwise;
  static constexpr const char* name = "softplus_slope";
  static constexpr unsigned keeps = input(0) | input(1);
  double beta, threshold;

  template <class T> auto formula(T t, T x) const {
    const T z = x * T(beta);
    return scalar::select(scalar::greater(z, T(threshold)), t, t * logistic(z));
  }
  Tensor scale(int i, const Tensor& t, std::span<const Tensor> x, const Tensor&) const {
    if (i == 0) return apply(*this, t, x[1]);
    const Tensor z = mul(x[1], beta), s = sigmoid(z);
    return where(gt(z, threshold), 0, mul(mul(t, x[0]), mul(mul(s, sub(1, s)), beta)));
  }
  double reference(double t, double x) const { return x * beta > threshold ? t : t * logistic_reference(x * beta); }
  static std::vector<Sample<SoftplusSlope>> samples() { return {{{2, 1}, {rand({2, 3}), rand({2, 3})}}}; }
};

struct Softplus {
  using kind = Elementwise;
  static constexpr const char* name = "softplus";
  static constexpr unsigned keeps = input(0);
  double beta, threshold;

  template <class T> auto formula(T x) const {
    const T z = x * T(beta), soft = scalar::max(z, T(0)) + scalar::log1p(scalar::exp(-scalar::abs(z)));
    return scalar::select(scalar::greater(z, T(threshold)), x, soft / T(beta));
  }
  Tensor scale(const Tensor& t, const Tensor& x, const Tensor&) const {
    return apply(SoftplusSlope{beta, threshold}, t, x);
  }
  double reference(double x) const { return x * beta > threshold ? x : std::log1p(std::exp(x * beta)) / beta; }
  static std::vector<Sample<Softplus>> samples() {
    return {{{1, 20}, {sub(rand({2, 3}), 0.5)}}, {{2, 1}, {sub(mul(rand({8}), 4), 2)}}};
  }
};

}  // namespace

namespace ops {

Tensor sigmoid(const Tensor& x) { return apply(Sigmoid{}, x); }
Tensor logsigmoid(const Tensor& x) { return apply(Logsigmoid{}, x); }
Tensor relu(const Tensor& x) { return apply(Relu{}, x); }
Tensor leaky_relu(const Tensor& x) { return leaky_relu(x, 0.01); }
Tensor leaky_relu(const Tensor& x, double negative_slope) { return apply(LeakyRelu{negative_slope}, x); }
Tensor elu(const Tensor& x) { return elu(x, 1); }
Tensor elu(const Tensor& x, double alpha) { return apply(Elu{alpha}, x); }
Tensor gelu(const Tensor& x) { return apply(Gelu{}, x); }
Tensor silu(const Tensor& x) { return apply(Silu{}, x); }
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
