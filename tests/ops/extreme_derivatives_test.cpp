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

TEST(ExtremeDerivatives, OfSiluAtInfinity) {
  const auto f = [](Tensor x) { return silu(x); };
  constexpr auto far = std::numeric_limits<float>::infinity();
  EXPECT_EQ(silu(single(far)).item<double>(), inf);
  EXPECT_EQ(silu(single(-far)).item<double>(), 0);
  EXPECT_EQ(slope(f, far).item<double>(), 1);
  EXPECT_EQ(slope(f, -far).item<double>(), 0);
  EXPECT_EQ(second(f, far).item<double>(), 0);
  EXPECT_EQ(second(f, -far).item<double>(), 0);
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

/// The kernels multiply in float32; the derivatives are right wherever those products are finite.
TEST(ExtremeDerivatives, OfProductsThatOverflowHalfPrecision) {
  const Tensor x = doubles({300, 300, 5, 0}).to(rc::float16);
  const auto product = [](Tensor v) { return prod(v); };
  const auto last = [](Tensor v) { return cumprod(v, 0)[3]; };
  const auto from_behind = [](Tensor v) { return flip(cumprod(flip(v, {0}), 0), {0})[0]; };
  for (const Tensor& slope : {rc::grad(product)(x), rc::jacfwd(product)(x), rc::grad(last)(x), rc::jacfwd(last)(x)})
    EXPECT_EQ(values(slope), (Values{0, 0, 0, inf}));
  const Tensor y = doubles({0, 5, 300, 300}).to(rc::float16);
  for (const Tensor& slope : {rc::grad(product)(y), rc::grad(from_behind)(y), rc::jacfwd(from_behind)(y)})
    EXPECT_EQ(values(slope), (Values{inf, 0, 0, 0}));
  const Values second = {0, 0, 0, 1500, 0, 0, 0, 1500, 0, 0, 0, inf, 1500, 1500, inf, 0};
  for (const auto& f : {rc::hessian(product)(x), rc::hessian(last)(x), rc::jacrev(rc::grad(product))(x)})
    EXPECT_EQ(values(f), second);
}

/// Rows that a mask leaves out add nothing, in each order of derivatives.
TEST(ExtremeDerivatives, OfProductsThatOverflowAndAreMasked) {
  const Tensor keep = rc::tensor({0., 1.}) > 0;
  const Tensor x = doubles({1e200, -1e200, 3, 1, 2, 3}, {2, 3});
  const auto masked = [&](Tensor v) { return where(keep, prod(v, 1), 0).sum(); };
  const auto running = [&](Tensor v) { return where(keep, cumprod(v, 1).select(1, 2), 0).sum(); };
  const Values slope = {0, 0, 0, 6, 3, 2}, second = {0, 0, 0, 0, 3, 2, 0, 3, 0, 3, 2, 0};
  const auto each = [&](const auto& f) {
    EXPECT_EQ(values(rc::grad(f)(x)), slope);
    EXPECT_EQ(values(rc::jacfwd(f)(x)), slope);
    for (const Tensor& hessian :
         {rc::hessian(f)(x), rc::jacrev(rc::grad(f))(x), rc::jacfwd(rc::jacfwd(f))(x), rc::jacrev(rc::jacfwd(f))(x)}) {
      const Values all = values(hessian);  // [2, 3, 2, 3]
      for (std::size_t i = 0; i < 6; ++i)
        for (std::size_t j = 0; j < 6; ++j)
          EXPECT_EQ(all[6 * i + j], i < 3 || j < 3 ? 0 : (i == j ? 0 : 6.0 / ((i - 2) * (j - 2)))) << i << j;
    }
  };
  each(masked);
  each(running);
}

/// A tensor for exponent gives the derivatives that a number gives, at infinity as elsewhere.
TEST(ExtremeDerivatives, OfPowersOfInfinity) {
  for (const double exponent : {-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0})
    for (const double base : {inf, -inf, 0.0, 2.0}) {
      if (base < 0 && std::floor(exponent) != exponent) continue;
      const auto by_number = [&](Tensor x) { return pow(x, exponent); };
      const auto by_tensor = [&](Tensor x) { return pow(x, number(exponent)); };
      const double wanted = rc::grad(by_number)(number(base)).item<double>();
      const double found = rc::grad(by_tensor)(number(base)).item<double>();
      EXPECT_TRUE(found == wanted || (std::isnan(found) && std::isnan(wanted)))
          << base << " to the " << exponent << ": " << found << ", by a number " << wanted;
    }
  const auto by_exponent = [](double base, double exponent) {
    return rc::grad([&](Tensor e) { return pow(number(base), e); })(number(exponent)).item<double>();
  };
  EXPECT_EQ(by_exponent(inf, 2), inf);
  EXPECT_EQ(by_exponent(inf, -2), 0);
  EXPECT_EQ(by_exponent(0, 2), 0);
  EXPECT_EQ(by_exponent(0, -2), -inf);
}

/// A share of an infinite cotangent is chosen, not what the other's leaves of it.
TEST(ExtremeDerivatives, OfChoicesByAnInfiniteCotangent) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto shares = [](const auto& f, double a, double b) {
    return values(rc::grad([&](Tensor x) { return (f(x[0], x[1]) * number(inf)); })(doubles({a, b})));
  };
  const auto greater = [](Tensor a, Tensor b) { return fmax(a, b); };
  const auto less = [](Tensor a, Tensor b) { return fmin(a, b); };
  EXPECT_EQ(shares(greater, 2, 1), (Values{inf, 0}));
  EXPECT_EQ(shares(greater, 1, 2), (Values{0, inf}));
  EXPECT_EQ(shares(greater, 1, 1), (Values{inf, inf}));
  EXPECT_EQ(shares(greater, 1, nan), (Values{inf, 0}));
  EXPECT_EQ(shares(greater, nan, 1), (Values{0, inf}));
  EXPECT_EQ(shares(less, 2, 1), (Values{0, inf}));
  EXPECT_EQ(shares(less, nan, nan), (Values{inf, 0}));
  const auto between = [](Tensor a, Tensor b) { return lerp(a, b, number(0.25)); };
  EXPECT_EQ(shares(between, 1, 2), (Values{inf, inf}));
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

// ── losses ──

constexpr double extreme[] = {-1000, 0, 1000};

Tensor extremes() { return doubles({extreme[0], extreme[1], extreme[2]}); }

TEST(ExtremeLosses, HaveTheJacobiansOfTheirFormulas) {
  const Tensor target = doubles({0, 1, 1000});
  const auto none = rc::Reduction::none;
  const auto l1 = [&](Tensor x) { return rc::l1_loss(x, target, none); };
  const auto mse = [&](Tensor x) { return rc::mse_loss(x, target, none); };
  const auto nll = [](Tensor x) { return rc::nll_loss(x.unsqueeze(0), rc::tensor({2}), none); };
  expect_values(rc::jacrev(l1)(extremes()).diagonal(), {-1, -1, 0});
  expect_values(rc::jacrev(mse)(extremes()).diagonal(), {-2000, -2, 0});
  expect_values(rc::jacrev(nll)(extremes()), {0, 0, -1});
  for (const std::function<Tensor(Tensor)>& f : {std::function<Tensor(Tensor)>(l1), {mse}, {nll}}) {
    expect_close(rc::jacfwd(f)(extremes()), rc::jacrev(f)(extremes()));
    EXPECT_TRUE(bool(isfinite(rc::hessian(f)(extremes())).all()));
  }
}

TEST(ExtremeLosses, OfSoftmaxStayFinite) {
  const auto soft = [](Tensor x) { return softmax(x, 0); };
  const auto log_soft = [](Tensor x) { return log_softmax(x, 0); };
  expect_values(rc::jacrev(soft)(extremes()), Values(9, 0));
  expect_values(rc::jacrev(log_soft)(extremes()), {1, 0, -1, 0, 1, -1, 0, 0, 0});
  for (const std::function<Tensor(Tensor)>& f : {std::function<Tensor(Tensor)>(soft), {log_soft}}) {
    expect_close(rc::jacfwd(f)(extremes()), rc::jacrev(f)(extremes()));
    EXPECT_TRUE(bool(isfinite(rc::hessian(f)(extremes())).all()));
  }
}

TEST(ExtremeLosses, OfLayerNormStayFinite) {
  const auto f = [](Tensor x) { return rc::layer_norm(x, {3}); };
  expect_values(f(extremes()), {-std::sqrt(1.5), 0, std::sqrt(1.5)}, 1e-9);
  // The Jacobian (1 - 1/n - y yᵀ / n) / σ, with σ² = 2e6 / 3.
  const double sigma = std::sqrt(2e6 / 3);
  Values expected;
  for (double a : {-1, 0, 1})
    for (double b : {-1, 0, 1}) expected.push_back(((a == b) - 1.0 / 3 - a * b * 1.5 / 3) / sigma);
  expect_values(rc::jacrev(f)(extremes()), expected, 1e-9);
  expect_values(rc::jacfwd(f)(extremes()), expected, 1e-9);
}

}  // namespace
