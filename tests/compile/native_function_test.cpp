// Loops and branches as machine code: they give what the function gives, throw what it throws, and go on afterwards.
#include "compile/native_function.h"

#include <gtest/gtest.h>
#include <ricci/interruption.h>
#include <ricci/ricci.h>

#include <chrono>
#include <functional>
#include <regex>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "support/expect_tensor.h"
#include "support/lane_kernels.h"
#include "support/thrown_by.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

using Pair = std::pair<Tensor, Tensor>;

class NativeFunction : public testing::Test {
 protected:
  void SetUp() override {
    if (!makes_kernels()) GTEST_SKIP() << "[SKIP] needs RICCI_COMPILE";
    rc::manual_seed(1);
  }
  /// Three calls: the first records, the second may make code for these sizes, the third runs it.
  template <class F, class... A>
  void expect_what_it_gives(const F& f, const A&... a) {
    const auto fast = rc::compile(f);
    for (int i = 0; i < 3; ++i) expect_close(fast(a...), f(a...));
  }
};

/// An epidemic: how many are ill, day by day.
Tensor epidemic(const Tensor& rates) {
  const auto day = [&](Pair s, const Tensor&) {
    const Tensor infected = rates[0] * s.first * s.second;
    Pair next(s.first - 0.1 * infected, s.second + 0.1 * (infected - rates[1] * s.second));
    return std::pair(next, next.second);
  };
  return rc::scan(day, Pair(rc::tensor(0.99), rc::tensor(0.01)), rc::zeros({60})).second;
}
Tensor kepler(const Tensor& m, const Tensor& e) {
  const auto goes_on = [](const Pair& s) { return abs(s.second) > 1e-6; };
  const auto step = [&](const Pair& s) {
    const Tensor d = (s.first - e * sin(s.first) - m) / (1 - e * cos(s.first));
    return Pair(s.first - d, d);
  };
  return rc::while_loop(goes_on, step, Pair(m, rc::ones_like(m)), {.max_steps = 50}).first;
}
Tensor collatz(const Tensor& n) {
  const auto step = [](const Pair& s) {
    const Tensor is_odd = rc::remainder(s.first, 2) == 1;
    const Tensor next = rc::cond(
        is_odd, [](const Tensor& x) { return 3 * x + 1; }, [](const Tensor& x) { return rc::floor_divide(x, 2); },
        s.first);
    return Pair(next, s.second + 1);
  };
  return rc::while_loop([](const Pair& s) { return s.first > 1; }, step, Pair(n, rc::zeros_like(n))).second;
}

TEST_F(NativeFunction, LoopsGiveWhatTheFunctionGivesUnderEveryTransform) {
  const Tensor rates = rc::tensor({2.0, 0.5});
  const auto total = [](const Tensor& r) { return epidemic(r).square().mean(); };
  expect_what_it_gives(epidemic, rates);
  expect_what_it_gives(rc::grad(total), rates);
  expect_what_it_gives(rc::hessian(total), rates);
  expect_what_it_gives(rc::jacfwd(epidemic), rates);
  for (const std::int64_t examples : {1, 3, 20, 300}) {
    expect_what_it_gives(rc::vmap(epidemic), rc::rand({examples, 2}));
    expect_what_it_gives(rc::vmap(rc::grad(total)), rc::rand({examples, 2}));
    expect_what_it_gives(rc::vmap(kepler), rc::rand({examples}) * 6, rc::rand({examples}) * 0.9);
    expect_what_it_gives(rc::vmap(rc::grad(kepler)), rc::rand({examples}) * 6, rc::rand({examples}) * 0.9);
    expect_what_it_gives(rc::vmap(collatz), rc::arange(1, examples + 1));
  }
  expect_what_it_gives(collatz, rc::tensor(27));
  expect_what_it_gives(kepler, rc::tensor(1.0), rc::tensor(0.5));
}

TEST_F(NativeFunction, ScansReadAndWriteRowsForwardAndBackward) {
  const auto sums = [](const Tensor& x) {
    return rc::scan([](const Tensor& s, const Tensor& row) { return Pair(s + row, s * row); }, rc::zeros_like(x.sum(0)),
                    x);
  };
  for (const rc::Shape& shape :
       {rc::Shape{7}, rc::Shape{5, 3}, rc::Shape{4, 40}, rc::Shape{1, 2, 300}, rc::Shape{0, 3}}) {
    const Tensor x = rc::randn(shape);
    expect_what_it_gives([&](const Tensor& t) { return sums(t).first; }, x);
    expect_what_it_gives([&](const Tensor& t) { return sums(t).second; }, x);
    expect_what_it_gives(rc::grad([&](const Tensor& t) { return sums(t).second.square().sum(); }), x);
  }
}

