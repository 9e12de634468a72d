// W13: ADBench's LSTM with diagonal weights: the loss of predicting each character from those before it, by a scan, and
// its gradient. bench/gradbench answers with the same functions. Knows nothing of files.
#pragma once

#include <ricci/ricci.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace bench::lstm {

namespace rc = ricci;
using rc::Tensor;

/// What is learnt: of each layer the weights and the biases [2 layers, 4 * 14], and those of input and output [3, 14].
struct Weights {
  Tensor layers, ends;
};
using State = std::vector<Tensor>;  // of each layer: hidden, cell [14]

inline Tensor loss(const Weights& w, const Tensor& state, const Tensor& sequence) {
  const std::int64_t layers = w.layers.size(0) / 2, characters = sequence.size(0), bits = sequence.size(1);
  const auto character = [&](const State& before, const std::pair<Tensor, Tensor>& now_and_next) {
    const auto& [now, next] = now_and_next;
    State after;
    Tensor x = now * w.ends[0];
    for (std::int64_t k = 0; k < layers; ++k) {
      const Tensor weight = w.layers[2 * k].reshape({4, bits}), bias = w.layers[2 * k + 1].reshape({4, bits});
      const auto at = static_cast<std::size_t>(2 * k);
      const Tensor &hidden = before[at], &cell = before[at + 1];
      const Tensor forget = sigmoid(x * weight[0] + bias[0]), in = sigmoid(hidden * weight[1] + bias[1]);
      const Tensor out = sigmoid(x * weight[2] + bias[2]), change = tanh(hidden * weight[3] + bias[3]);
      const Tensor new_cell = cell * forget + in * change;
      x = out * tanh(new_cell);
      after.push_back(x), after.push_back(new_cell);
    }
    const Tensor y = x * w.ends[1] + w.ends[2];
    return std::pair{after, (next * (y - log(2 + exp(y).sum()))).sum()};
  };
  State first;
  for (std::int64_t k = 0; k < 2 * layers; ++k) first.push_back(state[k]);
  const std::pair pairs{sequence.slice(0, 0, characters - 1), sequence.slice(0, 1, characters)};
  return -rc::scan(character, first, pairs).second.sum() / ((characters - 1) * bits);
}

inline Tensor gradient(const Weights& w, const Tensor& state, const Tensor& sequence) {
  const Weights found = rc::grad(loss)(w, state, sequence);
  return rc::cat({found.layers.reshape({-1}), found.ends.reshape({-1})});
}

}  // namespace bench::lstm
