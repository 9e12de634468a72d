// Draws as functions of seed and position: repeatable, independent of what else is drawn, and right in distribution.
#include <algorithm>
#include <cmath>

#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

TEST(Draws, RepeatFromTheSameSeed) {
  rc::manual_seed(3);
  const Values first = values(rc::rand({5})), second = values(rc::rand({5}));
  rc::manual_seed(3);
  EXPECT_EQ(values(rc::rand({5})), first);
  EXPECT_EQ(values(rc::rand({5})), second);
  EXPECT_NE(first, second);
  rc::manual_seed(4);
  EXPECT_NE(values(rc::rand({5})), first);
}

TEST(Draws, ComeFromTheGeneratorThatIsGiven) {
  rc::Generator g(3), h(3);
  rc::manual_seed(3);
  const Values first = values(rc::randn({4}, {.generator = g}));
  EXPECT_EQ(values(rc::randn({4}, {.generator = h})), first);
  EXPECT_EQ(values(rc::randn({4})), first);
  EXPECT_NE(values(rc::randn({4}, {.generator = g})), first);
}

TEST(Draws, LikeATensorTakeItsTypeOrTheOneAskedFor) {
  const Tensor x = rc::zeros({2, 3}, rc::float64);
  rc::Generator g(3), h(3);
  EXPECT_EQ(rc::rand_like(x).dtype(), rc::float64);
  EXPECT_EQ(rc::rand_like(x, rc::float32).dtype(), rc::float32);
  EXPECT_EQ(rc::randn_like(x, {.dtype = rc::float16}).dtype(), rc::float16);
  EXPECT_EQ(rc::randint_like(x, 9, rc::int32).dtype(), rc::int32);
  EXPECT_EQ(rc::randint_like(x, 2, 9, {.dtype = rc::uint8}).dtype(), rc::uint8);
  expect_equal(rc::randn_like(x, {.dtype = rc::float32, .generator = g}), rc::randn({2, 3}, {.generator = h}));
  expect_equal(rc::rand_like(x, {.generator = g}), rc::rand({2, 3}, {.dtype = rc::float64, .generator = h}));
  EXPECT_EQ(rc::rand_like(rc::zeros({2}, rc::int64), rc::float32).dtype(), rc::float32);
}

/// As torch: real and imaginary part have variance 1/2 each and do not depend on each other.
TEST(Normal, OfAComplexTypeHasVarianceOne) {
  rc::manual_seed(5);
  const auto expect_standard = [](const Tensor& z) {
    const auto mean = [](const Tensor& x) { return x.to(rc::float64).mean().item<double>(); };
    const Tensor re = rc::real(z), im = rc::imag(z);
    EXPECT_NEAR(mean(re), 0, 0.02);
    EXPECT_NEAR(mean(im), 0, 0.02);
    EXPECT_NEAR(mean(re * re), 0.5, 0.02);
    EXPECT_NEAR(mean(im * im), 0.5, 0.02);
    EXPECT_NEAR(mean(re * im), 0, 0.02);
    EXPECT_NEAR(mean(pow(re, 4)), 0.75, 0.05);
  };
  for (const rc::DType dtype : {rc::complex64, rc::complex128}) {
    const Tensor z = rc::randn({20000}, dtype);
    EXPECT_EQ(z.dtype(), dtype);
    expect_standard(z);
    expect_standard(rc::randn_like(z));
    expect_standard(rc::normal(rc::Key(3), {20000}, dtype));
    expect_standard(rc::zeros({20000}, dtype).normal_());
  }
  EXPECT_EQ(rc::randn({}, rc::complex64).dim(), 0);
  EXPECT_THROW(rc::rand({2}, rc::complex64), rc::TypeError);
  EXPECT_THROW(rc::zeros({2}, rc::complex64).log_normal_(), rc::TypeError);
}

