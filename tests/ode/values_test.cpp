// Adaptive solvers take diffrax's steps, as many and as many rejected, and give its values, in float64.
// tools/diffrax_values.py made tests/data/values_of_diffrax.txt.
#include <gtest/gtest.h>
#include <ricci/ode.h>
#include <ricci/ricci.h>

#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "support/expect_tensor.h"

namespace rc = ricci;
namespace ode = ricci::ode;
using rc::Tensor;
using namespace testing_support;

namespace {

using Numbers = std::vector<double>;

struct Problem {
  std::function<Tensor(const Tensor& t, const Tensor& y)> f;
  Numbers y0;
  double t0, t1;
};

Tensor lorenz(const Tensor&, const Tensor& y) {
  return rc::stack({10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - 8. / 3 * y[2]});
}
Tensor van_der_pol(const Tensor&, const Tensor& y) { return rc::stack({y[1], 2 * (1 - y[0] * y[0]) * y[1] - y[0]}); }
Tensor driven(const Tensor& t, const Tensor& y) { return rc::stack({y[1], -4 * y[0] + cos(3 * t)}); }

const std::map<std::string, Problem>& problems() {
  static const std::map<std::string, Problem> all{{"lorenz", {lorenz, {1, 1, 1}, 0, 2}},
                                                  {"van_der_pol", {van_der_pol, {2, 0}, 0, 6}},
                                                  {"driven", {driven, {0, 1}, 1, 5}},
                                                  {"driven back", {driven, {0, 1}, 5, 1}}};
  return all;
}

struct Case {
  std::string name, solver, sizes, problem;
  double tolerance = 0;
  Numbers steps, end, between;
};

std::vector<Case> read_table() {
  std::vector<Case> table;
  std::ifstream file(RICCI_TEST_DATA "/values_of_diffrax.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "case") {
      Case& next = table.emplace_back();
      next.name = line;
      words >> next.solver >> next.sizes >> next.tolerance;
      std::getline(words >> std::ws, next.problem);
      continue;
    }
    Numbers numbers;
    for (double x; words >> x;) numbers.push_back(x);
    if (kind == "steps") table.back().steps = numbers;
    if (kind == "end") table.back().end = numbers;
    if (kind == "between") table.back().between = numbers;
  }
  return table;
}

const std::map<std::string, ode::Solver> solvers{{"Heun", ode::Heun},
                                                 {"Midpoint", ode::Midpoint},
                                                 {"Tsit5", ode::Tsit5},
                                                 {"Dopri5", ode::Dopri5},
                                                 {"Dopri8", ode::Dopri8}};
const std::map<std::string, ode::StepSizes> sizes{
    {"i", {}}, {"pi", {.p = 0.4, .i = 0.3}}, {"pid", {.p = 0.2, .i = 0.4, .d = 0.1}}};

TEST(OdeValues, AndStepsAreThoseOfDiffrax) {
  const std::vector<Case> table = read_table();
  ASSERT_EQ(table.size(), solvers.size() * sizes.size() * problems().size());
  for (const Case& expected : table) {
    SCOPED_TRACE(expected.name);
    const Problem& problem = problems().at(expected.problem);
    const auto solution = ode::ode_solve(problem.f, rc::tensor(problem.y0, rc::float64), problem.t0, problem.t1,
                                         {.solver = solvers.at(expected.solver),
                                          .rtol = expected.tolerance,
                                          .atol = expected.tolerance,
                                          .first_step = expected.solver == "Dopri8" ? 0.2 : 0.01,
                                          .step_sizes = sizes.at(expected.sizes),
                                          .save_at = rc::linspace(problem.t0, problem.t1, 5).slice(0, 1, 4)});
    EXPECT_EQ(solution.steps.item<int>(), expected.steps[0]);
    EXPECT_EQ(solution.rejected.item<int>(), expected.steps[1]);
    // The Lorenz system makes of a last bit 1e-12 in its time.
    expect_values(solution.y, expected.end, 1e-9);
    if (!expected.between.empty()) expect_values(solution.ys.view({-1}), expected.between, 1e-9);
  }
}

}  // namespace
