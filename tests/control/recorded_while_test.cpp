// Loops of unknown length in recorded functions: forward mode and vmap make plain loops of them, which compute what the
// transforms of the function do.
#include <gtest/gtest.h>

#include <functional>

#include "ricci/ricci.h"
#include "support/expect_error.h"
#include "support/expect_tensor.h"
#include "support/plain_program.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

/// A condition and a body that capture, a state that is a tree, and one number of it that no tangent reaches.
Tensor grown(Tensor x) {
  struct State {
    Tensor y, steps;
  };
  const Tensor limit = 20 + abs(x).sum(), scale = 1.5 + 0.1 * sin(x).sum();
  const auto goes_on = [&](const State& s) { return (s.y * s.y).sum() < limit; };
  const auto step = [&](const State& s) { return State{s.y * scale + 0.1 * cos(x), s.steps + 1}; };
  const State last = rc::while_loop(goes_on, step, State{x, rc::tensor(0)});
  return last.y.sum() * (1 + last.steps);
}

Tensor root(Tensor a) {
  return rc::while_loop([&](Tensor x) { return abs(x * x - a) > 1e-9; }, [&](Tensor x) { return (x + a / x) / 2; }, a);
}

const Tensor three = doubles({1, 2, 3}), other = doubles({-0.1, 0.05, 0.2}), longer = doubles({-1, 5, 2, 1, -3});

Tensor derivative(const std::function<Tensor(Tensor)>& f, Tensor x) { return rc::jvp(f, x, rc::cos(x)).second; }

TEST(RecordedWhile, ForwardModeMakesALoopOfIt) {
  const auto slope = [](Tensor x) { return derivative(grown, x); };
  EXPECT_EQ(times(expect_plain(grown, three, {other, longer}), "while_loop["), 1U);
  EXPECT_EQ(times(expect_plain(slope, three, {other}), "while_loop["), 1U);
  expect_plain([&](Tensor x) { return derivative(slope, x); }, three, {other}, 1e-10);
  expect_plain(rc::jacfwd(rc::jacfwd(grown)), three, {other}, 1e-10);
}

TEST(RecordedWhile, LinearizedInsideTheRecordingIsComputedOnce) {
  const auto f = [](Tensor x) {
    const auto [y, tangent_of] = rc::linearize(grown, x);
    return y + tangent_of(rc::cos(x));
  };
  expect_plain(f, three, {other});
  expect_plain(rc::vmap(f), rc::stack({three, other}), {rc::stack({0.1 * other, 40 * three})});
}

TEST(RecordedWhile, OneAnswerForAllExamplesStaysOne) {
  const auto f = [](Tensor x) {
    const auto goes_on = [](const std::pair<Tensor, Tensor>& s) { return s.first < 50; };
    return rc::vmap([&](Tensor row) {
      const auto step = [&](const std::pair<Tensor, Tensor>& s) { return std::pair{s.first * 2 + 1, s.second + row}; };
      return rc::while_loop(goes_on, step, std::pair{x.sum(), row}).second;
    })(x);
  };
  const std::string text = expect_plain(f, three, {other});
  EXPECT_EQ(text.find("fill_rows"), std::string::npos) << text;
  expect_plain([&](Tensor x) { return derivative(f, x); }, three, {other});
}

TEST(RecordedWhile, ExamplesThatAnswerDifferentlyStayInOneLoop) {
  const Tensor rows = rc::stack({three, other}), more = rc::stack({other, 3 * other, 40 * three, three});
  EXPECT_EQ(times(expect_plain(rc::vmap(grown), rows, {more}), "while_loop["), 1U);
  expect_plain(rc::vmap(root), doubles({2, 9, 1.25}), {doubles({7, 0.25, 3, 100})});
  expect_plain(rc::vmap(rc::vmap(grown)), rc::stack({rows, 2 * rows}), {rc::stack({more, 0.1 * more, -more})});
  const Tensor others = rc::stack({0.1 * other, 40 * three});
  expect_plain(rc::vmap(rc::jacfwd(grown)), rows, {others}, 1e-9);
  expect_plain([](Tensor x) { return derivative(rc::vmap(grown), x); }, rows, {others}, 1e-9);
  expect_plain(rc::vmap(grown), rows, {rows.slice(0, 0, 0)});
}

TEST(RecordedWhile, BoundsMayDifferPerExample) {
  const auto f = [](Tensor x) {
    return rc::fori_loop(0, abs(x).to(rc::int64), [&](Tensor i, Tensor y) { return sin(y) + i * x; }, x);
  };
  expect_plain(rc::vmap(f), doubles({3, 0, 7.5}), {doubles({0, 0}), doubles({1, 2, 30})});
  expect_plain(rc::vmap(rc::jacfwd(f)), doubles({3, 0, 7.5}), {doubles({1, 2, 30})});
}

