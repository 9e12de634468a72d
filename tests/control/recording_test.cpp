// Conditionals and loops in recorded functions: one operation each, whose branches and bodies are programs. A program
// recorded at some values and sizes answers as the function does at others, under every transform inside and around it.
#include <gtest/gtest.h>

#include "ricci/ricci.h"
#include "support/expect_error.h"
#include "support/expect_tensor.h"
#include "support/plain_program.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

Tensor kink(Tensor x) {
  return rc::cond(x.sum() > 0, [](Tensor y) { return (y * y).sum(); }, [](Tensor y) { return -3 * y.sum(); }, x);
}

Tensor root(Tensor a) {
  return rc::while_loop([&](Tensor x) { return abs(x * x - a) > 1e-12 * a; }, [&](Tensor x) { return (x + a / x) / 2; },
                        rc::ones_like(a));
}

Tensor average(Tensor xs) {
  const auto step = [](Tensor carry, Tensor x) { return std::pair{0.5 * carry + x, carry * x}; };
  const auto [last, all] = rc::scan(step, rc::zeros({}, rc::float64), xs);
  return last + all.sum();
}

const Tensor up = doubles({1, 2, 3}), down = doubles({-1, -2, -3}), longer = doubles({-1, 5, 2, 1, -3});

TEST(RecordedCond, TakesTheBranchThatTheInputAsksFor) {
  const rc::Program p = expect_same(kink, up, {down, longer});
  EXPECT_NE(rc::to_string(p).find("= cond[operands=1, branches=(program(a: f64[s0]) {\n"), std::string::npos) << p;
}

TEST(RecordedCond, CapturesBecomeInputs) {
  const auto f = [](Tensor x) {
    const Tensor scale = x.sum(), shift = doubles({1});
    return rc::cond(scale > 0, [&] { return x * scale; }, [&] { return x + shift; });
  };
  expect_same(f, up, {down, longer});
}

TEST(RecordedCond, IsDifferentiatedAndMappedInsideTheRecording) {
  expect_same(rc::grad(kink), up, {down, longer});
  expect_same(rc::hessian(kink), up, {down});
  expect_same(rc::jacfwd(kink), up, {down});
  const Tensor rows = rc::stack({up, down, 2 * up});
  expect_same(rc::vmap(kink), rows, {-rows, rc::stack({down, up})});
  expect_same(rc::vmap(rc::grad(kink)), rows, {-rows, rc::stack({down, up})});
  expect_same(rc::grad([](Tensor x) { return rc::vmap(kink)(x).sum(); }), rows, {-rows});
  expect_same(rc::vmap(rc::vmap(rc::hessian(kink))), rc::stack({rows, -rows}), {rc::stack({-rows, rows, rows})});
}

TEST(RecordedCond, IsDifferentiatedAndMappedAroundTheProgram) {
  const rc::Program p = rc::trace(kink)(up);
  const auto run = [&](Tensor x) { return p({x})[0]; };
  const Tensor rows = rc::stack({up, down, 2 * up});
  for (const Tensor& x : {up, down}) {
    expect_close(rc::grad(run)(x), rc::grad(kink)(x));
    expect_close(rc::hessian(run)(x), rc::hessian(kink)(x));
  }
  expect_close(rc::vmap(rc::grad(run))(rows), rc::vmap(rc::grad(kink))(rows));
  expect_close(rc::vmap(rc::hessian(run))(rows), rc::vmap(rc::hessian(kink))(rows));
  expect_same(run, up, {down});  // recorded again
}

TEST(RecordedCond, NothingOfABranchNotTakenReachesTheGradient) {
  const auto f = [](Tensor x) {
    return rc::cond(x > 0, [](Tensor y) { return sqrt(y); }, [](Tensor y) { return 2 * y; }, x);
  };
  expect_same(rc::vmap(rc::grad(f)), doubles({4, -1, 0}), {doubles({-1, -4, 9, 0})});
}

