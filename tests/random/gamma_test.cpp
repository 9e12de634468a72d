// Derivatives of gamma numbers and of what is made of them: against difference quotients of the quantile function, and
// of expectations.
#include "random/statistics.h"

namespace rc = ricci;
using rc::Randomness;
using rc::Tensor;
using namespace testing_support;

namespace {

/// The logarithm y of the gamma number of concentration a with F(y) = p, by bisection.
double log_quantile(double a, double p, double near) {
  double low = near - 2, high = near + 2;
  for (int i = 0; i < 200; ++i) {
    const double y = (low + high) / 2;
    (log_gamma_distribution(a, y) < p ? low : high) = y;
  }
  return (low + high) / 2;
}

/// Samples of concentration a with their logarithms' derivatives by a, first and second.
struct Derived {
  Values y, first, second;
  Derived(double a, std::int64_t n) {
    const auto log_gamma = [](Tensor c) { return log(rc::gamma(c)); };
    const auto slope = [&](Tensor c) { return std::get<1>(rc::jvp(log_gamma, c, rc::ones_like(c))); };
    const Tensor c = rc::full({n}, a, rc::float64);
    rc::manual_seed(8);
    y = values(log_gamma(c));
    rc::manual_seed(8);
    first = values(slope(c));
    rc::manual_seed(8);
    second = values(std::get<1>(rc::jvp(slope, c, rc::ones_like(c))));
  }
};

TEST(GammaDerivatives, AreThoseOfTheQuantileAtAFixedProbability) {
  for (double a : {0.1, 0.4, 1.0, 2.5, 12.0, 150.0}) {
    const Derived samples(a, 40);
    for (std::size_t i = 0; i < 40; ++i) {
      const double y = samples.y[i], p = log_gamma_distribution(a, y), step = 1e-3 * a;
      if (p > 0.999) continue;  // where the quantile is not well determined by the probability
      SCOPED_TRACE(testing::Message() << "a = " << a << ", y = " << y);
      const auto quantile = [&](double b) { return log_quantile(b, p, y); };
      const double above = quantile(a + step), below = quantile(a - step);
      // Fourth order: the quotients of one and two steps.
      const double one = (above - below) / (2 * step),
                   two = (quantile(a + 2 * step) - quantile(a - 2 * step)) / (4 * step);
      EXPECT_NEAR(samples.first[i], (4 * one - two) / 3, 1e-7 * std::abs(samples.first[i]) + 1e-11 / step);
      const double curvature = (above - 2 * y + below) / (step * step);
      EXPECT_NEAR(samples.second[i], curvature, 1e-4 * std::abs(curvature) + 1e-11 / (step * step));
    }
  }
}

TEST(GammaDerivatives, OfTinyConcentrationsFollowTheLimit) {
  // F(y) = exp(a y) / Γ(a + 1) where y is far below 0: dy/da = (ψ(a + 1) - y) / a.
  const double a = 0.02;
  const Derived samples(a, 50);
  for (std::size_t i = 0; i < 50; ++i) {
    const double y = samples.y[i];
    if (y > -20) continue;
    const double expected = (rc::digamma(number(a + 1)).item() - y) / a;
    EXPECT_NEAR(samples.first[i], expected, 1e-6 * std::abs(expected));
  }
}

TEST(GammaDerivatives, AreTheSameForwardAndBackward) {
  const auto f = [](Tensor a) { return rc::gamma(rc::Key(3), a).sum(); };
  const Tensor c = ramp({4, 3});
  expect_close(rc::jacfwd(f)(c), rc::grad(f)(c));
  expect_close(rc::hessian(f)(c), rc::jacrev(rc::jacfwd(f))(c), 1e-9);
}

TEST(GammaDerivatives, OfSinglePrecisionAreThoseOfDoubleRoundedOnce) {
  const Tensor c = ramp({30}).to(rc::float32);
  const auto f = [](Tensor a) { return rc::gamma(a).sum(); };
  rc::manual_seed(1);
  const Tensor single = rc::grad(f)(c);
  rc::manual_seed(1);
  expect_close(single, rc::grad(f)(c.to(rc::float64)).to(rc::float32), 2e-6);
}

/// The mean of the gradients of n samples is the gradient of the mean, within five standard errors.
void expect_gradient(const std::function<Tensor(Tensor)>& sample, double parameter, double expected) {
  constexpr std::int64_t n = 40000;
  rc::manual_seed(4);
  const Tensor each = rc::grad([&](Tensor a) { return sample(a).sum(); })(rc::full({n}, parameter, rc::float64));
  EXPECT_NEAR(each.mean().item(), expected, 5 * each.std().item() / std::sqrt(static_cast<double>(n)));
}

TEST(GammaDerivatives, EstimateThoseOfExpectations) {
  expect_gradient([](Tensor a) { return rc::gamma(a); }, 0.3, 1);
  expect_gradient([](Tensor a) { return square(rc::gamma(a)); }, 2.0, 2 * 2.0 + 1);
  expect_gradient([](Tensor a) { return log(rc::gamma(a)); }, 5.0, rc::polygamma(1, number(5)).item());
  expect_gradient([](Tensor rate) { return rc::gamma(3, rate); }, 2.0, -3.0 / 4);
}

TEST(BetaDerivatives, EstimateThoseOfTheMean) {
  const double a = 1.5, b = 0.7;
  expect_gradient([&](Tensor x) { return rc::beta(x, b); }, a, b / ((a + b) * (a + b)));
  expect_gradient([&](Tensor x) { return rc::beta(a, x); }, b, -a / ((a + b) * (a + b)));
}

TEST(BetaDerivatives, AreFiniteForTinyParameters) {
  rc::manual_seed(1);
  const auto f = [](Tensor a) { return rc::beta(a, a).sum(); };
  EXPECT_TRUE(bool(isfinite(rc::grad(f)(rc::full({1000}, 1e-3, rc::float64))).all()));
}

TEST(DirichletDerivatives, EstimateThoseOfTheMean) {
  const Tensor concentration = doubles({0.5, 1, 2.5});
  constexpr std::int64_t n = 40000;
  rc::manual_seed(2);
  const Tensor each =
      rc::grad([](Tensor c) { return rc::dirichlet(c).select(1, 0).sum(); })(concentration.expand({n, 3}).clone());
  const double total = 4;
  const Values expected{(total - 0.5) / (total * total), -0.5 / (total * total), -0.5 / (total * total)};
  for (std::int64_t i = 0; i < 3; ++i) {
    const Tensor column = each.select(1, i);
    EXPECT_NEAR(column.mean().item(), expected[static_cast<std::size_t>(i)],
                5 * column.std().item() / std::sqrt(static_cast<double>(n)));
  }
}

TEST(SamplerDerivatives, AreThoseOfTheFormulas) {
  const Tensor x = ramp({5});
  const auto at_seed = [&](auto f) {
    rc::manual_seed(6);
    return f();
  };
  const Tensor z = at_seed([&] { return rc::randn_like(x); });
  expect_close(at_seed([&] { return rc::grad([](Tensor m) { return rc::normal(m, 2).sum(); })(x); }), rc::ones_like(x));
  expect_close(at_seed([&] { return rc::grad([](Tensor s) { return rc::normal(1, s).sum(); })(x); }), z);
  const Tensor sample = at_seed([&] { return rc::exponential(x); });
  expect_close(at_seed([&] { return rc::grad([](Tensor r) { return rc::exponential(r).sum(); })(x); }), -sample / x);
}

TEST(SamplerDerivatives, OfATruncatedNormalAreDifferenceQuotients) {
  const auto sample = [](const Tensor& mean, const Tensor& std) {
    rc::manual_seed(6);
    return rc::truncated_normal(mean, std, -1, 2).sum();
  };
  const Tensor x = ramp({6});
  const Tensor by_mean = rc::grad([&](Tensor m) { return sample(m, 1.5); })(x);
  const Tensor by_std = rc::grad([&](Tensor s) { return sample(0.5, s); })(x);
  const double step = 1e-5;
  for (std::int64_t i = 0; i < 6; ++i) {
    const Tensor d = rc::one_hot(rc::tensor(i), 6).to(rc::float64) * step;
    EXPECT_NEAR(by_mean[i].item(), (sample(x + d, 1.5) - sample(x - d, 1.5)).item() / (2 * step), 1e-7);
    EXPECT_NEAR(by_std[i].item(), (sample(0.5, x + d) - sample(0.5, x - d)).item() / (2 * step), 1e-7);
  }
}

}  // namespace
