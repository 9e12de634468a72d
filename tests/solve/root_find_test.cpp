// Roots, their derivatives and their statuses, by every method and under every transform.
#include <gtest/gtest.h>
#include <ricci/ricci.h>
#include <ricci/solve.h>

#include <cmath>
#include <complex>
#include <functional>
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

const std::map<std::string, solvers::RootFinder>& finders() {
  static const std::map<std::string, solvers::RootFinder> all{{"newton", solvers::newton()},
                                                              {"line search", solvers::newton({.line_search = true})},
                                                              {"chord", solvers::chord()},
                                                              {"broyden", solvers::broyden()}};
  return all;
}

/// Of a + (x - y)³ / 2 = 1, (y - x)³ / 2 + y = 0: SciPy's example of `root`.
struct Point {
  Tensor x, y;
  int unused = 7;
};
solvers::Result<Point> root_of_scipy(const Tensor& a, const solvers::RootFinder& solver) {
  const auto f = [a](const Point& p) {
    const Tensor cube = 0.5 * (p.x - p.y) * (p.x - p.y) * (p.x - p.y);
    return std::pair{p.x + a * cube - 1, p.y - cube};
  };
  const bool needs_a_near_start = solver.method == solvers::RootFinder::Method::chord;
  const Point start = needs_a_near_start ? Point{number(0.8), number(0.2)} : Point{number(0), number(0)};
  return solvers::root_find(f, start, {.solver = solver});
}

TEST(RootFind, FindsTheRootOfScipysExample) {
  for (const auto& [name, solver] : finders()) {
    SCOPED_TRACE(name);
    const auto found = root_of_scipy(number(1), solver);
    EXPECT_EQ(found.status.item<int>(), solvers::converged);
    EXPECT_EQ(found.value.unused, 7);
    expect_values(found.value.x, {0.841163901914009663684741869855}, 1e-8);  // SciPy 1.17.1: 0.8411639
    expect_values(found.value.y, {0.158836098085990336315258130145}, 1e-8);
    EXPECT_LE(found.residual.item<double>(), 3e-8);
  }
}

TEST(RootFind, HasImplicitDerivatives) {
  for (const auto& [name, solver] : finders()) {
    SCOPED_TRACE(name);
    const auto f = [&solver = solver](const Tensor& a) {
      const auto [x, y, unused] = root_of_scipy(a, solver).value;
      return rc::stack({x, y}, 0);
    };
    const Tensor at = number(1.25), exact = difference_quotient(f, at);
    expect_close(rc::jacrev(f)(at), exact, 1e-6);
    expect_close(rc::jacfwd(f)(at), exact, 1e-6);
    expect_close(rc::jacrev(rc::compile(f))(at), exact, 1e-6);
    expect_close(rc::compile(rc::jacfwd(f))(at), exact, 1e-6);
    expect_close(rc::jacfwd(rc::jacrev(f))(at),
                 difference_quotient([&](const Tensor& a) { return rc::jacrev(f)(a); }, at), 1e-6);
    const Tensor many = doubles({0.5, 1, 2});
    expect_close(rc::vmap(rc::jacrev(f))(many),
                 rc::stack({rc::jacrev(f)(many[0]), rc::jacrev(f)(many[1]), rc::jacrev(f)(many[2])}, 0), 1e-12);
    expect_close(rc::compile(rc::vmap(rc::jacrev(f)))(many), rc::vmap(rc::jacrev(f))(many), 1e-12);
  }
}

TEST(RootFind, FindsWhereAFunctionFalls) {
  auto all = finders();
  all.emplace("bisection", solvers::bisection(1, 4));
  for (const auto& [name, solver] : all) {
    SCOPED_TRACE(name);
    const auto root = [&solver = solver](const Tensor& a) {
      return solvers::root_find([a](const Tensor& x) { return a - x * x; }, 1.5, {.solver = solver}).value;
    };
    expect_values(root(number(2)), {std::sqrt(2)}, 1e-7);
    expect_values(rc::grad(root)(number(2)), {std::sqrt(0.125)}, 1e-7);
  }
}

TEST(RootFind, UnknownsMayHaveAnyUnits) {
  for (const double unit : {1e-200, 1., 1e200}) {
    const auto f = [unit](const Tensor& x) { return rc::stack({x[0] * unit - 2 * unit, (x[1] - x[0]) * unit}, 0); };
    for (const auto& [name, solver] : finders()) {
      SCOPED_TRACE(name);
      const auto found = solvers::root_find(f, doubles({1, -1}), {.solver = solver, .atol = 1e-8 * unit});
      expect_values(found.status, {solvers::converged});
      expect_values(found.value, {2, 2}, 1e-12);
    }
  }
}

