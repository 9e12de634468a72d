// Every sampler against its distribution.
#include "random/statistics.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

constexpr double pi = std::numbers::pi;

class Distributions : public testing::Test {
 protected:
  rc::Generator g{20};
  rc::Shape shape{40000};
  rc::TensorOptions options{.dtype = rc::float64, .generator = g};
};

TEST_F(Distributions, Uniform) {
  const Tensor x = rc::uniform(-1, 3, shape, options);
  expect_distribution(x, [](double v) { return (v + 1) / 4; });
  expect_moments(x, 1, 16. / 12, 1.8);
  expect_distribution(rc::rand(shape, options), [](double v) { return v; });
}

TEST_F(Distributions, Normal) {
  const Tensor x = rc::normal(2, 0.5, shape, options);
  expect_distribution(x, [](double v) { return normal_distribution((v - 2) / 0.5); });
  expect_moments(x, 2, 0.25, 3);
  for (rc::DType dtype : {rc::float32, rc::float16})
    expect_distribution(rc::randn(shape, {.dtype = dtype, .generator = g}), normal_distribution);
}

TEST_F(Distributions, LogNormal) {
  expect_distribution(rc::log_normal(1, 0.5, shape, options),
                      [](double v) { return normal_distribution((std::log(v) - 1) / 0.5); });
}

TEST_F(Distributions, Exponential) {
  const Tensor x = rc::exponential(2, shape, options);
  expect_distribution(x, [](double v) { return -std::expm1(-2 * v); });
  expect_moments(x, 0.5, 0.25, 9);
}

TEST_F(Distributions, Cauchy) {
  expect_distribution(rc::cauchy(1, 2, shape, options), [](double v) { return std::atan((v - 1) / 2) / pi + 0.5; });
}

TEST_F(Distributions, Laplace) {
  const Tensor x = rc::laplace(1, 2, shape, options);
  expect_distribution(x, [](double v) { return v < 1 ? std::exp((v - 1) / 2) / 2 : 1 - std::exp(-(v - 1) / 2) / 2; });
  expect_moments(x, 1, 8, 6);
}

TEST_F(Distributions, Gumbel) {
  const Tensor x = rc::gumbel(1, 2, shape, options);
  expect_distribution(x, [](double v) { return std::exp(-std::exp(-(v - 1) / 2)); });
  expect_moments(x, 1 + 2 * std::numbers::egamma, pi * pi / 6 * 4, 5.4);
}

TEST_F(Distributions, TruncatedNormal) {
  for (const auto& [low, high] : {std::pair{-1.0, 2.0}, {3.0, 4.0}, {-9.0, -8.0}, {10.0, 30.0}}) {
    SCOPED_TRACE(low);
    const Tensor x = rc::truncated_normal(1, 2, low, high, shape, options);
    EXPECT_GE(x.min().item(), low);
    EXPECT_LE(x.max().item(), high);
    const double side = low > 1 ? -1 : 1;  // from the tail, where differences of probabilities are exact
    const auto p = [&](double v) { return normal_distribution(side * (v - 1) / 2); };
    expect_distribution(x, [&, low = low, high = high](double v) { return (p(v) - p(low)) / (p(high) - p(low)); });
  }
}

TEST_F(Distributions, Gamma) {
  for (double a : {0.01, 0.3, 1.0, 2.5, 30.0, 1000.0}) {
    SCOPED_TRACE(a);
    const Tensor x = rc::gamma(a, 2, shape, options);
    if (a > 0.1) expect_moments(x, a / 2, a / 4, 3 + 6 / a);
    expect_distribution(log(x * 2), [a](double y) { return log_gamma_distribution(a, y); });
  }
}

TEST_F(Distributions, Beta) {
  for (const auto& [a, b] : {std::pair{1.5, 3.0}, {2.0, 2.0}, {30.0, 7.0}}) {
    SCOPED_TRACE(a);
    expect_distribution(rc::beta(a, b, shape, options),
                        [a = a, b = b](double x) { return beta_distribution(a, b, x); });
  }
}

