// Programs taken apart into scalar operations: printed, as a reader would write them.
#include "compile/scalar_graph.h"

#include <gtest/gtest.h>

#include <array>

#include "compile/expansion.h"
#include "support/golden.h"

namespace {

using ricci::Program;
using ricci::Tensor;
using ricci::compiled::LaneProgram;
using ricci::compiled::Node;
using ricci::compiled::ScalarGraph;
using ricci::scalar::Word;

void expect_text(const std::string& found, std::string_view text) {
  if (text.starts_with('\n')) text.remove_prefix(1);
  if (found != text)
    ADD_FAILURE() << testing_support::difference(testing_support::lines_of(std::string(text)),
                                                 testing_support::lines_of(found));
}

void expect_lanes(const Program& program, std::string_view text) {
  const auto expanded = ricci::compiled::expand(program.simplified(), {.most_unrolled = 16});
  if (const auto* why = std::get_if<ricci::compiled::NotExpandable>(&expanded)) FAIL() << why->why;
  expect_text(to_string(std::get<LaneProgram>(expanded)), text);
}

TEST(ScalarGraph, EqualOperationsAreOneAndFactorsOfOneVanish) {
  ScalarGraph g;
  const Node x = g.input(0, ricci::float32), y = g.input(1, ricci::float32), one = g.number(ricci::float32, 1.0L);
  EXPECT_EQ(g.word(Word::multiply, x, y), g.word(Word::multiply, y, x));
  EXPECT_EQ(g.word(Word::multiply, x, one), x);
  EXPECT_EQ(g.word(Word::divide, x, one), x);
  EXPECT_EQ(g.word(Word::subtract, x, g.word(Word::negative, y)), g.word(Word::add, x, y));
  EXPECT_EQ(g.word(Word::divide, x, g.number(ricci::float32, 4.0L)),
            g.word(Word::multiply, x, g.number(ricci::float32, 0.25L)));
}

TEST(ScalarGraph, ANumberZeroStaysAndAStructuralOneVanishes) {
  ScalarGraph g;
  const Node x = g.input(0, ricci::float64);
  const Node number = g.number(ricci::float64, 0.0L), structural = g.number(ricci::float64, 0.0L, true);
  const std::array products{g.word(Word::multiply, x, number), g.word(Word::add, x, number)};
  expect_text(to_string(g, products), R"(
a: f64 = multiply x0 0
b: f64 = add x0 0
return a b
)");
  EXPECT_EQ(g.word(Word::multiply, x, structural), structural);
  EXPECT_EQ(g.word(Word::add, x, structural), x);
  EXPECT_EQ(g.word(Word::fma, x, structural, x), x);
}

TEST(ScalarGraph, NumbersAreComputedByTheLibrarysOwnWords) {
  ScalarGraph g;
  const Node half = g.number(ricci::float32, 0.5L);
  EXPECT_TRUE(g.is(g.word(Word::exp, half), static_cast<double>(exp(ricci::tensor(0.5F)).item<float>())));
  EXPECT_TRUE(g.is(g.word(Word::less, half, g.number(ricci::float32, 1.0L)), 1));
}

// Each element of x gets the row that it belongs to.
TEST(LanePrograms, AnInnerAxisIsUnrolledAndTheExamplesAreLanes) {
  const auto f = [](const Tensor& x) { return x * x.sum(); };
  expect_lanes(ricci::trace(ricci::vmap(f))(ricci::ones({100, 3})), R"(
x0: f32 = input 0[0 + 3 lane]
x1: f32 = input 0[1 + 3 lane]
x2: f32 = input 0[2 + 3 lane]
a: f32 = add x0 x2
b: f32 = add x1 a
c: f32 = multiply x0 b
d: f32 = multiply x1 b
e: f32 = multiply x2 b
return c d e
to 0[0 + 3 lane] 0[1 + 3 lane] 0[2 + 3 lane]
)");
}

// What joins and turns around moves elements to their places in the result.
TEST(LanePrograms, WhatMovesElementsIsNoOperation) {
  const auto f = [](const Tensor& x) { return ricci::flip(ricci::cat({x, x * 2}), {0}); };
  expect_lanes(ricci::trace(f)(ricci::ones({2})), R"(
x0: f32 = input 0[0]
x1: f32 = input 0[1]
a: f32 = multiply x1 2
b: f32 = multiply x0 2
return a b x1 x0
to 0[0] 0[1] 0[2] 0[3]
)");
}

// An index of the lane is held against the size, and chooses a row of an input. Its elements lie side by side.
TEST(LanePrograms, ElementsAreLoadedWhereTheLaneSays) {
  const auto f = [](const Tensor& table, const Tensor& index) { return table.index_select(0, index).sum(1); };
  expect_lanes(ricci::trace(f)(ricci::rand({9, 2}), ricci::zeros({100}, ricci::int64)), R"(
x18: i64 = input 1[0 + 1 lane]
given1 = address of input 0
a: bool = greater_equal x18 0
b: bool = less x18 9
c: bool = logical_and a b
d: i64 = select c x18 0
e: i64 = multiply d 2
f: f32 = load given1 e + 0
g: f32 = load given1 e + 1
h: f32 = add f g
i: bool = total[logical_and] c 1
return h i
to 0[0 + 1 lane] 1[0]
)");
}

TEST(LanePrograms, TotalsOfAllLanesStandBetweenTwoRuns) {
  const auto f = [](const Tensor& x) { return x / (x * x).sum(); };
  expect_lanes(ricci::trace(f)(ricci::ones({100})), R"(
x0: f32 = input 0[0 + 1 lane]
a: f32 = multiply x0 x0
b: f32 = total[add] a -0
c: f32 = divide x0 b
return c
to 0[0 + 1 lane]
)");
}

TEST(LanePrograms, ResultsThatMergeTheLanesAreAddresses) {
  const auto f = [](const Tensor& x) { return ricci::cat({reshape(x, {-1}), x.select(1, 0)}); };
  expect_lanes(ricci::trace(f)(ricci::ones({100, 2})), R"(
x0: f32 = input 0[0 + 2 lane]
x1: f32 = input 0[1 + 2 lane]
return x0 x1 x0
to 0[0 + 2 lane] 0[1 + 2 lane] 0[0 + 2 lanes + 1 lane]
)");
}

// A Jacobian has zeros where its seeds do: 0 * x is none there. An identity that the user makes has numbers.
TEST(LanePrograms, ZerosOfSeedsAreStructure) {
  const auto square = [](const Tensor& x) { return x * x; };
  expect_lanes(ricci::trace(ricci::jacfwd(square))(ricci::ones({2})), R"(
x0: f32 = input 0[0]
x1: f32 = input 0[1]
a: f32 = add x0 x0
b: f32 = add x1 x1
return a 0! 0! b
to 0[0] 0[1] 0[2] 0[3]
)");
  expect_lanes(ricci::trace([](const Tensor& x) { return x * ricci::eye(2)[0]; })(ricci::ones({2})), R"(
x0: f32 = input 0[0]
x1: f32 = input 0[1]
a: f32 = multiply x1 0
return x0 a
to 0[0] 0[1]
)");
}

TEST(LanePrograms, MixedLanesAreRefusedWithTheOperation) {
  const auto expanded =
      ricci::compiled::expand(ricci::trace([](const Tensor& x) { return x + flip(x, {0}); })(ricci::ones({100})));
  const auto* const why = std::get_if<ricci::compiled::NotExpandable>(&expanded);
  ASSERT_TRUE(why);
  EXPECT_EQ(why->why, "add: it mixes lanes");
}

}  // namespace
