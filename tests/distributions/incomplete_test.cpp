// The incomplete gamma and beta functions against figures of mpmath 1.3 (50 digits), in both tails and for small and
// large parameters; PyTorch's own have nine digits there.
#include <ricci/ops/incomplete.h>

#include <cmath>

#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;

namespace {

Tensor f64(double x) { return rc::tensor(x, rc::float64); }

void expect_relative(const Tensor& found, double wanted, double tolerance) {
  EXPECT_EQ(found.dtype(), rc::float64);
  EXPECT_NEAR(found.item() / wanted, 1, tolerance) << wanted;
}

TEST(IncompleteGamma, HasThirteenDigitsOfTheSmallerTail) {
  struct Figure {
    double a, x, lower, upper;
  };
  const Figure figures[] = {{0.01, 1e-10, 0.79886109143360521, 0.20113890856639479},
                            {0.5, 3, 0.98569412156457036, 0.01430587843542964},
                            {30, 28, 0.37738969431439764, 0.62261030568560236},
                            {300, 310, 0.72248875417186111, 0.27751124582813889},
                            {300, 400, 0.99999992492619164, 7.5073808355216141e-8},
                            {5000, 4900, 0.077944956226513914, 0.92205504377348609},
                            {10, 80, 1, 7.5087673221152214e-24}};
  for (const auto& [a, x, lower, upper] : figures) {
    expect_relative(igamma(f64(a), f64(x)), lower, 1e-13);
    expect_relative(igammac(f64(a), f64(x)), upper, 1e-13);
  }
}

TEST(IncompleteBeta, HasElevenDigits) {
  struct Figure {
    double a, b, x, wanted;
  };
  const Figure figures[] = {{0.01, 0.5, 1e-3, 0.92055970632095198}, {2, 3, 0.25, 0.26171875},
                            {0.5, 0.5, 0.999, 0.9798649583666225},  {300, 200, 0.55, 0.011853654379737195},
                            {1e4, 5, 0.999, 0.029120472682870287},  {5, 1e4, 1e-4, 0.0036636803676854238}};
  for (const auto& [a, b, x, wanted] : figures) {
    expect_relative(betainc(f64(a), f64(b), f64(x)), wanted, 1e-11);
    expect_relative(1 - betainc(f64(b), f64(a), f64(1) - x), wanted, 1e-9);
  }
}

TEST(Incomplete, FunctionsKeepTheTypeOfTheirOperandsAndAreNanOutside) {
  EXPECT_EQ(igamma(rc::ones({2}), 2).dtype(), rc::float32);
  EXPECT_EQ(rc::igammac(2, 3).dtype(), rc::float32);
  EXPECT_EQ(betainc(rc::ones({2}, rc::float16), 2, 0.5).dtype(), rc::float16);
  EXPECT_TRUE(std::isnan(igamma(f64(-1), f64(1)).item()));
  EXPECT_TRUE(std::isnan(igamma(f64(1), f64(-1)).item()));
  EXPECT_TRUE(std::isnan(betainc(f64(1), f64(1), f64(1.5)).item()));
  EXPECT_TRUE(std::isnan(betainc(f64(0), f64(1), f64(0.5)).item()));
  EXPECT_EQ(betainc(f64(2), f64(3), f64(0)).item(), 0);
  EXPECT_EQ(betainc(f64(2), f64(3), f64(1)).item(), 1);
}

}  // namespace
