// What the laws cannot know of elementwise operations: where PyTorch draws the line (ties, zeros, integers), that NaN
// leaks into no gradient, constants from tables, and what is written in place. Start with the suite of a family.
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <numbers>

#include "support/expect_error.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

Tensor integers(const std::vector<std::int64_t>& values) { return rc::tensor(values); }
Tensor complexes(const std::vector<std::complex<double>>& values) { return rc::tensor(values); }

/// As expect_values, for values among which are infinities.
void expect_extremes(const Tensor& actual, const Values& expected) {
  const Values found = values(actual);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_TRUE(found[i] == expected[i] || (std::isnan(found[i]) && std::isnan(expected[i])) ||
                std::abs(found[i] - expected[i]) < 1e-12)
        << "element " << i << " is " << found[i] << ", expected " << expected[i];
}

using Unary = std::function<Tensor(Tensor)>;
using Binary = std::function<Tensor(Tensor, Tensor)>;

/// The derivative of a sum of elementwise results, one for each element.
Tensor slope(const Unary& f, const Tensor& x) {
  return rc::grad([&](Tensor v) { return f(v).sum(); })(x);
}
Tensor second_slope(const Unary& f, const Tensor& x) {
  return slope([&](Tensor v) { return slope(f, v); }, x);
}
std::pair<Tensor, Tensor> slopes(const Binary& f, const Tensor& a, const Tensor& b) {
  const auto [by_a, by_b] = rc::grad<0, 1>([&](Tensor v, Tensor w) { return f(v, w).sum(); })(a, b);
  return {by_a, by_b};
}

// ── arithmetic ──

TEST(Arithmetic, OfBooleansIsLogic) {
  const Tensor p = rc::tensor({true, true, false}), q = rc::tensor({true, false, false});
  EXPECT_EQ((p + q).to_vector<bool>(), (std::vector<bool>{true, true, false}));
  EXPECT_EQ((p * q).to_vector<bool>(), (std::vector<bool>{true, false, false}));
  EXPECT_EQ((p + q).dtype(), rc::boolean);
  expect_error<rc::TypeError>([&] { p - q; },
                              "sub: not defined for bool; convert the operands first, for example with "
                              "x.to(rc::float32)");
}

TEST(Arithmetic, LerpIsExactAtBothEnds) {
  const Tensor start = doubles({0.1, 1e30}), end = doubles({0.3, -7});
  EXPECT_EQ(values(lerp(start, end, 0.0)), values(start));
  EXPECT_EQ(values(lerp(start, end, 1.0)), values(end));
}

// ── powers ──

TEST(Powers, ToTheZerothHaveNoSlope) {
  const auto [by_base, by_exponent] = slopes(rc::pow, doubles({0, 3}), doubles({0, 0}));
  expect_values(by_base, {0, 0});
  expect_values(by_exponent, {0, std::log(3)});
}

TEST(Powers, OfInfinitiesAndZerosHaveTheirSigns) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double exponent : {-64., -63., -5., -4., -3., 3., 4., 5., 63., 64.})
    for (const auto dtype : {rc::float32, rc::float64}) {
      const auto power = [exponent](const Tensor& x) { return rc::pow(x, exponent); };
      const Tensor x = doubles({-infinity, infinity, -0.0, 0.0}).to(dtype);
      for (const Tensor& y : {power(x), rc::compile(power)(x)})
        for (int i = 0; i < 4; ++i) {
          const double expected = std::pow(x[i].item<double>(), exponent), found = y[i].item<double>();
          EXPECT_EQ(found, expected) << x[i] << " to " << exponent;
          EXPECT_EQ(std::signbit(found), std::signbit(expected)) << x[i] << " to " << exponent;
        }
    }
}

TEST(Powers, OfZeroAreFlatInAPositiveExponent) {
  const auto [by_base, by_exponent] = slopes(rc::pow, doubles({0, 0, 0}), doubles({1, 2, 0.5}));
  expect_extremes(by_base, {1, 0, inf});
  expect_values(by_exponent, {0, 0, 0});
}

