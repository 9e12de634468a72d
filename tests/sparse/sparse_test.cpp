// Sparse matrices do what dense ones do, with the same derivatives, mapped and alone.
#include <gtest/gtest.h>
#include <ricci/ricci.h>
#include <ricci/sparse.h>

#include <sstream>

#include "support/expect_error.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Sparse, rc::Sparsity, rc::Tensor;
using namespace testing_support;

namespace {

Sparsity pattern() { return {3, 4, {0, 2, 2, 5}, {0, 3, 0, 1, 2}}; }
Sparsity other_pattern() { return {3, 4, {0, 1, 2, 3}, {3, 1, 2}}; }
Tensor values() { return rc::tensor({1., 2., -3., 4., 0.5}, rc::float64); }
Tensor dense_of(const Tensor& values) { return Sparse{pattern(), values}.to_dense(); }
Tensor vector(std::int64_t n) { return rc::linspace(-1, 2, n, rc::float64); }

/// What is done with a sparse matrix, and with the dense one.
struct Done {
  const char* name;
  Tensor (*sparse)(const Sparse&);
  Tensor (*dense)(const Tensor&);
};
std::vector<Done> everything() {
  static const Tensor x = vector(4), y = vector(3), m = vector(8).view({4, 2}), w = vector(6).view({2, 3});
  static const Tensor batch = vector(16).view({2, 4, 2});
  static const Sparse other{other_pattern(), rc::tensor({5., 6., 7.}, rc::float64)};
  static const Tensor dense_other = other.to_dense();
  return {
      {"matmul vector", [](const Sparse& a) { return matmul(a, x); }, [](const Tensor& a) { return matmul(a, x); }},
      {"matmul matrix", [](const Sparse& a) { return matmul(a, m); }, [](const Tensor& a) { return matmul(a, m); }},
      {"matmul batch", [](const Sparse& a) { return matmul(a, batch); },
       [](const Tensor& a) { return matmul(a, batch); }},
      {"vector matmul", [](const Sparse& a) { return matmul(y, a); }, [](const Tensor& a) { return matmul(y, a); }},
      {"matrix matmul", [](const Sparse& a) { return matmul(w, a); }, [](const Tensor& a) { return matmul(w, a); }},
      {"transpose", [](const Sparse& a) { return a.transpose().to_dense(); },
       [](const Tensor& a) { return mT(a) * 1; }},
      {"diagonal", [](const Sparse& a) { return a.diagonal(); },
       [](const Tensor& a) { return rc::diagonal(a, 0, -2, -1) * 1; }},
      {"sum of rows", [](const Sparse& a) { return a.sum(-1); }, [](const Tensor& a) { return a.sum(-1); }},
      {"sum of columns", [](const Sparse& a) { return a.sum(-2); }, [](const Tensor& a) { return a.sum(-2); }},
      {"add", [](const Sparse& a) { return (a + other).to_dense(); }, [](const Tensor& a) { return a + dense_other; }},
      {"subtract", [](const Sparse& a) { return (other - a).to_dense(); },
       [](const Tensor& a) { return dense_other - a; }},
      {"add itself", [](const Sparse& a) { return (a + a).to_dense(); }, [](const Tensor& a) { return a + a; }},
      {"scale", [](const Sparse& a) { return (2 * a * 3).to_dense(); }, [](const Tensor& a) { return 6 * a; }},
  };
}

TEST(Sparse, DoesWhatDenseMatricesDo) {
  for (const Done& done : everything()) {
    SCOPED_TRACE(done.name);
    const auto sparse = [&](const Tensor& v) { return done.sparse({pattern(), v}); };
    const auto dense = [&](const Tensor& v) { return done.dense(dense_of(v)); };
    expect_close(sparse(values()), dense(values()), 1e-15);
    expect_close(rc::jacrev(sparse)(values()), rc::jacrev(dense)(values()), 1e-15);
    expect_close(rc::jacfwd(sparse)(values()), rc::jacfwd(dense)(values()), 1e-15);
    const Tensor two = rc::stack({values(), 2 * values()}, 0);
    expect_close(rc::vmap(sparse)(two), rc::vmap(dense)(two), 1e-15);
    expect_close(rc::compile(sparse)(values()), dense(values()), 1e-15);
  }
}

TEST(Sparse, LeavesProductsOfDenseMatrices) {
  const Tensor x = rc::ones({2, 2});
  expect_close(rc::matmul(x, x), 2 * x, 0);
  expect_close(rc::vmap(rc::matmul)(x, x), 2 * rc::ones({2}), 0);
}

TEST(Sparse, HasBatchesOfValues) {
  const Tensor two = rc::stack({values(), 2 * values()}, 0);
  const Sparse a{pattern(), two};
  EXPECT_EQ(a.shape(), (rc::Shape{2, 3, 4}));
  expect_close(matmul(a, vector(4)), matmul(a.to_dense(), vector(4)), 1e-15);
  expect_close(a.transpose().to_dense(), mT(a.to_dense()) * 1, 0);
  expect_close(a.diagonal(), rc::diagonal(a.to_dense(), 0, -2, -1) * 1, 0);
  expect_close(Sparse::of_dense(a.to_dense(), pattern()).values, two, 0);
}

TEST(Sparse, IsATree) {
  const Sparse a{pattern(), values()};
  EXPECT_EQ(rc::leaves(a).size(), 1U);
  const Sparse gradient = rc::grad([](const Sparse& a) { return rc::square(matmul(a, vector(4))).sum(); })(a);
  EXPECT_EQ(gradient.sparsity, a.sparsity);
  expect_close(gradient.values,
               rc::grad([](const Tensor& v) { return rc::square(matmul(dense_of(v), vector(4))).sum(); })(values()),
               1e-14);
  const Sparse two{pattern(), rc::stack({values(), 2 * values()}, 0)};
  expect_close(rc::vmap([](const Sparse& a) { return a.sum(-1); })(two), two.sum(-1), 0);
  expect_close(rc::compile([](const Sparse& a) { return a.transpose(); })(a).to_dense(), mT(a.to_dense()) * 1, 0);
}

TEST(Sparse, OfCoordinatesAddsWhatStandsAtOnePlace) {
  const Sparse a = Sparse::of_coordinates(rc::tensor({2, 0, 2}), rc::tensor({1, 0, 1}), rc::tensor({1., 2., 3.}), 3, 2);
  expect_close(a.to_dense(), rc::tensor({{2., 0.}, {0., 0.}, {0., 4.}}));
  expect_error<rc::IndexError>([] { Sparse::of_coordinates(rc::tensor({3}), rc::tensor({0}), rc::ones({1}), 3, 2); },
                               "Sparsity: there is a nonzero at row 3, column 0 of a matrix of 3 rows and 2 columns; "
                               "rows and columns count from "
                               "0");
  expect_error<rc::ValueError>(
      [] { Sparse::of_coordinates(rc::tensor({0}), rc::tensor({0, 1}), rc::ones({1}), 3, 2); },
      "Sparse::of_coordinates: 1 rows, 2 columns and values f32[1]; the last axis of each must "
      "be as long");
  expect_error<rc::TypeError>([] { Sparse::of_coordinates(rc::tensor({0.7}), rc::tensor({0}), rc::ones({1}), 3, 2); },
                              "Sparse::of_coordinates: places are f32[1]; pass whole numbers");
}

TEST(Sparse, PrintsAndRefuses) {
  std::ostringstream out;
  out << Sparse{Sparsity(2, 2, {0, 1, 2}, {1, 0}), rc::tensor({3., 4.})};
  EXPECT_EQ(out.str(), "Sparse [2, 2], 2 nonzeros: [3, 4] f32[2]");
  const Sparse a{pattern(), values()};
  expect_error<rc::ValueError>([&] { matmul(a, rc::ones({3})); },
                               "matmul: inner sizes differ: the sparse matrix is [3,4], the other is f32[3]; its only "
                               "axis must be of 4");
  expect_error<rc::ValueError>([&] { matmul(rc::ones({4}), a); },
                               "matmul: inner sizes differ: the sparse matrix is [3,4], the other is f32[4]; its last "
                               "axis must be of 3");
  expect_error<rc::ValueError>(
      [&] { (void)Sparse{pattern(), rc::ones({4})}.to_dense(); },
      "shape: the matrix has 5 nonzeros and values f32[4]; the last axis must have one for each "
      "nonzero");
  expect_error<rc::IndexError>(
      [&] { (void)a.sum(0); },
      "sum: axis 0 of a sparse matrix; -1 gives the sums of its rows, -2 those of its columns");
  expect_error<rc::ValueError>([&] { (void)(a + Sparse{Sparsity(1, 1, {0, 0}, {}), rc::ones({0})}); },
                               "add: the matrices have 3 x 4 and 1 x 1 elements; pass matrices of one size");
}

}  // namespace
