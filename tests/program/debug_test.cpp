// Lines printed and values checked inside functions, eagerly and in recorded programs. Nests of transforms are a law in
// tests/compile/printed_lines_test.cpp.
#include "ricci/debug.h"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "support/expect_error.h"
#include "support/expect_tensor.h"
#include "support/printed.h"
#include "support/thrown_by.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

TEST(Debug, PrintPutsValuesInThePlacesOfTheFormat) {
  const Tensor x = rc::tensor({1.5, 2.}), matrix = rc::tensor({{1, 2}, {3, 4}});
  const Lines lines = printed([&] {
    rc::debug::print("x = {}, {} of {{{}}}: {}", x, 3, "{}", 0.25);
    rc::debug::print("m {}", matrix);
    rc::debug::print("two\nlines {}", matrix);
    rc::debug::print("nothing");
    rc::debug::print("{}, {}, {}, {}", rc::tensor(true), true, rc::tensor(std::complex<double>(1, -2)),
                     std::string("s"));
  });
  EXPECT_EQ(lines, (Lines{"x = [1.5,   2], 3 of {{}}: 0.25", "m [[1, 2],\n   [3, 4]]",
                          "two\nlines [[1, 2],\n       [3, 4]]", "nothing", "true, true, 1-2i, s"}));
}

TEST(Debug, PrintRefusesAWrongFormatAtOnce) {
  const Tensor x = rc::tensor(1.);
  const auto text_of = [&](const auto&... arguments) {
    return printed([&] { EXPECT_THROW(rc::debug::print(arguments...), rc::ValueError); }).size();
  };
  EXPECT_EQ(text_of("{} {}", x), 0U);
  EXPECT_EQ(text_of("{}"), 0U);
  EXPECT_EQ(text_of("x", x), 0U);
  EXPECT_EQ(text_of("{", x), 0U);
  EXPECT_EQ(text_of("}", x), 0U);
  EXPECT_EQ(text_of("{0}", x), 0U);
  EXPECT_EQ(text_of("{}", Tensor()), 0U);
  expect_error<rc::ValueError>([&] { rc::debug::print("x {} y {}", x); },
                               "print: the format \"x {} y {}\" has 2 places for 1 value; give one value for each {}");
}

TEST(Debug, LinesGoToStandardOutputOrToTheSink) {
  testing::internal::CaptureStdout();
  rc::debug::print("x = {}", rc::tensor(1));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "x = 1\n");
  Lines lines;
  EXPECT_FALSE(rc::debug::set_sink([&](const std::string& line) { lines.push_back(line); }));
  rc::debug::print("x = {}", rc::tensor(2));
  const rc::debug::Sink sink = rc::debug::set_sink({});
  EXPECT_EQ(lines, Lines{"x = 2"});
  sink("y");
  EXPECT_EQ(lines.back(), "y");
}

TEST(Debug, WhatTheSinkThrowsGoesToTheCaller) {
  struct Full : std::runtime_error {
    using runtime_error::runtime_error;
  };
  const auto f = [](Tensor x) {
    rc::debug::print("x = {}", x);
    return x * 2;
  };
  const rc::Program program = rc::trace(rc::vmap(f))(rc::tensor({1., 2.}));
  const auto compiled = rc::compile(rc::vmap(f));
  const rc::debug::Sink before = rc::debug::set_sink([](const std::string& line) { throw Full(line); });
  EXPECT_THROW(rc::vmap(f)(rc::tensor({1., 2.})), Full);
  EXPECT_THROW(program({rc::tensor({1., 2.})}), Full);
  EXPECT_THROW(compiled(rc::tensor({1., 2.})), Full);
  rc::debug::set_sink(before);
  EXPECT_EQ(printed([&] { compiled(rc::tensor({1., 2.})); }).size(), 2U);
}

