// jet: higher derivatives along a curve, of trees, at any order, under and around every other transform.
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "support/expect_error.h"
#include "support/expect_tensor.h"
#include "support/model.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

using Series = std::vector<Tensor>;

/// Along a line: first derivative of the curve 1, others 0.
Series along_line(const Tensor& x, std::size_t order) {
  Series series(order, rc::zeros_like(x));
  series[0] = rc::ones_like(x);
  return series;
}

/// The derivatives by t at 0 of f(x + x1 t + x2 t²/2! + …), each by one more jvp around those before.
Series by_nested_jvp(const std::function<Tensor(Tensor)>& f, const Tensor& x, const Series& series) {
  std::function<Tensor(Tensor)> derivative = [&](Tensor t) {
    Tensor at = x, power = t;
    for (std::size_t k = 0; k < series.size(); ++k) {
      at = at + series[k] * power;
      power = power * t / static_cast<double>(k + 2);
    }
    return f(at);
  };
  Series derivatives;
  for (std::size_t k = 0; k < series.size(); ++k) {
    derivative = [lower = derivative](Tensor t) { return std::get<1>(rc::jvp(lower, t, rc::ones_like(t))); };
    derivatives.push_back(derivative(number(0)));
  }
  return derivatives;
}

void expect_series(const Series& got, const Series& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t k = 0; k < got.size(); ++k) {
    SCOPED_TRACE(k + 1);
    expect_close(got[k], expected[k]);
  }
}

TEST(Jet, GivesTheValueAndTheDerivativesAlongALine) {
  const Tensor x = ramp({3}) + 0.5;
  const auto [y, series] = rc::jet([](Tensor a) { return sin(a); }, x, along_line(x, 5));
  expect_close(y, sin(x));
  expect_series(series, {cos(x), -sin(x), -cos(x), sin(x), cos(x)});
}

TEST(Jet, CoefficientsAreDerivativesOfTheCurve) {
  // (t + t²/2! · 3)² = t² + 3 t³ + 9/4 t⁴ has the derivatives 0, 2, 18, 54 at 0.
  const auto [y, series] =
      rc::jet([](Tensor a) { return a * a; }, number(0), Series{number(1), number(3), number(0), number(0)});
  expect_values(y, {0});
  expect_series(series, {number(0), number(2), number(18), number(54)});
}

TEST(Jet, OfSeveralArgumentsTakesATupleOfCoefficients) {
  const Tensor x = number(2), z = number(3);
  const auto product = [](Tensor a, Tensor b) { return a * b; };
  const auto [y, series] =
      rc::jet(product, std::tuple{x, z}, std::tuple{Series{number(5), number(7)}, Series{number(11), number(13)}});
  expect_values(y, {6});
  expect_series(series, {number(5 * 3 + 2 * 11), number(7 * 3 + 2 * 5 * 11 + 2 * 13)});
}

TEST(Jet, AgreesWithNestedForwardDerivativesOnFunctionsOfEveryKind) {
  const Tensor x = doubles({0.3, 0.7, 1.1}), matrix = doubles({4, 1, 0, 1, 5, 2, 0, 2, 6}).reshape({3, 3});
  const Series series{doubles({1, -1, 2}), doubles({0.5, 0.2, 0}), doubles({0, 3, 1}), doubles({1, 1, 1})};
  const std::map<std::string, std::function<Tensor(Tensor)>> functions = {
      {"elementwise, from its own value", [](Tensor a) { return tanh(exp(a) / sqrt(a)); }},
      {"powers", [](Tensor a) { return pow(a, 2.5) + pow(a, 3) + pow(2., a); }},
      {"linear", [&](Tensor a) { return matmul(matrix, a).cumsum(0); }},
      {"products", [](Tensor a) { return outer(a, a).matmul(a); }},
      {"reductions", [](Tensor a) { return softmax(a, 0) * logsumexp(a, 0) + a.prod(); }},
      {"solvers", [&](Tensor a) { return rc::solve(matrix + rc::diag(a), a); }},
      {"factorizations", [&](Tensor a) { return rc::cholesky(matrix + rc::diag(a)); }},
      {"indexing", [](Tensor a) { return a.flip({0}) * rc::where(a > 0.5, a, a * a); }},
  };
  for (const auto& [name, f] : functions) {
    SCOPED_TRACE(name);
    expect_series(std::get<1>(rc::jet(f, x, series)), by_nested_jvp(f, x, series));
  }
}

