// Solutions and their derivatives are those of dense systems, under every transform.
#include <gtest/gtest.h>
#include <ricci/ricci.h>
#include <ricci/sparse.h>

#include "support/expect_error.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Sparse, rc::Sparsity, rc::Tensor;
using namespace testing_support;
namespace sparse = ricci::sparse;

namespace {

constexpr std::int64_t n = 12;

struct Solver {
  const char* name;
  bool needs_symmetric;
  Tensor (*solve)(const rc::LinearOperator& a, const Tensor& b, const sparse::SolverOptions& options);
};
const Solver solvers[] = {{"cg", true, sparse::cg},
                          {"minres", true, sparse::minres},
                          {"bicgstab", false, sparse::bicgstab},
                          {"gmres", false, sparse::gmres}};

/// Three diagonals; symmetric or not.
Sparse matrix(bool is_symmetric) {
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  std::vector<double> values;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = std::max<std::int64_t>(0, i - 1); j <= std::min(n - 1, i + 1); ++j) {
      pairs.emplace_back(i, j);
      values.push_back(i == j ? 3 + 0.25 * static_cast<double>(i) : is_symmetric ? -1 : i < j ? -1.5 : 0.5);
    }
  return {Sparsity::of_pairs(n, n, pairs), rc::tensor(values)};
}
Tensor right_side() { return cos(rc::arange(n).to(rc::float64)); }
sparse::SolverOptions exact() { return {.tol = 1e-13}; }

TEST(SparseSolvers, SolveWithTheDerivativesOfDenseSystems) {
  for (const Solver& solver : solvers) {
    SCOPED_TRACE(solver.name);
    const Sparse a = matrix(solver.needs_symmetric);
    const Tensor b = right_side();
    const auto by_steps = [&](const Tensor& values, const Tensor& b) {
      return solver.solve(Sparse{a.sparsity, values}, b, exact());
    };
    const auto dense = [&](const Tensor& values, const Tensor& b) {
      return rc::solve(Sparse{a.sparsity, values}.to_dense(), b);
    };
    // A change of one value alone would make the matrix of cg asymmetric: both change together.
    const Sparse across = Sparse{a.sparsity, rc::arange(a.sparsity.nnz())}.transpose();
    const auto as_needed = [&](const Tensor& values) {
      return solver.needs_symmetric ? 0.5 * (values + values.index_select(0, across.values)) : values;
    };
    expect_close(by_steps(a.values, b), dense(a.values, b), 1e-12);
    const auto size_of = [&](const auto& solve) {
      return [&](const Tensor& values, const Tensor& b) { return sin(solve(as_needed(values), b)).sum(); };
    };
    const auto found = rc::grad<0, 1>(size_of(by_steps))(a.values, b),
               wanted = rc::grad<0, 1>(size_of(dense))(a.values, b);
    expect_close(std::get<0>(found), std::get<0>(wanted), 1e-11);
    expect_close(std::get<1>(found), std::get<1>(wanted), 1e-11);
    expect_close(rc::hessian<1>(size_of(by_steps))(a.values, b), rc::hessian<1>(size_of(dense))(a.values, b), 1e-10);
    expect_close(rc::jvp([&](const Tensor& v) { return by_steps(as_needed(v), b); }, a.values, a.values).second,
                 rc::jvp([&](const Tensor& v) { return dense(as_needed(v), b); }, a.values, a.values).second, 1e-11);
    const Tensor many = rc::stack({b, b * 0, b.flip(0)}, 0);
    expect_close(rc::vmap([&](const Tensor& b) { return by_steps(a.values, b); })(many),
                 rc::vmap([&](const Tensor& b) { return dense(a.values, b); })(many), 1e-12);
    expect_close(rc::compile(by_steps)(a.values, b), dense(a.values, b), 1e-12);
    expect_close(rc::compile(rc::grad(size_of(by_steps)))(a.values, b), std::get<0>(wanted), 1e-11);
  }
}

TEST(SparseSolvers, TakeFunctionsOfAnyShapeAndPreconditioners) {
  const Tensor b = rc::linspace(-1, 1, 24, rc::float64).view({4, 6});
  const Tensor scale = rc::linspace(1, 100, 24, rc::float64).view({4, 6});
  const auto a = [&](const Tensor& x) { return scale * x - 0.25 * (x.roll(1, 0) + x.roll(-1, 0)); };
  for (const Solver& solver : solvers) {
    SCOPED_TRACE(solver.name);
    sparse::SolverOptions options{.tol = 1e-12};
    rc::LinearOperator with(a, [&](const Tensor& x) { return x / scale; });
    expect_close(a(solver.solve(with, b, options)), b, 1e-10);
    const auto solution = [&](const Tensor& b) { return solver.solve(with, b, options); };
    const Tensor ct = cos(b);  // a is symmetric, so its solution is too
    const auto [x, pullback] = rc::vjp(solution, b);
    expect_close(a(pullback(ct)), ct, 1e-10);
    // Eight steps are enough with the preconditioner, and not without.
    options.tol = 1e-8, options.max_steps = 8, options.restart = 1;
    const auto error = [&] { return abs(a(solver.solve(with, b, options)) - b).max().item<double>(); };
    EXPECT_LT(error(), 1e-6);
    with.preconditioner = {};
    EXPECT_GT(error(), 1e-6);
  }
}

