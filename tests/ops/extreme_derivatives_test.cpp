// Derivatives at extremes, by name: what overflows, vanishes or cancels on the way to a moderate derivative. The law
// over all elementwise operations is tests/laws/extremes_test.cpp; this file has the cases that users met, and those of
// operations along an axis.
#include <cmath>
#include <limits>

#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

Tensor single(float x) { return rc::tensor(std::vector<float>{x}).sum(); }

/// To a few roundings of float32, of the number itself.
void expect_near(const Tensor& found, double wanted) {
  EXPECT_EQ(found.dtype(), rc::float32);
  EXPECT_NEAR(found.item<double>(), wanted, 4e-6 * std::fabs(wanted));
}

template <class F>
Tensor slope(const F& f, float x) {
  return rc::grad(f)(single(x));
}
template <class F>
Tensor second(const F& f, float x) {
  return rc::grad(rc::grad(f))(single(x));
}

TEST(ExtremeDerivatives, OfAnAngleNearTheOrigin) {
  expect_near(slope([](Tensor y) { return atan2(y, single(1e-23F)); }, 0), 1e23);
  expect_near(slope([](Tensor x) { return atan2(single(1e-23F), x); }, 0), -1e23);
  expect_near(slope([](Tensor y) { return atan2(y, single(1e25F)); }, 1e25F), 5e-26);
  expect_near(slope([](Tensor x) { return atan(x); }, 1e18F), 1e-36);
}

TEST(ExtremeDerivatives, OfAHypotenuseBelowTheNormalNumbers) {
  expect_near(slope([](Tensor a) { return hypot(a, single(1e-40F)); }, 1e-40F), std::sqrt(0.5));
  expect_near(slope([](Tensor x) { return asinh(x); }, 1e25F), 1e-25);
}

TEST(ExtremeDerivatives, OfAPowerOfOrderZero) {
  const auto f = [](Tensor x) { return pow(x, single(0)); };
  EXPECT_EQ(slope(f, 1e-40F).item<double>(), 0);
  EXPECT_EQ(slope(f, 0).item<double>(), 0);
  expect_near(slope([](Tensor x) { return pow(x, single(1e-3F)); }, 1e-40F),
              1e-3 * std::pow(static_cast<double>(1e-40F), 1e-3 - 1));
}

TEST(ExtremeDerivatives, OfExponentialsFarBelowOne) {
  expect_near(slope([](Tensor x) { return elu(x); }, -20), std::exp(-20));
  expect_near(slope([](Tensor x) { return elu(x, 2); }, -20), 2 * std::exp(-20));
  expect_near(second([](Tensor x) { return elu(x); }, -80), std::exp(-80));
  expect_near(slope([](Tensor x) { return expm1(x); }, -20), std::exp(-20));
  expect_near(second([](Tensor x) { return logsigmoid(x); }, -20), -std::exp(-20));
  expect_near(second([](Tensor x) { return logsigmoid(x); }, 20), -std::exp(-20));
  expect_near(second([](Tensor x) { return softplus(x, 1, 40); }, 20), std::exp(-20));
  expect_near(second([](Tensor x) { return silu(x); }, -20), -18 * std::exp(-20));
  expect_near(second([](Tensor x) { return logaddexp(x, single(0)); }, 20), std::exp(-20));
  EXPECT_EQ(second([](Tensor x) { return gelu(x); }, 1e20F).item<double>(), 0);
}

TEST(ExtremeDerivatives, OfAnArcusSineNearOne) {
  const float x = 1 - 0x1p-24F;
  expect_near(slope([](Tensor v) { return asin(v); }, x), 1 / std::sqrt(0x1p-24 * (2 - 0x1p-24)));
  expect_near(slope([](Tensor v) { return acos(v); }, x), -1 / std::sqrt(0x1p-24 * (2 - 0x1p-24)));
  expect_near(slope([](Tensor v) { return atanh(v); }, x), 1 / (0x1p-24 * (2 - 0x1p-24)));
}

