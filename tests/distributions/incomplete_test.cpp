// The incomplete gamma and beta functions against figures of mpmath 1.3 (50 digits), in both tails and for small and
// large parameters; PyTorch's own have nine digits there.
#include "ops/incomplete.h"

#include <ricci/distributions.h>
#include <ricci/ops/incomplete.h>

#include <cmath>
#include <string>

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

/// There the lower tail is the nearer one, and nearly all.
TEST(IncompleteGamma, HasItsDigitsForSmallConcentrations) {
  struct Figure {
    double a, x, lower, upper, slope;  // of the upper one by a
  };
  const Figure figures[] = {{1e-8, 0.5, 0.99999999440226402, 5.5977359770995871e-9, 0.55977360064375655},
                            {1e-20, 1e-10, 1, 2.2448635265138923e-19, 22.448635265138924},
                            {1e-20, 1e-300, 1, 6.9019831223331213e-18, 690.19831223331217},
                            {1e-3, 1e-5, 0.98912304469578267, 0.010876955304217331, 10.818398299086339},
                            {0.2, 0.6, 0.89912313272932551, 0.10087686727067449, 0.54527555001832157},
                            {0.45, 0.9, 0.84167588420678001, 0.15832411579321999, 0.42260785225530046},
                            {1e-20, 2, 1, 4.8900510708061117e-22, 0.04890051070806112},
                            {1e-300, 1, 1, 2.1938393439552028e-301, 0.21938393439552027},
                            {1e-8, 1e-8, 0.99999982156536495, 1.7843463505329364e-7, 17.843461921607989},
                            {0.125, 1e-30, 0.00018882858452980091, 0.9998111714154702, 0.0129704579963742},
                            {0.01, 0.3, 0.99092760357823491, 0.009072396421765093, 0.90874580226854586}};
  for (const auto& [a, x, lower, upper, slope] : figures) {
    SCOPED_TRACE(std::to_string(std::log10(a)) + ", " + std::to_string(std::log10(x)));
    expect_relative(igamma(f64(a), f64(x)), lower, 4e-15);
    expect_relative(igammac(f64(a), f64(x)), upper, 4e-15);
    EXPECT_LE(igamma(f64(a), f64(x)).item(), 1);
    for (const double side : {-1., 1.}) {
      const auto f = [&](Tensor t) { return side < 0 ? igamma(t, x) : igammac(t, x); };
      expect_relative(rc::grad(f)(f64(a)), side * slope, 1e-13);
      expect_relative(rc::jvp(f, f64(a), f64(1)).second, side * slope, 1e-13);
    }
  }
}

TEST(IncompleteGamma, HasSecondDerivativesForSmallConcentrations) {
  const auto f = [](Tensor a, Tensor x) { return igammac(a, x); };
  for (const double a : {1e-3, 0.1, 0.4})
    for (const double x : {0.01, 0.3, a + 0.49, a + 0.51, 3.}) {
      constexpr double step = 1e-5;
      const auto expect_slope = [&](const auto& slope) {
        const auto [by_a, by_x] = rc::grad<0, 1>(slope)(f64(a), f64(x));
        const double sa = step * a, sx = step * x;
        EXPECT_NEAR(by_a.item(), (slope(f64(a + sa), f64(x)) - slope(f64(a - sa), f64(x))).item() / (2 * sa), 1e-6);
        EXPECT_NEAR(by_x.item(), (slope(f64(a), f64(x + sx)) - slope(f64(a), f64(x - sx))).item() / (2 * sx), 1e-5);
      };
      SCOPED_TRACE(std::to_string(a) + ", " + std::to_string(x));
      expect_slope([&](Tensor s, Tensor t) { return rc::grad<0>(f)(s, t); });
      expect_slope([&](Tensor s, Tensor t) { return rc::grad<1>(f)(s, t); });
    }
}

/// There the upper tail is the nearer one, and nearly all.
TEST(IncompleteBeta, HasItsDigitsForSmallConcentrations) {
  struct Figure {
    double a, b, x, lower, upper;
  };
  const Figure figures[] = {{1, 1e-10, 0.75, 1.3862943610238001e-10, 0.99999999986137056},
                            {5, 1e-8, 0.9999999999, 2.0942515328439764e-7, 0.99999979057484672},
                            {1000, 1e-12, 1 - 0x1p-50, 2.7172888167079446e-11, 0.99999999997282711},
                            {0.3, 1e-5, 0.99999, 0.00014437131767191747, 0.99985562868232808},
                            {2.5, 0.01, 0.999999, 0.11786375971845601, 0.88213624028154399},
                            {1e-3, 1e-9, 0.9999999, 1.0161154355731891e-6, 0.99999898388456443},
                            {20, 0.4, 0.999, 0.76697755577999124, 0.23302244422000876}};
  for (const auto& [a, b, x, lower, upper] : figures) {
    SCOPED_TRACE(std::to_string(a) + ", " + std::to_string(std::log10(b)) + ", " + std::to_string(x));
    expect_relative(betainc(f64(a), f64(b), f64(x)), lower, 1e-13);
    expect_relative(rc::betainc_upper(f64(a), f64(b), f64(x)), upper, 1e-13);
    // By symmetry, where the complement of x is a number.
    if (x == 0.75) expect_relative(rc::betainc_upper(f64(b), f64(a), f64(1 - x)), lower, 1e-13);
  }
}

TEST(StudentT, HasItsDigitsInTheLowerTail) {
  struct Figure {
    double df, z, wanted;
  };
  const Figure figures[] = {{100, -9.9, 8.2022633827924275e-17}, {1000, -20, 2.0311442497623857e-75},
                            {1e6, -30, 6.0100471168317189e-198}, {3, -1.5, 0.11529193262241153},
                            {1e-6, -1, 0.49999619956329424},     {50, -1.01, 0.1586790887179507},
                            {1e4, -5, 2.9151633068313236e-7}};
  for (const auto& [df, z, wanted] : figures) {
    const rc::distributions::StudentT d{f64(df), f64(0), f64(1)};
    expect_relative(d.cdf(f64(z)), wanted, 1e-11);
    EXPECT_NEAR(d.cdf(f64(-z)).item(), 1 - wanted, 1e-15);
    expect_relative(rc::grad([&](Tensor t) { return d.cdf(t); })(f64(z)), std::exp(d.log_prob(f64(z)).item()), 1e-9);
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
