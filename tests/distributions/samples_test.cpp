// Samples of distributions at fixed keys: they fit the distribution function, have its moments, and follow the
// parameters as theory says.
#include <ricci/distributions.h>

#include "random/statistics.h"

namespace rc = ricci;
namespace rd = ricci::distributions;
using rc::Key;
using rc::Tensor;
using namespace testing_support;

namespace {

constexpr std::int64_t many = 4000;

Tensor f64(double x) { return rc::tensor(x, rc::float64); }

/// check(name, distribution) for each that has a distribution function without steps.
template <class Check>
void for_continuous(const Check& check) {
  check("Normal", rd::Normal{f64(0.5), f64(2)});
  check("StudentT", rd::StudentT{f64(3.5), f64(-1), f64(0.7)});
  check("Cauchy", rd::Cauchy{f64(0.5), f64(2)});
  check("Laplace", rd::Laplace{f64(0.5), f64(2)});
  check("Gumbel", rd::Gumbel{f64(0.5), f64(2)});
  check("LogNormal", rd::LogNormal{f64(0.2), f64(0.5)});
  check("HalfNormal", rd::HalfNormal{f64(1.5)});
  check("Exponential", rd::Exponential{f64(1.5)});
  check("Gamma", rd::Gamma{f64(0.6), f64(2)});
  check("Gamma of many", rd::Gamma{f64(30), f64(2)});
  check("Weibull", rd::Weibull{f64(2), f64(1.5)});
  check("Uniform", rd::Uniform{f64(-1), f64(3)});
  check("Beta", rd::Beta{f64(0.7), f64(2)});
  check("VonMises", rd::VonMises{f64(0), f64(0.7)});
  check("VonMises, narrow", rd::VonMises{f64(0), f64(400)});
  check("VonMises, nearly uniform", rd::VonMises{f64(0), f64(1e-6)});
  check("TransformedDistribution",
        rd::TransformedDistribution{rd::Normal{f64(0.3), f64(0.5)},
                                    std::tuple{rd::AffineTransform{1, -2}, rd::SigmoidTransform{}}});
  check("MixtureSameFamily", rd::MixtureSameFamily{rd::Categorical{rc::tensor({0.2, 0.5, 0.3}, rc::float64)},
                                                   rd::Normal{rc::tensor({-2., 0., 4.}, rc::float64), f64(0.5)}});
}

TEST(Samples, FitTheDistributionFunction) {
  for_continuous([](const char* name, const auto& d) {
    SCOPED_TRACE(name);
    const Tensor x = d.sample(Key(7), {many});
    EXPECT_EQ(x.dtype(), rc::float64);
    expect_distribution(d.cdf(x), [](double u) { return u; });
  });
}

TEST(Samples, AreOfSampleBatchAndEventAxesAndOfTheParametersType) {
  const Tensor loc = rc::zeros({3, 1}), scale = rc::ones({4});
  const auto expect_form = [](const Tensor& x, const std::vector<std::int64_t>& shape, rc::DType dtype) {
    EXPECT_EQ(x.shape().to_vector(), shape);
    EXPECT_EQ(x.dtype(), dtype);
  };
  expect_form(rd::Normal{loc, scale}.sample(Key(0)), {3, 4}, rc::float32);
  expect_form(rd::Normal{loc, scale}.sample(Key(0), {5, 2}), {5, 2, 3, 4}, rc::float32);
  expect_form(rd::Normal{0, 1}.sample(Key(0), {2}), {2}, rc::float32);
  expect_form(rd::Gamma{scale.to(rc::float64), 1}.sample(Key(0), {2}), {2, 4}, rc::float64);
  expect_form(rd::StudentT{scale.to(rc::float16)}.sample(Key(0), {0}), {0, 4}, rc::float16);
  expect_form(rd::Bernoulli{0.5}.sample(Key(0), {2}), {2}, rc::float32);
  expect_form(rd::Binomial{rc::tensor({3, 4}), 0.5}.sample(Key(0), {2}), {2, 2}, rc::float32);
  expect_form(rd::Categorical{.logits = rc::zeros({4, 3})}.sample(Key(0), {5, 2}), {5, 2, 4}, rc::int64);
  expect_form(rd::Categorical{.logits = rc::zeros({3})}.sample(Key(0)), {}, rc::int64);
  expect_form(rd::Multinomial{6, rc::ones({4, 3})}.sample(Key(0), {5, 2}), {5, 2, 4, 3}, rc::float32);
  expect_form(rd::Dirichlet{rc::ones({4, 3})}.sample(Key(0), {5}), {5, 4, 3}, rc::float32);
  expect_form(
      rd::MultivariateNormal{.loc = rc::zeros({3}), .scale_tril = rc::eye(3).expand({4, 3, 3})}.sample(Key(0), {5}),
      {5, 4, 3}, rc::float32);
  const rd::MixtureSameFamily mixture{rd::Categorical{rc::ones({3})}, rd::Normal{rc::zeros({4, 3}), 1}};
  expect_form(mixture.sample(Key(0), {5}), {5, 4}, rc::float32);
  const rd::MixtureSameFamily vectors{rd::Categorical{rc::ones({3})}, rd::Dirichlet{rc::ones({4, 3, 2})}};
  expect_form(vectors.sample(Key(0), {5}), {5, 4, 2}, rc::float32);
}

TEST(Samples, OfCountsComeAsOftenAsTheirProbabilities) {
  const auto expect = [](const auto& d, int last) {
    const auto probability = [&](int k) { return std::exp(d.log_prob(f64(k)).item()); };
    expect_frequencies(d.sample(Key(3), {many}), probability, 0, last);
  };
  expect(rd::Bernoulli{f64(0.3)}, 1);
  expect(rd::Bernoulli{.logits = f64(0.8)}, 1);
  expect(rd::Binomial{f64(12), f64(0.3)}, 12);
  expect(rd::Binomial{.total_count = f64(40), .logits = f64(0.5)}, 40);
  expect(rd::Poisson{f64(3.5)}, 30);
  expect(rd::Categorical{rc::tensor({1., 3., 0., 2.}, rc::float64)}, 3);
  expect(rd::Categorical{.logits = rc::tensor({0., -1., 2.}, rc::float64)}, 2);
}

TEST(Samples, OfMultinomialAddUpAndHaveItsMoments) {
  const rd::Multinomial d{7, rc::tensor({1., 2., 5.}, rc::float64)};
  const Tensor x = d.sample(Key(1), {many});
  expect_equal(sum(x, -1), rc::full({many}, 7, rc::float64));
  expect_close(mean(x, 0), d.mean(), 0.1);
  expect_close(var(x, 0), d.variance(), 0.1);
  expect_equal(rd::Multinomial{0, rc::ones({2})}.sample(Key(1)), rc::zeros({2}));
}

TEST(Samples, OfNormalVectorsAreStandardOnceTheFactorIsTakenOff) {
  const Tensor l = rc::tensor({{1., 0., 0.}, {0.5, 2., 0.}, {-1., 0.3, 0.7}}, rc::float64);
  const Tensor loc = rc::tensor({1., 2., 3.}, rc::float64), covariance = matmul(l, transpose(l, 0, 1));
  for (const rd::MultivariateNormal& d : {rd::MultivariateNormal{loc, covariance},
                                          rd::MultivariateNormal{.loc = loc, .precision_matrix = inverse(covariance)},
                                          rd::MultivariateNormal{.loc = loc, .scale_tril = l.expand({2, 3, 3})}}) {
    expect_close(d.factor(), l.expand(d.factor().shape()), 1e-12);
    const Tensor z = solve_triangular(l, reshape(d.sample(Key(2), {many}) - loc, {-1, 3}).t(), false);
    for (int i = 0; i < 3; ++i) expect_distribution(z[i], normal_distribution);
    expect_close(matmul(z, z.t()) / z.size(1), rc::eye(3, rc::float64), 0.1);
  }
}

TEST(Samples, OfDirichletHaveBetaMarginals) {
  const rd::Dirichlet d{rc::tensor({0.5, 2., 3.}, rc::float64)};
  const Tensor x = d.sample(Key(5), {many});
  expect_close(sum(x, -1), rc::ones({many}, rc::float64), 1e-12);
  const Tensor rest = d.concentration.sum() - d.concentration;
  for (int i = 0; i < 3; ++i)
    expect_distribution(rd::Beta{d.concentration[i], rest[i]}.cdf(x.select(1, i)), [](double u) { return u; });
}

TEST(Samples, OfEachKeyAreThoseOfThatKeyAlone) {
  const Key keys = rc::split(Key(9), 3);
  const rd::Gamma d{rc::tensor({0.5, 2.}), 3};
  const Tensor all = rc::vmap([&](Key key) { return d.sample(key, {4}); })(keys);
  for (int i = 0; i < 3; ++i) expect_equal(all[i], d.sample(Key(keys.data[i]), {4}));
  const rd::Categorical classes{.logits = rc::tensor({{0., 1.}, {1., 0.}})};
  const Tensor drawn = rc::vmap([&](Key key) { return classes.sample(key, {4}); })(keys);
  for (int i = 0; i < 3; ++i) expect_equal(drawn[i], classes.sample(Key(keys.data[i]), {4}));
}

// ── derivatives ──

/// At a fixed key the probability below a sample does not change with the parameters, where there is one noise: the
/// derivative of a sample is -(∂F/∂θ) / f.
template <class D>
void expect_fixed_probability(const D& d, double tolerance) {
  const auto probability = [](const D& at) { return at.cdf(at.sample(Key(11), {50})); };
  const D tangent = rc::map_leaves([](Tensor x) { return rc::ones_like(x); }, d);
  const auto [value, change] = rc::jvp(probability, std::tuple{d}, std::tuple{tangent});
  expect_close(change, rc::zeros_like(change), tolerance);
  const auto [along, of_sample] =
      rc::jvp([](const D& at) { return at.sample(Key(11), {50}); }, std::tuple{d}, std::tuple{tangent});
  EXPECT_GT(rc::abs(of_sample).max().item(), 0.01);
}

TEST(SampleDerivatives, KeepTheProbabilityBelowTheSample) {
  expect_fixed_probability(rd::Normal{f64(0.5), f64(2)}, 1e-12);
  expect_fixed_probability(rd::Cauchy{f64(0.5), f64(2)}, 1e-12);
  expect_fixed_probability(rd::Laplace{f64(0.5), f64(2)}, 1e-12);
  expect_fixed_probability(rd::Gumbel{f64(0.5), f64(2)}, 1e-12);
  expect_fixed_probability(rd::LogNormal{f64(0.2), f64(0.5)}, 1e-12);
  expect_fixed_probability(rd::HalfNormal{f64(1.5)}, 1e-12);
  expect_fixed_probability(rd::Exponential{f64(1.5)}, 1e-12);
  expect_fixed_probability(rd::Weibull{f64(2), f64(1.5)}, 1e-12);
  expect_fixed_probability(rd::Uniform{f64(-1), f64(3)}, 1e-12);
  for (double a : {0.1, 0.6, 3.0, 50.0}) expect_fixed_probability(rd::Gamma{f64(a), f64(2)}, 1e-11);
  for (double k : {0.1, 2.0, 300.0}) expect_fixed_probability(rd::VonMises{f64(0), f64(k)}, 1e-11);
  expect_fixed_probability(
      rd::TransformedDistribution{rd::Normal{f64(0.3), f64(0.5)},
                                  std::tuple{rd::AffineTransform{f64(1), f64(-2)}, rd::TanhTransform{}}},
      1e-12);
}

/// The mean of the samples' derivatives is the derivative of the mean.
template <class D>
void expect_derivative_of_the_mean(const D& d) {
  const auto of_samples = [](const D& at) { return rc::mean(at.sample(Key(13), {20000}), 0).sum(); };
  const auto exact = [](const D& at) { return at.mean().sum(); };
  const std::vector<Tensor> found = rc::leaves(rc::grad(of_samples)(d)), wanted = rc::leaves(rc::grad(exact)(d));
  for (std::size_t i = 0; i < found.size(); ++i) expect_close(found[i], wanted[i], 0.05);
}

TEST(SampleDerivatives, AreOnAverageThoseOfTheMean) {
  expect_derivative_of_the_mean(rd::StudentT{f64(6), f64(-1), f64(0.7)});
  expect_derivative_of_the_mean(rd::Beta{f64(0.7), f64(2)});
  expect_derivative_of_the_mean(rd::Gamma{f64(0.7), f64(2)});
  const auto weighed = [](const Tensor& x) { return (x * rc::arange(3.)).sum(-1); };
  const rd::Dirichlet d{rc::tensor({0.5, 2., 3.}, rc::float64)};
  const Tensor found =
      rc::grad([&](rd::Dirichlet at) { return weighed(at.sample(Key(1), {20000})).mean(); })(d).concentration;
  const Tensor wanted = rc::grad([&](rd::Dirichlet at) { return weighed(at.mean()); })(d).concentration;
  expect_close(found, wanted, 0.02);
}

TEST(SampleDerivatives, OfNormalVectorsFollowTheFactor) {
  const Tensor l = rc::tensor({{1., 0.}, {0.5, 2.}}, rc::float64), loc = rc::zeros({2}, rc::float64);
  const auto sample = [&](Tensor factor) {
    return rd::MultivariateNormal{.loc = loc, .scale_tril = factor}.sample(Key(4), {3});
  };
  const Tensor z = solve_triangular(l, sample(l).t(), false).t();  // [3, 2]
  const Tensor slopes = rc::jacrev(sample)(l);                     // [3, 2, 2, 2]
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(slopes[i][1][1][0].item(), z[i][0].item(), 1e-12);
    EXPECT_NEAR(slopes[i][1][1][1].item(), z[i][1].item(), 1e-12);
    EXPECT_NEAR(slopes[i][0][0][1].item(), 0, 1e-12);
  }
}

TEST(SampleDerivatives, OfClassesCountsAndMixturesAreZero) {
  const auto slope = [](const auto& f) { return rc::grad(f)(f64(0.4)).item(); };
  EXPECT_EQ(slope([](Tensor p) { return rd::Bernoulli{p}.sample(Key(0), {9}).sum(); }), 0);
  EXPECT_EQ(slope([](Tensor r) { return rd::Poisson{r}.sample(Key(0), {9}).sum(); }), 0);
  EXPECT_EQ(slope([](Tensor m) {
              const rd::MixtureSameFamily d{rd::Categorical{rc::ones({2})}, rd::Normal{m * rc::ones({2}), 1}};
              return d.sample(Key(0), {9}).sum();
            }),
            0);
}

}  // namespace
