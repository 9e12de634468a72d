// The cases of loops.cpp as plain loops, with derivatives by hand. Inputs and outputs are the same.
#pragma once

#include <ricci/ricci.h>

#include <utility>

namespace bench::by_hand {

using ricci::Tensor;

Tensor epidemic_gradients(const Tensor& rates);                // [n, 2] or [2]
Tensor roots_by_counts(const Tensor& a, const Tensor& steps);  // lanes.cpp: Newton's method [n]
Tensor robertson_gradient(const Tensor& rates);                // [3]
std::pair<Tensor, Tensor> ilqr_iteration(const Tensor& states, const Tensor& controls);         // [41, 4], [40]
std::pair<Tensor, Tensor> verlet(const Tensor& start);                                          // [27, 3]
std::pair<Tensor, Tensor> leapfrog(const Tensor& precision, const Tensor& x, const Tensor& p);  // [10, 10], [64, 10]
std::pair<Tensor, Tensor> rnn_gradients(const Tensor& w, const Tensor& inputs);                 // [128, 128], [32, 128]

}  // namespace bench::by_hand
