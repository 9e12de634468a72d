// A law of printing: a recorded or compiled function prints at each call what the function prints, line for line, in
// vmap, vmap of vmap, chunks, derivatives, loops, branches of some examples and checkpoints. In chunks, and where
// nested examples part, each example's own lines are the same, in their order.
#include <algorithm>
#include <functional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "support/expect_error.h"
#include "support/printed.h"
#include "support/thrown_by.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

using Map = std::function<Tensor(Tensor)>;

struct Named {
  const char* name;
  Map f;
  bool has_reverse_rule_alone = false;
};

/// Of one example, 0-dim. Each prints more than once.
std::vector<Named> bodies() {
  const auto plain = [](Tensor x) {
    rc::debug::print("x = {}", x);
    const Tensor y = sin(x) * x;
    rc::debug::print("y = {}, {}", y, x);
    return y;
  };
  const auto step = [](Tensor x) {
    rc::debug::print("step {}", x);
    return x * 1.5;
  };
  const auto below = [](Tensor x) { return x < 4; };
  const auto while_below = [=](Tensor x) { return rc::while_loop(below, step, x); };
  const auto branches = [](Tensor x) {
    const auto big = [](Tensor y) {
      rc::debug::print("big {}", y);
      return y * y;
    };
    const auto small = [](Tensor y) {
      rc::debug::print("small {}", y);
      return y + 1;
    };
    return rc::cond(x > 1.5, big, small, x);
  };
  return {
      {"plain", plain},
      {"twice in checkpoint", [=](Tensor x) { return rc::checkpoint(plain)(x) + x; }},
      {"vector",
       [=](Tensor x) {
         const Tensor row = rc::stack({x, x * 2});
         rc::debug::print("row {}", row);
         return sum(rc::vmap(plain)(row));
       }},
      {"matrix and shared",
       [](Tensor x) {
         rc::debug::print("shared {}", rc::tensor({{1, 2}, {3, 4}}));
         rc::debug::print("matrix {} and {}", x * rc::tensor({{1., 2.}, {3., 4.}}), x);
         return x * x;
       }},
      {"fori_loop",
       [](Tensor x) {
         const auto body = [](Tensor i, Tensor y) {
           rc::debug::print("{}: {}", i, y);
           return sin(y) + 1;
         };
         return rc::fori_loop(0, 3, body, x);
       }},
      {"loop over constants",
       [](Tensor x) {
         const auto body = [](Tensor i, Tensor y) {
           rc::debug::print("turn {}", i);
           return y * 2;
         };
         return x * rc::fori_loop(0, 3, body, rc::ones({}, rc::float64));
       }},
      {"while_loop of some examples", while_below},
      {"while_loop with checkpoints",
       [=](Tensor x) { return rc::while_loop(below, step, x, {.checkpoint = rc::Checkpoints::sqrt}); }},
      {"while_loop with halves",
       [=](Tensor x) { return rc::while_loop(below, step, x, {.checkpoint = rc::Checkpoints::log}); }},
      {"condition that prints",
       [=](Tensor x) {
         const auto asks = [=](Tensor y) {
           rc::debug::print("asks {}", y);
           return below(y);
         };
         return rc::while_loop(asks, [](Tensor y) { return y * 1.7; }, x);
       }},
      {"scan",
       [](Tensor x) {
         const auto body = [](Tensor carry, Tensor row) {
           rc::debug::print("carry {}", carry);
           return std::pair{carry * row, carry + row};
         };
         const auto [last, all] = rc::scan(body, x, rc::tensor({1., 2., 3.}));
         return last + sum(all);
       }},
      {"branches of some examples", branches},
      {"branches in a loop of some examples",
       [=](Tensor x) { return rc::while_loop(below, [=](Tensor y) { return branches(y) + 0.5; }, x); }},
      {"loop in branches of some examples", [=](Tensor x) { return rc::cond(x < 2, while_below, plain, x); }},
      {"custom derivative",
       [=](Tensor x) {
         const auto forward = [=](Tensor y) { return std::pair{plain(y), y}; };
         const auto backward = [](Tensor y, Tensor ct) {
           rc::debug::print("back at {}", y);
           return ct * y;
         };
         return rc::custom_vjp(plain, forward, backward)(x);
       },
       true},
      {"custom derivative in a loop of some examples",
       [=](Tensor x) {
         const auto forward = [=](Tensor y) { return std::pair{step(y), y}; };
         const auto backward = [](Tensor y, Tensor ct) {
           rc::debug::print("back at {}", y);
           return ct * 1.5;
         };
         return rc::while_loop(below, rc::custom_vjp(step, forward, backward), x);
       },
       true},
      {"check", [=](Tensor x) { return plain(rc::debug::check_finite(x, "x")) * 2; }},
      {"compiled inside", [=](Tensor x) { return rc::compile(plain)(x) * 2; }},
  };
}

Tensor total(const Map& f, const Tensor& x) { return sum(rc::vmap(f)(x)); }
/// A copy, as transforms take one.
Map same(const Map& f) { return f; }