TEST_F(NativeFunction, LoopsMayStandInLoopsAndBranches) {
  const auto f = [](const Tensor& x) {
    const auto outer = [&](std::int64_t, const Tensor& s) {
      const Tensor inner =
          rc::fori_loop(0, 3, [&](const Tensor& i, const Tensor& t) { return t * 0.5 + sin(t + i); }, s);
      return rc::cond(
          inner.sum() > 0, [](const Tensor& t) { return t * 0.9; },
          [](const Tensor& t) { return rc::fori_loop(0, 2, [](const Tensor&, const Tensor& u) { return u + 1; }, t); },
          inner);
    };
    return rc::fori_loop(0, 10, [&](const Tensor&, const Tensor& s) { return outer(0, s); }, x);
  };
  for (const std::int64_t n : {1, 4, 33}) {
    expect_what_it_gives(f, rc::randn({n}));
    expect_what_it_gives(rc::grad([&](const Tensor& x) { return f(x).sum(); }), rc::randn({n}));
  }
}

TEST_F(NativeFunction, GradientsOfLoopsOfUnknownLengthKeepEveryTurn) {
  const auto grows = [](const Tensor& rate) {
    const auto step = [&](const Pair& s) { return Pair(s.first * rate + 0.1 * sin(s.second), s.second + rate); };
    return rc::while_loop([](const Pair& s) { return s.first < 50; }, step, Pair(rate, rate)).first;
  };
  const Tensor rate = rc::tensor(std::vector<double>{1.02})[0];
  expect_what_it_gives(rc::grad(grows), rate);
  expect_what_it_gives(rc::grad(rc::grad(grows)), rate);
  for (const std::int64_t examples : {2, 20, 70})
    expect_what_it_gives(rc::vmap(rc::grad(grows)), rc::rand({examples}, rc::float64) * 0.2 + 1.02);
  const auto limited = [](const Tensor& x) {
    return rc::while_loop([](const Tensor& s) { return s < 9; }, [&](const Tensor& s) { return s * x; }, x,
                          {.max_steps = 4});
  };
  const auto fast = rc::compile(rc::grad(limited));
  for (int i = 0; i < 3; ++i) {
    expect_close(fast(rc::tensor(3.0)), rc::grad(limited)(rc::tensor(3.0)));
    EXPECT_EQ(thrown_by([&] { fast(rc::tensor(1.0)); }), thrown_by([&] { rc::grad(limited)(rc::tensor(1.0)); }));
  }
}

TEST_F(NativeFunction, LoopsThatDrawGiveWhatTheirProgramGives) {
  const auto walk = [](const Tensor& x) {
    return rc::fori_loop(0, 20, [](const Tensor&, const Tensor& s) { return s * 0.9 + rc::randn({3}); }, x);
  };
  const auto fast = rc::compile(walk);
  const auto recorded = rc::trace(walk)(rc::zeros({3}));
  for (int i = 0; i < 3; ++i) {
    rc::manual_seed(5);
    const Tensor expected = recorded({rc::ones({3})})[0];
    const Tensor next = rc::randn({2});
    rc::manual_seed(5);
    expect_close(fast(rc::ones({3})), expected);
    expect_equal(rc::randn({2}), next);
  }
}

TEST_F(NativeFunction, StepsOfTheLibraryRunInLoops) {
  const auto f = [](const Tensor& x) {
    return rc::fori_loop(
        0, 5,
        [](const Tensor& i, const Tensor& s) {
          const Tensor sorted = rc::sort(s, 0).first;
          return rc::matmul(sorted, s.mT()) * 0.1 + rc::svdvals(s)[0] + i;
        },
        x);
  };
  expect_what_it_gives(f, rc::randn({5, 5}));
  expect_what_it_gives(f, rc::randn({40, 40}) * 0.1);
}

TEST_F(NativeFunction, LargeArgumentsOfSineAreThoseOfTheFunction) {
  const auto f = [](const Tensor& x) {
    return rc::fori_loop(0, 4, [](const Tensor&, const Tensor& s) { return sin(s * 1e7) + cos(s); }, x);
  };
  for (const std::int64_t n : {1, 5, 100}) expect_what_it_gives(f, rc::randn({n}, rc::float64));
}