TEST(Draws, TakeOnePositionEach) {
  rc::Generator g(3), h(3);
  rc::rand({1000}, {.generator = g});
  rc::rand({1}, {.generator = h});
  EXPECT_EQ(values(rc::rand({3}, {.generator = g})), values(rc::rand({3}, {.generator = h})));
}

TEST(Uniform, LiesBetweenZeroAndOne) {
  rc::manual_seed(1);
  for (rc::DType dtype : {rc::float16, rc::bfloat16, rc::float32, rc::float64}) {
    const Tensor x = rc::rand({10000}, dtype);
    EXPECT_EQ(x.dtype(), dtype);
    const Values drawn = values(x);
    EXPECT_GE(*std::min_element(drawn.begin(), drawn.end()), 0);
    EXPECT_LT(*std::max_element(drawn.begin(), drawn.end()), 1);
    EXPECT_NEAR(x.to(rc::float64).mean().item(), 0.5, 0.02);
  }
}

TEST(Normal, HasMeanZeroAndVarianceOne) {
  rc::manual_seed(1);
  const Tensor x = rc::randn({100000}, rc::float64);
  EXPECT_NEAR(x.mean().item(), 0, 0.02);
  EXPECT_NEAR(x.var().item(), 1, 0.02);
}

TEST(Integers, CoverTheirRange) {
  rc::manual_seed(1);
  const Tensor x = rc::randint(-2, 3, {1000});
  EXPECT_EQ(x.dtype(), rc::int64);
  Values drawn = values(x);
  std::sort(drawn.begin(), drawn.end());
  drawn.erase(std::unique(drawn.begin(), drawn.end()), drawn.end());
  EXPECT_EQ(drawn, (Values{-2, -1, 0, 1, 2}));
  EXPECT_EQ(rc::randint(0, 5, {3}, {.dtype = rc::float32}).dtype(), rc::float32);
}

TEST(Permutation, HoldsEachNumberOnce) {
  rc::manual_seed(1);
  Values drawn = values(rc::randperm(100));
  EXPECT_FALSE(std::is_sorted(drawn.begin(), drawn.end()));
  std::sort(drawn.begin(), drawn.end());
  EXPECT_EQ(drawn, values(rc::arange(100)));
  EXPECT_EQ(sizes(rc::randperm(0)), Sizes{0});
}

TEST(Draws, TakeTheTypeOfAnotherTensor) {
  const Tensor x = rc::ones({2, 3}, rc::float64);
  EXPECT_EQ(rc::rand_like(x).dtype(), rc::float64);
  EXPECT_EQ(sizes(rc::randn_like(x)), (Sizes{2, 3}));
}

TEST(Draws, WorkByNameUnderTransforms) {
  const Tensor x = rc::full({4, 30}, 0.5);
  const rc::VmapOptions different{.randomness = rc::Randomness::different};
  for (const Tensor& y : {rc::vmap(rc::bernoulli, different)(x), rc::vmap(rc::gamma, different)(x),
                          rc::vmap(rc::poisson, different)(x * 20), rc::vmap(rc::dropout, different)(x),
                          rc::vmap(rc::rand_like, different)(x), rc::vmap(rc::normal, different)(x, x),
                          rc::vmap(rc::beta, different)(x, x), rc::vmap(rc::uniform, different)(x, x + 1)})
    EXPECT_NE(values(y[0]), values(y[3]));
}

TEST(Draws, AreConstantsUnderDifferentiation) {
  rc::manual_seed(5);
  const Tensor noise = rc::rand({3});
  rc::manual_seed(5);
  const auto f = [](Tensor x) { return (x * rc::rand({3})).sum(); };
  expect_close(rc::grad(f)(rc::ones({3})), noise);
  rc::manual_seed(5);
  EXPECT_NEAR(std::get<1>(rc::jvp(f, rc::ones({3}), rc::ones({3}))).item(), noise.sum().item(), 1e-6);
}

}  // namespace