TEST(Powers, OfNegativeBasesWithIntegerExponents) {
  for (double exponent : {-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 7.0}) {
    const Unary by_number = [&](Tensor x) { return pow(x, exponent); };
    const Unary by_tensor = [&](Tensor x) { return pow(x, doubles({exponent, exponent})); };
    const Tensor x = doubles({-1.5, 2});
    const double e = exponent;
    expect_values(by_number(x), {std::pow(-1.5, e), std::pow(2, e)});
    expect_values(slope(by_number, x), {e * std::pow(-1.5, e - 1), e * std::pow(2, e - 1)});
    expect_values(second_slope(by_number, x), {e * (e - 1) * std::pow(-1.5, e - 2), e * (e - 1) * std::pow(2, e - 2)});
    expect_close(slope(by_tensor, x), slope(by_number, x));
    expect_close(second_slope(by_tensor, x), second_slope(by_number, x));
  }
}

TEST(Powers, HaveTheirMixedDerivativeWhereTheExponentIsZero) {
  const Unary by_exponent = [](Tensor b) { return rc::grad([&](Tensor e) { return pow(b, e).sum(); })(doubles({0})); };
  expect_values(slope(by_exponent, doubles({2})), {0.5});
}

TEST(Powers, OfIntegersStayIntegers) {
  const Tensor y = pow(integers({2, -3, 5}), 3);
  EXPECT_EQ(y.dtype(), rc::int64);
  expect_values(y, {8, -27, 125});
  EXPECT_EQ(pow(integers({2}), 0.5).dtype(), rc::float32);
  expect_values(square(integers({-4})), {16});
}

TEST(Powers, KeepTheFullPrecisionOfANumberAsBase) {
  const Unary f = [](Tensor x) { return pow(2, x); };
  expect_values(slope(f, doubles({3})), {8 * std::numbers::ln2}, 1e-14);
}

// ── exponentials ──

TEST(Exponentials, LogaddexpOfInfinities) {
  const auto [by_a, by_b] = slopes(rc::logaddexp, doubles({-inf, -inf, 0, inf}), doubles({-inf, 0, -inf, 0}));
  expect_extremes(logaddexp(doubles({-inf, -inf, inf, inf}), doubles({-inf, 1, inf, -inf})), {-inf, 1, inf, inf});
  expect_values(by_a, {0.5, 0, 1, 1});
  expect_values(by_b, {0.5, 1, 0, 0});
}

// ── special functions ──

/// (-1)^(n+1) n! times the sum of (x + k)^-(n+1), of which terms far from 0 do not count where n is large.
double polygamma_by_its_sum(std::int64_t n, double x) {
  double sum = 0;
  for (int k = 2000; k >= 0; --k) sum += std::pow((x + k) * 4, -static_cast<double>(n + 1));
  return (n % 2 == 0 ? -1 : 1) * sum * std::exp2(n + 1) * std::tgamma(static_cast<double>(n + 1)) * std::exp2(n + 1);
}

TEST(Special, PolygammaOfHighOrders) {
  const auto expect_sums = [](std::int64_t n, const std::vector<double>& xs) {
    for (const double x : xs) {
      const double sum = polygamma_by_its_sum(n, x);
      EXPECT_NEAR(rc::polygamma(n, doubles({x})).item() / sum, 1, 1e-13) << n << " at " << x;
    }
  };
  for (const std::int64_t n : {7, 8, 20, 31, 32, 33, 100, 101})
    expect_sums(n, {-0.25, -1.75, -7.125, -20.75, -3.5625, 0.5, 1, 7.25});
  for (const std::int64_t n : {168, 169}) expect_sums(n, {1, 1.25, 7.25});
  for (const double x : {1.25, 2.5, 7.25})  // nearer to a pole it is beyond float32
    EXPECT_NEAR(rc::polygamma(33, rc::full({}, x, rc::float32)).item<double>() / polygamma_by_its_sum(33, x), 1, 1e-6);
}

/// Half-way between two poles the parts cancel where n is even; what is left is bound by the greatest part.
TEST(Special, PolygammaOfEvenOrdersHalfWayBetweenPoles) {
  for (const std::int64_t n : {8, 20, 32}) {
    const double greatest = std::tgamma(static_cast<double>(n + 1)) * std::exp2(n + 1);
    const double left = rc::polygamma(n, doubles({-2.5})).item() - polygamma_by_its_sum(n, -2.5);
    EXPECT_LE(std::fabs(left), 8 * 0x1p-52 * greatest);
  }
}