/// What runs a function of one example on a vector of them.
struct Nest {
  const char* name;
  std::function<Map(Map)> around;
  bool is_forward = false;
};
std::vector<Nest> nests() {
  return {
      {"vmap", [](Map f) { return [=](Tensor x) { return rc::vmap(same(f))(x); }; }},
      {"vmap of grad", [](Map f) { return [=](Tensor x) { return rc::vmap(rc::grad(same(f)))(x); }; }},
      {"grad of vmap",
       [](Map f) { return [=](Tensor x) { return rc::grad([=](Tensor y) { return total(f, y); })(x); }; }},
      {"vmap of grad of grad",
       [](Map f) {
         return [=](Tensor x) { return rc::vmap(rc::grad([=](Tensor y) { return rc::grad(same(f))(y); }))(x); };
       }},
      {"jvp",
       [](Map f) {
         return [=](Tensor x) {
           return rc::jvp([=](Tensor y) { return rc::vmap(same(f))(y); }, std::tuple{x}, std::tuple{cos(x)}).second;
         };
       },
       true},
      {"jacrev",
       [](Map f) { return [=](Tensor x) { return rc::jacrev([=](Tensor y) { return rc::vmap(f)(y); })(x); }; }},
      {"jacfwd",
       [](Map f) { return [=](Tensor x) { return rc::jacfwd([=](Tensor y) { return rc::vmap(f)(y); })(x); }; }, true},
      {"map", [](Map f) { return [=](Tensor x) { return rc::map(same(f), x); }; }},
      {"one example", [](Map f) { return [=](Tensor x) { return f(x[1]); }; }},
      {"grad of one example", [](Map f) { return [=](Tensor x) { return rc::grad(same(f))(x[1]); }; }},
  };
}

const Tensor& examples() {
  static const Tensor x = rc::tensor({0.5, 1.75, 3.0, 1.0, 2.5});
  return x;
}

/// Runs `f` recorded and compiled, each twice, beside the function itself.
void expect_same_lines(const Map& f, const Tensor& x, Lines (*order)(Lines), const std::string& what) {
  const Lines expected = order(printed([&] { f(x); }));
  ASSERT_FALSE(expected.empty()) << what;
  const rc::Program program = rc::trace(same(f))(x), simplified = program.simplified();
  const auto compiled = rc::compile(same(f));
  for (int call = 0; call < 2; ++call) {
    EXPECT_EQ(order(printed([&] { program({x}); })), expected) << what << ", recorded";
    EXPECT_EQ(order(printed([&] { simplified({x}); })), expected) << what << ", simplified";
    EXPECT_EQ(order(printed([&] { compiled(x); })), expected) << what << ", compiled, call " << call;
  }
}

/// How often a derivative of a derivative computes a checkpoint again is left to whoever computes it.
bool is_repeated_unequally(const Nest& nest, const Named& body) {
  return std::string_view(nest.name) == "vmap of grad of grad" && std::string_view(body.name) == "twice in checkpoint";
}

TEST(PrintedLines, AreThoseOfTheFunctionInRecordedAndCompiledOnes) {
  for (const Nest& nest : nests())
    for (const Named& body : bodies())
      if (!(nest.is_forward && body.has_reverse_rule_alone) && !is_repeated_unequally(nest, body))
        expect_same_lines(nest.around(body.f), examples(), as_they_come, std::string(nest.name) + " of " + body.name);
}

TEST(PrintedLines, OfEachExampleAreTheSameInVmapOfVmap) {
  const Tensor x = examples().slice(0, 0, 4, 1).reshape({2, 2});
  for (const Named& body : bodies()) {
    const Map f = [f = body.f](Tensor rows) { return rc::vmap(rc::vmap(same(f)))(rows); };
    expect_same_lines(f, x, by_example, std::string("vmap of vmap of ") + body.name);
    const Map g = [f = body.f](Tensor rows) {
      return rc::vmap(rc::grad([=](Tensor row) { return total(f, row); }))(rows);
    };
    expect_same_lines(g, x, by_example, std::string("vmap of grad of vmap of ") + body.name);
  }
}

/// What all examples of a chunk share is printed by each chunk.
TEST(PrintedLines, OfEachExampleAreTheSameInChunks) {
  for (const Named& body : bodies()) {
    const Lines whole = of_examples(by_example(printed([&] { rc::vmap(same(body.f))(examples()); })));
    const Map chunks = [f = body.f](Tensor x) { return rc::vmap(same(f), {.chunk_size = 2})(x); };
    EXPECT_EQ(of_examples(by_example(printed([&] { chunks(examples()); }))), whole) << body.name;
    expect_same_lines(chunks, examples(), as_they_come, std::string("chunks of ") + body.name);
  }
}

TEST(PrintedLines, OfAMappedProgramAreThoseOfTheMappedFunction) {
  for (const Named& body : bodies()) {
    const Lines whole = of_examples(by_example(printed([&] { rc::vmap(same(body.f))(examples()); })));
    const rc::Program program = rc::trace(same(body.f))(examples()[0]);
    const auto compiled = rc::compile(same(body.f));
    const auto run = [&](Tensor x) { return program({x})[0]; };
    for (const std::int64_t chunk : {5, 2}) {
      const auto lines = [&](const auto& f) {
        return of_examples(by_example(printed([&] { rc::vmap(f, {.chunk_size = chunk})(examples()); })));
      };
      EXPECT_EQ(lines(run), whole) << body.name << ", recorded";
      EXPECT_EQ(lines(compiled), whole) << body.name << ", compiled";
    }
  }
}

