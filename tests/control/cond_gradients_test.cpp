// cond: derivatives by operands, captures and trees, branches that return their operands, predicates of every kind, and
// conditionals inside maps, loops and each other. Each is held against the same function written with `if`.
#include <gtest/gtest.h>

#include "ricci/ricci.h"
#include "support/difference_quotient.h"
#include "support/expect_tensor.h"
#include "support/model.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

const Tensor x = doubles({0.5, 2, -1}), other = doubles({-0.5, -2, 1});

TEST(CondGradients, OfAParameterThatABranchCaptures) {
  const auto loss = [](const Tensor& w, const Tensor& x) {
    return rc::cond(x.sum() > 0, [&] { return sin(matmul(w, x)); }, [&] { return x * x; }).sum();
  };
  const Tensor w = ramp({3, 3});
  const auto by_hand = [](const Tensor& w, const Tensor& x) { return sin(matmul(w, x)).sum(); };
  expect_close(rc::grad(loss)(w, x), rc::grad(by_hand)(w, x));
  expect_equal(rc::grad(loss)(w, other), rc::zeros({3, 3}, rc::float64));
}

TEST(CondGradients, InAPlainLoop) {
  const auto f = [](Tensor x) {
    for (int i = 0; i < 3; ++i)
      x = rc::cond(Tensor(i == 1), [](Tensor y) { return y * y; }, [](Tensor y) { return sin(y); }, x);
    return x.sum();
  };
  const auto by_hand = [](Tensor x) { return sin(sin(x).square()).sum(); };
  expect_close(f(x), by_hand(x));
  expect_close(rc::grad(f)(x), rc::grad(by_hand)(x));
}

using Pair = std::pair<Tensor, Tensor>;
using Nested = std::pair<std::vector<Tensor>, std::map<std::string, Tensor>>;

TEST(CondGradients, ByATreeOfWhichBranchesUseDifferentParts) {
  const auto f = [](const Nested& t, bool up) {
    return rc::cond(
        Tensor(up), [](const Nested& n) { return sin(n.first[0]) * n.second.at("b"); },
        [](const Nested& n) { return n.first[1] * n.first[1]; }, t);
  };
  const Nested given{{ramp({3}), ramp({3}) + 1}, {{"b", ramp({3}) + 2}}};
  for (const bool up : {true, false}) {
    const auto loss = [&](const Nested& t) { return f(t, up).sum(); };
    const Nested slope = rc::grad(loss)(given);
    const Tensor zero = rc::zeros({3}, rc::float64);
    expect_close(slope.first[0], up ? cos(given.first[0]) * given.second.at("b") : zero);
    expect_close(slope.first[1], up ? zero : 2 * given.first[1]);
    expect_close(slope.second.at("b"), up ? sin(given.first[0]) : zero);
  }
}

TEST(CondGradients, OfATreeOfResults) {
  const auto f = [](Tensor x) {
    const auto one = [](Tensor y) { return Nested{{y * y, y}, {{"c", sin(y)}}}; };
    const auto two = [](Tensor y) { return Nested{{y, y * 3}, {{"c", y}}}; };
    const Nested all = rc::cond(x.sum() > 0, one, two, x);
    return (all.first[0] + 2 * all.first[1] + 3 * all.second.at("c")).sum();
  };
  expect_close(rc::grad(f)(x), 2 * x + 2 + 3 * cos(x));
  expect_close(rc::grad(f)(other), other * 0 + 10);
}

TEST(CondGradients, OfABranchThatReturnsItsOperandOrOneValueTwice) {
  const auto same = [](Tensor y) { return Pair{y, y}; };
  const auto twice = [](Tensor y) {
    const Tensor z = y * 2;
    return Pair{z, z};
  };
  const auto f = [&](Tensor x) { return rc::cond(x.sum() > 0, same, twice, x); };
  const auto total = [&](Tensor x) {
    const auto [a, b] = f(x);
    return (a * b).sum();
  };
  expect_close(rc::grad(total)(x), 2 * x);
  expect_close(rc::grad(total)(other), 8 * other);
  const Tensor watched = x.clone();
  rc::Tape tape;
  tape.watch(watched);
  expect_close(tape.gradient(total(watched), watched), 2 * x);
}

