// Samplers keep distributions as they are, and nuts finds the moments of posteriors that have known ones.
#include <gtest/gtest.h>
#include <ricci/ricci.h>
#include <ricci/sample.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;
namespace samplers = ricci::samplers;

namespace {

/// The mean of draws [n, …] is as wanted, up to 4 of its standard errors.
void expect_mean(const char* what, const Tensor& draws, const Tensor& wanted, double independent) {
  SCOPED_TRACE(what);
  const Tensor off = draws.mean(0) - wanted, error = draws.std(0) / std::sqrt(independent);
  EXPECT_LT((abs(off) / error).max().item<double>(), 4) << "off by " << off << ", standard error " << error;
}

struct Posterior {
  const char* name;
  std::function<Tensor(const Tensor& x)> log_density;
  Tensor mean, variance;
};

/// Three parameters with a normal prior, four measurements: the posterior is normal.
Posterior regression() {
  const Tensor x = sin(rc::arange(12).to(rc::float64) * 1.7).view({4, 3}), y = doubles({1, -0.5, 2, 0.3});
  const Tensor precision = matmul(x.mT(), x) / 0.25 + rc::eye(3, rc::float64);
  const Tensor covariance = rc::inverse(precision), mean = matmul(covariance, matmul(x.mT(), y) / 0.25);
  const auto log_density = [=](const Tensor& w) {
    return -0.5 * (square(matmul(x, w) - y) / 0.25).sum() - 0.5 * square(w).sum();
  };
  return {"regression", log_density, mean, covariance.diagonal()};
}

std::vector<Posterior> posteriors() {
  const double trigamma_of_3 = std::numbers::pi * std::numbers::pi / 6 - 1.25;
  const double digamma_of_3 = 1.5 - std::numbers::egamma;
  const Tensor scales = doubles({0.01, 1, 100});
  return {
      {"normal", [](const Tensor& x) { return -0.5 * square(x).sum(); }, rc::zeros({5}, rc::float64),
       rc::ones({5}, rc::float64)},
      {"scales", [=](const Tensor& x) { return -0.5 * square(x / scales - 3).sum(); }, 3 * scales, square(scales)},
      {"correlated",
       [](const Tensor& x) {
         return -0.5 * (x[0] * x[0] - 1.8 * x[0] * x[1] + x[1] * x[1]) / 0.19;  // correlation 0.9
       },
       doubles({0, 0}), doubles({1, 1})},
      {"student", [](const Tensor& x) { return -6.5 * log1p(square(x) / 12).sum(); }, doubles({0}), doubles({1.2})},
      {"logistic", [](const Tensor& x) { return (x - 2 * rc::softplus(x)).sum(); }, doubles({0}),
       doubles({std::numbers::pi * std::numbers::pi / 3})},
      {"logarithm of gamma", [](const Tensor& x) { return (3 * x - exp(x)).sum(); }, doubles({digamma_of_3}),
       doubles({trigamma_of_3})},
      {"laplace", [](const Tensor& x) { return -abs(x).sum(); }, doubles({0}), doubles({2})},
      {"two modes", [](const Tensor& x) { return logaddexp(-0.5 * square(x - 1.5), -0.5 * square(x + 1.5)).sum(); },
       doubles({0}), doubles({3.25})},
      {"banana", [](const Tensor& x) { return -0.5 * (x[0] * x[0] + square(x[1] - 0.5 * x[0] * x[0])); },
       doubles({0, 0.5}), doubles({1, 1.5})},
      regression(),
  };
}

TEST(Nuts, FindsTheMomentsOfTenPosteriors) {
  for (const auto& [name, log_density, mean, variance] : posteriors()) {
    SCOPED_TRACE(name);
    const Tensor start = rc::zeros_like(mean);
    const auto chain = [&, f = log_density](const rc::Key& key) {
      return samplers::sample(f, start, key, {.warmup = 400, .draws = 400});
    };
    const auto chains = rc::compile(rc::vmap(chain))(rc::split(rc::Key(7), 24));
    EXPECT_LT(samplers::rhat(chains.draws).max().item<double>(), 1.05);
    EXPECT_NEAR(chains.info.acceptance.mean().item<double>(), 0.85, 0.1);
    const Tensor squares = square(chains.draws - mean);
    const auto all = [&](const Tensor& draws) { return draws.reshape({-1, mean.size(0)}); };
    expect_mean("mean", all(chains.draws), mean, samplers::ess(chains.draws).min().item<double>());
    expect_mean("variance", all(squares), variance, samplers::ess(squares).min().item<double>());
  }
}

struct Case {
  const char* name;
  samplers::Sampler sampler;
};
const Tensor dense = doubles({1.5, 0.7, 0.7, 1}, {2, 2});
const Case cases[] = {
    {"nuts", samplers::nuts({.step_size = 0.8})},
    {"short nuts", samplers::nuts({.step_size = 1.4, .inverse_mass = doubles({2, 1}), .max_depth = 2})},
    {"dense nuts", samplers::nuts({.step_size = 0.8, .inverse_mass = dense, .max_depth = 3})},
    {"hmc", samplers::hmc({.step_size = 1.2, .steps = 3})},
    {"dense hmc", samplers::hmc({.step_size = 0.8, .inverse_mass = dense, .steps = 3})},
    {"mala", samplers::mala({.step_size = 1.5})},
    {"random walk", samplers::random_walk({.step_size = 2})},
    {"dense random walk", samplers::random_walk({.step_size = 1.5, .inverse_mass = dense})}};

TEST(Samplers, KeepADistributionAsItIs) {
  constexpr std::int64_t n = 40000;
  const auto log_density = [](const Tensor& x) { return (x - 2 * rc::softplus(x)).sum(); };
  const Tensor p = rc::uniform(rc::Key(1), {n, 2}, rc::float64), start = log(p / (1 - p));
  for (const auto& [name, sampler] : cases) {
    SCOPED_TRACE(name);
    const auto moved = [&, by = sampler](const rc::Key& key, const Tensor& x) {
      auto state = samplers::init(by, log_density, x);
      for (int i = 0; i < 2; ++i) state = samplers::step(by, log_density, rc::fold_in(key, i), state).first;
      return state.position;
    };
    const Tensor x = rc::compile(rc::vmap(moved))(rc::split(rc::Key(2), n), start);
    const double pi = std::numbers::pi;
    EXPECT_GT((x != start).to(rc::float64).mean().item<double>(), 0.3);
    expect_mean("mean", x, doubles({0}), n);
    expect_mean("variance", square(x), doubles({pi * pi / 3}), n);
    expect_mean("kurtosis", square(square(x)), doubles({7 * std::pow(pi, 4) / 15}), n);
    for (const double quantile : {0.05, 0.3, 0.5, 0.9})
      expect_mean("part below", (x < std::log(quantile / (1 - quantile))).to(rc::float64), doubles({quantile}), n);
  }
}

TEST(Samplers, AdaptTheirStepsToTheAcceptanceThatIsAskedFor) {
  const Tensor scales = doubles({0.1, 1, 10});
  const auto log_density = [=](const Tensor& x) { return -0.5 * square(x / scales).sum(); };
  for (const auto& [sampler, target] :
       {std::pair{samplers::nuts(), 0.8}, std::pair{samplers::hmc(), 0.8}, std::pair{samplers::mala(), 0.574},
        std::pair{samplers::random_walk(), 0.234}}) {
    const auto chain = [&, by = sampler](const rc::Key& key) {
      return samplers::sample(log_density, rc::zeros({3}, rc::float64), key, {.sampler = by, .draws = 500});
    };
    const auto chains = rc::compile(rc::vmap(chain))(rc::split(rc::Key(0), 24));
    // The step size is a mean of logarithms: that is below the one of the mean acceptance, which bends down.
    const double acceptance = chains.info.acceptance.mean().item<double>();
    EXPECT_GT(acceptance, target - 0.1);
    EXPECT_LT(acceptance, target + 0.15);
    const Tensor ratio = chains.inverse_mass.mean(0) / square(scales);
    EXPECT_LT(abs(log(ratio)).max().item<double>(), 0.5) << ratio;
  }
}

}  // namespace
