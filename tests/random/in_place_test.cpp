// In-place draws follow the rule of every write: what differs between examples goes only into what has a value for
// each.
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Randomness;
using rc::Tensor;
using namespace testing_support;

namespace {

struct Method {
  const char* name;
  std::function<void(const Tensor&)> draw;
};

const Method methods[] = {
    {"normal_", [](const Tensor& x) { x.normal_(); }},
    {"uniform_", [](const Tensor& x) { x.uniform_(); }},
    {"bernoulli_", [](const Tensor& x) { x.bernoulli_(); }},
    {"exponential_", [](const Tensor& x) { x.exponential_(); }},
    {"cauchy_", [](const Tensor& x) { x.cauchy_(); }},
    {"geometric_", [](const Tensor& x) { x.geometric_(0.2); }},
    {"log_normal_", [](const Tensor& x) { x.log_normal_(0, 1); }},
    {"random_", [](const Tensor& x) { x.random_(); }},
};

TEST(InPlaceDraws, ReturnTheTargetAndKeepItsType) {
  for (const Method& m : methods) {
    SCOPED_TRACE(m.name);
    for (rc::DType dtype : {rc::float32, rc::float64}) {
      const Tensor x = rc::full({50}, -7.0, dtype), alias = x;
      m.draw(x);
      EXPECT_EQ(x.dtype(), dtype);
      EXPECT_EQ(sizes(x), Sizes{50});
      EXPECT_NE(values(alias), Values(50, -7.0));
    }
  }
  const Tensor x = rc::zeros({2});
  EXPECT_TRUE(x.normal_().is_same(x));
}

TEST(InPlaceDraws, ReachTheBaseOfAView) {
  const Tensor base = rc::zeros({3, 3});
  base.diagonal().uniform_(1, 2);
  EXPECT_GE(base.diagonal().min().item(), 1);
  EXPECT_EQ(rc::count_nonzero(base).item(), 3);
}

TEST(InPlaceDraws, DrawWhatTheFreeSamplersDraw) {
  rc::Generator g(2), h(2);
  const Tensor x = rc::zeros({5});
  expect_equal(x.normal_(1, 2, {.generator = g}), rc::normal(1, 2, {5}, {.generator = h}));
  expect_equal(x.uniform_(1, 2, {.generator = g}), rc::uniform(1, 2, {5}, {.generator = h}));
  expect_equal(x.exponential_(3, {.generator = g}), rc::exponential(3, {5}, {.generator = h}));
  expect_equal(x.bernoulli_(0.4, {.generator = g}), rc::bernoulli(0.4, {5}, {.generator = h}));
  expect_equal(x.cauchy_(0, 1, {.generator = g}), rc::cauchy(0, 1, {5}, {.generator = h}));
  expect_equal(x.log_normal_(0, 1, {.generator = g}), rc::log_normal(0, 1, {5}, {.generator = h}));
  expect_equal(x.geometric_(0.1, {.generator = g}), rc::geometric(0.1, {5}, {.generator = h}));
  expect_equal(x.random_(2, 9, {.generator = g}), rc::randint(2, 9, {5}, {.dtype = rc::float32, .generator = h}));
}

TEST(InPlaceDraws, TakeAGeneratorInPlaceOfParameters) {
  rc::Generator g(2), h(2);
  const Tensor x = rc::zeros({5}), y = rc::zeros({5});
  expect_equal(x.normal_({.generator = g}), y.normal_(0, 1, {.generator = h}));
  expect_equal(x.uniform_({.generator = g}), y.uniform_(0, 1, {.generator = h}));
  expect_equal(x.exponential_({.generator = g}), y.exponential_(1, {.generator = h}));
  expect_equal(x.cauchy_({.generator = g}), y.cauchy_(0, 1, {.generator = h}));
  expect_equal(x.bernoulli_({.generator = g}), y.bernoulli_(0.5, {.generator = h}));
  expect_equal(x.random_({.generator = g}), y.random_((1 << 24) + 1, {.generator = h}));
}

TEST(InPlaceDraws, WriteWholeNumbersAndTruthValuesToIntegers) {
  const Tensor x = rc::zeros({100}, rc::int64), mask = rc::zeros({100}, rc::boolean);
  EXPECT_GE(x.geometric_(0.5).min().item(), 1);
  EXPECT_LE(x.bernoulli_(0.5).max().item(), 1);
  EXPECT_NE(rc::count_nonzero(mask.random_()).item(), 0);
}

TEST(InPlaceDraws, OfDifferentExamplesGoIntoMappedTensorsOfTheCaller) {
  for (const Method& m : methods) {
    SCOPED_TRACE(m.name);
    const Tensor x = rc::full({4, 50}, -7.0);
    rc::vmap([&](Tensor row) { return m.draw(row), row; }, {.randomness = Randomness::different})(x);
    EXPECT_NE(values(x[0]), Values(50, -7.0));
    EXPECT_NE(values(x[0]), values(x[3]));
  }
}

TEST(InPlaceDraws, OfDifferentExamplesGoIntoWhatTheFunctionCreates) {
  for (const Method& m : methods) {
    SCOPED_TRACE(m.name);
    const auto f = [&](Tensor) {
      const Tensor fresh = rc::zeros({50});
      m.draw(fresh);
      return fresh;
    };
    const Tensor y = rc::vmap(f, {.randomness = Randomness::different})(rc::zeros({3}));
    EXPECT_NE(values(y[0]), values(y[2]));
  }
}

TEST(InPlaceDraws, OfDifferentExamplesDoNotGoIntoWhatHoldsOneValueForAll) {
  for (const Method& m : methods) {
    SCOPED_TRACE(m.name);
    const Tensor captured = rc::full({5}, -7.0), x = rc::zeros({3});
    const rc::VmapOptions different{.randomness = Randomness::different};
    EXPECT_THROW(rc::vmap([&](Tensor a) { return m.draw(captured), a; }, different)(x), rc::TransformError);
    const auto unmapped = [&](Tensor a, Tensor target) { return m.draw(target), a; };
    EXPECT_THROW(rc::vmap(unmapped, {.in_dims = {0, rc::none}, .randomness = Randomness::different})(x, captured),
                 rc::TransformError);
    EXPECT_EQ(values(captured), Values(5, -7.0));
  }
}

TEST(InPlaceDraws, OfOneDrawForAllGoIntoWhatHoldsOneValueForAll) {
  for (const Method& m : methods) {
    SCOPED_TRACE(m.name);
    const Tensor captured = rc::full({50}, -7.0), x = rc::zeros({3});
    rc::vmap([&](Tensor a) { return m.draw(captured), a; }, {.randomness = Randomness::same})(x);
    EXPECT_NE(values(captured), Values(50, -7.0));
  }
}

TEST(InPlaceDraws, WithParametersOfEachExampleNeedATargetOfEachExample) {
  const Tensor p = doubles({0, 1}), captured = rc::zeros({4});
  const rc::VmapOptions same{.randomness = Randomness::same};
  EXPECT_THROW(rc::vmap([&](Tensor a) { return captured.bernoulli_(a), a; }, same)(p), rc::TransformError);
  const Tensor y = rc::vmap([](Tensor a) { return rc::zeros({4}).bernoulli_(a); }, same)(p);
  EXPECT_EQ(values(y), (Values{0, 0, 0, 0, 1, 1, 1, 1}));
}

TEST(InPlaceDraws, CutTheDerivativeOfWhatTheyOverwrite) {
  const auto f = [](Tensor x) {
    const Tensor y = x * 2;
    y.normal_();
    return (y * x).sum();
  };
  rc::manual_seed(3);
  const Tensor gradient = rc::grad(f)(ramp({4}));
  rc::manual_seed(3);
  expect_close(gradient, rc::randn({4}, rc::float64));
}

}  // namespace
