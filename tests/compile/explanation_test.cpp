// What explain shows: steps with their runs, inside of loops and branches, too, and never more than the machine can do.
#include <gtest/gtest.h>
#include <ricci/ricci.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "compile/costs.h"
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
/// What the lines count fits into the time that they say. The shares that explain shows are cut at 100 %, so they are
/// computed again here. Eight times too much is let pass: the machine's speed is measured while other programs run.
void expect_within_limits(const std::vector<std::string>& lines) {
  constexpr double most = 8;
  std::size_t steps = 0;
  for (const std::string& line : lines) {
    const std::vector<std::string> columns = columns_of(line);
    if (columns.size() < 6 || columns[0] == "us") continue;
    const auto number = [&](std::size_t i) { return std::strtod(columns[i].c_str(), nullptr); };
    const double seconds = number(0) * 1e-6, threads = static_cast<double>(rc::num_threads());
    const std::size_t times = columns[5].find(" x ");
    const double runs = times == std::string::npos ? 1 : number(5);
    using namespace rc::compiled;
    EXPECT_LE(number(3) / seconds, most * copied_bytes_per_second(number(3) / runs, true)) << line;
    EXPECT_LE(number(2) / seconds, most * threads * operations_per_second(rc::float32)) << line;
    ++steps;
  }
  EXPECT_GT(steps, 0U) << text_of(lines);
}

TEST(Explanation, ShowsTheStepsInsideALoopWithTheirRuns) {
  const auto f = [](const Tensor& x) {
    const auto step = [](const Tensor&, const Tensor& s) { return s + rc::svdvals(s).sum(); };
    return rc::fori_loop(0, 7, step, x);
  };
  const auto fast = rc::compile(f);
  const std::vector<std::string> lines = lines_of(fast.explain(rc::randn({5, 5})));
  EXPECT_TRUE(has_step(lines, "  7 x svdvals f32[5]")) << text_of(lines);
  expect_within_limits(lines);
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
  expect_within_limits(lines);
}

TEST(Explanation, SaysNoMoreThanTheMachineCanDo) {
  const auto f = [](const Tensor& x) { return rc::matmul(rc::sort(x, 0).first, x).exp().cumsum(0); };
  const auto fast = rc::compile(f);
  for (const std::int64_t n : {2, 20, 60, 200, 700}) expect_within_limits(lines_of(fast.explain(rc::randn({n, n}))));
  const auto wide = rc::compile([](const Tensor& x) { return rc::sort(x + 1).first.sum(); });
  for (const std::int64_t n : {17, 5000, 3'000'000}) expect_within_limits(lines_of(wide.explain(rc::randn({n}))));
}

}  // namespace
