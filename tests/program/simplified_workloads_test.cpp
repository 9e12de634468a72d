// What simplifying leaves of programs that users trace: how many equations, and the same values.
#include <string>

#include "ricci/program.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

/// Traces f; holds the equations of its program, and of the simplified one, to these numbers at most.
template <class F, class... X>
void expect_equations(std::size_t most_traced, std::size_t most_simplified, const F& f, const X&... x) {
  const rc::Program p = rc::trace(f)(x...), s = p.simplified();
  check(s);
  EXPECT_LE(p.equations(), most_traced);
  EXPECT_LE(s.equations(), most_simplified) << s;
  const std::vector<Tensor> inputs{x...}, expected = p(inputs), found = s(inputs);
  for (std::size_t i = 0; i < found.size(); ++i) expect_equal(found[i], expected[i]);
}

/// Rodrigues' formula: the point turned about the axis of `turn` by its length.
Tensor turned(const Tensor& turn, const Tensor& point) {
  const Tensor angle = sqrt((turn * turn).sum()), c = cos(angle), s = sin(angle), axis = turn / angle;
  const Tensor across = rc::stack({axis[1] * point[2] - axis[2] * point[1], axis[2] * point[0] - axis[0] * point[2],
                                   axis[0] * point[1] - axis[1] * point[0]});
  return point * c + across * s + axis * (axis * point).sum() * (1 - c);
}

/// Of bundle adjustment. `camera`: a turn, a place, a principal point, a focal length, two coefficients of distortion.
Tensor residual(const Tensor& camera, const Tensor& point, const Tensor& seen) {
  const Tensor at = turned(camera.slice(0, 0, 3), point - camera.slice(0, 3, 6));
  const Tensor q = at.slice(0, 0, 2) / at[2], r2 = (q * q).sum();
  return q * (1 + camera[9] * r2 + camera[10] * r2 * r2) * camera[8] + camera.slice(0, 6, 8) - seen;
}

TEST(SimplifiedWorkloads, JacobiansOfBundleAdjustment) {
  const Tensor cameras = rc::linspace(0.1, 1, 22).reshape({2, 11}), points = rc::linspace(1, 2, 6).reshape({2, 3}),
               seen = rc::linspace(0, 1, 4).reshape({2, 2});
  expect_equations(301, 189, rc::vmap(rc::jacrev(residual)), cameras, points, seen);
  expect_equations(217, 181, rc::vmap(rc::jacfwd(residual)), cameras, points, seen);
}

TEST(SimplifiedWorkloads, DerivativesOfControlFlow) {
  const auto grown = [](const Tensor& x) {
    return rc::while_loop([](const Tensor& y) { return y.sum() < 100; },
                          [](const Tensor& y) { return y * 1.5 + sin(y); }, x)
        .sum();
  };
  expect_equations(6, 5, rc::vmap(rc::grad(grown)), rc::linspace(0.5, 1.5, 12).reshape({4, 3}));
  const auto either = [](const Tensor& x) {
    return rc::cond(x.sum() > 0, [](const Tensor& a) { return (sin(a) * a).sum(); },
                    [](const Tensor& a) { return (a * a).sum(); }, x);
  };
  expect_equations(11, 9, rc::hessian(either), rc::linspace(0.5, 1.5, 3));
  const auto folded = [](const Tensor& xs) {
    const auto step = [](const Tensor& c, const Tensor& x) { return std::pair{tanh(c * 0.9 + x), c}; };
    return rc::scan(step, rc::zeros({3}), xs).first.sum();
  };
  expect_equations(5, 5, rc::grad(folded), rc::linspace(0.5, 1.5, 15).reshape({5, 3}));
}

TEST(SimplifiedWorkloads, GradientsOfANetworkBySample) {
  const auto loss = [](const Tensor& w1, const Tensor& b1, const Tensor& w2, const Tensor& b2, const Tensor& x,
                       const Tensor& y) {
    const Tensor logits = matmul(tanh(matmul(x, w1) + b1), w2) + b2;
    return (logsumexp(logits, -1) - (logits * y).sum(-1)).mean();
  };
  const auto some = [](const rc::Shape& shape) { return rc::linspace(-1, 1, shape.numel()).reshape(shape); };
  const auto gradients =
      rc::vmap(rc::grad<0, 1, 2, 3>(loss), {.in_dims = {rc::none, rc::none, rc::none, rc::none, 0, 0}});
  expect_equations(35, 33, gradients, some({4, 8}), some({8}), some({8, 3}), some({3}), some({6, 1, 4}),
                   some({6, 1, 3}));
}

}  // namespace
