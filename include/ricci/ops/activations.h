// Activations beside those of ricci/ops/elementwise.h. Element types are real and floating, else TypeError. All are
// differentiable to any order, in both modes; at kinks the slope is PyTorch's.
#pragma once

#include "ricci/ops/random.h"
#include "ricci/tensor.h"

namespace ricci {

/// `{.lower = 0.1, .upper = 0.3, .training = true, .generator = g}`
struct RreluOptions {
  double lower = 0.125, upper = 1. / 3;
  bool training = false;
  GeneratorOption generator = {};
};
struct GumbelOptions {
  double tau = 1;     ///< the temperature: the noisy logits are divided by it
  bool hard = false;  ///< one-hot results, whose derivative is that of the soft ones
  std::int64_t dim = -1;
  GeneratorOption generator = {};
};

namespace ops {

// ── made of straight lines ──

/// x between low and high, -1 and 1 if not given; slope 0 at and beyond them. ValueError unless low <= high.
///   rc::Tensor y = rc::hardtanh(x, 0, 1);
Tensor hardtanh(const Tensor& x);
Tensor hardtanh(const Tensor& x, double low, double high);
Tensor relu6(const Tensor& x);        ///< hardtanh(x, 0, 6)
Tensor hardsigmoid(const Tensor& x);  ///< relu6(x + 3) / 6
Tensor hardswish(const Tensor& x);    ///< x relu6(x + 3) / 6
/// x where |x| > lambda (0.5 if not given), else 0. softshrink also moves it lambda towards 0.
Tensor hardshrink(const Tensor& x);
Tensor hardshrink(const Tensor& x, double lambda);
Tensor softshrink(const Tensor& x);  ///< ValueError unless lambda >= 0
Tensor softshrink(const Tensor& x, double lambda);
/// x above 0, else weight x: the weight is a number, 0-dim, or one for each channel, [C] for x [N, C, …]. ValueError
/// for another shape.
Tensor prelu(const Tensor& x, const Tensor& weight);
/// leaky_relu whose slope below 0 is drawn for each element, uniform on [lower, upper), in training; else their mean.
/// Without options it does not train.
Tensor rrelu(const Tensor& x);
Tensor rrelu(const Tensor& x, RreluOptions options);

// ── smooth ──

Tensor tanhshrink(const Tensor& x);  ///< x - tanh(x)
Tensor softsign(const Tensor& x);    ///< x / (1 + |x|)
/// 1.0507… x above 0, else 1.0507… · 1.6732… (exp(x) - 1): keeps mean 0 and variance 1. Klambauer et al., 2017.
Tensor selu(const Tensor& x);
/// x above 0, else alpha (exp(x / alpha) - 1), alpha = 1: its slope is continuous. ValueError unless alpha > 0.
Tensor celu(const Tensor& x);
Tensor celu(const Tensor& x, double alpha);
Tensor mish(const Tensor& x);  ///< x tanh(log(1 + exp(x)))

// ── along an axis ──

/// a sigmoid(b) of the two halves of an axis (the last if not given). ValueError if its size is odd.
Tensor glu(const Tensor& x);
Tensor glu(const Tensor& x, std::int64_t dim);
Tensor softmin(const Tensor& x, std::int64_t dim);  ///< softmax(-x, dim)
/// softmax((logits + noise) / tau) along an axis, the noise being of Gumbel's distribution: a sample of the classes
/// that is differentiable by the logits. ValueError unless tau > 0. Jang, Gu and Poole, 2017.
Tensor gumbel_softmax(const Tensor& logits);
Tensor gumbel_softmax(const Tensor& logits, GumbelOptions options);

}  // namespace ops
}  // namespace ricci
