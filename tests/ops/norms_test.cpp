// batch_norm, group_norm and instance_norm: values by their formulas, running statistics inside a model's struct under
// grad and vmap. Their texts of errors are in tests/errors.
#include "support/difference_quotient.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

/// Values between -1 and 1 without a pattern.
Tensor waves(const Sizes& sizes) { return sin(ramp(sizes) * 9.1); }

constexpr double eps = 1e-5;

Tensor column(const Tensor& per_channel) { return per_channel.unsqueeze(1); }

/// A layer of batch_norm on its parameters and its running statistics, which training writes.
struct Norm {
  Tensor weight, bias;
};
struct Statistics {
  Tensor mean, variance;
};
Statistics fresh(const Sizes& sizes) {
  return {rc::zeros(rc::Shape(sizes), rc::float64), rc::ones(rc::Shape(sizes), rc::float64)};
}
Tensor loss(const Norm& norm, const Statistics& statistics, const Tensor& x) {
  const Tensor y = rc::batch_norm(x, statistics.mean, statistics.variance, norm.weight, norm.bias, true);
  return sin(y).square().sum();
}

/// What training makes of fresh statistics that see x [n, c, l] once, with momentum 0.1 and an unbiased variance.
void expect_seen_once(const Statistics& statistics, const Tensor& x) {
  const double count = static_cast<double>(x.size(0) * x.size(2));
  const Tensor mean = x.mean({0, 2}), centred = x - column(mean);
  expect_close(statistics.mean, 0.1 * mean);
  expect_close(statistics.variance, 0.9 + 0.1 * centred.square().sum({0, 2}) / (count - 1));
}

// ── batch_norm ──

TEST(BatchNorm, InTrainingMovesTheRunningStatistics) {
  const Tensor x = waves({4, 3, 5});
  const Statistics statistics = fresh({3});
  rc::batch_norm(x, statistics.mean, statistics.variance, Tensor(), Tensor(), true);
  expect_seen_once(statistics, x);
  rc::batch_norm(x, statistics.mean, statistics.variance, Tensor(), Tensor(), true, 1, eps);
  expect_close(statistics.mean, x.mean({0, 2}));
}

TEST(BatchNorm, OutsideTrainingUsesTheRunningStatisticsAndLeavesThem) {
  const Tensor x = waves({4, 3, 5}), mean = waves({3}), variance = ramp({3}), weight = ramp({3}), bias = waves({3});
  const Tensor kept = mean.clone();
  const Tensor plain = (x - column(mean)) / sqrt(column(variance) + eps);
  expect_close(rc::batch_norm(x, mean, variance), plain);
  expect_close(rc::batch_norm(x, mean, variance, weight, bias, false), plain * column(weight) + column(bias));
  expect_equal(mean, kept);
}

TEST(BatchNorm, TrainsInsideGradWithStatisticsAsAnArgument) {
  const Tensor x = waves({4, 3, 5});
  const Norm norm{ramp({3}), waves({3})};
  const Statistics statistics = fresh({3});
  const Norm gradient = rc::grad(loss)(norm, statistics, x);
  expect_seen_once(statistics, x);
  const auto by_weight = [&](Tensor w) { return loss({w, norm.bias}, fresh({3}), x); };
  expect_close(gradient.weight, difference_quotient(by_weight, norm.weight), difference_tolerance);
}

TEST(BatchNorm, TrainsInsideVmapWithStatisticsOfEachModel) {
  const Tensor xs = waves({2, 4, 3, 5});
  const Norm norms{ramp({2, 3}), waves({2, 3})};
  const Statistics statistics = fresh({2, 3});
  const Norm gradients = rc::vmap(rc::grad(loss))(norms, statistics, xs);
  for (std::int64_t k = 0; k < 2; ++k) {
    expect_seen_once({statistics.mean[k], statistics.variance[k]}, xs[k]);
    const Norm alone = rc::grad(loss)(Norm{norms.weight[k], norms.bias[k]}, fresh({3}), xs[k]);
    expect_close(gradients.weight[k], alone.weight);
    expect_close(gradients.bias[k], alone.bias);
  }
}

// ── group_norm and instance_norm ──

TEST(ChannelNorms, OfSinglesAreThoseOfDoubles) {
  const Tensor x = waves({4, 2, 3}), narrow = x.to(rc::float32);
  EXPECT_EQ(rc::group_norm(narrow, 1).dtype(), rc::float32);
  expect_close(rc::group_norm(narrow, 1).to(rc::float64), rc::group_norm(x, 1), 1e-5);
  expect_close(rc::batch_norm(narrow, Tensor(), Tensor(), Tensor(), Tensor(), true).to(rc::float64),
               rc::batch_norm(x, Tensor(), Tensor(), Tensor(), Tensor(), true), 1e-5);
}

TEST(Norms, OfNoExamplesAreEmptyAndLeaveTheStatistics) {
  const auto none = [](const Tensor& y) { return y.shape() == rc::Shape{0, 4, 3} && y.dtype() == rc::float64; };
  const Tensor x = rc::zeros({0, 4, 3}, rc::float64);
  EXPECT_TRUE(none(rc::group_norm(x, 2)));
  EXPECT_TRUE(none(rc::instance_norm(x)));
  EXPECT_EQ(rc::instance_norm(rc::zeros({0, 3})).shape(), rc::Shape({0, 3}));
  const Statistics statistics = fresh({4});
  EXPECT_TRUE(none(rc::batch_norm(x, statistics.mean, statistics.variance, Tensor(), Tensor(), true)));
  expect_equal(statistics.mean, fresh({4}).mean);
  expect_equal(statistics.variance, fresh({4}).variance);
  rc::vmap([](Tensor a, Tensor m, Tensor v) { return rc::batch_norm(a, m, v, Tensor(), Tensor(), true); },
           {.in_dims = {1, rc::none, rc::none}})(rc::zeros({0, 2, 4}), statistics.mean, statistics.variance);
  expect_equal(statistics.variance, fresh({4}).variance);
}

}  // namespace
