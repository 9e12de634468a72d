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

TEST(CustomRoot, ANumberTakesTheDtypeOfTheFunction) {
  const auto root = [](Tensor a) {
    return rc::custom_root([a](Tensor x) { return x * x - a; }, 1, newton,
                           [](const auto& g, Tensor y) { return y / g(1.0); });
  };
  for (const rc::DType dtype : {rc::float32, rc::float64}) {
    const Tensor a = rc::tensor(4.0, dtype);
    EXPECT_EQ(root(a).dtype(), dtype);
    expect_values(root(a).to(rc::float64), {2});
    expect_values(rc::grad(root)(a).to(rc::float64), {0.25});
    const auto times = [a](Tensor x) { return x * a; };
    const auto divide_by = [a](const auto&, Tensor y) { return y / a; };
    EXPECT_EQ(rc::custom_linear_solve(times, 2.0, divide_by, divide_by).dtype(), dtype);
  }
}

TEST(CustomLinearSolve, LeavesANumberAsItWasThoughItsFunctionWritesToItsArgument) {
  const Tensor a = number(4), b = 8.0;
  const auto matvec = [a](Tensor v) { return v.mul_(a); };
  const auto solve = [a](const auto&, Tensor y) { return y / a; };
  expect_values(rc::custom_linear_solve(matvec, 8.0, solve, solve), {2});
  expect_values(rc::custom_linear_solve(matvec, b, solve, solve), {2});
  expect_values(b, {8});
  const auto negative = [a](Tensor x) { return x.square_().sub_(a); };
  expect_values(rc::custom_root(negative, -3.0, newton, divide), {-2});
  const Tensor two = rc::tensor(2);
  const auto half = [two](const auto&, Tensor y) { return y / two; };
  expect_values(rc::custom_linear_solve([two](Tensor v) { return v * two; }, 3, half, half), {1.5});
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

/// Conjugate gradients for g(x) = y, until the residual is small: at once where y is zero.
const auto conjugate_gradients = [](const auto& g, Tensor y) {
  struct State {
    Tensor x, residual, direction, square;
  };
  const auto step = [g](State s) {
    const Tensor image = g(s.direction), length = s.square / rc::dot(s.direction, image);
    const Tensor residual = s.residual - length * image, square = rc::dot(residual, residual);
    return State{s.x + length * s.direction, residual, residual + square / s.square * s.direction, square};
  };
  const State first{rc::zeros_like(y), y, y, rc::dot(y, y)};
  return rc::while_loop([](State s) { return s.square > 1e-24; }, step, first).x;
};

TEST(CustomRoot, HasReverseModeThroughASolverThatIteratesUntilItIsDone) {
  const Tensor matrix = doubles({3, 1, 1, 2}).view({2, 2}), b = doubles({1, 2}), weights = doubles({1, 3});
  const auto root_by = [=](auto tangent_solve) {
    return [=](Tensor right) {
      const auto f = [=](Tensor x) { return rc::mv(matrix, x) + 0.1 * x * x * x - right; };
      const auto solve = [](const auto& g, Tensor x) {
        for (int i = 0; i < 20; ++i) x = x - rc::solve(rc::jacfwd(g)(x), g(x));
        return x;
      };
      return rc::dot(weights, rc::custom_root(f, rc::zeros_like(right), solve, tangent_solve));
    };
  };
  const auto iterated = root_by(conjugate_gradients);
  const auto direct = root_by([](const auto& g, Tensor y) { return rc::solve(rc::jacfwd(g)(y), y); });
  expect_close(rc::grad(iterated)(b), rc::grad(direct)(b));
  expect_close(rc::jacfwd(iterated)(b), rc::grad(direct)(b));
  expect_close(rc::hessian(iterated)(b), rc::hessian(direct)(b));
  const Tensor rows = doubles({1, 2, -1, 0.5}).view({2, 2});
  expect_close(rc::vmap(rc::grad(iterated))(rows), rc::vmap(rc::grad(direct))(rows));
}

/// The x with g(x) = y for a g near the identity, until the residual is small.
const auto fixed_point = [](const auto& g, Tensor y) {
  const auto residual = [g, y](Tensor x) { return y - g(x); };
  return rc::while_loop([=](Tensor x) { return residual(x).square().sum() > 1e-24; },
                        [=](Tensor x) { return x + residual(x); }, rc::zeros_like(y));
};

TEST(CustomRoot, HasReverseModeForEveryLossThroughASolverThatIterates) {
  const Tensor b = doubles({1, 2});
  const auto root = [](const Tensor& coupling) {
    return [=](Tensor right) {
      const auto f = [=](Tensor x) { return x - rc::mv(coupling, x) - right; };
      return rc::custom_root(
          f, rc::zeros_like(right), [](const auto& g, Tensor x) { return x - fixed_point(g, g(x)); }, fixed_point);
    };
  };
  const auto triangular = root(doubles({0, 1, 0, 0}).view({2, 2}));
  expect_values(rc::jacrev(triangular)(b), {1, 1, 0, 1});
  expect_values(rc::grad([&](Tensor right) { return triangular(right)[0]; })(b), {1, 1});
  const auto coupled = root(doubles({0, 0.5, 0.25, 0}).view({2, 2}));
  const Tensor slope = rc::grad([&](Tensor right) { return coupled(right)[0]; })(b);
  for (const double scale : {1e-13, 1e6})
    expect_close(rc::grad([&](Tensor right) { return coupled(right)[0] * scale; })(b) / scale, slope);
}

TEST(CustomLinearSolve, HasReverseModeThroughAMatrixThatIterates) {
  const Tensor matrix = doubles({3, 1, 1, 2}).view({2, 2}), b = doubles({1, 2}), weights = doubles({1, 3});
  const auto inverted = [=](Tensor v) { return conjugate_gradients([=](Tensor u) { return rc::mv(matrix, u); }, v); };
  const auto solved = [=](Tensor k, Tensor right) {
    const auto matvec = [=](Tensor v) { return k * v + inverted(v); };
    return rc::dot(weights, rc::custom_linear_solve(matvec, right, conjugate_gradients, conjugate_gradients));
  };
  const auto direct = [=](Tensor k, Tensor right) {
    return rc::dot(weights, rc::solve(k * rc::eye(2, rc::float64) + rc::inverse(matrix), right));
  };
  const auto [by_k, by_b] = rc::grad<0, 1>(solved)(number(0.5), b);
  const auto [direct_k, direct_b] = rc::grad<0, 1>(direct)(number(0.5), b);
  expect_close(by_k, direct_k);
  expect_close(by_b, direct_b);
}

TEST(CustomJvp, HasReverseModeThroughARuleThatIterates) {
  const Tensor matrix = doubles({3, 1, 1, 2}).view({2, 2});
  const auto product = [=](Tensor u) { return rc::mv(matrix, u); };
  const auto solved = rc::custom_jvp([=](Tensor x) { return rc::solve(matrix, x); },
                                     [=](std::tuple<Tensor> x, std::tuple<Tensor> t) {
                                       return std::pair{rc::solve(matrix, std::get<0>(x)),
                                                        conjugate_gradients(product, std::get<0>(t))};
                                     });
  expect_close(rc::jacrev(solved)(doubles({1, 2})), rc::inverse(matrix));
  const auto twice = [](Tensor y) {
    const auto step = [](std::pair<Tensor, Tensor> s) { return std::pair{s.first + s.second, s.second / 2}; };
    return rc::while_loop([](std::pair<Tensor, Tensor> s) { return s.second.abs().max() > 1e-3; }, step,
                          std::pair{rc::zeros_like(y), y})
        .first;
  };
  const auto doubled = rc::custom_jvp(twice, [=](std::tuple<Tensor> x, std::tuple<Tensor> t) {
    return std::pair{twice(std::get<0>(x)), twice(std::get<0>(t))};
  });
  const Tensor long_axis = rc::ones({50000}, rc::float16);
  const Tensor slope = rc::grad([&](Tensor x) { return doubled(x).to(rc::float32).sum(); })(long_axis);
  EXPECT_GT(slope.min().item(), 1.99);
  const auto by_complex = rc::custom_jvp([](Tensor z) { return z * std::complex<double>(0, 2); },
                                         [](std::tuple<Tensor> z, std::tuple<Tensor> t) {
                                           return std::pair{std::get<0>(z) * std::complex<double>(0, 2),
                                                            std::get<0>(t) * std::complex<double>(0, 2)};
                                         });
  const auto plain = [](Tensor z) { return z * std::complex<double>(0, 2); };
  const auto loss = [](const auto& f) { return [=](Tensor z) { return rc::real(f(z)).sum(); }; };
  const auto by_parts = [=](Tensor y) {
    return rc::complex(fixed_point([](Tensor x) { return x * 0.5; }, rc::real(y)),
                       fixed_point([](Tensor x) { return x * 0.5; }, rc::imag(y)));
  };
  const auto halved = rc::custom_jvp([](Tensor x) { return x * 2; },
                                     [=](std::tuple<Tensor> x, std::tuple<Tensor> t) {
                                       return std::pair{std::get<0>(x) * 2, by_parts(std::get<0>(t))};
                                     });
  const auto of_parts = [&](Tensor w) {
    const Tensor y = halved(w);
    return rc::real(y) * 3 + rc::imag(y) * 5;
  };
  const Tensor one = rc::tensor(std::complex<double>(1, 1), rc::complex128);
  expect_close(rc::grad(of_parts)(one), one * std::complex<double>(8, 2));
  expect_close(rc::grad(of_parts)(Tensor(std::complex<double>(1, 1))), one * std::complex<double>(8, 2));
  const Tensor z = doubles({1, 2}) * std::complex<double>(1, 3);
  expect_close(rc::grad(loss(by_complex))(z), rc::grad(loss(plain))(z));
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
