// Losses that compare input and target element by element. Each is one elementwise operation of the two, so that they
// broadcast, promote and report as one call; their derivatives stay finite at extreme values.
#include "ops/losses.h"

#include <cmath>

#include "ops/axes.h"
#include "ricci/primitive/elementwise.h"

namespace ricci {
namespace {

struct SquaredError {
  using kind = Elementwise;
  static constexpr const char* name = "mse_loss";
  static constexpr double ulps = 2;
  static constexpr unsigned keeps = input(0) | input(1);
  template <class T> auto formula(T x, T target) const {
    const T difference = x - target;
    return difference * difference;
  }
  Tensor partial(int i, std::span<const Tensor> x, const Tensor&) const {
    return (i == 0 ? x[0] - x[1] : x[1] - x[0]) * 2;
  }
  static double reference(double x, double target) { return x * x - 2 * x * target + target * target; }
};

/// The derivative at 0 is 0.
struct AbsoluteError {
  using kind = Elementwise;
  static constexpr const char* name = "l1_loss";
  static constexpr double ulps = 0.5;
  static constexpr unsigned keeps = input(0) | input(1);
  template <class T> auto formula(T x, T target) const { return scalar::abs(x - target); }
  Tensor partial(int i, std::span<const Tensor> x, const Tensor&) const {
    return sign(i == 0 ? x[0] - x[1] : x[1] - x[0]);
  }
  static double reference(double x, double target) { return x < target ? target - x : x - target; }
};

/// A parabola between -delta and delta, tangents outside.
struct Huber {
  using kind = Elementwise;
  static constexpr const char* name = "huber_loss";
  static constexpr double ulps = 3;
  static constexpr unsigned keeps = input(0) | input(1);
  double delta = 1;
  template <class T> auto formula(T x, T target) const {
    const T size = scalar::abs(x - target);
    const T outside = T(delta) * (size - T(0.5 * delta));
    return scalar::select(scalar::less(size, T(delta)), T(0.5) * size * size, outside);
  }
  /// The difference may overflow where delta times it does not.
  template <class T> T unit(T x, T target) const {
    const T size = scalar::abs(x - target);
    return scalar::select(scalar::less(size, T(delta)), T(0), size);
  }
  Tensor partial(int i, std::span<const Tensor> x, const Tensor&) const {
    return clamp(i == 0 ? x[0] - x[1] : x[1] - x[0], -delta, delta);
  }
  static std::vector<Sample<Huber>> samples() {
    const auto x = [](Shape shape) { return rand(shape) * 4 - 2; };
    return {{{1}, {x({7}), x({7})}}, {{0.5}, {x({2, 1}), x({3})}}, {{100}, {x({}), x({3})}}};
  }
  double reference(double x, double target) const {
    const double inside = std::fmin(std::fabs(x - target), delta);
    return inside * (std::fabs(x - target) - inside / 2);
  }
};

/// -y log σ(x) - (1 - y) log(1 - σ(x)), without forming σ(x).
struct BinaryCrossEntropyWithLogits {
  using kind = Elementwise;
  static constexpr const char* name = "binary_cross_entropy_with_logits";
  static constexpr double ulps = 4;
  static constexpr unsigned keeps = input(0) | input(1);
  template <class T> auto formula(T x, T y) const {
    return scalar::max(x, T(0)) - x * y + scalar::log1p(scalar::exp(-scalar::abs(x)));
  }
  /// Near a target of 1 the first two terms cancel.
  template <class T> static T unit(T x, T y) { return scalar::max(scalar::abs(x), scalar::abs(x * y)); }
  Tensor partial(int i, std::span<const Tensor> x, const Tensor&) const {
    return i == 0 ? sigmoid(x[0]) - x[1] : neg(x[0]);
  }
  static double reference(double x, double y) {
    return y * std::log1p(std::exp(-x)) + (1 - y) * std::log1p(std::exp(x));
  }
};

/// -y log p - (1 - y) log(1 - p) with logarithms of at least -100, and p (1 - p) of at least 1e-12 in derivatives.
struct BinaryCrossEntropy {
  using kind = Elementwise;
  static constexpr const char* name = "binary_cross_entropy";
  static constexpr double ulps = 4;
  static constexpr unsigned keeps = input(0) | input(1);
  static constexpr Interval domain = {0.1, 0.9};
  template <class T> auto formula(T p, T y) const {
    const T of_one = scalar::max(scalar::log(p), T(-100)), of_zero = scalar::max(scalar::log1p(-p), T(-100));
    return (y - T(1)) * of_zero - y * of_one;
  }
  /// Targets outside [0, 1] let the terms cancel.
  template <class T> static T unit(T p, T y) {
    const T of_one = scalar::max(scalar::log(p), T(-100)), of_zero = scalar::max(scalar::log1p(-p), T(-100));
    return scalar::max(scalar::abs((y - T(1)) * of_zero), scalar::abs(y * of_one));
  }
  Tensor partial(int i, std::span<const Tensor> x, const Tensor&) const {
    const Tensor &p = x[0], &y = x[1];
    if (i == 0) return (p - y) / clamp_min(p * (1 - p), 1e-12);
    return clamp_min(log1p(-p), -100) - clamp_min(log(p), -100);
  }
  static double reference(double p, double y) { return std::log(1 / p) * y + std::log(1 / (1 - p)) * (1 - y); }
};

}  // namespace

Tensor reduced(const Tensor& losses, Reduction reduction) {
  if (reduction == Reduction::none || type_of(losses).rank() == 0) return losses;
  return reduction == Reduction::mean ? mean(losses) : sum(losses);
}

namespace ops {

Tensor mse_loss(const Tensor& input, const Tensor& target) { return mse_loss(input, target, Reduction::mean); }
Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  return reduced(apply(SquaredError{}, input, target), reduction);
}

Tensor l1_loss(const Tensor& input, const Tensor& target) { return l1_loss(input, target, Reduction::mean); }
Tensor l1_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  return reduced(apply(AbsoluteError{}, input, target), reduction);
}

Tensor huber_loss(const Tensor& input, const Tensor& target, double delta) {
  if (!(delta > 0)) raise<ValueError>("huber_loss: delta is " + std::to_string(delta) + "; it must be greater than 0");
  return reduced(apply(Huber{delta}, input, target), Reduction::mean);
}

Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target) {
  return binary_cross_entropy_with_logits(input, target, Reduction::mean);
}
Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target, Reduction reduction) {
  return reduced(apply(BinaryCrossEntropyWithLogits{}, input, target), reduction);
}

Tensor binary_cross_entropy(const Tensor& input, const Tensor& target) {
  return reduced(apply(BinaryCrossEntropy{}, input, target), Reduction::mean);
}

}  // namespace ops
}  // namespace ricci
