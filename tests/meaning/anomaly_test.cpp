// detect_anomaly: the first derivative that holds NaN is an error that names its operation.
#include "support/expect_error.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

constexpr const char* remedy =
    "; keep its operands where the operation has a derivative: where(is_inside, x, inside) before it, not where() of "
    "its result";

const auto roots = [](Tensor x) { return sqrt(x).sum(); };

TEST(DetectAnomaly, NamesTheOperationWhoseGradientIsNaN) {
  const rc::detect_anomaly guard;
  expect_error<rc::ValueError>(
      [] { rc::grad(roots)(doubles({1, -1, 4})); },
      std::string("sqrt: the gradient of operand 0, f64[3], holds NaN") + remedy + "\n  inside grad{at}");
}

TEST(DetectAnomaly, UnderVmapTooForOneExampleAlone) {
  const rc::detect_anomaly guard;
  expect_close(rc::vmap(rc::grad([](Tensor x) { return x.sum(); }))(doubles({-1, -1})), doubles({1, 1}));
  expect_error<rc::ValueError>([] { rc::vmap(rc::grad(roots))(doubles({1, -1, 4})); },
                               std::string("sqrt: the gradient of operand 0, f64[], holds NaN") + remedy +
                                   "\n  inside grad{at}, inside vmap over axis 0 of 3{at}");
}

TEST(DetectAnomaly, NamesTheOperationWhoseTangentIsNaN) {
  const rc::detect_anomaly guard;
  const Tensor x = doubles({-1}), t = doubles({1});
  expect_error<rc::ValueError>(
      [&] { rc::jvp(roots, x, t); },
      std::string("sqrt: the tangent of result 0, f64[1], holds NaN") + remedy + "\n  inside jvp{at}");
}

TEST(DetectAnomaly, OfASecondDerivative) {
  const rc::detect_anomaly guard;
  const auto power = [](Tensor x) { return pow(x, 1.5).sum(); };
  const auto slope = [&](Tensor x) { return (rc::grad(power)(x) * x).sum(); };
  const Tensor x = doubles({0});  // 1.5 √x is 0 there, and its derivative infinite: times x, NaN
  EXPECT_NO_THROW(rc::grad(power)(x));
  EXPECT_THROW(rc::grad(slope)(x), rc::ValueError);
}

TEST(DetectAnomaly, LetsValuesBeNaN) {
  const rc::detect_anomaly guard;
  expect_close(rc::grad([](Tensor x) { return (x + sqrt(x).detach()).sum(); })(doubles({-1})), doubles({1}));
}

TEST(DetectAnomaly, EndsWithItsScope) {
  { const rc::detect_anomaly guard; }
  EXPECT_TRUE(rc::grad(roots)(doubles({-1})).isnan().all().item<bool>());
}

}  // namespace
