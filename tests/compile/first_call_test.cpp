// What a first call waits for: code in the background, and code of long programs.
#include <gtest/gtest.h>
#include <ricci/ricci.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "support/expect_error.h"
#include "support/expect_tensor.h"
#include "support/lane_kernels.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

class FirstCall : public testing::Test {
 protected:
  void SetUp() override {
    if (!makes_kernels()) GTEST_SKIP() << "[SKIP] needs RICCI_COMPILE";
  }
};

Tensor wave(const Tensor& x) { return (x.sin() * x.exp() + x.cos()).sum(); }

std::string text_of(const rc::Plan& plan) {
  std::ostringstream out;
  out << plan;
  return out.str();
}

/// Kernels of a plan that is printed.
int kernels_in(const std::string& text) {
  int count = 0;
  for (std::size_t i = text.find("= lanes"); i != std::string::npos; i = text.find("= lanes", i + 1)) ++count;
  return count;
}

TEST_F(FirstCall, FewExamplesAreSortedElementByElement) {
  const auto f = rc::vmap([](const Tensor& x) { return rc::gather(cos(x), 0, rc::argsort(x)); });
  for (const std::int64_t count : {4, 9, 10}) {
    const Tensor x = rc::randn({3, count});  // three examples fill no register
    const auto fast = rc::compile(f);
    for (int i = 0; i < 2; ++i) expect_equal(fast(x), f(x));
  }
}

/// The operations of the kernels of a plan that is printed.
std::vector<int> steps_of_kernels(const std::string& text) {
  constexpr std::string_view before = "= lanes[steps=";
  std::vector<int> all;
  for (std::size_t i = text.find(before); i != std::string::npos; i = text.find(before, i + 1))
    all.push_back(std::stoi(text.substr(i + before.size())));
  return all;
}

// A half may be no shorter than the whole by one equation: each half is expanded, so that would take minutes.
TEST_F(FirstCall, CutsALongProgramInTheMiddle) {
  const auto f = [](const Tensor& x) {
    Tensor y = x;
    for (int i = 0; i < 4000; ++i) y = y * x + x;
    return y.sum();
  };
  for (const std::int64_t lanes : {1, 100}) {
    const Tensor x = rc::rand({lanes}) * 0.5;
    const auto fast = rc::compile(rc::grad(f));
    expect_close(fast(x), rc::grad(f)(x), 1e-4);
    const std::vector<int> steps = steps_of_kernels(text_of(fast.plan(x)));
    ASSERT_GE(steps.size(), 3U) << fast.plan(x).steps() << " steps";
    for (const int of_kernel : steps) EXPECT_LT(std::abs(of_kernel - steps[0]), steps[0] / 3);
  }
}

// Results are stored as soon as they are known; where an argument of sin is large, all are computed once more.
TEST_F(FirstCall, LongCodeWithManyResultsGivesThemAllWhereAnArgumentOfSineIsLarge) {
  const auto f = [](const Tensor& x) {
    Tensor y = x;
    std::vector<Tensor> results{x * 1.0};
    for (int i = 0; i < 700; ++i) {
      y = i % 2 ? y * 1.125 - x : sin(y);
      if (i % 20 == 0) results.push_back(y);
    }
    results.push_back(sin(x).sum());
    return results;
  };
  const auto fast = rc::compile(f);
  for (const std::int64_t lanes : {1, 5, 100, 1001})
    for (const bool has_large : {false, true}) {
      Tensor x = rc::linspace(-1, 1, lanes, rc::float64) + 0.01;
      if (has_large) x[lanes - 1].fill_(1e10);
      const auto results = fast(x), expected = f(x);
      for (std::size_t i = 0; i + 1 < expected.size(); ++i) expect_equal(results[i], expected[i]);
      expect_close(results.back(), expected.back(), 1e-12);
    }
}

TEST_F(FirstCall, InTheBackgroundGivesTheSameBeforeAndAfterTheCodeIsThere) {
  const auto per_example = rc::vmap(rc::grad(wave));
  const auto fast = rc::compile(per_example, {.background = true});
  const Tensor x = rc::linspace(-2, 2, 100, rc::float64).reshape({20, 5});
  const Tensor expected = per_example(x);
  expect_equal(fast(x), expected);
  EXPECT_GE(kernels_in(text_of(fast.plan(x))), 1) << "plan waits for the code";
  expect_equal(fast(x), expected);
  EXPECT_EQ(fast.plans(), 1U);
}