TEST(Special, PolygammaAtItsPolesAndFarOut) {
  expect_extremes(rc::polygamma(1, doubles({0, -1, -2, inf, nan})), {inf, inf, inf, 0, nan});
  expect_values(rc::polygamma(1, doubles({1e8})), {1e-8}, 1e-12);
}

// ── activations ──

TEST(Activations, ReluKeepsNanAndClearsTheSignOfZero) {
  expect_extremes(relu(doubles({-0.0, nan, -inf, inf})), {0, nan, 0, inf});
}

TEST(Activations, HaveFiniteSlopesForAllNumbers) {
  const std::vector<std::pair<const char*, Unary>> smooth{{"sigmoid", rc::ops::sigmoid},
                                                          {"tanh", rc::ops::tanh},
                                                          {"gelu", rc::ops::gelu},
                                                          {"silu", rc::ops::silu},
                                                          {"elu", [](Tensor x) { return rc::elu(x); }},
                                                          {"softplus", [](Tensor x) { return rc::softplus(x); }},
                                                          {"logsigmoid", rc::ops::logsigmoid}};
  const Tensor x = doubles({-1e4, -800, -40, 0, 40, 800, 1e4});
  for (const auto& [name, f] : smooth)
    for (const Tensor& y : {f(x), slope(f, x), second_slope(f, x)})
      EXPECT_TRUE(isfinite(y).all().item<bool>()) << name << ' ' << y;
}

// ── rounding ──

TEST(Rounding, FloorDivideIsExactUpToTheLargestCountableQuotient) {
  std::vector<float> a, b, expected;
  for (int i = 0; i < 100000; ++i) {
    const float divisor = (i % 2 == 0 ? 1.0f : -1.0f) * (1 + static_cast<float>(i) * 0x1p-15f);
    const float quotient = static_cast<float>(i * 167 + 1) * (i % 3 == 0 ? -1.0f : 1.0f);
    const float dividend = i % 4 < 2 ? quotient * divisor : std::nextafter(quotient * divisor, 0.0f);
    a.push_back(dividend);
    b.push_back(divisor);
    // Both have 24 bits, and the quotient at most as many: what is left after the remainder divides exactly.
    const double wide = dividend, by = divisor, rest = std::fmod(wide, by), whole = (wide - rest) / by;
    expected.push_back(static_cast<float>(rest != 0 && (rest < 0) != (divisor < 0) ? whole - 1 : whole));
  }
  EXPECT_EQ(floor_divide(rc::tensor(a), rc::tensor(b)).to_vector<float>(), expected);
}

TEST(Rounding, FloorDivideByAndOfInfinity) {
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor by_infinity = floor_divide(rc::tensor({3.0f, -3.0f, 0.0f}), rc::tensor({inf, inf, -inf}));
  EXPECT_EQ(by_infinity.to_vector<float>(), (std::vector<float>{0, -1, 0}));
  EXPECT_TRUE(rc::all(rc::isnan(floor_divide(rc::tensor({inf, -inf}), 2))).item<bool>());  // as in PyTorch
}

// ── comparison and logic ──

TEST(Comparison, IsBooleanForEveryType) {
  EXPECT_EQ((integers({1}) < 2.5).dtype(), rc::boolean);
  EXPECT_EQ((complexes({{1, 2}}) == complexes({{1, 2}})).to_vector<bool>(), std::vector<bool>{true});
  EXPECT_EQ((doubles({nan}) == doubles({nan})).to_vector<bool>(), std::vector<bool>{false});
}

TEST(Comparison, EqualAsksForShapeAndValues) {
  EXPECT_TRUE(rc::equal(integers({1, 2}), doubles({1, 2})));
  EXPECT_FALSE(rc::equal(integers({1, 2}), integers({1, 3})));
  EXPECT_FALSE(rc::equal(rc::ones({2}), rc::ones({2, 2})));
  EXPECT_FALSE(rc::equal(doubles({nan}), doubles({nan})));
}

