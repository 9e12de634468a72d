// W19: implicit material updates, as finite-element codes make them at every integration point: Newton's method with a
// 7 x 7 Jacobian by forward mode in a while_loop under vmap, then the consistent tangent. float64.
#pragma once

#include <ricci/ricci.h>

namespace bench::material {

namespace rc = ricci;
using rc::Tensor;

constexpr double young = 200e3, poisson = 0.3;
constexpr double mu = young / (2 * (1 + poisson)), lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson));

inline Tensor unit() { return rc::tensor({1., 1., 1., 0., 0., 0.}, rc::float64); }
inline Tensor stress_of(const Tensor& strain) {
  return 2 * mu * strain + lambda * strain.slice(0, 0, 3).sum() * unit();
}

/// Of a strain e[6] and an old plastic strain p0: zero where x[7] is stress and plastic strain of the new step.
inline Tensor residual(const Tensor& x, const Tensor& e, const Tensor& p0) {
  const Tensor s = x.slice(0, 0, 6), p = x[6];
  const Tensor d = s - s.slice(0, 0, 3).sum() / 3 * unit(), q = sqrt(1.5 * (d * d).sum() + 1e-12);
  const Tensor f = q - (100 + 50 * (1 - exp(-80 * p))), g = 0.1 * pow(relu(f) / 150, 3);
  return rc::cat({(s - stress_of(e - 1.5 * g * d / q)) / young, (p - p0 - g).reshape({1})}, 0);
}

struct Newton {
  Tensor x, steps;
};
struct Update {
  Tensor x, tangent, steps;  // [7], dx/de [7, 6], []
};

inline Update update(const Tensor& e, const Tensor& p0) {
  const auto goes_on = [&](const Newton& now) {
    const Tensor r = residual(now.x, e, p0);
    return logical_and(sqrt((r * r).sum()) > 1e-10, now.steps < 50);
  };
  const auto step = [&](const Newton& now) {
    return Newton{now.x - solve(rc::jacfwd(residual)(now.x, e, p0), residual(now.x, e, p0)), now.steps + 1};
  };
  const Tensor start = rc::cat({stress_of(e) / 2, p0.reshape({1})}, 0);
  const Newton last = rc::while_loop(goes_on, step, Newton{start, rc::zeros({}, rc::int64)});
  const Tensor of_x = rc::jacfwd(residual)(last.x, e, p0), of_e = rc::jacfwd<1>(residual)(last.x, e, p0);
  return {last.x, -solve(of_x, of_e), last.steps};
}

}  // namespace bench::material
