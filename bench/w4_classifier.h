// W4: the loss of a classifier 784-256-10, and the gradient of one example clipped to norm 1.
#pragma once

#include <ricci/ricci.h>

#include "inputs.h"

namespace bench::classifier {

namespace rc = ricci;
using rc::Tensor;

/// Softmax cross-entropy of a batch or of one example. x: [..., 784], y: [..., 10] one-hot.
inline Tensor loss(const Net& net, const Tensor& x, const Tensor& y) {
  const Tensor hidden = relu(matmul(x, net[0].weight.t()) + net[0].bias);
  const Tensor logits = matmul(hidden, net[1].weight.t()) + net[1].bias;
  return (logsumexp(logits, -1) - (logits * y).sum(-1)).mean();
}

/// What a gradient of this squared norm is multiplied by to have norm at most 1.
inline Tensor clip_scale(const Tensor& squares) { return 1.0 / maximum(sqrt(squares), ones_like(squares)); }

inline Tensor square_norm(const Net& gradient) {
  Tensor squares = 0.0;
  for (const Tensor& g : rc::leaves(gradient)) squares = squares + (g * g).sum();
  return squares;
}

inline Net clipped_gradient(const Net& net, const Tensor& x, const Tensor& y) {
  const Net gradient = rc::grad(loss)(net, x, y);
  const Tensor scale = clip_scale(square_norm(gradient));
  return rc::map_leaves([&scale](const Tensor& g) { return scale * g; }, gradient);
}

}  // namespace bench::classifier
