// Values with two axes of one size, as all pairs of some points have: the lanes lie along one of the axes.
#include "compile/axes_apart.h"

#include <gtest/gtest.h>
#include <ricci/ricci.h>

#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "support/expect_tensor.h"
#include "support/lane_kernels.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

constexpr std::int64_t n = 24;  // a number in all recordings below: each function joins it with one

class PairsOfPoints : public testing::Test {
 protected:
  void SetUp() override {
    if (!makes_kernels()) GTEST_SKIP() << "[SKIP] needs RICCI_COMPILE";
    rc::manual_seed(1);
  }
};

/// Of points x [n, 3] that repel each other.
Tensor energy(const Tensor& x) {
  const Tensor apart = x.unsqueeze(1) - x.unsqueeze(0);
  return (1 / (apart.square().sum({2}) + rc::eye(n))).sum();
}

Tensor moved(const Tensor& x) {
  const auto step = [](const Tensor& x, const Tensor&) { return std::pair(x - 1e-4 * rc::grad(energy)(x), x.sum()); };
  return rc::scan(step, x, rc::zeros({5})).first;
}

TEST_F(PairsOfPoints, TakeThreeKernelsInAStepOfALoop) {
  const auto fast = rc::compile(moved);
  const Tensor x = rc::randn({n, 3});
  for (int i = 0; i < 2; ++i) expect_close(fast(x), moved(x), 1e-5);
  std::ostringstream out;
  out << fast.plan(x);
  const std::string text = out.str();
  const std::string step = text.substr(text.find("step=program"), text.find("carried=") - text.find("step=program"));
  std::size_t lines = 0;
  for (std::size_t i = step.find(" = "); i != std::string::npos; i = step.find(" = ", i + 1)) ++lines;
  EXPECT_LE(lines, 5U) << text;
  EXPECT_EQ(step.find("square"), std::string::npos) << text;
}

TEST(AxesApart, AreJoinedWhereAnEquationMakesThemOne) {
  const auto f = [](const Tensor& x) {
    const Tensor apart = x.unsqueeze(1) - x.unsqueeze(0);  // [n, n, 3]
    return apart.square().sum({2}) + rc::eye(n);
  };
  const rc::Program program = rc::trace(f)(rc::ones({n, 3})).simplified();
  const rc::SymbolScope scope(program.body().symbols.get());
  const auto all = rc::compiled::axes_told_apart(program.body(), {.most_unrolled = 16}, 16);
  ASSERT_EQ(all.size(), 2U);
  const auto result = [&](const rc::compiled::AxesApart& apart) {
    const rc::Shape& shape = apart.body.types[static_cast<std::size_t>(apart.body.outputs[0])].shape;
    return std::pair(apart.lanes.is_number(shape[0]), apart.lanes.is_number(shape[1]));
  };
  EXPECT_NE(result(all[0]), result(all[1]));
  for (const auto& apart : all) {
    EXPECT_EQ(apart.lanes.in_call(), n);
    EXPECT_NE(result(apart).first, result(apart).second);
    for (const rc::Equation& e : apart.body.equations) {
      if (e.rules->is_view()) continue;  // x itself has one axis of points
      rc::Types in, out;
      for (const rc::Variable v : e.inputs) in.push_back(apart.body.types[static_cast<std::size_t>(v)]);
      for (const rc::Variable v : e.outputs) out.push_back(apart.body.types[static_cast<std::size_t>(v)]);
      EXPECT_EQ(rc::types_of(e.op(), in)[0].shape, out[0].shape) << e.rules->name;
    }
  }
}

