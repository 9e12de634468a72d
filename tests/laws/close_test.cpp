// The closeness that tests of results go by: what it lets pass, and what not.
#include "support/close.h"

#include <gtest/gtest.h>

#include <limits>

namespace {

using testing_support::is_close;
using Complex = std::complex<double>;

constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

TEST(Closeness, IsRelativeAboveOneAndAbsoluteBelow) {
  EXPECT_TRUE(is_close(1e6 + 0.5, 1e6, 1e-6));
  EXPECT_FALSE(is_close(1e6 + 2, 1e6, 1e-6));
  EXPECT_TRUE(is_close(1e-7, 0.0, 1e-6));
  EXPECT_FALSE(is_close(1e-5, 0.0, 1e-6));
  EXPECT_TRUE(is_close(3.0, 3.0, 0));
}

TEST(Closeness, OfAnInfinityIsToItselfAlone) {
  EXPECT_TRUE(is_close(infinity, infinity, 0));
  for (const double found : {1.0, -infinity, nan, 1e308}) {
    EXPECT_FALSE(is_close(found, infinity, 1e-5)) << found;
    EXPECT_FALSE(is_close(infinity, found, 1e-5)) << found;
  }
}

TEST(Closeness, OfNanIsToNanAlone) {
  EXPECT_TRUE(is_close(nan, nan, 0));
  for (const double found : {0.0, 1.0, infinity}) {
    EXPECT_FALSE(is_close(found, nan, 1));
    EXPECT_FALSE(is_close(nan, found, 1));
  }
}

TEST(Closeness, OfComplexNumbersSeesBothParts) {
  EXPECT_TRUE(is_close(Complex(3, 4), Complex(3, 4 + 1e-7), 1e-6));
  EXPECT_FALSE(is_close(Complex(3, 4), Complex(3, 5), 1e-6));
  EXPECT_FALSE(is_close(Complex(3, 4), Complex(3, 0), 1e-6));
  EXPECT_TRUE(is_close(Complex(infinity, nan), Complex(infinity, nan), 1e-6));
  EXPECT_FALSE(is_close(Complex(infinity, 1), Complex(infinity, 2), 1e-6));
  EXPECT_FALSE(is_close(Complex(1, 1), Complex(infinity, 1), 1e-6));
}

}  // namespace
