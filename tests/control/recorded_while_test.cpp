// Loops of unknown length in recorded functions: every transform makes plain loops of them, which compute what the
// transform of the function does.
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

struct Walk {
  Tensor x, product, steps;
};

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
  expect_plain(rc::grad([&](Tensor x) { return rc::vmap(f)(x).sum(); }), xs, {others});
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
  EXPECT_TRUE(is_plain(rc::to_string(p))) << p;
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

// ── reverse mode: the loop with a pass back over its steps ──

TEST(RecordedWhile, ReverseModeMakesALoopWithAPassBackOfIt) {
  EXPECT_EQ(times(expect_plain(rc::grad(grown), three, {other, 40 * three}), "= unwind["), 1U);
  expect_plain(rc::grad(root), number(2), {number(9), number(1e6), number(1)}, 1e-10);
  expect_plain([](Tensor x) { return rc::value_and_grad(grown)(x).second; }, three, {other});
  expect_plain(rc::jacrev([](Tensor x) { return grown(x) * x; }), three, {other}, 1e-10);
}

TEST(RecordedWhile, DerivativesOfAnyOrderArePlain) {
  expect_plain(rc::grad(rc::grad(root)), number(2), {number(9), number(3)}, 1e-7);
  expect_plain(rc::grad(rc::grad(rc::grad(root))), number(2), {number(9), number(3)}, 1e-6);
  expect_plain(rc::hessian(grown), three, {other, 40 * three}, 1e-9);
  expect_plain(rc::jacrev(rc::grad(grown)), three, {other}, 1e-9);
  expect_plain(rc::jacrev(rc::jacfwd(grown)), three, {other}, 1e-9);
  const auto along = [](Tensor x) { return (rc::grad(grown)(x) * rc::cos(x)).sum(); };
  expect_plain(rc::grad(along), three, {other}, 1e-9);
}

TEST(RecordedWhile, TheWayBackOfExamplesThatAnswerDifferentlyIsOnePass) {
  const Tensor rows = rc::stack({three, other}), more = rc::stack({other, 3 * other, 40 * three, three});
  EXPECT_EQ(times(expect_plain(rc::vmap(rc::grad(grown)), rows, {more}), "= unwind["), 1U);
  expect_plain([](Tensor x) { return rc::grad([](Tensor y) { return rc::vmap(grown)(y).sum(); })(x); }, rows, {more});
  expect_plain(rc::vmap(rc::grad(root)), doubles({2, 9, 1.25}), {doubles({7, 0.25, 3, 100, 1})}, 1e-9);
  expect_plain(rc::vmap(rc::vmap(rc::grad(grown))), rc::stack({rows, 2 * rows}), {rc::stack({more, 0.1 * more, -more})},
               1e-10);
  expect_plain(rc::vmap(rc::hessian(grown)), rows, {more}, 1e-9);
  expect_plain(rc::vmap(rc::grad(rc::grad(root))), doubles({2, 9}), {doubles({7, 0.25, 3})}, 1e-7);
  expect_plain(rc::vmap(rc::grad(grown)), rows, {rows.slice(0, 0, 0)});
}

TEST(RecordedWhile, TheWayBackOfOneAnswerForAllExamplesHasNoAnswers) {
  const auto f = [](Tensor x) {
    const auto goes_on = [](const std::pair<Tensor, Tensor>& s) { return s.first < 50; };
    return rc::vmap([&](Tensor row) {
             const auto step = [&](const std::pair<Tensor, Tensor>& s) {
               return std::pair{s.first * 2 + 1, s.second * row};
             };
             return rc::while_loop(goes_on, step, std::pair{rc::tensor(1.), row}).second;
           })(x)
        .sum();
  };
  const std::string text = expect_plain(rc::grad(f), three, {other});
  EXPECT_EQ(text.find("fill_rows"), std::string::npos) << text;
}

