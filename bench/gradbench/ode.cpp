// ode: y' = (x_0, x_1 y_0, x_2 y_1, ...) from 0 to time 2 by s steps of Runge and Kutta's method, and the gradient of
// the last number.
#include "evals.h"

namespace gradbench {
namespace {

Tensor slope(const Tensor& x, const Tensor& y) {
  const std::int64_t n = x.size(0);
  return x * rc::cat({rc::ones({1}, rc::float64), y.slice(0, 0, n - 1)});
}

auto solution(std::int64_t steps) {
  return [steps](const Tensor& x) {
    const double h = 2.0 / static_cast<double>(steps);
    const auto step = [&](const Tensor&, const Tensor& y) {
      const Tensor k1 = slope(x, y), k2 = slope(x, y + h / 2 * k1), k3 = slope(x, y + h / 2 * k2);
      const Tensor k4 = slope(x, y + h * k3);
      return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    };
    return rc::fori_loop(0, steps, step, zeros_like(x));
  };
}

auto last_of_solution(std::int64_t steps) {
  return [solution = solution(steps)](const Tensor& x) { return solution(x)[-1]; };
}

}  // namespace

Eval ode() {
  return {
      {"primal", [](const json& input) { return answer(input, solution(input.at("s")), read_numbers(input.at("x"))); }},
      {"gradient", [](const json& input) {
         return answer(input, rc::grad(last_of_solution(input.at("s"))), read_numbers(input.at("x")));
       }}};
}

}  // namespace gradbench