TEST_F(Distributions, BetaOfSmallParametersLiesAtBothEnds) {
  const Tensor x = rc::beta(0.001, 0.003, shape, options);
  EXPECT_TRUE(bool(isfinite(x).all()));
  expect_moments((x > 0.5).to(rc::float64), 0.25, 0.1875, 7. / 3);
}

TEST_F(Distributions, DirichletHasBetaMarginals) {
  const Tensor concentration = doubles({1, 2.5, 4});
  const Tensor x = rc::dirichlet(concentration.expand({20000, 3}), {.generator = g});
  expect_close(x.sum(-1), rc::ones({20000}, rc::float64));
  for (std::int64_t i = 0; i < 3; ++i) {
    const double a = concentration[i].item();
    expect_distribution(x.select(1, i), [a](double v) { return beta_distribution(a, 7.5 - a, v); });
  }
}

TEST_F(Distributions, Bernoulli) {
  const Tensor x = rc::bernoulli(0.3, shape, options);
  expect_frequencies(x, [](int k) { return k ? 0.3 : 0.7; }, 0, 1);
  EXPECT_EQ(values(rc::bernoulli(doubles({0, 1, 0, 1}))), (Values{0, 1, 0, 1}));
  EXPECT_EQ(rc::bernoulli(rc::ones({3}, rc::int64), 0.5).dtype(), rc::int64);
}

TEST_F(Distributions, Geometric) {
  expect_frequencies(rc::geometric(0.3, shape, options), [](int k) { return std::pow(0.7, k - 1) * 0.3; }, 1, 60);
  EXPECT_EQ(values(rc::geometric(1.0, {3})), (Values{1, 1, 1}));
}

TEST_F(Distributions, Poisson) {
  for (double rate : {0.2, 3.0, 9.9, 10.1, 60.0}) {
    SCOPED_TRACE(rate);
    expect_frequencies(
        rc::poisson(rate, shape, options),
        [rate](int k) { return std::exp(k * std::log(rate) - rate - std::lgamma(k + 1)); }, 0, 200);
  }
  expect_moments(rc::poisson(1e6, shape, options), 1e6, 1e6, 3);
  EXPECT_EQ(values(rc::poisson(0.0, {2})), (Values{0, 0}));
}

TEST_F(Distributions, Binomial) {
  for (const auto& [n, p] : {std::pair{5., 0.5}, {20., 0.3}, {100., 0.02}, {100., 0.4}, {60., 0.9}, {1000., 0.25}}) {
    SCOPED_TRACE(n);
    expect_frequencies(
        rc::binomial(n, p, shape, options),
        [n = n, p = p](int k) {
          return std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) + k * std::log(p) +
                          (n - k) * std::log1p(-p));
        },
        0, static_cast<int>(n));
  }
  EXPECT_EQ(values(rc::binomial(7, doubles({0, 1}))), (Values{0, 7}));
}

TEST_F(Distributions, MultinomialWithReplacement) {
  const Tensor weights = doubles({1, 0, 3, 4, 0});
  const double p[] = {0.125, 0, 0.375, 0.5, 0};
  expect_frequencies(rc::multinomial(weights, 40000, true, {.generator = g}), [&](int k) { return p[k]; }, 0, 4);
}

TEST_F(Distributions, MultinomialWithoutReplacement) {
  // The first class is drawn by weight, the second among the rest.
  const Tensor weights = doubles({1, 2, 5});
  const Tensor drawn = rc::multinomial(weights.expand({40000, 3}), 2, false, {.generator = g});
  const double w[] = {0.125, 0.25, 0.625};
  expect_frequencies(
      drawn.select(1, 0) * 3 + drawn.select(1, 1),
      [&](int pair) {
        const int i = pair / 3, k = pair % 3;
        return i == k ? 0 : w[i] * w[k] / (1 - w[i]);
      },
      0, 8);
}

