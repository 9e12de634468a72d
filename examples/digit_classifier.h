// The classifier of handwritten digits that examples train privately: two layers, its loss, and one noisy step of
// gradient descent. Knows nothing of how gradients are made.
#pragma once

#include <ricci/ricci.h>

#include <cmath>

#include "digits.h"

namespace digits {

namespace rc = ricci;
using rc::Tensor;

struct Linear {
  Tensor weight, bias;  // [out, in], [out]
};

struct Mlp {
  Linear hidden, output;
};

inline Linear make_linear(std::int64_t in, std::int64_t out, rc::Generator& random) {
  return {rc::randn({out, in}, {.generator = random}) / std::sqrt(static_cast<double>(in)), rc::zeros({out})};
}

inline Mlp make_mlp(std::int64_t width, rc::Generator& random) {
  return {make_linear(pixels, width, random), make_linear(width, classes, random)};
}

/// x: [64] gives [10], [batch, 64] gives [batch, 10].
inline Tensor predict(const Mlp& mlp, const Tensor& x) {
  const Tensor hidden = rc::relu(rc::linear(x, mlp.hidden.weight, mlp.hidden.bias));
  return rc::linear(hidden, mlp.output.weight, mlp.output.bias);
}

inline Tensor loss(const Mlp& mlp, const Tensor& x, const Tensor& y) { return rc::cross_entropy(predict(mlp, x), y); }

inline double accuracy(const Mlp& mlp, const Examples& data) {
  const Tensor hits = predict(mlp, data.images).argmax(-1) == data.labels;
  return hits.to(rc::float64).mean().item<double>();
}

/// Poisson sampling: each example is in with probability `probability`, independently. int64 [size of the batch]
inline Tensor sample_batch(std::int64_t examples, double probability, rc::Generator& random) {
  return rc::nonzero(rc::rand({examples}, {.generator = random}) < probability).flatten();
}

/// Gradient descent on sums with noise of this spread. The rate holds the divisor: the expected size of a batch, as the
/// accountant requires.
inline Mlp noisy_step(const Mlp& mlp, const Mlp& sums, double rate, double spread, rc::Generator& random) {
  const auto descend = [&](const Tensor& p, const Tensor& sum) {
    return p - rate * (sum + spread * rc::randn(p.shape(), {.generator = random}));
  };
  return rc::map_leaves(descend, mlp, sums);
}

}  // namespace digits
