// A chain is a function like any other: of trees, mapped, compiled, differentiated; failures are named.
#include <gtest/gtest.h>
#include <ricci/ricci.h>
#include <ricci/sample.h>

#include <cmath>
#include <limits>

#include "support/expect_error.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;
namespace optim = ricci::optim;
namespace samplers = ricci::samplers;

namespace {

struct Case {
  const char* name;
  samplers::Sampler sampler;
};
const Case cases[] = {{"nuts", samplers::nuts({.step_size = 0.4})},
                      {"nuts that adapts", samplers::nuts({.max_depth = 4})},
                      {"hmc", samplers::hmc({.step_size = 0.4, .steps = 4})},
                      {"mala", samplers::mala({.step_size = 0.6})},
                      {"random walk", samplers::random_walk({.step_size = 0.6})}};

Tensor normal(const Tensor& x) { return -0.5 * (square(x) * doubles({1, 2, 3})).sum(); }

TEST(Chains, AreTheSameEagerlyMappedAndCompiled) {
  for (const auto& [name, sampler] : {cases[1], cases[4]}) {  // with a trajectory and without one
    SCOPED_TRACE(name);
    for (const std::int64_t warmup : {0, 25}) {
      const auto chain = [&, by = sampler](const rc::Key& key) {
        return samplers::sample(normal, doubles({1, 0, -1}), key, {.sampler = by, .warmup = warmup, .draws = 6});
      };
      const rc::Key keys = rc::split(rc::Key(3), 9);
      const auto mapped = rc::vmap(chain)(keys), compiled = rc::compile(rc::vmap(chain))(keys);
      const auto alone = chain(rc::Key(keys.data[4]));
      expect_close(mapped.draws[4], alone.draws, 1e-9);
      expect_close(mapped.log_density[4], alone.log_density, 1e-9);
      expect_close(mapped.step_size[4], alone.step_size, 1e-9);
      expect_equal(mapped.info.steps[4], alone.info.steps);
      expect_close(compiled.draws, mapped.draws, 1e-9);
      expect_close(rc::compile(chain)(rc::Key(keys.data[4])).draws, alone.draws, 1e-9);
      expect_close(rc::vmap(normal)(alone.draws), alone.log_density);
    }
  }
}

TEST(Chains, WarmUpsChangeWhatTheSamplerDoesNotFix) {
  const auto found = [](const samplers::Sampler& by) {
    return samplers::sample(normal, doubles({1, 0, -1}), rc::Key(0), {.sampler = by, .warmup = 30, .draws = 1});
  };
  const Tensor masses = doubles({1, 2, 3});
  const auto fixed = found(samplers::hmc({.step_size = 0.4, .inverse_mass = masses}));
  EXPECT_EQ(fixed.step_size.item<double>(), 0.4);  // to the last bit
  expect_close(fixed.inverse_mass, masses);
  const auto with_masses = found(samplers::hmc({.inverse_mass = masses}));
  EXPECT_GT(std::abs(with_masses.step_size.item<double>() - 1), 1e-3);
  expect_close(with_masses.inverse_mass, masses);
  EXPECT_GT(abs(found(samplers::hmc({.step_size = 0.3})).inverse_mass - 1).max().item<double>(), 1e-3);
}

TEST(Chains, HaveStepSizesOfTheirOwn) {
  const auto chain = [](const Tensor& step_size, const rc::Key& key) {
    const auto hmc = samplers::hmc({.step_size = step_size, .steps = 4});
    return samplers::sample(normal, doubles({1, 0, -1}), key, {.sampler = hmc, .warmup = 0, .draws = 3}).draws;
  };
  const rc::Key keys = rc::split(rc::Key(3), 2);
  const Tensor steps = doubles({0.2, 0.4});
  for (const Tensor& found : {rc::vmap(chain)(steps, keys), rc::compile(rc::vmap(chain))(steps, keys)})
    expect_close(found[1], chain(steps[1], rc::Key(keys.data[1])), 1e-9);
  EXPECT_THROW(rc::vmap(chain)(-steps, keys), rc::ValueError);
  EXPECT_THROW(rc::compile(rc::vmap(chain))(-steps, keys), rc::ValueError);
}

TEST(Chains, StepsByHandAreThoseOfSample) {
  const auto& [name, sampler] = cases[0];
  const rc::Key key(5);
  const auto chain = samplers::sample(normal, doubles({1, 0, -1}), key, {.sampler = sampler, .warmup = 0, .draws = 3});
  auto state = samplers::init(sampler, normal, doubles({1, 0, -1}));
  const rc::Key of_draws = rc::split(key)[1];
  for (int i = 0; i < 3; ++i) state = samplers::step(sampler, normal, rc::fold_in(of_draws, i), state).first;
  expect_close(state.position, chain.draws[2]);
  expect_close(state.gradient, rc::grad(normal)(state.position));
}

TEST(Chains, HaveDerivativesByWhatTheDensityCaptures) {
  for (const auto& [name, sampler] : cases) {
    SCOPED_TRACE(name);
    const auto end = [&, by = sampler](const Tensor& mean) {
      const auto log_density = [=](const Tensor& x) { return -0.5 * square(x - mean).sum(); };
      const auto chain =
          samplers::sample(log_density, doubles({0.5, 0}), rc::Key(1), {.sampler = by, .warmup = 0, .draws = 5});
      return chain.draws.sum();
    };
    const Tensor mean = number(0.3), step = number(1e-6);
    const Tensor difference = (end(mean + step) - end(mean - step)) / (2 * step);
    const Tensor found = rc::grad(end)(mean);
    expect_close(found, difference, 1e-5);
    expect_close(rc::jvp(end, mean, number(1)).second, found, 1e-9);
    expect_close(rc::compile(rc::grad(end))(mean), found, 1e-9);
  }
}

struct Model {
  Tensor rate;
  std::vector<Tensor> offsets;
  int degree = 2;
};
TEST(Chains, OfTreesAreTrees) {
  const auto log_density = [](const Model& m) {
    return -0.5 * square(m.rate - m.degree).sum() - 0.5 * square(m.offsets[0]).sum();
  };
  const Model start{rc::zeros({}), {rc::zeros({2, 3})}};
  const auto chain = samplers::sample(log_density, start, rc::Key(0), {.warmup = 10, .draws = 7});
  EXPECT_EQ(sizes(chain.draws.rate), Sizes{7});
  EXPECT_EQ(sizes(chain.draws.offsets[0]), (Sizes{7, 2, 3}));
  EXPECT_EQ(chain.draws.rate.dtype(), rc::float32);
  EXPECT_EQ(chain.draws.degree, 2);
  EXPECT_EQ(sizes(chain.inverse_mass), Sizes{7});
}

TEST(Chains, OfNothingAndOfNoDraws) {
  const auto one = [](const std::vector<Tensor>&) { return rc::zeros({}); };
  for (const auto& [name, sampler] : cases) {
    SCOPED_TRACE(name);
    const auto chain =
        samplers::sample(one, std::vector<Tensor>(), rc::Key(0), {.sampler = sampler, .warmup = 2, .draws = 3});
    EXPECT_TRUE(chain.draws.empty());
    EXPECT_EQ(sizes(chain.log_density), Sizes{3});
    const auto none =
        samplers::sample(normal, doubles({0, 0, 0}), rc::Key(0), {.sampler = sampler, .warmup = 0, .draws = 0});
    EXPECT_EQ(sizes(none.draws), (Sizes{0, 3}));
  }
}

TEST(Chains, StayOutOfPlacesWithoutDensity) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  for (const auto& [name, sampler] : cases) {
    SCOPED_TRACE(name);
    for (const double outside : {nan, -infinity}) {
      const auto half = [=](const Tensor& x) { return where(x > 0, -x, outside).sum(); };
      const auto chain = [&, by = sampler](const rc::Key& key) {
        return samplers::sample(half, doubles({1}), key, {.sampler = by, .warmup = 0, .draws = 300});
      };
      const auto found = rc::compile(chain)(rc::Key(0));
      EXPECT_GT(found.draws.min().item<double>(), 0);
      EXPECT_GT(found.draws.std().item<double>(), 0.3);
    }
  }
}

