// schur: what t and z are, in every shape and element type, and derivatives of functions of a matrix, also of real ones
// with complex eigenvalues. The laws hold the derivatives of each element of t and z, of the first and second order.
#include <cmath>

#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

/// Random, the same every time.
Tensor matrices(const rc::Shape& shape, rc::DType dtype = rc::float64) {
  rc::manual_seed(5);
  return rc::randn(shape, dtype);
}

Tensor adjoint(const Tensor& x) { return x.is_complex() ? conj(mT(x)) : mT(x); }
Tensor diagonal_of(const Tensor& t) { return diagonal(t, 0, -2, -1); }
double tolerance(rc::DType dtype) { return rc::real_dtype(dtype) == rc::float64 ? 1e-12 : 2e-4; }
bool all_finite(const Tensor& x) { return bool(rc::all(rc::isfinite(x))); }

/// With two pairs of complex eigenvalues and a real one.
const Tensor turns = doubles({0.5, -1.5, 0.1,  0.2, 0.3, 1.2, 0.4, -0.2, 0.3, -0.1, 0.3, 0.2, 5,
                              2,   0.4,  -0.4, 0.1, -1,  6,   0.2, 0.3,  0.1, -0.2, 0.3, -3},
                             {5, 5});
const Tensor quarter_turn = doubles({0, 1, -1, 0}, {2, 2});

/// The square of the matrix that has this Schur form: it depends on no sign, phase or order.
Tensor square_of(const std::pair<Tensor, Tensor>& form) {
  const auto& [t, z] = form;
  return matmul(z, matmul(matmul(t, t), adjoint(z)));
}

TEST(Schur, MultipliesToTheMatrixOfUnitaryAndTriangularFactors) {
  for (const rc::DType dtype : {rc::float64, rc::float32, rc::complex128, rc::complex64})
    for (const rc::Shape& shape :
         {rc::Shape{0, 0}, {1, 1}, {2, 2}, {5, 5}, {3, 4, 4}, {2, 1, 3, 3}, {60, 60}, {0, 3, 3}}) {
      const Tensor a = matrices(shape, dtype);
      const auto [t, z] = rc::schur(a);
      EXPECT_EQ(t.dtype(), dtype);
      const double epsilon = rc::real_dtype(dtype) == rc::float64 ? 0x1p-52 : 0x1p-23;
      const double some = 4 * epsilon * double(shape.back());  // roundings of sums of n products
      const double greatest = t.numel() == 0 ? 0 : rc::amax(abs(t)).item<double>();
      const Tensor error = abs(matmul(z, matmul(t, adjoint(z))) - a);
      EXPECT_TRUE(bool(rc::all(error <= some * greatest)));
      expect_close(matmul(adjoint(z), z), rc::eye(shape.back(), dtype).expand(shape), tolerance(dtype));
      const std::int64_t beside = rc::is_complex(dtype) ? -1 : -2;
      expect_equal(tril(t, beside), rc::zeros_like(t));
    }
}

TEST(Schur, BlocksOfTwoAreThoseOfPairsOfEigenvalues) {
  const Tensor t = rc::schur(turns).first;
  std::int64_t pairs = 0;
  for (std::int64_t i = 0; i + 1 < 5; ++i) {
    const double c = t[i + 1][i].item<double>();
    if (c == 0) continue;
    ++pairs;
    EXPECT_LT(t[i][i + 1].item<double>() * c, 0);
    EXPECT_GT(std::abs(t[i][i + 1].item<double>()), std::abs(c));
    expect_equal(t[i][i], t[i + 1][i + 1]);
  }
  EXPECT_EQ(pairs, 2);
  expect_close(rc::sort(diagonal_of(t)).first, rc::sort(real(rc::eigvals(turns))).first, 1e-12);
}

TEST(Schur, ComplexOutputOfARealMatrixIsTriangular) {
  const auto [t, z] = rc::schur(turns, "complex");
  EXPECT_EQ(t.dtype(), rc::complex128);
  expect_close(matmul(z, matmul(t, adjoint(z))), turns.to(rc::complex128), 1e-12);
  expect_equal(tril(t, -1), rc::zeros_like(t));
  EXPECT_EQ(rc::schur(turns.to(rc::float16), "complex").first.dtype(), rc::complex64);
  EXPECT_EQ(rc::schur(turns.to(rc::float16)).first.dtype(), rc::float16);
}

TEST(Schur, GreatestElementsOfVectorsAreRealAndPositive) {
  for (const rc::DType dtype : {rc::float64, rc::complex128}) {
    const Tensor z = rc::schur(matrices({4, 4}, dtype)).second.to(rc::complex128);
    const Tensor greatest = gather(z, 0, rc::argmax(abs(z), 0, true));
    expect_close(imag(greatest), rc::zeros({1, 4}, rc::float64), 1e-15);
    EXPECT_TRUE(bool(rc::all(real(greatest) > 0)));
  }
}