TEST(Comparison, CloseIsRelativeToTheSecond) {
  EXPECT_EQ(isclose(doubles({1, 1, inf, inf, nan}), doubles({1.05, 1.2, inf, -inf, nan}), 0.1, 0).to_vector<bool>(),
            (std::vector<bool>{true, false, true, false, false}));
  EXPECT_TRUE(rc::allclose(doubles({1, 2}), doubles({1, 2 + 1e-6})));
  EXPECT_FALSE(rc::allclose(integers({1LL << 53}), integers({(1LL << 53) + 2}), 0, 1));
  EXPECT_TRUE(isclose(complexes({{1, 1}}), complexes({{1, 1.01}}), 0.1, 0).all().item<bool>());
}

TEST(Comparison, OfValuesWorksUnderDifferentiationOnly) {
  const auto f = [](Tensor x) { return rc::equal(x, x) && rc::allclose(x, x) ? (x * x).sum() : x.sum(); };
  expect_values(rc::grad(f)(doubles({1, 2})), {2, 4});
  const Tensor x = doubles({1, 2});
  const std::string text =
      ": needs the value of f64[], which differs per example of vmap over axis 0 of 2{at}; use "
      "where, cond or while_loop, or pass .lanes = rc::Lanes::split to vmap\n"
      "  inside vmap over axis 0 of 2{at}";
  expect_error<rc::TransformError>(
      [&] {
        rc::vmap([](Tensor v) {
          rc::equal(1, v);
          return v;
        })(x);
      },
      "equal" + text);
  expect_error<rc::TransformError>(
      [&] {
        rc::vmap([](Tensor v) {
          rc::allclose(v, 1);
          return v;
        })(x);
      },
      "allclose" + text);
}

TEST(Logic, WorksOnBitsOfIntegersAndOnBooleans) {
  expect_values(integers({6}) & integers({3}), {2});
  expect_values(integers({6}) | integers({3}), {7});
  expect_values(integers({6}) ^ integers({3}), {5});
  expect_values(~integers({6}), {-7});
  expect_values(bitwise_left_shift(integers({3, 1}), integers({2, 64})), {12, 0});
  expect_values(bitwise_right_shift(integers({-8, -8}), integers({1, 99})), {-4, -1});
  EXPECT_EQ((~rc::tensor({true, false})).to_vector<bool>(), (std::vector<bool>{false, true}));
  EXPECT_EQ(logical_xor(doubles({0, 2, nan}), doubles({1, 1, 0})).to_vector<bool>(),
            (std::vector<bool>{true, false, true}));
  EXPECT_EQ((!complexes({{0, 0}, {0, 1}})).to_vector<bool>(), (std::vector<bool>{true, false}));
}

// ── choice ──

TEST(Choice, WhereLeaksNoNan) {
  const Unary f = [](Tensor x) { return where(x > 0, log(x), x); };
  expect_values(slope(f, doubles({-1, 2})), {1, 0.5});
  const Tensor mask = rc::tensor({true, false}), bad = doubles({1, nan});
  expect_values(slope([&](Tensor x) { return where(mask, x, 0) * bad; }, doubles({1, 1})), {1, 0});
  expect_values(slope([&](Tensor x) { return where(mask, x, bad); }, bad), {1, 0});
  const Unary safe = [](Tensor v) { return where(v > 0, sqrt(where(v > 0, v, 1)), 0); };
  const Tensor x = doubles({-1, 0, 2});
  expect_values(slope(safe, x), {0, 0, 0.5 / std::sqrt(2)});
  expect_values(second_slope(safe, x), {0, 0, -0.25 * std::pow(2, -1.5)});
}

TEST(Choice, WhereTakesAnyConditionAndPromotesTheRest) {
  const Tensor y = where(integers({0, 5}), 1, doubles({2, 3}));
  EXPECT_EQ(y.dtype(), rc::float64);
  expect_values(y, {2, 1});
  const Unary floating_condition = [](Tensor x) { return where(x, x, 7.0); };
  expect_values(slope(floating_condition, doubles({0, 3})), {0, 1});
}

