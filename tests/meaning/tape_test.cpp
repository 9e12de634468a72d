// rc::Tape records what is computed from watched tensors; it works inside every transform and every transform inside
// it.
#include "support/expect_tensor.h"
#include "support/model.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

/// 3 x^2, by a tape.
Tensor derivative_of_cube(Tensor x) {
  rc::Tape tape;
  tape.watch(x);
  const Tensor y = (x * x * x).sum();
  return tape.gradient(y, x);
}

TEST(Tape, GivesTheGradientOfWhatItSaw) {
  Tensor x = doubles({2, 3});
  rc::Tape tape;
  tape.watch(x);
  const Tensor loss = (x * x * doubles({1, 10})).sum();
  expect_values(tape.gradient(loss, x), {4, 60});
}

TEST(Tape, GivesTheGradientOfATree) {
  Mlp model = make_mlp();
  const Tensor x = ramp({3});
  rc::Tape tape;
  tape.watch(model);
  const Tensor loss = predict(model, x).sum();
  const Mlp gradient = tape.gradient(loss, model);
  const Mlp expected = rc::grad([&](Mlp m) { return predict(m, x).sum(); })(make_mlp());
  expect_close(gradient.layers[0].weight, expected.layers[0].weight, 1e-12);
  expect_close(gradient.layers[1].bias, expected.layers[1].bias, 1e-12);
  EXPECT_EQ(gradient.dropout, 0.1);
}

TEST(Tape, FollowsPlainControlFlow) {
  Tensor x = number(3);
  rc::Tape tape;
  tape.watch(x);
  Tensor y = x;
  while (y < 100) y = y * x;
  expect_values(tape.gradient(y, x), {5 * 81});
}

TEST(Tape, WorksInsideGrad) {
  expect_values(rc::grad([](Tensor x) { return derivative_of_cube(x).sum(); })(doubles({2, 5})), {12, 30});
}

TEST(Tape, WorksInsideVmap) { expect_values(rc::vmap(derivative_of_cube)(doubles({1, 2, 3})), {3, 12, 27}); }

TEST(Tape, WorksInsideForwardMode) {
  expect_values(std::get<1>(rc::jvp(derivative_of_cube, doubles({2}), doubles({1}))), {12});
  expect_values(rc::jacfwd(derivative_of_cube)(doubles({2, 3})), {12, 0, 0, 18});
}

TEST(Tape, WorksInsideJacrevAndVjp) {
  expect_values(rc::jacrev(derivative_of_cube)(doubles({2, 3})), {12, 0, 0, 18});
  auto [y, pullback] = rc::vjp(derivative_of_cube, doubles({2}));
  expect_values(pullback(doubles({10})), {120});
}

TEST(Tape, WorksInsideVmapOfGrad) {
  const auto f = [](Tensor x) { return derivative_of_cube(x).sum(); };
  expect_values(rc::vmap(rc::grad(f))(doubles({1, 2, 3, 4}, {2, 2})), {6, 12, 18, 24});
}

TEST(Tape, SeesThroughVmap) {
  Tensor x = ramp({3});
  rc::Tape tape;
  tape.watch(x);
  const Tensor y = rc::vmap(rc::sin)(x).sum();
  expect_close(tape.gradient(y, x), cos(x.detach()));
}

TEST(Tape, SeesThroughGrad) {
  Tensor x = doubles({2, 3});
  rc::Tape tape;
  tape.watch(x);
  const Tensor y = rc::grad([](Tensor a) { return (a * a * a).sum(); })(x).sum();
  expect_values(tape.gradient(y, x), {12, 18});
}

TEST(Tape, SeesThroughJvpAndJacobians) {
  Tensor x = doubles({2, 3});
  rc::Tape tape;
  tape.watch(x);
  const Tensor tangent = std::get<1>(rc::jvp([](Tensor a) { return a * a * a; }, x, doubles({1, 1})));
  const Tensor diagonal = rc::jacrev([](Tensor a) { return a * a * a; })(x).diagonal();
  expect_values(tape.gradient((tangent + diagonal * 10).sum(), x), {132, 198});
}

TEST(Tape, TwoTapesNestToASecondDerivative) {
  Tensor x = number(2);
  rc::Tape outer;
  outer.watch(x);
  const Tensor first = derivative_of_cube(x);
  expect_values(first, {12});
  expect_values(outer.gradient(first, x), {12});
}

TEST(Tape, GivesZerosForWhatIsUnrelated) {
  Tensor x = ramp({2}), y = ramp({3});
  rc::Tape tape;
  tape.watch(x);
  tape.watch(y);
  const Tensor loss = (x * x).sum();
  expect_values(tape.gradient(loss, y), {0, 0, 0});
}

TEST(Tape, FollowsInPlaceOperations) {
  Tensor x = doubles({2, 3});
  rc::Tape tape;
  tape.watch(x);
  Tensor y = x * 1;
  y[0].mul_(x[1]);
  expect_values(tape.gradient(y.sum(), x), {3, 3});
}

TEST(Tape, ObeysNoGradAndDetach) {
  Tensor x = number(3);
  rc::Tape tape;
  tape.watch(x);
  Tensor constant;
  {
    rc::no_grad guard;
    constant = x * x;
  }
  expect_values(tape.gradient(constant * x + x.detach() * x, x), {12});
}

TEST(Tape, LeavesNoTransformBehind) {
  {
    Tensor x = number(3);
    rc::Tape tape;
    tape.watch(x);
    EXPECT_THROW(rc::matmul(x, x), rc::ValueError);
  }
  EXPECT_FALSE(rc::inside_transform());
}

TEST(Tape, OfATensorThatWasNeverWatchedGivesZeros) {
  const Tensor x = rc::tensor(std::vector<double>{1, 2});
  rc::Tape tape;
  const Tensor y = (x * 2).sum();
  EXPECT_EQ(tape.gradient(y, x).to_vector<double>(), (std::vector<double>{0, 0}));
}

TEST(Tape, InsideATapeGivesSecondDerivatives) {
  const Tensor y = rc::tensor(std::vector<double>{1, 2, 3});
  rc::Tape outer;
  outer.watch(y);
  Tensor total;
  {
    rc::Tape inner;
    inner.watch(y);
    total = inner.gradient((y * y * y).sum(), y).sum();
    EXPECT_EQ(outer.gradient(total, y).to_vector<double>(), (std::vector<double>{6, 12, 18}));
  }
  EXPECT_EQ(outer.gradient(total, y).to_vector<double>(), (std::vector<double>{6, 12, 18}));
}

}  // namespace