TEST(Schur, GradientsOfEigenvaluesAreThoseOfEigvals) {
  const Tensor weight = sin(ramp({5}) * 3);
  const auto by_real_part = [&](Tensor x) { return (rc::sort(diagonal_of(rc::schur(x).first)).first * weight).sum(); };
  const auto expected = [&](Tensor x) { return (rc::sort(real(rc::eigvals(x))).first * weight).sum(); };
  const Tensor alone = turns * rc::eye(5, rc::float64) + triu(turns);
  expect_close(rc::grad(by_real_part)(alone), rc::grad(expected)(alone), 1e-10);

  const auto by_values = [&](Tensor x) { return (abs(diagonal_of(rc::schur(x, "complex").first)).sum()); };
  expect_close(rc::grad(by_values)(turns), rc::grad([&](Tensor x) { return abs(rc::eigvals(x)).sum(); })(turns), 1e-10);
  const auto by_real_values = [&](Tensor x) { return diagonal_of(rc::schur(x).first).square().sum(); };
  expect_close(rc::grad(by_real_values)(turns),
               rc::grad([](Tensor x) { return real(rc::eigvals(x)).square().sum(); })(turns), 1e-10);
  expect_close(rc::hessian(by_real_values)(turns),
               rc::hessian([](Tensor x) { return real(rc::eigvals(x)).square().sum(); })(turns), 1e-9);
}

TEST(Schur, AFunctionOfTheMatrixHasItsOwnDerivatives) {
  const Tensor weight = sin(ramp({5, 5}) * 7.3);
  const auto square = [&](Tensor x) { return (matmul(x, x) * weight).sum(); };
  for (const std::string output : {"real", "complex"}) {
    const auto f = [&](Tensor x) {
      const Tensor product = square_of(rc::schur(x, output));
      return ((product.is_complex() ? real(product) : product) * weight).sum();
    };
    expect_close(f(turns), square(turns), 1e-11);
    expect_close(rc::grad(f)(turns), rc::grad(square)(turns), 1e-11);
    expect_close(rc::hessian(f)(turns), rc::hessian(square)(turns), 1e-10);
    expect_close(rc::jacfwd(rc::jacfwd(f))(turns), rc::hessian(square)(turns), 1e-10);
  }
}

TEST(Schur, MatricesOfABatchMayHaveBlocksInOtherPlaces) {
  const Tensor stack = rc::stack({turns, triu(turns), turns.mT(), rc::flip(turns, {0, 1})});
  const auto f = [](Tensor x) {
    const auto [t, z] = rc::schur(x);
    return (t.square() * cos(ramp({5, 5}))).sum() + (z * sin(ramp({5, 5}))).sum();
  };
  const Tensor of_batch = rc::grad(f)(stack);
  const Tensor each = rc::vmap(rc::grad(f))(stack);
  const Tensor second = rc::vmap(rc::hessian(f))(stack);
  for (std::int64_t i = 0; i < 4; ++i) {
    const Tensor gradient = rc::grad(f)(stack[i]);
    expect_close(of_batch[i], gradient, 1e-12);
    expect_close(each[i], gradient, 1e-12);
    expect_close(second[i], rc::hessian(f)(stack[i]), 1e-10);
  }
}

TEST(Schur, DerivativesAreNotFiniteWhereTheFactorsAreNotDetermined) {
  const auto f = [](Tensor x) { return rc::schur(x).first.sum(); };
  const auto trace = [](Tensor x) { return diagonal_of(rc::schur(x).first).sum(); };
  for (const Tensor& a : {rc::eye(2, rc::float64), quarter_turn}) {
    EXPECT_FALSE(all_finite(rc::grad(f)(a)));
    EXPECT_FALSE(all_finite(rc::jacfwd(f)(a)));
    EXPECT_FALSE(all_finite(rc::grad(trace)(a)));
  }
  const auto by_complex = [](Tensor x) { return abs(diagonal_of(rc::schur(x, "complex").first)).sum(); };
  expect_close(rc::grad(by_complex)(quarter_turn), quarter_turn, 1e-12);
}

/// Blocks that are rotations but for rounding errors.
TEST(Schur, ARoundingErrorIsNotTakenForAnAngle) {
  rc::manual_seed(1);
  const Tensor rotations = rc::qr(rc::randn({6, 6}, rc::float64)).first;
  EXPECT_FALSE(all_finite(rc::grad([](Tensor x) { return rc::schur(x).first.sum(); })(rotations)));
}

TEST(Schur, AnAngleIsNotTakenForARoundingError) {
  const auto trace = [](Tensor x) { return diagonal_of(rc::schur(x).first).sum(); };
  const Tensor many = matrices({200, 200}, rc::float32);
  EXPECT_TRUE(all_finite(rc::grad(trace)(many)));
  const Tensor huge = doubles({0.8e308, 1.6e308, -0.4e308, 0.8e308}, {2, 2});
  expect_close(rc::grad(trace)(huge), rc::eye(2, rc::float64), 1e-12);
}

}  // namespace
