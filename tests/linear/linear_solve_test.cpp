// Every solver gives the solution of a dense system and its derivatives, under every transform; failures have a status.
#include <gtest/gtest.h>
#include <ricci/linear.h>
#include <ricci/ricci.h>

#include <cmath>
#include <string>

#include "support/expect_error.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;
namespace operators = ricci::operators;
namespace solvers = ricci::solvers;

namespace {

constexpr double tight = 1e-13;

struct Case {
  const char* name;
  solvers::LinearSolver solver;
  bool needs_positive;
};
const Case cases[] = {{"automatic", solvers::automatic(), false},
                      {"lu", solvers::lu(), false},
                      {"cholesky", solvers::cholesky(), true},
                      {"qr", solvers::qr(), false},
                      {"svd", solvers::svd(), false},
                      {"cg", solvers::cg({.tol = tight}), true},
                      {"minres", solvers::minres({.tol = tight}), true},
                      {"bicgstab", solvers::bicgstab({.tol = tight}), false},
                      {"gmres", solvers::gmres({.tol = tight}), false}};

Tensor right_side() { return cos(rc::arange(4).to(rc::float64)); }
/// Diagonally dominant; symmetric or not.
Tensor matrix(bool is_symmetric) {
  const Tensor part = sin(rc::arange(16).to(rc::float64)).view({4, 4});
  return 4 * rc::eye(4, rc::float64) + (is_symmetric ? 0.5 * (part + part.mT()) : part);
}

/// `solve` and what it stands for have the same values, in each transform.
template <class F, class G>
void expect_same(const F& found, const G& wanted, const Tensor& a, const Tensor& b) {
  const auto size_of = [](const auto& f) {
    return [&](const Tensor& a, const Tensor& b) { return sin(f(a, b)).sum(); };
  };
  const auto ours = size_of(found);
  const auto theirs = size_of(wanted);
  expect_close(found(a, b), wanted(a, b), 1e-12);
  const auto [of_a, of_b] = rc::grad<0, 1>(ours)(a, b);
  const auto [wanted_of_a, wanted_of_b] = rc::grad<0, 1>(theirs)(a, b);
  expect_close(of_a, wanted_of_a, 1e-11);
  expect_close(of_b, wanted_of_b, 1e-11);
  expect_close(rc::hessian(ours)(a, b), rc::hessian(theirs)(a, b), 1e-10);
  expect_close(rc::jacfwd(found)(a, b), rc::jacfwd(wanted)(a, b), 1e-11);
  const Tensor many_a = rc::stack({a, 2 * a}, 0), many_b = rc::stack({b, b.flip(0)}, 0);
  expect_close(rc::vmap(found)(many_a, many_b), rc::vmap(wanted)(many_a, many_b), 1e-12);
  expect_close(rc::vmap(found, {.in_dims = {rc::none, 0}})(a, many_b),
               rc::vmap(wanted, {.in_dims = {rc::none, 0}})(a, many_b), 1e-12);
  expect_close(rc::vmap(rc::grad(ours))(many_a, many_b), rc::vmap(rc::grad(theirs))(many_a, many_b), 1e-11);
  expect_close(rc::compile(found)(a, b), wanted(a, b), 1e-12);
  expect_close(rc::compile(rc::vmap(rc::grad(ours)))(many_a, many_b), rc::vmap(rc::grad(theirs))(many_a, many_b),
               1e-11);
}

TEST(LinearSolve, OfEverySolverHasTheDerivativesOfADenseSystem) {
  for (const auto& [name, solver, needs_positive] : cases) {
    SCOPED_TRACE(name);
    const auto of = [&, needs = needs_positive](const Tensor& a) { return needs ? 0.5 * (a + a.mT()) : a; };
    const auto ours = [&, by = solver](const Tensor& a, const Tensor& b) {
      return solvers::linear_solve(operators::Matrix{of(a)}, b, {.solver = by}).value;
    };
    const auto dense = [&](const Tensor& a, const Tensor& b) { return rc::solve(of(a), b); };
    expect_same(ours, dense, matrix(needs_positive), right_side());
  }
}

TEST(LinearSolve, OfMatricesWithFewDiagonalsAndTriangles) {
  const Tensor b = right_side(), a = matrix(false);
  const auto solved = [](const auto& make) {
    return [=](const Tensor& a, const Tensor& b) { return solvers::linear_solve(make(a), b).value; };
  };
  const auto dense = [](const auto& make) {
    return [=](const Tensor& a, const Tensor& b) { return rc::solve(operators::as_matrix(make(a)), b); };
  };
  const auto check = [&](const char* name, const auto& make) {
    SCOPED_TRACE(name);
    expect_same(solved(make), dense(make), a, b);
  };
  check("diagonal", [](const Tensor& a) { return operators::Diagonal{a.diagonal()}; });
  check("upper", [](const Tensor& a) { return operators::Triangular{a}; });
  check("lower", [](const Tensor& a) { return operators::Triangular{a, false}; });
  check("tridiagonal", [](const Tensor& a) {
    return operators::Tridiagonal{a.diagonal(-1, 0, 1), a.diagonal(), a.diagonal(1, 0, 1)};
  });
  const auto pattern = rc::Sparsity::of_dense(matrix(false));
  check("sparse", [&](const Tensor& a) { return rc::Sparse::of_dense(a, pattern); });
}

TEST(LinearSolve, OfOtherShapesFindsTheLeastResidual) {
  const Tensor tall = sin(rc::arange(12).to(rc::float64) * 1.3).view({4, 3}), b = right_side();
  expect_close(solvers::linear_solve(operators::Matrix{tall, {.positive = true}}, b).value, rc::lstsq(tall, b));
  for (const auto& solver : {solvers::automatic(), solvers::qr(), solvers::svd()}) {
    const auto ours = [&](const Tensor& a, const Tensor& b) {
      return solvers::linear_solve(operators::Matrix{a}, b, {.solver = solver}).value;
    };
    expect_same(ours, [](const Tensor& a, const Tensor& b) { return rc::lstsq(a, b); }, tall, b);
    expect_same(ours, [](const Tensor& a, const Tensor& b) { return rc::lstsq(a, b); }, tall.mT(), b.slice(0, 0, 3));
  }
}

TEST(LinearSolve, OfFunctionsOfAnyShapeByTheirMatrixOrByProducts) {
  const Tensor b = rc::linspace(-1, 1, 12, rc::float64).view({3, 4});
  const auto f = [](const Tensor& x) { return 3 * x - x.roll(1, 0) + 0.5 * x.roll(1, 1); };
  for (const auto& solver : {solvers::automatic(), solvers::gmres({.tol = tight})}) {
    const auto found = solvers::linear_solve(f, b, {.solver = solver});
    expect_close(f(found.value), b, 1e-11);
    EXPECT_LT(found.residual.item<double>(), 1e-11);
    EXPECT_EQ(found.status.item<std::int64_t>(), solvers::converged);
  }
}

struct Point {
  Tensor place, speed;
};
Point moved(const Point& p) { return {p.place * p.speed.sum(), p.speed * p.speed + p.place}; }

TEST(LinearSolve, OfAJacobianBetweenTreesIsAStepOfNewton) {
  const Point at{number(2), doubles({1, 3})};
  const auto [place, speed] = solvers::linear_solve(operators::jacobian(moved, at), moved(at)).value;
  const auto [product, change] = rc::jvp(moved, at, Point{place, speed});
  expect_close(change.place, moved(at).place, 1e-12);
  expect_close(change.speed, moved(at).speed, 1e-12);
  const auto loss = [](const Point& p) { return moved(p).place * p.place + exp(p.speed).sum(); };
  const auto hessian = operators::jacobian(rc::grad(loss), at, {.symmetric = true});
  const Point newton = solvers::linear_solve(hessian, at, {.solver = solvers::minres({.tol = tight})}).value;
  expect_close(rc::jvp(rc::grad(loss), at, newton).second.speed, at.speed, 1e-9);
}

TEST(LinearSolve, OfAJacobianWithMoreResultsThanUnknownsIsAStepOfGaussAndNewton) {
  const auto residuals = [](const Point& p) { return rc::cat({p.speed * p.place, p.speed, p.place.view({1})}, 0); };
  const Point at{number(2), doubles({1, 3})};
  const auto j = operators::jacobian(residuals, at);
  const Point step = solvers::linear_solve(j, residuals(at)).value;
  const Tensor wanted = rc::lstsq(operators::as_matrix(j.of_vectors), residuals(at));
  expect_close(rc::ravel(step).vector, wanted, 1e-12);
}

TEST(LinearSolve, PromotesAndTakesComplexAndSmallOperators) {
  const Tensor a = matrix(false).to(rc::float32), b = right_side();
  EXPECT_EQ(solvers::linear_solve(operators::Matrix{a}, b).value.dtype(), rc::float64);
  const Tensor mixed =
      rc::grad([&](const Tensor& a) { return solvers::linear_solve(operators::Matrix{a}, b).value.sum(); })(a);
  EXPECT_EQ(mixed.dtype(), rc::float32);
  const Tensor rotated = complex(matrix(false), matrix(true)), side = complex(b, b.flip(0));
  for (const auto& solver : {solvers::lu(), solvers::qr(), solvers::svd()})
    expect_close(solvers::linear_solve(operators::Matrix{rotated}, side, {.solver = solver}).value,
                 rc::solve(rotated, side), 1e-12);
  const Tensor none = rc::zeros({0}, rc::float64);
  expect_close(solvers::linear_solve(operators::Tridiagonal{none, doubles({4}), none}, doubles({2})).value,
               doubles({0.5}));
}

/// Real matrices and complex ones, with complex right sides: gradients are those of a dense system.
TEST(LinearSolve, HasTheDerivativesOfADenseSystemForComplexRightSides) {
  const Tensor b = right_side(), other = b.flip(0);
  const auto check = [&](const char* name, const solvers::LinearSolver& solver, const auto& make) {
    SCOPED_TRACE(name);
    for (const double part : {0.0, 0.25}) {
      // The matrix is real, or has an imaginary part.
      const auto numbers = [=](const Tensor& a) { return part == 0 ? a : complex(a, part * a); };
      const auto size_of = [](const Tensor& x) { return (real(x) * real(x) + 2 * imag(x)).sum(); };
      const auto found = [&](const Tensor& a, const Tensor& b) {
        return size_of(solvers::linear_solve(make(numbers(a)), complex(b, other), {.solver = solver}).value);
      };
      const auto wanted = [&](const Tensor& a, const Tensor& b) {
        return size_of(rc::solve(operators::as_matrix(make(numbers(a))).to(rc::complex128), complex(b, other)));
      };
      const auto [of_a, of_b] = rc::grad<0, 1>(found)(matrix(false), b);
      const auto [wanted_of_a, wanted_of_b] = rc::grad<0, 1>(wanted)(matrix(false), b);
      expect_close(of_a, wanted_of_a, 1e-11);
      expect_close(of_b, wanted_of_b, 1e-11);
      expect_close(rc::jacfwd(found)(matrix(false), b), wanted_of_a, 1e-11);
    }
  };
  const auto dense = [](const Tensor& a) { return operators::Matrix{a}; };
  check("lu", solvers::lu(), dense);
  check("qr", solvers::qr(), dense);
  check("svd", solvers::svd(), dense);
  check("cholesky", solvers::cholesky(),
        [](const Tensor& a) { return operators::Matrix{matmul(a, conj(a.mT())), {.positive = true}}; });
  check("diagonal", solvers::diagonal(), [](const Tensor& a) { return operators::Diagonal{a.diagonal()}; });
  check("triangular", solvers::triangular(), [](const Tensor& a) { return operators::Triangular{a}; });
  check("tridiagonal", solvers::tridiagonal(), [](const Tensor& a) {
    return operators::Tridiagonal{a.diagonal(-1, 0, 1), a.diagonal(), a.diagonal(1, 0, 1)};
  });
  check("complex below a real diagonal", solvers::tridiagonal(), [](const Tensor& a) {
    return operators::Tridiagonal{a.diagonal(-1, 0, 1), real(a.diagonal()), real(a.diagonal(1, 0, 1))};
  });
}

TEST(LinearSolve, PromotesForEveryKindOfEntries) {
  const Tensor a = matrix(true), b = right_side().to(rc::float32), d = a.diagonal(), beside = a.diagonal(1, 0, 1);
  const auto pattern = rc::Sparsity::of_dense(a);
  for (const auto& of : {rc::LinearOperator(operators::Diagonal{d}), rc::LinearOperator(operators::Triangular{a}),
                         rc::LinearOperator(operators::Tridiagonal{beside, d, beside}),
                         rc::LinearOperator(rc::Sparse::of_dense(a, pattern))})
    expect_close(solvers::linear_solve(of, b).value, rc::solve(operators::as_matrix(of), b.to(rc::float64)), 1e-12);
  const auto found = solvers::linear_solve(operators::Matrix{a}, b, {.solver = solvers::cg({.tol = tight})});
  expect_close(found.value, rc::solve(a, b.to(rc::float64)), 1e-11);
}

TEST(LinearSolve, ThrowsOnFailureWhereAskedTo) {
  const auto solve = [](const Tensor& d, const Tensor& b) {
    return solvers::linear_solve(operators::Diagonal{d}, b, {.throw_on_failure = true}).value;
  };
  const Tensor d = doubles({1, 2, 1, 0}, {2, 2}), b = doubles({3, 4});
  expect_close(solve(d[0], b), doubles({3, 2}));
  const std::string text = "check_finite: the value of linear_solve, which ended as singular, is nan in example 1";
  for (const bool compiled : {false, true}) {
    const auto mapped = rc::vmap(solve, {.in_dims = {0, rc::none}});
    try {
      compiled ? rc::compile(mapped)(d, b) : mapped(d, b);
      ADD_FAILURE() << "nothing thrown";
    } catch (const rc::ValueError& error) { EXPECT_EQ(std::string(error.what()).substr(0, text.size()), text); }
  }
}

TEST(LinearSolve, OfAFunctionOfTrees) {
  const auto f = [](const Point& p) { return Point{3 * p.place + p.speed.sum(), 2 * p.speed + p.place}; };
  const Point b{number(1), doubles({2, 5})};
  const Point found = solvers::linear_solve(f, b).value;
  expect_close(f(found).place, b.place);
  expect_close(f(found).speed, b.speed);
}

TEST(Operators, AreComposedAddedScaledAndTransposed) {
  const rc::LinearOperator a = operators::Matrix{matrix(false)}, b = operators::Diagonal{right_side()};
  const Tensor dense = matrix(false), diagonal = rc::diag(right_side());
  expect_close(operators::as_matrix(a + b), dense + diagonal);
  expect_close(operators::as_matrix(a - b), dense - diagonal);
  expect_close(operators::as_matrix(-a), -dense);
  expect_close(operators::as_matrix(2.5 * a), 2.5 * dense);
  expect_close(operators::as_matrix(operators::compose(a, b)), matmul(dense, diagonal));
  expect_close(operators::as_matrix(operators::identity(right_side())), rc::eye(4, rc::float64));
  for (const rc::LinearOperator& of :
       {a, b, rc::LinearOperator(operators::Triangular{dense}), operators::compose(a, b),
        rc::LinearOperator(operators::Tridiagonal{doubles({1, 2}), doubles({3, 4, 5}), doubles({6, 7})})})
    expect_close(operators::as_matrix(operators::transposed(of)), operators::as_matrix(of).mT());
  // The same matrix, written down and as a function.
  const Tensor half = 0.5 * matrix(true), lower = rc::tril(half, -1);
  const Tensor hermitian = complex(half, lower - lower.mT());
  for (const auto& [values, tags] :
       {std::pair{complex(dense, half), operators::Tags{}}, std::pair{hermitian, operators::Tags{.positive = true}}}) {
    rc::LinearOperator f([m = values](const Tensor& x) { return matmul(m, x); });
    f = operators::with_argument(f, complex(right_side(), right_side()));
    f.tags = tags;
    expect_close(operators::as_matrix(operators::transposed(f)), values.mT());
    expect_close(operators::as_matrix(operators::transposed(operators::Matrix{values, tags})), values.mT());
    const rc::LinearOperator elements = operators::Diagonal{complex(right_side(), right_side())};
    expect_close(operators::as_matrix(operators::transposed(elements)), operators::as_matrix(elements));
    expect_close(operators::as_matrix(operators::transposed(elements + f)), operators::as_matrix(elements + f).mT());
  }
  rc::LinearOperator doubled([](const Tensor& x) { return rc::cat({x, x}, 0); }, {},
                             [](const Tensor& y) { return y.slice(0, 0, 2) + y.slice(0, 2, 4); });
  doubled = operators::with_argument(doubled, doubles({0, 0}));
  expect_close(operators::as_matrix(operators::transposed(doubled)), operators::as_matrix(doubled).mT());
  const Tensor x = solvers::linear_solve(a + 2.0 * b, right_side()).value;
  expect_close(matmul(dense + 2 * diagonal, x), right_side());
}

TEST(Operators, KeepTheTagsThatFollow) {
  const rc::LinearOperator positive = operators::Matrix{matrix(true), {.positive = true}};
  const rc::LinearOperator symmetric = operators::Matrix{matrix(true), {.symmetric = true}};
  EXPECT_TRUE((positive + positive).tags.positive);
  for (const auto& of : {positive + symmetric, positive - positive, 2 * positive, -positive}) {
    EXPECT_TRUE(of.tags.is_symmetric());
    EXPECT_FALSE(of.tags.positive);
  }
  EXPECT_FALSE((positive + rc::LinearOperator(operators::Matrix{matrix(false)})).tags.is_symmetric());
}

TEST(Operators, AreTrees) {
  const auto solve = [](const operators::Tridiagonal& a, const Tensor& b) { return solvers::linear_solve(a, b).value; };
  const operators::Tridiagonal a{doubles({1, 2}), doubles({6, 7, 8}), doubles({1, -1})};
  const Tensor b = doubles({1, 2, 3});
  const auto many = rc::stack_trees(std::vector{a, a});
  expect_close(rc::vmap(solve)(many, rc::stack({b, 2 * b}, 0))[1], 2 * solve(a, b));
  const auto gradient = rc::grad([&](const operators::Tridiagonal& a) { return solve(a, b).sum(); })(a);
  const Tensor of_matrix = rc::grad([&](const Tensor& a) { return rc::solve(a, b).sum(); })(operators::as_matrix(a));
  expect_close(gradient.lower, of_matrix.diagonal(-1, 0, 1));
  expect_close(gradient.diagonal, of_matrix.diagonal());
  expect_close(gradient.upper, of_matrix.diagonal(1, 0, 1));
}

std::int64_t status_of(const rc::LinearOperator& a, const Tensor& b, const solvers::LinearSolver& solver) {
  return solvers::linear_solve(a, b, {.solver = solver}).status.item<std::int64_t>();
}

TEST(LinearSolve, SaysWhatFailed) {
  const Tensor nothing = rc::zeros({2, 2}, rc::float64), b = doubles({1, 2});
  EXPECT_EQ(status_of(operators::Matrix{nothing}, b, solvers::lu()), solvers::singular);
  EXPECT_EQ(status_of(operators::Matrix{-rc::eye(2, rc::float64)}, b, solvers::cholesky()), solvers::singular);
  EXPECT_EQ(status_of(operators::Diagonal{doubles({1, 0})}, b, solvers::automatic()), solvers::singular);
  EXPECT_EQ(status_of(operators::Triangular{nothing}, b, solvers::automatic()), solvers::singular);
  EXPECT_EQ(status_of(operators::Matrix{rc::eye(2, rc::float64)}, doubles({1, NAN}), solvers::lu()),
            solvers::not_finite);
  for (const auto& solver : {solvers::lu(), solvers::cholesky(), solvers::qr(), solvers::svd()}) {
    const auto found = status_of(operators::Matrix{doubles({NAN, 1, 1, 1}, {2, 2})}, b, solver);
    EXPECT_TRUE(found == solvers::not_finite || found == solvers::singular) << found;
  }
  EXPECT_EQ(status_of(operators::Matrix{doubles({NAN, 1, 1, 1}, {2, 2})}, b, solvers::svd()), solvers::not_finite);
  EXPECT_EQ(status_of(operators::Matrix{doubles({INFINITY, 1, 1, 1}, {2, 2})}, b, solvers::lu()), solvers::not_finite);
  EXPECT_EQ(status_of(operators::Matrix{rc::ones({2, 2}, rc::float64)}, b, solvers::svd()), solvers::converged);
  const operators::Diagonal stiff{doubles({1, 2, 3, 4})};
  EXPECT_EQ(status_of(stiff, right_side(), solvers::cg({.tol = tight, .max_steps = 2})), solvers::max_steps_reached);
  EXPECT_EQ(status_of(stiff, right_side(), solvers::cg({.tol = tight})), solvers::converged);
  EXPECT_EQ(
      solvers::linear_solve(stiff, right_side(), {.solver = solvers::cg({.tol = tight})}).steps.item<std::int64_t>(),
      4);
  // bfloat16 has no number between 300 and 302.
  const Tensor coarse = rc::ones({2}).to(rc::bfloat16);
  const auto skewed = [](const Tensor& x) { return rc::stack({x[1], -x[0]}, 0); };  // neither symmetric nor positive
  const auto cut_off =
      solvers::linear_solve(skewed, coarse, {.solver = solvers::gmres({.max_steps = 301, .restart = 1})});
  EXPECT_EQ(cut_off.steps.item<std::int64_t>(), 301);
  // A singular matrix spoils its own example alone, and so does one that is not finite.
  const auto status = [](const Tensor& a, const Tensor& b) {
    return solvers::linear_solve(operators::Matrix{a}, b).status;
  };
  const auto status_of_svd = [](const Tensor& a) {
    return solvers::linear_solve(operators::Matrix{a}, doubles({1, 2}), {.solver = solvers::svd()}).status;
  };
  const Tensor one_bad = rc::stack({nothing / 0.0, rc::eye(2, rc::float64)}, 0);
  expect_values(rc::vmap(status_of_svd)(one_bad), {2, 0});
  expect_values(rc::compile(rc::vmap(status_of_svd))(one_bad), {2, 0});
  const Tensor both = rc::stack({nothing, rc::eye(2, rc::float64)}, 0);
  expect_values(rc::vmap(status, {.in_dims = {0, rc::none}})(both, b), {3, 0});
  expect_values(rc::compile(rc::vmap(status, {.in_dims = {0, rc::none}}))(both, b), {3, 0});
}

TEST(LinearSolve, AFailureThatIsNotUsedLeavesSharedDerivativesAlone) {
  // The matrix of the example with a < 0 is 0; x of the other is p² for each element of the side.
  const auto expect_alone = [](const char* name, std::int64_t n, const auto& solve) {
    SCOPED_TRACE(name);
    const auto of = [&](const Tensor& pivot, const Tensor& p) { return solve(pivot, p, (p * p * p).expand({n})); };
    const auto total = [&](const Tensor& p) {
      const auto found = rc::vmap([&](const Tensor& a) { return of(p * (a > 0), p); })(doubles({2, -1}));
      return where(found.status == solvers::converged, found.value.sum(1), 0).sum();
    };
    const Tensor one = rc::ones({}, rc::float64);
    const double first = 2.0 * static_cast<double>(n);
    expect_values(rc::grad(total)(one), {first}, 1e-12);
    expect_values(rc::compile(rc::grad(total))(one), {first}, 1e-12);
    expect_values(rc::jacfwd(total)(one), {first}, 1e-12);
    expect_values(rc::grad(rc::grad(total))(one), {first}, 1e-12);
    expect_values(rc::compile(rc::grad(rc::grad(total)))(one), {first}, 1e-12);
    expect_values(rc::hessian(total)(one), {first}, 1e-12);
    // Where a failed value that is infinite or NaN is used, its derivative is so too; gmres finds a finite one.
    const auto used = [&](const Tensor& p) { return of(0 * p, p).value.sum(); };
    const Tensor value = used(one), slope = rc::grad(used)(one);
    if (std::isfinite(value.item<double>())) return;
    EXPECT_FALSE(std::isfinite(slope.item<double>())) << slope;
  };
  for (const auto& [name, solver, needs_positive] : cases) {
    const bool has_least_residual = name == std::string("qr") || name == std::string("svd");
    if (has_least_residual) continue;  // no matrix is singular to them
    expect_alone(name, 1, [&, by = solver](const Tensor& pivot, const Tensor&, const Tensor& b) {
      return solvers::linear_solve(operators::Matrix{pivot.reshape({1, 1})}, b, {.solver = by});
    });
  }
  expect_alone("cg of a function", 1, [](const Tensor& pivot, const Tensor&, const Tensor& b) {
    return solvers::linear_solve([pivot](const Tensor& x) { return pivot * x; }, b, {.solver = solvers::cg()});
  });
  expect_alone("tridiagonal", 1, [](const Tensor& pivot, const Tensor&, const Tensor& b) {
    const Tensor none = rc::zeros({0}, rc::float64);
    return solvers::linear_solve(operators::Tridiagonal{none, pivot.reshape({1}), none}, b);
  });
  // Part of what these find is finite.
  expect_alone("diagonal", 2, [](const Tensor& pivot, const Tensor& p, const Tensor& b) {
    return solvers::linear_solve(operators::Diagonal{rc::stack({p, pivot}, 0)}, b);
  });
  for (const bool is_upper : {false, true})
    expect_alone("triangular", 2, [=](const Tensor& pivot, const Tensor& p, const Tensor& b) {
      const Tensor values = diag_embed(rc::stack({p, pivot}, 0));
      return solvers::linear_solve(operators::Triangular{values, is_upper}, b);
    });
}

TEST(LinearSolve, OfNothingIsNothing) {
  EXPECT_EQ(sizes(solvers::linear_solve(operators::Matrix{rc::zeros({0, 0})}, rc::zeros({0})).value), Sizes{0});
  const auto found = solvers::linear_solve([](const std::vector<Tensor>& x) { return x; }, std::vector<Tensor>());
  EXPECT_TRUE(found.value.empty());
  EXPECT_EQ(found.status.item<std::int64_t>(), solvers::converged);
}

TEST(LinearSolve, ErrorsSayWhatToDo) {
  const Tensor b = rc::ones({2});
  expect_error<rc::ValueError>(
      [&] { solvers::linear_solve(operators::Matrix{rc::zeros({2, 3})}, b, {.solver = solvers::lu()}); },
      "linear_solve: lu needs a square operator; this one takes f32[3], and b is f32[2]; qr and svd find the least "
      "residual");
  expect_error<rc::ValueError>(
      [&] { solvers::linear_solve(operators::Matrix{rc::eye(2)}, b, {.solver = solvers::tridiagonal()}); },
      "linear_solve: tridiagonal needs a Tridiagonal; take another solver, or make the operator of one");
  const Tensor three = rc::ones({3}), several = rc::ones({3, 2});
  for (const auto& of :
       {rc::LinearOperator(operators::Diagonal{three}), rc::LinearOperator(operators::Triangular{rc::eye(3)}),
        rc::LinearOperator(operators::Tridiagonal{b, three, b}), rc::LinearOperator(operators::Matrix{rc::eye(3)})})
    for (const Tensor& side : {rc::ones({1}), several, rc::ones({3, 3}), rc::ones({})})
      EXPECT_THROW(solvers::linear_solve(of, side), rc::ValueError);
  expect_error<rc::ValueError>(
      [&] { solvers::linear_solve(operators::Diagonal{three}, several); },
      "linear_solve: b is f32[3,2]; an operator [3,3] has right sides [3]: map over many with vmap");
  const auto flat = operators::with_argument([](const Tensor& x) { return 2 * x.reshape({4}); }, rc::zeros({2, 2}));
  expect_error<rc::ValueError>(
      [&] { solvers::linear_solve(flat, rc::ones({2, 2})); },
      "linear_solve: b is f32[2,2], and the operator gives f32[4]; b must have the same shape");
  expect_error<rc::ValueError>(
      [&] { solvers::linear_solve(operators::Matrix{several}, b); },
      "linear_solve: b is f32[2]; an operator [3,2] has right sides [3]: map over many with vmap");
  expect_error<rc::ValueError>(
      [&] {
        (rc::LinearOperator(operators::Matrix{rc::ones({1, 3})}) +
         rc::LinearOperator(operators::Matrix{rc::ones({4, 3})}))
            .apply(three);
      },
      "LinearOperator: the operands of a sum give f32[1] and f32[4]; their results must have the same shape");
  expect_error<rc::TypeError>([&] { solvers::linear_solve(operators::Matrix{rc::eye(2)}, rc::arange(2)); },
                              "linear_solve: b is i64[2]; convert it to a floating dtype");
  expect_error<rc::ValueError>(
      [&] { rc::LinearOperator(operators::Tridiagonal{b, b, b}); },
      "LinearOperator: a Tridiagonal has a diagonal f32[2], below it f32[2] and above it f32[2]; these must have one "
      "element fewer than the diagonal");
  expect_error<rc::ValueError>([] { operators::as_matrix([](const Tensor& x) { return x; }); },
                               "as_matrix: the function's argument is not known; set the operator's argument, a shape "
                               "and dtype");
  EXPECT_THROW(solvers::linear_solve(operators::Matrix{rc::zeros({2, 2})}, b, {.throw_on_failure = true}),
               rc::ValueError);
}

}  // namespace
