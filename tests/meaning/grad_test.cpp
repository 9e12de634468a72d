// grad, grad_and_value, value_and_grad: values against closed formulas, argument choice, trees, aux, and what has no
// derivative.
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "support/difference_quotient.h"
#include "support/expect_tensor.h"
#include "support/model.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

TEST(Grad, OfSinIsCos) {
  expect_values(rc::grad([](Tensor x) { return sin(x); })(number(0.7)), {std::cos(0.7)});
}

TEST(Grad, TakesOperationsByName) {
  expect_values(rc::grad(rc::sin)(number(0.7)), {std::cos(0.7)});
  expect_values(rc::grad(rc::sum)(ramp({3})), {1, 1, 1});
  expect_values(rc::grad(rc::grad(rc::exp))(number(0.5)), {std::exp(0.5)});
}

TEST(Grad, HasTheShapeAndDtypeOfTheArgument) {
  const auto f = [](Tensor x) { return (x * x).sum(); };
  const Tensor gradient = rc::grad(f)(rc::ones({2, 1, 3}));
  EXPECT_EQ(sizes(gradient), (Sizes{2, 1, 3}));
  EXPECT_EQ(gradient.dtype(), rc::float32);
}

TEST(Grad, ShapeInsideIsTheArgumentsShape) {
  const auto f = [](Tensor x) {
    EXPECT_EQ(sizes(x), (Sizes{2, 3}));
    EXPECT_EQ(x.dtype(), rc::float64);
    EXPECT_EQ(x.numel(), 6);
    return x.sum();
  };
  rc::grad(f)(ramp({2, 3}));
}

TEST(Grad, ArgnumsChooseTheArgument) {
  const auto f = [](Tensor x, Tensor y, Tensor z) { return x * y * y * z * z * z; };
  const Tensor x = number(2), y = number(3), z = number(5);
  expect_values(rc::grad(f)(x, y, z), {9 * 125});
  expect_values(rc::grad<1>(f)(x, y, z), {2 * 6 * 125});
  expect_values(rc::grad<-1>(f)(x, y, z), {2 * 9 * 75});
  const auto [dz, dx] = rc::grad<2, 0>(f)(x, y, z);
  expect_values(dz, {2 * 9 * 75});
  expect_values(dx, {9 * 125});
}

TEST(Grad, OneArgnumGivesATreeAndTwoGiveATuple) {
  const auto f = [](Tensor x, Tensor y) { return x * y; };
  static_assert(std::is_same_v<decltype(rc::grad<1>(f)(number(1), number(2))), Tensor>);
  static_assert(std::is_same_v<decltype(rc::grad<0, 1>(f)(number(1), number(2))), std::tuple<Tensor, Tensor>>);
}

TEST(Grad, HasTheTreeOfTheArgument) {
  const Mlp model = make_mlp();
  const Tensor x = ramp({3});
  const Mlp gradient = rc::grad([&](Mlp m) { return predict(m, x).sum(); })(model);
  ASSERT_EQ(gradient.layers.size(), 2U);
  const auto of_bias = [&](Tensor bias) {
    Mlp changed = model;
    changed.layers[0].bias = bias;
    return predict(changed, x).sum();
  };
  expect_close(gradient.layers[0].bias, difference_quotient(of_bias, model.layers[0].bias), difference_tolerance);
}

TEST(Grad, KeepsTheValueOfWhatIsNoTensorAndOfIntegerTensors) {
  const State state{ramp({2}), rc::tensor({7, 8}), 0.25, "mine"};
  const State gradient = rc::grad([](State s) { return (s.weight * s.weight).sum() * s.rate; })(state);
  expect_close(gradient.weight, state.weight * 0.5);
  expect_equal(gradient.steps, rc::tensor({7, 8}));
  EXPECT_EQ(gradient.rate, 0.25);
  EXPECT_EQ(gradient.name, "mine");
}

