// Colorings: each nonzero can be read out of a product, and few colors suffice where few are known to.
#include <gtest/gtest.h>
#include <ricci/ricci.h>
#include <ricci/sparse.h>

#include <random>
#include <sstream>

#include "support/expect_error.h"

namespace rc = ricci;
using rc::ColorMode, rc::ColorOrder, rc::Sparsity, rc::Tensor;
using namespace testing_support;

namespace {

using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

Sparsity banded(std::int64_t n, std::int64_t width) {
  Pairs pairs;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = std::max<std::int64_t>(0, i - width); j <= std::min(n - 1, i + width); ++j)
      pairs.emplace_back(i, j);
  return Sparsity::of_pairs(n, n, pairs);
}
Sparsity arrow(std::int64_t n) {
  Pairs pairs;
  for (std::int64_t i = 0; i < n; ++i) pairs.insert(pairs.end(), {{i, i}, {0, i}, {i, 0}});
  return Sparsity::of_pairs(n, n, pairs);
}
Sparsity random_pattern(std::mt19937& random, std::int64_t rows, std::int64_t columns, bool is_symmetric) {
  Pairs pairs;
  const auto count = static_cast<std::int64_t>(random() % static_cast<unsigned>(2 * rows + 1));
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t i = random() % rows, j = random() % columns;
    pairs.emplace_back(i, j);
    if (is_symmetric) pairs.emplace_back(j, i);
  }
  return Sparsity::of_pairs(rows, columns, pairs);
}

/// The matrix whose nonzeros are 1, 2, 3, … (the same across the diagonal), times the directions of the colors, read at
/// the places of the coloring.
void expect_readable(const rc::Coloring& coloring) {
  const Sparsity& s = coloring.sparsity();
  std::vector<std::int64_t> dense(static_cast<std::size_t>(s.rows() * s.columns())), values;
  for (std::int64_t i = 0; i < s.rows(); ++i)
    for (const std::int64_t j : s.row(i)) {
      auto& at = dense[static_cast<std::size_t>(i * s.columns() + j)];
      at = coloring.is_symmetric() ? 1 + std::min(i, j) * s.columns() + std::max(i, j) : std::ssize(values) + 1;
      values.push_back(at);
    }
  std::vector<std::int64_t> products(
      static_cast<std::size_t>(coloring.column_colors() * s.rows() + coloring.row_colors() * s.columns()));
  for (std::int64_t i = 0; i < s.rows(); ++i)
    for (const std::int64_t j : s.row(i)) {
      const std::int64_t value = dense[static_cast<std::size_t>(i * s.columns() + j)];
      const std::int64_t column = coloring.color_of_column()[static_cast<std::size_t>(j)],
                         row = coloring.color_of_row()[static_cast<std::size_t>(i)];
      if (column < coloring.column_colors()) products[static_cast<std::size_t>(column * s.rows() + i)] += value;
      if (row >= 0)
        products[static_cast<std::size_t>(coloring.column_colors() * s.rows() + row * s.columns() + j)] += value;
    }
  // What the system is to give: elements that several of its rows hold, each of them a sum that is a product.
  const Sparsity& system = coloring.system().sparsity();
  const std::int64_t count = std::ssize(products);
  products.resize(products.size() + static_cast<std::size_t>(system.rows()));
  for (std::size_t k = 0; k < values.size(); ++k)
    if (coloring.places()[k] >= count) products.at(static_cast<std::size_t>(coloring.places()[k])) = values[k];
  for (std::int64_t i = 0; i < system.rows(); ++i) {
    std::int64_t sum = 0;
    for (const std::int64_t j : system.row(i)) sum += products[static_cast<std::size_t>(count + j)];
    EXPECT_EQ(sum, products[static_cast<std::size_t>(coloring.sums()[static_cast<std::size_t>(i)])]) << coloring;
  }
  EXPECT_EQ(coloring.system().factor_nnz(), 2 * system.nnz() - system.rows()) << "not a system of trees: " << system;
  std::vector<std::int64_t> read;
  for (const std::int64_t place : coloring.places()) read.push_back(products.at(static_cast<std::size_t>(place)));
  EXPECT_EQ(read, values) << coloring;
}

/// Neighbours have two colors, and the vertices of two colors form no cycle.
void expect_acyclic(const rc::Coloring& coloring) {
  const Sparsity& s = coloring.sparsity();
  const auto color = [&](std::int64_t v) { return coloring.color_of_column()[static_cast<std::size_t>(v)]; };
  for (std::int64_t a = 0; a < coloring.colors(); ++a)
    for (std::int64_t b = 0; b < a; ++b) {
      std::vector<std::int64_t> above(static_cast<std::size_t>(s.rows()), -1);
      const auto top = [&](std::int64_t v) {
        while (above[static_cast<std::size_t>(v)] >= 0) v = above[static_cast<std::size_t>(v)];
        return v;
      };
      for (std::int64_t v = 0; v < s.rows(); ++v)
        for (const std::int64_t w : s.row(v)) {
          EXPECT_TRUE(v == w || color(v) != color(w)) << v << " and " << w;
          if (color(v) != a || color(w) != b) continue;
          EXPECT_NE(top(v), top(w)) << "a cycle of two colors at " << v << ", " << w;
          if (top(v) != top(w)) above[static_cast<std::size_t>(top(v))] = top(w);
        }
    }
}