// A row that went on after its end would divide by zero, or never leave the inner loop.
TEST(RecordedWhile, NothingGoesWrongInRowsThatAreDone) {
  const auto f = [](Tensor x) {
    const auto step = [&](Tensor y) {
      const Tensor next = y - 1 + 0 * sqrt(y - 0.25) + 0 / (y - 0.25);
      return rc::while_loop([&](Tensor z) { return z > 2 * y; }, [](Tensor z) { return z * 0.5; }, next);
    };
    return rc::while_loop([](Tensor y) { return y > 0.5; }, step, x);
  };
  const Tensor xs = doubles({0.25, 5.25, 2.25}), others = doubles({7.25, 0.25, -3});
  expect_plain(rc::vmap(f), xs, {others});
  expect_plain(rc::vmap(rc::jacfwd(f)), xs, {others});
  const auto total = [&](Tensor x) { return rc::vmap(f)(x).sum(); };
  const rc::Program slope = rc::trace(rc::grad(total))(xs);
  expect_close(slope({others})[0], rc::grad(total)(others));
}

TEST(RecordedWhile, AnErrorInTheBodyIsOneOfARowThatRuns) {
  const auto f = [](Tensor x) {
    const auto step = [](Tensor y) { return y - rc::cholesky((y - 0.1).reshape({1, 1})).sum(); };
    return rc::while_loop([](Tensor y) { return y > 0.5; }, step, x);
  };
  expect_plain(rc::vmap(f), doubles({-2, 3, 9}), {doubles({4, -1, -1, 0.6})}, 1e-12);
}

TEST(RecordedWhile, WhatAnExampleDrawsDoesNotDependOnTheOthers) {
  const auto walk = [](Tensor x) {
    return rc::while_loop([](Tensor y) { return y < 5; }, [](Tensor y) { return y + rc::rand({}, rc::float64); }, x);
  };
  const auto mapped = rc::vmap(walk, {.randomness = rc::Randomness::different});
  const rc::Program p = rc::trace(mapped)(doubles({0, 0, 0}));
  EXPECT_EQ(rc::to_string(p).find("op="), std::string::npos) << p;
  const auto drawn = [&](Tensor xs) {
    rc::manual_seed(3);
    return p({xs})[0];
  };
  const Tensor all = drawn(doubles({0, 0, 0})), some = drawn(doubles({9, 0, 4.5}));
  expect_equal(all[1], some[1]);
  EXPECT_NE(all[0].item<double>(), all[1].item<double>());
}

TEST(RecordedWhile, EndlessOnesAreAnErrorUnderVmapToo) {
  const auto f = [](Tensor x) {
    return rc::while_loop([](Tensor y) { return y < 1; }, [](Tensor y) { return y * 2; }, x, {.max_steps = 50});
  };
  const rc::Program p = rc::trace(rc::vmap(f))(doubles({2, 3}));
  expect_close(p({doubles({0.25, 3})})[0], doubles({1, 3}));
  EXPECT_THROW(p({doubles({0, 3})}), rc::ValueError);
}

TEST(RecordedWhile, KeepsItsCheckpoints) {
  for (const auto checkpoint : {rc::Checkpoints::sqrt, rc::Checkpoints::log}) {
    const auto f = [&](Tensor x) {
      return rc::while_loop([&](Tensor y) { return (y * y).sum() < 90; },
                            [&](Tensor y) { return 1.3 * y + 0.1 * sin(x); }, x, {.checkpoint = checkpoint});
    };
    expect_plain(rc::jacfwd(f), three, {other});
    expect_plain(rc::vmap(f), rc::stack({three, other}), {rc::stack({-3 * other, 20 * three, three})});
  }
}

TEST(RecordedWhile, TransformsAroundTheProgramSeeThroughIt) {
  const Tensor rows = rc::stack({three, other});
  const rc::Program p = rc::trace(rc::vmap(grown))(rows);
  const auto run = [&](Tensor x) { return p({x})[0]; };
  expect_close(rc::grad([&](Tensor x) { return run(x).sum(); })(2 * rows),
               rc::grad([](Tensor x) { return rc::vmap(grown)(x).sum(); })(2 * rows), 1e-10);
  expect_close(rc::vmap(run)(rc::stack({rows, 3 * rows})), rc::vmap(rc::vmap(grown))(rc::stack({rows, 3 * rows})));
  expect_close(rc::jacfwd(run)(rows), rc::jacfwd(rc::vmap(grown))(rows), 1e-10);
}

}  // namespace