TEST_F(NativeFunction, ThrowsWhatTheFunctionThrowsAndGoesOn) {
  const auto divided = [](const Tensor& x, const Tensor& by) {
    return rc::fori_loop(0, 4, [&](const Tensor&, const Tensor& s) { return rc::floor_divide(s, by); }, x);
  };
  const auto fast = rc::compile(divided);
  const Tensor x = rc::tensor(std::vector<std::int64_t>{100, 200}), by = rc::tensor(std::vector<std::int64_t>{3, 5}),
               zero = rc::tensor(std::vector<std::int64_t>{3, 0});
  for (int i = 0; i < 3; ++i) {
    expect_equal(fast(x, by), divided(x, by));
    EXPECT_EQ(thrown_by([&] { fast(x, zero); }), thrown_by([&] { divided(x, zero); }));
  }
  const auto endless = rc::compile([](const Tensor& t) {
    return rc::while_loop([](const Tensor& s) { return s < 1e9; }, [](const Tensor& s) { return s + 1; }, t,
                          {.max_steps = 10});
  });
  const std::string said = thrown_by([&] { endless(rc::tensor(0.0)); });
  EXPECT_TRUE(said.starts_with("while_loop: still running after 10 steps")) << said;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(thrown_by([&] { endless(rc::tensor(0.0)); }), said);
    expect_equal(endless(rc::tensor(1e9)), rc::tensor(1e9));
  }
}

TEST_F(NativeFunction, ThrowsAtTheLimitOfTurnsAtOnce) {
  const auto grows = [](const Tensor& t) {
    return rc::while_loop([](const Tensor& s) { return s < 9; }, [](const Tensor& s) { return s + 1e-8; }, t,
                          {.max_steps = 3'000'000});
  };
  for (const std::int64_t examples : {0, 3, 200}) {
    const Tensor x = examples == 0 ? rc::tensor(0.0) : rc::zeros({examples});
    const auto fast = examples == 0 ? rc::compile(std::function<Tensor(const Tensor&)>(grows))
                                    : rc::compile(std::function<Tensor(const Tensor&)>(rc::vmap(grows)));
    EXPECT_TRUE(thrown_by([&] { fast(x); }).starts_with("while_loop: still running after 3000000 steps"));
    expect_equal(fast(x + 9), x + 9);
  }
}

TEST_F(NativeFunction, NamesTheLoopThatTheUserCalledWhereItReachesItsLimit) {
  const auto sums = [](const Tensor& n) {
    const auto add = [](const Tensor& i, const Tensor& s) { return s + i; };
    return rc::fori_loop(rc::tensor(0), n, add, rc::tensor(1.0), {.max_steps = 4});
  };
  const auto scaled = [&](const Tensor& x, const Tensor& n) {
    const auto scale = [&](const Tensor&, const Tensor& s) { return s * x; };
    return rc::fori_loop(rc::tensor(0), n, scale, x, {.max_steps = 4});
  };
  const std::string said =
      "fori_loop: still running after 4 steps; the condition may never become false: mend it, or "
      "raise .max_steps";
  const Tensor n = rc::tensor(5), x = rc::tensor(2.0);
  EXPECT_EQ(thrown_by([&] { sums(n); }), said);
  EXPECT_EQ(thrown_by([&] { rc::trace(sums)(n)({n}); }), said);
  const auto fast = rc::compile(sums);
  const auto slope = rc::compile(rc::grad(scaled));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(thrown_by([&] { fast(n); }), said);
    EXPECT_EQ(thrown_by([&] { slope(x, n); }), said);
  }
  for (const std::int64_t examples : {2, 20, 200}) {
    const auto many = rc::compile(rc::vmap(sums));
    const auto slopes = rc::compile(rc::vmap(rc::grad(scaled)));
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(thrown_by([&] { many(rc::full({examples}, std::int64_t{5})); }), said) << examples;
      const Tensor xs = rc::ones({examples});
      EXPECT_EQ(thrown_by([&] { slopes(xs, rc::full({examples}, std::int64_t{5})); }), said) << examples;
    }
  }
}