TEST(Chains, DivergentStepsAreCounted) {
  const auto steep = [](const Tensor& x) { return -1e4 * square(x).sum(); };
  const auto found = samplers::sample(steep, doubles({1}), rc::Key(0),
                                      {.sampler = samplers::nuts({.step_size = 10}), .warmup = 0, .draws = 3});
  EXPECT_TRUE(found.info.is_divergent.all().item<bool>());
  expect_close(found.draws, doubles({1, 1, 1}, {3, 1}));
}

TEST(Diagnostics, OfIndependentDrawsAndOfChainsThatStayApart) {
  const Tensor x = rc::normal(rc::Key(0), {4, 1000, 2}, rc::float64);
  EXPECT_LT(samplers::rhat(x).max().item<double>(), 1.01);
  EXPECT_NEAR(samplers::ess(x).min().item<double>(), 4000, 600);
  const Tensor apart = x + doubles({0, 1, 2, 3}).view({4, 1, 1});
  EXPECT_GT(samplers::rhat(apart).min().item<double>(), 1.4);
  EXPECT_LT(samplers::ess(apart).max().item<double>(), 20);
  // Of x[t] = 0.9 x[t - 1] + noise, 1.9 / 0.1 draws are worth one.
  const auto next = [](const Tensor& before, const Tensor& noise) {
    const Tensor now = 0.9 * before + noise;
    return std::pair{now, now};
  };
  const auto chain = [&](const Tensor& noise) { return rc::scan(next, number(0), noise).second; };
  const Tensor slow = rc::vmap(chain)(rc::normal(rc::Key(1), {4, 20000}, rc::float64));
  EXPECT_NEAR(samplers::ess(slow).item<double>(), 80000 / 19.0, 500);
  EXPECT_TRUE(std::isnan(samplers::rhat(x.slice(1, 0, 3))[0].item<double>()));
  EXPECT_TRUE(std::isnan(samplers::ess(x.slice(1, 0, 3))[0].item<double>()));
  expect_close(rc::compile([](const Tensor& x) { return samplers::ess(x); })(x), samplers::ess(x), 1e-9);
}

