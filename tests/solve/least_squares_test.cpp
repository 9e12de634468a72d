// Least squares, their derivatives and their statuses, by every method and under every transform.
#include <gtest/gtest.h>
#include <ricci/ricci.h>
#include <ricci/solve.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "support/difference_quotient.h"
#include "support/expect_error.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
namespace solvers = ricci::solvers;
using rc::Tensor;
using namespace testing_support;

namespace {

const std::map<std::string, solvers::LeastSquaresSolver>& methods() {
  static const std::map<std::string, solvers::LeastSquaresSolver> all{
      {"gauss_newton", solvers::gauss_newton()},
      {"levenberg_marquardt", solvers::levenberg_marquardt()},
      {"dogleg", solvers::dogleg()}};
  return all;
}
bool knows_bounds(const std::string& name) { return name != "gauss_newton"; }

/// Rosenbrock's function, as residuals: SciPy's example of `least_squares`.
Tensor rosenbrock(const Tensor& x) { return rc::stack({10 * (x[1] - x[0] * x[0]), 1 - x[0]}, 0); }

/// NIST's data set Misra1a, with the model b1 (1 - exp(-b2 x)).
struct Misra {
  Tensor b1, b2;
};
Tensor misra_x() {
  return doubles({77.6, 114.9, 141.1, 190.8, 239.9, 289, 332.8, 378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760});
}
Tensor misra_y() {
  return doubles({10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02, 44.82, 50.76, 55.05, 61.01, 66.4, 75.47, 81.78});
}
Tensor misra(const Misra& b) { return b.b1 * (1 - exp(-b.b2 * misra_x())) - misra_y(); }

TEST(LeastSquares, FindsTheExamplesOfScipy) {
  for (const auto& [name, solver] : methods()) {
    SCOPED_TRACE(name);
    for (const Values& start : {Values{2, 2}, Values{-1.2, 1}}) {
      const auto found = solvers::least_squares(rosenbrock, doubles(start), {.solver = solver});
      expect_values(found.status, {solvers::converged});
      expect_values(found.value, {1, 1}, 1e-8);
      EXPECT_LT(found.residual.item<double>(), 1e-8);
    }
    if (!knows_bounds(name)) continue;
    const Tensor lower = doubles({-std::numeric_limits<double>::infinity(), 1.5});
    const auto bounded = solvers::least_squares(rosenbrock, doubles({2, 2}), {.solver = solver, .lower = lower});
    expect_values(bounded.status, {solvers::converged});
    expect_values(bounded.value, {1.22437075, 1.5}, 1e-8);  // SciPy 1.17.1
    EXPECT_LT(bounded.residual.item<double>(), 1e-7);
    const auto mirrored = solvers::least_squares([](const Tensor& x) { return rosenbrock(-x); }, doubles({-2, -2}),
                                                 {.solver = solver, .upper = -lower});
    expect_values(mirrored.value, {-1.22437075, -1.5}, 1e-8);
    EXPECT_LE(mirrored.steps.item<int>(), bounded.steps.item<int>());
  }
}

TEST(LeastSquares, FindsWhatNistCertifies) {
  for (const auto& [name, solver] : methods()) {
    SCOPED_TRACE(name);
    for (const Misra& start : {Misra{number(500), number(1e-4)}, Misra{number(250), number(5e-4)}}) {
      const auto found = solvers::least_squares(misra, start, {.solver = solver});
      expect_values(found.value.b1, {2.3894212918e2}, 2e-8);
      expect_values(found.value.b2 * 1e4, {5.5015643181}, 2e-8);
    }
  }
}

TEST(LeastSquares, LossesAreThoseOfScipy) {
  // SciPy 1.17.1: least_squares(…, loss=…, f_scale=0.1, x_scale="jac"), tolerances of 1e-15.
  struct Case {
    const char* name;
    solvers::Loss loss;
    double b1, b2;
  };
  const Case cases[] = {{"huber", solvers::huber(0.1), 2.38365169e+02, 5.51699569e-04},
                        {"soft_l1", solvers::soft_l1(0.1), 2.38363676e+02, 5.51749018e-04},
                        {"cauchy", solvers::cauchy(0.1), 2.31106682e+02, 5.71161809e-04},
                        {"arctan", solvers::arctan(0.1), 2.27735556e+02, 5.80615797e-04}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    for (const auto& [name, solver] : methods()) {
      SCOPED_TRACE(name);
      const Misra start{number(250), number(5e-4)};
      const auto found = solvers::least_squares(misra, start, {.solver = solver, .loss = c.loss});
      expect_values(found.value.b1, {c.b1}, 1e-6);
      expect_values(found.value.b2 * 1e4, {c.b2 * 1e4}, 1e-6);
    }
  }
}

/// Three residuals of two unknowns, none of which can be 0.
Tensor by(const Tensor& c, const solvers::LeastSquaresOptions& options) {
  const auto f = [c](const Tensor& x) { return rc::stack({10 * (x[1] - x[0] * x[0]), c - x[0], 0.1 * x[1] * c}, 0); };
  return solvers::least_squares(f, doubles({2, 2}), options).value;
}

TEST(LeastSquares, HasImplicitDerivativesThatBoundsAndLossesTakePartIn) {
  for (const auto& [name, solver] : methods()) {
    SCOPED_TRACE(name);
    const auto plain = [&solver = solver](const Tensor& c) {
      return by(c, {.solver = solver, .rtol = 1e-11, .atol = 1e-11});
    };
    const auto robust = [&solver = solver](const Tensor& c) {
      return by(c, {.solver = solver, .loss = solvers::soft_l1(0.3), .rtol = 1e-11, .atol = 1e-11});
    };
    const auto bounded = [&solver = solver](const Tensor& c) {
      const Tensor lower = rc::stack({c - 3, 1.5 * c}, 0);
      return by(c, {.solver = solver, .lower = lower, .rtol = 1e-11, .atol = 1e-11});
    };
    const Tensor at = number(1.1), many = doubles({0.7, 1.1});
    const auto check = [&](const auto& f) {
      const Tensor exact = difference_quotient(f, at);
      expect_close(rc::jacrev(f)(at), exact, 1e-5);
      expect_close(rc::jacfwd(f)(at), exact, 1e-5);
      expect_close(rc::jacfwd(rc::compile(f))(at), rc::jacfwd(f)(at), 1e-7);
      expect_close(rc::compile(rc::jacrev(f))(at), rc::jacrev(f)(at), 1e-7);
      const Tensor slopes = rc::vmap(rc::jacrev(f))(many);
      expect_close(slopes[0], rc::jacrev(f)(many[0]), 1e-7);
      expect_close(slopes[1], rc::jacrev(f)(many[1]), 1e-7);
    };
    check(plain);
    check(robust);
    if (knows_bounds(name)) check(bounded);
  }
}

TEST(LeastSquares, EachExampleTakesItsOwnSteps) {
  for (const auto& [name, solver] : methods()) {
    SCOPED_TRACE(name);
    const auto fit = [&solver = solver](const Tensor& start) {
      return solvers::least_squares(rosenbrock, start, {.solver = solver});
    };
    const Tensor starts = doubles({2, 2, -1.2, 1, 1, 1}, {3, 2});
    const auto mapped = rc::vmap(fit)(starts), compiled = rc::compile(rc::vmap(fit))(starts);
    for (std::int64_t i = 0; i < 3; ++i) {
      const auto alone = fit(starts[i]);
      expect_close(mapped.value[i], alone.value, 1e-9);
      expect_close(compiled.value[i], alone.value, 1e-9);
      expect_equal(mapped.steps[i], alone.steps);
    }
    expect_values(mapped.status, {0, 0, 0});
    expect_values(compiled.status, {0, 0, 0});
    EXPECT_EQ(mapped.steps[2].item<int>(), 0);
  }
}

TEST(LeastSquares, TakesFewerResidualsThanUnknownsWhereStepsAreDamped) {
  const auto line = [](const Tensor& x) { return x[0] + x[1] - 1; };
  const auto parallel = [](const Tensor& x) { return rc::stack({x[0] + x[1], x[0] + x[1] - 1}, 0); };
  for (const auto& [name, solver] : methods()) {
    SCOPED_TRACE(name);
    const auto one = solvers::least_squares(line, doubles({2, 2}), {.solver = solver});
    if (name == "gauss_newton") {
      expect_values(one.status, {solvers::singular});
      continue;
    }
    expect_values(one.status, {solvers::converged});
    expect_values(one.value.sum(), {1}, 1e-7);
    const auto two = solvers::least_squares(parallel, doubles({2, 2}), {.solver = solver});
    expect_values(two.status, {solvers::converged});
    expect_values(two.value.sum(), {0.5}, 1e-7);
  }
}

TEST(LeastSquares, SaysWhyItEnded) {
  for (const auto& [name, solver] : methods()) {
    SCOPED_TRACE(name);
    const auto found = solvers::least_squares([](const Tensor& x) { return log(x); }, number(-1), {.solver = solver});
    expect_values(found.status, {solvers::not_finite});
    expect_values(found.value, {-1});
    const auto few =
        solvers::least_squares(misra, Misra{number(500), number(1e-4)}, {.solver = solver, .max_steps = 2});
    expect_values(few.status, {solvers::max_steps_reached});
    expect_values(few.steps, {2});
    const auto none =
        solvers::least_squares([](const Tensor& x) { return x.slice(0, 0, 0); }, doubles({3, 4}), {.solver = solver});
    expect_values(none.value, {3, 4});
    expect_values(none.status, {solvers::converged});
    const auto idle =
        solvers::least_squares([](const Tensor& x) { return exp(x[0]) - 2; }, doubles({0, 5}), {.solver = solver});
    if (name == "levenberg_marquardt") {  // an unknown without influence stays
      expect_values(idle.value, {std::log(2), 5}, 1e-8);
      expect_values(idle.status, {solvers::converged});
    }
    const auto empty = solvers::least_squares([](const Tensor& x) { return x; }, doubles({}), {.solver = solver});
    expect_values(empty.status, {solvers::converged});
  }
  expect_error<rc::ValueError>(
      [] { solvers::least_squares(misra, Misra{number(-1), number(-1)}, {.max_steps = 1, .throw_on_failure = true}); },
      "check_finite: the value of least_squares, which ended as not_finite, is nan");
}

TEST(LeastSquares, StepsThatOnlyShrinkAreNoConvergence) {
  const auto wall = [](const Tensor& x) { return where(x > 1.0, std::nan(""), x - 2.0); };
  const auto wrong = [](const Tensor& x) { return 2 * x.detach() - x; };  // its derivative is -1
  for (const auto& [name, solver] : methods()) {
    if (!knows_bounds(name)) continue;
    SCOPED_TRACE(name);
    const auto held = solvers::least_squares(wall, 0.0, {.solver = solver});
    expect_values(held.status, {solvers::stalled});
    expect_values(held.value, {1}, 1e-6);
    expect_values(solvers::least_squares(wrong, 3.0, {.solver = solver}).status, {solvers::stalled});
    // What is a solution already has converged, though no step makes it better.
    const Tensor solution = solvers::least_squares(rosenbrock, doubles({2, 2}), {.solver = solver}).value;
    expect_values(solvers::least_squares(rosenbrock, solution, {.solver = solver}).status, {solvers::converged});
    const Misra fit = solvers::least_squares(misra, Misra{number(250), number(5e-4)}, {.solver = solver}).value;
    const auto again = solvers::least_squares(misra, fit, {.solver = solver});
    expect_values(again.status, {solvers::converged});
    EXPECT_LE(again.steps.item<int>(), 3);
  }
}

TEST(LeastSquares, StallsWhereBoundsCross) {
  const auto found = rc::vmap([](const Tensor& lower) {
    return solvers::least_squares([](const Tensor& x) { return x - 3; }, 0.0, {.lower = lower, .upper = 1});
  })(doubles({0, 1, 2}));
  expect_values(found.status, {solvers::converged, solvers::converged, solvers::stalled});
}

TEST(LeastSquares, OneFailureLeavesOtherExamplesAlone) {
  for (const auto& [name, solver] : methods()) {
    SCOPED_TRACE(name);
    const auto fit = [&solver = solver](const Tensor& y) {
      return solvers::least_squares([y](const Tensor& x) { return exp(x) - y; }, 0.0, {.solver = solver});
    };
    const Tensor many = doubles({2, std::nan(""), 3});
    for (const auto& found : {rc::vmap(fit)(many), rc::compile(rc::vmap(fit))(many)}) {
      expect_values(found.status, {solvers::converged, solvers::not_finite, solvers::converged});
      expect_values(found.value[0], {std::log(2)}, 1e-8);
      expect_values(found.value[2], {std::log(3)}, 1e-8);
    }
  }
}

TEST(LeastSquares, AFailureThatIsNotUsedLeavesSharedDerivativesAlone) {
  const auto total = [](const Tensor& p) {  // √(2 p); the residual of the other example does not depend on x
    const auto found = rc::vmap([p](const Tensor& a) {
      const auto residual = [&](const Tensor& x) { return (x * x - a * p) * (a > 0) + (x * 0 + p) * (a < 0); };
      return solvers::least_squares(residual, 0.5, {.solver = solvers::gauss_newton()});
    })(doubles({2, -1}));
    return where(found.status == solvers::converged, found.value, 0).sum();
  };
  const double first = 1 / std::sqrt(2), second = -first / 2;
  expect_values(rc::grad(total)(number(1)), {first}, 1e-9);
  expect_values(rc::grad(rc::grad(total))(number(1)), {second}, 1e-9);
  expect_values(rc::jacfwd(rc::grad(total))(number(1)), {second}, 1e-9);
  expect_values(rc::compile(rc::hessian(total))(number(1)), {second}, 1e-9);
}

TEST(LeastSquares, RefusesBoundsThatDoNotFit) {
  const Tensor x = doubles({2, 2});
  expect_error<rc::ValueError>(
      [&] { solvers::least_squares(rosenbrock, x, {.lower = doubles({1, 2, 3})}); },
      "least_squares: .lower is f64[3] and there are 2 unknowns; give one number, or one for each", {x});
  expect_error<rc::ValueError>(
      [&] { solvers::least_squares(rosenbrock, x, {.solver = solvers::gauss_newton(), .upper = 3}); },
      "least_squares: gauss_newton knows no bounds; take levenberg_marquardt or dogleg", {x});
}

}  // namespace