/// What is thrown, and inside which transforms: those, but not their line and how many examples they have.
template <class F>
std::string nest_thrown_by(const F& f) {
  try {
    f();
  } catch (const rc::Error& error) {
    const std::string text = error.what();
    return std::regex_replace(text.substr(0, text.find("\n  at ")), std::regex(R"( of \d+(?= \()| \(\w+\.cpp:\d+\))"),
                              "");
  }
  return {};
}

TEST_F(NativeFunction, NamesTheTransformsInsideWhichWhatThrowsWasRecorded) {
  const auto limited = [](const Tensor& x, const Tensor&) {
    return rc::while_loop([](const Tensor& s) { return s < 5; }, [&](const Tensor& s) { return s + x * x; }, x,
                          {.max_steps = 4});
  };
  const auto divided = [](const Tensor&, const Tensor& n) { return rc::floor_divide(7, n); };
  const auto in_a_loop = [&](const Tensor& x, const Tensor& n) {
    return rc::fori_loop(0, 3, [&](const Tensor&, const Tensor& s) { return s * 0 + divided(x, n); }, n);
  };
  const auto deep = [&](const Tensor& x, const Tensor& n) {
    const auto step = [&](const Tensor&, const Tensor& s) {
      return s + rc::vmap(limited)(x.expand({3}), n.expand({3})).sum();
    };
    return rc::fori_loop(0, 2, step, x);
  };
  const auto expect_the_nest_of = [](const auto& f, const auto& x, const auto& n) {
    const std::string said = nest_thrown_by([&] { f(x, n); });
    EXPECT_NE(said.find("\n  inside "), std::string::npos) << said;
    EXPECT_EQ(nest_thrown_by([&] { rc::trace(f)(x, n)({x, n}); }), said);
    const auto fast = rc::compile(f);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(nest_thrown_by([&] { fast(x, n); }), said);
  };
  for (const std::int64_t examples : {2, 40}) {
    const Tensor x = rc::zeros({examples}), n = rc::arange(0, examples);
    expect_the_nest_of(rc::vmap(limited), x, n);
    expect_the_nest_of(rc::vmap(rc::grad(limited)), x, n);
    expect_the_nest_of(rc::vmap(divided), x, n);
    expect_the_nest_of(rc::vmap(in_a_loop), x, n);
    expect_the_nest_of(rc::vmap(deep), x, n);
    const rc::Program alone = rc::trace(rc::vmap(limited))(x, n);
    const auto again = [&](const Tensor& row, const Tensor& numbers) { return alone({row, numbers})[0]; };
    const auto twice = rc::vmap(rc::vmap(limited));
    const Tensor rows = rc::zeros({3, examples}), numbers = rc::zeros({3, examples}, rc::int64);
    EXPECT_EQ(nest_thrown_by([&] { rc::vmap(again)(rows, numbers); }), nest_thrown_by([&] { twice(rows, numbers); }));
  }
}

TEST_F(NativeFunction, TakesNoPlaceOfAGeneratorWhereTheProgramThrowsBefore) {
  const auto f = [](const Tensor& x, const Tensor& by) {
    const Tensor y = rc::fori_loop(0, 3, [&](const Tensor&, const Tensor& s) { return rc::floor_divide(s, by); }, x);
    return y + rc::randn({2});
  };
  const auto fast = rc::compile(f);
  const Tensor x = rc::full({2}, std::int64_t{50}), two = rc::full({2}, std::int64_t{2}),
               zero = rc::zeros({2}, rc::int64);
  for (int i = 0; i < 3; ++i) {
    rc::manual_seed(7);
    EXPECT_THROW(f(x, zero), rc::Error);
    const Tensor expected = f(x, two);
    rc::manual_seed(7);
    EXPECT_THROW(fast(x, zero), rc::Error);
    expect_close(fast(x, two), expected);
  }
}

