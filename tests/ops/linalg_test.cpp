// Factorisations, solvers and determinants: what the laws cannot say. Singular matrices, cofactors, complex and half
// precision, the shapes of right-hand sides, low ranks, error texts.
#include <complex>

#include "support/difference_quotient.h"
#include "support/expect_error.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

/// A float64 matrix with a heavy diagonal and no symmetry.
Tensor regular(std::int64_t n) { return sin(ramp({n, n}) * 7.3) + rc::eye(n, rc::float64) * 3; }

/// Several of them.
Tensor regulars(std::int64_t count, std::int64_t n) {
  return sin(ramp({count, n, n}) * 5.1) + rc::eye(n, rc::float64) * 3;
}

Tensor positive_definite(std::int64_t n) {
  const Tensor a = regular(n);
  return matmul(a, mT(a));
}

Tensor complex_regular(std::int64_t n) {
  return regular(n) + sin(ramp({n, n}) * 3.7) * Tensor(std::complex<double>(0, 1));
}

Tensor parts(const Tensor& z) { return rc::stack({real(z), imag(z)}); }

void expect_near(const Tensor& actual, const Tensor& expected) { expect_close(actual, expected, 1e-9); }

// ── Cholesky ──

TEST(Cholesky, FactorsEveryMatrixOfAStack) {
  const Tensor a = rc::stack({positive_definite(3), positive_definite(3) * 2}), l = rc::cholesky(a);
  expect_equal(l[1], rc::cholesky(a[1]));
  expect_equal(rc::vmap([](Tensor m) { return rc::cholesky(m); })(a), l);
}

TEST(Cholesky, FactorsAHermitianMatrix) {
  const Tensor b = complex_regular(3), a = matmul(b, conj(mT(b))), l = rc::cholesky(a);
  expect_near(parts(matmul(l, conj(mT(l)))), parts(a));
}

TEST(Cholesky, TakesTheSymmetricPart) {
  const Tensor a = positive_definite(3), skew = a - mT(a) + triu(a) * 0.1;
  expect_near(rc::cholesky(a + skew - mT(skew)), rc::cholesky(a));
}

TEST(Cholesky, OfNothing) { expect_equal(rc::cholesky(rc::zeros({2, 0, 0})), rc::zeros({2, 0, 0})); }

TEST(Cholesky, SolvesAsItsMatrixDoes) {
  const Tensor a = positive_definite(4), b = ramp({4, 2});
  expect_near(rc::cholesky_solve(b, rc::cholesky(a)), rc::solve(a, b));
  const Tensor z = complex_regular(3), h = matmul(z, conj(mT(z))), right = complex_regular(3);
  expect_near(parts(rc::cholesky_solve(right, rc::cholesky(h))), parts(rc::solve(h, right)));
}

/// Right is {{1,2},{3,4}} with l lᵀ = 1 and a quarter of it with l lᵀ = 4, for any number of matrices.
TEST(RightHandSides, AreMatricesHoweverManyMatricesThereAre) {
  const Tensor b = doubles({1, 2, 3, 4}, {2, 2}), one = rc::eye(2, rc::float64);
  for (const int count : {1, 2, 3}) {
    std::vector<Tensor> all;
    for (int i = 0; i < count; ++i) all.push_back(one * (i + 1));
    const Tensor l = rc::stack(all);
    for (int i = 0; i < count; ++i) {
      expect_near(rc::cholesky_solve(b, l)[i], b / ((i + 1) * (i + 1)));
      expect_near(rc::solve_triangular(l, b, false)[i], b / (i + 1));
      expect_near(rc::triangular_solve(b, l)[i], b / (i + 1));
    }
  }
}