TEST(Jet, TwiceTheOrderCostsAPowerOfTwoAndNotTwoToTheOrder) {
  const auto equations = [](std::size_t order) {
    const auto f = [=](Tensor a) {
      return std::get<1>(rc::jet([](Tensor e) { return sqrt(sin(e)) / e; }, a, along_line(a, order)));
    };
    return rc::trace(f)(number(0.5)).equations();
  };
  EXPECT_LT(equations(12), equations(6) * 32);  // nested jvp: at least 2^6 times as many
}

TEST(Jet, WhatAConditionLeavesOutHasNoDerivative) {
  const Tensor x = doubles({0, 4});
  const auto root = [](Tensor a) { return rc::where(a > 0, sqrt(a), 0.); };
  expect_series(std::get<1>(rc::jet(root, x, along_line(x, 2))), {doubles({0, 0.25}), doubles({0, -1. / 32})});
}

TEST(Jet, ErrorsInsideNameItOnce) {
  const auto f = [](Tensor a) { return a.reshape({7}); };
  try {
    rc::jet(f, ramp({3}), along_line(ramp({3}), 3));
    FAIL() << "nothing was thrown";
  } catch (const rc::ValueError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("inside jet"), std::string::npos) << text;
    EXPECT_EQ(text.find("inside jet"), text.rfind("inside jet")) << text;
  }
}

TEST(Jet, TakesAndGivesTrees) {
  const Mlp model = make_mlp();
  const Tensor x = ramp({3});
  const auto ones = rc::map_leaves([](Tensor p) { return rc::ones_like(p); }, model);
  const auto zeros = rc::map_leaves([](Tensor p) { return rc::zeros_like(p); }, model);
  using Named = std::map<std::string, Tensor>;
  const auto f = [&](Mlp m) { return Named{{"y", predict(m, x)}}; };
  const auto [y, series] = rc::jet(f, model, std::vector{ones, zeros});
  const auto slope = [&](Mlp m) { return std::get<1>(rc::jvp(f, m, ones)).at("y"); };
  expect_close(y.at("y"), predict(model, x));
  expect_close(series[0].at("y"), slope(model));
  expect_close(series[1].at("y"), std::get<1>(rc::jvp(slope, model, ones)));
}

TEST(Jet, WithoutCoefficientsIsTheValue) {
  const auto [y, series] = rc::jet([](Tensor a) { return exp(a); }, number(0), Series{});
  expect_values(y, {1});
  EXPECT_TRUE(series.empty());
}

TEST(Jet, OfAFunctionByName) {
  const Tensor x = number(0.4);
  expect_series(std::get<1>(rc::jet(rc::sin, x, along_line(x, 2))), {cos(x), -sin(x)});
  const auto [y, series] = rc::jet(rc::mul, std::tuple{x, x}, std::tuple{along_line(x, 2), along_line(x, 2)});
  expect_series(series, {2 * x, number(2)});
}

TEST(Jet, RunsTheFunctionOnce) {
  int runs = 0;
  const auto f = [&](Tensor a) {
    ++runs;
    return sin(a);
  };
  (void)rc::jet(f, number(1), along_line(number(1), 4));
  EXPECT_EQ(runs, 1);
}

