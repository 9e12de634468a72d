// What simplifying leaves of programs that users trace: how many equations, and the same values.
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "program/program.h"
#include "ricci/ricci.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

/// How much there is to compute, the bodies of loops and branches counted once.
struct Work {
  std::size_t equations = 0;
  std::int64_t elements = 0;  // that equations compute, views and factories aside
};

Work work_of(const rc::Program& program) {
  Work work;
  for (const rc::Equation& e : program.body().equations) {
    ++work.equations;
    rc::for_each_program(e.op(), [&work](const rc::Program& inner) {
      const Work of_inner = work_of(inner);
      work.equations += of_inner.equations;
      work.elements += of_inner.elements;
    });
    if (e.rules->is_view() || e.inputs.empty() || e.rules->kind == rc::Kind::custom) continue;
    for (const rc::Variable v : e.outputs) {
      std::int64_t elements = 1;
      for (const rc::Size size : program.body().types[static_cast<std::size_t>(v)].shape) elements *= size.hint();
      work.elements += elements;
    }
  }
  return work;
}

/// Traces f; holds the work of its program, and of the simplified one, to these numbers at most.
template <class F, class... X>
void expect_work(Work most_traced, Work most_simplified, const F& f, const X&... x) {
  const rc::Program p = rc::trace(f)(x...), s = p.simplified();
  check(s);
  std::optional<rc::SymbolScope> scope;
  scope.emplace(rc::or_those_here(p.body().symbols));
  const Work traced = work_of(p), simplified = work_of(s);
  EXPECT_LE(traced.equations, most_traced.equations);
  EXPECT_LE(traced.elements, most_traced.elements);
  EXPECT_LE(simplified.equations, most_simplified.equations) << s;
  EXPECT_LE(simplified.elements, most_simplified.elements) << s;
  scope.reset();
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
  expect_work({301, 1366}, {189, 1118}, rc::vmap(rc::jacrev(residual)), cameras, points, seen);
  expect_work({217, 3211}, {181, 3101}, rc::vmap(rc::jacfwd(residual)), cameras, points, seen);
}

struct Newton {
  Tensor x, steps;
};

/// Of the implicit update of a material at a point: x[7], stress and plastic strain; strain[6]; the old plastic strain.
Tensor imbalance(const Tensor& x, const Tensor& strain, const Tensor& old) {
  const Tensor one = rc::tensor({1., 1., 1., 0., 0., 0.}, rc::float64);
  const Tensor s = x.slice(0, 0, 6), d = s - s.slice(0, 0, 3).sum() / 3 * one, q = sqrt(1.5 * (d * d).sum() + 1e-12);
  const Tensor flow = 0.1 * pow(relu(q - (100 + 50 * (1 - exp(-80 * x[6])))) / 150, 3);
  const Tensor elastic = strain - 1.5 * flow * d / q,
               stress = 154e3 * elastic + 115e3 * elastic.slice(0, 0, 3).sum() * one;
  return rc::cat({(s - stress) / 200e3, (x[6] - old - flow).reshape({1})}, 0);
}

TEST(SimplifiedWorkloads, ImplicitUpdatesOfAMaterial) {
  const auto update = [](const Tensor& strain, const Tensor& old) {
    const auto goes_on = [&](const Newton& now) {
      const Tensor r = imbalance(now.x, strain, old);
      return logical_and(sqrt((r * r).sum()) > 1e-10, now.steps < 50);
    };
    const auto step = [&](const Newton& now) {
      const Tensor slope = rc::jacfwd(imbalance)(now.x, strain, old);
      return Newton{now.x - solve(slope, imbalance(now.x, strain, old)), now.steps + 1};
    };
    const Newton first{rc::cat({77e3 * strain, old.reshape({1})}, 0), rc::zeros({}, rc::int64)};
    const Newton last = rc::while_loop(goes_on, step, first);
    const Tensor of_x = rc::jacfwd(imbalance)(last.x, strain, old),
                 of_e = rc::jacfwd<1>(imbalance)(last.x, strain, old);
    return std::pair{last.x, -solve(of_x, of_e)};
  };
  const Tensor strains = rc::linspace(-2e-3, 2e-3, 12, rc::float64).reshape({2, 6}),
               old = rc::tensor({0., 0.01}, rc::float64);
  expect_work({369, 4937}, {333, 4741}, rc::vmap(update), strains, old);
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
  expect_work({35, 788}, {33, 788}, gradients, some({4, 8}), some({8}), some({8, 3}), some({3}), some({6, 1, 4}),
              some({6, 1, 3}));
}

}  // namespace