/// A program has no operand of the recording there.
TEST(PrintedLines, OfACompiledFunctionOfAConstantComeAtEachCall) {
  const auto inner = rc::compile([](Tensor x) {
    rc::debug::print("inner {}", x);
    return x * 2;
  });
  const auto f = [=](Tensor x) { return x * inner(rc::tensor(3.)); };
  const auto fast = rc::compile(f);
  const rc::Program program = rc::trace(f)(rc::tensor(1.));
  const Lines once{"inner 3"};
  for (int call = 0; call < 3; ++call) {
    EXPECT_EQ(printed([&] { fast(rc::tensor(1.)); }), once) << call;
    EXPECT_EQ(printed([&] { program({rc::tensor(1.)}); }), once) << call;
  }
}

TEST(PrintedLines, NameExamplesThatPartForARunOfTheirOwn) {
  const auto parts = [](Tensor x) {
    if (x.item<double>() > 1.5) rc::debug::print("above: {}", x);
    rc::debug::print("all: {}", x);
    return x;
  };
  const Lines lines = printed([&] { rc::vmap(parts, {.lanes = rc::Lanes::split})(examples()); });
  EXPECT_EQ(by_example(lines), (Lines{"all: 0.5  (example 0)", "above: 1.75  (example 1)", "all: 1.75  (example 1)",
                                      "above: 3  (example 2)", "all: 3  (example 2)", "all: 1  (example 3)",
                                      "above: 2.5  (example 4)", "all: 2.5  (example 4)"}));
}

TEST(PrintedLines, LeaveWhatStandsAroundThemInKernels) {
  const auto f = [](Tensor x) {
    const Tensor y = sin(x) * x + 1;
    rc::debug::print("y = {}", y);
    return exp(y) * y - x;
  };
  const auto compiled = rc::compile(rc::vmap(f));
  const Lines lines = printed([&] { compiled(examples()); });
  std::ostringstream plan;
  printed([&] { plan << compiled.plan(examples()); });
  EXPECT_EQ(lines.size(), 5U);
  const std::string text = plan.str();
  const std::size_t kernel = text.find("= lanes[");
  EXPECT_LT(kernel, text.find("  print[format=\"y = {}\", vmaps=1]"));
  EXPECT_EQ(text.find("= lanes[", kernel + 1), std::string::npos) << text;
  EXPECT_EQ(std::ranges::count(text, '\n'), 5) << text;
}

/// Code that meets a bad value ends, and the equations run to say what is wrong.
TEST(PrintedLines, BeforeAnErrorArePrintedOnce) {
  const auto f = [](Tensor x) {
    const auto step = [](Tensor i, Tensor y) {
      rc::debug::print("step {}: {}", i, y);
      return rc::debug::check_finite(sqrt(y - 1), "y");
    };
    rc::debug::print("x = {}", x);
    return rc::fori_loop(0, 5, step, x);
  };
  const auto lines_and_error = [](const auto& call) {
    std::string error;
    Lines lines = printed([&] { error = thrown_by(call); });
    EXPECT_FALSE(error.empty());
    lines.push_back(error);
    return lines;
  };
  const auto compiled = rc::compile(f);
  const auto around = rc::compile([f](Tensor x) { return rc::compile(f)(x) + 1; });
  const Tensor x = rc::tensor(5.);
  const Lines expected = lines_and_error([&] { f(x); });
  EXPECT_EQ(expected.size(), 6U);  // of x, four steps and the error
  for (int call = 0; call < 2; ++call) {
    EXPECT_EQ(lines_and_error([&] { compiled(x); }), expected);
    EXPECT_EQ(lines_and_error([&] { around(x); }), expected);
  }
}

TEST(PrintedLines, OfAFunctionThatIsCheckedArePrintedOnce) {
  const auto f = [](Tensor x) {
    rc::debug::print("x = {}", x);
    return sum(exp(x) * x);
  };
  const auto checked = rc::compile(f, {.check = true});
  EXPECT_EQ(printed([&] { checked(examples()); }), printed([&] { f(examples()); }));
  EXPECT_EQ(printed([&] { checked(examples()); }), printed([&] { f(examples()); }));
  EXPECT_EQ(printed([&] { checked.explain(examples()); }), Lines());
}

TEST(PrintedLines, CannotBeExported) {
  const auto f = [](Tensor x) {
    rc::debug::print("x = {}", x);
    return x * 2;
  };
  const auto compiled = rc::compile(f);
  expect_error<rc::NotImplementedError>([&] { rc::export_object(compiled, "printed_lines_test", examples()); },
                                        "export_object: print acts outside the function each time it runs, and an "
                                        "exported function runs without the library; leave it out, or return the value "
                                        "and let the caller do it{at}");
}

}  // namespace
