// Sizes that are expressions over the sizes of a recorded program's inputs: algebra, guards, printing.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "ricci/dtype.h"
#include "ricci/error.h"
#include "ricci/primitive/parameters.h"
#include "ricci/type.h"
#include "tensor/symbols.h"

namespace {

using ricci::Shape;
using ricci::Size;

class SymbolicSize : public testing::Test {
 protected:
  ricci::SymbolTable table;
  ricci::SymbolScope scope{&table};
  const Size n = table.add_input(6), m = table.add_input(4);

  std::string text(Size size) { return table.print(size); }
};

TEST(Size, ThatIsANumberNeedsNoTable) {
  const Size a = 6, b = 4;
  EXPECT_EQ((a + b).raw(), 10);
  EXPECT_EQ((a - b).raw(), 2);
  EXPECT_EQ((a * b).raw(), 24);
  EXPECT_EQ((a / b).raw(), 1);
  EXPECT_EQ(Shape({2, 3}).numel().raw(), 6);
  EXPECT_FALSE(a == b);
}

TEST(Size, SumsAndProductsThatOverflowAreTheLargestNumber) {
  const Size huge = std::int64_t{1} << 62;
  EXPECT_EQ((huge + huge).raw(), INT64_MAX);
  EXPECT_EQ((huge * 3).raw(), INT64_MAX);
  EXPECT_FALSE((huge + huge).is_symbol());
}

TEST(Size, ThatIsANumberIsNeverTakenForASymbol) {
  const Size huge = std::int64_t{1} << 62;
  for (const Size size : {Size(INT64_MIN), Size(INT64_MIN + 5), 0 - huge - huge, huge - Size(INT64_MIN)}) {
    EXPECT_FALSE(size.is_symbol()) << size.raw();
    EXPECT_GE(std::abs(static_cast<double>(size.raw())), 0x1p62);
  }
  EXPECT_EQ((huge - Size(INT64_MIN)).raw(), INT64_MAX);
}

TEST(Size, ThatIsASymbolCannotBeReadOutsideItsRecording) {
  EXPECT_THROW(Size::symbol(0).host(), ricci::Error);
  EXPECT_THROW(Size::symbol(0) + 1, ricci::Error);
}

TEST_F(SymbolicSize, IsNoNumberUntilItIsRead) {
  EXPECT_TRUE(n.is_symbol());
  EXPECT_EQ(n.hint(), 6);
  EXPECT_TRUE(table.guards().empty());
  EXPECT_EQ(n.host(), 6);
  ASSERT_EQ(table.guards().size(), 1U);
  EXPECT_EQ(table.guards()[0].relation, ricci::Guard::Relation::equal);
  EXPECT_EQ(table.guards()[0].right.raw(), 6);
}

TEST_F(SymbolicSize, IsGuardedOnceHoweverOftenItIsRead) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(static_cast<std::int64_t>(n), 6);
  EXPECT_EQ(table.guards().size(), 1U);
}

TEST_F(SymbolicSize, FollowsTheLawsOfArithmeticWithoutGuards) {
  EXPECT_TRUE(n + m == m + n);
  EXPECT_TRUE(n * m == m * n);
  EXPECT_TRUE((n + 1) * m == n * m + m);
  EXPECT_TRUE(n + n == 2 * n);
  EXPECT_TRUE(n * m / m == n);
  EXPECT_TRUE(n / n == 1);
  EXPECT_TRUE(n - n == 0);
  EXPECT_FALSE(n + 1 == n);
  EXPECT_FALSE(n == -1);
  EXPECT_TRUE(table.guards().empty());
}

TEST_F(SymbolicSize, BecomesANumberWhereTheUnknownsCancel) {
  EXPECT_FALSE((n - n + 3).is_symbol());
  EXPECT_FALSE((6 * n / n).is_symbol());
  EXPECT_EQ((6 * n / n).raw(), 6);
}

