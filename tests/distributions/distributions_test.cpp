// Distributions under transforms, at the edges of their supports, and given what they must not be given. Their values
// are held to PyTorch's by laws (tests/laws/public_functions_of_distributions.cpp).
#include <ricci/distributions.h>

#include <limits>

#include "support/expect_error.h"

namespace rc = ricci;
namespace rd = ricci::distributions;
using rc::Key;
using rc::Tensor;
using namespace testing_support;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Tensor f64(std::initializer_list<double> x) { return rc::tensor(std::vector<double>(x)); }
Tensor f64(double x) { return rc::tensor(x, rc::float64); }

TEST(Distributions, AreTrees) {
  const rd::Normal a{f64({0, 1}), f64({1, 2})}, b{f64({2, 3}), f64({3, 4})};
  const rd::Normal both = rc::stack_trees(std::vector<rd::Normal>{a, b});
  EXPECT_EQ(both.scale.shape().to_vector(), (std::vector<std::int64_t>{2, 2}));
  const Tensor x = f64({0.5, 1.5});
  const Tensor of_each =
      rc::vmap([](rd::Normal d, Tensor v) { return d.log_prob(v).sum(); }, {.in_dims = {0, rc::none}})(both, x);
  EXPECT_NEAR(of_each[0].item(), a.log_prob(x).sum().item(), 1e-12);
  EXPECT_NEAR(of_each[1].item(), b.log_prob(x).sum().item(), 1e-12);
  const rd::Normal slope = rc::grad([&](rd::Normal d) { return d.log_prob(x).sum(); })(a);
  expect_close(slope.loc, (x - a.loc) / square(a.scale), 1e-12);
}

TEST(Distributions, WithAnOptionalParameterAreTrees) {
  const rd::Bernoulli d{.logits = f64({0.3, -1})};
  const rd::Bernoulli slope = rc::grad([](rd::Bernoulli at) { return at.log_prob(1).sum(); })(d);
  EXPECT_FALSE(slope.probs);
  expect_close(*slope.logits, sigmoid(-*d.logits), 1e-12);
  const rd::Categorical even{rc::ones({2, 4}, rc::float64)};
  const Tensor entropies = rc::vmap([](rd::Categorical at) { return at.entropy(); })(even);
  expect_close(entropies, rc::full({2}, std::log(4), rc::float64), 1e-12);
}

TEST(Distributions, MadeOfOthersAreTrees) {
  const rd::MixtureSameFamily mixture{rd::Categorical{.logits = f64({0, 1})}, rd::Normal{f64({-1, 2}), f64({1, 2})}};
  const auto slope = rc::grad([](decltype(mixture) d) { return d.log_prob(0.5); })(mixture);
  EXPECT_EQ(slope.component_distribution.loc.numel(), 2);
  const rd::TransformedDistribution moved{rd::Gamma{f64(2), f64(3)}, std::tuple{rd::AffineTransform{f64(1), f64(2)}}};
  const auto by_scale = rc::grad([](decltype(moved) d) { return d.log_prob(4.0); })(moved);
  EXPECT_NE(std::get<0>(by_scale.transforms).scale.item(), 0);
}

TEST(Distributions, HaveHessiansAndCompile) {
  const Tensor x = f64({0.5, 1.5, 2.5});
  const auto loss = [](rd::Gamma d, Tensor v) { return -d.log_prob(v).sum(); };
  const rd::Gamma d{f64(2), f64(3)};
  const auto h = rc::hessian([&](rd::Gamma at) { return loss(at, x); })(d);
  EXPECT_NEAR(h[&rd::Gamma::concentration].concentration.item(), 3 * polygamma(1, f64(2)).item(), 1e-10);
  EXPECT_NEAR(h[&rd::Gamma::concentration].rate.item(), -3 / 3.0, 1e-10);
  EXPECT_NEAR(h[&rd::Gamma::rate].rate.item(), 3 * 2 / 9.0, 1e-10);
  const auto slope = rc::grad(loss);
  auto fast = rc::compile(rc::grad(loss));
  expect_close(fast(d, x).rate, slope(d, x).rate, 1e-12);
  auto sample = rc::compile([](rd::Gamma at, Key key) { return at.sample(key, {5}); });
  expect_close(sample(d, Key(3)), d.sample(Key(3), {5}), 1e-12);
}

// ── edges ──

template <class D>
void expect_impossible(const D& d, std::initializer_list<double> values) {
  for (const double v : values) {
    SCOPED_TRACE(v);
    EXPECT_EQ(d.log_prob(f64(v)).item(), -infinity);
    const auto slope = rc::leaves(rc::grad([v](D at) { return rc::exp(at.log_prob(f64(v))); })(d));
    for (const Tensor& leaf : slope) expect_equal(leaf, rc::zeros_like(leaf));
  }
}

