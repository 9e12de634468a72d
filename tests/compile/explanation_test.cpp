// What explain shows: steps with their runs, inside of loops and branches, too, and what they compute and move.
#include <gtest/gtest.h>
#include <ricci/ricci.h>

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "support/expect_tensor.h"
#include "support/lane_kernels.h"

namespace rc = ricci;
using rc::Tensor;

namespace {

using Pair = std::pair<Tensor, Tensor>;

std::vector<std::string> lines_of(const rc::Explanation& explanation) {
  std::ostringstream text;
  text << explanation;
  std::istringstream lines(text.str());
  std::vector<std::string> all;
  for (std::string line; std::getline(lines, line);) all.push_back(line);
  return all;
}
std::string text_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}
/// Whether a line ends so.
bool has_step(const std::vector<std::string>& lines, const std::string& step) {
  for (const std::string& line : lines)
    if (line.ends_with(step)) return true;
  return false;
}
/// The columns of a line: us, share, flops, bytes, of the limit, step.
std::vector<std::string> columns_of(const std::string& line) {
  std::vector<std::string> all;
  for (std::size_t begin = line.find_first_not_of(' '); begin != std::string::npos && all.size() < 6;) {
    const std::size_t end = std::min(line.find("  ", begin), line.size());
    all.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(' ', end);
  }
  return all;
}
/// What the line of a step counts. The times beside it are the machine's: no test asks for them. Explain's shares of
/// the machine's limit are at most 100 %, since a step that ran faster than the limit was measured sets it.
void expect_counts(const std::vector<std::string>& lines, const std::string& step, const std::string& flops,
                   const std::string& bytes) {
  const auto line = std::ranges::find_if(lines, [&](const std::string& one) { return one.ends_with(step); });
  ASSERT_NE(line, lines.end()) << step << " is no step of\n" << text_of(lines);
  const std::vector<std::string> columns = columns_of(*line);
  ASSERT_EQ(columns.size(), 6U) << *line;
  EXPECT_EQ(columns[2], flops) << *line;
  EXPECT_EQ(columns[3], bytes) << *line;
}

TEST(Explanation, ShowsTheStepsInsideALoopWithTheirRuns) {
  const auto f = [](const Tensor& x) {
    const auto step = [](const Tensor&, const Tensor& s) { return s + rc::svdvals(s).sum(); };
    return rc::fori_loop(0, 7, step, x);
  };
  const auto fast = rc::compile(f);
  const std::vector<std::string> lines = lines_of(fast.explain(rc::randn({5, 5})));
  expect_counts(lines, "  7 x svdvals f32[5]", "-", "840");  // 25 floats are read and 5 written, 7 times
}

TEST(Explanation, CountsTheTurnsOfLoopsOfUnknownLength) {
  const auto halves = [](const Tensor& x) {
    return rc::while_loop([](const Tensor& s) { return s.sum() > 1; },
                          [](const Tensor& s) { return rc::matmul(s, s) * 0.01 + rc::svdvals(s) * 0; }, x);
  };
  const auto fast = rc::compile(halves);
  const std::vector<std::string> lines = lines_of(fast.explain(rc::ones({8, 8})));
  EXPECT_TRUE(has_step(lines, "  2 x svdvals f32[8]")) << text_of(lines);
}

TEST(Explanation, CountsTheTurnsOfALoopInLanes) {
  if (!testing_support::makes_kernels()) GTEST_SKIP() << "[SKIP] needs RICCI_COMPILE";
  const auto counts = [](const Tensor& x, const Tensor& n) {
    const auto step = [](const Pair& s) { return Pair(s.first * 0.5 + 1, s.second + 1); };
    return rc::while_loop([&](const Pair& s) { return s.second < n; }, step, Pair(x, rc::zeros_like(n))).first;
  };
  const auto fast = rc::compile(rc::vmap(counts));
  const std::vector<std::string> lines = lines_of(fast.explain(rc::randn({300}), rc::arange(0, 300)));
  EXPECT_TRUE(has_step(lines, ", 299 turns")) << text_of(lines);
}

TEST(Explanation, CountsWhatStepsComputeAndMove) {
  const auto f = [](const Tensor& x) { return rc::matmul(rc::sort(x, 0).first, x).exp().cumsum(0); };
  const std::vector<std::string> lines = lines_of(rc::compile(f).explain(rc::randn({20, 20})));
  expect_counts(lines, "matmul f32[20,20]", "1.6e+04", "4.8e+03");  // 2 x 20 x 20 x 20; three matrices
  expect_counts(lines, "exp f32[20,20]", "400", "3.2e+03");
  expect_counts(lines, "sort f32[20,20] i64[20,20]", "-", "6.4e+03");
  const auto wide = rc::compile([](const Tensor& x) { return rc::sort(x + 1).first.sum(); });
  expect_counts(lines_of(wide.explain(rc::randn({3'000'000}))), "sum f32[]", "3e+06", "1.2e+07");
}

/// How many arrays like x a call holds at one time, at most.
template <class F>
double arrays_held(const F& f, const Tensor& x) {
  const std::vector<std::string> lines = lines_of(rc::compile(f).explain(x));
  return std::stod(lines.back()) / (static_cast<double>(x.numel()) * 4);
}

TEST(Explanation, CountsTheBytesThatACallHoldsAtOneTime) {
  const auto steps = [](int count) {
    return [=](Tensor x) {
      for (int i = 0; i < count; ++i) x = x.cumsum(0).sin();  // sin is made in the memory of its operand
      return x.cumsum(0);
    };
  };
  const auto both = [&](const Tensor& x) { return x.flip({0}).cumsum(0) + steps(3)(x); };
  const auto network = [](const Tensor& x) {
    return rc::grad([](Tensor w) { return w.mm(w.t()).tanh().mm(w).sum(); })(x);
  };
  // With what stands in front of the elements, just below sizes of the pool's blocks.
  for (const int n : {260'000, 520'000}) {
    const Tensor x = rc::ones({n});
    EXPECT_NEAR(arrays_held(steps(1), x), 2, 0.03);
    EXPECT_NEAR(arrays_held(steps(9), x), 2, 0.03);
    EXPECT_NEAR(arrays_held(both, x), 3, 0.03);
  }
  const double held = arrays_held(network, rc::ones({508, 515}));
  EXPECT_NEAR(arrays_held(network, rc::ones({1016, 1030})), held, 0.01);
}

}  // namespace
