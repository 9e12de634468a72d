// Systems solved by factors of sparse matrices have the solutions and derivatives of dense ones, under every transform.
#include <gtest/gtest.h>
#include <ricci/ricci.h>
#include <ricci/sparse.h>

#include <cmath>
#include <random>
#include <sstream>

#include "support/expect_error.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Sparse, rc::Sparsity, rc::Tensor;
using namespace testing_support;
namespace sparse = ricci::sparse;

namespace {

using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// Random places, and either a heavy diagonal or one in each row and column that is heavy.
struct RandomMatrix {
  Sparse a;
  bool is_symmetric;

  RandomMatrix(std::int64_t n, bool symmetric, bool exchanged, std::mt19937_64& draws) : is_symmetric(symmetric) {
    Pairs pairs;
    std::vector<std::int64_t> heavy(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) heavy[static_cast<std::size_t>(i)] = i;
    if (exchanged) std::shuffle(heavy.begin(), heavy.end(), draws);
    std::uniform_int_distribution<std::int64_t> place(0, std::max<std::int64_t>(0, n - 1));
    for (std::int64_t i = 0; i < n; ++i) pairs.emplace_back(i, heavy[static_cast<std::size_t>(i)]);
    const std::int64_t more = n == 0 ? 0 : std::uniform_int_distribution<std::int64_t>(0, 4 * n)(draws);
    for (std::int64_t k = 0; k < more; ++k) {
      pairs.emplace_back(place(draws), place(draws));
      if (symmetric) pairs.emplace_back(pairs.back().second, pairs.back().first);
    }
    const Sparsity sparsity = Sparsity::of_pairs(n, n, pairs);
    std::vector<double> values;
    std::uniform_real_distribution<double> value(-1, 1);
    for (std::int64_t i = 0; i < n; ++i)
      for (const std::int64_t j : sparsity.row(i))
        values.push_back(j == heavy[static_cast<std::size_t>(i)]
                             ? 4 * static_cast<double>(n) * (value(draws) > 0 ? 1 : -1)
                             : value(draws));
    a = {sparsity, rc::tensor(values)};
    if (symmetric) a.values = 0.5 * (a.values + a.transpose().values);
  }
};

Tensor side(std::int64_t n) { return cos(rc::arange(n).to(rc::float64)); }

TEST(SparseDirect, SolvesRandomSystemsAsDenseOnes) {
  std::mt19937_64 draws(50);
  for (int i = 0; i < 2000; ++i) {
    SCOPED_TRACE(i);
    const std::int64_t n = i % 40;
    const RandomMatrix m(n, i % 3 == 0, i % 3 == 1, draws);
    const Tensor dense = m.a.to_dense(), b = side(n);
    const Tensor x = sparse::solve(m.a, b, sparse::Analysis(m.a, {.symmetric = m.is_symmetric}));
    ASSERT_EQ(x.shape(), b.shape());
    if (n > 0) expect_close(x, rc::solve(dense, b), 1e-13);
  }
}

struct Kind {
  const char* name;
  sparse::Analysis analysis;
  Sparse a;
};
std::vector<Kind> kinds() {
  std::mt19937_64 draws(7);
  const RandomMatrix symmetric(9, true, false, draws), general(9, false, false, draws),
      exchanged(9, false, true, draws);
  const sparse::AnalysisOptions is_symmetric{.symmetric = true};
  return {{"symmetric", sparse::Analysis(symmetric.a.sparsity, is_symmetric), symmetric.a},
          {"general", sparse::Analysis(general.a.sparsity), general.a},
          {"exchanged", sparse::Analysis(exchanged.a), exchanged.a}};
}

TEST(SparseDirect, HasTheDerivativesOfDenseSystems) {
  for (const Kind& kind : kinds()) {
    SCOPED_TRACE(kind.name);
    const Tensor v = kind.a.values, b = side(9);
    const auto ours = [&](const Tensor& v, const Tensor& b) {
      return sin(20 * sparse::solve({kind.a.sparsity, v}, b, kind.analysis));
    };
    const auto dense = [&](const Tensor& v, const Tensor& b) {
      const Tensor a = Sparse{kind.a.sparsity, v}.to_dense();
      return sin(20 * rc::solve(kind.analysis.is_symmetric() ? 0.5 * (a + a.mT()) : a, b));
    };
    const auto compare = [&](const auto& of) {
      const Tensor wanted = of(dense);
      expect_close(of(ours), wanted, 1e-11);
    };
    compare([&](const auto& f) { return rc::jacrev(f)(v, b); });
    compare([&](const auto& f) { return rc::jacfwd(f)(v, b); });
    compare([&](const auto& f) { return rc::template jacrev<1>(f)(v, b); });
    const auto loss = [](const auto& f) { return [&](const Tensor& v, const Tensor& b) { return f(v, b).sum(); }; };
    compare([&](const auto& f) { return rc::hessian(loss(f))(v, b); });
    compare([&](const auto& f) { return rc::template hessian<1>(loss(f))(v, b); });
    compare([&](const auto& f) { return rc::jacrev(rc::grad(loss(f)))(v, b); });
    compare([&](const auto& f) { return rc::jacrev(rc::template grad<1>(loss(f)))(v, b); });
    compare([&](const auto& f) { return rc::compile(rc::grad(loss(f)))(v, b); });
    compare([&](const auto& f) { return rc::compile(rc::jacfwd(f))(v, b); });
    const Tensor more_v = rc::stack({v, 1.5 * v, -v}, 0), more_b = rc::stack({b, b.flip(0), b * b}, 0);
    for (const bool compiled : {false, true}) {
      const auto compare_mapped = [&](const auto& map) {
        compare([&](const auto& f) { return compiled ? rc::compile(map(f))(more_v, more_b) : map(f)(more_v, more_b); });
        const auto gradient = [&](const auto& f) { return rc::grad(loss(f)); };
        compare([&](const auto& f) { return map(gradient(f))(more_v, more_b); });
        compare(
            [&](const auto& f) { return rc::grad([&](const Tensor& v) { return map(f)(v, more_b).sum(); })(more_v); });
        compare([&](const auto& f) {
          return rc::jvp([&](const Tensor& b) { return map(f)(more_v, b); }, more_b, cos(more_b)).second;
        });
      };
      compare_mapped([](const auto& f) { return rc::vmap(f); });
      compare_mapped([&](const auto& f) {
        return [&](const Tensor&, const Tensor& b) { return rc::vmap([&](const Tensor& b) { return f(v, b); })(b); };
      });
      compare_mapped([&](const auto& f) {
        return [&](const Tensor& v, const Tensor&) { return rc::vmap([&](const Tensor& v) { return f(v, b); })(v); };
      });
    }
  }
}

TEST(SparseDirect, SolvesInLoopsAndBranches) {
  for (const Kind& kind : kinds()) {
    SCOPED_TRACE(kind.name);
    const auto steps = [&](const auto& solve) {
      return [&](const Tensor& v) {
        return rc::fori_loop(
                   0, 3, [&](const Tensor&, const Tensor& x) { return sin(9 * solve(v, x)) + x; }, side(9))
            .sum();
      };
    };
    const auto ours = [&](const Tensor& v, const Tensor& b) {
      return sparse::solve({kind.a.sparsity, v}, b, kind.analysis);
    };
    const auto dense = [&](const Tensor& v, const Tensor& b) {
      const Tensor a = Sparse{kind.a.sparsity, v}.to_dense();
      return rc::solve(kind.analysis.is_symmetric() ? 0.5 * (a + a.mT()) : a, b);
    };
    const Tensor wanted = rc::grad(steps(dense))(kind.a.values);
    expect_close(rc::grad(steps(ours))(kind.a.values), wanted, 1e-12);
    expect_close(rc::compile(rc::grad(steps(ours)))(kind.a.values), wanted, 1e-12);
  }
}

TEST(SparseDirect, SolvesForBatchesAndMatrices) {
  for (const Kind& kind : kinds()) {
    SCOPED_TRACE(kind.name);
    const Tensor two = rc::stack({kind.a.values, 3 * kind.a.values}, 0), v = kind.a.values;
    const Tensor b = side(9), m = side(36).view({9, 4}), each = side(72).view({2, 9, 4});
    const auto compare = [&](const Tensor& values, const Tensor& b) {
      const Sparse a{kind.a.sparsity, values};
      const Tensor column = b.dim() == 1 ? b.unsqueeze(-1) : b;
      const Tensor x = sparse::solve(a, b, kind.analysis);
      expect_close(b.dim() == 1 ? x.unsqueeze(-1) : x, rc::solve(a.to_dense(), column), 1e-13);
    };
    for (const Tensor& right : {b, m, each}) compare(v, right), compare(two, right);
    const sparse::Factor kept = sparse::factor(kind.a, kind.analysis);
    expect_close(sparse::solve(kept, m), sparse::solve(kind.a, m, kind.analysis), 0);
    const auto of_factor = [&](const sparse::Factor& f) { return sparse::solve(f, b); };
    expect_close(rc::vmap(of_factor)(sparse::factor({kind.a.sparsity, two}, kept.analysis)),
                 sparse::solve({kind.a.sparsity, two}, b, kept.analysis), 0);
  }
}

TEST(SparseDirect, SolvesInTheDTypeOfItsOperands) {
  const Sparse a{Sparsity(2, 2, {0, 1, 2}, {1, 0}), rc::tensor({3.F, 4.F})};
  const Tensor x = sparse::solve(a, rc::tensor({1.F, 2.F}));
  EXPECT_EQ(x.dtype(), rc::float32);
  expect_close(x, rc::tensor({0.5F, 1.F / 3}), 1e-7);
  EXPECT_EQ(sparse::solve(a, rc::tensor({1., 2.}, rc::float64)).dtype(), rc::float64);
}

/// minimise x H x / 2 under C x = d: of constraints as many as `of`, each of some unknowns.
TEST(SparseDirect, SolvesOptimalityConditionsWhoseDiagonalIsZeroInPart) {
  std::mt19937_64 draws(3);
  for (const std::int64_t constraints : {1, 5, 20}) {
    const std::int64_t n = 30, all = n + constraints;
    Pairs pairs;
    std::uniform_int_distribution<std::int64_t> place(0, n - 1);
    for (std::int64_t i = 0; i < n; ++i) pairs.emplace_back(i, i);
    for (std::int64_t c = 0; c < constraints; ++c)
      for (const std::int64_t j : {c, place(draws), place(draws)}) {
        pairs.emplace_back(n + c, j);
        pairs.emplace_back(j, n + c);
      }
    const Sparsity sparsity = Sparsity::of_pairs(all, all, pairs);
    const Tensor rows = sparsity.row_indices(), columns = sparsity.col_indices();
    const Tensor values =
        where(eq(rows, columns), 1 + rows.to(rc::float64), 1 + cos((rows * columns).to(rc::float64)) / 2);
    const Sparse a{sparsity, values};
    expect_close(sparse::solve(a, side(all), {.symmetric = true}), rc::solve(a.to_dense(), side(all)), 1e-9);
  }
}

/// An objective of small whole numbers under random constraints, each of up to three unknowns: wherever a dense system
/// has a solution, the sparse one has it too.
TEST(SparseDirect, SolvesRandomQuadraticProgrammes) {
  std::mt19937_64 draws(1);
  constexpr std::int64_t n = 20, constraints = 8, all = n + constraints;
  const Tensor b = side(all);
  std::uniform_int_distribution<std::int64_t> place(0, n - 1);
  int solved = 0;
  for (int i = 0; i < 400; ++i) {
    SCOPED_TRACE(i);
    Pairs pairs;
    for (std::int64_t k = 0; k < n; ++k) pairs.emplace_back(k, k);
    for (std::int64_t c = n; c < all; ++c)
      for (const std::int64_t k : {place(draws), place(draws), place(draws)}) {
        pairs.emplace_back(c, k);
        pairs.emplace_back(k, c);
      }
    const Sparsity sparsity = Sparsity::of_pairs(all, all, pairs);
    const Tensor rows = sparsity.row_indices(), columns = sparsity.col_indices();
    const Sparse a{sparsity, where(eq(rows, columns), 1 + rows % 3, 1).to(rc::float64)};
    const Tensor dense = a.to_dense();
    if (abs(det(dense)).item<double>() < 1e-6) continue;
    ++solved;
    expect_close(sparse::solve(a, b, {.symmetric = true}), rc::solve(dense, b), 1e-8);
  }
  EXPECT_GT(solved, 300);
}

TEST(SparseDirect, ConstraintsComeAfterAllTheirUnknowns) {
  // Constraints x0 + x1 and x0 + x1 + x2: were both eliminated before x2, one pivot would be zero.
  const Pairs pairs = {{0, 0}, {1, 1}, {2, 2}, {3, 0}, {3, 1}, {0, 3}, {1, 3},
                       {4, 0}, {4, 1}, {4, 2}, {0, 4}, {1, 4}, {2, 4}};
  const sparse::Analysis analysis(Sparsity::of_pairs(5, 5, pairs), {.symmetric = true});
  const std::vector<std::int64_t> order = analysis.order();
  const auto place = [&](std::int64_t i) { return std::ranges::find(order, i) - order.begin(); };
  EXPECT_GT(place(3), std::max(place(0), place(1)));
  EXPECT_GT(place(4), std::max({place(0), place(1), place(2)}));
}

TEST(SparseDirect, FillsLittle) {
  // An arrow whose head is eliminated first would fill the whole matrix.
  Pairs arrow;
  constexpr std::int64_t n = 20000;
  for (std::int64_t i = 0; i < n; ++i) arrow.insert(arrow.end(), {{i, i}, {0, i}, {i, 0}});
  EXPECT_EQ(sparse::Analysis(Sparsity::of_pairs(n, n, arrow), {.symmetric = true}).factor_nnz(), 2 * n - 1);
  // Five points on a square of 64 x 64: row by row it is 64³ = 262,144.
  constexpr std::int64_t side = 64;
  Pairs grid;
  for (std::int64_t i = 0; i < side; ++i)
    for (std::int64_t j = 0; j < side; ++j)
      for (const auto& [di, dj] : {std::pair{0, 0}, {0, 1}, {1, 0}, {0, -1}, {-1, 0}})
        if (const std::int64_t k = i + di, l = j + dj; k >= 0 && l >= 0 && k < side && l < side)
          grid.emplace_back(i * side + j, k * side + l);
  const sparse::Analysis analysis(Sparsity::of_pairs(side * side, side * side, grid), {.symmetric = true});
  EXPECT_LT(analysis.factor_nnz(), 90000);
}

/// Seven points on a cube, whose factors have panels of some hundred columns; with `slope`, of no symmetric matrix.
Sparse of_cube(std::int64_t side, double slope) {
  Pairs pairs;
  const std::int64_t n = side * side * side;
  for (std::int64_t i = 0; i < n; ++i)
    for (const std::int64_t step : {std::int64_t{0}, std::int64_t{1}, side, side * side})
      if (step == 0 || i / step % side > 0) {
        pairs.emplace_back(i, i - step);
        pairs.emplace_back(i - step, i);
      }
  const Sparsity sparsity = Sparsity::of_pairs(n, n, pairs);
  const Tensor rows = sparsity.row_indices(), columns = sparsity.col_indices();
  return {sparsity, where(eq(rows, columns), 6.1, -1 + slope * sign(rows - columns).to(rc::float64))};
}

TEST(SparseDirect, SolvesLargeSystemsForAnyNumberOfColumns) {
  for (const double slope : {0., 0.3}) {
    const Sparse a = of_cube(14, slope);
    const std::int64_t n = a.sparsity.rows();
    const sparse::Factor factor = sparse::factor(a, {.symmetric = slope == 0});
    const Tensor b = sin(rc::arange(n * 70).to(rc::float64)).view({n, 70});
    const Tensor x = sparse::solve(factor, b);
    expect_close(matmul(a, x), b, 1e-13);
    const auto backward = rc::grad([&](const Tensor& b) { return (sparse::solve(factor, b) * cos(x)).sum(); })(b);
    expect_close(matmul(a.transpose(), backward), cos(x), 1e-13);
    for (const std::int64_t columns : {1, 3, 8, 33})
      EXPECT_TRUE(rc::equal(sparse::solve(factor, b.slice(1, 0, columns)), x.slice(1, 0, columns))) << columns;
    EXPECT_TRUE(rc::equal(sparse::solve(factor, b.select(1, 69)), x.select(1, 69)));
  }
}

TEST(SparseDirect, PrintsAndRefuses) {
  std::ostringstream out;
  const Sparsity two(2, 2, {0, 1, 3}, {0, 0, 1});
  out << sparse::Analysis(two);
  EXPECT_EQ(out.str(), "Analysis of Sparsity 2 x 2, 3 nonzeros: L D U of 4 nonzeros");
  expect_error<rc::ValueError>([&] { sparse::Analysis(two, {.symmetric = true}); },
                               "sparse::Analysis: the pattern is not symmetric; leave .symmetric out, or have both "
                               "triangles in the pattern");
  expect_error<rc::ValueError>([&] { sparse::Analysis(Sparsity(1, 2, {0, 1}, {0})); },
                               "sparse::Analysis: the pattern has 1 rows and 2 columns; only a square matrix has an "
                               "inverse");
  expect_error<rc::ValueError>([&] { sparse::Analysis(Sparsity(2, 2, {0, 1, 2}, {0, 0})); },
                               "sparse::Analysis: every matrix of this pattern is singular: column 1 and others have, "
                               "all together, nonzeros in fewer rows than they are");
  const Sparse a{two, rc::tensor({1., 2., 3.}, rc::float64)};
  expect_error<rc::ValueError>([&] { sparse::solve(a, rc::ones({3}, rc::float64)); },
                               "sparse::solve: the right-hand side f64[3] does not fit a matrix of 2 rows; it must be "
                               "[2] or [..., 2, k]");
  expect_error<rc::TypeError>([&] { sparse::solve(a, rc::tensor({1, 2})); },
                              "sparse::solve: b is i64[2]; pass floating numbers");
  expect_error<rc::TypeError>([&] { sparse::factor({two, rc::tensor({1, 2, 3})}); },
                              "sparse::factor: the values are i64[3]; pass floating numbers");
  expect_error<rc::ValueError>(
      [&] { sparse::solve(a, rc::ones({2}), sparse::Analysis(Sparsity(2, 2, {0, 1, 2}, {0, 1}))); },
      "sparse::factor: the matrix has a pattern of 3 nonzeros that is not the analysed one, of "
      "2; make an Analysis of its sparsity");
  const Tensor singular = rc::tensor({{1., 2., 3.}, {1., 2., 0.}}, rc::float64);
  const auto of_each = rc::vmap([&](const Tensor& v) { return sparse::solve({two, v}, rc::ones({2}, rc::float64)); });
  expect_error<rc::ValueError>(
      [&] { of_each(singular); },
      "sparse::factor: the pivot of f64[2,2] in example 1 at row 1, column 1 is zero: the "
      "matrix is singular, or its rows must be exchanged. Leave the zeros of the diagonal out of the pattern. Make an "
      "Analysis of a matrix like it, which exchanges rows by value, or use sparse::gmres\n  inside vmap over axis 0 of "
      "2{at}");
}

TEST(SparseDirect, ExchangesRowsByTheValuesOfTheAnalysedMatrix) {
  // Numbers between -1 and 1, but for a diagonal that is nearly zero.
  constexpr std::int64_t n = 6;
  const Tensor i = rc::arange(n).to(rc::float64), b = side(n);
  const Tensor dense = where(eq(i, i.unsqueeze(-1)), 1e-16, cos(1.7 * i * i.unsqueeze(-1) + i));
  const Sparse a = Sparse::of_dense(dense, Sparsity::of_dense(dense));
  EXPECT_THROW(sparse::solve(a, b), rc::ValueError);
  const sparse::Analysis analysis(a);
  EXPECT_FALSE(analysis == sparse::Analysis(a.sparsity));
  expect_close(sparse::solve(a, b, analysis), rc::solve(dense, b), 1e-13);
}

TEST(SparseDirect, RefusesSolutionsThatOverflow) {
  const auto matrix = [](std::vector<double> rows) {
    const auto n = static_cast<std::int64_t>(std::lround(std::sqrt(rows.size())));
    const Tensor dense = rc::tensor(rows, rc::float64).view({n, n});
    return Sparse::of_dense(dense, Sparsity::of_dense(dense));
  };
  const auto solve = [](const Sparse& a, const Tensor& b, bool symmetric) {
    return [=] { sparse::solve(a, b, {.symmetric = symmetric}); };
  };
  for (const bool symmetric : {false, true}) {
    const Sparse tiny = matrix({1e-310}), apart = matrix({2, 1, 0, 1, 2, 0, 0, 0, 1e-300});
    EXPECT_THROW(solve(tiny, rc::full({1}, 1e10, rc::float64), symmetric)(), rc::ValueError);
    EXPECT_THROW(solve(apart, rc::tensor({1., 1., 1e10}, rc::float64), symmetric)(), rc::ValueError);
    const Tensor two = rc::tensor({{1e9, 1.}, {1., 1.}}, rc::float64);
    EXPECT_THROW(solve(matrix({1e-300, 0, 0, 1}), two, symmetric)(), rc::ValueError);
  }
}

/// The componentwise backward error, of Oettli and Prager.
TEST(SparseDirect, IsExactForElementsWithin64RoundingsOfThoseGiven) {
  std::mt19937_64 draws(7);
  std::uniform_real_distribution<double> power(-8, 8);
  double most = 0;
  for (int k = 0; k < 60; ++k) {
    const RandomMatrix of(1 + k, k % 2 == 0, false, draws);
    const sparse::Factor factor = sparse::factor(of.a, {.symmetric = of.is_symmetric});
    std::vector<double> b(static_cast<std::size_t>(1 + k));
    for (double& x : b) x = std::pow(10, power(draws));
    const Tensor right = rc::tensor(b, rc::float64), dense = of.a.to_dense();
    const Tensor x = sparse::solve(factor, right);
    const Tensor error = abs(right - matmul(dense, x)) / (matmul(abs(dense), abs(x)) + abs(right));
    most = std::max(most, error.max().item<double>());
  }
  EXPECT_LE(most, 65 * 0x1p-53);  // one more for the sums of this test
}

/// A column that is NaN, or that nothing solves, has no influence on the others.
TEST(SparseDirect, SolvesEachRightSideAlone) {
  const Sparse a{Sparsity(2, 2, {0, 2, 4}, {0, 1, 0, 1}), rc::tensor({2., 1., 1., 1e-17}, rc::float64)};
  const double nan = std::nan("");
  const Tensor alone = sparse::solve(a, rc::ones({2}, rc::float64));
  expect_close(alone, rc::tensor({1., -1.}, rc::float64), 1e-15);
  const Tensor beside = sparse::solve(a, rc::tensor({{nan, 1.}, {1., 1.}}, rc::float64));
  EXPECT_TRUE(rc::equal(beside.slice(1, 1, 2).flatten(), alone)) << beside;
  EXPECT_TRUE(isnan(beside.slice(1, 0, 1)).any().item<bool>());
  const auto of_each = rc::vmap([&](const Tensor& b) { return sparse::solve(a, b); });
  EXPECT_TRUE(rc::equal(of_each(rc::tensor({{nan, 1.}, {1., 1.}}, rc::float64))[1], alone));

  // Pivots are small: refinement takes several steps, and each example as many as it takes alone.
  rc::manual_seed(1);
  constexpr std::int64_t n = 40;
  int solved = 0;
  for (int i = 0; i < 60; ++i) {
    const Tensor dense = where(rc::rand({n, n}, rc::float64) < 0.15, rc::randn({n, n}, rc::float64), 0.) +
                         1e-4 * rc::eye(n).to(rc::float64);
    const Tensor b = rc::randn({5, n}, rc::float64);
    const Sparse a = Sparse::of_dense(dense, Sparsity::of_dense(dense));
    const auto f = [&](const Tensor& b) { return sparse::solve(a, b); };
    try {
      const Tensor together = rc::vmap(f)(b);
      ++solved;
      for (std::int64_t k = 0; k < 5; ++k) expect_close(together[k], f(b[k]), 1e-13);
    } catch (const rc::ValueError&) {}
  }
  EXPECT_GT(solved, 10);
}

/// |b - a x| / (|a| |x| + |b|), row by row: the greatest.
double backward_error(const Tensor& a, const Tensor& x, const Tensor& b) {
  return (abs(matmul(a, x) - b) / (matmul(abs(a), abs(x)) + abs(b))).max().item<double>();
}

TEST(SparseDirect, RefinesUntilTheSystemIsSolved) {
  rc::manual_seed(1);
  constexpr std::int64_t n = 40;
  int solved = 0, exact = 0;
  for (int i = 0; i < 300; ++i) {
    const Tensor dense = where(rc::rand({n, n}, rc::float64) < 0.15, rc::randn({n, n}, rc::float64), 0.) +
                         1e-4 * rc::eye(n).to(rc::float64);
    const Tensor b = rc::randn({n}, rc::float64);
    const Sparse a = Sparse::of_dense(dense, Sparsity::of_dense(dense));
    try {
      const double error = backward_error(dense, sparse::solve(a, b), b);
      ++solved;
      if (error < 1e-14) ++exact;
      EXPECT_LE(error, 1e-8);
    } catch (const rc::ValueError&) {}
  }
  EXPECT_GT(solved, 130);
  EXPECT_GE(exact, solved - 3);
}

TEST(SparseDirect, RefusesRightSidesThatNoFactorsSolve) {
  const double nan = std::nan("");
  const Sparsity full(2, 2, {0, 2, 4}, {0, 1, 0, 1});
  const Sparse tiny{full, rc::tensor({2., 1., 1., 1e-310}, rc::float64)};
  const Tensor b = rc::ones({2}, rc::float64);
  const std::string end =
      " is singular, or its pivots are too small: no solution was found that is exact for elements that differ by a "
      "part of 1e-8. Make an Analysis of a matrix like it, which exchanges rows by value, or use sparse::gmres";
  expect_error<rc::ValueError>([&] { sparse::solve(tiny, b); }, "sparse::solve: f64[2,2]" + end);
  expect_close(sparse::solve(tiny, b, sparse::Analysis(tiny)), rc::tensor({1., -1.}, rc::float64), 1e-15);
  const Tensor two = rc::tensor({{nan, 1.}, {1., 1.}}, rc::float64);
  expect_error<rc::ValueError>([&] { sparse::solve(tiny, two); },
                               "sparse::solve: f64[2,2], for column 1 of 2 right-hand sides," + end);
  const auto of_each = rc::vmap([&](const Tensor& b) { return sparse::solve(tiny, b); });
  expect_error<rc::ValueError>([&] { of_each(two); },
                               "sparse::solve: f64[2,2] in example 1" + end + "\n  inside vmap over axis 0 of 2{at}");
  const Sparse symmetric{full, rc::tensor({0., 1., 1., 0.}, rc::float64)};
  expect_error<rc::ValueError>(
      [&] { sparse::solve(symmetric, b, {.symmetric = true}); },
      "sparse::factor: the pivot of f64[2,2] at row 1, column 1 is zero: the matrix is singular, or its rows must be "
      "exchanged. Leave the zeros of the diagonal out of the pattern. Leave .symmetric out and make an Analysis of a "
      "matrix like it, which exchanges rows by value, or use sparse::minres");
}

TEST(SparseDirect, NanIsNoError) {
  const Tensor v = rc::tensor({1., std::nan("")}, rc::float64);
  const Tensor x = sparse::solve({Sparsity(2, 2, {0, 1, 2}, {0, 1}), v}, rc::ones({2}, rc::float64));
  EXPECT_EQ(x[0].item<double>(), 1);
  EXPECT_TRUE(std::isnan(x[1].item<double>()));
}

TEST(SparseDirect, ProgramsAreReadBack) {
  for (const Kind& kind : kinds()) {
    SCOPED_TRACE(kind.name);
    const Tensor b = side(9);
    const auto f = [&](const Tensor& v, const Tensor& b) {
      return sparse::solve({kind.a.sparsity, v}, b, kind.analysis);
    };
    const rc::Program program = rc::trace(f)(kind.a.values, b);
    const std::string text = rc::to_string(program);
    const rc::Program again = rc::parse_program(text, {});
    EXPECT_EQ(rc::to_string(again), text);
    expect_close(again({kind.a.values, b})[0], f(kind.a.values, b), 0);
  }
}

TEST(SparseDirect, DamagedProgramsAreErrorsOrRun) {
  const Kind kind = kinds()[1];
  const auto f = [&](const Tensor& v) { return sparse::solve({kind.a.sparsity, v}, side(9), kind.analysis); };
  const std::string text = rc::to_string(rc::trace(f)(kind.a.values));
  const std::size_t begin = text.find("general"), size = text.find(']', begin) - begin;
  std::mt19937_64 draws(9);
  int errors = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = text;
    for (std::uint64_t k = 1 + draws() % 3; k > 0; --k)
      damaged[begin + draws() % size] = std::string_view("0123456789(),")[draws() % 13];
    try {
      const Tensor b[] = {side(9)};
      rc::parse_program(damaged, b)({kind.a.values});
    } catch (const rc::Error&) { ++errors; }
  }
  EXPECT_GT(errors, 1000);
}

}  // namespace
