// Loops under vmap whose steps may throw, as one that solves a small system does. They turn in the lanes of a kernel,
// and throw what the function throws.
#include <gtest/gtest.h>
#include <ricci/ricci.h>

#include <cstdint>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>

#include "support/expect_tensor.h"
#include "support/lane_kernels.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

class LoopsThatMayThrow : public testing::Test {
 protected:
  void SetUp() override {
    if (!makes_kernels()) GTEST_SKIP() << "[SKIP] needs RICCI_COMPILE";
    rc::manual_seed(1);
  }
};

template <class F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const rc::Error& error) { return error.what(); }
  return "no error";
}

/// A point where x^3 = b + mixing x, by Newton's method, each example until it is there. 3 x 3 systems.
Tensor root(const Tensor& b, const Tensor& mixing) {
  const auto residual = [&](const Tensor& x) { return x * x * x - matmul(mixing, x) - b; };
  const auto goes_on = [&](const Tensor& x) { return residual(x).abs().max() > 1e-9; };
  const auto step = [&](const Tensor& x) { return x - solve(rc::jacfwd(residual)(x), residual(x)); };
  return rc::while_loop(goes_on, step, rc::ones_like(b) * 2);
}

TEST_F(LoopsThatMayThrow, TurnInLanesAndGiveWhatTheFunctionGives) {
  for (const std::int64_t examples : {1, 3, 8, 17, 100}) {
    const Tensor b = rc::rand({examples, 3}).to(rc::float64) * 20 + 1;
    const Tensor mixing = rc::rand({3, 3}).to(rc::float64) * 0.2;
    const auto f = rc::vmap(root, {.in_dims = {0, rc::none}});
    const auto fast = rc::compile(f);
    expect_close(fast(b, mixing), f(b, mixing), 1e-9);
    if (examples < 17) continue;  // fewer may be of no register
    std::ostringstream plan;
    plan << fast.plan(b, mixing);
    EXPECT_EQ(plan.str().find("while_loop"), std::string::npos) << plan.str();
  }
}

TEST_F(LoopsThatMayThrow, HaveTheirGradientsInLanesToo) {
  const auto steps = [](const Tensor& a) {
    const auto step = [&](const Tensor& x, const Tensor&) { return std::pair(solve(a, x) + x, x.sum()); };
    const auto [last, sums] = rc::scan(step, rc::ones({2}, rc::float64), rc::zeros({5}));
    return last.sum() + sums.square().sum();
  };
  const Tensor a = rc::eye(2, rc::float64) * 3 + rc::rand({50, 2, 2}).to(rc::float64);
  const auto f = rc::vmap(rc::grad(steps));
  expect_close(rc::compile(f)(a), f(a), 1e-9);
}

/// x halves until it is below `end`; each turn solves a system that is singular where x equals `bad`.
Tensor halved_until(const Tensor& x, const Tensor& bad, const Tensor& end) {
  return rc::while_loop([&](const Tensor& y) { return y > end; },
                        [&](const Tensor& y) {
                          const Tensor a = rc::eye(2, rc::float64) * rc::where(y == bad, 0.0, 2.0);
                          return solve(a, rc::stack({y, y}))[0];
                        },
                        x);
}

TEST_F(LoopsThatMayThrow, ThrowWhatTheFunctionThrowsWhereOneExampleDoesAtALaterTurn) {
  Tensor x = rc::full({40}, 8, rc::float64), bad = rc::full({40}, -1, rc::float64);
  const Tensor end = rc::full({40}, 0.3, rc::float64);
  const auto f = rc::vmap(halved_until);
  const auto fast = rc::compile(f);
  const Tensor good = fast(x, bad, end);
  expect_close(good, f(x, bad, end), 0);
  bad[33].fill_(2);  // its third turn
  const std::string eager = error_of([&] { f(x, bad, end); });
  EXPECT_NE(eager.find("33"), std::string::npos) << eager;
  const std::string compiled = error_of([&] { fast(x, bad, end); });
  EXPECT_NE(compiled.find("singular"), std::string::npos) << compiled;
  EXPECT_NE(compiled.find("33"), std::string::npos) << compiled;
  bad[33].fill_(-1);
  expect_close(fast(x, bad, end), good, 0);
}

TEST_F(LoopsThatMayThrow, AskNothingOfExamplesThatAreDone) {
  Tensor x = rc::full({40}, 1024, rc::float64), bad = rc::full({40}, -1, rc::float64);
  const Tensor end = rc::full({40}, 0.3, rc::float64);
  x[5].fill_(0.5), bad[5].fill_(0.25);     // it stays at 0.25, where its system would be singular
  x[38].fill_(0.25), bad[38].fill_(0.25);  // it is done before its first turn
  const auto f = rc::vmap(halved_until);
  expect_close(rc::compile(f)(x, bad, end), f(x, bad, end), 0);
}