// What joins the two axes, counts along one of them, or turns them round, gives what it gives eagerly.
TEST_F(PairsOfPoints, GiveTheSameWhateverJoinsTheirAxes) {
  using F = std::function<Tensor(const Tensor& x)>;  // of x [n, n]
  const auto pairs = [](const Tensor& x) { return (x + rc::eye(n)).tanh(); };
  const std::vector<F> functions = {
      [&](const Tensor& x) { return pairs(x) + pairs(x).t(); },
      [&](const Tensor& x) { return pairs(x).t().exp() * x; },
      [&](const Tensor& x) { return pairs(x).sum({0}) - pairs(x).sum({1}); },
      [&](const Tensor& x) { return pairs(x).sum({0}, true) * x / pairs(x).square().sum({1}, true); },
      [&](const Tensor& x) { return (softmax(pairs(x) * 3, 1) * x).sum({0}); },
      [&](const Tensor& x) { return matmul(pairs(x), x).sin() - x; },
      [&](const Tensor& x) { return matmul(x.t(), pairs(x)).sum({1}) * x; },
      [&](const Tensor& x) { return tril(pairs(x)).cos() + triu(x, 1) * x; },
      [&](const Tensor& x) { return diag(pairs(x)) * x + diag(x).unsqueeze(1); },
      [&](const Tensor& x) { return roll(pairs(x), 1, 0).exp() - roll(x, 2, 1); },
      [&](const Tensor& x) { return flip(pairs(x), {0}) * flip(x, {1}).sin(); },
      [&](const Tensor& x) { return cumsum(pairs(x), 0) * x + cumsum(x, 1).cos(); },
      [&](const Tensor& x) { return rc::cat({pairs(x), x}, 1).square().sum({1}) + x; },
      [&](const Tensor& x) { return std::get<0>(sort(pairs(x), 1)).exp() + x; },
      [&](const Tensor& x) { return (pairs(x).unsqueeze(2) * x.unsqueeze(0)).sum({1}) + x; },
      [&](const Tensor& x) { return pairs(x).reshape({n * n}).exp().reshape({n, n}) * x; },
      [&](const Tensor& x) { return pairs(x).reshape({n, 2, n / 2}).sum({1}).sum({0}).sum() * x; },
      [&](const Tensor& x) { return where(rc::eye(n) > 0, 0, pairs(x)).mean({0}) + rc::arange(0, n) * x; },
      [&](const Tensor& x) { return pairs(x)[3] * x + x.slice(1, 2, 3); },
      [&](const Tensor& x) { return argmax(pairs(x), 1) * x + argmax(x, 0); },
  };
  for (std::size_t i = 0; i < functions.size(); ++i) {
    SCOPED_TRACE("function " + std::to_string(i));
    const F& f = functions[i];
    const auto slope = [&](const Tensor& x) { return rc::grad([&](const Tensor& x) { return f(x).sum(); })(x); };
    const auto in_loop = [&](const Tensor& x) {
      return rc::fori_loop(0, 3, [&](const Tensor&, const Tensor& s) { return (f(s) * 0.1).tanh() + rc::eye(n); }, x);
    };
    const Tensor x = rc::randn({n, n}, rc::float64);
    const auto fast = rc::compile(f);
    const auto fast_slope = rc::compile(slope);
    const auto fast_loop = rc::compile(in_loop);
    for (int call = 0; call < 2; ++call) {
      expect_close(fast(x), f(x), 1e-12);
      expect_close(fast_slope(x), slope(x), 1e-12);
      expect_close(fast_loop(x), in_loop(x), 1e-12);
    }
  }
}

// The number of the axes that are told apart is the program's own.
TEST_F(PairsOfPoints, AreNotTakenForOtherLongAxes) {
  for (const std::int64_t many : {1'000'003, 1'000'004}) {
    const auto f = [many](const Tensor& x, const Tensor& times) {
      const Tensor sines = (1 / ((x.unsqueeze(1) - x.unsqueeze(0)).square().sum({2}) + rc::eye(n))).sin();
      return std::pair((sines.sum({1}) * 2).cos(), (times + rc::zeros({many})).sin() * 2);
    };
    const Tensor x = rc::randn({n, 3}), of_all = rc::randn({many});
    const auto [of_points, of_times] = rc::compile(f)(x, of_all);
    const auto [points, times] = f(x, of_all);
    expect_close(of_points, points, 1e-4);
    expect_close(of_times, times, 1e-5);
  }
}

}  // namespace