TEST(Edges, OutsideOfTheSupportLogProbIsMinusInfinityAndFlat) {
  expect_impossible(rd::LogNormal{f64(0), f64(1)}, {-1, 0});
  expect_impossible(rd::HalfNormal{f64(1)}, {-1});
  expect_impossible(rd::Exponential{f64(1)}, {-1});
  expect_impossible(rd::Gamma{f64(2), f64(1)}, {-1});
  expect_impossible(rd::Weibull{f64(2), f64(1)}, {-1});
  expect_impossible(rd::Uniform{f64(0), f64(1)}, {-0.5, 1, 2});
  expect_impossible(rd::Beta{f64(2), f64(3)}, {-0.5, 1.5});
  expect_impossible(rd::Bernoulli{f64(0.5)}, {-1, 0.5, 2});
  expect_impossible(rd::Binomial{f64(3), f64(0.5)}, {-1, 0.5, 4});
  expect_impossible(rd::Poisson{f64(2)}, {-1, 0.5});
  expect_impossible(rd::Categorical{f64({1, 2})}, {-1, 0.5, 2});
  expect_impossible(rd::TransformedDistribution{rd::Normal{f64(0), f64(1)}, rd::ExpTransform{}}, {-1, 0});
  expect_impossible(rd::TransformedDistribution{rd::Normal{f64(0), f64(1)}, rd::SigmoidTransform{}}, {-1, 0, 1, 2});
  EXPECT_EQ((rd::Dirichlet{f64({1, 2})}.log_prob(f64({-0.5, 1.5})).item()), -infinity);
  EXPECT_EQ((rd::Multinomial{3, f64({1, 2})}.log_prob(f64({1, 1})).item()), -infinity);
}

TEST(Edges, OutsideOfTheSupportTheDistributionFunctionIsZeroOrOne) {
  const auto expect = [](const auto& d, double below, double above) {
    EXPECT_EQ(d.cdf(f64(below)).item(), 0);
    EXPECT_EQ(d.cdf(f64(above)).item(), 1);
  };
  expect(rd::LogNormal{f64(0), f64(1)}, -1, infinity);
  expect(rd::HalfNormal{f64(1)}, -1, infinity);
  expect(rd::Exponential{f64(1)}, -1, infinity);
  expect(rd::Gamma{f64(2), f64(1)}, -1, infinity);
  expect(rd::Weibull{f64(2), f64(1)}, -1, infinity);
  expect(rd::Uniform{f64(0), f64(1)}, -1, 2);
  expect(rd::Beta{f64(2), f64(3)}, -1, 2);
  expect(rd::VonMises{f64(1), f64(3)}, -3, 5);
  expect(rd::Bernoulli{f64(0.5)}, -1, 1);
  expect(rd::Binomial{f64(3), f64(0.5)}, -1, 3);
  expect(rd::Poisson{f64(2)}, -1, infinity);
  expect(rd::TransformedDistribution{rd::Normal{f64(0), f64(1)}, rd::SigmoidTransform{}}, -1, 2);
  expect(rd::StudentT{f64(2)}, -infinity, infinity);
}

TEST(Edges, CertainEventsHaveNoEntropyAndKeepTheirDerivatives) {
  EXPECT_EQ(rd::Bernoulli{f64(1)}.log_prob(f64(1)).item(), 0);
  EXPECT_EQ(rd::Bernoulli{f64(0)}.log_prob(f64(1)).item(), -infinity);
  EXPECT_EQ(rd::Bernoulli{f64(0)}.entropy().item(), 0);
  EXPECT_EQ((rd::Categorical{f64({0, 1})}.entropy().item()), 0);
  EXPECT_EQ((rd::Categorical{.logits = f64({-infinity, 1})}.entropy().item()), 0);
  EXPECT_EQ((rd::Binomial{f64(3), f64(1)}.log_prob(f64(3)).item()), 0);
  EXPECT_EQ(rd::Poisson{f64(0)}.log_prob(f64(0)).item(), 0);
  EXPECT_EQ((rd::Beta{f64(1), f64(1)}.log_prob(f64({0, 1})).sum().item()), 0);
  EXPECT_EQ((rd::Gamma{f64(1), f64(1)}.log_prob(f64(0)).item()), 0);
  EXPECT_EQ(rd::Exponential{f64(2)}.cdf(f64(0)).item(), 0);
}

