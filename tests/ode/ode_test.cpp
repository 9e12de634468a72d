// What holds for every solver: its order, under every transform, at the ends, and how it fails.
#include <gtest/gtest.h>
#include <ricci/ode.h>
#include <ricci/ricci.h>

#include <array>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "support/difference_quotient.h"
#include "support/expect_error.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
namespace ode = ricci::ode;
using rc::Tensor;
using namespace testing_support;

namespace {

const std::map<std::string, ode::Solver> solvers{{"Euler", ode::Euler},
                                                 {"Heun", ode::Heun},
                                                 {"Midpoint", ode::Midpoint},
                                                 {"RK4", ode::RK4},
                                                 {"Tsit5", ode::Tsit5},
                                                 {"Dopri5", ode::Dopri5},
                                                 {"Dopri8", ode::Dopri8},
                                                 {"LeapfrogMidpoint", ode::LeapfrogMidpoint},
                                                 {"ImplicitEuler", ode::ImplicitEuler},
                                                 {"Kvaerno3", ode::Kvaerno3},
                                                 {"Kvaerno5", ode::Kvaerno5}};

bool estimates_errors(ode::Solver solver) {
  return solver != ode::Euler && solver != ode::RK4 && solver != ode::LeapfrogMidpoint;
}
bool is_of_first_order(ode::Solver solver) { return solver == ode::Euler || solver == ode::ImplicitEuler; }

/// Every solver in constant steps, and by tolerance where it can. The systems of implicit ones are solved by tolerance.
std::map<std::string, ode::Options> ways() {
  std::map<std::string, ode::Options> all;
  for (const auto& [name, solver] : solvers) {
    all[name + " constant"] = {.solver = solver, .rtol = 1e-12, .atol = 1e-12, .dt = 0.125};
    if (estimates_errors(solver))
      all[name] = {.solver = solver, .rtol = 1e-5, .atol = 1e-6, .step_sizes = {.p = 0.2, .i = 0.4, .d = 0.1}};
  }
  return all;
}

template <class Check>
void for_each_way(const Check& check) {
  for (const auto& [name, options] : ways()) {
    SCOPED_TRACE(name);
    check(options);
  }
}

Tensor f64(double x) { return rc::tensor(x, rc::float64); }

/// A pendulum that is pulled, with friction a.
struct Pendulum {
  Tensor angle, speed;
};
Pendulum start() { return {f64(1), f64(-0.5)}; }
auto swings(const Tensor& a) {
  return [a](const Tensor& t, const Pendulum& p) {
    return Pendulum{.angle = p.speed, .speed = -sin(p.angle) - a * p.speed + 0.3 * cos(t)};
  };
}

/// From a height, falling; and what a throw upwards gives.
struct Ball {
  Tensor height, speed;
};
Ball falls(const Tensor&, const Ball& b) { return {.height = b.speed, .speed = rc::full({}, -10., rc::float64)}; }
Tensor height_of(const Tensor&, const Ball& b) { return b.height; }
Tensor speed_of(const Tensor&, const Ball& b) { return b.speed; }

/// y' = y cos t: y = exp(sin t) from 1.
Tensor wave(const Tensor& t, const Tensor& y) { return y * cos(t); }

TEST(Ode, EverySolverHasItsOrderAlsoBetweenSteps) {
  struct Order {
    double at_end, between;
  };
  const std::map<std::string, Order> orders{
      {"Euler", {1, 1}},         {"Heun", {2, 2}},     {"Midpoint", {2, 2}}, {"RK4", {4, 4}},
      {"Tsit5", {5, 4}},         {"Dopri5", {5, 4}},   {"Dopri8", {8, 6}},   {"LeapfrogMidpoint", {2, 2}},
      {"ImplicitEuler", {1, 1}}, {"Kvaerno3", {3, 3}}, {"Kvaerno5", {5, 4}}};
  ASSERT_EQ(orders.size(), solvers.size());
  for (const auto& [name, order] : orders) {
    SCOPED_TRACE(name);
    // The greatest error at some times within steps shows the order; that at one time may be small by chance.
    const auto errors = [&, solver = solvers.at(name)](int steps) {
      const Tensor times = rc::linspace(0, 2, 41, rc::float64);
      const auto found = ode::ode_solve(
          wave, f64(1), 0, 2, {.solver = solver, .rtol = 1e-13, .atol = 1e-13, .dt = 2. / steps, .save_at = times});
      return std::array{abs(found.y - std::exp(std::sin(2))).item<double>(),
                        abs(found.ys - exp(sin(times))).max().item<double>()};
    };
    const int steps = name == "Dopri8" ? 5 : 40;
    const auto coarse = errors(steps), fine = errors(2 * steps);
    EXPECT_GT(std::log2(coarse[0] / fine[0]), order.at_end - 0.3);
    EXPECT_GT(std::log2(coarse[1] / fine[1]), order.between - 0.3);
  }
}

TEST(Ode, MeetsTolerances) {
  for_each_way([&](const ode::Options& way) {
    if (way.dt.tensor.defined()) return;
    double last = 1;
    for (const double tolerance : {1e-3, 1e-5, 1e-7}) {
      ode::Options options = way;
      options.rtol = options.atol = tolerance;
      const double error =
          std::abs(ode::ode_solve(wave, f64(1), 0, 6, options).y.item<double>() - std::exp(std::sin(6)));
      // An error of h² in each of steps as many as 1/h: its root in all.
      EXPECT_LT(error, is_of_first_order(way.solver) ? 3 * std::sqrt(tolerance) : 20 * tolerance);
      EXPECT_LT(error, last);
      last = error;
    }
  });
}

TEST(Ode, UnderVmapEachExampleTakesItsOwnSteps) {
  for_each_way([&](const ode::Options& options) {
    const auto solve = [&](const Tensor& a, const Tensor& t1) {
      return ode::ode_solve(swings(a), start(), 0, t1, options);
    };
    const Tensor frictions = rc::tensor({0.1, 3., 0.5}, rc::float64), ends = rc::tensor({1., 0., 2.5}, rc::float64);
    const auto all = rc::vmap(solve)(frictions, ends);
    for (int i = 0; i < 3; ++i) {
      const auto alone = solve(frictions[i], ends[i]);
      expect_close(all.y.angle[i], alone.y.angle, 1e-14);
      expect_close(all.t[i], ends[i]);
      expect_equal(all.steps[i], alone.steps);
      expect_equal(all.rejected[i], alone.rejected);
    }
  });
}

TEST(Ode, IsTheSameCompiledAndRecorded) {
  for_each_way([&](const ode::Options& options) {
    const auto solve = [&](const Tensor& a, const Tensor& t1) {
      const auto found = ode::ode_solve(swings(a), start(), 0, t1, options);
      return std::tuple{found.y, found.steps, found.status};
    };
    const auto [y, steps, status] = solve(f64(0.2), f64(2));
    const auto fast = rc::compile(solve);
    for (int call = 0; call < 2; ++call) {
      const auto [other, as_many, same] = fast(f64(0.2), f64(2));
      expect_close(other.angle, y.angle, 1e-13);
      expect_equal(as_many, steps);
      expect_equal(same, status);
    }
    EXPECT_EQ(fast.plans(), 1u);

    const Tensor ends = rc::tensor({2., 1., 0.}, rc::float64), frictions = rc::tensor({0.2, 0.1, 3.}, rc::float64);
    const auto mapped = [&](const Tensor& a, const Tensor& t1) { return rc::vmap(solve)(a, t1); };
    const auto [many, counts, all_status] = rc::compile(mapped)(frictions, ends);
    const auto [expected, expected_counts, _] = mapped(frictions, ends);
    expect_close(many.angle, expected.angle, 1e-13);
    expect_equal(counts, expected_counts);
  });
}

TEST(Ode, HasDerivativesByEverything) {
  for_each_way([&](const ode::Options& options) {
    // Steps of constant size are constants: a difference quotient sees the same steps.
    const bool constant = options.dt.tensor.defined();
    const double tolerance = constant ? 1e-7 : is_of_first_order(options.solver) ? 1e-2 : 2e-4;
    const auto by_friction = [&](const Tensor& a) { return ode::ode_solve(swings(a), start(), 0, 2, options).y.angle; };
    const Tensor slope = rc::grad(by_friction)(f64(0.2));
    expect_close(slope, difference_quotient(by_friction, f64(0.2)), tolerance);
    const auto by_start = [&](const Tensor& x) {
      return ode::ode_solve(swings(0.2), Pendulum{x, start().speed}, 0, 2, options).y.angle;
    };
    expect_close(rc::grad(by_start)(f64(1)), difference_quotient(by_start, f64(1)), tolerance);
    const auto by_end = [&](const Tensor& t1) { return ode::ode_solve(swings(0.2), start(), 0, t1, options).y.angle; };
    expect_close(rc::grad(by_end)(f64(1.97)), difference_quotient(by_end, f64(1.97)), tolerance);
    expect_close(rc::compile([&](const Tensor& a) { return rc::grad(by_friction)(a); })(f64(0.2)), slope, 1e-12);
    const auto forward = rc::jvp(by_friction, rc::tensor(0.2, rc::float64), f64(1));
    expect_close(std::get<1>(forward), slope, 1e-12);
  });
}

TEST(Ode, HasDerivativesOfDerivativesAndOfWhatIsSaved) {
  const auto total = [](const Tensor& a) {
    const Tensor times = rc::tensor({0.3, 1.1, 2.}, rc::float64);
    return ode::ode_solve(swings(a), start(), 0, 2, {.rtol = 1e-8, .atol = 1e-8, .save_at = times}).ys.angle.sum();
  };
  const auto slope = [&](const Tensor& a) { return rc::grad(total)(a); };
  expect_close(slope(f64(0.2)), difference_quotient(total, f64(0.2)), 1e-6);
  expect_close(rc::grad(slope)(f64(0.2)), difference_quotient(slope, f64(0.2)), 1e-6);
}

TEST(Ode, CheckpointsGiveTheSameDerivatives) {
  for (const rc::Checkpoints checkpoint : {rc::Checkpoints::sqrt, rc::Checkpoints::log}) {
    for (ode::Options options : {ode::Options{.rtol = 1e-6}, ode::Options{.solver = ode::RK4, .dt = 0.05}}) {
      const auto by = [&](const Tensor& a) { return ode::ode_solve(swings(a), start(), 0, 2, options).y.angle; };
      const Tensor expected = rc::grad(by)(f64(0.2));
      options.checkpoint = checkpoint;
      expect_close(rc::grad(by)(f64(0.2)), expected, 1e-13);
      expect_close(rc::compile([&](const Tensor& a) { return rc::grad(by)(a); })(f64(0.2)), expected, 1e-13);
    }
  }
}

/// Behind a step that is too long f is NaN, infinite, or has an infinite derivative.
const std::map<std::string, std::function<Tensor(const Tensor& a, const Tensor& y)>> without_values_elsewhere{
    {"logarithm", [](const Tensor& a, const Tensor& y) { return -a * (2 + log(y)); }},
    {"root", [](const Tensor& a, const Tensor& y) { return -2.4 * a * sqrt(y); }},
    {"cube", [](const Tensor& a, const Tensor& y) { return -a * 1e3 * y * y * y; }},
    {"exponential", [](const Tensor& a, const Tensor& y) { return y * y - a * exp(3 * y); }}};

TEST(Ode, ReverseModeIsForwardModeWhereAStepThatIsRejectedMeetsNaN) {
  for (const auto& [name, slope] : without_values_elsewhere)
    for_each_way([&, name = name, slope = slope](ode::Options options) {
      if (options.dt.tensor.defined()) return;
      SCOPED_TRACE(name);
      options.first_step = 300, options.rtol = options.atol = 1e-4;
      const auto solve = [&](const Tensor& a) {
        return ode::ode_solve([&](const Tensor&, const Tensor& y) { return slope(a, y); }, 1.0, 0, 0.8, options);
      };
      const auto end = [&](const Tensor& a) { return solve(a).y; };
      EXPECT_GT(solve(f64(1)).rejected.item<int>(), 0);
      const Tensor rates = rc::tensor({1., 0.5}, rc::float64);
      const auto forward = [&](const Tensor& a) { return std::get<1>(rc::jvp(end, a, f64(1))); };
      const auto reverse = [&](const Tensor& a) { return rc::grad(end)(a); };
      const auto expected = rc::vmap(forward)(rates);
      EXPECT_TRUE(isfinite(expected).all().item<bool>());
      EXPECT_TRUE(ne(expected, 0).all().item<bool>());
      expect_close(reverse(f64(1)), expected[0], 1e-12);
      expect_close(rc::vmap(reverse)(rates), expected, 1e-12);
      if (name != "logarithm") return;  // these take most of the test's time
      const auto total = [&](const Tensor& a) { return rc::vmap(end)(a * rates).sum(); };
      expect_close(rc::grad(total)(f64(1)), (rates * expected).sum(), 1e-12);
      expect_close(rc::compile([&](const Tensor& a) { return rc::vmap(reverse)(a); })(rates), expected, 1e-11);
      const auto fast = rc::compile(end);
      expect_close(rc::grad([&](const Tensor& a) { return fast(a); })(f64(1)), expected[0], 1e-11);
    });
}

TEST(Ode, InEagerModeTheFunctionMayLookAtValuesUnderDerivatives) {
  const auto end = [](const Tensor& a) {
    const auto f = [a](const Tensor& t, const Tensor& y) { return t.item<double>() > 2 ? a * y : -a * y; };
    return ode::ode_solve(f, 1.0, 0, 1).y;
  };
  expect_close(rc::grad(end)(f64(1)), f64(-std::exp(-1)), 1e-3);
}

TEST(Ode, TimesThatWereNotReachedLeaveTheDerivativesOfOthers) {
  const Tensor times = rc::tensor({-1., 0.5, 1.5}, rc::float64);
  for_each_way([&](ode::Options options) {
    options.save_at = times;
    const auto row = [&](const Tensor& a) {
      return ode::ode_solve([a](const Tensor&, const Tensor& y) { return -a * y; }, 1.0, 0, 1, options).ys[1];
    };
    const double tolerance = is_of_first_order(options.solver) ? 0.1 : 1e-2;
    expect_close(rc::grad(row)(f64(0.5)), f64(-0.5 * std::exp(-0.25)), tolerance);
    expect_close(rc::compile([&](const Tensor& a) { return rc::grad(row)(a); })(f64(0.5)), rc::grad(row)(f64(0.5)),
                 1e-12);
  });
  const auto decays = [](const Tensor&, const Tensor& y, const Tensor& a) { return -a * y; };
  const auto row = [&](const Tensor& a) {
    return ode::backsolve(decays, 1.0, 0, 1, a, {.rtol = 1e-8, .atol = 1e-8, .save_at = times}).ys[1];
  };
  expect_close(rc::grad(row)(f64(0.5)), f64(-0.5 * std::exp(-0.25)), 1e-6);
}

TEST(Ode, WithoutTimeTheEndStillMovesByTheSlope) {
  for_each_way([&](ode::Options options) {
    const auto end = [&](const Tensor& t0, const Tensor& t1) {
      return ode::ode_solve(wave, f64(3), t0, t1, options).y;
    };
    const auto [by_t0, by_t1] = rc::grad<0, 1>(end)(f64(1), f64(1));
    expect_close(by_t1, f64(3 * std::cos(1)), 1e-12);
    expect_close(by_t0, f64(-3 * std::cos(1)), 1e-12);
    const auto saved = [&](const Tensor& time) {
      options.save_at = rc::stack({time});
      return ode::ode_solve(wave, f64(3), 1, 2, options).ys[0];
    };
    expect_close(rc::grad(saved)(f64(1)), f64(3 * std::cos(1)), 1e-12);
  });
}

TEST(Ode, SizesOfStepsHaveNoDerivatives) {
  const auto by_first = [](const Tensor& size) { return ode::ode_solve(wave, f64(1), 0, 2, {.first_step = size}).y; };
  EXPECT_EQ(rc::grad(by_first)(f64(0.1)).item<double>(), 0);
  const auto by_longest = [](const Tensor& size) { return ode::ode_solve(wave, f64(1), 0, 2, {.max_step = size}).y; };
  EXPECT_EQ(rc::grad(by_longest)(f64(0.1)).item<double>(), 0);
}

TEST(Ode, AnImplicitStepWhoseSystemIsSingularIsOneOfItsExample) {
  // y = y0 + a y is solved by steps of size 1; of a = 1 it has no solution.
  const auto end = [](const Tensor& a) {
    const auto grows = [a](const Tensor&, const Tensor& y) { return a * y; };
    return ode::ode_solve(grows, 1.0, 0, 1, {.solver = ode::ImplicitEuler, .dt = 1}).y;
  };
  EXPECT_FALSE(isfinite(rc::grad(end)(f64(1))).item<bool>());
  expect_close(rc::vmap(rc::grad(end))(rc::tensor({1., 0.5}, rc::float64))[1], f64(4), 1e-6);
}

struct Coefficients {
  Tensor friction, pull;
};
Pendulum swings_by(const Tensor& t, const Pendulum& p, const Coefficients& c) {
  return {.angle = p.speed, .speed = -sin(p.angle) - c.friction * p.speed + c.pull * cos(t)};
}

TEST(Ode, TheAdjointEquationGivesTheDerivativesOfTheSteps) {
  const ode::Options options{.rtol = 1e-10, .atol = 1e-10, .save_at = rc::tensor({0.5, 1.2, 2.}, rc::float64)};
  const auto score = [](const ode::Solution<Pendulum>& s) {
    return 2 * s.y.angle + s.y.speed + (s.ys.angle * s.ts).sum();
  };
  const auto back = [&](const Pendulum& y0, const Tensor& t0, const Tensor& t1, const Coefficients& c) {
    return score(ode::backsolve(swings_by, y0, t0, t1, c, options));
  };
  const auto through = [&](const Pendulum& y0, const Tensor& t0, const Tensor& t1, const Coefficients& c) {
    const auto f = [&](const Tensor& t, const Pendulum& p) { return swings_by(t, p, c); };
    return score(ode::ode_solve(f, y0, t0, t1, options));
  };
  const auto gradients = [&](const auto& f) {
    return [&](const Tensor& friction) {
      const auto [y0, t0, t1, c] =
          rc::grad<0, 1, 2, 3>(f)(start(), f64(0), f64(2.25), Coefficients{friction, f64(0.3)});
      return rc::stack({y0.angle, y0.speed, t0, t1, c.friction, c.pull});
    };
  };
  const Tensor expected = gradients(through)(f64(0.2)), found = gradients(back)(f64(0.2));
  expect_close(back(start(), f64(0), f64(2.25), {f64(0.2), f64(0.3)}),
               through(start(), f64(0), f64(2.25), {f64(0.2), f64(0.3)}));
  expect_close(found, expected, 1e-7);
  expect_close(rc::compile(gradients(back))(f64(0.2)), expected, 1e-7);
  const Tensor frictions = rc::tensor({0.2, 1.}, rc::float64);
  const auto mapped = [&](const Tensor& f) { return rc::vmap(gradients(back))(f); };
  expect_close(mapped(frictions)[0], expected, 1e-7);
  expect_close(rc::compile(mapped)(frictions), mapped(frictions), 1e-9);
}

TEST(Ode, TheAdjointEquationHasDerivativesItself) {
  const auto end = [](const Tensor& a) {
    const auto decays = [](const Tensor&, const Tensor& y, const Tensor& rate) { return -rate * y; };
    return ode::backsolve(decays, 2.0, 0, 1, a, {.rtol = 1e-10, .atol = 1e-10}).y;
  };
  expect_close(rc::grad(rc::grad(end))(f64(0.5)), f64(2 * std::exp(-0.5)), 1e-7);
  expect_close(rc::grad(end)(f64(0.5)), f64(-2 * std::exp(-0.5)), 1e-7);
}

TEST(Ode, TheAdjointEquationTakesTolerancesOfElements) {
  const auto decays = [](const Tensor&, const Tensor& y, const Tensor& rates) { return -rates.sum() * y; };
  const Tensor y0 = rc::tensor({1., 2.}, rc::float64);
  const auto total = [&](const Tensor& rates) {
    const ode::Options options{.rtol = 1e-6, .atol = rc::tensor({1e-6, 1e-8}, rc::float64)};
    return ode::backsolve(decays, y0, 0, 1, rates, options).y.sum();
  };
  const double slope = -3 * std::exp(-0.6);
  expect_values(rc::grad(total)(rc::tensor({0.1, 0.2, 0.3}, rc::float64)), {slope, slope, slope}, 1e-5);
}

TEST(Ode, WhereTheAdjointEquationIsNotSolvedDerivativesAreNaN) {
  const auto end_by = [](std::int64_t max_steps) {
    return [=](const Tensor& a) {
      const auto tends = [](const Tensor&, const Tensor& y, const Tensor& rate) { return -rate * (y - 1); };
      return ode::backsolve(tends, 2.0, 0, 1, a, {.rtol = 1e-6, .atol = 1e-6, .max_steps = max_steps});
    };
  };
  const auto slope = [](const auto& solve) {
    return rc::grad([&](const Tensor& a) { return solve(a).y; })(f64(30)).template item<double>();
  };
  const auto reached = end_by(60), stopped = end_by(5);
  EXPECT_EQ(reached(f64(30)).status.item<int>(), ode::success);  // the way back takes more
  EXPECT_TRUE(std::isnan(slope(reached)));
  EXPECT_TRUE(std::isnan(slope(stopped)));
  EXPECT_FALSE(std::isnan(slope(end_by(100'000))));
}

TEST(Ode, TheAdjointEquationTakesParametersAlone) {
  const Tensor a = f64(0.5);
  const auto by_capture = [](const Tensor& rate) {
    const auto decays = [rate](const Tensor&, const Tensor& y, const Tensor& none) { return -rate * y + none; };
    return ode::backsolve(decays, 2.0, 0, 1, f64(0), {}).y;
  };
  EXPECT_THROW(rc::grad(by_capture)(a), rc::Error);
  const auto constant = [](const Tensor&, const Tensor& y, const std::vector<Tensor>&) { return -y; };
  const auto by_start = [&](const Tensor& y0) { return ode::backsolve(constant, y0, 0, 1, std::vector<Tensor>{}).y; };
  expect_close(rc::grad(by_start)(a), f64(std::exp(-1)), 1e-3);
}

TEST(Ode, GoesBackInTime) {
  for_each_way([&](const ode::Options& options) {
    const Tensor y1 = exp(sin(f64(2)));
    const auto found = ode::ode_solve(wave, y1, 2, 0.5, options);
    expect_close(found.y, exp(sin(f64(0.5))), is_of_first_order(options.solver) ? 0.2 : 0.02);
    EXPECT_EQ(found.t.item<double>(), 0.5);
  });
}

TEST(Ode, WithoutTimeNothingChanges) {
  for_each_way([&](ode::Options options) {
    options.save_at = rc::tensor({1., 1.}, rc::float64);
    const auto found = ode::ode_solve(wave, f64(3), 1, 1, options);
    EXPECT_EQ(found.y.item<double>(), 3);
    EXPECT_EQ(found.steps.item<int>(), 0);
    EXPECT_EQ(found.status.item<int>(), ode::success);
    expect_values(found.ys, {3, 3});
  });
}

TEST(Ode, TheLastOfConstantStepsIsWhatIsLeft) {
  const auto counts = [](double t1) {
    return ode::ode_solve(wave, f64(1), 0, t1, {.solver = ode::RK4, .dt = 0.1}).steps.item<int>();
  };
  EXPECT_EQ(counts(1), 10);
  EXPECT_EQ(counts(1.05), 11);
  EXPECT_EQ(counts(0.3), 3);
  expect_close(ode::ode_solve(wave, f64(1), 0, 1.05, {.solver = ode::RK4, .dt = 0.1}).y, exp(sin(f64(1.05))), 1e-6);
}

TEST(Ode, LeapfrogKeepsTheEnergyAndComesBackToWhereItBegan) {
  const auto turns = [](const Tensor&, const Ball& b) { return Ball{b.speed, -b.height}; };
  const auto energy_after = [&](double t1, ode::Solver solver) {
    const Ball end = ode::ode_solve(turns, Ball{f64(1), f64(0)}, 0, t1, {.solver = solver, .dt = 0.1}).y;
    return (end.height * end.height + end.speed * end.speed).item<double>();
  };
  for (const double t1 : {10., 100., 1000.}) EXPECT_NEAR(energy_after(t1, ode::LeapfrogMidpoint), 1, 0.02);
  EXPECT_GT(energy_after(1000, ode::Midpoint), 1.02);  // grows
  // There and back: both first steps, which have none before them, leave an error. That of the way there is larger.
  const ode::Options options{.solver = ode::LeapfrogMidpoint, .dt = 0.1};
  const Ball there = ode::ode_solve(turns, Ball{f64(1), f64(0)}, 0, 100, options).y;
  const Ball back = ode::ode_solve(turns, there, 100, 0, options).y;
  EXPECT_GT(std::hypot(there.height.item<double>() - std::cos(100), there.speed.item<double>() + std::sin(100)), 0.1);
  EXPECT_LT(std::hypot(back.height.item<double>() - 1, back.speed.item<double>()), 0.005);
}

TEST(Ode, ImplicitSolversTakeLongStepsOfStiffEquations) {
  // The reaction of Robertson (1966), at 1e4: SciPy 1.17.1's Radau with rtol 1e-12, atol 1e-16.
  const auto reacts = [](const Tensor&, const Tensor& y) {
    const Tensor first = -0.04 * y[0] + 1e4 * y[1] * y[2], last = 3e7 * y[1] * y[1];
    return rc::stack({first, -first - last, last});
  };
  const Tensor start = rc::tensor({1., 0., 0.}, rc::float64);
  const auto solve = [&](const Tensor& y0, ode::Solver solver, double rtol) {
    return ode::ode_solve(reacts, y0, 0, 1e4, {.solver = solver, .rtol = rtol, .atol = 1e-4 * rtol, .max_steps = 1000});
  };
  for (const ode::Solver solver : {ode::Kvaerno3, ode::Kvaerno5}) {
    const auto found = solve(start, solver, 1e-6);
    EXPECT_EQ(found.status.item<int>(), ode::success);
    EXPECT_LT(found.steps.item<int>(), 500);
    expect_values(found.y, {0.10730042853793129, 4.800166972578032e-07, 0.8926990914453701}, 2e-6);
    expect_close(rc::compile([&](const Tensor& y0) { return solve(y0, solver, 1e-6).y; })(start), found.y, 1e-9);
  }
  EXPECT_EQ(solve(start, ode::Tsit5, 1e-6).status.item<int>(), ode::max_steps_reached);
}

TEST(Ode, ImplicitSolversTakeRealStates) {
  const Tensor y = rc::ones({2}, rc::complex64);
  expect_error<rc::TypeError>(
      [&] { ode::ode_solve(wave, y, 0, 1, {.solver = ode::Kvaerno3}); },
      "ode_solve: the state is c64[2]; an implicit solver takes real ones: make it one, for example with view_as_real",
      {y});
}

TEST(Ode, StatesAreTrees) {
  struct Mixed {
    Tensor position, spin, label, missing;
    double rate = 2;
  };
  const Mixed start{rc::ones({2, 2}, rc::float64),
                    rc::tensor(std::complex<double>(1, 0), rc::complex128),
                    rc::full({}, 7, rc::int64),
                    {}};
  const auto f = [](const Tensor&, const Mixed& m) {
    Mixed slope = m;
    slope.position = -m.rate * m.position;
    slope.spin = std::complex<double>(0, 1) * m.spin;
    return slope;
  };
  const auto found = ode::ode_solve(f, start, 0, 1, {.rtol = 1e-9, .atol = 1e-9, .save_at = rc::tensor({0.5, 1.})});
  expect_values(found.y.position.view({-1}), std::vector<double>(4, std::exp(-2)), 1e-8);
  expect_numbers(found.y.spin, {std::polar(1., 1.)}, 1e-8);
  EXPECT_EQ(found.y.label.item<int>(), 7);
  EXPECT_FALSE(found.y.missing.defined());
  EXPECT_EQ(found.y.position.dtype(), rc::float64);
  EXPECT_EQ(found.ys.position.shape(), (rc::Shape{2, 2, 2}));
  expect_close(found.ys.position[1], found.y.position, 1e-12);
}

TEST(Ode, SlopesMayBeIntegers) {
  const auto fall = [](const Tensor& slope) {
    return [slope](const Tensor&, const Ball& b) { return Ball{b.speed, slope}; };
  };
  for (const Tensor& ten : {rc::tensor(-10), rc::full({}, -10, rc::int32)}) {
    const auto found = ode::ode_solve(fall(ten), Ball{f64(100), f64(0)}, 0, 1);
    expect_close(found.y.height, f64(95), 1e-12);
    expect_close(found.y.speed, f64(-10), 1e-12);
    const auto down = [&](const Tensor&, const Ball& b, const Tensor&) { return Ball{b.speed, ten}; };
    expect_close(ode::backsolve(down, Ball{f64(100), f64(0)}, 0, 1, f64(0)).y.height, f64(95), 1e-12);
  }
  const auto alone = [](const Tensor&, const Tensor&) { return rc::tensor(-10); };
  expect_close(ode::ode_solve(alone, f64(1), 0, 1).y, f64(-9), 1e-12);
  const auto truth = [](const Tensor&, const Ball& b) { return Ball{b.height > 0, b.speed}; };
  expect_close(ode::ode_solve(truth, Ball{f64(1), f64(0)}, 0, 1).y.height, f64(2), 1e-12);
  // What an integer of the state gets for a slope does not count.
  struct Counted {
    Tensor x, count;
  };
  const auto counts = [](const Tensor&, const Counted& c) { return Counted{-c.x, f64(3)}; };
  const auto found = ode::ode_solve(counts, Counted{f64(1), rc::tensor(7)}, 0, 1);
  expect_close(found.y.x, f64(std::exp(-1)), 1e-3);
  EXPECT_EQ(found.y.count.item<int>(), 7);
}

TEST(Ode, AStartIsANumberOrFloating) {
  const auto decays = [](const Tensor&, const Tensor& y) { return -y; };
  const auto decays_by = [](const Tensor&, const Tensor& y, const Tensor& a) { return -a * y; };
  expect_close(ode::ode_solve(decays, 1, 0, 2).y, f64(std::exp(-2)), 1e-3);
  expect_close(ode::backsolve(decays_by, 1, 0, 2, f64(1)).y, f64(std::exp(-2)), 1e-3);
  expect_close(
      ode::sde_solve(decays, [](const Tensor&, const Tensor& y) { return 0 * y; }, 1, 0, 2, rc::Key(0), {.dt = 1e-3}).y,
      f64(std::exp(-2)), 1e-2);
  const Tensor one = rc::tensor(1);
  const std::string remedy =
      ": the start i64[] has no unknowns, which are Tensors of a floating dtype; convert what is "
      "to be found to one";
  expect_error<rc::TypeError>([&] { ode::ode_solve(decays, one, 0, 2); }, "ode_solve" + remedy, {one});
  expect_error<rc::TypeError>([&] { ode::backsolve(decays_by, one, 0, 2, f64(1)); }, "backsolve" + remedy, {one});
  expect_error<rc::TypeError>([&] { ode::sde_solve(decays, decays, one, 0, 2, rc::Key(0), {.dt = 0.1}); },
                              "sde_solve" + remedy, {one});
}

TEST(Ode, BacksolveNamesItselfWhereForwardModeIsAskedFor) {
  const auto decays = [](const Tensor&, const Tensor& y, const Tensor& a) { return -a * y; };
  const auto end = [&](const Tensor& a) { return ode::backsolve(decays, 1, 0, 1, a).y; };
  expect_error<rc::NotImplementedError>([&] { rc::jvp(end, f64(1), f64(1)); },
                                        "backsolve: a derivative by forward mode was asked for, but it has a reverse "
                                        "rule alone; take ode_solve, whose steps have both modes\n  inside jvp{at}");
}

TEST(Ode, HalfPrecisionMeetsTolerances) {
  const auto grows = [](const Tensor&, const Tensor& y) { return 0.1 * y; };
  const auto found = ode::ode_solve(grows, rc::ones({2}, rc::float16), 0, 1);
  EXPECT_EQ(found.status.item<int>(), ode::success);
  expect_values(found.y, {std::exp(0.1), std::exp(0.1)}, 2e-3);
}

TEST(Ode, AnElementThatStaysZeroMeetsATolerance) {
  const auto grows = [](const Tensor&, const Tensor& y) { return 0.1 * y; };
  const auto found = ode::ode_solve(grows, rc::tensor({0., 1.}, rc::float64), 0, 1, {.rtol = 1e-6, .atol = 0});
  EXPECT_EQ(found.status.item<int>(), ode::success);
  expect_values(found.y, {0, std::exp(0.1)}, 1e-6);
}

TEST(Ode, TakesTreesWithoutElements) {
  const auto same = [](const Tensor&, const std::vector<Tensor>& y) { return y; };
  for_each_way([&](const ode::Options& options) {
    const auto none = ode::ode_solve(same, std::vector<Tensor>{}, 0, 1, options);
    EXPECT_TRUE(none.y.empty());
    EXPECT_EQ(none.status.item<int>(), ode::success);
    const auto empty = ode::ode_solve(same, std::vector<Tensor>{rc::zeros({0, 3})}, 0, 1, options);
    EXPECT_EQ(empty.y[0].shape(), (rc::Shape{0, 3}));
  });
}

TEST(Ode, KeepsDtypes) {
  for (const rc::DType dtype : {rc::float32, rc::float64, rc::complex64, rc::complex128}) {
    for (const rc::Shape& shape : {rc::Shape{}, rc::Shape{2}}) {
      const auto f = [&](const Tensor& t, const Tensor& y) {
        EXPECT_EQ(t.dtype(), rc::real_dtype(dtype));
        return -y * t;
      };
      const auto found = ode::ode_solve(f, rc::ones(shape, dtype), 0, 1, {.save_at = rc::tensor({0.5})});
      EXPECT_EQ(found.y.dtype(), dtype);
      EXPECT_EQ(found.ys.dtype(), dtype);
      expect_close(found.y.to(rc::complex128), rc::full(shape, std::exp(-0.5), rc::complex128), 1e-3);
    }
  }
}

TEST(Ode, TimesThatWereNotReachedAreNaN) {
  const Tensor times = rc::tensor({-0.1, 0., 0.1, 0.3, 0.2, 1., 1.1});
  const auto found = ode::ode_solve(wave, f64(1), 0, 1, {.solver = ode::RK4, .dt = 0.05, .save_at = times});
  expect_values(isnan(found.ys), {1, 0, 0, 0, 1, 0, 1});
  // 0.1 in float32 is behind 0.1.
  expect_values(isnan(ode::ode_solve(wave, f64(1), 0.1, 0, {.save_at = rc::tensor({0.1F, 0.F})}).ys), {0, 0});
  expect_values(isnan(ode::ode_solve(wave, f64(1), 0, 0.1, {.save_at = rc::tensor({0.F, 0.1F})}).ys), {0, 0});
  const auto never = [](const Tensor&, const Tensor& y) { return y + 9; };
  expect_values(isnan(ode::ode_solve(wave, f64(1), 0, 0.1, {.save_at = rc::tensor({0.F, 0.1F})}, {{never}}).ys),
                {0, 0});
}

TEST(Ode, TimesToSaveMayBeIntegers) {
  const ode::Options options{.rtol = 1e-8, .atol = 1e-8, .save_at = rc::arange(3)};
  const auto found = ode::ode_solve([](const Tensor&, const Tensor& y) { return -y; }, 1.0, -0.5, 2.5, options);
  expect_values(found.ys, {std::exp(-0.5), std::exp(-1.5), std::exp(-2.5)}, 1e-6);
}

TEST(Ode, StepsAreNoLongerThanTold) {
  const auto still = [](const Tensor&, const Tensor& y) { return 0 * y; };
  EXPECT_EQ(ode::ode_solve(still, f64(1), 0, 1, {.first_step = 1, .max_step = 0.25}).steps.item<int>(), 4);
  EXPECT_EQ(ode::ode_solve(still, f64(1), 0, 1, {.first_step = 1}).steps.item<int>(), 1);
}

TEST(Ode, EndsAtAnEvent) {
  for_each_way([&](const ode::Options& options) {
    if (is_of_first_order(options.solver)) return;  // their error is that of the fall
    const auto found = ode::ode_solve(falls, Ball{f64(5), f64(0)}, 0, 3, options, {{height_of}});
    EXPECT_NEAR(found.t.item<double>(), 1, 2e-5);
    EXPECT_NEAR(found.y.height.item<double>(), 0, 1e-12);
    EXPECT_NEAR(found.y.speed.item<double>(), -10, 2e-4);
    EXPECT_EQ(found.event.item<int>(), 0);
    EXPECT_EQ(found.status.item<int>(), ode::success);
  });
}

TEST(Ode, TheFirstEventEndsIt) {
  using Crossing = ode::Crossing;
  // Thrown at 10, at its highest after 1, down after 2.
  const auto end = [](const std::vector<ode::Event<Ball>>& events, const ode::Options& options = {}) {
    const auto found = ode::ode_solve(falls, Ball{f64(0), f64(10)}, 0, 3, options, events);
    return std::pair{found.event.item<int>(), found.t.item<double>()};
  };
  const auto expect_end = [](const std::pair<int, double>& found, int event, double t) {
    EXPECT_EQ(found.first, event);
    EXPECT_NEAR(found.second, t, 1e-6);
  };
  expect_end(end({{height_of}, {speed_of}}), 1, 1);
  expect_end(end({{speed_of}, {height_of}}), 0, 1);
  expect_end(end({{height_of}}), 0, 2);  // 0 at the start is no change of sign
  expect_end(end({{speed_of, Crossing::rising}}), -1, 3);
  expect_end(end({{speed_of, Crossing::falling}}), 0, 1);
  // In one step both happen.
  expect_end(end({{height_of}, {speed_of}}, {.solver = ode::RK4, .dt = 3}), 1, 1);
}

TEST(Ode, WhatIsSavedBehindAnEventIsNaN) {
  const Tensor times = rc::tensor({0., 0.5, 0.99, 1.01, 2.});
  const auto found =
      ode::ode_solve(falls, Ball{f64(5), f64(0)}, 0, 3, {.save_at = times}, {{height_of, ode::Crossing::falling}});
  expect_values(isnan(found.ys.height), {0, 0, 0, 1, 1});
}

TEST(Ode, AnEventHasDerivatives) {
  const ode::Options options{.rtol = 1e-8, .atol = 1e-8};
  // t = √(h / 5), at a speed of -10 t.
  const auto fall = [&](const Tensor& h) {
    const auto found = ode::ode_solve(falls, Ball{h, f64(0)}, 0, 9, options, {{height_of}});
    return rc::stack({found.t, found.y.speed, found.y.height});
  };
  const auto time = [&](const Tensor& h) { return fall(h)[0]; };
  const Tensor expected = rc::tensor({0.1, -1., 0.}, rc::float64);
  expect_close(rc::jacrev(fall)(f64(5)), expected, 1e-8);
  expect_close(rc::jacfwd(fall)(f64(5)), expected, 1e-8);
  expect_close(rc::grad(rc::grad(time))(f64(5)), f64(-0.01), 1e-8);
  const Tensor heights = rc::tensor({5., 20., 1000.}, rc::float64);  // the last does not end within 9
  const Tensor slopes = rc::tensor({0.1, 0.05, 0.}, rc::float64);
  expect_close(rc::vmap(rc::grad(time))(heights), slopes, 1e-8);
  expect_close(rc::compile([&](const Tensor& h) { return rc::vmap(rc::grad(time))(h); })(heights), slopes, 1e-8);
  expect_close(rc::compile([&](const Tensor& h) { return rc::vmap(fall)(h); })(heights), rc::vmap(fall)(heights),
               1e-10);
}

int status_of(const auto& f, const Tensor& y0, const ode::Options& options = {}) {
  return ode::ode_solve(f, y0, 0, 2, options).status.template item<int>();
}

const auto explodes = [](const Tensor&, const Tensor& y) { return y * y; };          // at time 1, from 1
const auto ends = [](const Tensor& t, const Tensor& y) { return y * sqrt(1 - t); };  // NaN behind 1

TEST(Ode, ItsStatusSaysHowItEnded) {
  EXPECT_EQ(status_of(wave, f64(1)), ode::success);
  EXPECT_EQ(status_of(wave, f64(1), {.max_steps = 2}), ode::max_steps_reached);
  EXPECT_EQ(status_of(wave, f64(1), {.solver = ode::RK4, .dt = 0.5, .max_steps = 3}), ode::max_steps_reached);
  EXPECT_EQ(status_of(explodes, f64(1)), ode::step_too_small);
  EXPECT_EQ(status_of(ends, f64(1)), ode::not_finite);
  EXPECT_EQ(status_of(ends, f64(1), {.solver = ode::RK4, .dt = 0.5}), ode::not_finite);
  EXPECT_EQ(status_of(wave, f64(std::nan(""))), ode::not_finite);
  EXPECT_EQ(status_of(wave, f64(std::numeric_limits<double>::infinity())), ode::not_finite);

  const auto stopped = ode::ode_solve(ends, f64(1), 0, 2, {.save_at = rc::tensor({0.5, 1.5})});
  EXPECT_NEAR(stopped.t.item<double>(), 1, 1e-4);
  expect_values(isnan(stopped.ys), {0, 1});
}

TEST(Ode, AStatusHasAName) {
  EXPECT_EQ(ode::text_of(ode::step_too_small), "step_too_small");
  expect_error<rc::ValueError>([] { ode::text_of(4); }, "text_of: 4 is no status; pass the status of a solution");
}

TEST(Ode, TheStatusOfEachExampleIsItsOwn) {
  const auto status = [](const Tensor& y0) { return ode::ode_solve(explodes, y0, 0, 2).status; };
  const Tensor starts = rc::tensor({1., 0.1, std::nan("")}, rc::float64);
  const std::vector<double> expected{ode::step_too_small, ode::success, ode::not_finite};
  expect_values(rc::vmap(status)(starts), expected);
  expect_values(rc::compile([&](const Tensor& x) { return rc::vmap(status)(x); })(starts), expected);
}

TEST(Ode, WithoutAWayToT1TheStatusSaysSo) {
  const double nan = std::nan("");
  const auto status = [](const ode::Number& t0, const ode::Number& t1, const ode::Number& dt) {
    return ode::ode_solve(wave, f64(1), t0, t1, {.solver = ode::Heun, .dt = dt}).status.item<int>();
  };
  for (const ode::Number& dt : {ode::Number(), ode::Number(0.1), ode::Number(f64(0.1))}) {
    EXPECT_EQ(status(0, nan, dt), ode::not_finite);
    EXPECT_EQ(status(0, f64(nan), dt), ode::not_finite);
    EXPECT_EQ(status(nan, 1, dt), ode::not_finite);
    EXPECT_EQ(status(0, 1, dt), ode::success);
  }
  for (const double dt : {-0.1, 0., nan}) EXPECT_EQ(status(0, 1, f64(dt)), ode::not_finite);
  const auto still = [](const Tensor&, const Tensor& y) { return 0 * y; };
  EXPECT_EQ(ode::sde_solve(still, still, f64(1), 0, 1, rc::Key(0), {.dt = f64(-0.1)}).status.item<int>(),
            ode::not_finite);
}

TEST(Ode, AStepThatIsFarTooLongIsStillOne) {
  for (const ode::Number& dt : {ode::Number(1e12), ode::Number(f64(1e12))}) {
    const auto found = ode::ode_solve(wave, f64(1), 0, 1, {.solver = ode::Euler, .dt = dt});
    EXPECT_EQ(found.steps.item<int>(), 1);
    EXPECT_EQ(found.y.item<double>(), 2);
  }
}

TEST(Ode, ThrowsOnFailureWhereAsked) {
  const auto by = [](const auto& f, const ode::Options& options) {
    return [=](const Tensor& y0) { return ode::ode_solve(f, y0, 0, 2, options).y; };
  };
  EXPECT_GT(by(wave, {.throw_on_failure = true})(f64(1)).item<double>(), 0);
  const Tensor one = f64(1);
  expect_error<rc::ValueError>(
      [&] { by(wave, {.max_steps = 2, .throw_on_failure = true})(one); },
      "check_finite: ode_solve took max_steps steps and did not reach t1; y, which is nan at [0]", {one});
  expect_error<rc::ValueError>(
      [&] { by(explodes, {.throw_on_failure = true})(one); },
      "check_finite: ode_solve: steps became too small to meet the tolerance; y, which is nan at [0]", {one});
  const auto fast = rc::compile(by(ends, {.throw_on_failure = true}));
  expect_error<rc::ValueError>([&] { fast(one); },
                               "check_finite: ode_solve: the state, or what f gave for it, is nan at [0]", {one});
}

TEST(Ode, ErrorsSayWhatToDo) {
  const Tensor y = rc::ones({2});
  expect_error<rc::ValueError>([&] { ode::ode_solve(wave, y, 0, 1, {.solver = ode::RK4}); },
                               "ode_solve: RK4 has no estimate of its error; give the size of its steps, .dt = 0.01",
                               {y});
  expect_error<rc::ValueError>([&] { ode::ode_solve(wave, y, 0, 1, {.dt = -0.1}); },
                               "ode_solve: dt is -0.100000; it must be positive, also back in time", {y});
  const Tensor one = f64(1);
  expect_error<rc::ValueError>([&] { ode::ode_solve(wave, y, 0, one, {.dt = std::nan("")}); },
                               "ode_solve: dt is nan; it must be positive, also back in time", {y, one});
  expect_error<rc::ValueError>([&] { ode::ode_solve(wave, y, 0, 1, {.first_step = -0.1}); },
                               "ode_solve: first_step is -0.100000; it must be positive, also back in time", {y});
  expect_error<rc::ValueError>([&] { ode::ode_solve(wave, y, 0, 1, {.max_step = 0}); },
                               "ode_solve: max_step is 0.000000; it must be positive, also back in time", {y});
  expect_error<rc::ValueError>(
      [&] { ode::ode_solve([](const Tensor&, const Tensor& x) { return x.sum(); }, y, 0, 1); },
      "ode_solve: the tree is f32[2] in the state, f32[] in what f gives; the shapes must agree", {y});
  expect_error<rc::TypeError>(
      [&] { ode::ode_solve([](const Tensor&, const Tensor& x) { return x.to(rc::float64); }, y, 0, 1); },
      "ode_solve: the tree is f32[2] in the state, f64[2] in what f gives; convert the state to that dtype, or what f "
      "computes with to the state's",
      {y});
  const auto longer = [](const Tensor&, std::vector<Tensor> x) {
    x.push_back(x[0]);
    return x;
  };
  expect_error<rc::ValueError>(
      [&] { ode::ode_solve(longer, std::vector<Tensor>{y}, 0, 1); },
      "ode_solve: the state is [f32[2]], f gives [f32[2], f32[2]]; f must give a tree like the state, its derivative "
      "by time",
      {y});
  expect_error<rc::ValueError>([&] { ode::ode_solve(wave, y, 0, 1, {.save_at = rc::ones({2, 2})}); },
                               "ode_solve: save_at is f32[2,2]; give a vector of times", {y});
  expect_error<rc::ValueError>(
      [&] { ode::ode_solve(wave, y, 0, 1, {}, {{[](const Tensor&, const Tensor& x) { return x; }}}); },
      "ode_solve: a condition of an event gives f32[2]; it must give one real number, which changes its sign at the "
      "event",
      {y});
  expect_error<rc::ValueError>([&] { ode::ode_solve(wave, y, rc::zeros({2}), 1); },
                               "ode_solve: t0 is f32[2]; a time is one number", {y});
}

}  // namespace