TEST(RightHandSides, OneVectorServesAllMatrices) {
  const Tensor l = rc::stack({tril(regular(3)), tril(regular(3)) * 2}), b = ramp({3});
  for (int i = 0; i < 2; ++i) {
    expect_near(rc::cholesky_solve(b, l)[i], rc::cholesky_solve(b, l[i]));
    expect_near(rc::solve_triangular(l, b, false)[i], rc::solve_triangular(l[i], b, false));
  }
}

TEST(RightHandSideErrors, VectorsForEachMatrix) {
  const Tensor l = rc::eye(3).expand({2, 3, 3}), b = rc::ones({2, 3});
  const std::string rest =
      ": the right-hand side f32[2,3] does not fit the matrix f32[2,3,3]; it must be [..., 3, k] or [3]; pass one "
      "vector for each matrix with .unsqueeze(-1)";
  expect_error<rc::ValueError>([&] { rc::cholesky_solve(b, l); }, "cholesky_solve" + rest, {b, l});
  expect_error<rc::ValueError>([&] { rc::solve_triangular(l, b, true); }, "solve_triangular" + rest, {b, l});
  expect_error<rc::ValueError>([&] { rc::triangular_solve(b, l); }, "triangular_solve" + rest, {b, l});
  EXPECT_EQ(sizes(rc::cholesky_solve(b.unsqueeze(-1), l)), (Sizes{2, 3, 1}));
}

// ── solve ──

TEST(Solve, RightHandSidesOfEveryShape) {
  const Tensor a = regulars(2, 3);
  const auto check = [](const Tensor& a, const Tensor& b, const Sizes& expected) {
    const Tensor x = rc::solve(a, b);
    EXPECT_EQ(sizes(x), expected);
    const bool vector = x.dim() < a.dim() || b.dim() == 1;
    const Tensor product = vector ? matmul(a, x.unsqueeze(-1)).squeeze(-1) : matmul(a, x);
    expect_near(product, b.expand(product.shape()));
  };
  check(a, ramp({2, 3}), {2, 3});  // vectors, one a matrix
  check(a, ramp({3}), {2, 3});     // one vector
  check(a, ramp({2, 3, 4}), {2, 3, 4});
  check(a, ramp({3, 4}), {2, 3, 4});        // shared columns
  check(a[0], ramp({5, 3, 2}), {5, 3, 2});  // a shared matrix
  check(a[0], ramp({0, 3, 2}), {0, 3, 2});
  check(regulars(4, 3).reshape({2, 2, 3, 3}), ramp({2, 1, 3, 1}), {2, 2, 3, 1});
}

TEST(Solve, HalfPrecisionIsComputedInFloat) {
  const Tensor a = regular(3).to(rc::float16), b = ramp({3, 1}).to(rc::float16), x = rc::solve(a, b);
  EXPECT_EQ(x.dtype(), rc::float16);
  expect_equal(x, rc::solve(a.to(rc::float32), b.to(rc::float32)).to(rc::float16));
}

TEST(SolveErrors, Singular) {
  const Tensor a = rc::tensor({{1., 2.}, {2., 4.}}), b = rc::ones(2);
  const Tensor stack = rc::stack({rc::eye(2), a});
  expect_error<rc::ValueError>([&] { rc::vmap([&](Tensor m) { return rc::inverse(m); })(stack); },
                               "inverse: f32[2,2] in example 1 is singular: pivot 2 of its LU factorisation is zero\n"
                               "  inside vmap over axis 0 of 2{at}",
                               {stack});
}

TEST(SolveErrors, LeadingAxes) {
  const Tensor a = rc::ones({2, 3, 3}), b = rc::ones({4, 3, 1});
  expect_error<rc::ValueError>([&] { rc::solve(a, b); },
                               "solve: the leading axes of f32[2,3,3] and f32[4,3,1] do not broadcast", {a, b});
}

// ── triangular_solve ──

