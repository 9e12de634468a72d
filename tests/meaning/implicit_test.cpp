// custom_root and custom_linear_solve: derivatives that do not depend on how the equation was solved, with respect to
// what the equation's function captures, to second order, forward and reverse, mapped.
#include <complex>
#include <tuple>

#include "support/chain.h"
#include "support/model.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

/// Newton's method for one unknown, an element at a time.
const auto newton = [](const auto& f, Tensor x) {
  for (int i = 0; i < 40; ++i) {
    const auto [value, slope] = rc::jvp(f, x, rc::ones_like(x));
    x = x - value / slope;
  }
  return x;
};
const auto divide = [](const auto& g, const Tensor& y) { return y / g(rc::ones_like(y)); };

/// sqrt(a), as the root of x^2 - a.
Tensor root_of(const Tensor& a) {
  return rc::custom_root([a](Tensor x) { return x * x - a; }, rc::ones_like(a), newton, divide);
}

TEST(CustomRoot, HasTheSquareRootsDerivativesUnderEveryTransformAndTwo) {
  const Formula root{"custom_root", root_of, [](double x, int k) {
                       double factor = 1;
                       for (int i = 0; i < k; ++i) factor *= 0.5 - i;
                       return factor * std::pow(x, 0.5 - k);
                     }};
  const std::vector<Transform> six = six_transforms();
  for (const Transform& transform : all_transforms()) expect_chain({&transform}, root, ramp({2, 2}));
  for (const Transform& outer : six)
    for (const Transform& inner : six) expect_chain({&outer, &inner}, root, ramp({2, 2}));
}

TEST(CustomRoot, DoesNotDifferentiateTheSolver) {
  int steps = 0;
  const auto solve = [&steps](const auto&, const Tensor& x) {
    ++steps;
    return rc::full_like(x, 3);
  };
  const auto f = [&](Tensor a) {
    return rc::custom_root([a](Tensor x) { return x * x - a; }, number(1), solve, divide);
  };
  expect_close(rc::grad(f)(number(9)), number(1.0 / 6));
  EXPECT_EQ(steps, 1);
}

TEST(CustomRoot, HasNoDerivativeWithRespectToTheInitialGuess) {
  const auto f = [](Tensor guess) {
    return rc::custom_root([](Tensor x) { return x * x - 4; }, guess, newton, divide);
  };
  expect_close(f(number(1)), number(2));
  expect_close(rc::grad(f)(number(1)), number(0));
}

TEST(CustomRoot, StartsFromANumber) {
  const auto square_root = [](Tensor a) {
    return rc::custom_root([a](Tensor x) { return x * x - a; }, 1.0, newton,
                           [](const auto& g, const Tensor& y) { return y / g(1.0); });
  };
  expect_close(rc::grad(square_root)(number(9)), number(1.0 / 6));
}

TEST(CustomRoot, OfATreeWithATreeOfParameters) {
  // (u, v) with u = a v and v = b + 1.
  const auto f = [](Tensor a, Tensor b) {
    const auto equations = [a, b](const std::pair<Tensor, Tensor>& x) {
      return std::pair{x.first - a * x.second, x.second - b - 1};
    };
    const auto solve = [](const auto& g, std::pair<Tensor, Tensor> x) {
      for (int i = 0; i < 3; ++i) {
        const auto [du, dv] = g(x);
        x = {x.first - du, x.second - dv};
      }
      return x;
    };
    const auto tangent_solve = [](const auto& g, const std::pair<Tensor, Tensor>& y) {
      std::pair<Tensor, Tensor> x = y;
      for (int i = 0; i < 3; ++i) {
        const auto [u, v] = g(x);
        x = {x.first - u + y.first, x.second - v + y.second};
      }
      return x;
    };
    return rc::custom_root(equations, std::pair{number(0), number(0)}, solve, tangent_solve).first;
  };
  expect_close(f(number(3), number(4)), number(15));
  const auto [of_a, of_b] = rc::grad<0, 1>(f)(number(3), number(4));
  expect_close(of_a, number(5));
  expect_close(of_b, number(3));
}

/// Solves with the matrix that the product stands for.
const auto dense = [](const auto& product, const Tensor& b) { return rc::solve(rc::jacfwd(product)(b), b); };

Tensor solved(const Tensor& a, const Tensor& b) {
  return rc::custom_linear_solve([a](Tensor x) { return matmul(a, x); }, b, dense, dense);
}

const Tensor matrix = doubles({4, 1, 0.5, -1, 3, 0.25, 0.5, 1, 5}, {3, 3});

TEST(CustomLinearSolve, HasTheDerivativesOfSolve) {
  const Tensor b = ramp({3});
  expect_close(solved(matrix, b), rc::solve(matrix, b));
  const auto loss = [](const auto& f) { return [f](Tensor a, Tensor y) { return (f(a, y) * y).square().sum(); }; };
  const auto plain = [](Tensor a, Tensor y) { return rc::solve(a, y); };
  const auto [of_a, of_b] = rc::grad<0, 1>(loss(solved))(matrix, b);
  const auto [expected_a, expected_b] = rc::grad<0, 1>(loss(plain))(matrix, b);
  expect_close(of_a, expected_a);
  expect_close(of_b, expected_b);
  const auto directions = std::tuple{matrix.t() + 0, b * 2};
  expect_close(std::get<1>(rc::jvp(solved, std::tuple{matrix, b}, directions)),
               std::get<1>(rc::jvp(plain, std::tuple{matrix, b}, directions)));
  expect_close(rc::hessian(loss(solved))(matrix, b), rc::hessian(loss(plain))(matrix, b), 1e-9);
  expect_close(rc::jacrev(rc::jacrev(loss(solved)))(matrix, b), rc::hessian(loss(plain))(matrix, b), 1e-9);
}

TEST(CustomLinearSolve, Maps) {
  const Tensor b = ramp({4, 3});
  const auto f = [](Tensor a, Tensor y) { return solved(a, y).square().sum(); };
  const auto plain = [](Tensor a, Tensor y) { return rc::solve(a, y).square().sum(); };
  const rc::VmapOptions rows{.in_dims = {rc::none, 0}};
  expect_close(rc::vmap(solved, rows)(matrix, b),
               rc::vmap([](Tensor a, Tensor y) { return rc::solve(a, y); }, rows)(matrix, b));
  expect_close(rc::vmap(rc::grad(f), rows)(matrix, b), rc::vmap(rc::grad(plain), rows)(matrix, b));
  const auto total = [&](const auto& g) { return [&](Tensor a) { return rc::vmap(g, rows)(a, b).sum(); }; };
  expect_close(rc::grad(total(f))(matrix), rc::grad(total(plain))(matrix));
}

TEST(CustomRoot, TakesANumberFromASolverAsTheGuessesDtype) {
  const auto f = [](Tensor x) { return x * 2 - 4; };
  const auto solve = [](const auto&, Tensor) { return Tensor(2); };
  const auto tangent = [](const auto& g, Tensor y) { return y / g(rc::ones({}, y.dtype())); };
  EXPECT_EQ(rc::custom_root(f, rc::zeros({}), solve, tangent).dtype(), rc::float32);
  const auto root = [&](Tensor a) {
    return rc::custom_root([a](Tensor x) { return x * a - 4; }, number(1), solve, tangent);
  };
  expect_values(rc::grad(root)(number(2)), {-1});
  const auto imaginary = [](const auto&, Tensor) { return Tensor(std::complex<double>(0, 1)); };
  EXPECT_THROW(rc::custom_root(f, rc::zeros({}), imaginary, tangent), rc::ValueError);
}

}  // namespace