TEST_F(NativeFunction, StatesMaySwapBeReturnedTwiceAndSeenThroughViews) {
  for (const std::int64_t n : {3, 300}) {
    const Tensor a = rc::randn({n}), b = rc::randn({n});
    const auto swaps = [](const Tensor& x, const Tensor& y) {
      return rc::fori_loop(0, 5, [](const Tensor&, const Pair& s) { return Pair(s.second, s.first + 1); }, Pair(x, y));
    };
    expect_what_it_gives([&](const Tensor& x, const Tensor& y) { return swaps(x, y).first; }, a, b);
    expect_what_it_gives([&](const Tensor& x, const Tensor& y) { return swaps(x, y).second; }, a, b);
    expect_what_it_gives([&](const Tensor& x, const Tensor& y) { return rc::flip(swaps(x, y).first, {0}); }, a, b);
    const auto twice = rc::compile([&](const Tensor& x, const Tensor& y) {
      const Tensor last = swaps(x, y).first;
      return std::tuple(last, last, last.reshape({n, 1}));
    });
    for (int i = 0; i < 3; ++i) {
      const auto [one, other, column] = twice(a, b);
      expect_equal(one, swaps(a, b).first);
      expect_equal(other, one);
      expect_equal(column, one.reshape({n, 1}));
    }
    const auto none = [](const Tensor& x) {
      return rc::while_loop([](const Tensor& s) { return s.sum() < -1e9; }, [](const Tensor& s) { return s * 2; }, x);
    };
    expect_what_it_gives(rc::grad([&](const Tensor& x) { return none(x).square().sum(); }), a);
    expect_what_it_gives(
        [&](const Tensor& x) {
          return rc::fori_loop(0, 3, [](const Tensor&, const Tensor& s) { return s * 1.5; }, x.to(rc::float16));
        },
        a);
    expect_what_it_gives(
        [&](const Tensor& x) {
          return rc::fori_loop(0, 3, [](const Tensor&, const Tensor& s) { return rc::logical_not(s); }, x > 0);
        },
        a);
  }
  const auto inner = [](const Tensor& x) {
    return rc::while_loop([](const Tensor& s) { return s < 4; }, [](const Tensor& s) { return s * 1.3; }, x);
  };
  const auto in_a_scan = [&](const Tensor& x) {
    return rc::scan([&](const Tensor& s, const Tensor& y) { return Pair(0.2 * inner(s + y), s); }, x.sum() * 0.01 + 0.5,
                    x)
        .first;
  };
  expect_what_it_gives(rc::grad(in_a_scan), rc::rand({6}));
}

TEST_F(NativeFunction, CopiesThatViewsHaveToMakeLiveAsLongAsTheViews) {
  const auto both = [](const Tensor& a, const Tensor& b) {
    const Tensor x = a.reshape({3, 1}).expand({3, 4}).reshape({12}), y = b.expand({3, 4}).reshape({12});
    return rc::stack({x, y}, 1);
  };
  expect_what_it_gives(both, rc::rand({3}), rc::rand({4}));
  const auto turned = [](const Tensor& a, const Tensor& b) {
    return rc::matmul(a.permute({1, 0, 2}).reshape({3, 8}), b.permute({1, 0, 2}).reshape({8, 3}));
  };
  expect_what_it_gives(turned, rc::rand({2, 3, 4}), rc::rand({4, 2, 3}));
}

TEST_F(NativeFunction, StatesThatNoTurnReadsKeepWhatTheLastTurnMade) {
  const auto overwrites = [](const Tensor& a, const Tensor& b) {
    return rc::fori_loop(0, 3, [](const Tensor&, const Pair& s) { return Pair(s.second, s.second + 1); }, Pair(a, b));
  };
  const auto keeps = [](const Tensor& a, const Tensor& b) {
    return rc::fori_loop(0, 3, [](const Tensor&, const Pair& s) { return Pair(s.first, s.first); }, Pair(a, b));
  };
  for (const std::int64_t n : {1, 16, 17, 64, 100}) {
    const Tensor a = rc::rand({n}), b = rc::rand({n});
    expect_what_it_gives([&](const Tensor& x, const Tensor& y) { return rc::vmap(overwrites)(x, y).first; }, a, b);
    expect_what_it_gives([&](const Tensor& x, const Tensor& y) { return rc::vmap(overwrites)(x, y).second; }, a, b);
    expect_what_it_gives([&](const Tensor& x, const Tensor& y) { return keeps(x, y).second; }, a, b);
  }
}

TEST_F(NativeFunction, GradientsOfAssociativeScansAreThoseOfTheFunction) {
  const auto total = [](const Tensor& x) { return rc::associative_scan(rc::mul, x).sum(); };
  for (const std::int64_t n : {17, 129, 140, 200, 1000})
    expect_what_it_gives(rc::grad(total), 1 + 0.001 * rc::rand({n}));
}