TEST(Edges, AtItsCentreStudentsDistributionFunctionHasTheDensityForASlope) {
  const rd::StudentT d{f64(3)};
  const auto cdf = [&](Tensor x) { return d.cdf(x); };
  EXPECT_NEAR(rc::grad(cdf)(f64(0)).item(), exp(d.log_prob(f64(0))).item(), 1e-14);
  EXPECT_NEAR(rc::grad(cdf)(f64(1e-8)).item(), exp(d.log_prob(f64(0))).item(), 1e-12);
  EXPECT_NEAR(d.cdf(f64(-1e5)).item() / (0.5 * 2.2053 * 1e-15), 1, 2e-4);  // ~ 2 sqrt(3) / pi · |x|⁻³
}

TEST(Edges, TailsKeepTheirDigits) {
  EXPECT_NEAR((rd::Normal{f64(0), f64(1)}.log_cdf(f64(-40)).item()), -804.608442013754, 1e-9);
  EXPECT_NEAR((rd::Laplace{f64(0), f64(1)}.cdf(f64(-100)).item() / (0.5 * std::exp(-100))), 1, 1e-13);
  EXPECT_NEAR((rd::Cauchy{f64(0), f64(1)}.cdf(f64(-1e12)).item() * 1e12 * std::acos(-1.0)), 1, 1e-13);
}

// ── errors ──

TEST(BadParameters, AreErrorsThatNameFieldValueAndPlace) {
  const Tensor scale = f64({1, 2, -3});
  expect_error<rc::ValueError>([&] { rd::Normal{0, scale}.log_prob(1); },
                               "Normal.log_prob: scale is -3 at [2]; it must be positive", {scale});
  expect_error<rc::ValueError>([&] { rd::Normal{0, scale}.sample(Key(0)); },
                               "Normal.sample: scale is -3 at [2]; it must be positive", {scale});
  expect_error<rc::ValueError>([] { rd::Uniform{2, 1}.entropy(); },
                               "Uniform.entropy: high - low is -1; it must be positive");
  expect_error<rc::ValueError>([] { rd::Bernoulli{1.5}.mean(); },
                               "Bernoulli.mean: probs is 1.5; it must be at least 0 and at most 1");
  expect_error<rc::ValueError>([] { rd::Bernoulli{}.mean(); },
                               "Bernoulli.mean: neither probs nor logits was given; give one of them, by its name");
  expect_error<rc::ValueError>([] { (rd::Categorical{rc::ones({2}), rc::ones({2})}.entropy()); },
                               "Categorical.entropy: both probs and logits were given; give one of them, by its name");
  expect_error<rc::ValueError>([] { rd::MultivariateNormal{rc::ones({2})}.entropy(); },
                               "MultivariateNormal.entropy: 0 of covariance_matrix, precision_matrix and scale_tril "
                               "were given; give one of them, "
                               "by its name");
  expect_error<rc::ValueError>([] { rd::StudentT{}.entropy(); },
                               "StudentT.entropy: df is undefined; give the distribution one");
  expect_error<rc::ValueError>([] { (rd::Multinomial{-1, rc::ones({2})}.mean()); },
                               "Multinomial.mean: total_count is -1; it must be at least 0");
  expect_error<rc::ValueError>([] { kl_divergence(rd::Normal{0, 1}, rd::Normal{0, -1}); },
                               "kl_divergence: q.scale is -1; it must be positive");
  expect_error<rc::TypeError>([] { rd::Normal{rc::ones({2}, rc::complex64), 1}.mean(); },
                              "Normal.mean: loc is c64[2], which is complex; it must be real");
}

TEST(BadParameters, AreErrorsInsideVmapAndDerivativesToo) {
  const Tensor scale = f64({1, -2});
  EXPECT_THROW(rc::vmap([](Tensor s) { return rd::Normal{0, s}.log_prob(1); })(scale), rc::ValueError);
  EXPECT_THROW(rc::grad([](Tensor s) { return rd::Normal{0, s}.log_prob(1).sum(); })(scale), rc::ValueError);
}

TEST(BadParameters, AreNotLookedAtWhileAProgramIsRecordedButBySample) {
  const rc::Program log_prob = rc::trace([](Tensor s) { return rd::Normal{0, s}.log_prob(1); })(f64(1));
  EXPECT_TRUE(std::isnan(log_prob({f64(-2)})[0].item()));
  const rc::Program sample = rc::trace([](Tensor s) { return rd::Normal{0, s}.sample(Key(0)); })(f64(1));
  EXPECT_THROW(sample({f64(-2)}), rc::ValueError);
}

}  // namespace
