// Draws under vmap whose operands are shared by all examples, or mapped along another axis: dropout and multinomial in
// every mode, with a generator.
#include <gtest/gtest.h>

#include "ricci/ricci.h"
#include "support/expect_error.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Randomness;
using rc::Tensor;
using namespace testing_support;

namespace {

TEST(DropoutOfASharedTensor, IsRefusedDrawnForEachOrOnceForAll) {
  const Tensor shared = rc::ones({50}, rc::float64), xs = rc::zeros({3}, rc::float64);
  const auto mapped = [&](Randomness mode) {
    rc::manual_seed(2);
    return rc::vmap([&](Tensor x) { return rc::dropout(shared, 0.5, true) + x; }, {.randomness = mode})(xs);
  };
  EXPECT_THROW(mapped(Randomness::error), rc::TransformError);
  const Tensor different = mapped(Randomness::different), same = mapped(Randomness::same);
  EXPECT_NE(values(different[0]), values(different[1]));
  EXPECT_NE(values(different[1]), values(different[2]));
  expect_equal(same[0], same[1]);
  expect_equal(same[1], same[2]);
  for (const Tensor& y : {different, same}) {
    expect_equal(y * (y - 2), y * 0);  // each is 0 or 2
    EXPECT_GT(y.sum().item(), 0);
  }
}

Tensor weights() { return rc::stack({doubles({1, 0, 0, 3}), doubles({0, 2, 2, 0}), doubles({1, 1, 1, 1})}); }

TEST(MultinomialUnderVmap, TakesWeightsOfAnyAxisAndAGenerator) {
  const auto drawn = [](const Tensor& w, std::int64_t dim, Randomness mode) {
    rc::Generator g(7);
    return rc::vmap([&](Tensor row) { return rc::multinomial(row, 20, true, {.generator = g}); },
                    {.in_dims = dim, .randomness = mode})(w);
  };
  for (const Randomness mode : {Randomness::different, Randomness::same}) {
    const Tensor first = drawn(weights(), 0, mode);
    EXPECT_EQ(sizes(first), (Sizes{3, 20}));
    expect_equal(drawn(weights().t().contiguous(), -1, mode), first);
    expect_equal(drawn(weights(), 0, mode), first);
    for (const double k : values(first[0])) EXPECT_TRUE(k == 0 || k == 3);
    for (const double k : values(first[1])) EXPECT_TRUE(k == 1 || k == 2);
  }
  EXPECT_THROW(drawn(weights(), 0, Randomness::error), rc::TransformError);
}

TEST(MultinomialUnderVmap, OfSharedWeightsDrawsForEachOrOnceForAll) {
  const Tensor w = doubles({1, 2, 3, 4}), xs = rc::zeros({3}, rc::int64);
  const auto mapped = [&](Randomness mode, bool replaced) {
    rc::manual_seed(3);
    return rc::vmap([&](Tensor x) { return rc::multinomial(w, replaced ? 30 : 4, replaced) + x; },
                    {.randomness = mode})(xs);
  };
  const Tensor different = mapped(Randomness::different, true), same = mapped(Randomness::same, true);
  EXPECT_NE(values(different[0]), values(different[1]));
  expect_equal(same[0], same[1]);
  for (const Randomness mode : {Randomness::different, Randomness::same})
    expect_values(rc::sort(mapped(mode, false), -1).first, {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3});
}

TEST(RreluUnderVmap, InTrainingDrawsSlopesByTheMode) {
  const Tensor xs = rc::full({3, 40}, -1.0, rc::float64);
  const auto mapped = [&](Randomness mode) {
    rc::manual_seed(4);
    return rc::vmap([](Tensor x) { return rc::rrelu(x, {.training = true}); }, {.randomness = mode})(xs);
  };
  EXPECT_THROW(mapped(Randomness::error), rc::TransformError);
  const Tensor different = mapped(Randomness::different), same = mapped(Randomness::same);
  EXPECT_NE(values(different[0]), values(different[1]));
  expect_equal(same[0], same[2]);
  EXPECT_LE(different.max().item(), -1.0 / 8);
  EXPECT_GE(different.min().item(), -1.0 / 3);
}

}  // namespace
