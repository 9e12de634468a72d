// Fixed points, their derivatives and their statuses, by every method and under every transform.
#include <gtest/gtest.h>
#include <ricci/ricci.h>
#include <ricci/solve.h>

#include <cmath>
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

const std::map<std::string, solvers::FixedPointSolver>& methods() {
  static const std::map<std::string, solvers::FixedPointSolver> all{
      {"iteration", solvers::fixed_point_iteration()},
      {"anderson", solvers::anderson()},
      {"anderson damped", solvers::anderson({.history = 2, .mixing = 0.7})}};
  return all;
}

Tensor matrix() { return doubles({0.3, -0.2, 0.1, 0.2, 0.4, -0.3, 0.1, 0.2, -0.5}, {3, 3}); }
/// Of x = a tanh(m x) + 1.
solvers::Result<Tensor> by(const Tensor& a, const solvers::FixedPointSolver& solver) {
  return solvers::fixed_point([a](const Tensor& x) { return a * tanh(matmul(matrix(), x)) + 1; },
                              rc::zeros({3}, rc::float64), {.solver = solver, .rtol = 1e-12, .atol = 1e-12});
}

TEST(FixedPoint, IsThatOfTheFunctionWithImplicitDerivatives) {
  for (const auto& [name, solver] : methods()) {
    SCOPED_TRACE(name);
    const auto f = [&solver = solver](const Tensor& a) { return by(a, solver).value; };
    const Tensor at = number(0.9), x = f(at);
    expect_close(0.9 * tanh(matmul(matrix(), x)) + 1, x, 1e-11);
    const Tensor exact = difference_quotient(f, at);
    expect_close(rc::jacrev(f)(at), exact, 1e-8);
    expect_close(rc::jacfwd(f)(at), exact, 1e-8);
    expect_close(rc::compile(rc::jacrev(f))(at), exact, 1e-8);
    expect_close(rc::jacfwd(rc::compile(f))(at), exact, 1e-8);
    const Tensor many = doubles({0.2, 0.9});
    const auto mapped = rc::vmap([&solver = solver](const Tensor& a) { return by(a, solver); })(many);
    const auto compiled = rc::compile(rc::vmap([&solver = solver](const Tensor& a) { return by(a, solver); }))(many);
    expect_close(mapped.value[1], x, 1e-11);
    expect_equal(mapped.steps[1], by(at, solver).steps);
    expect_close(compiled.value, mapped.value, 1e-11);
    expect_close(rc::vmap(rc::jacrev(f))(many)[1], rc::jacrev(f)(at), 1e-9);
    expect_equal(mapped.steps[0], by(many[0], solver).steps);
  }
}

TEST(FixedPoint, AccelerationFindsWhatPlainStepsMiss) {
  const auto f = [](const Tensor& x) { return 2 - 1.1 * x; };  // steps away from its fixed point
  const auto plain = solvers::fixed_point(f, number(0)),
             fast = solvers::fixed_point(f, number(0), {.solver = solvers::anderson()});
  expect_values(plain.status, {solvers::max_steps_reached});
  expect_values(fast.status, {solvers::converged});
  expect_values(fast.value, {2 / 2.1}, 1e-8);
}

TEST(FixedPoint, AFailureThatIsNotUsedLeavesSharedDerivativesAlone) {
  const auto total = [](const Tensor& p) {  // x = x / 2 + p² is 2 p²; x = x + p² has no solution
    const auto found = rc::vmap([p](const Tensor& a) {
      return solvers::fixed_point([&](const Tensor& x) { return a * x + p * p; }, 0.0);
    })(doubles({0.5, 1}));
    return where(found.status == solvers::converged, found.value, 0).sum();
  };
  expect_values(rc::grad(total)(number(1)), {4}, 1e-6);
  expect_values(rc::grad(rc::grad(total))(number(1)), {4}, 1e-6);
  expect_values(rc::jacfwd(rc::grad(total))(number(1)), {4}, 1e-6);
  expect_values(rc::compile(rc::hessian(total))(number(1)), {4}, 1e-6);
}

TEST(FixedPoint, SaysWhyItEnded) {
  for (const auto& [name, solver] : methods()) {
    SCOPED_TRACE(name);
    const auto found = [&solver = solver](const auto& f, const Tensor& start) {
      return solvers::fixed_point(f, start, {.solver = solver, .max_steps = 2});
    };
    expect_values(found([](const Tensor& x) { return log(x); }, number(-1)).status, {solvers::not_finite});
    expect_values(found([](const Tensor& x) { return cos(x); }, number(0)).status, {solvers::max_steps_reached});
    const auto there = found([](const Tensor& x) { return x * x; }, number(1));
    expect_values(there.status, {solvers::converged});
    expect_values(there.steps, {0});
    expect_values(found([](const Tensor& x) { return x; }, doubles({})).status, {solvers::converged});
  }
  const Tensor x = doubles({1, 2});
  expect_error<rc::ValueError>([&] { solvers::fixed_point([](const Tensor& y) { return y.sum(); }, x); },
                               "fixed_point: the function gives f64[1] for the unknowns f64[2]; it must give as many "
                               "elements",
                               {x});
  expect_error<rc::ValueError>([] { solvers::anderson({.history = 0}); },
                               "anderson: the history is 0; it must be 1 at least");
  expect_error<rc::ValueError>(
      [] {
        solvers::fixed_point([](const Tensor& y) { return y + 1; }, 1.0, {.max_steps = 3, .throw_on_failure = true});
      },
      "check_finite: the value of fixed_point, which ended as max_steps_reached, is nan");
}

}  // namespace