TEST(RecordedCond, ReturnsTrees) {
  struct Both {
    Tensor x;
    std::vector<Tensor> more;
  };
  const auto f = [](Tensor x) {
    const Both both = rc::cond(
        x.sum() > 0, [&] { return Both{x, {x * 2, Tensor(1.5)}}; }, [&] { return Both{-x, {x, Tensor(2.5)}}; });
    return both.x + both.more[0] * both.more[1];
  };
  expect_same(f, up, {down, longer});
}

TEST(RecordedCond, BranchesOfOtherTypesAreAnError) {
  const auto f = [](Tensor x) { return rc::cond(x.sum() > 0, [&] { return x; }, [&] { return x.sum(); }); };
  expect_error<rc::ValueError>(
      [&] { rc::trace(f)(up); },
      "cond: the branches' results differ in type: f64[] and f64[3]; every branch must return "
      "one shape and dtype: convert with to(dtype), or expand to one shape\n  inside trace{at}");
}

TEST(RecordedCond, BranchesOfOtherTreesAreAnError) {
  using Pair = std::pair<Tensor, Tensor>;
  const auto f = [](Tensor x) {
    return rc::cond(x.sum() > 0, [&] { return Pair{x, Tensor()}; }, [&] { return Pair{Tensor(), x}; }).first;
  };
  expect_error<rc::ValueError>(
      [&] { rc::trace(f)(up); },
      "cond: one branch returns an undefined Tensor where another returns f64[3]; return a value "
      "in each\n  inside trace{at}");
  using Named = std::map<std::string, Tensor>;
  const auto g = [](Tensor x) {
    return rc::cond(x.sum() > 0, [&] { return Named{{"a", x}}; }, [&] { return Named{{"b", x}}; }).begin()->second;
  };
  EXPECT_THROW(rc::trace(g)(up), rc::ValueError);
}

TEST(RecordedCond, NothingThatABranchComputesOfItsCapturesRunsOutsideIt) {
  const auto f = [](Tensor x) { return rc::cond(x > 0.1, [&] { return log(x); }, [&] { return sqrt(0.1001 - x); }); };
  const Tensor xs = doubles({-0.5, 0.5, 1.5});
  const Tensor slopes = rc::vmap(rc::grad(f))(xs);
  const rc::Program program = rc::trace(f)(xs[0]), slope = rc::trace(rc::grad(f))(xs[0]);
  expect_close(rc::vmap(rc::grad([&](Tensor x) { return program({x})[0]; }))(xs), slopes);
  expect_close(rc::vmap([&](Tensor x) { return slope({x})[0]; })(xs), slopes);
}

TEST(RecordedLoop, OfNoStepsComputesNothingOfItsCaptures) {
  const auto f = [](Tensor x) {
    return rc::fori_loop(0, (x > 0).to(rc::int64), [&](Tensor, Tensor s) { return s + log(x); }, x * 2);
  };
  expect_close(rc::trace(rc::grad(f))(number(0))({number(0)})[0], number(2));
  expect_close(rc::trace(rc::grad(f))(number(0))({number(2)})[0], number(2.5));
}

TEST(RecordedLoop, KeepsNumbersWeakWhateverIsKept) {
  const Tensor xs = rc::tensor({0.5f, 1.f, 2.f}), counts = rc::tensor(std::vector<std::int64_t>{0, 2, 5});
  const auto f = [](rc::Checkpoints kept) {
    return [kept](Tensor x, Tensor n) {
      return rc::fori_loop(0, n, [](Tensor, Tensor s) { return s * 0.3 + 0.1; }, x, {.checkpoint = kept});
    };
  };
  const Tensor wanted = rc::vmap(f(rc::Checkpoints::every_step))(xs, counts);
  for (const auto kept : {rc::Checkpoints::every_step, rc::Checkpoints::sqrt, rc::Checkpoints::log}) {
    const rc::Program program = rc::trace(f(kept))(xs[0], counts[0]);
    const auto run = [&](Tensor x, Tensor n) { return program({x, n})[0]; };
    expect_equal(rc::vmap(run)(xs, counts), wanted);
    expect_close(rc::vmap(rc::grad(run))(xs, counts), rc::tensor({1.f, 0.09f, 0.00243f}));
  }
}