TEST_F(LoopsThatMayThrow, ThrowAtTheirLimitOfTurns) {
  const auto f = rc::vmap([](const Tensor& x) {
    const auto step = [](const Tensor& y) { return solve(rc::eye(2, rc::float64), rc::stack({y, y}))[0]; };
    return rc::while_loop([](const Tensor& y) { return y > 0; }, step, x, {.max_steps = 20});
  });
  const Tensor x = rc::ones({30}, rc::float64);
  const std::string says = "while_loop: still running after 20 steps; ";
  EXPECT_EQ(error_of([&] { f(x); }).find(says), 0);
  EXPECT_EQ(error_of([&] { rc::compile(f)(x); }).find(says), 0);
  expect_close(rc::compile(f)(-x), -x, 0);
}

TEST_F(LoopsThatMayThrow, ReadTablesAtPlacesThatEachExampleComputes) {
  const auto walk = [](const Tensor& start, const Tensor& table) {
    const auto goes_on = [](const std::pair<Tensor, Tensor>& s) { return s.second < 6; };
    const auto step = [&](const std::pair<Tensor, Tensor>& s) {
      return std::pair(table.index({s.first}), s.second + 1);
    };
    return rc::while_loop(goes_on, step, std::pair(start, rc::zeros({}, rc::int64))).first;
  };
  const auto f = rc::vmap(walk, {.in_dims = {0, rc::none}});
  const auto fast = rc::compile(f);
  Tensor table = rc::arange(0, 40).flip({0}).clone();
  const Tensor start = rc::arange(0, 40);
  expect_equal(fast(start, table), f(start, table));
  table[7].fill_(40);
  const std::string eager = error_of([&] { f(start, table); });
  EXPECT_NE(eager.find("40"), std::string::npos) << eager;
  EXPECT_NE(error_of([&] { fast(start, table); }).find("40"), std::string::npos);
}

TEST_F(LoopsThatMayThrow, ReadRowsOfTablesWhileExamplesEndInTurn) {
  struct State {
    Tensor at, sum, left;
  };
  for (const std::int64_t columns : {2, 3, 8, 20}) {
    const Tensor table = rc::rand({11, columns}, rc::float64), first = rc::arange(50) % 11, turns = rc::arange(50) % 7;
    const auto walk = [](const Tensor& table, const Tensor& first, const Tensor& turns) {
      const auto goes_on = [](const State& s) { return s.left > 0; };
      const auto step = [&](const State& s) {
        const Tensor row = table.index({s.at});
        return State{(s.at + (row.sum() * 10).to(rc::int64)) % 11, s.sum * 0.5 + row, s.left - 1};
      };
      return rc::while_loop(goes_on, step, State{first, rc::zeros_like(table[0]), turns}).sum;
    };
    const auto f = rc::vmap(walk, {.in_dims = {rc::none, 0, 0}});
    const auto fast = rc::compile(f);
    expect_close(fast(table, first, turns), f(table, first, turns), 1e-15);
    expect_close(fast(table, first, turns + 5), f(table, first, turns + 5), 1e-15);
  }
}

TEST_F(LoopsThatMayThrow, ReadATableAtOnePlaceForAllElementsOfTheirState) {
  const Tensor place = rc::tensor({3}).sum();
  for (const rc::DType dtype : {rc::float32, rc::float64})
    for (const std::int64_t elements : {1, 16, 17, 50, 300}) {
      const Tensor x = rc::rand({elements}).to(dtype), table = rc::rand({8}).to(dtype);
      const auto by_turn = [&](const Tensor& x) {
        return rc::fori_loop(0, 5, [&](const Tensor& q, const Tensor& s) { return s + table.index({q}); }, x);
      };
      const auto by_argument = [&](const Tensor& x, const Tensor& i) {
        return rc::fori_loop(0, 5, [&](const Tensor&, const Tensor& s) { return s * table.index({i}); }, x);
      };
      const auto fast = rc::compile(by_turn);
      const auto with_argument = rc::compile(by_argument);
      expect_close(fast(x), by_turn(x), 1e-6);
      expect_close(with_argument(x, place), by_argument(x, place), 1e-6);
      if (elements < 17) continue;  // no axis is open, so these have one lane
      EXPECT_EQ(fast.plan(x).steps(), 1);
      EXPECT_EQ(with_argument.plan(x, place).steps(), 1);
    }
}

}  // namespace