TEST(Jet, NestsInsideAndAroundEveryTransform) {
  const Tensor x = ramp({4}) + 0.5;
  const auto third = [](Tensor a) { return std::get<1>(rc::jet(rc::sin, a, along_line(a, 3)))[2]; };
  expect_close(rc::vmap(third)(x), -cos(x));
  expect_close(rc::grad([&](Tensor a) { return third(a).sum(); })(x), sin(x));
  expect_close(std::get<1>(rc::jvp(third, x, rc::ones_like(x))), sin(x));
  expect_close(rc::compile(third)(x), -cos(x));
  expect_close(rc::trace(third)(x)({x})[0], -cos(x));
  expect_close(std::get<1>(rc::jet(third, x, along_line(x, 2)))[1], cos(x));
  const auto slopes = [](Tensor a) { return rc::vmap(rc::grad([](Tensor e) { return sin(e); }))(a); };
  expect_series(std::get<1>(rc::jet(slopes, x, along_line(x, 2))), {-sin(x), -cos(x)});
  expect_series(std::get<1>(rc::jet(rc::checkpoint([](Tensor a) { return sin(a); }), x, along_line(x, 2))),
                {cos(x), -sin(x)});
}

TEST(Jet, GoesThroughRulesThatUsersWrote) {
  const auto cube = rc::custom_jvp([](Tensor a) { return a * a * a; },
                                   [](std::tuple<Tensor> p, std::tuple<Tensor> t) {
                                     const Tensor a = std::get<0>(p);
                                     return std::pair{a * a * a, 3 * a * a * std::get<0>(t)};
                                   });
  const Tensor x = number(2);
  expect_series(std::get<1>(rc::jet(cube, x, along_line(x, 4))), {number(12), number(12), number(6), number(0)});
}

TEST(Jet, OfAFunctionThatWritesInPlace) {
  const auto f = [](Tensor a) {
    Tensor b = a.clone();
    b[0] = b[1] * b[1];
    b.mul_(a);
    return b;
  };
  const Tensor x = doubles({2, 3});
  const Series series{doubles({1, 1}), doubles({0, 0}), doubles({0, 0})};  // a0 a1², a1²
  expect_series(std::get<1>(rc::jet(f, x, series)), {doubles({9 + 12, 6}), doubles({12 + 4, 2}), doubles({6, 0})});
}

TEST(Jet, AnIntegerArgumentStandsBesideOthersWithoutCoefficients) {
  const Tensor places = rc::tensor({1, 0});
  const auto f = [](Tensor a, Tensor i) { return a.take(i) * a; };
  const Tensor x = doubles({2, 3}), none;
  const auto [y, series] = rc::jet(f, std::tuple{x, places}, std::tuple{along_line(x, 2), Series{none, none}});
  expect_values(y, {6, 6});
  expect_series(series, {doubles({5, 5}), doubles({2, 2})});
}

TEST(Jet, RefusesCoefficientsThatDoNotFit) {
  const auto f = [](Tensor a, Tensor b) { return a * b; };
  const Tensor x = ramp({3});
  expect_error<rc::ValueError>(
      [&] { rc::jet(f, std::tuple{x, x}, std::tuple{Series{x}, Series{x, x}}); },
      "jet: argument 0 has 1 coefficients, argument 1 has 2; give each argument as many, zeros "
      "where it does not move{at}",
      {x});
  expect_error<rc::ValueError>([&] { rc::jet(rc::sin, x, Series{x, ramp({2})}); },
                               "jet: the coefficients do not fit the arguments: coefficient 2 of argument 0 is f64[2], "
                               "argument 0 is f64[3]; pass coefficients like the arguments{at}");
  expect_error<rc::TypeError>([&] { rc::jet(rc::sin, x, Series{x.to(rc::float32)}); },
                              "jet: the coefficients do not fit the arguments: coefficient 1 of argument 0 is f32[3], "
                              "argument 0 is f64[3]; pass coefficients like the arguments{at}");
  expect_error<rc::TypeError>([&] { rc::jet(rc::sin, rc::tensor({1}), Series{rc::tensor({1})}); },
                              "jet: primal 0 is i64[1], which has no derivative; convert it with "
                              ".to(rc::float32){at}");
}

}  // namespace