TEST(CondGradients, WithATensorMadeInTheBranch) {
  const auto f = [](Tensor x) {
    const auto made = [](Tensor y) {
      const Tensor weights = rc::tensor({1., 2., 3.}).to(rc::float64);
      return sin(y) * weights;
    };
    return rc::cond(x.sum() > 0, made, [](Tensor y) { return rc::ones_like(y) * 5 * y; }, x).sum();
  };
  expect_close(rc::grad(f)(x), cos(x) * doubles({1, 2, 3}));
  expect_close(rc::grad(f)(other), other * 0 + 5);
  expect_close(rc::trace(rc::grad(f))(x)({other})[0], other * 0 + 5);
}

TEST(CondValues, ShareNoMemoryWithWhatTheyReturn) {
  const auto keep = [](Tensor y) { return y; };
  const Tensor given = x.clone();
  const Tensor kept = rc::cond(rc::tensor(true), keep, keep, given);
  kept.add_(1);
  expect_equal(given, x);
  const auto [a, b] =
      rc::cond(rc::tensor(true), [](Tensor y) { return Pair{y, y}; }, [](Tensor y) { return Pair{y, y}; }, given);
  a.mul_(2);
  expect_equal(given, x);
  expect_equal(b, x);
  const Tensor one = rc::cond(
      rc::tensor(true), [](Tensor p, Tensor q) { return p.add_(1), q; }, [](Tensor p, Tensor) { return p; }, given,
      given);
  expect_equal(one, x);  // two operands are two, though they were one tensor
  expect_equal(given, x);
}

TEST(CondValues, AWriteToAnOperandStaysInTheBranch) {
  const auto writes = [](Tensor y) { return y.mul_(2), y + 1; };
  const Tensor given = x.clone();
  expect_close(rc::cond(rc::tensor(true), writes, writes, given), 2 * x + 1);
  expect_equal(given, x);
  expect_close(rc::trace([&](Tensor y) { return rc::cond(y.sum() > 0, writes, writes, y) + y; })(x)({other})[0],
               3 * other + 1);
}

TEST(CondValues, PredicatesAreBooleansNumbersAndTensorsOfOneElement) {
  const auto f = [](const Tensor& p) {
    return rc::cond(p, [](Tensor y) { return y + 1; }, [](Tensor y) { return y - 1; }, x);
  };
  for (const Tensor& yes : {Tensor(true), Tensor(2), Tensor(0.5), rc::tensor(true), rc::ones({1}), rc::ones({1, 1})})
    expect_equal(f(yes), x + 1);
  for (const Tensor& no : {Tensor(false), Tensor(0), Tensor(0.0), rc::tensor(false), rc::zeros({1, 1})})
    expect_equal(f(no), x - 1);
}

TEST(CondValues, ThePredicateMayBeAQuestionOfSizes) {
  const auto f = [](Tensor x) {
    return rc::cond(Tensor(x.size(0) == 3), [](Tensor y) { return y * 2; }, [](Tensor y) { return y * 3; }, x);
  };
  expect_close(f(x), x * 2);
  expect_close(f(ramp({4})), ramp({4}) * 3);
  expect_close(rc::trace(f)(x)({other})[0], other * 2);
}

TEST(CondValues, ThePredicateMayBeAValueThatWasRead) {
  const auto f = [](Tensor x) {
    const bool up = x.sum().item<double>() > 0;
    const auto scaled = [](Tensor y) { return y * y.max().item<double>(); };
    return rc::cond(Tensor(up), scaled, [](Tensor y) { return -y; }, x);
  };
  expect_close(f(x), x * 2);
  expect_close(f(other), -other);
}

TEST(CondValues, BranchesMayLayTheirResultsOutDifferently) {
  const Tensor m = ramp({2, 3});
  const auto f = [](Tensor m) {
    return rc::cond(m.sum() > 0, [](Tensor a) { return a.t().contiguous(); }, [](Tensor a) { return a.t(); }, m);
  };
  expect_close(f(m), m.t());
  expect_close(f(-m), -m.t());
  const Tensor both = rc::stack({m, -m});
  expect_close(rc::vmap(f)(both), both.transpose(1, 2));
  expect_close(rc::trace(f)(m)({-m})[0], -m.t());
}

TEST(CondValues, OfDifferentShapesAreThatOfTheBranchTakenButNoOneProgram) {
  const auto f = [](Tensor x) {
    return rc::cond(x.sum() > 0, [](Tensor y) { return y; }, [](Tensor y) { return rc::cat({y, y}); }, x);
  };
  EXPECT_EQ(sizes(f(x)), (Sizes{3}));
  EXPECT_EQ(sizes(f(other)), (Sizes{6}));
  EXPECT_THROW(rc::trace(f)(x), rc::ValueError);
}