TEST(TriangularSolve, ReadsItsTriangleOnly) {
  const Tensor a = regular(3), b = ramp({3, 2}), eye = rc::eye(3, rc::float64);
  expect_near(matmul(tril(a), rc::triangular_solve(b, a, {.upper = false})), b);
  expect_near(matmul(triu(a), rc::triangular_solve(b, a)), b);
  expect_near(matmul(triu(a), rc::solve_triangular(a, b, true)), b);
  expect_near(matmul(tril(a), rc::solve_triangular(a, b, false)), b);
  expect_near(matmul(mT(triu(a)), rc::triangular_solve(b, a, {.transpose = true})), b);
  expect_near(matmul(tril(a, -1) + eye, rc::triangular_solve(b, a, {.upper = false, .unitriangular = true})), b);
  expect_near(matmul(mT(triu(a, 1) + eye), rc::triangular_solve(b, a, {.transpose = true, .unitriangular = true})), b);
}

TEST(TriangularSolve, GradientsStayInTheTriangle) {
  const Tensor a = regular(3), b = ramp({3, 2});
  for (bool upper : {false, true})
    for (bool transpose : {false, true})
      for (bool unit : {false, true}) {
        const auto f = [&](Tensor x) { return sin(rc::triangular_solve(b, x, {upper, transpose, unit})).sum(); };
        expect_close(rc::grad(f)(a), difference_quotient(f, a), 1e-6);
        expect_close(rc::jacfwd(f)(a), difference_quotient(f, a), 1e-6);
      }
}

TEST(TriangularSolve, ComplexTransposeDoesNotConjugate) {
  const Tensor a = complex_regular(3), b = complex_regular(3);
  expect_near(parts(matmul(mT(tril(a)), rc::triangular_solve(b, a, {.upper = false, .transpose = true}))), parts(b));
}

// ── inverse, det, slogdet, powers ──

TEST(Inverse, TimesItsMatrixIsTheIdentity) {
  const Tensor a = regulars(2, 3);
  expect_near(matmul(rc::inverse(a), a), rc::eye(3, rc::float64).expand({2, 3, 3}));
  const Tensor z = complex_regular(3);
  expect_near(matmul(rc::inverse(z), z), rc::eye(3, rc::complex128));
}

TEST(Det, KnownValues) {
  expect_values(rc::det(rc::tensor({{1., 2.}, {3., 4.}})), {-2});
  expect_values(rc::det(rc::tensor({{0., 1.}, {1., 0.}})), {-1});
  expect_values(rc::det(rc::zeros({3, 0, 0})), {1, 1, 1});
  expect_values(rc::det(rc::zeros({3, 3})), {0});
  const Tensor z = rc::det(rc::eye(2, rc::float64) * Tensor(std::complex<double>(0, 2)));
  expect_values(parts(z), {-4, 0});
}

/// The cofactors of a 3 by 3 matrix, by minors.
Tensor cofactors(const Tensor& a) {
  const Values x = values(a);
  const auto at = [&](int i, int j) { return x[static_cast<std::size_t>((i % 3) * 3 + j % 3)]; };
  Values c;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) c.push_back(at(i + 1, j + 1) * at(i + 2, j + 2) - at(i + 1, j + 2) * at(i + 2, j + 1));
  return doubles(c, {3, 3});
}

TEST(Det, ItsGradientIsTheCofactorsOfSingularMatricesToo) {
  const auto f = [](Tensor a) { return rc::det(a); };
  const Tensor u = ramp({3, 1}), rank_one = matmul(u, mT(u) + 1);
  const std::vector<Tensor> matrices = {regular(3),
                                        rank_one,
                                        rank_one + matmul(sin(u), cos(mT(u))),
                                        rc::zeros({3, 3}, rc::float64),
                                        doubles({0, 1, 0, 0, 0, 1, 0, 0, 0}, {3, 3}),
                                        doubles({1, 2, 3, 2, 4, 6, 0, 1, 5}, {3, 3})};
  for (const Tensor& a : matrices) {
    expect_close(rc::grad(f)(a), cofactors(a), 1e-12);
    expect_close(rc::jacfwd(f)(a), cofactors(a), 1e-12);
  }
  expect_values(rc::grad(f)(rc::zeros({1, 1})), {1});
}