TEST(Choice, ClampLeavesOutTheBoundThatIsUndefined) {
  const Tensor x = doubles({-2, 0, 2});
  expect_values(clamp(x, {}, 1), {-2, 0, 1});
  expect_values(clamp(x, -1, {}), {-1, 0, 2});
  expect_values(x.clone().clamp_({}, 1), {-2, 0, 1});
  expect_values(x.clone().clamp_(-1, {}), {-1, 0, 2});
}

// ── signs and complex numbers ──

TEST(Signs, OfNanIsZero) { expect_values(sign(doubles({-3, 0, nan})), {-1, 0, 0}); }

TEST(Signs, NanToNumKnowsTheElementType) {
  for (const rc::DType dtype : {rc::float16, rc::bfloat16, rc::float32, rc::float64}) {
    const Tensor y = nan_to_num(doubles({nan, inf, -inf, 1}).to(dtype));
    EXPECT_TRUE(isfinite(y).all().item<bool>()) << y;
    EXPECT_TRUE(isinf(y * 1.01).to_vector<bool>()[1]) << y;
  }
  expect_values(slope(rc::ops::nan_to_num, doubles({nan, inf, 1})), {0, 0, 1});
}

TEST(Complex, SizesHaveNoSlopeAtZero) {
  const Tensor zero = rc::zeros({1}, rc::complex128);
  for (const Unary& f : {Unary(rc::ops::abs), Unary(rc::ops::angle), Unary([](Tensor z) { return real(sgn(z)); })})
    EXPECT_EQ(slope(f, zero).to_vector<std::complex<double>>()[0], 0.0);
}

TEST(Complex, PartsOfRealTensors) {
  const Tensor x = doubles({-1, 2});
  EXPECT_TRUE(real(x).is_same(x));
  EXPECT_TRUE(conj(x).is_same(x));
  expect_values(imag(x), {0, 0});
  expect_values(angle(x), {std::numbers::pi, 0});
}

// ── conversion ──

TEST(Conversion, ToItsOwnTypeIsTheTensorItself) {
  const Tensor x = doubles({1});
  EXPECT_TRUE(x.to(rc::float64).is_same(x));
  EXPECT_FALSE(x.clone().is_same(x));
  EXPECT_FALSE(shares_memory(x, x.clone()));
}

TEST(Conversion, GradientsComeBackInTheirOwnType) {
  const Tensor gradient = slope([](Tensor x) { return square(x.to(rc::float64)); }, rc::ones({2}));
  EXPECT_EQ(gradient.dtype(), rc::float32);
  expect_values(gradient, {2, 2});
  expect_values(slope([](Tensor x) { return real(x.to(rc::complex128) * 3); }, doubles({1})), {3});
  expect_values(slope([](Tensor x) { return x.to(rc::int64).to(rc::float64) * x; }, doubles({2.5})), {2});
}

/// x · detach(x), by whatever road.
Tensor half_detached(Tensor x) { return x * x.detach(); }

TEST(Detach, CutsEveryLevelUnderEveryNesting) {
  const Tensor x = doubles({3, 4});
  expect_values(rc::vmap(rc::grad(half_detached))(x), {3, 4});
  expect_values(slope([](Tensor v) { return rc::vmap(half_detached)(v); }, x), {3, 4});
  expect_values(rc::vmap(rc::grad(rc::grad(half_detached)))(x), {0, 0});
  expect_values(slope([](Tensor v) { return rc::vmap(rc::grad(half_detached))(v); }, x), {0, 0});
  expect_values(rc::vmap(rc::grad([](Tensor v) { return rc::vmap(half_detached)(v * doubles({1, 2})).sum(); }))(x),
                {3 * 5, 4 * 5});
}

TEST(Detach, CutsAnOuterVariable) {
  const auto f = [](Tensor x) { return rc::grad([&](Tensor y) { return y * x.detach(); })(x); };
  expect_values(rc::grad(f)(number(3)), {0});
}

// ── in place ──