TEST_F(SymbolicSize, LeavesAGuardWhereAComparisonIsAQuestionOfNumbers) {
  EXPECT_FALSE(n == 1);
  EXPECT_FALSE(n == m);
  EXPECT_TRUE(n == m + 2);
  ASSERT_EQ(table.guards().size(), 3U);
  EXPECT_EQ(table.guards()[0].relation, ricci::Guard::Relation::different);
  EXPECT_EQ(table.guards()[1].relation, ricci::Guard::Relation::different);
  EXPECT_EQ(table.guards()[2].relation, ricci::Guard::Relation::equal);
}

TEST_F(SymbolicSize, RoundsAQuotientDown) {
  const Size half = (n + 1) / 2;
  EXPECT_EQ(half.hint(), 3);
  EXPECT_TRUE(half == (n + 1) / 2);
  EXPECT_EQ(table.evaluate(half, std::vector<Size>{10, 0}), 5);
}

TEST_F(SymbolicSize, ThatIsAQuotientReliesOnTermsThatAreNotNegative) {
  EXPECT_EQ(text((n - 5) / 2), "((s0-5)/(2))");
  EXPECT_EQ(table.print_guards(), " where s0>=5");
  EXPECT_EQ((m - 7) / 2, -1);
  EXPECT_EQ(text(m), "4");
  EXPECT_EQ(text(7 / (n - 2)), "((7)/(s0-2))");
  EXPECT_EQ(text((n + 1) / 2), "((s0+1)/(2))");
  EXPECT_EQ(table.print_guards(), " where s0>=5");
}

TEST_F(SymbolicSize, AQuotientIsANumberOnceItsGuardFixesTheSize) {
  EXPECT_TRUE(n < 7);
  EXPECT_EQ(text((n - 6) / 2 + 1), "1");  // relies on n >= 6
  EXPECT_EQ(text(n), "6");
}

TEST_F(SymbolicSize, ThatIsAQuotientOfNumbersIsANumber) {
  const Size half = (n + 3) / 2, ratio = 9 / m;
  EXPECT_EQ(n.host(), 6);
  EXPECT_EQ(text(half), "4");
  EXPECT_EQ(m.host(), 4);
  EXPECT_EQ(text(ratio), "2");
}

TEST_F(SymbolicSize, BetweenTwoNumbersIsANumber) {
  EXPECT_FALSE(n < 6);
  EXPECT_TRUE(n < 7);
  EXPECT_EQ(text(n), "6");
  EXPECT_EQ(table.print_guards(), "");
  EXPECT_EQ(table.broken(std::vector<Size>{6, 0}), nullptr);
  EXPECT_NE(table.broken(std::vector<Size>{5, 0}), nullptr);
}

TEST_F(SymbolicSize, IsEvaluatedForOtherInputs) {
  const Size size = n * m + 2 * n + 1;
  EXPECT_EQ(size.hint(), 37);
  EXPECT_EQ(table.evaluate(size, std::vector<Size>{3, 5}), 22);
}

TEST_F(SymbolicSize, PrintsAsAnExpressionInProgramsAndAsANumberInErrors) {
  EXPECT_EQ(text(n), "s0");
  EXPECT_EQ(text(2 * n * m + 1), "2*s0*s1+1");
  EXPECT_EQ(text(n - m), "-s1+s0");
  EXPECT_EQ(text((n + 1) / 2), "((s0+1)/(2))");
  EXPECT_EQ(to_string(Shape({n, 3})), "[6,3]");
  std::string parameter;
  ricci::parameters::print(n, parameter);
  EXPECT_EQ(parameter, "s0");
  EXPECT_TRUE(table.guards().empty());
}

