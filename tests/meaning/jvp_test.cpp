// jvp and linearize: outputs with tangents, argument lists and trees, strictness, and a linear function to be called
// often.
#include <map>
#include <string>
#include <tuple>

#include "support/difference_quotient.h"
#include "support/expect_tensor.h"
#include "support/model.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

TEST(Jvp, GivesTheOutputAndItsTangent) {
  const Tensor x = ramp({3}), t = doubles({1, 10, 100});
  const auto [y, tangent] = rc::jvp([](Tensor a) { return sin(a); }, x, t);
  expect_close(y, sin(x));
  expect_close(tangent, cos(x) * t);
}

TEST(Jvp, OfSeveralPrimalsTakesTuples) {
  const Tensor x = ramp({2}), y = ramp({2}) + 1, tx = doubles({1, 2}), ty = doubles({3, 4});
  const auto [z, tangent] = rc::jvp([](Tensor a, Tensor b) { return a * b; }, std::tuple{x, y}, std::tuple{tx, ty});
  expect_close(z, x * y);
  expect_close(tangent, tx * y + x * ty);
}

TEST(Jvp, TakesTreesAsPrimals) {
  const Mlp model = make_mlp();
  const Tensor x = ramp({3});
  const auto f = [&](Mlp m) { return predict(m, x); };
  Mlp tangent = rc::map_leaves([](Tensor p) { return rc::zeros_like(p); }, model);
  tangent.layers[0].bias = rc::ones_like(tangent.layers[0].bias);
  const auto [y, out] = rc::jvp(f, model, tangent);
  const auto along = [&](Tensor s) {
    Mlp moved = model;
    moved.layers[0].bias = moved.layers[0].bias + s;
    return predict(moved, x);
  };
  expect_close(out, difference_quotient(along, number(0)), difference_tolerance);
}

TEST(Jvp, ASingleTupleArgumentIsWrapped) {
  const auto f = [](std::tuple<Tensor, Tensor> p) { return std::get<0>(p) * std::get<1>(p); };
  const std::tuple<Tensor, Tensor> p{number(2), number(3)}, t{number(1), number(0)};
  const auto [y, tangent] = rc::jvp(f, std::make_tuple(p), std::make_tuple(t));
  expect_values(y, {6});
  expect_values(tangent, {3});
}

TEST(Jvp, OutputsOfAnyTreeHaveTangentsOfTheSameTree) {
  using Named = std::map<std::string, Tensor>;
  const auto [out, tangent] =
      rc::jvp([](Tensor a) { return Named{{"s", sin(a)}, {"c", cos(a)}}; }, number(0.4), number(2));
  expect_values(out.at("s"), {std::sin(0.4)});
  expect_values(tangent.at("c"), {-2 * std::sin(0.4)});
}

TEST(Jvp, TheTangentOfAnUnrelatedInputIsNotRead) {
  const auto f = [](Tensor, Tensor y) { return y * y; };
  const Tensor x = ramp({2}), y = ramp({3}), t = doubles({1, 10, 100});
  const auto [value, tangent] = rc::jvp(f, std::tuple{x, y}, std::tuple{doubles({NAN, 7}), t});
  expect_close(value, y * y);
  expect_close(tangent, y * 2 * t);
}

TEST(Jvp, AnUnrelatedOutputHasTangentZero) {
  const auto [y, tangent] = rc::jvp([](Tensor) { return doubles({1, 2}); }, ramp({3}), rc::ones({3}, rc::float64));
  expect_values(tangent, {0, 0});
}

TEST(Jvp, StrictMakesAnUnrelatedOutputAnError) {
  const Tensor x = ramp({3});
  EXPECT_THROW(rc::jvp([](Tensor) { return doubles({1, 2}); }, rc::strict, x, x), rc::TransformError);
  expect_close(std::get<1>(rc::jvp([](Tensor a) { return a * 2; }, rc::strict, x, x)), x * 2);
}

TEST(Jvp, StrictTakesAnOverloadedOperationByName) {
  const Tensor x = ramp({2}), t = doubles({1, 10});
  expect_values(rc::jvp(rc::sum, rc::strict, x, t).second, {11});
  expect_close(rc::jvp(rc::mul, rc::strict, std::tuple{x, x}, std::tuple{t, t}).second, 2 * x * t);
  expect_values(rc::jvp(rc::sum, rc::strict, {x}, {t}).second, {11});
  expect_close(rc::jvp(rc::mul, rc::strict, {x, x}, {t, t}).second, 2 * x * t);
}

