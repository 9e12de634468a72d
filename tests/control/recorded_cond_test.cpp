// Conditionals in recorded functions: whatever transforms are applied to one, the program is made of plain conditionals
// on the same question, and computes what the transforms of the function do.
#include <gtest/gtest.h>

#include "ricci/ricci.h"
#include "support/expect_error.h"
#include "support/expect_tensor.h"
#include "support/plain_program.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

/// A conditional with an operand, captures of each branch and of both.
Tensor bend(Tensor x) {
  const Tensor total = x.sum(), scale = exp(0.1 * x);
  const auto up = [&](Tensor y) { return (sin(y) * scale * y).sum() * total; };
  const auto down = [&](Tensor y) { return -3 * (scale * tanh(y)).sum(); };
  return rc::cond(total > 0, up, down, x);
}

const Tensor up = doubles({1, 2, 3}), down = doubles({-1, -2, -3}), longer = doubles({-1, 5, 2, 1, -3});

TEST(RecordedCond, EveryTransformOfItIsMadeOfConditionals) {
  EXPECT_EQ(times(expect_plain(bend, up, {down, longer}), "cond["), 1U);
  EXPECT_EQ(times(expect_plain(rc::grad(bend), up, {down, longer}), "cond["), 2U);
  EXPECT_EQ(times(expect_plain([](Tensor x) { return derivative(bend, x); }, up, {down}), "cond["), 1U);
  expect_plain(rc::hessian(bend), up, {down}, 1e-10);
  expect_plain(rc::jacrev(rc::grad(bend)), up, {down}, 1e-10);
  expect_plain([](Tensor x) { return derivative(rc::grad(bend), x); }, up, {down}, 1e-10);
}

TEST(RecordedCond, OneAnswerForAllExamplesStaysOne) {
  const auto f = [](Tensor x) {
    const auto one = [&](Tensor row) {
      return rc::cond(x.sum() > 0, [&] { return sin(row) * x[0]; }, [&] { return row * row; });
    };
    return rc::vmap(one)(x.reshape({3, 1}));
  };
  EXPECT_EQ(times(expect_plain(f, up, {down}), "cond["), 1U);
  expect_plain(rc::grad([&](Tensor x) { return f(x).sum(); }), up, {down});
}

TEST(RecordedCond, BranchesShareWhatIsKept) {
  const auto f = [](Tensor x) {
    return rc::cond(x.sum() > 0, [](Tensor y) { return tanh(y).sum(); }, [](Tensor y) { return exp(y).sum(); }, x);
  };
  const std::string text = expect_plain(rc::grad(f), up, {down, longer});
  EXPECT_NE(text.find("d: f64[], e: f64[s0] = cond[operands=1,"), std::string::npos) << text;
}

TEST(RecordedCond, BranchesOfTensorsOfUnrelatedSizesServeAllSizes) {
  const auto f = [](Tensor x, Tensor y) {
    return rc::cond(x.sum() > 0, [&] { return tanh(x).sum(); }, [&] { return tanh(y).sum(); });
  };
  const auto slope = [&](Tensor x, Tensor y) { return rc::grad<0, 1>(f)(x, y); };
  for (const std::int64_t n : {3, 4}) {
    const rc::Program p = rc::trace(slope)(rc::ones({3}), rc::ones({n}));
    EXPECT_EQ(rc::to_string(p).find("s0!=s1"), std::string::npos) << p;
    for (const std::int64_t m : {5, 2}) {
      const Tensor x = rc::ones({5}), y = rc::ones({m});
      expect_values(p({x, y})[0], values(std::get<0>(slope(x, y))));
    }
  }
}

/// What the way back reads of a branch may be a number, which must not raise the gradient's dtype.
TEST(RecordedCond, NumbersStayNumbersOnTheWayBack) {
  const auto f = [](Tensor x) {
    return rc::cond(
        x > 0, [](Tensor x, Tensor s) { return x * exp(s); }, [](Tensor x, Tensor) { return sin(x); }, x, Tensor(2.0));
  };
  const Tensor x = rc::tensor(0.5F);
  const Tensor found = rc::trace(rc::grad(f))(x)({x})[0];
  EXPECT_EQ(found.dtype(), rc::float32);
  expect_values(found, values(rc::grad(f)(x)));
}