TEST_F(NativeFunction, MakesNoCodeAtEachCallWhereSizesComeInTurn) {
  const auto f = [](const Tensor& x) {
    return rc::fori_loop(0, 5, [](const Tensor&, const Tensor& s) { return sin(s) * 2 + s.sum() * 0.01; }, x);
  };
  const auto fast = rc::compile(f);
  std::vector<Tensor> inputs;
  for (std::int64_t n = 17; n < 29; ++n) inputs.push_back(rc::ones({n}));
  for (const Tensor& x : inputs) expect_close(fast(x), f(x));
  const std::int64_t before = rc::compiled::made_native_functions();
  for (int i = 0; i < 10; ++i)
    for (const Tensor& x : inputs) expect_close(fast(x), f(x));
  EXPECT_LE(rc::compiled::made_native_functions() - before, 12);
}

TEST_F(NativeFunction, LeavesOutWhatABranchThatIsNotTakenWouldThrow) {
  const auto f = rc::compile([](const Tensor& x, const Tensor& by) {
    return rc::cond(
        x.sum() > 0, [](const Tensor& t, const Tensor&) { return t * 2; },
        [](const Tensor& t, const Tensor& b) { return t + rc::floor_divide(rc::tensor(6), b); }, x, by);
  });
  const Tensor x = rc::ones({3}), zero = rc::tensor(0), two = rc::tensor(2);
  for (int i = 0; i < 3; ++i) {
    expect_equal(f(x, zero), x * 2);
    expect_equal(f(-x, two), -x + 3);
    EXPECT_THROW(f(-x, zero), rc::Error);
  }
}

struct Ended : std::runtime_error {
  Ended() : std::runtime_error("ended") {}
};
void end() { throw Ended(); }

/// Ends the call from another thread, after a while.
template <class F>
void expect_ended(const F& call) {
  std::thread stops([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    rc::set_interruption(&end);
  });
  EXPECT_THROW(call(), Ended);
  stops.join();
  rc::set_interruption(nullptr);
}

TEST_F(NativeFunction, IsEndedFromOutside) {
  const auto turns = [](std::int64_t count) {
    return [count](const Tensor& x) {
      return rc::fori_loop(0, count, [](const Tensor&, const Tensor& s) { return sin(s) + 1; }, x);
    };
  };
  const auto f = rc::compile(turns(1'000'000'000)), g = rc::compile(turns(100));
  const Tensor x = rc::ones({3}), expected = g(x);
  expect_ended([&] { f(x); });
  expect_equal(g(x), expected);
  for (const std::int64_t examples : {4, 20, 4096}) {
    const auto mapped = rc::compile(rc::vmap(turns(1'000'000'000)));
    expect_ended([&] { mapped(rc::ones({examples})); });
  }
  const auto endless = rc::compile(rc::vmap([](const Tensor& y) {
    return rc::while_loop([](const Tensor& s) { return s < 5; }, [](const Tensor& s) { return sin(s); }, y);
  }));
  expect_ended([&] { endless(rc::ones({100})); });
}

TEST_F(NativeFunction, ServesCallsOfManySizesFromSeveralThreads) {
  const auto f = [](const Tensor& x) {
    return rc::fori_loop(0, 5, [](const Tensor&, const Tensor& s) { return sin(s) * 2 + s.sum() * 0.01; }, x);
  };
  const auto fast = rc::compile(f);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (std::int64_t n = 17; n < 40; ++n) expect_close(fast(rc::ones({n})), f(rc::ones({n})));
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(fast.plans(), 4U);
}

TEST_F(NativeFunction, DrawsOnceACallAlsoWhereTheCallThrows) {
  const auto f = [](const Tensor& x, const Tensor& by) {
    const Tensor noise = rc::randn({2});
    const Tensor y = rc::fori_loop(0, 3, [&](const Tensor&, const Tensor& s) { return s * noise + 1; }, x);
    return y + rc::floor_divide(rc::tensor(std::vector<std::int64_t>{6, 6}), by);
  };
  const auto fast = rc::compile(f);
  const Tensor x = rc::ones({2}), two = rc::full({2}, std::int64_t{2}), zero = rc::zeros({2}, rc::int64);
  for (int i = 0; i < 3; ++i) {
    rc::manual_seed(7);
    const Tensor expected = f(x, two);
    EXPECT_THROW(f(x, zero), rc::Error);
    const Tensor next = f(x, two);
    rc::manual_seed(7);
    expect_close(fast(x, two), expected);
    EXPECT_THROW(fast(x, zero), rc::Error);
    expect_close(fast(x, two), next);
  }
}

}  // namespace