TEST(RecordedSwitch, ChecksTheIndexWhenItIsKnown) {
  const auto f = [](Tensor i) {
    return rc::switch_case(i, std::tuple{[](Tensor x) { return x; }, [](Tensor x) { return x * x; }, &rc::sin},
                           doubles({2, 3}));
  };
  const rc::Program p = rc::trace(f)(rc::tensor(0));
  for (const int i : {0, 1, 2}) expect_close(p({rc::tensor(i)})[0], f(rc::tensor(i)));
  expect_error<rc::IndexError>([&] { p({rc::tensor(3)}); },
                               "switch_case: index 3 is out of range for 3 branches; the legal range is [0, 2]");
}

TEST(RecordedLoop, RunsAsOftenAsItsInputNeeds) {
  const rc::Program p = expect_same(root, number(2), {number(9), number(1e6)});
  EXPECT_NE(rc::to_string(p).find("= while_loop["), std::string::npos) << p;
}

TEST(RecordedLoop, IsDifferentiatedAndMapped) {
  const Tensor some = doubles({2, 9, 1.25}), others = doubles({7, 0.25, 3, 100});
  expect_same(rc::vmap(root), some, {others});
  expect_same(rc::vmap(rc::grad(root)), some, {others});
  expect_same(rc::grad([](Tensor a) { return rc::vmap(root)(a).sum(); }), some, {others});
  expect_same(rc::vmap(rc::jacfwd(root)), some, {others});
  const auto bend = [](Tensor a) { return rc::vmap(rc::grad(rc::grad(root)))(a); };
  const rc::Program p = rc::trace(bend)(some);
  expect_close(p({others})[0], bend(others), 1e-7);
}

TEST(RecordedLoop, KeepsItsCheckpoints) {
  for (const auto checkpoint : {rc::Checkpoints::sqrt, rc::Checkpoints::log}) {
    const auto f = [&](Tensor x) {
      return rc::fori_loop(0, 20, [&](Tensor, Tensor y) { return y - 0.1 * sin(y) * x.sum(); }, x,
                           {.checkpoint = checkpoint})
          .sum();
    };
    const auto plain = [](Tensor x) {
      return rc::fori_loop(0, 20, [&](Tensor, Tensor y) { return y - 0.1 * sin(y) * x.sum(); }, x).sum();
    };
    const rc::Program p = rc::trace(rc::grad(f))(up);
    for (const Tensor& x : {up, down, longer}) expect_close(p({x})[0], rc::grad(plain)(x), 1e-9);
  }
}

TEST(RecordedLoop, BecomesOneOperationWhateverItsBounds) {
  const auto f = [](Tensor x) { return rc::fori_loop(0, 100, [](Tensor i, Tensor y) { return y + i; }, x); };
  EXPECT_EQ(expect_same(f, up, {down, longer}).equations(), 1U);
  const auto until = [](Tensor n) {
    return rc::fori_loop(0, n, [](Tensor i, Tensor y) { return y + i; }, rc::zeros({}, rc::float64));
  };
  expect_same(until, rc::tensor(3), {rc::tensor(0), rc::tensor(10)});
}

TEST(RecordedLoop, TheStateKeepsItsTypes) {
  const auto f = [](Tensor x) {
    return rc::while_loop([](Tensor y) { return y.sum() < 10; }, [](Tensor y) { return rc::stack({y, y}); }, x);
  };
  expect_error<rc::ValueError>([&] { rc::trace(f)(up); },
                               "while_loop: the state changes from f64[3] to f64[2,3]; every step must keep its shape "
                               "and dtype\n  inside trace{at}");
}

TEST(RecordedLoop, EndlessOnesAreAnErrorWhenTheProgramRuns) {
  const auto f = [](Tensor x) {
    return rc::while_loop([](Tensor y) { return y < 1; }, [](Tensor y) { return y * 1; }, x, {.max_steps = 50});
  };
  const rc::Program p = rc::trace(f)(number(2));
  expect_values(p({number(3)})[0], {3});
  expect_error<rc::ValueError>([&] { p({number(0)}); },
                               "while_loop: still running after 50 steps; the condition may never become false: mend "
                               "it, or raise .max_steps");
}