TEST(SparseSolvers, PreconditionersMayCaptureWhatIsDifferentiated) {
  const Tensor b = right_side();
  for (const Solver& solver : solvers) {
    SCOPED_TRACE(solver.name);
    const Sparse a = matrix(solver.needs_symmetric);
    const auto ours = [&](const Tensor& scale) {
      const Sparse scaled = a * scale;
      const rc::LinearOperator of(scaled, [d = scaled.diagonal() * (1 + scale)](const Tensor& r) { return r / d; });
      return sin(solver.solve(of, b, exact()));
    };
    const auto dense = [&](const Tensor& scale) { return sin(rc::solve((a * scale).to_dense(), b)); };
    const auto loss = [](const auto& f) { return [&](const Tensor& x) { return f(x).sum(); }; };
    const Tensor scale = rc::tensor(1.5, rc::float64), both_signs = rc::tensor({1.5, -2.0, 3.0}, rc::float64);
    const Tensor scales = solver.needs_symmetric ? abs(both_signs) : both_signs;  // cg needs a definite matrix
    const double tolerance = 1e-11;
    expect_close(rc::jacfwd(ours)(scale), rc::jacfwd(dense)(scale), tolerance);
    expect_close(rc::grad(loss(ours))(scale), rc::grad(loss(dense))(scale), tolerance);
    expect_close(rc::hessian(loss(ours))(scale), rc::hessian(loss(dense))(scale), 1e-10);
    expect_close(rc::vmap(rc::grad(loss(ours)))(scales), rc::vmap(rc::grad(loss(dense)))(scales), tolerance);
    expect_close(rc::compile(rc::vmap(rc::grad(loss(ours))))(scales), rc::vmap(rc::grad(loss(dense)))(scales),
                 tolerance);
  }
}

TEST(SparseSolvers, TransposesMayBeGiven) {
  const Sparse a = matrix(false);
  const Tensor b = right_side(), scale = rc::tensor(1.5, rc::float64);
  int calls = 0;
  const auto with = [&](const Tensor& scale) {
    const Sparse scaled = a * scale;
    return rc::LinearOperator(
        scaled, [](const Tensor& r) { return r / 3; },
        [&calls, across = scaled.transpose()](const Tensor& x) { return ++calls, matmul(across, x); });
  };
  const auto ours = [&](const Tensor& scale, const Tensor& b) {
    return sin(sparse::gmres(with(scale), b, exact())).sum();
  };
  const auto dense = [&](const Tensor& scale, const Tensor& b) {
    return sin(rc::solve((a * scale).to_dense(), b)).sum();
  };
  expect_close(rc::grad(ours)(scale, b), rc::grad(dense)(scale, b), 1e-11);
  EXPECT_GT(calls, 0);
  expect_close(rc::grad<1>(ours)(scale, b), rc::grad<1>(dense)(scale, b), 1e-11);
  expect_close(rc::hessian(ours)(scale, b), rc::hessian(dense)(scale, b), 1e-10);
  expect_close(rc::compile(rc::hessian<1>(ours))(scale, b), rc::hessian<1>(dense)(scale, b), 1e-10);
  // The one that is given is the one that solves: by another, the cotangent is another.
  const rc::LinearOperator other([](const Tensor& x) { return 2 * x; }, {}, [](const Tensor& x) { return 4 * x; });
  expect_close(rc::grad([&](const Tensor& b) { return sparse::gmres(other, b, exact()).sum(); })(b),
               0.25 * rc::ones_like(b), 1e-14);
}

TEST(SparseSolvers, MinresSolvesIndefiniteSystems) {
  const Tensor d = where(eq(rc::remainder(rc::arange(n), 3), 0), -4., 5.).to(rc::float64), b = right_side();
  const auto a = [&](const Tensor& x) { return d * x + x.roll(1, 0) + x.roll(-1, 0); };
  const Tensor x = sparse::minres(a, b, exact());
  expect_close(a(x), b, 1e-11);
  expect_close(sparse::minres({a, [&](const Tensor& r) { return r / abs(d); }}, b, exact()), x, 1e-11);
  expect_close(sparse::minres([](const Tensor& x) { return -2 * x; }, b), -b / 2, 1e-14);
  expect_close(sparse::minres(a, 0 * b), 0 * b, 0);
}

TEST(SparseSolvers, GmresBeginsAnewAndEndsEarly) {
  const Sparse a = matrix(false);
  const Tensor b = right_side();
  expect_close(sparse::gmres(a, b, {.tol = 1e-12, .restart = 3}), rc::solve(a.to_dense(), b), 1e-11);
  const Tensor two = rc::tensor({3., 4.}, rc::float64);
  expect_close(sparse::gmres([](const Tensor& x) { return 2 * x; }, two), two / 2, 1e-14);
}

TEST(SparseSolvers, SolveProductsOfMatrices) {
  const Sparse a = matrix(false);
  const Tensor b = right_side();
  const auto normal = [&](const Tensor& x) { return matmul(a.transpose(), matmul(a, x)); };
  const Tensor dense = matmul(mT(a.to_dense()), a.to_dense());
  expect_close(rc::compile(normal)(b), matmul(dense, b), 1e-12);
  expect_close(sparse::cg(normal, b, {.tol = 1e-13}), rc::solve(dense, b), 1e-9);
}

TEST(SparseSolvers, Refuse) {
  const auto twice = [](const Tensor& x) { return 2 * x; };
  expect_error<rc::TypeError>([&] { sparse::cg(twice, rc::tensor({1, 2})); }, "cg: b is i64[2]; pass floating numbers");
  expect_error<rc::ValueError>([&] { sparse::gmres(twice, rc::ones({2}), {.restart = 0}); },
                               "gmres: restart is 0; it must be positive");
  expect_error<rc::ValueError>([&] { sparse::cg(sparse::LinearFunction(), rc::ones({2})); },
                               "cg: the function is empty; pass one that multiplies by the matrix");
  expect_error<rc::ValueError>([&] { sparse::cg(twice, rc::ones({2}), {.max_steps = -1}); },
                               "cg: max_steps is -1; pass the most steps, or 0 for ten for each element of b");
}

}  // namespace
