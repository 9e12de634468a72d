// Losses that compare input and target element by element. Each is one elementwise operation of the two, so that they
// broadcast, promote and report as one call; their derivatives stay finite at extreme values.
#include "ops/losses.h"

#include <cmath>
#include <limits>

#include "ops/axes.h"
#include "ops/logistic.h"
#include "primitive/called.h"
#include "ricci/ops/losses.h"
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

struct Weighed {
  using kind = Elementwise;
  static constexpr const char* name = "weighed";
  static constexpr double ulps = 0.5;
  static constexpr unsigned linear_in_each = input(0) | input(1);
  static constexpr unsigned keeps[] = {input(0) | input(1), input(0)};
  template <class T> auto formula(T weight, T x) const {
    return scalar::select(scalar::equal(weight, T(0)) && scalar::isinf(x), T(0), weight * x);
  }
  Tensor partial(int i, std::span<const Tensor> x, const Tensor&) const {
    return i == 0 ? where(logical_and(eq(x[0], 0), isinf(x[1])), 0, x[1]) : x[0];
  }
  static double reference(double weight, double x) { return weight * x; }
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
    const T weight = scalar::select(scalar::greater(x, T(0)), T(1) - y, -y);
    const T linear = scalar::select(scalar::equal(weight, T(0)), T(0), x * weight);  // 0 times infinity is 0 here
    return linear + scalar::log1p(scalar::exp(-scalar::abs(x)));
  }
  /// Near a target of 1 the first two terms cancel.
  template <class T> static T unit(T x, T y) { return scalar::max(scalar::abs(x), scalar::abs(x * y)); }
  Tensor partial(int i, std::span<const Tensor> x, const Tensor&) const {
    if (i == 1) {
      const Tensor is_left_out = logical_and(eq(where(x[0] > 0, 1 - x[1], x[1]), 0), isinf(x[0]));
      return where(is_left_out, 0, neg(x[0]));
    }
    // σ(x) - y. Where σ(x) is near 1, it has lost what σ(-x) has.
    return where(x[0] > 0, (1 - x[1]) - logistic(neg(x[0])), logistic(x[0]) - x[1]);
  }
  static double reference(double x, double y) {
    return y * std::log1p(std::exp(-x)) + (1 - y) * std::log1p(std::exp(x));
  }
};

constexpr double least_variance = 1e-12;  // of p (1 - p) in derivatives

/// log(1 - p) - log p, each at least -100: the derivative of a cross entropy by y.
struct LimitedLogOdds {
  using kind = Elementwise;
  static constexpr const char* name = "limited_log_odds";
  static constexpr double ulps = 3;
  static constexpr unsigned keeps = input(0);
  static constexpr Interval domain = {0.1, 0.9};
  template <class T> auto formula(T p) const {
    return scalar::max(scalar::log1p(-p), T(-100)) - scalar::max(scalar::log(p), T(-100));
  }
  /// Near 1/2 the logarithms cancel.
  template <class T> static T unit(T p) {
    return scalar::min(scalar::max(scalar::abs(scalar::log1p(-p)), scalar::abs(scalar::log(p))), T(100));
  }
  Tensor partial(const Tensor& p, const Tensor&) const {
    return neg(reciprocal(clamp_min(p * (1 - p), least_variance)));
  }
  static double reference(double p) { return std::log(1 / p - 1); }
};

/// (p - y) / (p (1 - p)): the derivative of a cross entropy by p.
struct CrossEntropySlope {
  using kind = Elementwise;
  static constexpr const char* name = "cross_entropy_slope";
  static constexpr double ulps = 3;
  static constexpr unsigned keeps[] = {input(0) | input(1), input(0)};
  static constexpr Interval domain = {0.1, 0.9};
  template <class T> auto formula(T p, T y) const { return (p - y) / scalar::max(p * (T(1) - p), T(least_variance)); }
  Tensor partial(int i, std::span<const Tensor> x, const Tensor&) const {
    const Tensor &p = x[0], &y = x[1], variance = p * (1 - p), least = clamp_min(variance, least_variance);
    if (i == 1) return neg(reciprocal(least));
    const Tensor flat = variance < least_variance, safe = where(flat, 0.5, p);
    return where(flat, 1 / least_variance, y / square(safe) + (1 - y) / square(1 - safe));
  }
  static double reference(double p, double y) { return (1 - y) / (1 - p) - y / p; }
};

/// -y log p - (1 - y) log(1 - p) with logarithms of at least -100, and p (1 - p) of at least 1e-12 in derivatives.
struct BinaryCrossEntropy {
  using kind = Elementwise;
  static constexpr const char* name = "binary_cross_entropy";
  static constexpr double ulps = 4;
  static constexpr unsigned keeps[] = {input(0) | input(1), input(0)};
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
    return i == 0 ? apply(CrossEntropySlope{}, x[0], x[1]) : apply(LimitedLogOdds{}, x[0]);
  }
  static double reference(double p, double y) { return std::log(1 / p) * y + std::log(1 / (1 - p)) * (1 - y); }
};

void require_one_shape(const char* op, const Tensor& input, const Tensor& target) {
  if (!(type_of(input).shape == type_of(target).shape))
    raise<ValueError>(std::string(op) + ": the target " + type_text(target) + " must have the shape of the input " +
                      type_text(input) + "; expand it to that shape");
}

