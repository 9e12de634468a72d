// Solvers on ranks: each example's solution, steps and derivative are those of one process.
#include <gtest/gtest.h>
#include <ricci/mpi.h>
#include <ricci/ricci.h>
#include <ricci/solve.h>

#include "support/expect_tensor.h"

namespace {

namespace rc = ricci;
namespace solvers = ricci::solvers;
using rc::Tensor;
using namespace testing_support;

template <class Solve>
void expect_the_same(const Solve& solve) {
  const Tensor many = doubles({1, 2, 5, 7, 9});
  const auto here = rc::vmap(solve)(many), shared = rc::mpi::vmap(solve)(many);
  expect_equal(shared.value, here.value);
  expect_equal(shared.steps, here.steps);
  expect_equal(shared.status, here.status);
  const auto value = [&](const Tensor& a) { return solve(a).value; };
  const auto sum = [&](const Tensor& a) { return rc::mpi::vmap(value)(a).sum(); };
  expect_equal(rc::grad(sum)(many), rc::vmap(rc::grad(value))(many));
}

TEST(MpiSolvers, GiveWhatOneProcessGives) {
  expect_the_same([](const Tensor& a) { return solvers::root_find([a](const Tensor& x) { return x * x - a; }, 1.0); });
  expect_the_same([](const Tensor& a) {
    return solvers::fixed_point([a](const Tensor& x) { return (x + a / x) / 2; }, 1.0, {.solver = solvers::anderson()});
  });
  expect_the_same([](const Tensor& a) {
    const auto f = [a](const Tensor& x) { return rc::stack({x * x - a, 0.1 * x}, 0); };
    return solvers::least_squares(f, 1.0, {.loss = solvers::huber(0.5), .upper = a + 1});
  });
  expect_the_same(
      [](const Tensor& a) { return solvers::minimise([a](const Tensor& x) { return square(x * x - a); }, 1.0); });
}

}  // namespace
