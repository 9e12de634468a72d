// What compile promises beside the law that it changes nothing: which calls share a plan, what is read anew, what is
// written, drawn and thrown, and that every transform finds a compiled function.
#include <gtest/gtest.h>
#include <ricci/ricci.h>

#include <algorithm>
#include <any>
#include <barrier>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "compile/program_plan.h"
#include "support/expect_error.h"
#include "support/expect_tensor.h"
#include "support/lane_kernels.h"
#include "support/thrown_by.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

Tensor energy(const Tensor& x) { return (sin(x) * x).sum(); }

struct Layer {
  Tensor weight, bias;
  double scale = 1;
};

// --- Plans

TEST(CompiledFunction, ServesAllLargeSizesWithOnePlanThatGivesWhatOneOfTheirOwnWould) {
  const auto fast = rc::compile(energy);
  for (const std::int64_t n : {20, 21, 64, 1000}) {
    const Tensor x = rc::linspace(0, 1, n, rc::float64);
    expect_close(fast(x), energy(x), 1e-14 * static_cast<double>(n));
    expect_equal(fast(x), rc::compile(energy)(x));
  }
  EXPECT_EQ(fast.plans(), 1U);
}

TEST(CompiledFunction, IsRecordedAlikeWhereItDrawsInALoop) {
  const auto f = [](const Tensor& x) {
    return rc::fori_loop(0, 3, [](const Tensor&, const Tensor& y) { return y + rc::randn({}) + rc::randn({}); }, x);
  };
  const auto checked = rc::compile(f, {.check = true});
  const Tensor x = rc::tensor(1.0);
  EXPECT_NE(checked(x).item<float>(), checked(x).item<float>());
}

TEST(CompiledFunction, PadsWithEveryNumber) {
  const Tensor x = rc::ones({5}, rc::float64);
  for (const double value : {0.0, 1.0, -1.0, 2e12, 1e300, -std::numeric_limits<double>::infinity()}) {
    const auto f = [value](const Tensor& v) { return flip(rc::pad(v, {2, 3}, value), {0}) * 2; };
    expect_equal(rc::compile(f)(x), f(x));
  }
}

TEST(CompiledFunction, ComputesWithSizesOfOtherArguments) {
  const auto f = [](const Tensor& x, const Tensor& y) { return sin(y) * x.shape()[0] + cos(y / x.shape()[0]); };
  const auto fast = rc::compile(f);
  const auto g = [](const Tensor& x) { return sin(x.mean(-1)).sum(); };
  const auto mean = rc::compile(g);
  for (const std::int64_t n : {20, 35, 50}) {
    const Tensor x = rc::ones({n}, rc::float64), y = rc::linspace(0, 1, n + 13, rc::float64);
    expect_close(fast(x, y), f(x, y), 1e-12);
    expect_close(fast(y, x), f(y, x), 1e-12);
    const Tensor table = y * x.reshape({n, 1});
    expect_close(rc::grad(mean)(table), rc::grad(g)(table), 1e-13);
    expect_close(rc::vmap(rc::grad(mean))(rc::stack({table, table})), rc::vmap(rc::grad(g))(rc::stack({table, table})),
                 1e-13);
    expect_close(rc::compile(rc::grad(g))(table), rc::grad(g)(table), 1e-13);
  }
}

TEST(CompiledFunction, FixesASmallSizeUntilItChanges) {
  const auto fast = rc::compile(energy);
  fast(rc::ones({3}));
  fast(rc::ones({3}));
  EXPECT_EQ(fast.plans(), 1U);
  for (const std::int64_t n : {4, 5, 6, 7, 30}) fast(rc::ones({n}));
  EXPECT_EQ(fast.plans(), 2U) << "the size is open from the second small one on";
  fast(rc::ones({1}));
  fast(rc::ones({0}));
  EXPECT_EQ(fast.plans(), 4U) << "0 and 1 have plans of their own";
}

TEST(CompiledFunction, MakesAPlanForEachStructureDtypeRankAndPlainValue) {
  const auto fast =
      rc::compile([](const Layer& l, const Tensor& x) { return (matmul(x, l.weight) + l.bias) * l.scale; });
  const Layer layer{rc::ones({3, 2}), rc::ones({2}), 2};
  expect_equal(fast(layer, rc::ones({4, 3})), rc::full({4, 2}, 8.f));
  fast(Layer{layer.weight, layer.bias, 3}, rc::ones({4, 3}));
  EXPECT_EQ(fast.plans(), 2U);
  expect_equal(fast(Layer{layer.weight, layer.bias, 3}, rc::ones({4, 3})), rc::full({4, 2}, 12.f));
  EXPECT_EQ(fast.plans(), 2U);
  fast(layer, rc::ones({4, 3}, rc::float64));
  EXPECT_EQ(fast.plans(), 3U);
  fast(layer, rc::ones({2, 4, 3}));
  EXPECT_EQ(fast.plans(), 4U);
}