/// The mean of the losses by their weights, which have the input's shape.
Tensor reduced_by_weights(const char* op, const Tensor& losses, const Tensor& input,
                          const WeightedLossOptions& options) {
  if (!options.weight.defined()) return reduced(losses, options.reduction);
  if (!(type_of(options.weight).shape == type_of(input).shape))
    raise<ValueError>(std::string(op) + ": the weight " + type_text(options.weight) +
                      " must have the shape of the input " + type_text(input) + "; expand it to that shape");
  const Tensor weighted = weighed(options.weight, losses);
  if (options.reduction != Reduction::mean) return reduced(weighted, options.reduction);
  return sum(weighted) / sum(options.weight);
}

/// |input - target|, of complex numbers too.
Tensor absolute_errors(const Tensor& input, const Tensor& target) {
  const Called as("l1_loss", input, target);
  const bool is_complex = input.is_complex() || target.is_complex();
  return is_complex ? abs(input - target) : apply(AbsoluteError{}, input, target);
}

Tensor weighted(const Tensor& losses, const Tensor& weight) {
  return weight.defined() ? weighed(weight, losses) : losses;
}

}  // namespace

Tensor reduced(const Tensor& losses, Reduction reduction) {
  if (reduction == Reduction::none || type_of(losses).rank() == 0) return losses;
  return reduction == Reduction::mean ? mean(losses) : sum(losses);
}

Tensor weighed(const Tensor& weight, const Tensor& x) { return apply(Weighed{}, weight, x); }

namespace ops {

Tensor mse_loss(const Tensor& input, const Tensor& target) { return mse_loss(input, target, Reduction::mean); }
Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  return reduced(apply(SquaredError{}, input, target), reduction);
}
Tensor mse_loss(const Tensor& input, const Tensor& target, WeightedLossOptions options) {
  const Called as("mse_loss", input, target);
  return reduced_by_weights("mse_loss", apply(SquaredError{}, input, target), input, options);
}

Tensor l1_loss(const Tensor& input, const Tensor& target) { return l1_loss(input, target, Reduction::mean); }
Tensor l1_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  return reduced(absolute_errors(input, target), reduction);
}
Tensor l1_loss(const Tensor& input, const Tensor& target, WeightedLossOptions options) {
  const Called as("l1_loss", input, target);
  return reduced_by_weights("l1_loss", absolute_errors(input, target), input, options);
}

Tensor huber_loss(const Tensor& input, const Tensor& target) { return huber_loss(input, target, HuberLossOptions{}); }
Tensor huber_loss(const Tensor& input, const Tensor& target, double delta) {
  return huber_loss(input, target, HuberLossOptions{.delta = delta});
}
Tensor huber_loss(const Tensor& input, const Tensor& target, Reduction reduction, double delta) {
  return huber_loss(input, target, HuberLossOptions{.reduction = reduction, .delta = delta});
}
Tensor huber_loss(const Tensor& input, const Tensor& target, HuberLossOptions options) {
  const Called as("huber_loss", input, target);
  if (!(options.delta > 0))
    raise<ValueError>("huber_loss: delta is " + std::to_string(options.delta) + "; it must be greater than 0");
  return reduced(weighted(apply(Huber{options.delta}, input, target), options.weight), options.reduction);
}

Tensor smooth_l1_loss(const Tensor& input, const Tensor& target) { return smooth_l1_loss(input, target, {}); }
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, SmoothL1LossOptions options) {
  const Called as("smooth_l1_loss", input, target);
  if (!(options.beta >= 0))
    raise<ValueError>("smooth_l1_loss: beta is " + std::to_string(options.beta) + "; it must be at least 0");
  if (options.beta == 0) return l1_loss(input, target, options.reduction);
  return reduced(apply(Huber{options.beta}, input, target) / options.beta, options.reduction);
}

Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target) {
  return binary_cross_entropy_with_logits(input, target, Reduction::mean);
}
Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target, Reduction reduction) {
  return binary_cross_entropy_with_logits(input, target, LogitsLossOptions{.reduction = reduction});
}
Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target, LogitsLossOptions options) {
  const Called as("binary_cross_entropy_with_logits", input, target);
  require_one_shape("binary_cross_entropy_with_logits", input, target);
  if (!options.pos_weight.defined())
    return reduced(weighted(apply(BinaryCrossEntropyWithLogits{}, input, target), options.weight), options.reduction);
  const Tensor y = is_floating(type_of(target).dtype) ? target : to(target, type_of(input).dtype);
  const Tensor of_one = weighed(options.pos_weight * y, logsigmoid(input));
  const Tensor of_zero = weighed(1 - y, logsigmoid(neg(input)));
  return reduced(weighted(neg(of_one + of_zero), options.weight), options.reduction);
}

Tensor binary_cross_entropy(const Tensor& input, const Tensor& target) {
  return binary_cross_entropy(input, target, Reduction::mean);
}
Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, Reduction reduction) {
  return binary_cross_entropy(input, target, WeightedLossOptions{.reduction = reduction});
}
Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, WeightedLossOptions options) {
  const Called as("binary_cross_entropy", input, target);
  require_one_shape("binary_cross_entropy", input, target);
  return reduced(weighted(apply(BinaryCrossEntropy{}, input, target), options.weight), options.reduction);
}

}  // namespace ops
}  // namespace ricci