TEST(Debug, SeveralThreadsPrintWholeLines) {
  std::mutex mutex;
  Lines lines;
  const rc::debug::Sink before = rc::debug::set_sink([&](const std::string& line) {
    const std::lock_guard lock(mutex);
    lines.push_back(line);
  });
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([i] {
        for (int k = 0; k < 50; ++k) rc::debug::print("{}: {}", i, rc::tensor(k));
      });
  }
  rc::debug::set_sink(before);
  ASSERT_EQ(lines.size(), 200U);
  for (int i = 0; i < 4; ++i)
    for (int k = 0; k < 50; ++k)
      EXPECT_NE(std::find(lines.begin(), lines.end(), std::to_string(i) + ": " + std::to_string(k)), lines.end());
}

TEST(Debug, DerivativesPrintWhereTheFunctionRunsForward) {
  const Tensor x = rc::tensor({1., 2.});
  const auto f = [](Tensor x) {
    rc::debug::print("x = {}", x);
    return sum(x * x * x);
  };
  const Lines once{"x = [1, 2]"};
  EXPECT_EQ(printed([&] { rc::grad(f)(x); }), once);
  EXPECT_EQ(printed([&] { rc::hessian(f)(x); }), once);
  EXPECT_EQ(printed([&] { rc::jacrev(rc::jacrev(f))(x); }), once);
  EXPECT_EQ(printed([&] { rc::jet(f, x, std::vector<Tensor>{x, x}); }), once);
  EXPECT_EQ(printed([&] {
              const auto [value, tangent] = rc::linearize(f, x);
              tangent(x);
              tangent(x);
            }),
            once);
  EXPECT_EQ(printed([&] {
              const auto [value, pullback] = rc::vjp(f, x);
              pullback(rc::tensor(1.));
              pullback(rc::tensor(2.));
            }),
            once);
}

TEST(Debug, CheckpointPrintsAgainWhatItComputesAgain) {
  const auto f = [](Tensor x) {
    rc::debug::print("x = {}", x);
    return sin(x);
  };
  EXPECT_EQ(printed([&] { rc::checkpoint(f)(rc::tensor(1.)); }), Lines{"x = 1"});
  EXPECT_EQ(printed([&] { rc::grad(rc::checkpoint(f))(rc::tensor(1.)); }), (Lines{"x = 1", "x = 1"}));
}

TEST(Debug, ProgramsKeepWhatPrintsAndNothingElseForIt) {
  const auto f = [](Tensor x) {
    const Tensor unread = exp(x);
    rc::debug::print("y = {}", sin(x));
    return x * 2;
  };
  EXPECT_EQ(to_string(rc::trace(f)(rc::tensor({1., 2.})).simplified()),
            "program(a: f32[s0]) {\n  b: f32[s0] = sin a\n  print[format=\"y = {}\", vmaps=0] b\n"
            "  c: f32[s0] = mul a 2\n  return c\n}\n");
}

TEST(Debug, ProgramsThatPrintAreReadBack) {
  const auto f = [](Tensor x) {
    rc::debug::print("\"x\"\n\\ {{}} = {}", x);
    return x * 2;
  };
  const rc::Program program = rc::trace(rc::vmap(f))(rc::tensor({1., 2.}));
  const rc::Program again = rc::parse_program(to_string(program), {});
  EXPECT_EQ(to_string(again), to_string(program));
  const auto run = [](const rc::Program& p) { return printed([&] { p({rc::tensor({3., 4.})}); }); };
  EXPECT_EQ(run(again), run(program));
  EXPECT_EQ(run(again)[0], "\"x\"\n\\ {} = 3  (example 0)");
}

TEST(Debug, CheckFiniteGivesItsOperandOrNamesTheElement) {
  const auto check = [](Tensor x) { return rc::debug::check_finite(x, "y"); };
  const Tensor x = rc::tensor({{1., 2., 3.}, {4., 5., 6.}});
  expect_close(check(x), x);
  expect_close(check(rc::tensor({1, 2})), rc::tensor({1, 2}));
  expect_close(check(rc::tensor({})), rc::tensor({}));
  expect_error<rc::ValueError>([&] { check(rc::tensor({{1., 2., 3.}, {4., nan, inf}})); },
                               "check_finite: y is nan at [1,1]");
  expect_error<rc::ValueError>([&] { check(rc::tensor(-inf)); }, "check_finite: y is -inf");
  expect_error<rc::ValueError>(
      [&] { check(rc::tensor({1.F, std::numeric_limits<float>::infinity()}).to(rc::float16)); },
      "check_finite: y is inf at [1]");
  expect_error<rc::ValueError>([&] { check(rc::tensor({std::complex<double>(1, nan)})); },
                               "check_finite: y is 1+nani at [0]");
}