TEST(Grad, GoesThroughMapsVectorsAndOptionals) {
  using Batch = std::map<std::string, std::vector<Tensor>>;
  const auto f = [](Batch b) { return (b.at("a")[0] * b.at("a")[1]).sum() + b.at("b")[0].sum() * 3; };
  const Batch gradient = rc::grad(f)(Batch{{"a", {ramp({2}), ramp({2}) * 2}}, {"b", {ramp({1})}}});
  expect_close(gradient.at("a")[0], ramp({2}) * 2);
  expect_close(gradient.at("a")[1], ramp({2}));
  expect_values(gradient.at("b")[0], {3});
  const auto g = [](std::optional<Tensor> x) { return x ? x->sum() : number(1); };
  expect_values(*rc::grad(g)(std::optional<Tensor>(ramp({2}))), {1, 1});
}

TEST(Grad, AnUnrelatedArgumentHasGradientZero) {
  const auto f = [](Tensor, Tensor y) { return (y * y).sum(); };
  expect_values(rc::grad(f)(ramp({3}), ramp({2})), {0, 0, 0});
}

TEST(Grad, AConstantOutputHasGradientZero) {
  expect_values(rc::grad([](Tensor) { return number(3); })(ramp({2})), {0, 0});
}

TEST(Grad, AndValueGivesBothInTheOrderOfItsName) {
  const auto f = [](Tensor x) { return x * x * x; };
  const auto [gradient, value] = rc::grad_and_value(f)(number(2));
  expect_values(gradient, {12});
  expect_values(value, {8});
  const auto [value2, gradient2] = rc::value_and_grad(f)(number(2));
  expect_values(value2, {8});
  expect_values(gradient2, {12});
}

TEST(Grad, AuxIsReturnedBesideTheGradient) {
  const auto f = [](Tensor x) { return std::pair{(x * x).sum(), x * 10}; };
  const auto [gradient, aux] = rc::grad(f, rc::has_aux)(doubles({1, 2}));
  expect_values(gradient, {2, 4});
  expect_values(aux, {10, 20});
}

TEST(Grad, AuxMayBeAnyTreeTensorsOrNot) {
  const auto f = [](Tensor x) {
    return std::pair{x.sum(), std::tuple{std::string("note"), 3, std::vector<Tensor>{x, x * 2}}};
  };
  const auto [gradient, aux] = rc::grad(f, rc::has_aux)(doubles({1, 2}));
  expect_values(gradient, {1, 1});
  EXPECT_EQ(std::get<0>(aux), "note");
  EXPECT_EQ(std::get<1>(aux), 3);
  expect_values(std::get<2>(aux)[1], {2, 4});
}

TEST(Grad, AndValueWithAuxPairsValueAndAux) {
  const auto f = [](Tensor x) { return std::pair{x * x, x + 1}; };
  const auto [gradient, value_aux] = rc::grad_and_value(f, rc::has_aux)(number(3));
  expect_values(gradient, {6});
  expect_values(value_aux.first, {9});
  expect_values(value_aux.second, {4});
  const auto [value_aux2, gradient2] = rc::value_and_grad(f, rc::has_aux)(number(3));
  expect_values(value_aux2.first, {9});
  expect_values(value_aux2.second, {4});
  expect_values(gradient2, {6});
}

TEST(Grad, AuxHasNoDerivativeAtItsOwnLevelButHasOneAtTheOuter) {
  const auto inner = [](Tensor x) { return std::pair{x * x, x * x * x}; };
  const auto outer = [&](Tensor x) { return rc::grad(inner, rc::has_aux)(x).second; };
  expect_values(rc::grad(outer)(number(2)), {12});
}

TEST(Grad, CapturedTensorsAreConstants) {
  const Tensor w = number(5);
  expect_values(rc::grad([&](Tensor x) { return x * w; })(number(2)), {5});
}

TEST(Grad, ATensorCapturedFromTheOuterGradIsAVariableThere) {
  const auto outer = [](Tensor x) {
    return rc::grad([&](Tensor y) { return x * x * y; })(number(7));  // x^2
  };
  expect_values(rc::grad(outer)(number(3)), {6});
}

}  // namespace