/// As where examples part: a number that one of the branches returns is of the other one's dtype.
TEST(RecordedCond, ANumberTakesTheDtypeOfTheOtherBranch) {
  const auto id = [](Tensor y) { return y; };
  const auto half = [](Tensor) { return Tensor(0.5); };
  const auto first = [&](Tensor x) { return rc::cond(x > 0, id, half, x); };
  const auto second = [&](Tensor x) { return rc::cond(x > 0, half, id, x); };
  for (const Tensor& x : {rc::tensor(2.0F), rc::tensor(-2.0F)}) {
    for (const auto& [found, wanted] :
         {std::pair{rc::trace(first)(x)({x})[0], first(x)}, std::pair{rc::trace(second)(x)({x})[0], second(x)}}) {
      EXPECT_EQ(found.dtype(), rc::float32);
      expect_values(found, values(wanted));
    }
    expect_plain(rc::grad(first), x, {-x});
  }
}

TEST(RecordedCond, NothingOfTheOtherBranchReachesAGradient) {
  const auto f = [](Tensor x) {
    return rc::cond(x > 0, [](Tensor y) { return sqrt(y); }, [](Tensor y) { return 2 * y; }, x);
  };
  expect_plain(rc::grad(f), number(4), {number(0), number(-4), number(9)});
  const rc::Program slope = rc::trace(rc::grad(f))(number(4));
  const auto run = [&](Tensor x) { return slope({x})[0]; };
  expect_close(rc::vmap(run)(doubles({4, -1, 0})), doubles({0.25, 2, 2}));
}

TEST(RecordedCond, ASwitchHasOneBranchForEachIndex) {
  const auto f = [](Tensor x) {
    const auto branches = std::tuple{[](Tensor y) { return y; }, [](Tensor y) { return y * y * y; }, &rc::sin};
    return rc::switch_case(x.sum().to(rc::int64), branches, x).sum();
  };
  const Tensor first = doubles({0.25, 0.25}), second = doubles({1, 0.5}), third = doubles({1.5, 0.75});
  expect_plain(rc::grad(f), first, {second, third});
  expect_plain(rc::hessian(f), first, {second, third});
}

TEST(RecordedCond, InsideAScanIsPlainToo) {
  const auto f = [](Tensor xs) {
    const auto step = [](Tensor c, Tensor x) {
      const Tensor next = rc::cond(c > 1, [&] { return c / x; }, [&] { return sin(c) + x * x; });
      return std::pair{next, next * c};
    };
    const auto [last, ys] = rc::scan(step, number(0.5), xs);
    return last + (ys * ys).sum();
  };
  expect_plain(f, up, {longer});
  expect_plain(rc::grad(f), up, {longer, down}, 1e-10);
  expect_plain(rc::hessian(f), up, {down}, 1e-9);
}

TEST(RecordedCond, AScanInABranchKeepsItsRows) {
  const auto f = [](Tensor xs) {
    const auto total = [](Tensor rows) {
      return rc::scan([](Tensor c, Tensor x) { return std::pair{sin(c) + x, c}; }, number(0), rows).first;
    };
    return rc::cond(xs.sum() > 0, total, [](Tensor rows) { return rows.sum(); }, xs);
  };
  expect_plain(rc::grad(f), up, {longer, down});
}

TEST(RecordedCond, BranchesMayDependOnDifferentInputs) {
  const auto f = [](Tensor x) {
    const Tensor y = x * 2;
    return rc::cond(x.sum() > 0, [&] { return y.sum(); }, [] { return number(1); });
  };
  expect_plain(rc::grad(f), up, {down});
}

TEST(RecordedCond, ExamplesThatAnswerDifferentlyChooseAmongRows) {
  const Tensor rows = rc::stack({up, down}), more = rc::stack({down, 2 * up, -up, down}), none = rows.slice(0, 0, 0);
  expect_plain(rc::vmap(bend), rows, {more, rc::stack({up, up}), none});
  expect_plain(rc::vmap(rc::grad(bend)), rows, {more, rc::stack({down, down})});
  expect_plain(rc::grad([](Tensor x) { return rc::vmap(bend)(x).sum(); }), rows, {more});
  expect_plain(rc::vmap(rc::hessian(bend)), rows, {-rows}, 1e-10);
  expect_plain([](Tensor x) { return derivative(rc::vmap(bend), x); }, rows, {-rows});
  const Tensor pairs = rc::stack({rows, -rows}), others = rc::stack({-more, more, -2 * more});
  expect_plain(rc::vmap(rc::vmap(bend)), pairs, {others});
  expect_plain(rc::vmap(rc::vmap(rc::grad(bend))), pairs, {others});
}