TEST(Slogdet, NeitherOverflowsNorUnderflows) {
  const auto [sign, size] = rc::slogdet(rc::eye(100) * -1e-10);
  expect_values(sign, {1});
  expect_values(size, {100 * std::log(1e-10)}, 1e-5);
  const auto [odd, zero] = rc::slogdet(rc::eye(3) * -1);
  expect_values(odd, {-1});
  expect_values(zero, {0});
}

TEST(Slogdet, OfASingularMatrix) {
  const auto [sign, size] = rc::slogdet(rc::ones({2, 2}));
  expect_values(sign, {0});
  EXPECT_EQ(size.item(), -INFINITY);
}

TEST(Logdet, OfAnyDeterminant) {
  expect_values(rc::logdet(rc::eye(2) * 3), {std::log(9.0)});
  EXPECT_TRUE(std::isnan(rc::logdet(rc::eye(3) * -1).item()));
  EXPECT_EQ(rc::logdet(rc::zeros({2, 2})).item(), -INFINITY);
}

TEST(MatrixPower, IsARepeatedProduct) {
  const Tensor a = regular(3) * 0.5;
  expect_near(rc::matrix_power(a, 0), rc::eye(3, rc::float64));
  expect_near(rc::matrix_power(a, 5), matmul(a, matmul(a, matmul(a, matmul(a, a)))));
  expect_near(rc::matrix_power(a, -2), rc::inverse(matmul(a, a)));
  EXPECT_EQ(sizes(rc::vmap([](Tensor m) { return rc::matrix_power(m, 0); })(regulars(4, 2))), (Sizes{4, 2, 2}));
}

// ── least squares ──

TEST(LeastSquares, OfTooSmallARankIsTheShortestSolution) {
  const Tensor a = rc::tensor({{1., 2.}, {2., 4.}, {3., 6.}}, rc::float64),
               b = rc::tensor({{1.}, {2.}, {4.}}, rc::float64);
  expect_near(rc::lstsq(a, b), rc::tensor({{17. / 70}, {34. / 70}}, rc::float64));
  expect_near(rc::lstsq(a, b.squeeze(-1)), rc::tensor({17. / 70, 34. / 70}, rc::float64));
  expect_near(rc::lstsq(mT(a), narrow(b, 0, 0, 2)), matmul(rc::pinv(mT(a)), narrow(b, 0, 0, 2)));
  expect_near(rc::lstsq(a * 1e-200, b * 1e-200), rc::lstsq(a, b));
  expect_equal(rc::lstsq(rc::zeros(3, 2, rc::float64), b), rc::zeros(2, 1, rc::float64));
}

/// Matrices of rank 2, the last of a stack of full rank.
Tensor of_rank_two(std::int64_t m, std::int64_t n) {
  const Tensor low = matmul(sin(ramp({m, 2}) * 7.3), cos(ramp({2, n}) * 3.1)),
               full = sin(ramp({m, n}) * 5.1) + rc::eye(m, n, rc::float64) * 3;
  return rc::stack({low, low * 1e3, full});
}

TEST(LeastSquares, IsThePseudoInverseTimesTheRightHandSideAtEveryRank) {
  const Tensor i = Tensor(std::complex<double>(0, 1));
  for (const auto& [m, n] : {std::pair{5, 3}, std::pair{3, 5}, std::pair{4, 4}, std::pair{40, 30}}) {
    const Tensor a = of_rank_two(m, n), b = cos(ramp({3, m, 2}));
    expect_near(rc::lstsq(a, b), matmul(rc::pinv(a), b));
    expect_near(rc::lstsq(a[0], b), matmul(rc::pinv(a[0]), b));
    expect_near(rc::vmap([](Tensor m, Tensor right) { return rc::lstsq(m, right); })(a, b), matmul(rc::pinv(a), b));
    const Tensor turned = a * exp(i * ramp({3, m, 1})), right = b * exp(i * 0.3);
    expect_near(parts(rc::lstsq(turned, right)), parts(matmul(rc::pinv(turned), right)));
  }
  const Tensor single = of_rank_two(5, 3).to(rc::float32), right = cos(ramp({3, 5, 2})).to(rc::float32);
  expect_close(rc::lstsq(single, right), matmul(rc::pinv(single), right), 1e-4);
}

