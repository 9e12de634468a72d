// Loops under vmap whose examples take different numbers of turns: lanes that are done are given other examples. They
// give the bits that the function gives, whatever the numbers.
#include <gtest/gtest.h>
#include <ricci/interruption.h>
#include <ricci/ricci.h>
#include <ricci/threads.h>

#include <atomic>
#include <cstdint>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "support/expect_tensor.h"
#include "support/lane_kernels.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

using Pair = std::pair<Tensor, Tensor>;

class RefilledLanes : public testing::Test {
 protected:
  void SetUp() override {
    if (!makes_kernels()) GTEST_SKIP() << "[SKIP] needs RICCI_COMPILE";
    rc::manual_seed(1);
  }
  template <class F, class... A>
  void expect_bits(const F& f, const A&... a) {
    const auto fast = rc::compile(rc::vmap(f));
    for (int i = 0; i < 2; ++i) expect_equal(fast(a...), rc::vmap(f)(a...));
  }
};

/// How many turns each example takes: some none, most few, some many more.
Tensor counts(std::int64_t examples, int seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < examples; ++i) {
    const unsigned kind = random() % 10;
    all.push_back(static_cast<std::int64_t>(kind == 0 ? 0 : kind == 1 ? random() % 2000 : random() % 40));
  }
  return rc::tensor(all);
}

/// A number that each turn changes.
Tensor halved(const Tensor& x, const Tensor& turns) {
  const auto step = [](const Pair& s) { return Pair(s.first * 0.5 + 1, s.second + 1); };
  return rc::while_loop([&](const Pair& s) { return s.second < turns; }, step, Pair(x, rc::zeros_like(turns))).first;
}

TEST_F(RefilledLanes, GiveTheBitsOfTheFunctionForAnyNumberOfExamples) {
  for (const std::int64_t examples : {1, 2, 15, 16, 17, 63, 64, 65, 127, 1000})
    for (int seed = 0; seed < 3; ++seed) expect_bits(halved, rc::randn({examples}), counts(examples, seed));
}

TEST_F(RefilledLanes, GiveTheBitsOfTheFunctionInAllTypes) {
  for (const rc::DType dtype : {rc::float64, rc::float16, rc::bfloat16})
    for (const std::int64_t examples : {1, 17, 300})
      expect_bits(halved, rc::randn({examples}).to(dtype), counts(examples, 3));
  const auto whole = [](const Tensor& x, const Tensor& turns) {
    const auto step = [](const Pair& s) { return Pair(s.first * 3 + s.second, s.second + 1); };
    return rc::while_loop([&](const Pair& s) { return s.second < turns; }, step, Pair(x, rc::zeros_like(turns))).first;
  };
  for (const rc::DType dtype : {rc::int64, rc::int32, rc::int16, rc::int8, rc::uint8}) {
    const Tensor turns = counts(300, 4);
    expect_bits(whole, rc::arange(0, 300).to(dtype), turns.clamp(0, 100).to(dtype));
  }
  const auto flips = [](const Tensor& x, const Tensor& turns) {
    const auto step = [](const Pair& s) { return Pair(rc::logical_not(s.first), s.second + 1); };
    return rc::while_loop([&](const Pair& s) { return s.second < turns; }, step, Pair(x, rc::zeros_like(turns))).first;
  };
  expect_bits(flips, rc::randn({300}) > 0, counts(300, 5));
}

TEST_F(RefilledLanes, ExamplesMayHaveRowsAndValuesThatNoTurnChanges) {
  using State = std::tuple<Tensor, Tensor, Tensor>;
  const Tensor shared = rc::randn({3});
  const auto f = [&](const Tensor& x, const Tensor& factors, const Tensor& turns) {
    const Tensor before = rc::exp(factors) * 0.3 + shared;  // [3]
    const auto step = [&](const State& s) {
      const auto& [y, sum, n] = s;
      return State(y * before + shared, sum + y.square().sum(), n + 1);
    };
    const auto goes_on = [&](const State& s) { return rc::logical_and(std::get<2>(s) < turns, std::get<1>(s) < 1e4); };
    const auto [y, sum, n] = rc::while_loop(goes_on, step, State(x, rc::tensor(0.0F), rc::zeros_like(turns)));
    return rc::cat({y, sum.reshape({1}), n.to(rc::float32).reshape({1})});
  };
  for (const std::int64_t examples : {1, 5, 16, 100, 1000})
    expect_bits(f, rc::randn({examples, 3}), rc::randn({examples, 3}), counts(examples, 6));
}

