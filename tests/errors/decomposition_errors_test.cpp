// Factorisations and what is made of them: mistakes a user can make.
#include <ricci/ops/decompositions.h>

#include <cmath>

#include "support/expect_error.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using testing_support::doubles;
using testing_support::expect_error;

namespace {

const Tensor a22 = doubles({4, 1, 1, 3}, {2, 2}), a23 = rc::ones({2, 3}, rc::float64), v = rc::ones({3}, rc::float64),
             not_finite = doubles({1, NAN, 0, 1}, {2, 2}), singular = doubles({1, 2, 2, 4}, {2, 2});

TEST(DecompositionErrors, ElementsThatAreNotFinite) {
  const std::string rest = ": f64[2,2] holds an infinity or NaN; pass finite elements only";
  expect_error<rc::ValueError>([] { rc::eig(not_finite); }, "eig" + rest);
  expect_error<rc::ValueError>([] { rc::schur(not_finite); }, "schur" + rest);
  expect_error<rc::ValueError>([] { rc::pinv(not_finite); }, "pinv" + rest);
  expect_error<rc::ValueError>([] { rc::matrix_sqrth(not_finite); }, "matrix_sqrth" + rest);
  expect_error<rc::ValueError>([] { rc::polar_decomposition(not_finite); }, "polar_decomposition" + rest);
  expect_error<rc::ValueError>([] { rc::matrix_norm(not_finite, "nuc"); }, "matrix_norm" + rest);
}

TEST(DecompositionErrors, SingularMatrices) {
  EXPECT_EQ(std::get<2>(rc::lu_factor_ex(singular)).item<int>(), 2);
  EXPECT_EQ(std::get<2>(rc::ldl_factor_ex(rc::zeros({2, 2}))).item<int>(), 1);
  EXPECT_EQ(rc::inv_ex(singular).second.item<int>(), 2);
  EXPECT_EQ(rc::solve_ex(singular, a22).second.item<int>(), 2);
  EXPECT_EQ(rc::cholesky_ex(-a22).second.item<int>(), 1);
  EXPECT_EQ(rc::cholesky_ex(a22).second.item<int>(), 0);
}

TEST(DecompositionErrors, Words) {
  expect_error<rc::ValueError>([] { rc::qr(a23, "full"); },
                               R"(qr: there is no mode "full"; pass "reduced", "complete" or "r")");
  expect_error<rc::ValueError>([] { rc::eigh(a22, "l "); }, R"(eigh: UPLO must be "L" or "U", not "l ")");
  expect_error<rc::ValueError>([] { rc::schur(a22, "r"); },
                               R"(schur: the output is "r"; it must be "real" or "complex")");
  const std::string rest = R"(; pass "fro", "nuc", 1, -1, 2, -2 or an infinity)";
  expect_error<rc::ValueError>([] { rc::matrix_norm(a22, "max"); }, R"(matrix_norm: there is no norm "max")" + rest);
  expect_error<rc::ValueError>([] { rc::matrix_norm(a22, 3); }, "matrix_norm: there is no norm 3.000000" + rest);
}

TEST(DecompositionErrors, OperandsThatDoNotFit) {
  const auto factors = rc::lu_factor(a22);
  const Tensor b32 = rc::ones({3, 2}, rc::float64), three = rc::tensor({1, 2, 3}).to(rc::int32);
  expect_error<rc::ValueError>([&] { rc::lu_solve(factors.first, factors.second, b32); },
                               "lu_solve: the right-hand side f64[3,2] does not fit the factors f64[2,2]; it must have "
                               "as many rows, or columns with .left = false");
  expect_error<rc::ValueError>([&] { rc::lu_solve(factors.first, factors.second, v); },
                               "lu_solve: the right-hand side f64[3] must be matrices; pass a vector with "
                               ".unsqueeze(-1)");
  expect_error<rc::ValueError>([&] { rc::ldl_solve(a22, three.narrow(0, 1, 2), b32.narrow(0, 0, 2)); },
                               "ldl_solve: the pivots of a matrix have 3 at 1; pass those that ldl_factor gives");
  expect_error<rc::ValueError>([&] { rc::ldl_solve(a22, three.narrow(0, 0, 2), b32); },
                               "ldl_solve: the right-hand side f64[3,2] does not fit the factors f64[2,2]; it must "
                               "have as many rows");
  expect_error<rc::ValueError>([&] { rc::lu_unpack(factors.first, three.narrow(0, 1, 2)); },
                               "lu_unpack: pivot 3 is no row of a matrix of 2 rows; pass the pivots that lu_factor "
                               "gives, which count from 1");
}

TEST(DecompositionErrors, SizesBeyondThoseOfLapack) {
  const Tensor a = rc::zeros({1}).expand({24000, 24000});
  const std::string rest = ": f32[24000,24000] is greater than LAPACK's 32-bit sizes; the smaller size may be 23000";
  expect_error<rc::ValueError>([&] { rc::pinv(a); }, "pinv" + rest);
  expect_error<rc::ValueError>([&] { rc::polar_decomposition(a); }, "polar_decomposition" + rest);
  expect_error<rc::ValueError>([&] { rc::matrix_norm(a, "nuc"); }, "matrix_norm" + rest);
  const Tensor column = rc::zeros({1}).expand({std::int64_t{1} << 31, 1});
  const std::string long_one = ": f32[2147483648,1] is greater than LAPACK's 32-bit sizes; the smaller size may be ";
  expect_error<rc::ValueError>([&] { rc::qr(column); }, "qr" + long_one + "2147483647");
  expect_error<rc::ValueError>([&] { rc::lu_factor(column); }, "lu_factor" + long_one + "2147483647");
}

/// Draws of lanes are the lanes' own.
TEST(DecompositionErrors, RandomProjectionsUnderVmap) {
  const Tensor many = rc::stack({a23, 2 * a23});
  const auto greatest = [](Tensor x) { return std::get<1>(rc::svd_lowrank(x, 1)); };
  EXPECT_THROW(rc::vmap(greatest)(many), rc::Error);
  const Tensor s = rc::vmap(greatest, {.randomness = rc::Randomness::different})(many);
  testing_support::expect_close(s, doubles({std::sqrt(6.), 2 * std::sqrt(6.)}, {2, 1}));
}

}  // namespace
