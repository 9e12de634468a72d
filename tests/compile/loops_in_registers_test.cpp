// Loops of few numbers, whose kernels stand where they run and whose state may stand in registers: which ones, and that
// they give the bits of loops that call their kernels.
#include <gtest/gtest.h>
#include <ricci/ricci.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compile/function_steps.h"
#include "support/expect_tensor.h"
#include "support/kernels_in_call.h"
#include "support/lane_kernels.h"
#include "support/thrown_by.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

using F = std::function<Tensor(const Tensor&)>;
using Pair = std::pair<Tensor, Tensor>;

class LoopsInRegisters : public testing::Test {
 protected:
  void SetUp() override {
    if (!makes_kernels()) GTEST_SKIP() << "[SKIP] needs RICCI_COMPILE";
    rc::manual_seed(1);
  }
};

/// Of the loops that stand in no other one: whether each is in registers.
std::vector<bool> outer_loops(const F& f, const Tensor& x) {
  const rc::compiled::PlannedFunction planned =
      rc::compiled::planned_in_library(rc::resolved(kernels_in_call(f, x)));
  std::vector<bool> all;
  for (const rc::compiled::Step& step : planned.plan.steps)
    if (const auto* const loop = std::get_if<rc::compiled::LoopStep>(&step.what)) all.push_back(loop->is_in_registers);
  return all;
}

Tensor scalar(double x) { return rc::tensor(std::vector<double>{x})[0]; }

/// 30 steps of a pendulum, whose angle the gradient keeps.
Tensor swing(const Tensor& x) {
  const auto step = [&](const Pair& s, const Tensor&) {
    const Pair next(s.first + 0.1 * s.second, s.second - 0.1 * x.square() * sin(s.first));
    return std::pair(next, next.first);
  };
  return rc::scan(step, Pair(x, 0 * x), rc::zeros({30})).second.square().sum();
}
/// The square root by Newton's steps: how many, values tell.
Tensor root(const Tensor& x) {
  return rc::while_loop([&](const Tensor& y) { return abs(y * y - x).max() > 1e-9; },
                        [&](const Tensor& y) { return 0.5 * (y + x / y); }, 1 + x);
}
/// Loops in a branch in a loop, with a whole number and a truth value in the state.
Tensor nested(const Tensor& x) {
  struct State {
    Tensor x, turns, was_small;
  };
  const auto step = [](const State& s) {
    const Tensor inner = root(1 + s.x.square());
    return rc::cond(
        inner > 1.5, [&] { return State{0.5 * s.x, s.turns + 1, s.was_small}; },
        [&] {
          const Tensor grown =
              rc::fori_loop(0, 3, [](const Tensor& i, const Tensor& t) { return 1.1 * t + 0.01 * i; }, s.x);
          return State{grown, 2 * s.turns, !s.was_small};
        });
  };
  const State end = rc::while_loop([](const State& s) { return s.turns < 40; }, step,
                                   State{x, rc::tensor(std::int64_t{1}), rc::tensor(false)});
  return where(end.was_small, end.x, -end.x) + end.turns.to(rc::float64);
}
/// How many numbers a search reads until it meets the greatest.
Tensor reads_until_greatest(const Tensor& table) {
  const Tensor greatest = table.max();
  return rc::while_loop([&](const Pair& s) { return s.first < greatest; },
                        [&](const Pair& s) { return Pair(maximum(s.first, table.index({s.second})), s.second + 1); },
                        Pair(rc::full({}, -1, table.dtype()), rc::tensor(std::int64_t{0})))
      .second;
}
/// A state of 60 numbers, which alternates between two places where it stands in memory; each turn reads a row.
Tensor of_sixty(const Tensor& x) {
  const auto step = [](const Tensor& s, const Tensor& row) {
    const Tensor next = 0.9 * s + row * rc::roll(s, 7, 0);
    return std::pair(next, next.slice(0, 0, 2));
  };
  const auto [end, rows] = rc::scan(step, rc::arange(60).to(rc::float64) / 60, x, {.reverse = true});
  return rows.sum({0}) + end.slice(0, 0, 2) + end[59];
}

struct Example {
  const char* name;
  F f;
  Tensor x;
};
std::vector<Example> examples() {
  const auto with_gradients = [](const F& f) {
    return std::vector<F>{f, rc::grad([f](const Tensor& x) { return f(x).sum(); }),
                          rc::hessian([f](const Tensor& x) { return f(x).sum(); })};
  };
  std::vector<Example> all;
  const auto add = [&](const char* name, const F& f, const Tensor& x) {
    for (const F& g : with_gradients(f)) all.push_back({name, g, x});
  };
  add("swing", swing, scalar(0.7));
  add("swing of float32", swing, rc::tensor(0.7F));
  add("swing by large angles", swing, scalar(3e5));
  add("root", root, rc::tensor(std::vector<double>{2, 3, 0.1}));
  add("nested", nested, scalar(0.3));
  add("of sixty", of_sixty, rc::rand({5}, rc::float64));
  return all;
}