TEST_F(Distributions, MultinomialTakesEveryClassOnceAndThoseOfWeightZeroLast) {
  const Tensor drawn = rc::multinomial(doubles({3, 0, 1, 2}), 4, false, {.generator = g});
  Values all = values(drawn);
  EXPECT_EQ(all.back(), 1);
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, (Values{0, 1, 2, 3}));
}

TEST_F(Distributions, Integers) {
  expect_frequencies(rc::randint(-2, 5, shape, {.generator = g}), [](int) { return 1. / 7; }, -2, 4);
  const Tensor x = rc::zeros(shape, rc::uint8);
  x.random_();
  expect_frequencies(x, [](int) { return 1. / 256; }, 0, 255);
}

TEST_F(Distributions, Permutations) {
  const Tensor orders = rc::vmap([&](Tensor) { return rc::randperm(4, {.generator = g}); },
                                 {.randomness = rc::Randomness::different})(rc::zeros({20000}));
  const Tensor code = (orders * rc::tensor({64, 16, 4, 1})).sum(1);
  expect_frequencies(
      code,
      [](int c) {
        const int digits[] = {c / 64, c / 16 % 4, c / 4 % 4, c % 4};
        for (int i = 0; i < 4; ++i)
          for (int k = 0; k < i; ++k)
            if (digits[i] == digits[k]) return 0.0;
        return 1. / 24;
      },
      0, 255);
}

TEST_F(Distributions, TypesFollowTheParameters) {
  const Tensor f32 = rc::ones({2}), f64 = rc::ones({2}, rc::float64), i64 = rc::ones({2}, rc::int64);
  EXPECT_EQ(rc::normal(f32, 1).dtype(), rc::float32);
  EXPECT_EQ(rc::normal(f32, f64).dtype(), rc::float64);
  EXPECT_EQ(rc::normal(0.5, 1.5).dtype(), rc::float32);
  EXPECT_EQ(rc::gamma(2.5).dtype(), rc::float32);
  EXPECT_EQ(rc::poisson(i64).dtype(), rc::float32);
  EXPECT_EQ(rc::gamma(f64).dtype(), rc::float64);
  EXPECT_EQ(sizes(rc::beta(rc::ones({2, 1}), rc::ones({3}))), (Sizes{2, 3}));
  EXPECT_EQ(sizes(rc::uniform(f32, 2, {4, 2})), (Sizes{4, 2}));
  EXPECT_EQ(rc::poisson(3.0, {2}, {.dtype = rc::int64}).dtype(), rc::int64);
}

TEST_F(Distributions, TheTypeAskedForIsThatOfTheSample) {
  for (const rc::DType from : {rc::float32, rc::float64})
    for (const rc::DType to : {rc::float32, rc::float64}) {
      const Tensor half = rc::full({2}, 0.5, from);
      const rc::Shape shape{3, 2};
      const rc::TensorOptions asked{.dtype = to, .generator = g};
      const std::pair<const char*, Tensor> samples[] = {
          {"normal", rc::normal(half, 1, shape, asked)},
          {"uniform", rc::uniform(half, 1, shape, asked)},
          {"log_normal", rc::log_normal(half, 1, shape, asked)},
          {"exponential", rc::exponential(half, shape, asked)},
          {"cauchy", rc::cauchy(half, 1, shape, asked)},
          {"laplace", rc::laplace(half, 1, shape, asked)},
          {"gumbel", rc::gumbel(half, 1, shape, asked)},
          {"truncated_normal", rc::truncated_normal(half, 1, -1, 1, shape, asked)},
          {"bernoulli", rc::bernoulli(half, shape, asked)},
          {"geometric", rc::geometric(half, shape, asked)},
          {"poisson", rc::poisson(half, shape, asked)},
          {"binomial", rc::binomial(5, half, shape, asked)},
          {"gamma", rc::gamma(half, half, shape, asked)},
          {"beta", rc::beta(half, half, shape, asked)},
      };
      for (const auto& [name, sample] : samples) {
        EXPECT_EQ(sample.dtype(), to) << name << " of " << rc::short_name(from);
        EXPECT_EQ(sizes(sample), (Sizes{3, 2})) << name;
      }
    }
}

}  // namespace