TEST(Diagnostics, OfAConstantAreNotNumbers) {
  for (const Tensor& x : {rc::full({2, 1000, 1}, 0.1), rc::full({2, 1000, 1}, 0.1, rc::float64),
                          rc::full({3, 7, 1}, 0.3, rc::float64), rc::full({2, 9, 1}, 3, rc::int64)}) {
    EXPECT_TRUE(std::isnan(samplers::rhat(x).to(rc::float64).item<double>())) << x.dtype();
    EXPECT_TRUE(std::isnan(samplers::ess(x).to(rc::float64).item<double>())) << x.dtype();
  }
  EXPECT_TRUE(std::isnan(samplers::rhat(rc::zeros({0, 10, 1})).item<float>()));
  EXPECT_TRUE(std::isnan(samplers::ess(rc::zeros({0, 10, 1})).item<float>()));
  // The other elements keep their values.
  const Tensor x = rc::normal(rc::Key(0), {2, 50, 1}, rc::float64);
  const Tensor both = rc::cat({x, rc::full_like(x, 0.1)}, 2);
  EXPECT_EQ(samplers::ess(both)[0].item<double>(), samplers::ess(x)[0].item<double>());
  EXPECT_TRUE(std::isnan(samplers::ess(both)[1].item<double>()));
}

TEST(Diagnostics, OfIntegersAreThoseOfFloatingNumbers) {
  const Tensor counts = floor(5 * rc::uniform(rc::Key(0), {2, 50, 3}, rc::float32));
  for (const rc::DType dtype : {rc::int64, rc::uint8}) {
    expect_equal(samplers::rhat(counts.to(dtype)), samplers::rhat(counts));
    expect_equal(samplers::ess(counts.to(dtype)), samplers::ess(counts));
  }
}

TEST(MeanField, FindsIndependentNormalsAndAnythingElseTooNarrow) {
  const Tensor mean = doubles({1, -2, 5}), scale = doubles({0.1, 1, 3});
  const auto apart = [&](const Tensor& x) { return -0.5 * square((x - mean) / scale).sum(); };
  const auto fit = [&](const auto& f, const Tensor& start) {
    const auto run = [&](const rc::Key& key) {
      return samplers::meanfield_vi(f, start, key,
                                    {.optimiser = optim::adam(optim::cosine_decay(0.1, 1500)), .steps = 1500});
    };
    return rc::compile(run)(rc::Key(0));
  };
  const auto q = fit(apart, rc::zeros({3}, rc::float64));
  EXPECT_LT(abs((q.mean - mean) / scale).max().item<double>(), 0.1);
  EXPECT_LT(abs(q.log_std - log(scale)).max().item<double>(), 0.1);
  const double wanted = 0.5 * std::log(2 * 3.141592653589793) * 3 + std::log(0.3);  // log of the density's integral
  EXPECT_NEAR(q.elbo.slice(0, 1400, 1500).mean().item<double>(), wanted, 0.15);     // the standard error is 0.04
  const auto together = [](const Tensor& x) {                                       // correlation 0.8, variances 1
    return -0.5 * (x[0] * x[0] - 1.6 * x[0] * x[1] + x[1] * x[1]) / 0.36;
  };
  const auto narrow = fit(together, doubles({1, 1}));
  EXPECT_LT(abs(narrow.log_std - std::log(0.6)).max().item<double>(), 0.1);
  const Tensor draws = samplers::draws_of(q, rc::Key(1), 5000);
  EXPECT_LT(abs(draws.std(0) / exp(q.log_std) - 1).max().item<double>(), 0.05);
}

