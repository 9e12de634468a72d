// Activations that are made of other operations: straight lines, and functions along an axis.
#include <cmath>

#include "ops/axes.h"
#include "ops/sums.h"
#include "primitive/called.h"
#include "ricci/ops/activations.h"

namespace ricci {
namespace {

/// Throws unless x is real and floating.
void require_activation(const char* op, const Tensor& x) { require_real_floating(op, x); }

}  // namespace

namespace ops {

Tensor hardtanh(const Tensor& x) { return hardtanh(x, -1, 1); }
Tensor hardtanh(const Tensor& x, double low, double high) {
  const Called as("hardtanh", x);
  require_activation("hardtanh", x);
  if (!(low <= high))
    raise<ValueError>("hardtanh: low is " + std::to_string(low) + ", high is " + std::to_string(high) +
                      "; low must not be above high");
  return clamp(x, low, high);
}
Tensor relu6(const Tensor& x) {
  const Called as("relu6", x);
  return hardtanh(x, 0, 6);
}
Tensor hardsigmoid(const Tensor& x) {
  const Called as("hardsigmoid", x);
  return relu6(x + 3) / 6;
}
Tensor hardswish(const Tensor& x) {
  const Called as("hardswish", x);
  return x * relu6(x + 3) / 6;
}

Tensor hardshrink(const Tensor& x) { return hardshrink(x, 0.5); }
Tensor hardshrink(const Tensor& x, double lambda) {
  const Called as("hardshrink", x);
  require_activation("hardshrink", x);
  return where(abs(x) <= lambda, 0, x);
}
Tensor softshrink(const Tensor& x) { return softshrink(x, 0.5); }
Tensor softshrink(const Tensor& x, double lambda) {
  const Called as("softshrink", x);
  require_activation("softshrink", x);
  if (!(lambda >= 0)) raise<ValueError>("softshrink: lambda is " + std::to_string(lambda) + "; it must be at least 0");
  return where(x > lambda, x - lambda, where(x < -lambda, x + lambda, x * 0));
}

Tensor prelu(const Tensor& x, const Tensor& weight) {
  const Called as("prelu", x, weight);
  require_activation("prelu", x);
  Tensor slope = weight;
  const int rank = type_of(x).rank();
  if (type_of(weight).rank() > 1)
    raise<ValueError>("prelu: the weight " + type_text(weight) + " must be a number or [C]");
  if (type_of(weight).rank() == 1 && !(type_of(weight).shape[0] == 1)) {
    if (rank < 2 || !(type_of(weight).shape[0] == type_of(x).shape[1]))
      raise<ValueError>("prelu: the weight " + type_text(weight) +
                        " must be a number, or have one for each channel of " + type_text(x) +
                        ", whose channels are axis 1");
    Shape beside = Shape::filled(static_cast<std::size_t>(rank - 1), 1);
    beside[0] = type_of(weight).shape[0];
    slope = reshape(weight, beside);
  } else if (type_of(weight).rank() == 1) {
    slope = reshape(weight, {});
  }
  return where(x > 0, x, slope * x);
}

Tensor tanhshrink(const Tensor& x) {
  const Called as("tanhshrink", x);
  require_activation("tanhshrink", x);
  return x - tanh(x);
}
Tensor softsign(const Tensor& x) {
  const Called as("softsign", x);
  require_activation("softsign", x);
  return x / (abs(x) + 1);
}
Tensor selu(const Tensor& x) {
  const Called as("selu", x);
  require_activation("selu", x);
  return elu(x, 1.6732632423543772848170429916717) * 1.0507009873554804934193349852946;
}
Tensor celu(const Tensor& x) { return celu(x, 1); }
Tensor celu(const Tensor& x, double alpha) {
  const Called as("celu", x);
  require_activation("celu", x);
  if (!(alpha > 0)) raise<ValueError>("celu: alpha is " + std::to_string(alpha) + "; it must be greater than 0");
  return alpha == 1 ? elu(x) : where(x > 0, x, elu(x / alpha) * alpha);
}
Tensor mish(const Tensor& x) {
  const Called as("mish", x);
  require_activation("mish", x);
  return x * tanh(softplus(x));
}

Tensor glu(const Tensor& x) { return glu(x, -1); }
Tensor glu(const Tensor& x, std::int64_t dim) {
  const Called as("glu", x);
  require_activation("glu", x);
  const std::int64_t axis = wrap_own_axis("glu", dim, x);
  const Size size = type_of(x).shape[at(axis)], half = size / 2;
  if (!(half * 2 == size))
    raise<ValueError>("glu: axis " + std::to_string(axis) + " of " + type_text(x) + " has no two halves");
  return narrow(x, axis, 0, half) * sigmoid(narrow(x, axis, half, half));
}
Tensor softmin(const Tensor& x, std::int64_t dim) {
  const Called as("softmin", x);
  return softmax(neg(x), dim);
}

}  // namespace ops
}  // namespace ricci
