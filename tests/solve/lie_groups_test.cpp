// Rotations and rigid motions: laws of groups, exp and log as those of matrices, derivatives at 0, near 0 and near π.
#include <gtest/gtest.h>
#include <ricci/ricci.h>
#include <ricci/solve.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "support/difference_quotient.h"
#include "support/expect_error.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
namespace solvers = ricci::solvers;
using rc::Tensor;
using solvers::SE3, solvers::SO3;
using namespace testing_support;

namespace {

Tensor axis() { return doubles({2. / 3, -1. / 3, 2. / 3}); }
/// Angles where series, their ends, formulas and π are.
const std::vector<double> angles = {
    0, 1e-12, 1e-7, 1e-3, 0.19, 0.39, 0.41, 0.999, 1.001, 2, 3, 3.1415, std::numbers::pi - 1e-9};

Tensor skew(const Tensor& v) {
  const Tensor o = number(0);
  return rc::stack({rc::stack({o, -v[2], v[1]}, 0), rc::stack({v[2], o, -v[0]}, 0), rc::stack({-v[1], v[0], o}, 0)}, 0);
}
/// The 4 x 4 matrix of a screw.
Tensor hat(const Tensor& screw) {
  const Tensor top = rc::cat({skew(screw.slice(0, 3, 6)), screw.slice(0, 0, 3).unsqueeze(1)}, 1);
  return rc::cat({top, rc::zeros({1, 4}, rc::float64)}, 0);
}
Tensor screw_of(double angle) { return rc::cat({doubles({0.5, -1.5, 2}), angle * axis()}, 0); }

TEST(LieGroups, ExpIsThatOfMatricesAndLogItsInverse) {
  for (const double angle : angles) {
    SCOPED_TRACE(angle);
    const Tensor v = angle * axis(), screw = screw_of(angle);
    expect_close(SO3::exp(v).matrix(), rc::matrix_exp(skew(v)), 1e-14);
    expect_close(SE3::exp(screw).matrix(), rc::matrix_exp(hat(screw)), 1e-14);
    expect_close(SO3::exp(v).log(), v, 1e-14);
    expect_close(SE3::exp(screw).log(), screw, 1e-13);
    expect_close(SO3::of_matrix(SO3::exp(v).matrix()).log(), v, angle > 3.1 ? 1e-7 : 1e-14);  // a matrix hides the sign
    expect_close((-SO3::exp(v).quaternion).abs(), SO3::exp(v).quaternion.abs());
    expect_close(SO3{-SO3::exp(v).quaternion}.log(), v, 1e-14);
  }
}

TEST(LieGroups, DerivativesOfLogAndExpUndoEachOther) {
  const auto there_and_back = [](const Tensor& v) { return SO3::exp(v).log(); };
  const auto se3_there_and_back = [](const Tensor& s) { return SE3::exp(s).log(); };
  for (const double angle : angles) {
    SCOPED_TRACE(angle);
    const Tensor v = angle * axis(), screw = screw_of(angle);
    expect_close(rc::jacfwd(there_and_back)(v), rc::eye(3, rc::float64), 1e-12);
    expect_close(rc::jacrev(there_and_back)(v), rc::eye(3, rc::float64), 1e-12);
    expect_close(rc::jacfwd(se3_there_and_back)(screw), rc::eye(6, rc::float64), 1e-11);
    expect_close(rc::jacrev(se3_there_and_back)(screw), rc::eye(6, rc::float64), 1e-11);
    expect_close(rc::jacfwd(rc::jacrev(there_and_back))(v), rc::zeros({3, 3, 3}, rc::float64), 1e-10);
  }
}

TEST(LieGroups, ExpHasTheDerivativesOfMatrices) {
  const auto rotation = [](const Tensor& v) { return SO3::exp(v).matrix(); };
  const auto motion = [](const Tensor& s) { return SE3::exp(s).matrix(); };
  for (const double angle : angles) {
    SCOPED_TRACE(angle);
    const Tensor v = angle * axis(), screw = screw_of(angle);
    const Tensor of_matrices = rc::jacfwd([](const Tensor& v) { return rc::matrix_exp(skew(v)); })(v);
    expect_close(rc::jacrev(rotation)(v), of_matrices, 1e-13);
    expect_close(rc::jacfwd(rotation)(v), of_matrices, 1e-13);
    expect_close(rc::jacfwd(rc::jacfwd(rotation))(v),
                 rc::jacfwd(rc::jacfwd([](const Tensor& v) { return rc::matrix_exp(skew(v)); }))(v), 1e-12);
    expect_close(rc::jacfwd(motion)(screw), rc::jacfwd([](const Tensor& s) { return rc::matrix_exp(hat(s)); })(screw),
                 1e-13);
  }
}

TEST(LieGroups, AreGroups) {
  const SE3 a = SE3::exp(doubles({1, 2, 3, 0.3, -0.2, 0.9})), b = SE3::exp(doubles({-1, 0.5, 2, 2, 1, -0.5}));
  const Tensor points = doubles({1, 2, 3, -4, 5, 6}, {2, 3}), change = doubles({0.1, -0.2, 0.3, 0.3, 0.2, -0.4});
  expect_close((a * b).matrix(), matmul(a.matrix(), b.matrix()));
  expect_close(a.inverse().matrix(), rc::inverse(a.matrix()));
  expect_close((a * a.inverse()).log(), rc::zeros({6}, rc::float64), 1e-14);
  expect_close((a * SE3::identity()).matrix(), a.matrix());
  expect_close(a.apply(points), matmul(points, rc::mT(a.rotation.matrix())) + a.translation);
  expect_close((a * SE3::exp(change)).matrix(), (SE3::exp(matmul(a.adjoint(), change)) * a).matrix());
  expect_close(a.retract(change).matrix(), (a * SE3::exp(change)).matrix());
  expect_close(SE3::of_matrix(a.matrix()).matrix(), a.matrix());

  const SO3 turn = a.rotation;
  const Tensor v = change.slice(0, 3, 6);
  expect_close((turn * SO3::exp(v)).matrix(), (SO3::exp(matmul(turn.adjoint(), v)) * turn).matrix());
  expect_close(turn.retract(v).matrix(), (turn * SO3::exp(v)).matrix());
  expect_close((turn * turn.inverse()).log(), rc::zeros({3}, rc::float64), 1e-14);
  expect_close((turn * SO3::identity()).matrix(), turn.matrix());
}

TEST(LieGroups, OfMatrixIsRightForEveryGreatestElement) {
  for (const Values& v : {Values{0.1, 0.2, 0.3}, {3, 0.1, 0.2}, {0.1, 3, 0.2}, {0.2, -0.1, 3}}) {
    const SO3 turn = SO3::exp(doubles(v));
    expect_close(SO3::of_matrix(turn.matrix()).matrix(), turn.matrix(), 1e-14);
    const auto back = [](const Tensor& v) { return SO3::of_matrix(SO3::exp(v).matrix()).log(); };
    expect_close(rc::jacfwd(back)(doubles(v)), rc::eye(3, rc::float64), 1e-12);
  }
}

TEST(LieGroups, TakeLeadingAxesVmapAndCompile) {
  const Tensor screws = rc::stack({screw_of(0), screw_of(1e-7), screw_of(0.5), screw_of(3)}, 0);
  const SE3 fixed = SE3::exp(screw_of(1));
  const auto all = [&](const Tensor& s) {
    const SE3 x = SE3::exp(s), y = fixed * x.inverse();
    return rc::cat({y.log(), y.matrix().flatten(-2, -1), y.adjoint().flatten(-2, -1),
                    SO3::of_matrix(x.rotation.matrix()).quaternion, x.retract(s).apply(fixed.translation)},
                   -1);
  };
  const Tensor found = all(screws), mapped = rc::vmap(all)(screws);
  expect_close(mapped, found, 1e-14);
  expect_close(rc::compile(all)(screws), found, 1e-13);
  expect_close(rc::compile(rc::vmap(all))(screws), found, 1e-13);
  const Tensor slopes = rc::vmap(rc::jacrev(all))(screws);
  expect_close(rc::compile(rc::vmap(rc::jacfwd(all)))(screws), slopes, 1e-12);
  EXPECT_TRUE(rc::isfinite(slopes).all().item<bool>());
  EXPECT_EQ(SO3::exp(screws.to(rc::float32).slice(1, 0, 3)).log().dtype(), rc::float32);
}

TEST(LieGroups, RefuseWrongSizes) {
  expect_error<rc::ValueError>([] { SO3::exp(doubles({1, 2})); },
                               "SO3::exp: the argument is f64[2]; it must be [..., 3]");
  expect_error<rc::ValueError>([] { SE3::of_matrix(rc::zeros({3, 3}, rc::float64)); },
                               "SE3::of_matrix: the argument is f64[3,3]; it must be [..., 4, 4]");
}

/// Four poses on a square, with measured motions between neighbours and one more across.
TEST(LieGroups, PoseGraphsAreSolved) {
  const SE3 truth =
      SE3::exp(doubles({0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1.5, 1, 1, 0, 0, 0.1, 3, 0, 1, 0.2, 0, 0, -1.6}, {4, 6}));
  const Tensor from = rc::tensor(std::vector<std::int64_t>{0, 1, 2, 3, 0}),
               to = rc::tensor(std::vector<std::int64_t>{1, 2, 3, 0, 2});
  const auto at = [](const SE3& poses, const Tensor& i) {
    return SE3{{index_select(poses.rotation.quaternion, 0, i)}, index_select(poses.translation, 0, i)};
  };
  const auto between = [&](const SE3& poses) { return at(poses, from).inverse() * at(poses, to); };
  const SE3 measured = between(truth), start = truth.retract(0.3 * cos(rc::arange(24).to(rc::float64)).reshape({4, 6}));
  const auto errors = [&](const Tensor& change) {
    const SE3 poses = start.retract(change);
    const Tensor anchor = (at(truth, rc::zeros({1}, rc::int64)).inverse() * at(poses, rc::zeros({1}, rc::int64))).log();
    return std::pair{(measured.inverse() * between(poses)).log(), anchor};
  };
  for (const auto& solver : {solvers::gauss_newton(), solvers::levenberg_marquardt(), solvers::dogleg()}) {
    const auto found = solvers::least_squares(errors, rc::zeros({4, 6}, rc::float64), {.solver = solver});
    expect_values(found.status, {solvers::converged});
    expect_close(start.retract(found.value).matrix(), truth.matrix(), 1e-7);
    EXPECT_LT(found.steps.item<int>(), 15);
  }
}

}  // namespace