TEST(RecordedCond, NothingOfABranchThatAnExampleDoesNotTakeReachesItsGradient) {
  const auto f = [](Tensor x) {
    const Tensor scale = x * x;
    return rc::cond(x > 0, [&](Tensor y) { return sqrt(y) * log(scale + y); }, [](Tensor y) { return 2 * y; }, x);
  };
  const Tensor some = doubles({4, -1, 0}), others = doubles({-1, -4, 9, 0}), negative = doubles({-1, -2});
  expect_plain(rc::vmap(rc::grad(f)), some, {others, negative});
  expect_plain(rc::vmap(rc::grad(rc::grad(f))), some, {others, negative});
  expect_plain(rc::grad([&](Tensor x) { return rc::vmap(f)(x).sum(); }), some, {others, negative});
}

TEST(RecordedCond, ABranchFailsOnlyForExamplesThatTakeIt) {
  const auto f = [](Tensor x) {
    const auto root = [](Tensor y) { return rc::cholesky(y.reshape({1, 1})).sum(); };
    const auto halved = [](Tensor y) {
      return rc::while_loop([](Tensor z) { return z < -1; }, [&](Tensor z) { return z * (y < 0).to(rc::float64) / 2; },
                            y);
    };
    return rc::cond(x > 0, root, halved, x);
  };
  const rc::Program p = rc::trace(rc::vmap(f))(doubles({4, -1}));
  for (const Tensor& x : {doubles({4, -1}), doubles({9, 1, 16}), doubles({-5, -0.5}), doubles({-3, 4, -1, 25})})
    expect_close(p({x})[0], rc::vmap(f)(x));
  EXPECT_TRUE(is_plain(rc::to_string(p))) << p;
}

TEST(RecordedCond, ASwitchChoosesAmongTheRowsOfItsBranches) {
  const auto f = [](Tensor x) {
    const auto branches = std::tuple{[](Tensor y) { return y; }, [](Tensor y) { return y * y * y; }, &rc::sin};
    return rc::switch_case(x.to(rc::int64), branches, x);
  };
  expect_plain(rc::vmap(f), doubles({0.5, 2.5, 1.5}), {doubles({1.25, 1.5}), doubles({2, 0, 1, 1})});
  expect_plain(rc::vmap(rc::grad(f)), doubles({0.5, 2.5, 1.5}), {doubles({1.25, 1.5}), doubles({2, 0, 1, 1})});
  const rc::Program p = rc::trace(rc::vmap(f))(doubles({0.5, 2.5}));
  expect_error<rc::IndexError>([&] { p({doubles({1, 3, 0})}); },
                               "switch_case: index 3 is out of range for 3 branches; the legal range is [0, 2]\n"
                               "  inside vmap over axis 0 of 3{at}");
}

TEST(RecordedCond, WhatAnExampleDrawsInABranchDoesNotDependOnTheOthers) {
  const auto f = [](Tensor x) {
    const auto jump = [](Tensor y) { return y + rc::rand({}, rc::float64); };
    const auto stay = [](Tensor y) { return y; };
    return rc::cond(x > 0, jump, stay, x) + rc::rand({}, rc::float64);
  };
  const rc::Program p = rc::trace(rc::vmap(f, {.randomness = rc::Randomness::different}))(doubles({0, 0, 0}));
  EXPECT_TRUE(is_plain(rc::to_string(p))) << p;
  const auto drawn = [&](Tensor xs) {
    rc::manual_seed(3);
    return p({xs})[0];
  };
  const Tensor all = drawn(doubles({1, 1, 1})), some = drawn(doubles({-1, 1, -2}));
  expect_equal(all[1], some[1]);
  EXPECT_NE(all[0].item<double>(), all[1].item<double>());
}

}  // namespace