TEST(MeanField, IsTheSameEagerlyMappedAndCompiledAndOfTrees) {
  const auto run = [](const rc::Key& key) {
    return samplers::meanfield_vi(normal, doubles({1, 0, -1}), key, {.steps = 5, .samples = 3});
  };
  const rc::Key keys = rc::split(rc::Key(3), 4);
  const auto mapped = rc::vmap(run)(keys), alone = run(rc::Key(keys.data[2]));
  expect_close(mapped.mean[2], alone.mean, 1e-9);
  expect_close(rc::compile(rc::vmap(run))(keys).elbo, mapped.elbo, 1e-9);
  const auto of_model = [](const Model& m) { return -square(m.rate).sum() - square(m.offsets[0]).sum(); };
  const auto q = samplers::meanfield_vi(of_model, Model{rc::zeros({}), {rc::zeros({2})}}, rc::Key(0), {.steps = 3});
  EXPECT_EQ(sizes(samplers::draws_of(q, rc::Key(1), 6).offsets[0]), (Sizes{6, 2}));
}

TEST(Chains, ErrorsSayWhatToDo) {
  const auto nowhere = [](const Tensor& x) { return log(x).sum(); };
  expect_error<rc::ValueError>([&] { samplers::sample(nowhere, doubles({-1}), rc::Key(0)); },
                               "check_finite: the log density of the start is nan");
  const auto two = [](const Tensor& x) { return -x; };
  expect_error<rc::ValueError>(
      [&] { samplers::sample(two, doubles({1, 2}), rc::Key(0), {.sampler = samplers::random_walk()}); },
      "sample: the log density is f64[2]; it must be a number");
  for (const auto& [name, sampler] : cases)
    EXPECT_THROW(samplers::sample(two, doubles({1, 2}), rc::Key(0), {.sampler = sampler}), rc::ValueError) << name;
  expect_error<rc::ValueError>([&] { samplers::init(samplers::random_walk(), two, doubles({1, 2})); },
                               "init: the log density is f64[2]; it must be a number");
  expect_error<rc::ValueError>([&] { samplers::meanfield_vi(two, doubles({1, 2}), rc::Key(0)); },
                               "meanfield_vi: the log density is f64[2]; it must be a number");
  expect_error<rc::ValueError>([] { samplers::meanfield_vi(normal, doubles({1, 1, 1}), rc::Key(0), {.samples = 0}); },
                               "meanfield_vi: samples is 0; it must be positive");
  expect_error<rc::TypeError>([] { samplers::meanfield_vi(normal, complex(number(1), number(1)), rc::Key(0)); },
                              "meanfield_vi: the position is c128[1]; pass real numbers");
  expect_error<rc::ValueError>([&] { samplers::sample(normal, doubles({1, 1, 1}), rc::Key(0), {.draws = -1}); },
                               "sample: draws is -1; it must not be negative");
  expect_error<rc::ValueError>([&] { samplers::sample(normal, doubles({1, 1, 1}), rc::split(rc::Key(0), 4)); },
                               "sample: the keys are i64[4,2]; pass one key, and map over several with vmap");
  expect_error<rc::ValueError>([] { samplers::nuts({.max_depth = 0}); }, "nuts: max_depth is 0; it must be positive");
  expect_error<rc::ValueError>([] { samplers::nuts({.target_acceptance = 1.5}); },
                               "nuts: target_acceptance is 1.500000; it must be between 0 and 1");
  expect_error<rc::ValueError>([] { samplers::hmc({.step_size = -0.1}); },
                               "hmc: step_size is -0.1; it must be positive");
  expect_error<rc::ValueError>([] { samplers::random_walk({.inverse_mass = doubles({1, -1})}); },
                               "random_walk: inverse_mass is -1 at [1]; it must be positive");
  expect_error<rc::ValueError>(
      [&] {
        samplers::sample(normal, doubles({1, 1, 1}), rc::Key(0),
                         {.sampler = samplers::hmc({.inverse_mass = doubles({1, 1})})});
      },
      "sample: the inverse mass is f64[2]; it must be [n] or [n, n], n the position's elements");
  const auto number_of = [](const Tensor& x) { return -square(x.to(rc::float32)).sum(); };
  EXPECT_THROW(samplers::sample(number_of, rc::arange(2), rc::Key(0)), rc::TypeError);
  EXPECT_THROW(samplers::meanfield_vi(number_of, rc::arange(2), rc::Key(0)), rc::TypeError);
  EXPECT_THROW(samplers::init(samplers::nuts(), number_of, rc::arange(2)), rc::TypeError);
  expect_error<rc::TypeError>([] { samplers::ess(complex(rc::ones({2, 9}), rc::ones({2, 9}))); },
                              "ess: the draws are c64[2,9]; make them real and imaginary parts, for example with "
                              "view_as_real");
  expect_error<rc::ValueError>([] { samplers::rhat(doubles({1, 2})); },
                               "rhat: the draws are f64[2]; they must have the axes [chains, draws, …]");
}

}  // namespace