TEST_F(RefilledLanes, OneExampleMayTakeMuchLongerThanAllOthers) {
  for (const std::int64_t longest : {0, 63, 64, 500, 999}) {
    Tensor turns = rc::full({1000}, std::int64_t{7});
    turns[longest].copy_(rc::tensor(std::int64_t{20'000}));
    expect_bits(halved, rc::randn({1000}), turns);
  }
  expect_bits(halved, rc::randn({1000}), rc::arange(0, 1000));
  expect_bits(halved, rc::randn({1000}), rc::flip(rc::arange(0, 1000), {0}));
  expect_bits(halved, rc::randn({1000}), rc::zeros({1000}, rc::int64));
}

std::atomic<int> times_asked = 0;

/// How often code asks whether it is to end: once in 16,384 turns of its lanes.
template <class F>
int asked_while(const F& f) {
  times_asked = 0;
  rc::set_interruption([] { ++times_asked; });
  f();
  rc::set_interruption(nullptr);
  return times_asked;
}

// One example of each 64, the most that run side by side, takes long. Where lanes are refilled, these run beside each
// other. A loop with a sine is not refilled, and takes as many turns as all of them one after the other.
TEST_F(RefilledLanes, TakeTurnsForTheLongestExamplesTogether) {
  constexpr std::int64_t slow = 32, beside = 64;
  Tensor turns = rc::ones({slow * beside}, rc::int64);
  for (std::int64_t i = 0; i < slow; ++i) turns[i * beside + 5].copy_(rc::tensor(std::int64_t{20'000}));
  const auto of_sines = [](const Tensor& x, const Tensor& turns) {
    const auto step = [](const Pair& s) { return Pair(sin(s.first), s.second + 1); };
    return rc::while_loop([&](const Pair& s) { return s.second < turns; }, step, Pair(x, rc::zeros_like(turns))).first;
  };
  const auto asked = [&](const auto& f) {
    const Tensor x = rc::randn({slow * beside});
    const auto fast = rc::compile(rc::vmap(f));
    fast(x, turns);
    return asked_while([&] { fast(x, turns); });
  };
  const int threads = rc::num_threads();
  rc::set_num_threads(1);
  EXPECT_LE(asked(halved), slow / 4);
  EXPECT_GE(asked(of_sines), slow);
  rc::set_num_threads(threads);
}

TEST_F(RefilledLanes, CountTheTurnsOfEachExampleForItself) {
  constexpr std::int64_t most = 500;
  const auto limited = [](const Tensor& x, const Tensor& turns) {
    const auto step = [](const Pair& s) { return Pair(s.first * 0.5 + 1, s.second + 1); };
    return rc::while_loop([&](const Pair& s) { return s.second < turns; }, step, Pair(x, rc::zeros_like(turns)),
                          {.max_steps = most})
        .first;
  };
  const auto fast = rc::compile(rc::vmap(limited));
  for (const std::int64_t examples : {1, 20, 1000}) {
    const Tensor x = rc::randn({examples});
    for (const std::int64_t one : {std::int64_t{0}, examples / 2, examples - 1}) {
      Tensor turns = counts(examples, 7).clamp(0, most);
      turns[one].copy_(rc::tensor(most));
      expect_equal(fast(x, turns), rc::vmap(limited)(x, turns));
      turns[one].copy_(rc::tensor(most + 1));
      EXPECT_THROW(fast(x, turns), rc::Error) << examples << " examples, " << one;
    }
  }
}

TEST_F(RefilledLanes, LoopsMayStandInLoops) {
  const auto outer = [](const Tensor& x, const Tensor& turns) {
    const auto step = [&](const Tensor& i, const Tensor& s) { return halved(s * 1.5, rc::remainder(turns + i, 90)); };
    return rc::fori_loop(0, 5, step, x);
  };
  const auto in_while = [](const Tensor& x, const Tensor& turns) {
    const auto step = [&](const Pair& s) { return Pair(halved(s.first, rc::remainder(turns, 7)), s.second + 1); };
    const Tensor rounds = rc::remainder(turns, 5);
    return rc::while_loop([&](const Pair& s) { return s.second < rounds; }, step, Pair(x, rc::zeros_like(turns))).first;
  };
  for (const std::int64_t examples : {1, 17, 300}) {
    expect_bits(outer, rc::randn({examples}), counts(examples, 8));
    expect_bits(in_while, rc::randn({examples}), counts(examples, 9));
    expect_bits([](const Tensor& x, const Tensor& turns) { return rc::vmap(halved)(x, turns); },
                rc::randn({5, examples}), counts(5 * examples, 10).reshape({5, examples}));
  }
}

TEST_F(RefilledLanes, GiveTheSameOnSeveralThreads) {
  const Tensor x = rc::randn({40'000}), turns = counts(40'000, 11);
  const auto fast = rc::compile(rc::vmap(halved));
  const int before = rc::num_threads();
  rc::set_num_threads(1);
  const Tensor alone = fast(x, turns);
  rc::set_num_threads(4);
  const Tensor together = fast(x, turns);
  rc::set_num_threads(before);
  expect_equal(together, alone);
  expect_equal(alone, rc::vmap(halved)(x, turns));
}

}  // namespace
