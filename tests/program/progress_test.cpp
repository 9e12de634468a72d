// Bars of progress, on a terminal of the test's own and on an output that is none.
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <string>

#include "support/expect_error.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

/// What f writes to the standard error output, which is the terminal `there` meanwhile.
std::string written(int there, int reads, const std::function<void()>& f) {
  const int before = dup(STDERR_FILENO);
  dup2(there, STDERR_FILENO);
  f();
  std::cerr << "." << std::flush;  // so that there is something to read
  dup2(before, STDERR_FILENO);
  close(before);
  std::string text;
  while (!text.ends_with('.')) {
    char part[4096];
    const ssize_t count = read(reads, part, sizeof part);
    if (count <= 0) break;
    text.append(part, static_cast<std::size_t>(count));
  }
  if (!text.empty()) text.pop_back();
  return text;
}
std::string written_to_terminal(const std::function<void()>& f) {
  int reads = -1, there = -1;
  EXPECT_EQ(openpty(&reads, &there, nullptr, nullptr, nullptr), 0);
  std::string text = written(there, reads, f);
  close(there);
  close(reads);
  return text;
}
std::string written_to_pipe(const std::function<void()>& f) {
  int ends[2] = {-1, -1};
  EXPECT_EQ(pipe(ends), 0);
  std::string text = written(ends[1], ends[0], f);
  close(ends[0]);
  close(ends[1]);
  return text;
}

std::int64_t bars(const std::string& text) {
  return std::count(text.begin(), text.end(), '\r') - text.ends_with("\r\n");
}
bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

Tensor looped(Tensor x, std::int64_t steps) {
  const auto show = rc::progress(steps);
  return rc::fori_loop(
      0, steps,
      [&](Tensor i, Tensor y) {
        show(i);
        return y * 0.5 + 1;
      },
      x);
}

TEST(Progress, DrawsABarForEachPercent) {
  const std::string text = written_to_terminal([] { looped(number(1), 1000); });
  EXPECT_EQ(bars(text), 101);
  EXPECT_TRUE(has(text, "]  51 %  510 of 1000, ")) << text;
  EXPECT_TRUE(has(text, "] 100 %  1000 of 1000, ")) << text;
  EXPECT_TRUE(has(text, "[=========================                         ]  50 %")) << text;
  EXPECT_TRUE(text.ends_with("\n"));
  EXPECT_EQ(bars(written_to_terminal([] { looped(number(1), 4); })), 4);
}

TEST(Progress, DrawsInTransformsProgramsAndCompiledFunctions) {
  const auto f = [](Tensor x) { return looped(x, 4); };
  const auto compiled = rc::compile(f);
  const auto of_all = rc::compile(rc::vmap(rc::grad(f)));
  const rc::Program program = rc::trace(f)(number(1));
  for (int call = 0; call < 2; ++call) {
    EXPECT_EQ(bars(written_to_terminal([&] { compiled(number(1)); })), 4);
    EXPECT_EQ(bars(written_to_terminal([&] { of_all(doubles({1, 2, 3})); })), 4);
  }
  EXPECT_EQ(bars(written_to_terminal([&] { rc::grad(f)(number(1)); })), 4);
  EXPECT_EQ(bars(written_to_terminal([&] { rc::vmap(f)(doubles({1, 2, 3})); })), 4);
  EXPECT_EQ(bars(written_to_terminal([&] { program({number(1)}); })), 4);
  expect_values(of_all(doubles({1, 2})), {0.0625, 0.0625});
}

TEST(Progress, OfExamplesThatDifferIsThatOfTheLast) {
  const auto f = [](Tensor i) {
    rc::progress(10)(i);
    return i;
  };
  EXPECT_TRUE(has(written_to_terminal([&] { rc::vmap(f)(rc::tensor({7, 2, 5})); }), " 30 %  3 of 10, "));
}

TEST(Progress, WritesNothingWhereThereIsNoTerminal) {
  EXPECT_EQ(written_to_pipe([] { looped(number(1), 10); }), "");
}

TEST(Progress, IsReadBackInPrograms) {
  const auto f = [](Tensor i) {
    rc::progress(10)(i);
    return i + 1;
  };
  const rc::Program program = rc::trace(f)(rc::tensor(1));
  EXPECT_EQ(to_string(rc::parse_program(to_string(program), {})), to_string(program));
}

TEST(Progress, RefusesLoopsWithoutStepsAndStepsThatAreNone) {
  expect_error<rc::ValueError>([] { rc::progress(0); }, "progress: a loop of 0 steps; it must have 1 at least");
  expect_error<rc::TypeError>([] { rc::progress(3)(0.5); }, "progress: the step is f64[]; it must be an integer");
  expect_error<rc::ValueError>(
      [] {
        rc::progress(3)(rc::tensor({1, 2}));
      },
      "progress: the step is i64[2]; it must have no axes");
}

}  // namespace