/// Of one example, [2]: not finite where the first element is negative.
Tensor checked_root(Tensor x) { return sum(rc::debug::check_finite(sqrt(x), "root") * x); }

TEST(Debug, CheckFiniteNamesTheExampleInVmapAndPrograms) {
  const Tensor good = rc::tensor({{1., 2.}, {3., 4.}, {5., 6.}}), bad = rc::tensor({{1., 2.}, {3., 4.}, {5., -6.}});
  const auto all = rc::vmap(checked_root);
  const rc::Program program = rc::trace(all)(good);
  const auto compiled = rc::compile(all);
  expect_close(compiled(good), all(good));
  const std::string text = "check_finite: root is nan at [1] in example 2";
  EXPECT_EQ(thrown_by([&] { all(bad); }), text);
  EXPECT_EQ(thrown_by([&] { program({bad}); }), text);
  EXPECT_EQ(thrown_by([&] { compiled(bad); }), text);
  EXPECT_EQ(thrown_by([&] { rc::vmap(checked_root, {.chunk_size = 2})(bad); }), text);
  EXPECT_EQ(thrown_by([&] { rc::vmap(rc::grad(checked_root))(bad); }), text);
}

TEST(Debug, CheckFiniteGivesACopyInEveryTransform) {
  const auto f = [](Tensor x) {
    const Tensor y = x * 1;
    rc::debug::check_finite(y, "y").add_(1);
    return sum(y * y);
  };
  const auto of_integers = [](Tensor x) {
    const Tensor y = x.to(rc::int64);
    rc::debug::check_finite(y, "y").add_(1);
    return sum(x * y);
  };
  const Tensor x = rc::tensor({2., 3.}), rows = rc::stack({x, x});
  for (const std::function<Tensor(Tensor)>& g : {std::function<Tensor(Tensor)>(f), {of_integers}}) {
    expect_close(g(x), rc::tensor(13.));
    expect_close(rc::grad_and_value(g)(x).second, rc::tensor(13.));
    expect_close(rc::jvp(g, std::tuple{x}, std::tuple{x}).first, rc::tensor(13.));
    expect_close(rc::vmap(g)(rows), rc::tensor({13., 13.}));
    expect_close(rc::trace(g)(x)({x})[0], rc::tensor(13.));
    expect_close(rc::compile(g)(x), rc::tensor(13.));
    expect_close(rc::compile(rc::vmap(g))(rows), rc::tensor({13., 13.}));
  }
}

TEST(Debug, AnErrorOfTheSinkEndsACompiledLoopWhereItEndsTheLoop) {
  const auto f = [](Tensor x) {
    const auto step = [](Tensor i, Tensor y) {
      rc::debug::print("{}: {}", i, y);
      return sin(y) + 1;
    };
    return rc::fori_loop(0, 5, step, x);
  };
  const auto compiled = rc::compile(f);
  printed([&] { compiled(rc::tensor(1.)); });
  const auto calls_of = [](const auto& g) {
    int calls = 0;
    const rc::debug::Sink before = rc::debug::set_sink([&](const std::string&) {
      if (++calls == 2) throw rc::ValueError("full");
    });
    EXPECT_EQ(thrown_by([&] { g(rc::tensor(1.)); }).substr(0, 4), "full");
    rc::debug::set_sink(before);
    return calls;
  };
  EXPECT_EQ(calls_of(f), 2);
  EXPECT_EQ(calls_of(compiled), 2);
}