TEST(RecordedWhile, TheWayBackSeesNothingOfRowsThatAreDone) {
  const auto f = [](Tensor x) {
    const auto step = [&](Tensor y) { return y - 1 + 0 * sqrt(y - 0.25) + 0.01 * x * log(y); };
    return rc::while_loop([](Tensor y) { return y > 0.5; }, step, x);
  };
  const Tensor xs = doubles({0.3, 5.2, 2.3}), others = doubles({7.25, 0.26, -3});
  expect_plain(rc::vmap(rc::grad(f)), xs, {others}, 1e-10);
  expect_plain(rc::vmap(rc::grad(rc::grad(f))), xs, {others}, 1e-9);
}

TEST(RecordedWhile, TheWayBackOfNoStepsIsTheCotangent) {
  const auto f = [](Tensor x) {
    return (rc::while_loop([](Tensor y) { return y.sum() < -1e9; }, [&](Tensor y) { return y * x; }, 2 * x) * x).sum();
  };
  expect_plain(rc::grad(f), three, {other});
  expect_plain(rc::hessian(f), three, {other});
  expect_plain(rc::vmap(rc::grad(f)), rc::stack({three, other}), {rc::stack({other, three, three})});
}

TEST(RecordedWhile, ThePassBackIsLinearizedToo) {
  const auto root = [](Tensor a) {
    return rc::while_loop([=](Tensor x) { return abs(x * x - a) > 1e-12; }, [=](Tensor x) { return (x + a / x) / 2; },
                          a);
  };
  const rc::Program p = rc::trace(rc::grad(root))(number(2));
  const auto [slope, tangent_of] = rc::linearize([&](Tensor x) { return p({x})[0]; }, number(2));
  expect_close(slope, rc::grad(root)(number(2)), 1e-12);
  expect_close(tangent_of(number(1)), rc::grad(rc::grad(root))(number(2)), 1e-9);
  expect_plain([&](Tensor x) { return rc::linearize(rc::grad(root), x).first; }, number(2), {number(5)}, 1e-12);
}

TEST(RecordedWhile, TheWayBackKeepsItsCheckpoints) {
  for (const auto checkpoint : {rc::Checkpoints::sqrt, rc::Checkpoints::log}) {
    const auto f = [&](Tensor x) {
      return rc::while_loop([&](Tensor y) { return (y * y).sum() < 1e6; },
                            [&](Tensor y) { return 1.1 * y + 0.1 * sin(x); }, x, {.checkpoint = checkpoint})
          .sum();
    };
    expect_plain(rc::grad(f), three, {other}, 1e-10);
    expect_plain(rc::hessian(f), three, {other}, 1e-9);
    expect_plain(rc::vmap(rc::grad(f)), rc::stack({three, other}), {rc::stack({-3 * other, 200 * three, three})},
                 1e-10);
  }
}

// The steps of a segment draw again what they drew.
TEST(RecordedWhile, TheWayBackOfALoopThatDrawsIsOfWhatItDrew) {
  for (const auto checkpoint : {rc::Checkpoints::every_step, rc::Checkpoints::sqrt, rc::Checkpoints::log}) {
    const auto walk = [&](Tensor x) {
      const Tensor last = rc::while_loop([](const Walk& w) { return w.steps < 20; },
                                         [](const Walk& w) {
                                           const Tensor factor = 0.5 + rc::rand({}, rc::float64);
                                           return Walk{w.x * factor, w.product * factor, w.steps + 1};
                                         },
                                         Walk{x, number(1), number(0)}, {.checkpoint = checkpoint})
                              .x;
      return last;
    };
    const rc::Program p = rc::trace(rc::grad(walk))(number(2)), value = rc::trace(walk)(number(2));
    EXPECT_TRUE(is_plain(rc::to_string(p))) << p;
    const auto seeded = [](const rc::Program& program, Tensor x) {
      rc::manual_seed(3);
      return program({x})[0];
    };
    expect_close(seeded(p, number(3)) * 3, seeded(value, number(3)), 1e-12);
    const rc::Program mapped =
        rc::trace(rc::vmap(rc::grad(walk), {.randomness = rc::Randomness::different}))(doubles({1, 2}));
    const Tensor slopes = seeded(mapped, doubles({1, 2, 3}));
    EXPECT_NE(slopes[0].item<double>(), slopes[1].item<double>());
  }
}