TEST(RecordedScan, ServesAllNumbersOfSlices) {
  const rc::Program p = expect_same(average, up, {longer, down});
  EXPECT_NE(rc::to_string(p).find("= scan["), std::string::npos) << p;
  expect_same(rc::grad(average), up, {longer, down});
  expect_same(rc::vmap(average), rc::stack({up, down}), {rc::stack({longer, -longer, 2 * longer})});
  expect_same(rc::hessian(average), up, {down});
  expect_close(p({doubles({}, {0})})[0], average(doubles({}, {0})));
}

TEST(RecordedScan, RunsFromTheLastSliceToo) {
  const auto f = [](Tensor xs) {
    return rc::scan([](Tensor c, Tensor x) { return std::pair{c * 0.5 + x, c}; }, number(1), xs, {.reverse = true})
        .second;
  };
  expect_same(f, up, {longer});
  expect_same([](Tensor xs) { return rc::map([](Tensor x) { return kink(x) + x; }, xs); }, up, {longer});
}

TEST(Recorded, ControlFlowNests) {
  const auto f = [](Tensor x) {
    const auto step = [&](Tensor carry, Tensor row) {
      const Tensor grown = rc::while_loop(
          [&](Tensor y) { return y.sum() < 20; },
          [&](Tensor y) { return rc::cond(y[0] < 4, [&] { return y * 2 + 1; }, [&] { return y + abs(row) + 1; }); },
          abs(row));
      return std::pair{carry + grown.sum(), grown};
    };
    const auto [total, rows] = rc::scan(step, number(0), x);
    return total + (rows * x).sum();
  };
  const Tensor x = rc::stack({up, down}), other = rc::stack({2 * up, down, 0.1 * up, -up});
  expect_same(f, x, {other});
  expect_same(rc::grad(f), x, {other});
  expect_same(rc::vmap(rc::grad(f)), rc::stack({x, -2 * x}), {rc::stack({other, 3 * other, 0 * other})});
}

TEST(Recorded, KnownLoopsThatMeetARecordedValueGoOnAsOne) {
  const auto f = [](Tensor x) {
    return rc::while_loop([](Tensor y) { return y.sum() < 100; }, [&](Tensor y) { return y + abs(x).sum(); },
                          number(0));
  };
  expect_same(f, up, {down, longer});
}

TEST(Recorded, APredicateOfAVmapAroundTheRecordingIsAnInput) {
  const auto f = [](Tensor flag, Tensor x) {
    return rc::trace([&](Tensor y) { return rc::cond(flag > 0, [&] { return y * 2; }, [&] { return -y; }); })(x)(
        {x})[0];
  };
  expect_close(rc::vmap(f, {.in_dims = {0, 0}})(up - 2, up), doubles({-1, -2, 6}));
}

TEST(Recorded, WhatOnlyDependsOnAVmapAroundTheRecordingIsCaptured) {
  const auto recorded = [](const auto& of) {
    return [of](Tensor x) { return rc::trace([&](Tensor y) { return y * of(x); })(x)({x})[0]; };
  };
  const auto branch = [](Tensor x) { return rc::cond(x > 0, [&] { return x * 2; }, [&] { return -x; }); };
  const auto doubled = [](Tensor x) {
    return rc::while_loop([](Tensor z) { return z < 5; }, [](Tensor z) { return z * 2 + 1; }, x);
  };
  const Tensor x = doubles({1, -0.5, 3, 7});
  expect_equal(rc::vmap(recorded(branch))(x), x * rc::vmap(branch)(x));
  expect_equal(rc::vmap(recorded(doubled))(x), x * rc::vmap(doubled)(x));
  expect_equal(rc::vmap(rc::grad(recorded(doubled)))(x),
               rc::vmap(rc::grad([&](Tensor a) { return a * doubled(a); }))(x));
  expect_equal(rc::vmap(recorded(rc::grad(branch)))(x), x * rc::vmap(rc::grad(branch))(x));
  expect_equal(rc::vmap(recorded(rc::grad(doubled)))(x), x * rc::vmap(rc::grad(doubled))(x));
  for (const rc::Program& program : {rc::trace(branch)(number(1)), rc::trace(doubled)(number(1))}) {
    const auto called = [&program](Tensor a) { return program({a})[0]; };
    expect_equal(rc::vmap(recorded(called))(x), x * rc::vmap(called)(x));
  }
}