TEST(RootFind, NothingElseHasADerivative) {
  const auto rest = [](const Tensor& a) {
    const auto found = solvers::root_find([a](const Tensor& x) { return x * x - a; }, a);
    return found.residual + found.steps + found.status;
  };
  expect_values(rc::grad(rest)(number(3)), {0});
  const auto by_start = [](const Tensor& start) {
    return solvers::root_find([](const Tensor& x) { return x * x - 2; }, start).value;
  };
  expect_values(rc::grad(by_start)(number(3)), {0});
}

TEST(RootFind, EachExampleTakesItsOwnSteps) {
  auto all = finders();
  all.emplace("bisection", solvers::bisection(0, 4));
  const Tensor many = doubles({2, 4, 9, 15});
  for (const auto& [name, solver] : all) {
    SCOPED_TRACE(name);
    const auto root = [&solver = solver](const Tensor& a) {
      return solvers::root_find([a](const Tensor& x) { return x * x - a; }, 3.0,
                                {.solver = solver, .rtol = 1e-12, .atol = 1e-12});
    };
    const auto mapped = rc::vmap(root)(many), compiled = rc::compile(rc::vmap(root))(many);
    for (std::int64_t i = 0; i < many.size(0); ++i) {
      const auto alone = root(many[i]);
      expect_close(mapped.value[i], alone.value, 1e-14);
      expect_equal(mapped.steps[i], alone.steps);
      expect_close(compiled.value[i], alone.value, 1e-14);
      expect_equal(compiled.steps[i], alone.steps);
    }
    expect_values(mapped.status, {0, 0, 0, 0});
    expect_close(mapped.value, sqrt(many), 1e-11);
  }
}

TEST(RootFind, MapsStartsBoundsAndTolerances) {
  const auto root = [](const Tensor& lower, const Tensor& rtol) {
    return solvers::root_find([](const Tensor& x) { return cos(x); }, lower,
                              {.solver = solvers::bisection(lower, lower + 3), .rtol = rtol, .atol = 0});
  };
  const auto found = rc::vmap(root)(doubles({0, 3}), doubles({1e-2, 1e-12}));
  expect_close(found.value[1], number(1.5 * M_PI), 1e-11);
  EXPECT_LT(found.steps[0].item<int>(), 12);
  EXPECT_GT(found.steps[1].item<int>(), 35);
  // Derivatives through the bounds are zero, and do not stand in the way.
  const auto by_bound = [](const Tensor& a) {
    return solvers::root_find([a](const Tensor& x) { return x * x - a; }, 1.0, {.solver = solvers::bisection(0, a)})
        .value;
  };
  expect_values(rc::grad(by_bound)(number(4)), {0.25}, 1e-7);
}

TEST(RootFind, ALineSearchComesFromFarAway) {
  const auto f = [](const Tensor& x) { return atan(x); };
  const auto plain = solvers::root_find(f, 3.0),
             searched = solvers::root_find(f, 3.0, {.solver = solvers::newton({.line_search = true})});
  EXPECT_NE(plain.status.item<int>(), solvers::converged);
  EXPECT_EQ(searched.status.item<int>(), solvers::converged);
  expect_values(searched.value, {0}, 1e-8);
}

Tensor square_minus_two(Tensor x) { return x * x - 2.0; }
TEST(RootFind, TakesPlainFunctions) {
  EXPECT_NEAR(solvers::root_find(square_minus_two, 1.0).value.item<double>(), std::sqrt(2.0), 1e-7);
}

TEST(RootFind, SaysWhyItEnded) {
  const auto status = [](const auto& f, double start, const solvers::RootFinder& solver) {
    const auto found = solvers::root_find(f, start, {.solver = solver, .max_steps = 30});
    EXPECT_TRUE(std::isfinite(found.value.template item<double>()));
    return solvers::text_of(found.status.template item<std::int64_t>());
  };
  const auto no_root = [](const Tensor& x) { return x * x + 1; };
  const auto logarithm = [](const Tensor& x) { return log(x); };
  EXPECT_EQ(status(no_root, 3, solvers::newton()), "max_steps_reached");
  EXPECT_EQ(status(no_root, 3, solvers::newton({.line_search = true})), "stalled");
  EXPECT_EQ(status(no_root, 3, solvers::bisection(-1, 1)), "no_bracket");
  for (const auto& [name, solver] : finders()) {
    SCOPED_TRACE(name);
    EXPECT_EQ(status(no_root, 0, solver), "singular");
    EXPECT_EQ(status(logarithm, -1, solver), "not_finite");
  }
  EXPECT_EQ(status(logarithm, 3, solvers::newton()), "not_finite");  // the step leads to -0.3
  EXPECT_EQ(status(logarithm, 3, solvers::newton({.line_search = true})), "converged");
  EXPECT_EQ(status(logarithm, 1, solvers::newton()), "converged");  // the start is a root
  expect_error<rc::ValueError>([] { solvers::text_of(6); }, "text_of: 6 is no status; pass the status of a result");
}