TEST_F(FirstCall, InTheBackgroundMayEndBeforeTheCodeIsThere) {
  for (int i = 0; i < 20; ++i) {
    const auto fast = rc::compile([i](const Tensor& x) { return wave(x * (i + 0.5)); }, {.background = true});
    const Tensor x = rc::linspace(0, 1, 50, rc::float64);
    expect_close(fast(x), wave(x * (i + 0.5)), 1e-13);
  }
}

TEST_F(FirstCall, InTheBackgroundServesThreadsTransformsAndLoops) {
  const auto turns = [](const Tensor& x) {
    return rc::fori_loop(0, 50, [](const Tensor&, const Tensor& y) { return (y * 1.1).sin(); }, x);
  };
  const auto fast = rc::compile(turns, {.background = true});
  const Tensor x = rc::linspace(0, 1, 40, rc::float64);
  const Tensor expected = turns(x), slope = rc::vmap(rc::grad(turns))(x);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 50; ++k) expect_close(fast(x), expected, 1e-13);
    });
  for (std::thread& thread : threads) thread.join();
  for (int k = 0; k < 3; ++k) expect_close(rc::vmap(rc::grad(fast))(x), slope, 1e-12);
}

TEST_F(FirstCall, InTheBackgroundThrowsWhatTheFunctionThrowsAndGoesOn) {
  const auto fast =
      rc::compile([](const Tensor& a, const Tensor& b) { return rc::inv(a) + b.exp().sin(); }, {.background = true});
  const Tensor singular = rc::zeros({3, 3}, rc::float64), b = rc::ones({3, 3}, rc::float64);
  const Tensor regular = rc::eye(3, rc::float64);
  for (int i = 0; i < 3; ++i) {
    EXPECT_THROW(fast(singular, b), rc::Error);
    expect_close(fast(regular, b), regular + b.exp().sin());
    static_cast<void>(fast.plan(regular, b));
  }
}