TEST(Recorded, ABranchOnAVmapAroundTheRecordingMayHaveItsSizes) {
  const auto f = [](Tensor a) {
    const auto recorded = [&](Tensor k) {
      return k * rc::cond(a > 0, [&] { return a * rc::zeros_like(k); }, [&] { return a * rc::ones_like(k); });
    };
    const Tensor four = rc::ones({4}, rc::float64);
    return rc::trace(recorded)(four)({four})[0];
  };
  expect_values(rc::vmap(f)(doubles({1, -3})), {0, 0, 0, 0, -3, -3, -3, -3});
}

TEST(Recorded, AProgramWithAGeneratorOfItsOwnRunsInARecordingInAVmap) {
  const auto draws = [](Tensor x) {
    rc::Generator generator(7);
    return x * rc::rand({}, {.dtype = rc::float64, .generator = generator});
  };
  const rc::Program program = rc::trace(draws)(number(1));
  const auto f = [&](Tensor a) { return rc::trace([&](Tensor k) { return program({k})[0]; })(a)({a})[0]; };
  const Tensor y = rc::vmap(f, {.randomness = rc::Randomness::different})(doubles({1, 2}));
  expect_close(y[0], program({number(1)})[0]);
}

TEST(Recorded, WhatABranchCapturesHasTheLanesThatTookIt) {
  const auto square_up = [](Tensor x) {
    return rc::while_loop([](Tensor z) { return z < 9; }, [&](Tensor z) { return z * z + x; }, x);
  };
  const auto with = [](const auto& loop) {
    return [loop](Tensor x) { return rc::cond(x > 0, [&] { return loop(x); }, [&] { return -x; }); };
  };
  const auto recorded = [&](Tensor x) { return rc::trace([&](Tensor y) { return square_up(x) + 0 * y; })(x)({x})[0]; };
  const Tensor x = doubles({1, -2, 3, 0.5});
  expect_close(rc::vmap(rc::grad(with(recorded)))(x), rc::vmap(rc::grad(with(square_up)))(x));
  expect_close(rc::vmap(rc::grad(rc::grad(with(recorded))))(x), rc::vmap(rc::grad(rc::grad(with(square_up))))(x));
}

TEST(Recorded, TheEquationOfARootMayLoop) {
  const auto f = [](Tensor a) {
    const auto equation = [&](Tensor x) {
      const Tensor cube = rc::fori_loop(0, 2, [&](Tensor, Tensor p) { return p * x; }, x);
      return rc::cond(a > 0, [&] { return cube - a; }, [&] { return x; });
    };
    const auto newton = [](auto g, Tensor x) {
      return rc::while_loop([&](Tensor y) { return abs(g(y)) > 1e-13; },
                            [&](Tensor y) { return y - g(y) / rc::grad(g)(y); }, x);
    };
    return rc::custom_root(equation, number(1), newton, [](auto g, Tensor y) { return y / g(number(1)); });
  };
  expect_close(f(number(27)), number(3));
  expect_close(rc::grad(f)(number(27)), number(1.0 / 27));
  expect_close(rc::vmap(rc::grad(f))(doubles({27, 8})), doubles({1.0 / 27, 1.0 / 12}));
}

TEST(Recorded, ControlFlowIsPrintedAndReadBack) {
  const auto f = [](Tensor x) {
    return rc::fori_loop(
        0, 3, [](Tensor, Tensor y) { return rc::cond(y > 2, [&] { return y; }, [&] { return y * 2; }); }, x);
  };
  const rc::Program p = rc::trace(f)(number(1));
  const std::string text = rc::to_string(p);
  const rc::Program again = rc::parse_program(text, p.captured());
  EXPECT_EQ(rc::to_string(again), text);
  for (const double x : {0.1, 1.0, 5.0}) expect_close(again({number(x)})[0], f(number(x)));
}

}  // namespace