TEST_F(LoopsInRegisters, AreThoseOfFewNumbersAndFormulas) {
  const auto sum_of = [](const F& f) { return F([f](const Tensor& x) { return f(x).sum(); }); };
  const Tensor three = rc::tensor(std::vector<double>{2, 3, 0.1}), five = rc::rand({5}, rc::float64);
  const Example small[] = {
      {"swing", swing, scalar(0.7)},           {"its gradient", rc::grad(swing), scalar(0.7)},
      {"its curvature", rc::hessian(swing), scalar(0.7)}, {"root", root, three},
      {"its gradient", rc::grad(sum_of(root)), three},    {"nested", nested, scalar(0.3)},
      {"of sixty", of_sixty, five}};
  for (const auto& [name, f, x] : small) {
    const std::vector<bool> loops = outer_loops(f, x);
    EXPECT_FALSE(loops.empty()) << name;
    EXPECT_TRUE(std::ranges::all_of(loops, std::identity())) << name;
  }
  const auto decomposes = [](const Tensor& x) {
    return rc::fori_loop(0, 3, [](const Tensor& i, const Tensor& s) { return rc::svdvals(s).sum() * s + i; }, x);
  };
  EXPECT_EQ(outer_loops(decomposes, rc::rand({3, 3})), std::vector{false}) << "the library decomposes";
  const auto decays = [](const Tensor& x) {
    return rc::fori_loop(0, 3, [](const Tensor&, const Tensor& s) { return 0.9 * rc::roll(s, 1, 0); },
                         x * rc::ones({500}, rc::float64));
  };
  EXPECT_EQ(outer_loops(decays, scalar(2)), std::vector{false}) << "a state that no registers hold";
}

TEST_F(LoopsInRegisters, AreThoseThatReadATableOfAnySize) {
  const Tensor table = rc::rand({100}, rc::float64);
  EXPECT_EQ(outer_loops(reads_until_greatest, table), std::vector{true});
  const auto fast = rc::compile(reads_until_greatest);
  for (const std::int64_t size : {100, 37, 1, 400}) {
    const Tensor numbers = rc::rand({size}, rc::float64);
    expect_equal(fast(numbers), reads_until_greatest(numbers));
  }
  const auto reads_behind = [](const Tensor& table) {
    return rc::fori_loop(
        0, 101, [&](const Tensor& i, const Tensor& sum) { return sum + table.index({i}); }, rc::zeros({}, rc::float64));
  };
  const auto sum = rc::compile(reads_behind);
  const Tensor longer = rc::rand({101}, rc::float64);
  expect_close(sum(longer), reads_behind(longer));
  const std::string said = thrown_by([&] { reads_behind(table); });
  EXPECT_NE(said, "");
  EXPECT_EQ(thrown_by([&] { sum(table); }), said);
}

TEST_F(LoopsInRegisters, GiveTheBitsOfLoopsThatCallTheirKernels) {
  for (const auto& [name, f, x] : examples()) {
    SCOPED_TRACE(name);
    const auto in_registers = rc::compile(f), calls = rc::compile(f);
    for (int i = 0; i < 3; ++i) {
      ::setenv("RICCI_COMPILE_WITHOUT", "registers", 1);
      const Tensor expected = calls(x);
      ::unsetenv("RICCI_COMPILE_WITHOUT");
      expect_equal(in_registers(x), expected);
    }
    expect_close(in_registers(x), f(x), 1e-4);
  }
}

TEST_F(LoopsInRegisters, ThrowWhatTheFunctionThrowsAndGoOn) {
  const auto limited = [](const Tensor& x) {
    const auto inner = [](const Tensor& t) {
      return rc::while_loop([](const Tensor& s) { return s < 9; }, [](const Tensor& s) { return 1.5 * s; }, t,
                            {.max_steps = 20});
    };
    return rc::fori_loop(0, 3, [&](const Tensor&, const Tensor& s) { return 0.1 * inner(s); }, x);
  };
  const auto divided = [](const Tensor& x) {
    return rc::fori_loop(3, 7, [&](const Tensor&, const Tensor& s) { return rc::floor_divide(100, s) - 1; }, x);
  };
  const auto whole = [](std::int64_t x) { return rc::tensor(x); };
  const auto expect_thrown = [](const F& f, const Tensor& good, const Tensor& bad) {
    const auto fast = rc::compile(f);
    for (int i = 0; i < 3; ++i) {
      expect_close(fast(good), f(good));
      const std::string said = thrown_by([&] { f(bad); });
      EXPECT_FALSE(said.empty());
      EXPECT_EQ(thrown_by([&] { fast(bad); }), said);
    }
  };
  expect_thrown(limited, scalar(1), scalar(1e-9));
  expect_thrown(divided, whole(8), whole(0));
}

}  // namespace
