// vjp: the output and a pullback that can be called many times, under later transforms, and after everything else is
// gone.
#include <functional>
#include <map>
#include <string>
#include <tuple>

#include "support/expect_tensor.h"
#include "support/model.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

struct Pair {
  Tensor sum, product;
};

TEST(Vjp, GivesTheOutputAndThePullback) {
  const Tensor x = ramp({3}), ct = doubles({1, 10, 100});
  auto [y, pullback] = rc::vjp([](Tensor a) { return sin(a); }, x);
  expect_close(y, sin(x));
  expect_close(pullback(ct), ct * cos(x));
}

TEST(Vjp, OfSeveralPrimalsGivesATuple) {
  const Tensor x = ramp({2}), y = ramp({2}) + 1, ct = doubles({3, 4});
  auto [z, pullback] = rc::vjp([](Tensor a, Tensor b) { return a * b; }, x, y);
  const std::tuple<Tensor, Tensor> cotangents = pullback(ct);
  expect_close(std::get<0>(cotangents), ct * y);
  expect_close(std::get<1>(cotangents), ct * x);
}

TEST(Vjp, CanBePulledBackManyTimes) {
  const Tensor x = ramp({2});
  auto [y, pullback] = rc::vjp([](Tensor a) { return a * a; }, x);
  for (double scale : {1.0, 2.0, -3.0}) expect_close(pullback(rc::ones_like(x) * scale), x * 2 * scale);
}

TEST(Vjp, OutlivesTheFunctionItsCapturesAndItsArguments) {
  std::function<Tensor(Tensor)> pull;
  {
    const Tensor weight = doubles({2, 3});
    auto [y, pullback] = rc::vjp([weight](Tensor a) { return a * a * weight; }, doubles({5, 7}));
    pull = pullback;
  }
  expect_values(pull(doubles({1, 1})), {20, 42});
}

TEST(Vjp, KeepsTheValuesOfItsArgumentsWhenTheyAreOverwrittenLater) {
  const Tensor x = doubles({2, 3});
  auto [y, pullback] = rc::vjp([](Tensor a) { return a * a; }, x);
  x.fill_(100);
  y.fill_(100);
  expect_values(pullback(doubles({1, 1})), {4, 6});
}

TEST(Vjp, PullbackCanBeDifferentiated) {
  const Tensor x = ramp({3});
  auto [y, pullback] = rc::vjp([](Tensor a) { return a * a; }, x);
  const Tensor gradient = rc::grad([&](Tensor ct) { return (pullback(ct) * ct).sum(); })(doubles({1, 2, 3}));
  expect_close(gradient, x * 4 * doubles({1, 2, 3}));
}

TEST(Vjp, OutputTreeIsTheCotangentTree) {
  const Tensor x = ramp({2}), y = ramp({2}) * 2;
  auto [out, pullback] = rc::vjp([](Tensor a, Tensor b) { return Pair{a + b, a * b}; }, x, y);
  expect_close(out.product, x * y);
  const auto [dx, dy] = pullback(Pair{doubles({1, 1}), doubles({10, 10})});
  expect_close(dx, y * 10 + 1);
  expect_close(dy, x * 10 + 1);
}

TEST(Vjp, PrimalTreeIsThePulledBackTree) {
  const Mlp model = make_mlp();
  const Tensor x = ramp({3});
  auto [y, pullback] = rc::vjp([&](Mlp m) { return predict(m, x); }, model);
  const Mlp pulled = pullback(doubles({1, 0}));
  const Mlp gradient = rc::grad([&](Mlp m) { return predict(m, x)[0]; })(model);
  expect_close(pulled.layers[0].weight, gradient.layers[0].weight, 1e-12);
  EXPECT_EQ(pulled.dropout, model.dropout);
}

TEST(Vjp, AMapAndAVectorAreOutputsToo) {
  using Named = std::map<std::string, std::vector<Tensor>>;
  auto [out, pullback] = rc::vjp([](Tensor a) { return Named{{"k", {a * 2, a * 3}}}; }, ramp({2}));
  expect_close(out.at("k")[1], ramp({2}) * 3);
  expect_values(pullback(Named{{"k", {doubles({1, 1}), doubles({10, 10})}}}), {32, 32});
}

TEST(Vjp, AnUnrelatedOutputPullsBackZero) {
  auto [y, pullback] = rc::vjp([](Tensor) { return doubles({1, 2}); }, ramp({3}));
  expect_values(pullback(doubles({1, 1})), {0, 0, 0});
}

TEST(Vjp, AnUnrelatedPrimalReceivesZero) {
  auto [y, pullback] = rc::vjp([](Tensor a, Tensor) { return a * 2; }, ramp({2}), ramp({3}));
  const auto [da, db] = pullback(doubles({1, 1}));
  expect_values(da, {2, 2});
  expect_values(db, {0, 0, 0});
}

TEST(Vjp, AuxIsTheThirdResult) {
  const auto f = [](Tensor x) { return std::pair{x * x, std::tuple{x + 1, std::string("aux")}}; };
  auto [y, pullback, aux] = rc::vjp(f, rc::has_aux, doubles({3}));
  expect_values(y, {9});
  expect_values(pullback(doubles({1})), {6});
  expect_values(std::get<0>(aux), {4});
  EXPECT_EQ(std::get<1>(aux), "aux");
}

TEST(Vjp, IdentityPullsTheCotangentBack) {
  auto [y, pullback] = rc::vjp([](Tensor a) { return a; }, ramp({2}));
  expect_close(y, ramp({2}));
  expect_values(pullback(doubles({5, 6})), {5, 6});
}

TEST(Vjp, TheOutputIsAnOrdinaryTensorAfterwards) {
  auto [y, pullback] = rc::vjp([](Tensor a) { return a * 2; }, ramp({2}));
  expect_close(y + 1, ramp({2}) * 2 + 1);
  EXPECT_FALSE(rc::inside_transform());
}

}  // namespace
