// eigh and svd: what the values and vectors are of, in every shape and element type, and derivatives where values are
// equal. The laws hold those of values and vectors. Products of several matrices: the order in which they are taken.
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

/// Random, the same every time.
Tensor matrices(const rc::Shape& shape, rc::DType dtype = rc::float64) {
  rc::manual_seed(3);
  return rc::randn(shape, dtype);
}

Tensor symmetric(const rc::Shape& shape, rc::DType dtype = rc::float64) {
  const Tensor a = matrices(shape, dtype);
  return a + a.mT();
}

double tolerance(rc::DType dtype) { return dtype == rc::float64 ? 1e-12 : 2e-4; }

TEST(Eigh, ReconstructsTheMatrixFromOrthonormalVectors) {
  for (const rc::DType dtype : {rc::float64, rc::float32})
    for (const rc::Shape& shape : {rc::Shape{1, 1}, {2, 2}, {5, 5}, {3, 4, 4}, {2, 1, 3, 3}, {40, 40}, {0, 3, 3}}) {
      const Tensor a = symmetric(shape, dtype);
      const auto [values, vectors] = rc::eigh(a);
      expect_close(matmul(vectors * values.unsqueeze(-2), vectors.mT()), a, tolerance(dtype));
      expect_close(matmul(vectors.mT(), vectors), rc::eye(shape.back(), dtype).expand(shape), tolerance(dtype));
      expect_close(values, rc::sort(values).first);
      expect_close(rc::eigvalsh(a), values);
    }
}

TEST(Eigh, TakesTheSymmetricPart) {
  const Tensor a = matrices({3, 3});
  expect_close(rc::eigvalsh(a), rc::eigvalsh((a + a.mT()) / 2));
  const Tensor g = rc::grad([](Tensor x) { return rc::eigvalsh(x).square().sum(); })(a);
  expect_close(g, a + a.mT());
}

TEST(Eigh, HalvesAreComputedInSingles) {
  const Tensor a = symmetric({3, 3}, rc::float32).to(rc::float16);
  EXPECT_EQ(rc::eigvalsh(a).dtype(), rc::float16);
  expect_values(rc::eigvalsh(a), values(rc::eigvalsh(a.to(rc::float32))), 4e-3);
}

TEST(Eigh, DerivativesOfEqualValuesAreFinite) {
  const Tensor g = rc::grad([](Tensor x) { return rc::eigvalsh(x).sum(); })(rc::eye(3, rc::float64));
  expect_close(g, rc::eye(3, rc::float64));
}

TEST(Svd, ReconstructsTheMatrixFromOrthonormalVectors) {
  for (const rc::DType dtype : {rc::float64, rc::float32})
    for (const rc::Shape& shape :
         {rc::Shape{1, 1}, {3, 3}, {5, 2}, {2, 5}, {3, 4, 2}, {2, 1, 2, 3}, {40, 30}, {0, 2}, {2, 0, 3}}) {
      const Tensor a = matrices(shape, dtype);
      const std::int64_t m = a.size(-2), n = a.size(-1), k = std::min(m, n);
      const auto [u, s, vh] = rc::svd(a);
      EXPECT_EQ(u.size(-2), m);
      EXPECT_EQ(s.size(-1), k);
      EXPECT_EQ(vh.size(-1), n);
      expect_close(matmul(u * s.unsqueeze(-2), vh), a, tolerance(dtype));
      for (const Tensor& rows : {u.mT(), vh}) {
        const Tensor products = matmul(rows, rows.mT());
        expect_close(products, rc::eye(k, dtype).expand(products.shape()), tolerance(dtype));
      }
      expect_close(s, rc::sort(s, -1, true).first);
      EXPECT_TRUE(bool(rc::all(s >= 0)));
      expect_close(rc::svdvals(a), s);
    }
}

TEST(Svd, ValuesAreThoseOfTheTransposedMatrix) {
  const Tensor a = matrices({3, 5});
  expect_close(rc::svdvals(a), rc::svdvals(a.mT()));
  expect_close(rc::svdvals(a).square(), rc::flip(rc::eigvalsh(matmul(a, a.mT())), 0), 1e-10);
}

TEST(MultiDot, IsTheProductOfAll) {
  const Tensor a = ramp({2, 7}), b = ramp({7, 3}), c = ramp({3, 5}), d = ramp({5, 2}), row = ramp({2}),
               column = ramp({2});
  expect_close(rc::multi_dot({a, b}), matmul(a, b));
  expect_close(rc::multi_dot({a, b, c, d}), matmul(a, matmul(b, matmul(c, d))), 1e-10);
  expect_close(rc::multi_dot({a, b, c, d, column}), matmul(a, matmul(b, matmul(c, matmul(d, column)))), 1e-10);
  expect_close(rc::multi_dot({row, a, b}), matmul(row, matmul(a, b)), 1e-10);
  expect_close(rc::multi_dot({row, column}), dot(row, column));
  expect_close(rc::multi_dot({row, a, b, c, d, column}), dot(row, matmul(rc::multi_dot({a, b, c, d}), column)), 1e-10);
}

TEST(MultiDot, MultipliesInTheCheapestOrder) {
  const Tensor a = rc::ones({2, 50}), b = rc::ones({50, 50}), c = rc::ones({50, 1});
  const auto text = [](const auto& f, const Tensor& x, const Tensor& y, const Tensor& z) {
    std::ostringstream out;
    out << rc::trace(f)(x, y, z);
    return out.str();
  };
  const auto f = [](Tensor x, Tensor y, Tensor z) { return rc::multi_dot({x, y, z}); };
  const auto right_first = [](Tensor x, Tensor y, Tensor z) { return matmul(x, matmul(y, z)); };
  const auto left_first = [](Tensor x, Tensor y, Tensor z) { return matmul(matmul(x, y), z); };
  EXPECT_EQ(text(f, a, b, c), text(right_first, a, b, c));
  EXPECT_EQ(text(f, c.mT(), b, a.mT()), text(left_first, c.mT(), b, a.mT()));
}

}  // namespace
