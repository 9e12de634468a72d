// The trees that tests pass around: a layer, a model of layers with a number among its fields, and a state that holds
// leaves which have no derivative.
#pragma once

#include <ricci/ricci.h>

#include <string>
#include <vector>

#include "support/expect_tensor.h"

namespace testing_support {

struct Linear {
  Tensor weight, bias;
};

struct Mlp {
  std::vector<Linear> layers;
  double dropout = 0.1;
};

/// Weights to train, next to a count, a rate and a name.
struct State {
  Tensor weight;
  Tensor steps;
  double rate = 0.5;
  std::string name = "state";
};

/// A layer of float64 values, none equal: weight [inputs, outputs], bias [outputs].
inline Linear make_linear(std::int64_t inputs, std::int64_t outputs) {
  return {ramp({inputs, outputs}) * 0.5 - 0.4, ramp({outputs}) * 0.3 - 0.2};
}

inline Mlp make_mlp() { return {{make_linear(3, 4), make_linear(4, 2)}, 0.1}; }

/// x: [inputs] or [batch, inputs].
inline Tensor predict(const Mlp& model, Tensor x) {
  for (const Linear& layer : model.layers) x = tanh(matmul(x, layer.weight) + layer.bias);
  return x;
}

}  // namespace testing_support
