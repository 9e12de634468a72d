// Every public transform inside every public transform, on every formula, against the closed formula of the derivative;
// then compositions of functions that mix their elements, against difference quotients.
#include "support/chain.h"
#include "support/difference_quotient.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

/// tanh of a matrix product: every output depends on every input.
Tensor mixing(Tensor x) { return tanh(rc::mv(ramp({3, 3}), x) * 0.5) + x * x.sum(); }

TEST(Composition, EveryTransformAlone) {
  const std::vector<Transform> all = all_transforms();
  for (const Formula& formula : all_formulas()) {
    for (const Transform& one : all) expect_chain({&one}, formula, ramp({2, 3}));
  }
}

TEST(Composition, EveryTransformInEveryTransform) {
  const std::vector<Transform> all = all_transforms();
  for (const Formula& formula : all_formulas()) {
    for (const Transform& outer : all) {
      for (const Transform& inner : all) expect_chain({&outer, &inner}, formula, ramp({2, 2}));
    }
  }
}

TEST(Composition, OnScalars) {
  const std::vector<Transform> all = all_transforms();
  for (const Transform& outer : all) {
    for (const Transform& inner : all) expect_chain({&outer, &inner}, sine_times_square(), number(0.7));
  }
}

TEST(Composition, GradOfVmapIsTheGradientOfTheSum) {
  const Tensor xs = ramp({4, 3});
  const auto f = [](Tensor x) { return mixing(x).square().sum(); };
  const Tensor gradient = rc::grad([&](Tensor all) { return rc::vmap(f)(all).sum(); })(xs);
  expect_close(gradient, rc::vmap(rc::grad(f))(xs), 1e-11);
  expect_close(gradient[1], difference_quotient(f, xs[1].clone()), 1e-6);
}

TEST(Composition, JvpOfGradIsAHessianVectorProduct) {
  const auto f = [](Tensor x) { return mixing(x).square().sum(); };
  const Tensor x = ramp({3}), v = doubles({1, -2, 3});
  const Tensor product = std::get<1>(rc::jvp(rc::grad(f), x, v));
  expect_close(product, rc::mv(rc::hessian(f)(x), v), 1e-11);
  expect_close(product, rc::mv(difference_quotient(rc::grad(f), x), v), 1e-6);
}

TEST(Composition, GradOfAJvpIsItToo) {
  const auto f = [](Tensor x) { return mixing(x).square().sum(); };
  const Tensor x = ramp({3}), v = doubles({1, -2, 3});
  const auto along = [&](Tensor a) { return std::get<1>(rc::jvp(f, a, v)); };
  expect_close(rc::grad(along)(x), rc::mv(rc::hessian(f)(x), v), 1e-11);
}

TEST(Composition, VjpOfVmapOfVjpAgreesWithDifferenceQuotients) {
  const auto inner = [](Tensor x) {
    auto [y, pullback] = rc::vjp(mixing, x);
    return pullback(y);
  };
  const Tensor xs = ramp({2, 3}), ct = ramp({2, 3});
  auto [y, pullback] = rc::vjp(rc::vmap(inner), xs);
  const Tensor expected = (difference_quotient(rc::vmap(inner), xs) * ct.unsqueeze(2).unsqueeze(3)).sum({0, 1});
  expect_close(pullback(ct), expected, 1e-6);
}

TEST(Composition, JacobiansOfMixingFunctionsAgreeThroughVmap) {
  const Tensor xs = ramp({2, 3});
  const Tensor reverse = rc::vmap(rc::jacrev(mixing))(xs), forward = rc::vmap(rc::jacfwd(mixing))(xs);
  expect_close(reverse, forward, 1e-12);
  for (std::int64_t i = 0; i < 2; ++i) {
    expect_close(reverse[i], difference_quotient(mixing, xs[i].clone()), difference_tolerance);
  }
}

TEST(Composition, ThirdDerivativeTensorOfAMixingFunction) {
  const auto f = [](Tensor x) { return mixing(x).sum(); };
  const Tensor x = ramp({3});
  const Tensor third = rc::jacfwd(rc::hessian(f))(x);
  expect_close(third, rc::jacrev(rc::jacfwd(rc::jacrev(f)))(x), 1e-10);
  expect_close(third, difference_quotient(rc::hessian(f), x), 1e-6);
}

TEST(Composition, LinearizeOfGradRunsOnceAndGivesHessianVectorProducts) {
  const auto f = [](Tensor x) { return mixing(x).square().sum(); };
  const Tensor x = ramp({3});
  auto [gradient, hessian_times] = rc::linearize(rc::grad(f), x);
  expect_close(rc::vmap(hessian_times)(rc::eye(3, rc::float64)), rc::hessian(f)(x), 1e-11);
}

TEST(Composition, VmapOverModelsOfGradOverData) {
  const auto loss = [](Tensor w, Tensor x) { return (tanh(dot(w, x)) - 1).square(); };
  const Tensor ws = ramp({4, 3}), xs = ramp({5, 3});
  const auto per_example = rc::vmap(rc::grad(loss), {.in_dims = {rc::none, 0}});
  const Tensor each = rc::vmap(per_example, {.in_dims = {0, rc::none}})(ws, xs);
  EXPECT_EQ(sizes(each), (Sizes{4, 5, 3}));
  expect_close(each[2][3], rc::grad(loss)(ws[2], xs[3]), 1e-12);
}

TEST(Composition, ANewtonStepInsideVmapSolvesAQuadratic) {
  const auto step = [](Tensor a, Tensor x) {
    const auto f = [&](Tensor t) { return ((t - a) * (t - a)).sum(); };
    return x - rc::grad(f)(x) / rc::hessian(f)(x).diagonal();
  };
  const Tensor a = ramp({4, 2});
  expect_close(rc::vmap(step)(a, a * 0), a);
}

TEST(Composition, AGradientDescentInsideGradIsDifferentiatedThrough) {
  const auto tuned = [](Tensor rate) {
    Tensor x = number(1);
    for (int i = 0; i < 3; ++i) x = x - rate * rc::grad([](Tensor t) { return t * t; })(x);
    return x;  // (1 - 2 rate)^3
  };
  expect_values(rc::grad(tuned)(number(0.1)), {-6 * 0.8 * 0.8});
}

}  // namespace
