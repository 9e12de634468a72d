// lse: the logarithm of a sum of exponentials, in its elements (a greatest number, a sum), and its gradient.
#include "evals.h"

namespace gradbench {
namespace {

Tensor log_sum_exp(const Tensor& x) {
  const Tensor greatest = x.max();
  return greatest + log(exp(x - greatest).sum());
}

}  // namespace

Eval lse() {
  return {{"primal", [](const json& input) { return answer(input, log_sum_exp, read_numbers(input.at("x"))); }},
          {"gradient",
           [](const json& input) { return answer(input, rc::grad(log_sum_exp), read_numbers(input.at("x"))); }}};
}

}  // namespace gradbench