TEST(CondInControl, InMapsOfMapsByMasksAndValues) {
  const Tensor xs = ramp({2, 3}) - 0.6;
  const auto bend = [](Tensor v) {
    return rc::cond(v > 0, [](Tensor y) { return y * y; }, [](Tensor y) { return -y; }, v);
  };
  const auto all = [&](Tensor rows) { return rc::map([&](Tensor row) { return rc::map(bend, row); }, rows); };
  expect_close(all(xs), rc::where(xs > 0, xs * xs, -xs));
  expect_close(rc::grad([&](Tensor rows) { return all(rows).sum(); })(xs), rc::where(xs > 0, 2 * xs, xs * 0 - 1));
  expect_close(rc::trace(all)(xs)({-xs})[0], rc::where(xs < 0, xs * xs, xs));
  const auto masked = [](Tensor mask, Tensor row) {
    const auto one = [](Pair p) {
      return rc::cond(p.first, [](Tensor y) { return y * 10; }, [](Tensor y) { return y; }, p.second);
    };
    return rc::map(one, Pair{mask, row});
  };
  expect_close(masked(xs[0] > 0, xs[0]), rc::where(xs[0] > 0, xs[0] * 10, xs[0]));
}

/// Two questions, one inside the other's branch, with captures of both levels.
Tensor nested(Tensor x, Tensor y) {
  const Tensor scale = x.sum() + 3;
  const auto inner = [&](Tensor a) {
    const Tensor shift = a * 2;
    return rc::cond(y.sum() > 0, [&] { return sin(a) * scale + shift; }, [&] { return shift * y; });
  };
  return rc::cond(x.sum() > 0, inner, [&](Tensor a) { return a * a * scale; }, x);
}
Tensor nested_by_hand(Tensor x, Tensor y) {
  const Tensor scale = x.sum() + 3;
  if (x.sum().item() <= 0) return x * x * scale;
  return y.sum().item() > 0 ? sin(x) * scale + x * 2 : x * 2 * y;
}

TEST(CondInControl, NestedAnswersAllFourCombinationsRecordedToo) {
  const rc::Program program = rc::trace(nested)(x, x);
  const auto slope = rc::grad<0, 1>([](Tensor a, Tensor b) { return nested(a, b).sum(); });
  const auto slope_by_hand = rc::grad<0, 1>([](Tensor a, Tensor b) { return nested_by_hand(a, b).sum(); });
  const rc::Program slopes = rc::trace(slope)(x, x);
  for (const Tensor& a : {x, other})
    for (const Tensor& b : {x, other}) {
      expect_close(nested(a, b), nested_by_hand(a, b));
      expect_close(program({a, b})[0], nested_by_hand(a, b));
      const auto [by_a, by_b] = slope_by_hand(a, b);
      expect_close(slopes({a, b})[0], by_a);
      expect_close(slopes({a, b})[1], by_b);
      expect_close(std::get<0>(slope(a, b)), by_a);
    }
}

TEST(CondInControl, OneAfterTheOtherInOneProgram) {
  const auto f = [](Tensor x, Tensor p, Tensor q) {
    const Tensor first = rc::cond(p, [](Tensor a) { return a + a; }, [](Tensor a) { return a * a; }, x);
    const Tensor second = rc::cond(q, [](Tensor a) { return sin(a); }, [](Tensor a) { return -a; }, first);
    return first + second;
  };
  const rc::Program program = rc::trace(f)(x, rc::tensor(true), rc::tensor(true));
  for (const bool p : {true, false})
    for (const bool q : {true, false}) {
      const Tensor first = p ? x + x : x * x;
      expect_close(program({x, rc::tensor(p), rc::tensor(q)})[0], first + (q ? sin(first) : -first));
    }
}

TEST(CondInControl, NumbersAndModelsAreCaptured) {
  const Linear layer = make_linear(3, 2);
  const auto f = [&](Tensor x, double scale) {
    return rc::cond(
        x.sum() > 0, [&](Tensor y) { return scale * (matmul(y, layer.weight) + layer.bias); },
        [&](Tensor y) { return matmul(y, layer.weight) - scale; }, x);
  };
  expect_close(f(x, 2), 2 * (matmul(x, layer.weight) + layer.bias));
  expect_close(f(other, 2), matmul(other, layer.weight) - 2);
  const Tensor rows = rc::stack({x, other});
  expect_close(rc::vmap([&](Tensor r) { return f(r, 2); })(rows), rc::stack({f(x, 2), f(other, 2)}));
}

}  // namespace