TEST(RecordedWhile, EndlessOnesAreAnErrorOnTheWayBackToo) {
  for (const auto checkpoint : {rc::Checkpoints::every_step, rc::Checkpoints::sqrt, rc::Checkpoints::log}) {
    const auto f = [&](Tensor x) {
      return rc::while_loop([](Tensor y) { return y < 1; }, [](Tensor y) { return y * 2; }, x,
                            {.max_steps = 50, .checkpoint = checkpoint});
    };
    const rc::Program p = rc::trace(rc::grad(f))(number(2));
    expect_close(p({number(0.25)})[0], number(4));
    EXPECT_THROW(p({number(0)}), rc::ValueError);
  }
}

TEST(RecordedWhile, TransformsAroundTheProgramOfAWayBackGoThroughIt) {
  const rc::Program p = rc::trace(rc::grad(grown))(three);
  const auto run = [&](Tensor x) { return p({x})[0]; };
  const Tensor rows = rc::stack({three, other, 30 * three});
  expect_close(rc::vmap(run)(rows), rc::vmap(rc::grad(grown))(rows), 1e-10);
  expect_close(rc::jacfwd(run)(other), rc::hessian(grown)(other), 1e-9);
  expect_close(rc::jacrev(run)(other), rc::hessian(grown)(other), 1e-9);
  expect_close(rc::vmap(rc::jacrev(run))(rows), rc::vmap(rc::hessian(grown))(rows), 1e-9);
}

TEST(RecordedWhile, ATextOfAWayBackWhoseCountsDoNotFitIsRefused) {
  const std::string text = rc::to_string(rc::trace(rc::grad(root))(number(2)));
  const auto with = [&](const std::string& old, const std::string& other) {
    std::string changed = text;
    changed.replace(changed.find(old), old.size(), other);
    return changed;
  };
  EXPECT_EQ(rc::to_string(rc::parse_program(text, {})), text);
  for (const auto& [old, wrong] : {std::pair{"reads=(0)", "reads=(1)"},
                                   {"reads=(0)", "reads=(0,0)"},
                                   {"reads=(0)", "reads=(-1)"},
                                   {"carried=2", "carried=3"},
                                   {"streams=0", "streams=9"},
                                   {"carried=1", "carried=-1"}})
    EXPECT_THROW(rc::parse_program(with(old, wrong), {}), rc::Error) << wrong;
}

TEST(RecordedWhile, ALimitNamesTheLoopThatTheUserCalledAlsoWhereATextIsReadBack) {
  const auto sum = [](const Tensor& n) {
    const auto add = [](const Tensor& i, const Tensor& s) { return s + i; };
    return rc::fori_loop(rc::tensor(0), n, add, rc::tensor(1.0), {.max_steps = 4});
  };
  const Tensor n = rc::tensor(5);
  const rc::Program alone = rc::trace(sum)(n), mapped = rc::trace(rc::vmap(sum))(rc::full({3}, std::int64_t{5}));
  for (const rc::Program& p : {alone, mapped}) {
    const std::string text = rc::to_string(p);
    EXPECT_NE(text.find("max_steps=4 of fori_loop"), std::string::npos) << text;
    const rc::Program again = rc::parse_program(text, {});
    EXPECT_EQ(rc::to_string(again), text);
  }
  expect_error<rc::ValueError>([&] { rc::parse_program(rc::to_string(alone), {})({n}); },
                               "fori_loop: still running after 4 steps; the condition may never become false: mend it, "
                               "or raise .max_steps");
}

}  // namespace
