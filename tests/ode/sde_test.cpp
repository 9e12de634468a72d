// Paths and what goes along them: their distribution, orders of solvers, every transform.
#include <gtest/gtest.h>
#include <ricci/ode.h>
#include <ricci/ricci.h>

#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "support/difference_quotient.h"
#include "support/expect_error.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
namespace ode = ricci::ode;
using ode::SdeSolver;
using rc::Tensor;
using namespace testing_support;

namespace {

Tensor f64(double x) { return rc::tensor(x, rc::float64); }

/// Values at times, of n paths: [n, times].
Tensor paths(int n, const std::vector<double>& times) {
  const auto values = [&](const rc::Key& key) {
    const ode::BrownianPath path{.key = key, .t0 = 1, .t1 = 3};
    std::vector<Tensor> all;
    for (const double t : times) all.push_back(path(t, {}, rc::float64));
    return rc::stack(all);
  };
  return rc::vmap(values)(rc::split(rc::Key(5), n));
}

TEST(BrownianPath, HasIndependentIncrementsWhoseVarianceIsTheTime) {
  constexpr int n = 20'000;
  const std::vector<double> times{1, 1.3, 2, 2.1, 2.75, 3};
  const Tensor w = paths(n, times);
  expect_values(w.select(1, 0), Values(n, 0));
  const Tensor increments = w.slice(1, 1, 6) - w.slice(1, 0, 5);  // [n, 5]
  const Tensor covariance = matmul(increments.t(), increments) / n;
  for (std::int64_t i = 0; i < 5; ++i)
    for (std::int64_t j = 0; j < 5; ++j) {
      const auto length = [&](std::int64_t k) {
        return times[static_cast<std::size_t>(k) + 1] - times[static_cast<std::size_t>(k)];
      };
      // Five standard deviations of an estimate from n paths.
      const double deviation = std::sqrt((i == j ? 2 : 1) * length(i) * length(j) / n);
      EXPECT_NEAR(covariance[i][j].item<double>(), i == j ? length(i) : 0, 5 * deviation);
    }
}

TEST(BrownianPath, IsNaNOutsideOfItsTimes) {
  const ode::BrownianPath forward{.key = rc::Key(0), .t0 = 1, .t1 = 3}, back{.key = rc::Key(0), .t0 = 3, .t1 = 1};
  for (const ode::BrownianPath& path : {forward, back}) {
    for (const double t : {0.9, 3.1}) EXPECT_TRUE(isnan(path(t, {2}, rc::float64)).all().item<bool>());
    for (const double t : {1., 2., 3.}) EXPECT_FALSE(isnan(path(t, {2}, rc::float64)).any().item<bool>());
  }
}

TEST(BrownianPath, IsTheSameWhateverIsAsked) {
  const ode::BrownianPath path{.key = rc::Key(1), .t0 = 0, .t1 = 1};
  const Tensor times = rc::linspace(0, 1, 5, rc::float64);
  const auto at = [&](const Tensor& t) { return path(t, {3}, rc::float64); };
  const Tensor all = rc::vmap(at)(times), compiled = rc::compile(at)(times[3]);
  expect_close(all[3], at(times[3]), 1e-14);
  expect_close(compiled, at(times[3]), 1e-14);
  EXPECT_NE(at(times[3])[0].item<double>(), at(times[3])[1].item<double>());
  EXPECT_EQ(path(0.5, {2}).dtype(), rc::float32);
  expect_error<rc::ValueError>([] { ode::BrownianPath{rc::Key(0), 0, 1, 99}(0.5, {}); },
                               "BrownianPath: there are 99 levels; give 1 to 48");
}

const std::map<std::string, SdeSolver> solvers{
    {"EulerMaruyama", SdeSolver::EulerMaruyama}, {"Heun", SdeSolver::Heun}, {"Milstein", SdeSolver::Milstein}};

template <class Check>
void for_each_solver(const Check& check) {
  for (const auto& [name, solver] : solvers) {
    SCOPED_TRACE(name);
    check(solver);
  }
}

/// Geometric Brownian motion y = exp(0.1 t + 0.5 W): Itô's drift is 0.1 y + 0.5²/2 y.
auto drift_of(SdeSolver solver) {
  return [part = solver == SdeSolver::Heun ? 0.1 : 0.225](const Tensor&, const Tensor& y) { return part * y; };
}
Tensor half(const Tensor&, const Tensor& y) { return 0.5 * y; }

/// Root mean square of the errors at time 1 of 200 paths, and the error of the mean of their differences.
double strong_error(SdeSolver solver, int steps) {
  const auto error = [&](const rc::Key& key) {
    const auto found = ode::sde_solve(drift_of(solver), half, f64(1), 0, 1, key, {.solver = solver, .dt = 1. / steps});
    const Tensor w = ode::BrownianPath{.key = key, .t0 = 0, .t1 = 1}(1, {1}, rc::float64)[0];
    return square(found.y - exp(0.1 + 0.5 * w));
  };
  return std::sqrt(rc::vmap(error)(rc::split(rc::Key(2), 200)).mean().item<double>());
}

TEST(Sde, EverySolverHasItsStrongOrder) {
  const std::map<std::string, double> orders{{"EulerMaruyama", 0.5}, {"Heun", 1}, {"Milstein", 1}};
  for (const auto& [name, order] : orders) {
    SCOPED_TRACE(name);
    const double coarse = strong_error(solvers.at(name), 16), fine = strong_error(solvers.at(name), 256);
    EXPECT_NEAR(std::log2(coarse / fine) / 4, order, 0.12);
  }
}

TEST(Sde, EverySolverHasWeakOrderOne) {
  // The mean of y(1) by 16,384 paths with few steps, less what the paths' own mean is: E y = exp(0.225).
  for_each_solver([](SdeSolver solver) {
    const auto off = [&](int steps) {
      const auto difference = [&](const rc::Key& key) {
        const auto y =
            ode::sde_solve(drift_of(solver), half, f64(1), 0, 1, key, {.solver = solver, .dt = 1. / steps}).y;
        return y - exp(0.1 + 0.5 * ode::BrownianPath{.key = key, .t0 = 0, .t1 = 1}(1, {1}, rc::float64)[0]);
      };
      return rc::vmap(difference)(rc::split(rc::Key(3), 16'384)).mean().item<double>();
    };
    EXPECT_NEAR(std::log2(off(2) / off(8)) / 2, 1, 0.35);
  });
}

TEST(Sde, IsTheSameUnderVmapAndCompiled) {
  for_each_solver([](SdeSolver solver) {
    const auto solve = [&](const rc::Key& key, const Tensor& t1) {
      const auto found = ode::sde_solve(drift_of(solver), half, rc::ones({2}, rc::float64), 0, t1, key,
                                        {.solver = solver, .dt = 0.125, .save_at = rc::tensor({0.3}, rc::float64)});
      return std::tuple{found.y, found.ys, found.steps};
    };
    const rc::Key keys = rc::split(rc::Key(0), 3);
    const Tensor ends = rc::tensor({1., 0.5, 0.}, rc::float64);
    const auto [y, ys, steps] = rc::vmap(solve)(keys, ends);
    const auto both = rc::compile([&](const rc::Key& k, const Tensor& t1) { return rc::vmap(solve)(k, t1); });
    const auto [other, saved, as_many] = both(keys, ends);
    expect_close(other, y, 1e-13);
    expect_values(steps, {8, 4, 0});
    expect_equal(as_many, steps);
    for (int i = 0; i < 3; ++i) expect_close(std::get<0>(solve(rc::Key(keys.data[i]), ends[i])), y[i], 1e-13);
    expect_values(isnan(ys.view({-1})), {0, 0, 0, 0, 1, 1});
  });
}

TEST(Sde, HasDerivatives) {
  for_each_solver([](SdeSolver solver) {
    const auto by = [&](const Tensor& a) {
      const auto diffusion = [&](const Tensor&, const Tensor& y) { return a * sin(y); };
      return ode::sde_solve(drift_of(solver), diffusion, f64(1), 0, 1, rc::Key(4), {.solver = solver, .dt = 0.1}).y;
    };
    expect_close(rc::grad(by)(f64(0.3)), difference_quotient(by, f64(0.3)), 1e-7);
    expect_close(rc::compile([&](const Tensor& a) { return rc::grad(by)(a); })(f64(0.3)), rc::grad(by)(f64(0.3)),
                 1e-12);
  });
}

TEST(Sde, StatesAreTreesAndErrorsNameTheCall) {
  struct Pair {
    Tensor a, b;
  };
  const auto still = [](const Tensor&, const Pair& p) { return Pair{0 * p.a, 0 * p.b}; };
  const auto moves = [](const Tensor&, const Pair& p) { return Pair{rc::ones_like(p.a), rc::zeros_like(p.b)}; };
  const Pair start{rc::zeros({2}), rc::ones({3})};
  const auto found = ode::sde_solve(still, moves, start, 0, 1, rc::Key(0), {.dt = 0.25});
  expect_close(found.y.a, ode::BrownianPath{.key = rc::Key(0), .t0 = 0, .t1 = 1}(1, {5}).slice(0, 0, 2), 1e-6);
  expect_values(found.y.b, {1, 1, 1});
  const std::vector<Tensor> none;
  const auto same = [](const Tensor&, const std::vector<Tensor>& y) { return y; };
  EXPECT_TRUE(ode::sde_solve(same, same, none, 0, 1, rc::Key(0), {.dt = 0.25}).y.empty());
  expect_error<rc::ValueError>(
      [&] { ode::sde_solve(still, moves, start, 0, 1, rc::Key(0), {}); },
      "sde_solve: EulerMaruyama has no estimate of its error; give the size of its steps, .dt = 0.01");
}

}  // namespace
