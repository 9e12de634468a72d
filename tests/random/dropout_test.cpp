// The dropout family: what it keeps, what it scales, and that it is nothing outside training.
#include "random/statistics.h"

namespace rc = ricci;
using rc::Randomness;
using rc::Tensor;
using namespace testing_support;

namespace {

TEST(Dropout, KeepsAndScalesOrZeroes) {
  rc::manual_seed(1);
  const Tensor y = rc::dropout(rc::full({40000}, 3, rc::float64), 0.25, true);
  expect_frequencies(y / 4, [](int k) { return k ? 0.75 : 0.25; }, 0, 1);
  EXPECT_EQ(rc::dropout(rc::ones({3})).dtype(), rc::float32);
}

TEST(Dropout, OutsideTrainingIsTheInputItselfAndNeedsNoMode) {
  const Tensor x = ramp({4, 3});
  EXPECT_TRUE(rc::dropout(x, 0.5, false).is_same(x));
  EXPECT_TRUE(rc::alpha_dropout(x, 0.5, false).is_same(x));
  EXPECT_TRUE(rc::feature_dropout(x, 0.5, false).is_same(x));
  EXPECT_TRUE(rc::feature_alpha_dropout(x, 0.5, false).is_same(x));
  expect_equal(rc::vmap([](Tensor a) { return rc::dropout(a, 0.5, false); })(x), x);
}

TEST(Dropout, OfProbabilityZeroAndOne) {
  const Tensor x = ramp({2, 3});
  expect_equal(rc::dropout(x, 0, true), x);
  expect_equal(rc::dropout(x, 1, true), rc::zeros_like(x));
  expect_equal(rc::alpha_dropout(x, 0, true), x);
  expect_equal(rc::alpha_dropout(x, 1, true), rc::zeros_like(x));
}

TEST(Dropout, OfFeaturesKeepsOrZeroesWholeChannels) {
  rc::manual_seed(1);
  const Tensor y = rc::feature_dropout(rc::ones({200, 10, 3, 2}, rc::float64), 0.5, true);
  const Tensor low = y.amin({2, 3}), high = y.amax({2, 3});
  expect_equal(low, high);
  expect_frequencies(low / 2, [](int) { return 0.5; }, 0, 1);
  const Tensor z = rc::feature_alpha_dropout(rc::ones({20, 10, 3}, rc::float64), 0.5, true);
  expect_equal(z.amin({2}), z.amax({2}));
}

TEST(Dropout, OfAlphaKeepsMeanZeroAndVarianceOne) {
  rc::manual_seed(1);
  const Tensor y = rc::alpha_dropout(rc::randn({100000}, rc::float64), 0.3, true);
  EXPECT_NEAR(y.mean().item(), 0, 0.02);
  EXPECT_NEAR(y.var().item(), 1, 0.02);
}

TEST(Dropout, GradientsPassWhereItKeeps) {
  const Tensor x = ramp({50});
  rc::manual_seed(1);
  const Tensor y = rc::dropout(x, 0.4, true);
  rc::manual_seed(1);
  expect_close(rc::grad([](Tensor a) { return rc::dropout(a, 0.4, true).sum(); })(x), y / x);
}

TEST(Dropout, TakesAGenerator) {
  rc::Generator g(2), h(2);
  const Tensor x = rc::ones({4, 5, 2});
  expect_equal(rc::dropout(x, 0.5, true, {.generator = g}), rc::dropout(x, 0.5, true, {.generator = h}));
  expect_equal(rc::alpha_dropout(x, 0.5, true, {.generator = g}), rc::alpha_dropout(x, 0.5, true, {.generator = h}));
  expect_equal(rc::feature_dropout(x, 0.5, true, {.generator = g}),
               rc::feature_dropout(x, 0.5, true, {.generator = h}));
}

TEST(Dropout, UnderVmapHasAMaskForEachExampleOrOneForAll) {
  const Tensor x = rc::ones({8, 100});
  rc::manual_seed(1);
  const auto drop = [](Tensor a) { return rc::dropout(a, 0.5, true); };
  const Tensor different = rc::vmap(drop, {.randomness = Randomness::different})(x);
  const Tensor same = rc::vmap(drop, {.randomness = Randomness::same})(x);
  for (std::int64_t i = 1; i < 8; ++i) {
    EXPECT_NE(values(different[i]), values(different[0]));
    EXPECT_EQ(values(same[i]), values(same[0]));
  }
}

/// A layer's weights that are not mapped are dropped for each example all the same.
TEST(Dropout, OfWhatIsNotMappedHasAMaskForEachExampleToo) {
  rc::manual_seed(1);
  const Tensor weight = rc::ones({100});
  const auto f = [&](Tensor x) { return rc::dropout(weight, 0.5, true) * x; };
  const Tensor y = rc::vmap(f, {.randomness = Randomness::different})(rc::ones({4}));
  EXPECT_NE(values(y[0]), values(y[1]));
}

TEST(Dropout, EnsemblesTrainWithAMaskForEachMember) {
  const Tensor weights = ramp({3, 40}), x = ramp({40});
  const auto loss = [&](Tensor w) { return (rc::dropout(x, 0.5, true) * w).sum(); };
  rc::manual_seed(1);
  const Tensor gradients = rc::vmap(rc::grad(loss), {.randomness = Randomness::different})(weights);
  EXPECT_NE(values(gradients[0]), values(gradients[1]));
  rc::manual_seed(1);
  const auto total = [&](Tensor all) { return rc::vmap(loss, {.randomness = Randomness::different})(all).sum(); };
  expect_equal(rc::grad(total)(weights), gradients);
}

}  // namespace
