// Activations that draw.
#include "ricci/ops/activations.h"

#include "ops/axes.h"
#include "ops/sums.h"
#include "primitive/called.h"

namespace ricci::ops {

Tensor rrelu(const Tensor& x) { return rrelu(x, RreluOptions{}); }
Tensor rrelu(const Tensor& x, RreluOptions options) {
  const Called as("rrelu", x);
  require_real_floating("rrelu", x);
  const double lower = options.lower, width = options.upper - options.lower;
  if (!(width >= 0))
    raise<ValueError>("rrelu: lower is " + std::to_string(lower) + ", upper is " + std::to_string(options.upper) +
                      "; lower must not be above upper");
  if (!options.training) return leaky_relu(x, lower + width / 2);
  const Tensor u = rand_like(x, LikeOptions{.generator = options.generator});
  return where(x > 0, x, x * (u * width + lower));
}

Tensor gumbel_softmax(const Tensor& logits) { return gumbel_softmax(logits, GumbelOptions{}); }
Tensor gumbel_softmax(const Tensor& logits, GumbelOptions options) {
  const Called as("gumbel_softmax", logits);
  require_real_floating("gumbel_softmax", logits);
  if (!(options.tau > 0))
    raise<ValueError>("gumbel_softmax: tau is " + std::to_string(options.tau) + "; it must be greater than 0");
  const std::int64_t axis = wrap_own_axis("gumbel_softmax", options.dim, logits);
  const Type& type = type_of(logits);
  const Tensor noise = gumbel(0, 1, type.shape, TensorOptions{.dtype = type.dtype, .generator = options.generator});
  const Tensor soft = softmax((logits + noise) / options.tau, axis);
  if (!options.hard) return soft;
  const Tensor hard = scatter(zeros_like(soft), axis, argmax(soft, axis, true), 1);
  return hard - detach(soft) + soft;
}

}  // namespace ricci::ops