TEST(CompiledFunction, TellsMinusZeroFromZeroAmongPlainValues) {
  const auto fast = rc::compile([](const Tensor& x, double y) { return x / y; });
  const Tensor one = rc::tensor(1.0);
  EXPECT_EQ(fast(one, 0.0).item<double>(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(fast(one, -0.0).item<double>(), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(fast.plans(), 2U);
  fast(one, std::nan(""));
  fast(one, -std::nan("1"));
  EXPECT_EQ(fast.plans(), 3U) << "a NaN equals any other";
}

TEST(CompiledFunction, WritesToAnArgumentThatATapeStillWatches) {
  const auto step = [](Tensor w) {
    rc::Tape tape;
    tape.watch(w);
    const Tensor slope = tape.gradient((w * w).sum(), w);
    const rc::no_grad guard;
    w.sub_(0.25 * slope);
    return slope;
  };
  const auto fast = rc::compile(step);
  Tensor w = rc::tensor({1.0, 2.0}), expected = rc::clone(w);
  for (int call = 0; call < 3; ++call) fast(w), step(expected);
  expect_equal(w, expected);
}

TEST(CompiledFunction, RefusesPlainValuesThatCannotBeCompared) {
  struct Solver {
    Tensor start;
    std::any factor;
  };
  const auto fast = rc::compile([](const Solver& s) { return std::any_cast<double>(s.factor) * s.start; });
  const Solver twice{rc::tensor(1.0), 2.0};
  expect_error<rc::TransformError>(
      [&] { fast(twice); },
      "compile: among the arguments [0].factor is of type std::any, "
      "which has no ==, so a plan for one value cannot be told from a plan for another; give the type an ==, pass what "
      "it holds, or let the function capture it{at}");
  EXPECT_EQ(fast.plans(), 0U);
}

TEST(CompiledFunction, MakesAnotherPlanWhereAComparisonOfSizesComesOutDifferently) {
  const auto f = [](const Tensor& x) { return x.shape()[0] < 100 ? x.sum() : x.mean(); };
  const auto fast = rc::compile(f);
  for (const std::int64_t n : {30, 40, 200, 300, 50}) {
    const Tensor x = rc::arange(static_cast<double>(n));
    expect_close(fast(x), f(x));
  }
  EXPECT_EQ(fast.plans(), 2U);
}

TEST(CompiledFunction, MayCaptureATensorWhoseSizeTheOuterOneLeavesOpen) {
  const auto f = [](const Tensor& v) {
    return rc::compile([=](const Tensor& x) { return x + v.sum(); })(rc::zeros({}, rc::float64));
  };
  const auto fast = rc::compile(f);
  const auto program = rc::trace(f)(rc::ones({4}, rc::float64));
  for (const std::int64_t n : {20, 4, 5, 20}) {
    const Tensor v = rc::arange(n).to(rc::float64);
    expect_close(fast(v), f(v));
    if (n == 4) expect_close(program({v})[0], f(v));
  }
}

TEST(CompiledFunction, RefusesASizeOfAFunctionInsideItThatHasEnded) {
  const auto f = [](const Tensor& x) {
    rc::Size kept = 0;
    const auto inside = [&](const Tensor& y) {
      kept = y.shape()[0];
      return y * 2;
    };
    const Tensor y = rc::compile(inside)(x.slice(0, 0, 20));
    return y * rc::ones(rc::Shape(kept + x.shape()[0])).sum();
  };
  EXPECT_THROW(rc::compile(f)(rc::ones({30})), rc::Error);
  EXPECT_THROW(f(rc::ones({30})), rc::Error);
}

TEST(CompiledFunction, RefusesASizeOfAnotherFunctionThatHasEnded) {
  rc::Size kept = 0;
  const auto keeps = rc::compile([&](const Tensor& x) {
    kept = x.shape()[0];
    return x * 2;
  });
  keeps(rc::ones({20}));
  const auto uses = rc::compile([&](const Tensor& x) { return x * rc::ones(rc::Shape(kept)).sum(); });
  EXPECT_THROW(uses(rc::ones({50})), rc::Error);
}

// A size of what the inner function captures is one of the outer function's.
TEST(CompiledFunction, MayUseASizeThatTheOuterOneLeavesOpen) {
  using Function = std::function<Tensor(const Tensor&, const Tensor&)>;
  const std::vector<Function> insides = {
      [](const Tensor& v, const Tensor& x) { return x.sum() * v.size(0) + v.slice(0, 1, {}).sum(); },
      [](const Tensor& v, const Tensor& x) { return x.unsqueeze(1).expand({x.shape()[0], v.shape()[0]}) * v; },
      [](const Tensor& v, const Tensor& x) { return rc::cat({x, rc::ones(rc::Shape(v.shape()[0] + 1))}); },
      [](const Tensor& v, const Tensor& x) { return x.shape()[0] < v.shape()[0] ? x.sum() * v : x * v.sum(); },
      [](const Tensor& v, const Tensor& x) {
        const auto inside = [=](const Tensor& y) { return rc::cat({v, x, y}) * v.shape()[0]; };
        return rc::compile(inside)(x * 2);
      },
      [](const Tensor& v, const Tensor& x) {
        const auto step = [=](const Tensor&, const Tensor& s) {
          return s + rc::ones(rc::Shape(v.shape()[0])).sum() * v.slice(0, 0, 2).sum();
        };
        return rc::fori_loop(0, 3, step, x.sum());
      }};
  for (std::size_t i = 0; i < insides.size(); ++i) {
    SCOPED_TRACE(i);
    const auto f = [&](const Tensor& v, const Tensor& w) {
      return rc::compile([&](const Tensor& x) { return insides[i](v, x); })(w);
    };
    const auto fast = rc::compile(f);
    for (const auto& [n, m] : {std::pair{20, 20}, {25, 33}, {5, 3}, {3, 20}, {20, 3}, {25, 33}}) {
      const Tensor v = rc::arange(n).to(rc::float64), w = rc::arange(m).to(rc::float64) / 7;
      expect_close(fast(v, w), f(v, w));
    }
  }
}

// The outer function relies on what the inner one decided by its sizes, also where it is the first to call it.
TEST(CompiledFunction, RecordsWhatACompiledFunctionInsideDecidedBySizes) {
  const std::vector<std::function<Tensor(const Tensor&)>> functions = {
      [](const Tensor& x) { return x.shape()[0] < 25 ? x.sum() : x.mean(); },
      [](const Tensor& x) { return x + rc::arange(x.size(0)); },
      [](const Tensor& x) { return x.slice(0, 0, 3) + 1; },
      [](const Tensor& x) { return x * x.size(0); },
      [](const Tensor& x) { return x.reshape({x.size(0), 1}); },
      [](const Tensor& x) {
        return rc::grad([](const Tensor& y) { return y.shape()[0] < 25 ? y.sum() : y.mean(); })(x);
      },
  };
  for (const auto& f : functions) {
    const auto inner = rc::compile(f);
    const auto outer = rc::compile([&](const Tensor& x) { return inner(x); });
    const auto twice = rc::compile([&](const Tensor& x) { return outer(x) * 2; });
    const auto mapped = rc::compile([&](const Tensor& x) { return rc::vmap(inner)(rc::stack({x, x + 1})); });
    for (const std::int64_t n : {20, 30, 5, 2, 4, 3, 40, 20, 1, 30}) {
      const Tensor x = rc::rand({n});
      expect_close(outer(x), f(x));
      expect_close(twice(x), f(x) * 2);
      expect_close(mapped(x), rc::stack({f(x), f(x + 1)}));
    }
  }
}

TEST(CompiledFunction, HoldsABoundedNumberOfPlans) {
  const auto fast = rc::compile([](const Tensor& x, double factor) { return x * factor; });
  for (int i = 0; i < 100; ++i) EXPECT_EQ(fast(rc::tensor(1.f), 0.5 * i).item<float>(), 0.5F * static_cast<float>(i));
  EXPECT_LE(fast.plans(), 64U);
}

TEST(CompiledFunction, GivesTheTreeThatTheFunctionGives) {
  const auto fast = rc::compile([](const Tensor& x) {
    return std::tuple(std::map<std::string, Tensor>{{"twice", x * 2}}, Layer{x + 1, Tensor(), 7}, 5);
  });
  for (int call = 0; call < 2; ++call) {
    const auto [map, layer, number] = fast(rc::tensor({1.f, 2.f}));
    expect_equal(map.at("twice"), rc::tensor({2.f, 4.f}));
    expect_equal(layer.weight, rc::tensor({2.f, 3.f}));
    EXPECT_FALSE(layer.bias.defined());
    EXPECT_EQ(layer.scale, 7);
    EXPECT_EQ(number, 5);
  }
}

TEST(CompiledFunction, PrintsItsPlan) {
  const auto fast = rc::compile(energy);
  const rc::Plan plan = fast.plan(rc::ones({20}));
  EXPECT_EQ(plan.steps(), testing_support::makes_kernels() ? 1U : 3U);
  std::ostringstream text;
  text << plan;
  EXPECT_NE(text.str().find("(a: f32[s0])"), std::string::npos) << text.str();
}

TEST(CompiledFunction, OfOneOperationGivesWhatThatGives) {
  Tensor w = rc::full({4}, 2.);
  const auto times_number = [](const Tensor& x) { return 3 / x; };
  const auto times_captured = [w](const Tensor& x) { return x * w; };
  const auto sorted = [](const Tensor& x) { return rc::sort(x); };
  const auto repeated = [](const Tensor& x) { return x.repeat({2, x.size(0)}); };
  const auto divided = rc::compile(times_number);
  const auto scaled = rc::compile(times_captured);
  const auto in_order = rc::compile(sorted);
  const auto in_rows = rc::compile(repeated);
  for (const std::int64_t n : {1, 4, 20, 21}) {
    const Tensor x = rc::linspace(1, -2, n);
    expect_equal(divided(x), times_number(x));
    expect_equal(in_order(x).first, sorted(x).first);
    expect_equal(in_order(x).second, sorted(x).second);
    expect_equal(in_rows(x), repeated(x));
    expect_equal(rc::vmap(divided)(x), times_number(x));
  }
  for (const double by : {2., 5.}) {
    w.fill_(by);
    expect_equal(scaled(rc::ones({4})), rc::full({4}, by));
  }
  EXPECT_THROW(rc::compile([](const Tensor& a) { return rc::cholesky(a); })(-rc::eye(3)), rc::Error);
}

/// Of one number: no size is open.
rc::Program program_of(const std::function<Tensor(const Tensor&)>& f) {
  rc::ProgramBody body = rc::trace(f)(rc::tensor(1.)).body();
  body.symbols = nullptr;
  return rc::Program(rc::Shared<const rc::ProgramBody>(new rc::ProgramBody(std::move(body))));
}

/// Outside transforms the operation runs, and the program does not: here they are two functions.
TEST(CompiledFunction, OfOneOperationRunsThatInPlaceOfItsProgram) {
  const auto sine = [](const Tensor& x) { return sin(x); };
  const auto power = [](const Tensor& x) { return exp(x); };
  const rc::compiled::ProgramPlan plan{
      .program = program_of(power), .table = nullptr, .operation = rc::compiled::OneOperation::of(program_of(sine))};
  ASSERT_TRUE(plan.operation);
  const auto run = [&](const Tensor& x) { return plan.run(nullptr, {&x, 1})[0]; };
  const Tensor x = rc::tensor({1., 2.});
  expect_equal(run(x[0]), sine(x[0]));
  expect_equal(rc::vmap(run)(x), power(x));

  const auto has_one = [](const auto& f) { return rc::compiled::plan_of(program_of(f))->operation.has_value(); };
  EXPECT_TRUE(has_one(sine));
  EXPECT_TRUE(has_one([](const Tensor& y) { return 3 / y; }));
  EXPECT_FALSE(has_one([](const Tensor& y) { return y; }));
  EXPECT_FALSE(has_one([](const Tensor& y) { return y.unsqueeze(0); }));
  EXPECT_FALSE(has_one([](const Tensor& y) { return cos(sin(y)); }));
  EXPECT_FALSE(has_one([](const Tensor& y) { return rc::checkpoint([](const Tensor& z) { return sin(z); })(y); }));
}

// --- What comes from outside

TEST(CompiledFunction, ReadsCapturedTensorsAnew) {
  Tensor w = rc::tensor({1.f, 2.f});
  const auto fast = rc::compile([w](const Tensor& x) { return x * w; });
  expect_equal(fast(rc::ones({2})), rc::tensor({1.f, 2.f}));
  w.fill_(5);
  expect_equal(fast(rc::ones({2})), rc::tensor({5.f, 5.f}));
  EXPECT_EQ(fast.plans(), 1U);
}

// A first call may stand inside a recording, where the captured tensor is a variable of that one.
TEST(CompiledFunction, ReadsCapturedTensorsAnewWhereverItWasCalledFirst) {
  const Tensor w = rc::tensor({1.f, 2.f}), x = rc::ones({2});
  const auto f = [w](const Tensor& a) { return a * w + rc::tensor({10.f, 20.f}); };
  const auto in_a_loop = [](const auto& g) {
    const auto step = [g](const Tensor&, const Tensor& y) { return g(y); };
    return [step](const Tensor& a) { return rc::fori_loop(0, 1, step, a); };
  };
  const auto in_trace = rc::compile(f), inside = rc::compile(f), inner = rc::compile(f), in_loop = rc::compile(f);
  const auto traced = [&](const auto& g) { return rc::trace(g)(x)({x})[0]; };
  const auto outer = rc::compile([inside](const Tensor& a) { return inside(a); });
  const auto twice = rc::compile([inner](const Tensor& a) { return inner(a); });
  for (const float value : {1.f, 5.f, 7.f}) {
    w.fill_(value);
    const Tensor expected = f(x);
    expect_equal(traced(in_trace), expected);
    expect_equal(in_trace(x), expected);
    expect_equal(outer(x), expected);
    expect_equal(inside(x), expected);
    expect_equal(traced(twice), expected);
    expect_equal(twice(x), expected);
    expect_equal(inner(x), expected);
    expect_equal(traced(in_a_loop(in_loop)), expected);
    expect_equal(in_loop(x), expected);
  }
}

TEST(CompiledFunction, ThatDrawsFromAGeneratorOfItsOwnMayBeCalledFirstInARecording) {
  const Tensor x = rc::zeros({3});
  const auto f = [](const Tensor& a) {
    rc::Generator own(4);
    return a + rc::rand({3}, {.generator = own});
  };
  const auto inner = rc::compile(f);
  const auto outer = rc::compile([inner](const Tensor& a) { return inner(a); });
  for (int call = 0; call < 3; ++call) {
    expect_equal(rc::trace(outer)(x)({x})[0], f(x));
    expect_equal(outer(x), f(x));
    expect_equal(inner(x), f(x));
  }
}

TEST(CompiledFunction, CalledFirstInARecordingIsRecordedAgainWhereWhatItLookedAtHasBecomeAnother) {
  const Tensor flag = rc::tensor(1.f), x = rc::ones({2});
  const auto fast = rc::compile([flag](const Tensor& a) { return flag.item<float>() > 0 ? a * 2 : a * 3; });
  expect_equal(rc::trace(fast)(x)({x})[0], rc::full({2}, 2.f));
  flag.fill_(-1);
  expect_equal(fast(x), rc::full({2}, 3.f));
}

TEST(CompiledFunction, IsRecordedAgainWhereACapturedTensorThatItLookedAtHasBecomeAnother) {
  Tensor flag = rc::tensor(1.f);
  const auto fast = rc::compile([flag](const Tensor& x) { return flag.item<float>() > 0 ? x * 2 : x * 3; });
  expect_equal(fast(rc::ones({2})), rc::full({2}, 2.f));
  flag.fill_(-1);
  expect_equal(fast(rc::ones({2})), rc::full({2}, 3.f));
  flag.fill_(1);
  expect_equal(fast(rc::ones({2})), rc::full({2}, 2.f));
  EXPECT_EQ(fast.plans(), 2U);
}

TEST(CompiledFunction, AnswersWhetherAnArgumentIsContiguousForEachCall) {
  const auto fast = rc::compile([](const Tensor& x) { return x.is_contiguous() ? x * 2 : x * 3; });
  const Tensor x = rc::ones({2, 3});
  expect_equal(fast(x), rc::full({2, 3}, 2.f));
  expect_equal(fast(x.t()), rc::full({3, 2}, 3.f));
}

TEST(CompiledFunction, RefusesToWriteToAnArgumentThatSharesMemoryWithAnother) {
  const auto fast = rc::compile([](Tensor a, const Tensor& b) {
    a.add_(1);
    return b * 2;
  });
  const Tensor t = rc::ones({2}), other = rc::ones({2});
  expect_equal(fast(other, t), rc::full({2}, 2.f));
  const std::string says =
      "compile: the function writes to argument 0, which shares memory with another argument or a "
      "captured tensor; pass a clone() of one of them{at}";
  expect_error<rc::NotImplementedError>([&] { fast(t, t); }, says, {t});
  expect_error<rc::NotImplementedError>([&] { fast(t, t.slice(0, 0, 2)); }, says, {t});
}

TEST(CompiledFunction, KeepsDerivedPlansThatServeManyExamplesAfterACallWithOne) {
  const auto f = [](const Tensor& x) { return tanh(x.sum() * x).sum(); };
  const auto fast = rc::compile(f);
  for (const std::int64_t examples : {1, 100, 7, 1, 0, 300}) {
    const Tensor rows = rc::linspace(0, 1, examples * 20, rc::float64).reshape({examples, 20});
    expect_close(rc::vmap(fast)(rows), rc::vmap(f)(rows), 1e-12);
    expect_close(rc::vmap(rc::grad(fast))(rows), rc::vmap(rc::grad(f))(rows), 1e-12);
    expect_close(rc::compile(rc::vmap(fast))(rows), rc::vmap(f)(rows), 1e-12);
  }
}

TEST(CompiledFunction, IsDifferentiatedThroughWhatItCaptures) {
  const Tensor x = rc::tensor({1.f, 2.f, 3.f});
  const auto loss = [&](const Tensor& w) { return rc::compile([w](const Tensor& t) { return (t * w).sum(); })(x); };
  expect_equal(rc::grad(loss)(rc::ones({3})), x);
  expect_equal(rc::vmap(loss)(rc::ones({2, 3})), rc::tensor({6.f, 6.f}));
}

TEST(CompiledFunction, SaysWhatChangedWhereItIsChecked) {
  double factor = 2;
  const auto fast = rc::compile([&factor](const Tensor& x) { return x * factor; }, {.check = true});
  expect_equal(fast(rc::ones({2})), rc::full({2}, 2.f));
  factor = 3;
  expect_error<rc::TransformError>([&] { fast(rc::ones({2})); },
                                   "compile: the function computes something else than it did when it was recorded; "
                                   "pass what changes as an argument{at}");
  Tensor w = rc::ones({2});
  const auto other = rc::compile([&w](const Tensor& x) { return x * w; }, {.check = true});
  other(rc::ones({2}));
  w = rc::zeros({2});
  expect_error<rc::TransformError>([&] { other(rc::ones({2})); },
                                   "compile: the function captures another tensor than it did when it was recorded; "
                                   "pass what changes as an argument{at}");
}

TEST(CompiledFunction, MakesItsLiteralsAnewWhereItIsChecked) {
  const rc::CompileOptions checks{.check = true};
  const Tensor x = rc::tensor({1.f, 2.f}), bounds = rc::tensor(std::vector<std::int64_t>{1, 2, 9});
  const auto shifted = rc::compile([](const Tensor& t) { return t + rc::tensor({5.f, 6.f}); }, checks);
  const auto add = [](const Tensor& i, const Tensor& s) { return s + i; };
  const auto sums = [&](const Tensor& n) { return rc::fori_loop(rc::tensor(0), n, add, rc::tensor(1.0)); };
  const auto fast = rc::compile(rc::vmap(sums), checks);
  for (int i = 0; i < 3; ++i) {
    expect_equal(shifted(x), rc::tensor({6.f, 8.f}));
    expect_equal(fast(bounds), rc::vmap(sums)(bounds));
  }
  Tensor w = rc::ones({2});
  const auto other = rc::compile([&w](const Tensor& t) { return t * w; }, checks);
  other(x);
  w = rc::ones({2});  // no literal: whoever holds it may write to it
  EXPECT_THROW(other(x), rc::TransformError);
}

// Row 2 keeps columns 0 to 2, which are all that a few lanes show.
TEST(CompiledFunction, KeepsTrianglesAlongAxesOfAnySize) {
  for (const std::int64_t diagonal : {-1, 0, 1, 12}) {
    const auto last_row = [=](const Tensor& x) { return select(tril(sin(x), diagonal), 0, -1) * 2; };
    const auto first_row = [=](const Tensor& x) { return select(triu(sin(x), diagonal), 0, 0).sum(); };
    const auto fast_last = rc::compile(last_row);
    const auto fast_first = rc::compile(first_row);
    for (const std::int64_t columns : {17, 20, 100}) {
      const Tensor x = rc::linspace(1, 2, 3 * columns).reshape({3, columns});
      expect_equal(fast_last(x), last_row(x));
      expect_close(fast_first(x), first_row(x), 1e-5);
    }
  }
}

// Sums are rounded another way in a plan, and terms that cancel show it.
TEST(CompiledFunction, GivesWhatTheFunctionGivesWhereResultsAreChecked) {
  const rc::CompileOptions checks{.check = true};
  const auto cancels =
      rc::compile([](const Tensor& x) { return (x * x).sum() - (x * x).flip({0}).sum() + sin(x); }, checks);
  for (const std::int64_t n : {7, 100, 5000}) {
    const Tensor x = rc::linspace(-1e4, 1e5, n, rc::float32);
    EXPECT_EQ(cancels(x).numel(), n);
  }
  const auto overflows = rc::compile([](const Tensor& x) { return rc::stack({exp(x).sum(), log(x).sum()}); }, checks);
  overflows(rc::tensor({0.f, 800.f, -1.f}));

  // The sums of some columns differ in the last digit, and with it whether tanh is 1 or the number before it.
  const auto saturates = rc::compile(
      rc::grad([](const Tensor& x) { return tanh(cos(x).sum(std::vector<std::int64_t>{0})).sum(); }), checks);
  rc::manual_seed(5);
  for (int i = 0; i < 30; ++i) EXPECT_EQ(saturates(rc::rand({29, 29}) * 4.4 - 2.2).numel(), 29 * 29);

  const auto writes = [](Tensor a, const Tensor& b) {
    a.mul_(b);
    return a.sum();
  };
  const auto writes_fast = rc::compile(writes, checks);
  Tensor a = rc::tensor({1.f, 2.f});
  EXPECT_EQ(writes_fast(a, rc::tensor({3.f, 5.f})).item<float>(), 13);
  expect_equal(a, rc::tensor({3.f, 10.f}));

  const auto noisy = [](const Tensor& x) { return rc::randn(x.shape()) * x + rc::rand({}); };
  const auto noisy_fast = rc::compile(noisy, checks);
  const Tensor x = rc::linspace(0, 1, 20);
  rc::manual_seed(3);
  const Tensor first = noisy(x), second = noisy(x);
  rc::manual_seed(3);
  expect_close(noisy_fast(x), first, 1e-6);
  expect_close(noisy_fast(x), second, 1e-6);
  rc::manual_seed(4);
  const rc::VmapOptions each{.randomness = rc::Randomness::different};
  const Tensor rows = rc::vmap(noisy, each)(rc::ones({3, 20}));
  rc::manual_seed(4);
  expect_close(rc::vmap(noisy_fast, each)(rc::ones({3, 20})), rows, 1e-6);

  const auto fast = rc::compile(energy, checks);
  expect_close(rc::vmap(rc::grad(fast))(rc::ones({30, 3})), rc::vmap(rc::grad(energy))(rc::ones({30, 3})), 1e-6);
  expect_close(rc::hessian(fast)(x), rc::hessian(energy)(x), 1e-6);
  const auto outer = rc::compile([&](const Tensor& y) { return rc::grad(fast)(y) + fast(y); }, checks);
  expect_close(outer(x), rc::grad(energy)(x) + energy(x), 1e-5);
  const auto loop = rc::compile(
      [&](const Tensor& y) {
        return rc::fori_loop(0, 5, [&](const Tensor&, const Tensor& z) { return z + fast(z) * rc::rand({}); }, y);
      },
      checks);
  loop(x);
}

// A rule of derivatives chooses by the sizes that it sees.
TEST(CompiledFunction, IsCheckedWhereItWasRecordedInsideAnother) {
  const auto fast = rc::compile([](const Tensor& x) { return sin(x) * 2; }, {.check = true});
  const auto f = [&](const Tensor& x) { return fast(x) + 1; };
  for (const std::int64_t n : {20, 30}) {
    const Tensor x = rc::linspace(0, 1, n);
    expect_equal(rc::compile(f)(x), sin(x) * 2 + 1);
    expect_equal(f(x), sin(x) * 2 + 1);
  }
}

TEST(CompiledFunction, IsCheckedAtOtherSizesThanItWasRecordedFor) {
  const auto f = rc::vmap(rc::grad([](const Tensor& x) { return rc::matmul(x, x).sum(); }));
  const auto checked = rc::compile(f, {.check = true});
  for (const std::int64_t n : {17, 3, 40}) {
    const Tensor x = rc::linspace(-1, 1, 17 * n * n, rc::float64).reshape({17, n, n});
    expect_close(checked(x), f(x), 1e-12);
  }
  EXPECT_EQ(checked.plans(), 1U);
}

// --- What it does besides

TEST(CompiledFunction, WritesToItsArguments) {
  const auto f = [](Tensor a, const Tensor& b) {
    a.mul_(b);
    a[0] = a[0] + 1;
    return a.sum();
  };
  const auto fast = rc::compile(f);
  for (int call = 0; call < 2; ++call) {
    Tensor a = rc::tensor({1.f, 2.f}), same = rc::tensor({1.f, 2.f});
    const Tensor b = rc::tensor({3.f, 5.f});
    EXPECT_EQ(fast(a, b).item<float>(), f(same, b).item<float>());
    expect_equal(a, same);
  }
}

TEST(CompiledFunction, DrawsWhatTheFunctionDraws) {
  const auto f = [](const Tensor& x) { return rc::randn(x.shape()) + x; };
  const auto fast = rc::compile(f);
  std::vector<Tensor> expected, found;
  rc::manual_seed(11);
  for (int i = 0; i < 3; ++i) expected.push_back(f(rc::zeros({20})));
  rc::manual_seed(11);
  for (int i = 0; i < 3; ++i) found.push_back(fast(rc::zeros({20})));
  for (std::size_t i = 0; i < 3; ++i) expect_equal(found[i], expected[i]);
  rc::manual_seed(12);
  const Tensor rows = rc::vmap(f, {.randomness = rc::Randomness::different})(rc::zeros({3, 20}));
  rc::manual_seed(12);
  expect_equal(rc::vmap(fast, {.randomness = rc::Randomness::different})(rc::zeros({3, 20})), rows);
}

TEST(CompiledFunction, ThrowsWhatTheFunctionThrowsAndGoesOn) {
  bool fails = true;
  const auto fast = rc::compile([&](const Tensor& x) {
    if (fails) throw std::runtime_error("the user's own");
    return x * 2;
  });
  EXPECT_THROW(fast(rc::ones({2})), std::runtime_error);
  EXPECT_EQ(fast.plans(), 0U);
  fails = false;
  expect_equal(fast(rc::ones({2})), rc::full({2}, 2.f));
  expect_error<rc::ValueError>([] { rc::compile([](const Tensor& x) { return matmul(x, x); })(rc::ones({2, 3})); },
                               "matmul: inner sizes differ: left is f32[2,3], right is f32[2,3]; left axis 1 (3) must "
                               "equal right axis 0 (2)\n  inside compile{at}");
  const auto looks = [](const Tensor& x) { return x.sum().item<float>() > 0 ? x : -x; };
  expect_error<rc::TransformError>([&] { rc::compile(looks)(rc::ones({3})); },
                                   "item: needs the value of f32[], which is not known while compile{at} records the "
                                   "function; use where, cond or while_loop\n  inside compile{at}");
  expect_error<rc::TypeError>([] { rc::compile([](const Tensor&) { return 3; })(rc::ones({3})); },
                              "compile: the function returned no tensor: the result is int; return a Tensor or a tree "
                              "that holds one{at}");
  expect_equal(rc::ones({2}) * 2, rc::full({2}, 2.f));
}

// An integer divided by 0, a probability of 2, a row without a class, a class that is none: the function looks at
// values, so the program looks each time it runs.
TEST(CompiledFunction, ChecksTheValuesThatTheFunctionChecks) {
  const std::vector<std::pair<std::function<Tensor(const Tensor&)>, std::pair<Tensor, Tensor>>> cases = {
      {[](const Tensor& b) { return floor_divide(rc::tensor({7, 8}), b); }, {rc::tensor({2, 1}), rc::tensor({1, 0})}},
      {[](const Tensor& b) { return remainder(rc::tensor({7, 8}), b); }, {rc::tensor({2, 1}), rc::tensor({1, 0})}},
      {[](const Tensor& b) { return fmod(rc::tensor({7, 8}), b); }, {rc::tensor({2, 1}), rc::tensor({0, 4})}},
      {[](const Tensor& p) { return rc::bernoulli(p); }, {rc::tensor({0.5, 1.0}), rc::tensor({0.5, 2.0})}},
      {[](const Tensor& std) { return rc::normal(0.0, std); }, {rc::tensor({0.5, 1.0}), rc::tensor({0.5, -1.0})}},
      {[](const Tensor& w) { return rc::multinomial(w, 1, true); }, {rc::tensor({0.0, 1.0}), rc::tensor({0.0, 0.0})}},
      {[](const Tensor& i) { return rc::one_hot(i, 3); }, {rc::tensor({0, 2}), rc::tensor({1, 3})}},
  };
  for (const auto& [f, x] : cases) {
    const auto& [good, bad] = x;
    const std::string expected = thrown_by([&, &f = f, &bad = bad] { f(bad); });
    ASSERT_NE(expected, "");
    const auto fast = rc::compile(f);
    EXPECT_EQ(thrown_by([&, &good = good] { fast(good); }), "");
    EXPECT_EQ(thrown_by([&, &bad = bad] { fast(bad); }), expected);
    EXPECT_EQ(fast.plans(), 1U);
    const rc::Program program = rc::trace(f)(good);
    EXPECT_EQ(thrown_by([&, &bad = bad] { program({bad}); }), expected);
    EXPECT_EQ(thrown_by([&, &bad = bad] { program.simplified()({bad}); }), expected);
    const Tensor rows = rc::stack({good, bad});
    // Mapped examples and steps of a loop are looked at together or one by one: the place may be said in another way.
    const auto reason = [](const std::string& text) {
      return text.substr(0, std::min({text.find(" at ["), text.find(" in example"), text.find(';')}));
    };
    const rc::VmapOptions different{.randomness = rc::Randomness::different};
    EXPECT_EQ(reason(thrown_by([&, &f = f] { rc::compile(rc::vmap(f, different))(rows); })), reason(expected));
    EXPECT_EQ(reason(thrown_by([&] { rc::vmap(fast, different)(rows); })), reason(expected));
    const auto step = [&f = f](const Tensor& state, const Tensor& row) { return std::pair(state, f(row)); };
    EXPECT_EQ(reason(thrown_by([&] { rc::scan(step, rc::tensor(0.0), rows); })), reason(expected));
  }
}

TEST(CompiledFunction, NamesTheExampleWhoseValueIsWrong) {
  const Tensor rows = rc::tensor({{1, 2}, {3, 0}});
  const auto f = [](const Tensor& b) { return rc::tensor({7, 8}) % b; };
  const std::string expected = thrown_by([&] { rc::vmap(f)(rows); });
  EXPECT_NE(expected.find("the divisor i64[2] is 0 at [1] in example 1"), std::string::npos) << expected;
  EXPECT_EQ(thrown_by([&] { rc::compile(rc::vmap(f))(rows); }), expected);
}

TEST(CompiledFunction, LooksAtCapturedDivisorsAtEachCall) {
  const Tensor d = rc::tensor({2, 1}), x = rc::tensor({7, 8});
  const auto fast = rc::compile([d](const Tensor& x) { return x % d; });
  expect_equal(fast(x), rc::tensor({1, 0}));
  d.fill_(0);
  EXPECT_NE(thrown_by([&] { fast(x); }), "");
  const auto program = rc::trace([](const Tensor& x) { return x % 2 + x / 2; })(x);
  EXPECT_EQ(rc::to_string(program).find("check_divisor"), std::string::npos) << "a number stays what it is";
}

TEST(CompiledFunction, DividesNoExamplesByZero) {
  const Tensor y = rc::tensor({0, 1, 2});
  const auto f = [y](const Tensor& u) { return u % y; };
  EXPECT_EQ(rc::vmap(f)(rc::zeros({0, 3}, rc::int64)).shape(), rc::Shape({0, 3}));
}

TEST(CompiledFunction, RunsAgainForNoExamples) {
  const auto fast = rc::compile([](const Tensor& x) { return roll(x, 1, 0); });
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(rc::vmap([&](const Tensor& x) { return fast(x); })(rc::zeros({0, 3})).shape(), rc::Shape({0, 3})) << i;
}

// The places of both stand along sizes that may be others: the plan may not read as many elements as it was made for.
TEST(CompiledFunction, FindsPlacesAlongAxesOfAnySize) {
  const auto f = [](const Tensor& x, const Tensor& y) { return sin(x) + argmax(y) + std::get<1>(max(y, 0)); };
  const auto fast = rc::compile(f);
  for (const std::int64_t n : {40, 500, 2000}) {
    const Tensor x = rc::zeros({20}), y = rc::arange(static_cast<double>(n));
    expect_close(fast(x, y), f(x, y));
  }
}

TEST(CompiledFunction, AddsAtOnePlaceInAsManyDigitsAsTheFunction) {
  for (const rc::DType dtype : {rc::float16, rc::bfloat16, rc::float32}) {
    const auto f = [](const Tensor& a, const Tensor& b) {
      return rc::scatter_add(a, 0, rc::zeros({8}, rc::int64), b) * 2;
    };
    const double half_ulp = dtype == rc::float16 ? 0x1p-11 : dtype == rc::bfloat16 ? 0x1p-8 : 0x1p-24;
    const Tensor a = rc::ones({3, 2}, dtype), b = rc::full({3, 8}, half_ulp, dtype);
    EXPECT_TRUE(rc::equal(rc::compile(rc::vmap(f))(a, b), rc::vmap(f)(a, b))) << dtype;
  }
}

TEST(CompiledFunction, TellsMinusZeroFromZeroInVectors) {
  const auto fast = rc::compile([](const Tensor& x, const std::vector<double>& y) { return x / y[0]; });
  const Tensor one = rc::tensor(1.0);
  fast(one, std::vector<double>{0.0});
  EXPECT_EQ(fast(one, std::vector<double>{-0.0}).item<double>(), -std::numeric_limits<double>::infinity());
  fast(one, std::vector<double>{std::nan("")});
  fast(one, std::vector<double>{std::nan("")});
  EXPECT_EQ(fast.plans(), 3U);
}

// --- Transforms

TEST(CompiledFunction, ComposesWithTransformsInAnyOrder) {
  const auto f = [](const Tensor& x) { return (exp(sin(x)) * x).sum(); };
  const auto fast = rc::compile(f);
  const Tensor x = rc::linspace(-1, 1, 20, rc::float64), rows = rc::stack({x, x * 2, x * 3});
  const double digits = 1e-12;
  expect_close(rc::grad(fast)(x), rc::grad(f)(x), digits);
  expect_close(rc::hessian(fast)(x), rc::hessian(f)(x), digits);
  expect_close(rc::jacfwd(rc::jacrev(fast))(x), rc::hessian(f)(x), digits);
  expect_close(rc::jacrev(rc::jacfwd(fast))(x), rc::hessian(f)(x), digits);
  expect_close(rc::vmap(rc::grad(fast))(rows), rc::vmap(rc::grad(f))(rows), digits);
  expect_close(rc::compile(rc::vmap(rc::grad(fast)))(rows), rc::vmap(rc::grad(f))(rows), digits);
  const auto sums = [](const auto& g) { return [g](const Tensor& t) { return rc::vmap(g)(t).sum(); }; };
  expect_close(rc::grad(sums(fast))(rows), rc::grad(sums(f))(rows), digits);
  expect_close(rc::compile(rc::grad(sums(rc::compile(rc::grad(sums(fast))))))(rc::stack({rows})),
               rc::grad(sums(rc::grad(sums(f))))(rc::stack({rows})), digits);
  const auto [value, slope] = rc::linearize(fast, x);
  expect_close(value, f(x), digits);
  expect_close(slope(x), rc::jvp(f, std::tuple(x), std::tuple(x)).second, digits);
  rc::Tape tape;
  Tensor watched = x.clone();
  tape.watch(watched);
  expect_close(tape.gradient(fast(watched), watched), rc::grad(f)(x), digits);
}

TEST(CompiledFunction, RunsInLoopsBranchesCheckpointsAndCustomFunctions) {
  const auto step = [](const Tensor& x) { return sin(x) * 0.9; };
  const auto fast = rc::compile(step);
  const Tensor x = rc::linspace(0.1, 2, 20, rc::float64);
  const auto by_loop = [](const auto& body) {
    return [body](const Tensor& t) { return rc::fori_loop(0, 5, [&](auto, Tensor s) { return body(s); }, t).sum(); };
  };
  expect_close(rc::grad(by_loop(fast))(x), rc::grad(by_loop(step))(x), 1e-12);
  expect_close(rc::compile(rc::grad(by_loop(fast)))(x), rc::grad(by_loop(step))(x), 1e-12);
  const auto by_cond = [](const auto& body) {
    return [body](const Tensor& t) {
      return rc::cond(t.sum() > 0, [&](Tensor s) { return body(s); }, [&](Tensor s) { return s * 2; }, t).sum();
    };
  };
  const Tensor both = rc::stack({x, -x});
  expect_close(rc::vmap(rc::grad(by_cond(fast)))(both), rc::vmap(rc::grad(by_cond(step)))(both), 1e-12);
  expect_close(rc::grad([&](const Tensor& t) { return rc::checkpoint(fast)(t).sum(); })(x),
               rc::grad([&](const Tensor& t) { return step(t).sum(); })(x), 1e-12);
  const auto custom = rc::custom_vjp(
      fast, [&](const Tensor& t) { return std::pair{fast(t), t}; },
      [&](const Tensor& t, const Tensor& ct) { return fast(t) * ct; });
  expect_close(rc::grad([&](const Tensor& t) { return custom(t).sum(); })(x), step(x), 1e-12);
}

// The check reads the cotangent, so it is no part of the forward half.
TEST(CompiledFunction, ChecksWhatABackwardRuleChecksOnTheWayBack) {
  const auto doubled =
      rc::custom_vjp([](const Tensor& x) { return x * 2; }, [](const Tensor& x) { return std::pair{x * 2, 0}; },
                     [](int, const Tensor& ct) { return ct * (rc::tensor(7) % ct.to(rc::int64)).to(ct.dtype()); });
  const auto fast = rc::compile([doubled](const Tensor& x) { return doubled(x).sum(); });
  const Tensor x = rc::ones({3});
  expect_equal(rc::grad([&](const Tensor& t) { return fast(t) * 3; })(x), rc::full({3}, 3.f));
  EXPECT_THROW(rc::grad([&](const Tensor& t) { return fast(t) * 0; })(x), rc::ValueError);
  expect_equal(fast(x), rc::tensor(6.f));
}

TEST(CompiledFunction, MayBeCalledBySeveralThreads) {
  const auto fast = rc::compile(energy);
  std::vector<float> found(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < found.size(); ++i)
    threads.emplace_back([&, i] {
      for (int call = 0; call < 50; ++call) found[i] = fast(rc::arange(20. + static_cast<double>(i))).item<float>();
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], energy(rc::arange(20. + static_cast<double>(i))).item<float>(), 1e-4);
}

TEST(CompiledFunction, HasOnePlanWhereSeveralThreadsCallItFirst) {
  std::barrier all_inside(4);
  const auto fast = rc::compile([&](const Tensor& x) {
    all_inside.arrive_and_wait();
    return x * 2;
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { expect_equal(fast(rc::ones({3})), rc::full({3}, 2.f)); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(fast.plans(), 1U);
}

}  // namespace