TEST(Coloring, EachNonzeroCanBeReadFromAProduct) {
  std::mt19937 random(3);
  for (int k = 0; k < 400; ++k) {
    const std::int64_t rows = 1 + random() % 20, columns = 1 + random() % 20;
    for (const ColorOrder order : {ColorOrder::natural, ColorOrder::largest_first, ColorOrder::smallest_last}) {
      const Sparsity any = random_pattern(random, rows, columns, false);
      for (const ColorMode mode : {ColorMode::columns, ColorMode::rows, ColorMode::both})
        expect_readable(rc::color(any, {.mode = mode, .order = order}));
      const Sparsity symmetric = random_pattern(random, rows, rows, true);
      const rc::Coloring stars = rc::color(symmetric, {.mode = ColorMode::star, .order = order}),
                         trees = rc::color(symmetric, {.mode = ColorMode::acyclic, .order = order});
      expect_readable(stars);
      expect_readable(trees);
      expect_acyclic(trees);
    }
  }
}

TEST(Coloring, TakesTheLeastWhereThatIsKnown) {
  EXPECT_EQ(rc::color(banded(100, 2), {.mode = ColorMode::columns, .order = ColorOrder::natural}).colors(), 5);
  EXPECT_EQ(rc::color(banded(100, 2), {.mode = ColorMode::columns}).colors(), 5);
  EXPECT_EQ(rc::color(banded(100, 0)).colors(), 1);
  EXPECT_EQ(rc::color(Sparsity(3, 2, {0, 0, 0, 0}, {})).colors(), 0);
  EXPECT_EQ(rc::color(arrow(50), {.mode = ColorMode::columns}).colors(), 50);
  EXPECT_EQ(rc::color(arrow(50), {.mode = ColorMode::rows}).colors(), 50);
  EXPECT_EQ(rc::color(arrow(50), {.mode = ColorMode::both}).colors(), 3);
  EXPECT_EQ(rc::color(arrow(50)).colors(), 3);
  EXPECT_EQ(rc::color(arrow(200000)).colors(), 3);  // its head by columns, or its first column by rows, took minutes
  EXPECT_EQ(rc::color(arrow(50), {.mode = ColorMode::star}).colors(), 2);
  // One row of all: reverse mode.
  const rc::Coloring one_row = rc::color(Sparsity(1, 4, {0, 4}, {0, 1, 2, 3}));
  EXPECT_EQ(one_row.row_colors(), 1);
  EXPECT_EQ(one_row.column_colors(), 0);
}

TEST(Coloring, StarsOfTridiagonalMatricesHaveThreeColors) {
  EXPECT_EQ(rc::color(banded(60, 1), {.mode = ColorMode::star, .order = ColorOrder::natural}).colors(), 3);
}

TEST(Coloring, TreesOfKnownGraphsHaveTheLeastColors) {
  const auto colors = [](const Sparsity& s, ColorOrder order) {
    return rc::color(s, {.mode = ColorMode::acyclic, .order = order}).colors();
  };
  std::mt19937 random(5);
  Pairs tree, cycle, all;
  for (std::int64_t v = 1; v < 200; ++v) {
    const std::int64_t above = random() % v;
    tree.insert(tree.end(), {{v, above}, {above, v}});
  }
  for (std::int64_t v = 0; v < 30; ++v) cycle.insert(cycle.end(), {{v, (v + 1) % 30}, {(v + 1) % 30, v}});
  for (std::int64_t v = 0; v < 9; ++v)
    for (std::int64_t w = 0; w < 9; ++w) all.emplace_back(v, w);
  for (const ColorOrder order : {ColorOrder::natural, ColorOrder::largest_first, ColorOrder::smallest_last}) {
    EXPECT_EQ(colors(arrow(50), order), 2);
    EXPECT_EQ(colors(Sparsity::of_pairs(30, 30, cycle), order), 3);
    EXPECT_EQ(colors(Sparsity::of_pairs(9, 9, all), order), 9);
    EXPECT_EQ(colors(banded(40, 0), order), 1);
  }
  EXPECT_EQ(colors(Sparsity::of_pairs(200, 200, tree), ColorOrder::natural), 2);
  EXPECT_EQ(colors(banded(60, 1), ColorOrder::natural), 2);
  EXPECT_EQ(colors(banded(60, 3), ColorOrder::natural), 4);
}

TEST(Coloring, PrintsAndRefuses) {
  std::ostringstream out;
  out << rc::color(banded(3, 0));
  EXPECT_EQ(out.str(), "Coloring of Sparsity 3 x 3, 3 nonzeros: 1 colors of columns, 0 of rows");
  expect_error<rc::ValueError>([] { rc::color(Sparsity(2, 2, {0, 1, 1}, {1}), {.mode = ColorMode::star}); },
                               "color: the pattern is not symmetric: it has row 0, column 1 and not row 1, column 0; "
                               "star and acyclic colorings take the pattern of a Hessian");
  expect_error<rc::ValueError>([] { rc::color(Sparsity(1, 2, {0, 1}, {1}), {.mode = ColorMode::star}); },
                               "color: the pattern has 1 rows and 2 columns; star and acyclic colorings take the "
                               "pattern of a Hessian");
}

}  // namespace
