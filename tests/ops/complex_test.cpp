// Complex tensors taken apart and put together: complex, view_as_real, view_as_complex.
#include <complex>
#include <limits>

#include "support/expect_error.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

TEST(Complex, KeepsAnInfinityInItsPart) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Tensor z = rc::complex(doubles({1}), doubles({infinity}));
  expect_values(rc::real(z), {1});
  EXPECT_EQ(rc::imag(z).item(), infinity);
}

TEST(ViewAsReal, SharesElementsBothWays) {
  const Tensor z = rc::complex(doubles({1, 2}), doubles({3, 4}));
  const Tensor parts = rc::view_as_real(z);
  EXPECT_EQ(sizes(parts), (Sizes{2, 2}));
  expect_values(parts, {1, 3, 2, 4});
  parts.mul_(10);
  expect_values(rc::imag(z), {30, 40});
  rc::view_as_complex(parts)[0].copy_(rc::complex(number(7), number(8)));
  expect_values(parts, {7, 8, 20, 40});
}

TEST(ViewAsComplex, TakesPairsOfAnyLayout) {
  const Tensor pairs = ramp({2, 3}).mT();  // the parts stand apart
  const Tensor z = rc::view_as_complex(pairs);
  expect_equal(rc::real(z), pairs.select(1, 0));
  expect_equal(rc::imag(z), pairs.select(1, 1));
  expect_equal(rc::view_as_real(rc::vmap(rc::view_as_complex)(ramp({4, 3, 2}))), ramp({4, 3, 2}));
}

TEST(Complex, PowersByATensorHaveTheBitsOfPowersByANumber) {
  rc::manual_seed(7);
  for (const rc::DType dtype : {rc::complex64, rc::complex128})
    for (const double exponent : {0., 0.5, 1., 2., 3., -1., -2., 5., -7., 64., 2.25}) {
      const Tensor z = rc::randn({100}, {.dtype = dtype}), number(exponent);
      const Tensor expected = rc::pow(z, exponent);
      const auto by_tensor = [&](const Tensor& x) { return rc::pow(x, rc::full({100}, exponent)); };
      const auto by_captured = [&](const Tensor& x) { return rc::pow(x, number); };
      EXPECT_TRUE(rc::equal(by_tensor(z), expected)) << dtype << exponent;
      EXPECT_TRUE(rc::equal(rc::compile(by_captured)(z), expected)) << dtype << exponent;
    }
}

/// As of real numbers, and in PyTorch.
TEST(Complex, ZeroToThePowerZeroIsOneAndHasNoSlope) {
  using Power = std::function<Tensor(const Tensor&, const Tensor&)>;
  const std::vector<Power> powers = {
      [](const Tensor& base, const Tensor& exponent) { return rc::pow(base, exponent); },
      [](const Tensor& base, const Tensor&) { return rc::pow(base, 0); },
      [](const Tensor&, const Tensor& exponent) { return rc::pow(0, exponent); },
      [](const Tensor& base, const Tensor& exponent) { return base.clone().pow_(exponent); },
      [](const Tensor& base, const Tensor& exponent) { return rc::pow(base, rc::real(exponent)); },
      [](const Tensor& base, const Tensor& exponent) { return rc::pow(rc::real(base), exponent); }};
  for (const rc::DType dtype : {rc::complex64, rc::complex128})
    for (const Power& power : powers) {
      const Tensor zero = rc::zeros({3}, dtype), one = rc::ones({3}, dtype);
      EXPECT_TRUE(rc::equal(power(zero, zero), one));
      EXPECT_TRUE(rc::equal(rc::compile(power)(zero, zero), one));
      EXPECT_TRUE(rc::equal(rc::vmap(power)(zero, zero), one));
      const auto summed = [power](const Tensor& base, const Tensor& exponent) {
        return rc::real(power(base, exponent)).sum();
      };
      EXPECT_TRUE(rc::equal(rc::grad<0>(summed)(zero, zero), zero));
      EXPECT_TRUE(rc::equal(rc::grad<1>(summed)(zero, zero), zero));
      EXPECT_TRUE(rc::equal(rc::compile(rc::grad<0>(summed))(zero, zero), zero));
      EXPECT_TRUE(rc::equal(rc::compile(rc::grad<1>(summed))(zero, zero), zero));
      EXPECT_TRUE(rc::equal(rc::jvp(power, std::tuple{zero, zero}, std::tuple{one, one}).second, zero));
    }
}

}  // namespace