TEST(Debug, ACompiledFunctionThatPrintsIsRecordedAnewWhereACapturedValueHasChanged) {
  const Tensor w = rc::tensor(1.);
  const auto compiled = rc::compile([w](Tensor x) {
    rc::debug::print("w = {}", w);
    return w.item<double>() > 0 ? x * 2 : x * 3;
  });
  const auto run = [&] { return printed([&] { compiled(rc::tensor(1.)); }); };
  EXPECT_EQ(run(), Lines{"w = 1"});
  w.fill_(-1);
  EXPECT_EQ(run(), Lines{"w = -1"});
  printed([&] { expect_close(compiled(rc::tensor(1.)), rc::tensor(3.)); });
}

TEST(Debug, NumbersAreTextsAndBytesAreNumbers) {
  const Lines lines =
      printed([] { rc::debug::print("{} {} {} {} {}", std::int8_t{65}, std::uint8_t{7}, 'c', true, 1.0 / 3); });
  EXPECT_EQ(lines, Lines{"65 7 c true 0.333333"});
  static_assert(!std::is_constructible_v<rc::debug::Field, const int*>);
}

TEST(Debug, CheckFiniteLooksAtTheCotangentOnTheWayBack) {
  const auto f = [](Tensor x) { return sum(sqrt(rc::debug::check_finite(x, "x") * 1)); };
  const Tensor good = rc::tensor({1., 4.}), bad = rc::tensor({1., 0.});
  const std::string text =
      "check_finite: the cotangent of x is inf at [1]; an operation between x and the result has this derivative there";
  expect_close(f(bad), rc::tensor(1.));
  expect_close(rc::grad(f)(good), rc::tensor({0.5, 0.25}));
  EXPECT_EQ(thrown_by([&] { rc::grad(f)(bad); }), text);
  EXPECT_EQ(thrown_by([&] { rc::trace(rc::grad(f))(good)({bad}); }), text);
  EXPECT_EQ(thrown_by([&] { rc::compile(rc::grad(f))(bad); }), text);
  const auto two = [f](Tensor x) { return rc::stack({f(x * 2), f(x)}); };  // a row of the Jacobian is an example
  EXPECT_EQ(
      thrown_by([&] { rc::jacrev(two)(bad); }),
      "check_finite: the cotangent of x is nan at [1] in example 0; an operation between x and the result has this "
      "derivative there");
  const Tensor rows = rc::tensor({{1., 4.}, {1., 0.}});
  EXPECT_EQ(
      thrown_by([&] { rc::compile(rc::vmap(rc::grad(f)))(rows); }),
      "check_finite: the cotangent of x is inf at [1] in example 1; an operation between x and the result has this "
      "derivative there");
  expect_close(rc::hessian(f)(good), rc::hessian([](Tensor x) { return sum(sqrt(x)); })(good));
  expect_close(rc::jvp(f, std::tuple{good}, std::tuple{good}).second, rc::tensor(1.5));
}

TEST(Debug, CheckFiniteLooksAtTheCotangentsOfTheExamplesInItsBranch) {
  const auto f = [](Tensor x) {
    const auto checked = [](Tensor y) { return sqrt(rc::debug::check_finite(y, "y")); };
    return rc::cond(x >= 0, checked, [](Tensor y) { return y * 3; }, x);
  };
  const auto mapped = rc::vmap(rc::grad(f));
  const Tensor good = rc::tensor({-1., 4., -2., 1.}), bad = rc::tensor({-1., 4., 0., 1.});
  const std::string text =
      "check_finite: the cotangent of y is inf in example 2; an operation between y and the result has this derivative "
      "there";
  expect_close(mapped(good), rc::tensor({3., 0.25, 3., 0.5}));
  expect_close(rc::compile(mapped)(good), rc::tensor({3., 0.25, 3., 0.5}));
  EXPECT_EQ(thrown_by([&] { mapped(bad); }), text);
  EXPECT_EQ(thrown_by([&] { rc::compile(mapped)(bad); }), text);
}

}  // namespace
