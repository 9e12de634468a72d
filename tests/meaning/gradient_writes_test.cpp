// What a transform hands out can be written to as if it had been computed for the caller alone: an optimizer's
// `g.mul_(0.1)` changes this gradient and nothing else.
#include "support/expect_tensor.h"
#include "support/model.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

const auto total = [](Tensor x) { return x.sum(); };

TEST(GradientWrites, AnExpandedGradientCanBeWritten) {
  const Tensor x = ramp({2, 3}), g = rc::grad(total)(x);
  g.mul_(0.5);
  g[0].zero_();
  expect_values(g, {0, 0, 0, 0.5, 0.5, 0.5});
  const auto [value, g2] = rc::value_and_grad(total)(x);
  g2.add_(x);
  expect_close(g2, x + 1);
  auto [y, pullback] = rc::vjp(total, x);
  const Tensor first = pullback(number(2));
  first.sub_(1);
  expect_values(first, Values(6, 1));
  expect_values(pullback(number(2)), Values(6, 2));
}

TEST(GradientWrites, AGradientSharesNoPlaceWithAnother) {
  const auto [by_x, by_y] =
      rc::grad<0, 1>([](Tensor x, Tensor y) { return (x + y).square().sum(); })(ramp({3}), ramp({3}));
  by_x.zero_();
  expect_close(by_y, ramp({3}) * 4);
}

TEST(GradientWrites, TheCotangentStaysAsItWas) {
  const Tensor ct = ramp({3});
  auto [y, pullback] = rc::vjp([](Tensor x) { return x.view({1, 3}); }, ramp({3}));
  pullback(ct.view({1, 3})).zero_();
  auto [z, identity] = rc::vjp([](Tensor x) { return x * 1; }, ramp({3}));
  identity(ct).zero_();
  auto [w, itself] = rc::vjp([](Tensor x) { return x; }, ramp({3}));
  itself(ct).zero_();
  expect_equal(ct, ramp({3}));
}

TEST(GradientWrites, JacobiansCanBeWritten) {
  for (const Tensor& j : {rc::jacrev([](Tensor x) { return x.sum(0); })(ramp({2, 2})),
                          rc::jacfwd([](Tensor x) { return x.sum(0); })(ramp({2, 2}))}) {
    j.mul_(3);
    expect_values(j, {3, 0, 3, 0, 0, 3, 0, 3});
  }
  const Tensor j = rc::jacrev(total)(ramp({3}));
  j.mul_(2);
  expect_values(j, {2, 2, 2});
}

TEST(GradientWrites, UnderOtherTransformsToo) {
  const auto scaled = [](Tensor x) { return rc::grad(total)(x).mul_(x); };
  expect_close(rc::vmap(scaled)(ramp({2, 3})), ramp({2, 3}));
  expect_close(rc::jacfwd(scaled)(ramp({2})), rc::eye(2, rc::float64));
  expect_close(rc::jacrev(scaled)(ramp({2})), rc::eye(2, rc::float64));
  const Tensor each = rc::vmap(rc::grad(total))(ramp({2, 3}));
  each.mul_(2);
  expect_values(each, Values(6, 2));
}

TEST(GradientWrites, OfATape) {
  rc::Tape tape;
  const Tensor x = ramp({3});
  tape.watch(x);
  const Tensor loss = x.sum(), g = tape.gradient(loss, x);
  g.mul_(0.1);
  expect_values(g, {0.1, 0.1, 0.1});
}

}  // namespace