TEST_F(FirstCall, RunsWithoutCodeWhereTheSystemLetsNoMemoryBeExecuted) {
  constexpr int set_mdwe = 65, refuse_exec_gain = 1;  // PR_SET_MDWE of linux/prctl.h, since Linux 6.3
  const pid_t child = fork();
  if (child == 0) {
    if (prctl(set_mdwe, refuse_exec_gain, 0, 0, 0) != 0) _exit(2);
    const auto turns = [](const Tensor& x) {
      return rc::fori_loop(0, 30, [](const Tensor&, const Tensor& y) { return (y * 1.25).sin(); }, x);
    };
    const Tensor x = rc::linspace(0, 1, 70, rc::float64);
    const auto fast = rc::compile(rc::vmap(rc::grad(wave)));
    const auto loop = rc::compile(turns);
    bool is_right = true;
    for (int i = 0; i < 3; ++i)
      is_right = is_right && rc::allclose(fast(x), rc::vmap(rc::grad(wave))(x)) && rc::allclose(loop(x), turns(x));
    _exit(is_right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 2) GTEST_SKIP() << "[SKIP] needs PR_SET_MDWE, of Linux 6.3";
  EXPECT_EQ(status, 0);
}

TEST_F(FirstCall, MakesCodeOfManyElementsWithHundredsOfCalls) {
  const auto f = [](const Tensor& x, const Tensor& k, const Tensor& b) {
    const Tensor y = x.sin() + 0.5, q = k * 3 - 1;
    return std::vector<Tensor>{y,
                               rc::where(b, y, y * -1.0),
                               b & (y > 0),
                               rc::where(b, q, q + 5),
                               y.transpose(0, 1) * 2.0,
                               rc::stack({y, y * y, y.cos()}, -1),
                               rc::cat({y, y * 3.0}, -2),
                               rc::stack({b, ~b, b}, -3),
                               q.to(rc::int8),
                               b.to(rc::int32) + q.to(rc::int32),
                               rc::floor(y * 10.0).to(rc::int64),
                               y.to(rc::float32),
                               y.to(rc::float16),
                               y.to(rc::bfloat16),
                               q.to(rc::uint8),
                               rc::floor_divide(q, rc::ones_like(q) * 7),
                               rc::remainder(q, rc::ones_like(q) * -5)};
  };
  constexpr std::int64_t count = 8 * 3 * 9;
  const Tensor x = rc::linspace(-3, 3, count, rc::float64).reshape({8, 3, 9});
  const Tensor k = rc::arange(-50, count - 50).to(rc::int16).reshape({8, 3, 9}), b = x > 0.5;
  const auto results = rc::compile(f)(x, k, b), expected = f(x, k, b);
  for (std::size_t i = 0; i < expected.size(); ++i) expect_equal(results[i], expected[i]);
}

/// So many products of matrices whose elements are taken apart, each behind a sort, which no kernel holds.
Tensor many_products(int count, const Tensor& x) {  // x: [lanes, 8, 8]
  Tensor y = x;
  for (int i = 0; i < count; ++i) y = rc::sort(rc::matmul(y, y * 0.3 + i).sin() + y, -1).first;
  return y;
}

TEST_F(FirstCall, MakesCodeOfLongProgramsUpToALimitUnlessTheEffortIsHigh) {
  constexpr int count = 16;
  const auto f = [](const Tensor& x) { return many_products(count, x); };
  const Tensor x = rc::linspace(-1, 1, 20 * 64, rc::float64).reshape({20, 8, 8});
  const auto usual = rc::compile(f), all = rc::compile(f, {.effort = rc::Effort::high});
  const int few = kernels_in(text_of(usual.plan(x))), many = kernels_in(text_of(all.plan(x)));
  EXPECT_GT(few, 1) << "what is too long for one kernel becomes several";
  EXPECT_LT(few, many);
  const Tensor expected = f(x);
  expect_close(usual(x), expected, 1e-9);
  expect_close(all(x), expected, 1e-9);
}

/// igamma's formula has 1,500 steps; one with 200, as that of erfinv, belongs to a kernel.
TEST_F(FirstCall, LeavesLongFormulasToTheLibraryUnlessTheEffortIsHigh) {
  const Tensor x = rc::linspace(0.1, 0.9, 40, rc::float64);
  const auto kernels = [&](const auto& f, rc::Effort effort) {
    const auto fast = rc::compile(f, {.effort = effort});
    expect_equal(fast(x), f(x));
    return kernels_in(text_of(fast.plan(x)));
  };
  const auto of_long = [](const Tensor& x) { return rc::igamma(x + 2, x * x); };
  const auto of_short = [](const Tensor& x) { return rc::erfinv(x * x); };
  EXPECT_EQ(kernels(of_short, rc::Effort::normal), 1);
  EXPECT_EQ(kernels(of_long, rc::Effort::high), 1);
  const auto fast = rc::compile(of_long);
  EXPECT_NE(text_of(fast.plan(x)).find("incomplete_gamma"), std::string::npos) << fast.plan(x);
}

/// Taken apart into one lane, a matrix of 12 rows would be 144 times the steps of an element.
TEST_F(FirstCall, HasTheLanesOfASmallMatrixAlongAnAxis) {
  const auto f = [](const Tensor& x, const Tensor& y) {
    return (0.9 * x + 0.1 * y) / (rc::sqrt(x * x + y) + 1e-8) + x;
  };
  for (const auto& [rows, columns] : {std::pair{12, 12}, {15, 8}, {8, 15}}) {
    const Tensor x = rc::linspace(0.1, 0.9, rows * columns, rc::float64).reshape({rows, columns});
    const auto fast = rc::compile(f);
    expect_equal(fast(x, x * 0.5), f(x, x * 0.5));
    const std::string text = text_of(fast.plan(x, x * 0.5));
    const std::size_t steps = text.find("lanes[steps=");
    ASSERT_NE(steps, std::string::npos) << text;
    EXPECT_LT(std::stoi(text.substr(steps + 12)), 300) << text;
  }
}

TEST_F(FirstCall, HasTheLanesOfASmallMatrixAlongAnAxisBesideProductsOfMatrices) {
  const Tensor x = rc::linspace(0.1, 0.9, 8 * 48, rc::float64).reshape({8, 48});
  const Tensor w = rc::linspace(0.1, 0.2, 48 * 48, rc::float64).reshape({48, 48});
  const auto f = [=] {
    const Tensor y = rc::matmul(x, w);
    return (0.9 * x + 0.1 * y) / (rc::sqrt(x * x + y) + 1e-8) + x;
  };
  const auto fast = rc::compile(f);
  expect_equal(fast(), f());
  const std::string text = text_of(fast.plan());
  const std::size_t steps = text.find("lanes[steps=");
  ASSERT_NE(steps, std::string::npos) << text;
  EXPECT_LT(std::stoi(text.substr(steps + 12)), 300) << text;
}

}  // namespace
