// Minima, their derivatives and their statuses, by every method and under every transform.
#include <gtest/gtest.h>
#include <ricci/ricci.h>
#include <ricci/solve.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "support/difference_quotient.h"
#include "support/expect_error.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
namespace solvers = ricci::solvers;
using rc::Tensor;
using namespace testing_support;

namespace {

const std::map<std::string, solvers::Minimiser>& minimisers() {
  static const std::map<std::string, solvers::Minimiser> all{{"bfgs", solvers::bfgs()},
                                                             {"lbfgs", solvers::lbfgs(5)},
                                                             {"nonlinear_cg", solvers::nonlinear_cg()},
                                                             {"trust_region", solvers::trust_region()},
                                                             {"nelder_mead", solvers::nelder_mead()}};
  return all;
}

Tensor rosenbrock(const Tensor& x) {
  const Tensor next = x.slice(0, 1, std::nullopt), here = x.slice(0, 0, -1);
  return (100 * square(next - here * here) + square(1 - here)).sum();
}
Tensor beale(const Tensor& x) {
  const Tensor a = x[0], b = x[1];
  return square(1.5 - a + a * b) + square(2.25 - a + a * b * b) + square(2.625 - a + a * b * b * b);
}

TEST(Minimise, FindsKnownMinima) {
  // Starts of SciPy's tutorial and of Moré, Garbow and Hillstrom, 1981.
  for (const auto& [name, solver] : minimisers()) {
    SCOPED_TRACE(name);
    const solvers::Options<solvers::Minimiser> options{
        .solver = solver, .rtol = 1e-10, .atol = 1e-10, .max_steps = 2000};
    for (const Values& start : {Values{1.3, 0.7, 0.8, 1.9, 1.2}, Values{-1.2, 1}}) {
      const auto found = solvers::minimise(rosenbrock, doubles(start), options);
      expect_values(found.status, {solvers::converged});
      expect_values(found.value, Values(start.size(), 1), 1e-6);
      EXPECT_LT(found.residual.item<double>(), 1e-5);
    }
    const auto found = solvers::minimise(beale, doubles({1, 1}), options);
    expect_values(found.status, {solvers::converged});
    expect_values(found.value, {3, 0.5}, 1e-6);
  }
}

/// The minimum depends on c in both elements.
struct Point {
  Tensor x;
  std::vector<Tensor> y;
};
Tensor by(const Tensor& c, const solvers::Minimiser& solver) {
  const auto f = [c](const Point& p) { return square(c - p.x) + 10 * square(p.y[0] - p.x * p.x) + square(p.y[0]); };
  const Point found = solvers::minimise(f, Point{number(1), {number(1)}},
                                        {.solver = solver, .rtol = 1e-11, .atol = 1e-11, .max_steps = 500})
                          .value;
  return rc::stack({found.x, found.y[0]}, 0);
}

TEST(Minimise, HasImplicitDerivatives) {
  for (const auto& [name, solver] : minimisers()) {
    SCOPED_TRACE(name);
    const auto f = [&solver = solver](const Tensor& c) { return by(c, solver); };
    const auto precise = [](const Tensor& c) { return by(c, solvers::trust_region()); };
    const Tensor at = number(1.1), exact = difference_quotient(precise, at), many = doubles({0.7, 1.1});
    expect_close(rc::jacrev(f)(at), exact, 1e-5);
    expect_close(rc::jacfwd(f)(at), exact, 1e-5);
    expect_close(rc::jacfwd(rc::compile(f))(at), exact, 1e-5);
    expect_close(rc::compile(rc::jacrev(f))(at), exact, 1e-5);
    const Tensor slopes = rc::vmap(rc::jacrev(f))(many);
    expect_close(slopes[0], rc::jacrev(f)(many[0]), 1e-6);
    expect_close(slopes[1], rc::jacrev(f)(many[1]), 1e-6);
    const auto slope = [&](const Tensor& c) { return rc::jacrev(f)(c); };
    expect_close(rc::jacfwd(slope)(at),
                 difference_quotient([&](const Tensor& c) { return rc::jacrev(precise)(c); }, at), 1e-4);
  }
}

TEST(Minimise, EachExampleTakesItsOwnSteps) {
  for (const auto& [name, solver] : minimisers()) {
    SCOPED_TRACE(name);
    const auto least = [&solver = solver](const Tensor& start) {
      return solvers::minimise(rosenbrock, start, {.solver = solver, .max_steps = 500});
    };
    const Tensor starts = doubles({2, 2, -1.2, 1, 1, 1}, {3, 2});
    const auto mapped = rc::vmap(least)(starts), compiled = rc::compile(rc::vmap(least))(starts);
    for (std::int64_t i = 0; i < 3; ++i) {
      const auto alone = least(starts[i]);
      expect_close(mapped.value[i], alone.value, 1e-4);  // paths part by rounding
      expect_close(compiled.value[i], alone.value, 1e-4);
      EXPECT_NEAR(mapped.steps[i].item<double>(), alone.steps.item<double>(), 2);
    }
    EXPECT_NE(mapped.steps[0].item<int>(), mapped.steps[1].item<int>());
    expect_values(mapped.status, {0, 0, 0});
    expect_values(compiled.status, {0, 0, 0});
    if (name != "nelder_mead") { EXPECT_EQ(mapped.steps[2].item<int>(), 0); }
  }
}

TEST(Minimise, TakesFewSteps) {
  // SciPy 1.17.1 takes 25 with BFGS, 24 with L-BFGS-B and 47 with CG to a slope of 1e-5.
  const std::map<std::string, std::int64_t> most{
      {"bfgs", 40}, {"lbfgs", 40}, {"nonlinear_cg", 60}, {"trust_region", 30}};
  for (const auto& [name, steps] : most) {
    SCOPED_TRACE(name);
    const auto found =
        solvers::minimise(rosenbrock, doubles({1.3, 0.7, 0.8, 1.9, 1.2}), {.solver = minimisers().at(name)});
    expect_values(found.value, {1, 1, 1, 1, 1}, 1e-5);
    EXPECT_LE(found.steps.item<std::int64_t>(), steps);
  }
  const auto shortest =
      solvers::minimise(rosenbrock, doubles({1.3, 0.7, 0.8, 1.9, 1.2}), {.solver = solvers::lbfgs(1)});
  EXPECT_LE(shortest.steps.item<int>(), 53);
}

TEST(Minimise, LeavesASaddlePoint) {
  const auto f = [](const Tensor& x) { return square(x[0] * x[0] - 1) + x[1] * x[1]; };
  const auto found = solvers::minimise(f, doubles({1e-3, 0}), {.solver = solvers::trust_region()});
  expect_values(found.value, {1, 0}, 1e-8);
  EXPECT_LE(found.steps.item<int>(), 8);
}

TEST(Minimise, SaysWhyItEnded) {
  for (const auto& [name, solver] : minimisers()) {
    SCOPED_TRACE(name);
    const auto few = solvers::minimise(rosenbrock, doubles({-1.2, 1}), {.solver = solver, .max_steps = 3});
    expect_values(few.status, {solvers::max_steps_reached});
    expect_values(few.steps, {3});
    const auto none =
        solvers::minimise([](const Tensor& x) { return log(x).sum(); }, doubles({-1, 1}), {.solver = solver});
    expect_values(none.status, {solvers::not_finite});
    expect_values(none.value, {-1, 1});
    const auto endless = solvers::minimise([](const Tensor& x) { return x.sum(); }, doubles({1, 1}),
                                           {.solver = solver, .max_steps = 60});
    EXPECT_NE(endless.status.item<int>(), solvers::converged);
    const auto empty = solvers::minimise([](const Tensor& x) { return x.sum(); }, doubles({}), {.solver = solver});
    expect_values(empty.status, {solvers::converged});
  }
  expect_error<rc::ValueError>(
      [] { solvers::minimise(rosenbrock, doubles({2, 2}), {.max_steps = 1, .throw_on_failure = true}); },
      "check_finite: the value of minimise, which ended as max_steps_reached, is nan");
  // A function whose gradient is not its own.
  const auto wrong = [](const Tensor& x) { return 2 * square(x.detach()) - square(x); };
  expect_values(solvers::minimise(wrong, 1.0).status, {solvers::stalled});
}

TEST(Minimise, StepsThatOnlyShrinkAreNoConvergence) {
  const auto wall = [](const Tensor& x) { return square(where(x > 1.0, std::nan(""), x - 2.0)); };
  const auto wrong = [](const Tensor& x) { return 2 * square(x.detach()) - square(x); };
  for (const auto& f : {std::function<Tensor(const Tensor&)>(wall), std::function<Tensor(const Tensor&)>(wrong)}) {
    const auto found = solvers::minimise(f, 0.5, {.solver = solvers::trust_region()});
    EXPECT_NE(found.status.item<std::int64_t>(), solvers::converged);
  }
  for (const auto& [name, solver] : minimisers()) {  // a solution, though no step makes it better
    SCOPED_TRACE(name);
    const solvers::Options<solvers::Minimiser> options{.solver = solver, .max_steps = 500};
    const Tensor solution = solvers::minimise(rosenbrock, doubles({-1.2, 1}), options).value;
    expect_values(solvers::minimise(rosenbrock, solution, options).status, {solvers::converged});
  }
}

TEST(Minimise, ASimplexOfOneUnknownEndsInAMinimum) {
  const auto f = [](const Tensor& x) { return square(x - 1) + 0.5 * cos(60 * x); };
  for (const double start : {0.5, 1.5, 2.0, 3.0, 5.0}) {
    SCOPED_TRACE(start);
    const auto found = solvers::minimise(f, start, {.solver = solvers::nelder_mead(), .rtol = 1e-9, .atol = 1e-9});
    expect_values(found.status, {solvers::converged});
    EXPECT_LT(std::abs(rc::grad(f)(found.value).item<double>()), 1e-5);
  }
}

TEST(Minimise, OneFailureLeavesOtherExamplesAlone) {
  for (const auto& [name, solver] : minimisers()) {
    SCOPED_TRACE(name);
    const auto least = [&solver = solver](const Tensor& a) {
      return solvers::minimise([a](const Tensor& x) { return square(x - a); }, 0.5, {.solver = solver});
    };
    const Tensor many = doubles({2, std::nan(""), -3});
    for (const auto& found : {rc::vmap(least)(many), rc::compile(rc::vmap(least))(many)}) {
      expect_values(found.status, {solvers::converged, solvers::not_finite, solvers::converged});
      expect_values(found.value[0], {2}, 1e-7);
      expect_values(found.value[2], {-3}, 1e-7);
    }
  }
}

TEST(Minimise, RefusesWhatIsNoNumber) {
  const Tensor x = doubles({1, 2, 3});
  expect_error<rc::ValueError>([&] { solvers::minimise([](const Tensor& y) { return y; }, x); },
                               "minimise: the function gives f64[3]; it must give one number, for example a sum", {x});
  expect_error<rc::ValueError>([] { solvers::lbfgs(0); }, "lbfgs: the history is 0; it must be 1 at least");
}

}  // namespace