TEST(Jvp, AuxIsTheThirdResult) {
  const auto f = [](Tensor x) { return std::pair{x * x, std::pair{x + 1, 42}}; };
  const auto [y, tangent, aux] = rc::jvp(f, rc::has_aux, number(3), number(1));
  expect_values(y, {9});
  expect_values(tangent, {6});
  expect_values(aux.first, {4});
  EXPECT_EQ(aux.second, 42);
}

TEST(Linearize, GivesTheOutputAndALinearFunction) {
  const Tensor x = ramp({3});
  auto [y, f_jvp] = rc::linearize([](Tensor a) { return sin(a); }, x);
  expect_close(y, sin(x));
  expect_close(f_jvp(rc::ones_like(x)), cos(x));
  expect_close(f_jvp(rc::ones_like(x) * 3), cos(x) * 3);
}

TEST(Linearize, RunsTheFunctionOnce) {
  int runs = 0;
  const auto f = [&](Tensor a) {
    ++runs;
    return exp(a);
  };
  auto [y, f_jvp] = rc::linearize(f, ramp({2}));
  for (int i = 0; i < 5; ++i) f_jvp(doubles({1, 2}));
  EXPECT_EQ(runs, 1);
}

TEST(Linearize, OfSeveralPrimalsTakesAsManyTangents) {
  const Tensor x = ramp({2}), y = ramp({2}) + 1;
  auto [z, f_jvp] = rc::linearize([](Tensor a, Tensor b) { return a * b; }, x, y);
  expect_close(f_jvp(doubles({1, 2}), doubles({3, 4})), doubles({1, 2}) * y + x * doubles({3, 4}));
}

TEST(Linearize, TreesGoInAndOut) {
  const Linear layer = make_linear(3, 2);
  const auto f = [](Linear l) { return std::pair{l.weight.sum(0) * l.bias, l.bias * 2}; };
  auto [y, f_jvp] = rc::linearize(f, layer);
  const auto [first, second] = f_jvp(Linear{rc::zeros({3, 2}, rc::float64), doubles({1, 0})});
  expect_close(first, layer.weight.sum(0) * doubles({1, 0}));
  expect_values(second, {2, 0});
}

TEST(Linearize, TheLinearFunctionCanBeMappedAndDifferentiated) {
  const Tensor x = ramp({3});
  auto [y, f_jvp] = rc::linearize([](Tensor a) { return a * a; }, x);
  expect_close(rc::vmap(f_jvp)(rc::eye(3, rc::float64)), rc::eye(3, rc::float64) * x * 2);
  const auto g = [&](Tensor t) { return f_jvp(t).sum(); };
  expect_close(rc::grad(g)(doubles({1, 2, 3})), x * 2);
}

TEST(Linearize, OutlivesItsArguments) {
  const Tensor x = doubles({2, 3});
  auto [y, f_jvp] = rc::linearize([](Tensor a) { return a * a; }, x);
  x.fill_(100);
  expect_values(f_jvp(doubles({1, 1})), {4, 6});
}

TEST(Jvp, TakesTensorsInBracesForATupleOfThem) {
  const auto f = [](Tensor x, Tensor y) { return x * x * y; };
  const Tensor x = rc::tensor({2., 3.}), y = rc::tensor({5., 7.}), ones = rc::ones({2});
  const auto [out, tangent] = rc::jvp(f, {x, y}, {ones, 2 * ones});
  const auto [expected_out, expected] = rc::jvp(f, std::tuple{x, y}, std::tuple{ones, 2 * ones});
  expect_close(out, expected_out);
  expect_close(tangent, expected);
  expect_close(std::get<1>(rc::jvp(rc::mul, {x, y}, {ones, ones})), x + y);
  expect_close(std::get<1>(rc::jvp(rc::sum, {x}, {ones})), rc::tensor(2.));
  const auto with_aux = [&](Tensor a, Tensor b) { return std::pair{f(a, b), b}; };
  expect_close(std::get<1>(rc::jvp(with_aux, rc::has_aux, {x, y}, {ones, 2 * ones})), expected);
  expect_close(std::get<1>(rc::jvp(f, rc::strict, {x, y}, {ones, 2 * ones})), expected);
}

TEST(Jvp, TakesAuxAndStrictTogether) {
  const Tensor x = ramp({3}), t = doubles({1, 10, 100});
  const auto square = [](Tensor a) { return std::pair{a * a, a + 1}; };
  const auto [out, tangent, aux] = rc::jvp(square, rc::has_aux, rc::strict, x, t);
  expect_close(tangent, 2 * x * t);
  expect_close(aux, x + 1);
  const auto constant = [](Tensor a) { return std::pair{rc::ones({3}), a}; };
  EXPECT_THROW(rc::jvp(constant, rc::has_aux, rc::strict, x, t), rc::TransformError);
}

}  // namespace