TEST(RootFind, OneFailureLeavesOtherExamplesAlone) {
  for (const auto& [name, solver] : finders()) {
    SCOPED_TRACE(name);
    const auto root = [&solver = solver](const Tensor& a) {
      return solvers::root_find([a](const Tensor& x) { return x * x - a; }, 1.0, {.solver = solver, .max_steps = 50});
    };
    const Tensor many = doubles({2, -1, std::nan(""), 1.5});
    for (const auto& found : {rc::vmap(root)(many), rc::compile(rc::vmap(root))(many)}) {
      expect_close(found.value[0], number(std::sqrt(2)), 1e-8);
      expect_close(found.value[3], number(std::sqrt(1.5)), 1e-8);
      EXPECT_NE(found.status[1].item<int>(), solvers::converged);
      EXPECT_EQ(found.status[2].item<int>(), solvers::not_finite);
    }
  }
}

TEST(RootFind, AFailureThatIsNotUsedLeavesSharedDerivativesAlone) {
  const auto roots = [](const Tensor& c) {
    return rc::vmap([c](const Tensor& a, const Tensor& start) {
      return solvers::root_find([&](const Tensor& x) { return c * square(x - 1) - a; }, start);
    })(doubles({4, -4, 9}), doubles({4, 1, 2}));  // the second is singular: x - 1 is 0
  };
  const auto total = [&](const Tensor& c) {
    const auto found = roots(c);
    return where(found.status == solvers::converged, found.value, 0).sum();
  };
  expect_values(roots(number(1)).status, {solvers::converged, solvers::singular, solvers::converged});
  expect_values(rc::grad(total)(number(1)), {-2.5}, 1e-9);
  expect_values(rc::jacfwd(total)(number(1)), {-2.5}, 1e-9);
  expect_values(rc::grad(rc::grad(total))(number(1)), {3.75}, 1e-9);
  expect_values(rc::compile(rc::grad(rc::grad(total)))(number(1)), {3.75}, 1e-9);
  expect_values(rc::jacfwd(rc::grad(total))(number(1)), {3.75}, 1e-9);
  // Derivatives that are 0 have derivatives: the loss is least where the root is 2.
  const auto loss = [](const Tensor& a) {
    return square(solvers::root_find([a](const Tensor& x) { return x * x - a; }, 2.0).value - 2);
  };
  expect_values(rc::hessian(loss)(number(4)), {0.125}, 1e-9);
}

TEST(RootFind, ThrowsWhereToldTo) {
  const auto root = [](const Tensor& a) {
    return solvers::root_find([a](const Tensor& x) { return x * x - a; }, 1.0,
                              {.max_steps = 20, .throw_on_failure = true})
        .value;
  };
  expect_values(root(number(4)), {2}, 1e-9);
  expect_values(rc::grad(root)(number(4)), {0.25}, 1e-9);
  expect_error<rc::ValueError>([&] { root(number(-1)); },
                               "check_finite: the value of root_find, which ended as singular, is nan");
}

TEST(RootFind, TakesTreesWithoutUnknowns) {
  const std::vector<Tensor> none;
  const auto found = solvers::root_find([](const std::vector<Tensor>& x) { return x; }, none);
  EXPECT_TRUE(found.value.empty());
  EXPECT_EQ(found.status.item<int>(), solvers::converged);
  EXPECT_EQ(found.steps.item<int>(), 0);
}

TEST(RootFind, KeepsDtypes) {
  for (const rc::DType dtype : {rc::float32, rc::float64}) {
    const Tensor two = rc::tensor(2., dtype);
    const auto f = [two](const Tensor& x) { return x * x - two; };
    EXPECT_EQ(solvers::root_find(f, 1.0).value.dtype(), dtype);
    EXPECT_EQ(solvers::root_find(f, rc::ones({}, rc::float32)).value.dtype(), rc::float32);
  }
}