TEST(LeastSquares, DerivativesAreThoseOfThePseudoInverseAtEveryRank) {
  const auto solved = [](Tensor a, Tensor b) { return sin(rc::lstsq(a, b)).sum(); };
  const auto inverted = [](Tensor a, Tensor b) { return sin(matmul(rc::pinv(a), b)).sum(); };
  for (const auto& [m, n] : {std::pair{5, 3}, std::pair{3, 5}, std::pair{4, 4}}) {
    const Tensor all = of_rank_two(m, n), b = cos(ramp({m, 2})), tangent = sin(ramp({m, n}) * 2.3);
    for (const Tensor& a : {all[0], all[2]}) {
      const auto [by_a, by_b] = rc::grad<0, 1>(solved)(a, b);
      const auto [expected_a, expected_b] = rc::grad<0, 1>(inverted)(a, b);
      expect_near(by_a, expected_a);
      expect_near(by_b, expected_b);
      const auto along = [&](auto f) {
        return rc::jvp([&](Tensor x) { return f(x, b); }, std::tuple(a), std::tuple(tangent)).second;
      };
      expect_near(along(solved), along(inverted));
      const auto twice = [&](auto f) {
        return rc::grad([&](Tensor x) { return (rc::grad(f)(x, b) * tangent).sum(); })(a);
      };
      expect_close(twice(solved), twice(inverted), 1e-6);
    }
  }
}

TEST(LeastSquares, NearADeficientRankCountSingularValuesAsThePseudoInverseDoes) {
  const Tensor u = regular(4), b = cos(ramp({4, 1}));
  const Tensor q = rc::qr(u).first, v = rc::qr(sin(u)).first;
  for (const double least : {1e-10, 1e-13, 1e-14, 1e-17}) {  // the tolerance is 8.9e-16
    const Tensor a = matmul(q * rc::tensor({1., 0.5, 0.1, least}, rc::float64), mT(v));
    const double size = rc::norm(rc::lstsq(a, b)).item();
    if (least > 1e-15) EXPECT_GT(size, 0.01 / least);
    else EXPECT_LT(size, 100);
  }
}

TEST(Adjoints, AreConjugatesWithTwoAxesSwapped) {
  const Tensor z = rc::stack({complex_regular(3), complex_regular(3) * 2});
  expect_equal(parts(z.mH()), parts(conj(z.mT())));
  expect_equal(parts(z[0].H()), parts(conj(z[0].t())));
  expect_equal(rc::tensor(2.).H(), rc::tensor(2.));
  expect_error<rc::ValueError>([&] { (void)z.H(); },
                               "H: needs a matrix, found c128[2,3,3]; mH() serves matrices along the last two axes");
}

TEST(LdlSolve, OfABlockWhoseDeterminantIsBeyondTheRangeOfItsNumbers) {
  const Tensor swap = rc::tensor({{0.F, 1.F}, {1.F, 0.F}}), b = rc::tensor({{1.F}, {2.F}});
  for (const float size : {1e25F, 1e-25F}) {
    const auto [ld, pivots] = rc::ldl_factor(swap * size);
    expect_close(rc::ldl_solve(ld, pivots, b) * size, rc::tensor({{2.F}, {1.F}}), 1e-6);
  }
}

}  // namespace