TEST(ExtremeDerivatives, OfAQuotientOfSmallNumbers) {
  expect_near(slope([](Tensor b) { return single(0) / b; }, 1e-40F), 0);
  expect_near(slope([](Tensor b) { return single(1e-35F) / b; }, 1e-36F), -1e37);
}

/// The remainder is exact, however far apart the two are, and the quotient infinite where it overflows.
TEST(ExtremeDerivatives, OfRemaindersWhoseQuotientOverflows) {
  std::vector<float> numbers;
  for (int e = -149; e < 128; e += 7)
    for (const float m : {1.0F, -1.37F}) numbers.push_back(std::ldexp(m, e));
  std::vector<float> a, b, wanted;
  for (const float x : numbers)
    for (const float y : numbers) {
      a.push_back(x);
      b.push_back(y);
      wanted.push_back(std::fmod(x, y));
    }
  EXPECT_EQ(fmod(rc::tensor(a), rc::tensor(b)).to_vector<float>(), wanted);
  EXPECT_EQ(fmod(number(1e300), number(3e-300)).item<double>(), std::fmod(1e300, 3e-300));
  const Tensor large = single(1e30F), small = single(1e-30F);
  EXPECT_EQ(floor_divide(large, small).item<double>(), inf);
  EXPECT_EQ(floor_divide(-large, small).item<double>(), -inf);
  EXPECT_EQ(remainder(large, small).item<float>(), std::fmod(1e30F, 1e-30F));
  EXPECT_EQ(slope([&](Tensor b) { return remainder(large, b); }, 1e-30F).item<double>(), -inf);
  EXPECT_EQ(slope([&](Tensor b) { return fmod(large, b); }, 1e-30F).item<double>(), -inf);
}

/// Entries that are finite, though a product of the others is not.
TEST(ExtremeDerivatives, OfProductsThatOverflow) {
  const auto product = [](Tensor v) { return prod(v); };
  const auto expect_same = [](const Tensor& found, const Values& wanted) { EXPECT_EQ(values(found), wanted); };
  const auto expect_hessian = [&](const Tensor& x, const Values& wanted) {
    expect_same(rc::hessian(product)(x), wanted);
    expect_same(rc::jacrev(rc::grad(product))(x), wanted);
    expect_same(rc::jacfwd(rc::jacfwd(product))(x), wanted);
  };
  expect_hessian(doubles({1e200, -1e200, 1}), {0, 1, -1e200, 1, 0, 1e200, -1e200, 1e200, 0});
  expect_hessian(doubles({inf, 2}), {0, 1, 1, 0});
  expect_hessian(doubles({2, inf, 3}), {0, 3, inf, 3, 0, 2, inf, 2, 0});
  expect_hessian(doubles({0, inf, 0}), {0, 0, inf, 0, 0, 0, inf, 0, 0});
  expect_same(rc::grad(product)(doubles({inf, 2})), {2, inf});
  expect_same(rc::jacfwd(product)(doubles({inf, 2})), {2, inf});
  const auto second = [](Tensor v) { return cumprod(v, 0)[1]; };
  expect_same(rc::grad(second)(doubles({inf, 2, 3})), {2, inf, 0});
  expect_same(rc::jacfwd(second)(doubles({inf, 2, 3})), {2, inf, 0});
}

TEST(ExtremeDerivatives, OfACrossEntropyOfInfiniteLogits) {
  const auto loss = [](double x, double y) {
    return binary_cross_entropy_with_logits(doubles({x}), doubles({y})).item<double>();
  };
  EXPECT_EQ(loss(inf, 0), inf);
  EXPECT_EQ(loss(inf, 1), 0);
  EXPECT_EQ(loss(inf, 0.5), inf);
  EXPECT_EQ(loss(-inf, 0), 0);
  EXPECT_EQ(loss(-inf, 1), inf);
  for (const double x : {inf, -inf})
    for (const double y : {0.0, 1.0})
      expect_values(rc::grad([&](Tensor v) { return binary_cross_entropy_with_logits(v, number(y)); })(number(x)),
                    {(x > 0 ? 1 : 0) - y});
}

}  // namespace
