// llsq: half the squared distance of a polynomial from the sign of t at n places in [-1, 1].
#include "evals.h"

namespace gradbench {
namespace {

/// The polynomial with these coefficients, lowest first, at t, by Horner's rule.
Tensor polynomial(const Tensor& coefficients, const Tensor& t) {
  const auto step = [&](const Tensor& sum, const Tensor& coefficient) {
    return std::pair{sum * t + coefficient, std::tuple<>{}};
  };
  return rc::scan(step, zeros_like(t), coefficients.flip({0})).first;
}

auto distance(std::int64_t n) {
  return [n](const Tensor& x) {
    const Tensor t = rc::arange(n).to(rc::float64) * (2.0 / static_cast<double>(n - 1)) - 1;
    const auto error = [](const Tensor& x, const Tensor& t) { return square(sign(t) - polynomial(x, t)); };
    return 0.5 * rc::vmap(error, {.in_dims = {rc::none, 0}})(x, t).sum();
  };
}

}  // namespace

Eval llsq() {
  return {
      {"primal", [](const json& input) { return answer(input, distance(input.at("n")), read_numbers(input.at("x"))); }},
      {"gradient", [](const json& input) {
         return answer(input, rc::grad(distance(input.at("n"))), read_numbers(input.at("x")));
       }}};
}

}  // namespace gradbench
