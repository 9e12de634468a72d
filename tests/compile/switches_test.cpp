// The words of RICCI_COMPILE_WITHOUT: each leaves out its pass, and what the function gives stays.
#include <gtest/gtest.h>
#include <ricci/ricci.h>

#include <cstdlib>
#include <functional>
#include <sstream>
#include <string>
#include <utility>

#include "support/expect_tensor.h"
#include "support/lane_kernels.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

using F = std::function<Tensor(const Tensor&)>;

std::string plan_without(const char* word, const F& f, const Tensor& x) {
  ::setenv("RICCI_COMPILE_WITHOUT", word, 1);
  const auto fast = rc::compile(f);
  for (int i = 0; i < 2; ++i) expect_close(fast(x), f(x), 1e-5);
  std::ostringstream text;
  text << fast.plan(x);
  ::unsetenv("RICCI_COMPILE_WITHOUT");
  return text.str();
}

// `blocks`, `native` and `registers` leave the plan as it is (blocks_test.cpp and loops_in_registers_test.cpp look at
// the first and the last).
TEST(Switches, LeaveOutThePassThatTheyName) {
  if (!makes_kernels()) GTEST_SKIP() << "[SKIP] needs RICCI_COMPILE";
  rc::manual_seed(1);
  const auto custom = [](const Tensor& x) {
    return rc::custom_vjp([](const Tensor& t) { return sin(t) * 2; },
                          [](const Tensor& t) { return std::pair(sin(t) * 2, t); },
                          [](const Tensor& t, const Tensor& ct) { return ct * t; })(x) +
           1;
  };
  const auto of_pairs = [](const Tensor& x) {
    return (1 / ((x.unsqueeze(1) - x.unsqueeze(0)).square().sum({2}) + rc::eye(24))).sin().sum({1});
  };
  const auto of_matrix = [](const Tensor& x) { return (0.9 * x + 0.1) / (rc::sqrt(x * x + 1) + 1e-8) + x; };
  struct Case {
    const char* word;
    F f;
    Tensor x;
  };
  const Case cases[] = {{"lanes", of_matrix, rc::randn({300})},
                        {"inlining", custom, rc::randn({300})},
                        {"axes_apart", of_pairs, rc::randn({24, 3})},
                        {"smaller_axes", of_matrix, rc::rand({15, 8}, rc::float64)}};
  for (const auto& [word, f, x] : cases) {
    const std::string with = plan_without("", f, x);
    EXPECT_NE(plan_without(word, f, x), with) << word;
    EXPECT_EQ(plan_without("blocks,native", f, x), with) << word;
  }
}

}  // namespace