TEST(RootFind, EndsWhereRoundingHidesTheSteps) {
  const auto steep = [](const Tensor& x) { return 1e4 * (x * x - 2); };
  struct Mixed {
    Tensor x, y;
  };
  const auto circle = [](const Mixed& p) { return std::pair{p.x - p.y, p.x * p.x + p.y * p.y - 4}; };
  for (const auto& [name, solver] : finders()) {
    SCOPED_TRACE(name);
    const auto found = solvers::root_find(steep, rc::tensor(1.4142135, rc::float32), {.solver = solver});
    expect_values(found.status, {solvers::converged});
    EXPECT_LE(found.steps.item<int>(), 3);
    // The tolerances are those of the coarsest dtype: f does not see smaller steps.
    const auto mixed =
        solvers::root_find(circle, Mixed{rc::tensor(1., rc::float32), number(2)}, {.solver = solver, .rtol = 0.});
    expect_values(mixed.status, {solvers::converged});
    expect_values(mixed.value.y, {std::sqrt(2)}, 1e-3);
  }
}

TEST(RootFind, WhatBroydenCannotLearnFromIsSingular) {
  const auto flat = [](const Tensor& x) { return where(x > 2.0, x - 1.0, 0.5 + 0 * x); };
  const auto found = solvers::root_find(flat, 3.0, {.solver = solvers::broyden()});
  EXPECT_NE(found.status.item<std::int64_t>(), solvers::converged);
  EXPECT_NE(found.status.item<std::int64_t>(), solvers::not_finite);
}

TEST(RootFind, StartsFromIntegersAsFromTheirDoubles) {
  expect_values(solvers::root_find([](const Tensor& x) { return cos(x) - x; }, 1).value, {0.7390851332}, 1e-9);
  const Tensor half = rc::tensor(0.5, rc::float32);
  EXPECT_EQ(solvers::root_find([half](const Tensor& x) { return x - half; }, 0).value.dtype(), rc::float32);
}

/// A tree without Tensors.
struct Numbers {
  double height;
  int degree;
};

TEST(RootFind, RefusesWhatItCannotSolve) {
  const Tensor x = rc::zeros({2}, rc::float64);
  expect_error<rc::ValueError>(
      [&] { solvers::root_find([](const Tensor&) { return rc::zeros({3}, rc::float64); }, x); },
      "root_find: the function gives f64[3] for the unknowns f64[2]; it must give as many elements; for more, take "
      "least_squares",
      {x});
  expect_error<rc::ValueError>(
      [&] { solvers::root_find([](const Tensor& y) { return y; }, x, {.solver = solvers::bisection(0, 1)}); },
      "root_find: bisection has one unknown, and here are 2; take another solver, or vmap for many equations of one "
      "unknown",
      {x});
  const auto square = [](const Tensor& y) { return y * y - 2.; };
  const std::string wanted =
      " has no unknowns, which are Tensors of a floating dtype; convert what is to be found to one";
  expect_error<rc::TypeError>([&] { solvers::root_find(square, rc::tensor(1)); },
                              "root_find: the start i64[]" + wanted);
  const auto slope = [](const Numbers& p) { return Tensor(p.height * p.height - 2); };
  expect_error<rc::TypeError>([&] { solvers::root_find(slope, Numbers{1, 3}); },
                              "root_find: the start {height: double, degree: int}" + wanted);
  expect_error<rc::ValueError>([&] { solvers::root_find(square, 1.0, {.max_steps = 0}); },
                               "root_find: .max_steps is 0; it must be 1 at least");
  const auto turned = [](const Tensor& y) { return y * rc::tensor(std::complex<double>(1, 1)) - 2.; };
  const auto complex_result = [](const std::string& name) {
    return name +
           ": the function gives c128[1]; it must be real: give real and imaginary parts, for example with "
           "view_as_real";
  };
  expect_error<rc::TypeError>([&] { solvers::root_find(turned, number(3)); }, complex_result("root_find"));
  expect_error<rc::TypeError>([&] { solvers::fixed_point(turned, number(3)); }, complex_result("fixed_point"));
  expect_error<rc::TypeError>([&] { solvers::least_squares(turned, number(3)); }, complex_result("least_squares"));
  expect_error<rc::TypeError>([&] { solvers::minimise(turned, number(3)); }, complex_result("minimise"));
  const Tensor z = rc::zeros({2}, rc::complex64);
  expect_error<rc::TypeError>(
      [&] { solvers::root_find([](const Tensor& y) { return y; }, z); },
      "root_find: the unknowns are c64[2]; make them real and imaginary parts, for example with "
      "view_as_real",
      {z});
}

}  // namespace
