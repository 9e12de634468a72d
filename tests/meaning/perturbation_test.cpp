// Nested derivatives of the same or of different variables are separate levels: their perturbations never mix.
#include <functional>

#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

Tensor tangent_of(const std::function<Tensor(Tensor)>& f, Tensor x) {
  return std::get<1>(rc::jvp(f, x, rc::ones_like(x)));
}

// d/dx [ x * d/dy (x + y) ] is 1; the confused answer is 2.
TEST(Perturbation, ReverseInReverse) {
  const auto f = [](Tensor x) { return x * rc::grad([&](Tensor y) { return x + y; })(number(1)); };
  expect_values(rc::grad(f)(number(1)), {1});
}

TEST(Perturbation, ForwardInForward) {
  const auto f = [](Tensor x) { return x * tangent_of([&](Tensor y) { return x + y; }, number(1)); };
  expect_values(tangent_of(f, number(1)), {1});
}

TEST(Perturbation, ForwardInReverse) {
  const auto f = [](Tensor x) { return x * tangent_of([&](Tensor y) { return x + y; }, number(1)); };
  expect_values(rc::grad(f)(number(1)), {1});
}

TEST(Perturbation, ReverseInForward) {
  const auto f = [](Tensor x) { return x * rc::grad([&](Tensor y) { return x + y; })(number(1)); };
  expect_values(tangent_of(f, number(1)), {1});
}

TEST(Perturbation, OfTheSameVariableAtTwoLevels) {
  const auto f = [](Tensor x) {
    const Tensor inner = rc::grad([&](Tensor y) { return y * y * x; })(x);  // 2 x * x
    return inner * x;                                                       // 2 x^3
  };
  expect_values(rc::grad(f)(number(3)), {54});
  expect_values(tangent_of(f, number(3)), {54});
}

TEST(Perturbation, OfTheOuterVariableInsideTheInnerPoint) {
  const auto f = [](Tensor x) { return rc::grad([&](Tensor y) { return sin(y) * x; })(x * x); };  // x cos(x^2)
  const double x = 0.6;
  expect_values(rc::grad(f)(number(x)), {std::cos(x * x) - 2 * x * x * std::sin(x * x)});
}

TEST(Perturbation, OfAPullbackMadeInOneLevelAndCalledInAnother) {
  const auto f = [](Tensor x) {
    auto [y, pullback] = rc::vjp([&](Tensor a) { return a * a * x; }, x);  // pullback(ct) = 2 x x ct
    return rc::grad([&](Tensor ct) { return pullback(ct) * ct; })(x);      // d/dct 2 x^2 ct^2 = 4 x^3
  };
  expect_values(f(number(2)), {32});
  expect_values(rc::grad(f)(number(2)), {48});
}

TEST(Perturbation, ThreeLevels) {
  const auto f = [](Tensor x) {
    return rc::grad([&](Tensor y) { return rc::grad([&](Tensor z) { return x * y * y * z * z * z; })(y); })(x);
  };  // grad_z at z=y: 3 x y^2 z^2 -> 3 x y^4 -> d/dy 12 x y^3 at y=x -> 12 x^4
  expect_values(f(number(2)), {192});
  expect_values(rc::grad(f)(number(2)), {384});
}

TEST(Perturbation, AValueOfAnInnerLevelThatEscapedIsAConstantForTheNextOne) {
  Tensor escaped;
  const auto first = [&](Tensor x) {
    escaped = x * x;
    return escaped;
  };
  const auto outer = [&](Tensor x) {
    rc::grad(first)(x);
    return rc::grad([&](Tensor y) { return escaped * y; })(x);  // x^2 where escaped still lives at the outer level
  };
  expect_values(outer(number(3)), {9});
}

TEST(Perturbation, AcrossVmap) {
  const auto f = [](Tensor x) { return x * rc::grad([&](Tensor y) { return (x + y).sum(); })(number(1)); };
  expect_values(rc::vmap(rc::grad(f))(doubles({1, 2, 3})), {1, 1, 1});
}

}  // namespace
