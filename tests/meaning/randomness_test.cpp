// The sentences of semantics.md on randomness, by the example of PyTorch's documentation: `add_noise`.
#include "support/expect_error.h"

namespace rc = ricci;
using rc::Randomness;
using rc::Tensor;
using namespace testing_support;

namespace {

Tensor add_noise(Tensor x) { return x + rc::randn({}, rc::float64); }

Tensor noisy(const Tensor& x, Randomness mode) { return rc::vmap(add_noise, {.randomness = mode})(x); }

TEST(AddNoise, InErrorModeIsRefused) {
  const Tensor x = rc::ones({3});
  const std::string refused =
      "randn: a random operation under vmap over axis 0 of 3{at}, whose randomness mode is error; pass .randomness = "
      "rc::Randomness::different for a draw per example, or rc::Randomness::same for one draw for all\n"
      "  inside vmap over axis 0 of 3{at}";
  expect_error<rc::TransformError>([&] { rc::vmap(add_noise)(x); }, refused, {x});
  expect_error<rc::TransformError>([&] { noisy(x, Randomness::error); }, refused, {x});
}

TEST(AddNoise, InDifferentModeDrawsForEachExample) {
  rc::manual_seed(0);
  const Values noise = values(noisy(rc::zeros({3}, rc::float64), Randomness::different));
  EXPECT_NE(noise[0], noise[1]);
  EXPECT_NE(noise[1], noise[2]);
  EXPECT_NE(noise[0], noise[2]);
}

TEST(AddNoise, InSameModeDrawsOnceForAll) {
  rc::manual_seed(0);
  const Values noise = values(noisy(rc::zeros({3}, rc::float64), Randomness::same));
  EXPECT_EQ(noise[0], noise[1]);
  EXPECT_EQ(noise[0], noise[2]);
}

// ── the rows of the table ──

TEST(Randomness, FactoriesInSameModeGiveOneTensorForAllExamples) {
  const auto f = [](Tensor x) { return std::pair{x, rc::rand({2})}; };
  const auto [x, drawn] = rc::vmap(f, {.out_dims = {0, rc::none}, .randomness = Randomness::same})(rc::zeros({3}));
  EXPECT_EQ(sizes(drawn), Sizes{2});
}

TEST(Randomness, AnInPlaceDrawOfEachExampleIntoACapturedOrUnmappedTensorIsAnError) {
  const Tensor target = rc::zeros({2}), x = rc::zeros({3});
  const auto captured = [&](Tensor a) { return target.normal_(), a; };
  const auto unmapped = [](Tensor a, Tensor b) { return b.normal_(), a; };
  EXPECT_THROW(rc::vmap(captured, {.randomness = Randomness::different})(x), rc::TransformError);
  EXPECT_THROW(rc::vmap(unmapped, {.in_dims = {0, rc::none}, .randomness = Randomness::different})(x, target),
               rc::TransformError);
  EXPECT_EQ(values(target), (Values{0, 0}));
}

TEST(Randomness, OneNoiseForAllIsAppliedToTheParametersOfEachExample) {
  rc::manual_seed(0);
  const Tensor mean = doubles({0, 10, 20}), std = doubles({1, 2, 3});
  const Values x = values(
      rc::vmap([](Tensor m, Tensor s) { return rc::normal(m, s); }, {.randomness = Randomness::same})(mean, std));
  EXPECT_NEAR((x[1] - 10) / 2, x[0], 1e-12);
  EXPECT_NEAR((x[2] - 20) / 3, x[0], 1e-12);
}

TEST(Randomness, OneNoiseForAllGivesMonotoneCountsToTheSameExamples) {
  rc::manual_seed(0);
  const Tensor p = doubles({0.1, 0.5, 0.9});
  const Tensor x =
      rc::vmap([](Tensor q) { return rc::bernoulli(q.expand({100})); }, {.randomness = Randomness::same})(p);
  EXPECT_TRUE(bool((x[0] <= x[1]).all()));
  EXPECT_TRUE(bool((x[1] <= x[2]).all()));
}

TEST(Randomness, DropoutInTrainingHasAMaskForEachExampleOrOneForAll) {
  rc::manual_seed(0);
  const Tensor x = rc::ones({2, 64});
  const auto drop = [](Tensor a) { return rc::dropout(a, 0.5, true); };
  EXPECT_THROW(rc::vmap(drop)(x), rc::TransformError);
  const Tensor different = rc::vmap(drop, {.randomness = Randomness::different})(x);
  const Tensor same = rc::vmap(drop, {.randomness = Randomness::same})(x);
  EXPECT_NE(values(different[0]), values(different[1]));
  EXPECT_EQ(values(same[0]), values(same[1]));
}

// ── below the table ──

TEST(Randomness, ChunksNestingAndTheOrderOfGradAndVmapDoNotChangeTheNumbers) {
  const Tensor x = ramp({6, 2});
  const auto loss = [](Tensor a) { return (a * rc::randn_like(a)).sum(); };
  const rc::VmapOptions different{.randomness = Randomness::different};
  rc::manual_seed(0);
  const Tensor expected = rc::vmap(rc::grad(loss), different)(x);
  rc::manual_seed(0);
  expect_equal(rc::vmap(rc::grad(loss), {.randomness = Randomness::different, .chunk_size = 4})(x), expected);
  rc::manual_seed(0);
  expect_equal(rc::grad([&](Tensor a) { return rc::vmap(loss, different)(a).sum(); })(x), expected);
  rc::manual_seed(0);
  expect_equal(rc::vmap(rc::vmap(rc::grad(loss), different), different)(x.reshape({2, 3, 2})).reshape({6, 2}),
               expected);
}

TEST(Randomness, ManualSeedOutsideMakesCallsRepeatable) {
  rc::manual_seed(42);
  const Tensor first = noisy(rc::zeros({5}), Randomness::different);
  rc::manual_seed(42);
  expect_equal(noisy(rc::zeros({5}), Randomness::different), first);
}

TEST(Randomness, TwoNestedDifferentLevelsGiveEveryPairItsOwnDraw) {
  rc::manual_seed(0);
  const rc::VmapOptions different{.randomness = Randomness::different};
  Values all = values(rc::vmap(rc::vmap(add_noise, different), different)(rc::zeros({20, 30}, rc::float64)));
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
}

TEST(Randomness, KeysNeedNoMode) {
  const auto f = [](rc::Key key, Tensor x) { return x + rc::normal(key, {2}, rc::float64); };
  const rc::Key keys = rc::split(rc::Key(0), 3);
  const Tensor x = ramp({3, 2}), y = rc::vmap(f)(keys, x);
  for (std::int64_t i = 0; i < 3; ++i) expect_equal(y[i], f(rc::Key(keys.data[i]), x[i]));
}

TEST(Randomness, JacobiansTakeTheModeToo) {
  const Tensor x = ramp({3});
  const auto f = [](Tensor a) { return a * rc::randn({}, rc::float64); };
  EXPECT_THROW(rc::jacfwd(f)(x), rc::TransformError);
  rc::manual_seed(0);
  const Values same = values(rc::jacfwd(f, {.randomness = Randomness::same})(x).diagonal());
  EXPECT_EQ(same[0], same[1]);
  const Values different = values(rc::jacfwd(f, {.randomness = Randomness::different})(x).diagonal());
  EXPECT_NE(different[0], different[1]);
  const Values reverse = values(rc::jacrev(f)(x).diagonal());  // runs f once
  EXPECT_EQ(reverse[0], reverse[1]);
}

}  // namespace