TEST_F(SymbolicSize, IsSolvedForByAGuardThatSaysWhatItIs) {
  const Size k = table.add_input(8), product = n * k, half = k / 2;
  EXPECT_TRUE(k == 2 * m);
  EXPECT_EQ(text(product), "2*s0*s1");
  EXPECT_EQ(text(half), "s1");
  EXPECT_TRUE(half == m);
  EXPECT_EQ(m.host(), 4);
  EXPECT_EQ(text(product), "8*s0");
  EXPECT_EQ(table.guards().size(), 2U);
  EXPECT_EQ(table.print_guards(), "");
  EXPECT_EQ(table.evaluate(product, std::vector<Size>{3, 4, 8}), 24);
}

TEST_F(SymbolicSize, PrintsTheGuardsThatAreLeft) {
  const Size k = table.add_input(3);
  EXPECT_TRUE(n * m == 24);
  EXPECT_FALSE(1 == n);
  EXPECT_FALSE(k == 5);
  EXPECT_TRUE(table.less(k, n));
  EXPECT_EQ(table.print_guards(), " where s0*s1=24, s0!=1, s2!=5, s2<s0");
  EXPECT_EQ(m.host(), 4);
  EXPECT_EQ(table.print_guards(), " where s0!=5, s0<6");
}

TEST_F(SymbolicSize, IsComparedUnderAnInequality) {
  EXPECT_TRUE(n > 2);
  EXPECT_TRUE(1 < n);
  EXPECT_FALSE(n < 3);
  EXPECT_EQ(table.print_guards(), " where s0>=3");
  EXPECT_TRUE(n >= 5);
  EXPECT_FALSE(n == 0);
  EXPECT_TRUE(n + m > 4);
  EXPECT_EQ(table.print_guards(), " where s0>=5");
  EXPECT_TRUE(m <= n);
  EXPECT_FALSE(n <= m - 1);
  EXPECT_EQ(table.print_guards(), " where s0>=5, s0>=s1");
  EXPECT_TRUE(m < 7);
  EXPECT_EQ(table.print_guards(), " where s0>=5, s0>=s1, s1<7");
}

TEST_F(SymbolicSize, IsComparedByAlgebraWhereThatDecides) {
  EXPECT_TRUE(n - 1 < n);
  EXPECT_TRUE(n >= 0);
  EXPECT_FALSE(n + m < m);
  EXPECT_TRUE(std::min(n, n + 1) == n);
  EXPECT_TRUE(table.guards().empty());
}

TEST_F(SymbolicSize, ThatIsTheSmallerOneMayBeEqual) {
  EXPECT_TRUE(ricci::smaller(n, m) == m);
  EXPECT_TRUE(ricci::smaller(m, n) == m);
  EXPECT_EQ(table.print_guards(), " where s0>=s1");
}

TEST(Size, IsComparedWithIntegersOnEitherSide) {
  const Size five = 5;
  EXPECT_TRUE(five < 6 && 4 < five && five <= 5U && 5 >= five && five > -1);
  EXPECT_EQ((11 / five).raw(), 2);
  EXPECT_EQ((7 - five).raw(), 2);
}

TEST_F(SymbolicSize, ComparesWithinShapes) {
  EXPECT_TRUE(Shape({n, 3}) == Shape({n, 3}));
  EXPECT_TRUE(table.guards().empty());
  EXPECT_EQ(Shape({n, 3}).numel().raw(), (3 * n).raw());
}

std::string printed(double value) {
  std::string text;
  ricci::parameters::print(value, text);
  return text;
}

TEST(ParameterText, ReadsBackExactly) {
  for (double value : {0.1, 1.0 / 3, 1e-300, -5e-324, 1e22, 123456789.125})
    EXPECT_EQ(std::strtod(printed(value).c_str(), nullptr), value);
  EXPECT_EQ(printed(1), "1");
  EXPECT_EQ(printed(-HUGE_VAL), "-inf");
  EXPECT_EQ(printed(0.1), "0.1");
}

TEST(TypeText, IsTheDtypeAndTheShape) {
  EXPECT_EQ(to_string(ricci::Type{ricci::float32, {2, 3}}), "f32[2,3]");
  EXPECT_EQ(to_string(ricci::Type{ricci::boolean, {}}), "bool[]");
}

}  // namespace