/// What tests/ops/methods_test.cpp does not write: a target that is also an operand, masks, constants and `out` forms.
TEST(InPlace, WritesGiveWhatTheOperationGives) {
  const std::vector<std::pair<Unary, Unary>> pairs{
      {[](Tensor x) { return x.mul_(x); }, [](Tensor x) { return x * x; }},
      {[](Tensor x) { return x.pow_(x); }, [](Tensor x) { return pow(x, x); }},
      {[](Tensor x) { return x.masked_fill_(x > 0.5, 9); }, [](Tensor x) { return where(x > 0.5, 9, x); }},
      {[](Tensor x) { return x.fill_(4); }, [](Tensor x) { return x * 0 + 4; }},
      {[](Tensor x) { return x.zero_(); }, [](Tensor x) { return x * 0; }},
      {[](Tensor x) { return rc::add_out(x, x, 3); }, [](Tensor x) { return x + 3; }},
      {[](Tensor x) { return rc::div_out(x, 1, x); }, [](Tensor x) { return 1 / x; }}};
  for (const auto& [in_place, pure] : pairs) {
    const Tensor x = ramp({3}), expected = pure(x);
    const auto by_copy = [&in_place = in_place](Tensor v) { return in_place(v.clone()); };
    expect_equal(by_copy(x), expected);
    expect_equal(rc::vmap(by_copy)(x), expected);
    expect_close(slope(by_copy, x), slope(pure, x));
    const Tensor target = x.clone();
    EXPECT_TRUE(in_place(target).is_same(target));
    expect_equal(target, expected);
  }
}

TEST(InPlace, ReadingAnotherViewOfTheTargetReadsOldValues) {
  const Tensor x = doubles({1, 2, 3, 4});
  x.slice(0, 1, std::nullopt).add_(x.slice(0, 0, 3));
  expect_values(x, {1, 3, 5, 7});
}

TEST(InPlace, ErrorsNameTheMethodThatWasCalled) {
  const Tensor captured = doubles({2});
  const std::string text =
      ": the target f64[1] was captured from outside grad{at}; a function under differentiation "
      "writes only to its arguments and to what it creates: pass it as an argument, or write to a "
      "clone()\n  inside grad{at}";
  const auto writing = [](const Unary& write) { return rc::grad([=](Tensor x) { return write(x), x; }); };
  expect_error<rc::TransformError>([&] { writing([&](Tensor x) { return captured.pow_(x); })(number(1)); },
                                   "pow_" + text);
  expect_error<rc::TransformError>([&] { writing([&](Tensor) { return captured.pow_(2); })(number(1)); },
                                   "pow_" + text);
  expect_error<rc::TransformError>([&] { writing([&](Tensor) { return captured.fill_(2); })(number(1)); },
                                   "fill_" + text);
  expect_error<rc::TransformError>(
      [&] { writing([&](Tensor x) { return captured.masked_fill_(x > 0, 2); })(number(1)); }, "masked_fill_" + text);
}

TEST(InPlace, KeepsItsTargetsType) {
  const Tensor single = rc::ones({2}), whole = integers({4, 9});
  single.mul_(doubles({2, 3}));
  EXPECT_EQ(single.dtype(), rc::float32);
  expect_values(single, {2, 3});
  expect_error<rc::TypeError>([&] { whole.add_(0.5); },
                              "add_: the result is f32, which does not convert to the target "
                              "i64[2]; convert an operand, or use the out-of-place operation",
                              {whole});
  expect_error<rc::TypeError>([&] { whole.div_(2); },
                              "div_: the result is f32, which does not convert to the target "
                              "i64[2]; convert an operand, or use the out-of-place operation",
                              {whole});
}

TEST(Zeta, IsItsFirstTermAtInfinity) {
  const double inf = std::numeric_limits<double>::infinity();
  expect_values(rc::zeta(doubles({3, inf, inf, inf, inf, inf}), doubles({inf, 1, 0.5, 2, inf, 0})),
                {0, 1, inf, 0, 0, inf});
  const auto by = [&](double s, double q) {
    return rc::grad<0, 1>([](Tensor a, Tensor b) { return zeta(a, b); })(number(s), number(q));
  };
  for (const auto& [s, q] : {std::pair(3., inf), {inf, 2.}, {inf, inf}}) {
    const auto [by_s, by_q] = by(s, q);
    EXPECT_EQ(by_s.item<double>(), 0);
    EXPECT_EQ(by_q.item<double>(), 0);
  }
}

}  // namespace
