// Scans in recorded functions: whatever transforms are applied to one, the program is made of plain scans, for all
// numbers of slices, and computes what the transforms of the function do.
#include <gtest/gtest.h>

#include "ricci/ricci.h"
#include "support/expect_error.h"
#include "support/expect_tensor.h"
#include "support/plain_program.h"

namespace rc = ricci;
using rc::Randomness;
using rc::Tensor;
using namespace testing_support;

namespace {

/// A scan with a capture, a carry and rows, all of which the result depends on.
Tensor average(Tensor xs) {
  const Tensor scale = xs.sum() * 0.1;
  const auto step = [&](Tensor carry, Tensor x) {
    const Tensor next = tanh(scale * carry + x);
    return std::pair{next, next * x};
  };
  const auto [last, all] = rc::scan(step, number(0.5), xs);
  return last + (all * all).sum();
}

const Tensor three = doubles({1, 2, 3}), other = doubles({-1, 0.5, 2}), longer = doubles({-1, 5, 2, 1, -3});

TEST(RecordedScan, EveryTransformOfItIsMadeOfScans) {
  const Tensor rows = rc::stack({three, other}), more = rc::stack({longer, -longer, 2 * longer});
  EXPECT_EQ(times(expect_plain(average, three, {other, longer}), "scan["), 1U);
  EXPECT_EQ(times(expect_plain(rc::grad(average), three, {other, longer}), "scan["), 2U);
  EXPECT_EQ(times(expect_plain([](Tensor x) { return derivative(average, x); }, three, {other}), "scan["), 1U);
  EXPECT_EQ(times(expect_plain(rc::vmap(average), rows, {more}), "scan["), 1U);
  EXPECT_EQ(times(expect_plain(rc::vmap(rc::grad(average)), rows, {more}), "scan["), 2U);
  expect_plain(rc::grad([](Tensor x) { return rc::vmap(average)(x).sum(); }), rows, {more});
  expect_plain(rc::hessian(average), three, {other}, 1e-10);
  expect_plain(rc::jacfwd(rc::grad(average)), three, {other}, 1e-10);
  expect_plain(rc::grad([](Tensor x) { return rc::grad(average)(x).sum(); }), three, {other, longer}, 1e-10);
  expect_plain(rc::vmap(rc::vmap(rc::grad(average))), rc::stack({rows, 2 * rows}), {rc::stack({more, -more, more})});
  expect_plain(rc::vmap([](Tensor x) { return derivative(rc::grad(average), x); }), rows, {2 * rows}, 1e-10);
}

TEST(RecordedScan, ItsGradientIsAForwardScanThatKeepsRowsAndABackwardOne) {
  const auto f = [](Tensor xs, Tensor w) {
    return rc::scan([&](Tensor c, Tensor x) { return std::pair{tanh(w * c + x), std::tuple<>()}; }, number(0), xs)
        .first;
  };
  const auto slopes = [&](Tensor xs, Tensor w) { return rc::grad<0, 1>(f)(xs, w); };
  const rc::Program p = rc::trace(slopes)(three, number(0.5));
  EXPECT_EQ(rc::to_string(p), R"(program(a: f64[s0], b: f64[]) {
  c: f64[], d: f64[s0], e: f64[s0] = scan[step=program(a: f64[], b: f64[], c: f64[]) {
      d: f64[] = mul c a
      e: f64[] = add d b
      f: f64[] = tanh e
      return f a f
    }, carried=1, scanned=1, streams=0, reverse=false, length=none] carry(f64(0.0)) xs(a) step(b)
  f: f64[] = full[shape=(), dtype=f64, integer=1, real=1, imaginary=0]
  g: f64[] = structural_zeros[shape=(), dtype=f64]
  h: f64[], k: f64[], l: f64[s0] = scan[step=program(a: f64[], b: f64[], c: f64[], d: f64[], e: f64[]) {
      f: f64[] = tanh_slope a d
      g: f64[] = mul f c
      h: f64[] = mul f e
      k: f64[] = add b g
      return h k f
    }, carried=2, scanned=2, streams=0, reverse=true, length=none] carry(f g) xs(d e) step(b)
  return l k
}
)");
}

TEST(RecordedScan, ItsWayBackReadsTheStateAndComputesSumsAndProductsAgain) {
  const auto f = [](Tensor xs) {
    const auto step = [](Tensor c, Tensor x) {
      const Tensor a = c * x, b = a * (c - a), d = b / (1 + a * a);
      return std::pair{d * (b - c), std::tuple<>()};
    };
    return rc::scan(step, number(0.5), xs).first;
  };
  const std::string program = expect_plain(rc::grad(f), three, {other, longer});
  EXPECT_EQ(times(program, "reverse=true"), 1U);
  EXPECT_EQ(times(program, "carried=1, scanned=2, streams=0, reverse=true"), 1U);  // c and x
  expect_plain(rc::vmap(rc::grad(f)), rc::stack({three, other}), {rc::stack({longer, -longer, 2 * longer})});
  expect_plain(rc::hessian(f), three, {other}, 1e-10);
}

TEST(RecordedScan, OverNoSlicesTheCarryAndItsGradientPassThrough) {
  const auto f = [](Tensor xs, Tensor c) {
    const Tensor scale = exp(c);
    const auto [last, ys] = rc::scan([&](Tensor, Tensor x) { return std::pair{scale * x, x * x}; }, c, xs);
    return last * 3 + ys.sum();
  };
  const auto slope = rc::grad<1>(f);
  const rc::Program p = rc::trace(f)(three, number(2)), q = rc::trace(slope)(three, number(2));
  const Tensor none = doubles({}, {0});
  expect_close(p({none, number(2)})[0], number(6));
  expect_close(q({none, number(2)})[0], number(3));
  expect_close(q({three, number(2)})[0], slope(three, number(2)));
}

TEST(RecordedScan, RunsBothWays) {
  const auto f = [](Tensor xs) {
    const auto step = [](Tensor c, Tensor x) { return std::pair{c * 0.5 + x * x, sin(c) * x}; };
    const auto [last, all] = rc::scan(step, number(1), xs, {.reverse = true});
    return last * (all * all).sum();
  };
  expect_plain(rc::grad(f), three, {longer, other});
  expect_plain(rc::hessian(f), three, {other}, 1e-10);
  expect_plain(rc::vmap(rc::grad(f)), rc::stack({three, other}), {rc::stack({longer, -longer, 2 * longer})});
}

TEST(RecordedScan, NothingOfRowsWithoutACotangentReachesAGradient) {
  const auto f = [](Tensor xs) {
    return rc::scan([](Tensor c, Tensor x) { return std::pair{c + x * x, log(c)}; }, xs[0] - xs[0], xs).first;
  };
  const Tensor slope = rc::trace(rc::grad(f))(three)({three})[0];
  expect_close(slope, 2 * three);
}

TEST(RecordedScan, OfMapIsPlainUnderItsTransforms) {
  const auto f = [](Tensor xs) { return rc::map([](Tensor x) { return sin(x) * x.sum(); }, xs); };
  const Tensor rows = rc::stack({three, other}), more = rc::stack({other, -three, three});
  expect_plain(f, rows, {more});
  expect_plain(rc::grad([&](Tensor x) { return (f(x) * x).sum(); }), rows, {more});
  expect_plain(rc::vmap(f), rc::stack({rows, -rows}), {rc::stack({more, 2 * more, -more})});
}

TEST(RecordedScan, InsideAScanIsPlainToo) {
  const auto f = [](Tensor xs) {
    const auto outer = [](Tensor c, Tensor row) {
      const auto inner = [&](Tensor d, Tensor x) { return std::pair{d * c.cos() + x, d * x}; };
      const auto [last, ys] = rc::scan(inner, c, row);
      return std::pair{last, (ys * row).sum()};
    };
    const auto [last, ys] = rc::scan(outer, number(0.3), xs);
    return last + (ys * ys).sum();
  };
  const Tensor rows = rc::stack({three, other}) / 3, more = rc::stack({other, -three, three, other}) / 3;
  EXPECT_EQ(times(expect_plain(f, rows, {more}), "scan["), 2U);
  EXPECT_EQ(times(expect_plain(rc::grad(f), rows, {more}), "scan["), 4U);
  expect_plain(rc::vmap(rc::grad(f)), rc::stack({rows, -rows}), {rc::stack({more, 2 * more, -more})});
  expect_plain(rc::hessian(f), rows, {-rows}, 1e-10);
}

TEST(RecordedScan, IntegersAreCarriedAndScanned) {
  const auto f = [](Tensor xs) {
    const Tensor order = rc::arange(0, 3, 1, rc::int64);
    const auto step = [&](Tensor count, Tensor i) { return std::pair{count + 1, xs.index_select(0, i) * count}; };
    const auto [count, ys] = rc::scan(step, rc::tensor(std::vector<std::int64_t>{1}), order);
    return (ys * ys).sum() + count.sum();
  };
  expect_plain(f, three, {other});
  expect_plain(rc::grad(f), three, {other});
  expect_plain(rc::vmap(rc::grad(f)), rc::stack({three, other}), {rc::stack({other, three, -three})});
}

TEST(RecordedScan, TransformsAroundTheProgramSeeThroughItsTransforms) {
  const rc::Program slope = rc::trace(rc::grad(average))(three);
  const auto run = [&](Tensor x) { return slope({x})[0]; };
  const Tensor rows = rc::stack({three, other});
  expect_close(rc::vmap(run)(rows), rc::vmap(rc::grad(average))(rows));
  expect_close(rc::jacrev(run)(three), rc::hessian(average)(three), 1e-10);
  expect_close(rc::trace(rc::vmap(run))(rows)({2 * rows})[0], rc::vmap(rc::grad(average))(2 * rows));
}

TEST(RecordedScan, LinearizedInsideTheRecordingIsComputedOnce) {
  const auto f = [](Tensor x) {
    const auto [y, tangent_of] = rc::linearize(average, x);
    return y + tangent_of(rc::sin(x));
  };
  expect_plain(f, three, {other});
}

TEST(RecordedScan, ExamplesDrawForThemselvesInItsSteps) {
  const auto walk = [](Tensor xs) {
    const auto step = [](Tensor at, Tensor x) {
      const Tensor next = at + x * rc::rand({}, rc::float64);
      return std::pair{next, next - at};
    };
    return rc::scan(step, number(0), xs).second;
  };
  const Tensor ones = rc::ones({4, 50}, rc::float64);
  const auto drawn = [&](Randomness mode) {
    const rc::Program p = rc::trace(rc::vmap(walk, {.randomness = mode}))(rc::ones({2, 3}, rc::float64));
    EXPECT_TRUE(is_plain(rc::to_string(p))) << p;
    return p({ones})[0];
  };
  EXPECT_EQ(rc::unique(drawn(Randomness::different).flatten()).numel(), 200);
  const Tensor same = drawn(Randomness::same);
  EXPECT_EQ(rc::unique(same[0]).numel(), 50);
  for (int i = 1; i < 4; ++i) expect_close(same[i], same[0]);
  EXPECT_THROW(rc::trace(rc::vmap(walk))(ones), rc::TransformError);
}

TEST(RecordedScan, TheWayBackUsesTheNumbersThatWereDrawn) {
  const auto f = [](Tensor xs) {
    const auto step = [](Tensor c, Tensor x) {
      const Tensor noise = rc::rand({}, rc::float64);
      return std::pair{c + x * noise, x * noise};
    };
    const auto [last, ys] = rc::scan(step, number(0), xs);
    return std::pair{last, ys};
  };
  const auto both = [&](Tensor xs) {
    const auto [pair, pull_back] = rc::vjp(f, xs);
    return std::pair{pair.second, pull_back(std::pair{rc::ones_like(pair.first), rc::zeros_like(pair.second)})};
  };
  const std::vector<Tensor> found = rc::trace(both)(three)({other});
  expect_close(found[0], found[1] * other);
}

TEST(RecordedLoop, OfAKnownNumberOfStepsIsAScan) {
  const auto f = [](Tensor x) { return rc::fori_loop(2, 7, [](Tensor i, Tensor y) { return sin(y) + i * y; }, x); };
  const std::string text = expect_plain(f, three, {longer, other});
  EXPECT_NE(text.find("length=5"), std::string::npos) << text;
  EXPECT_EQ(text.find("while_loop"), std::string::npos) << text;
  expect_plain(rc::grad([&](Tensor x) { return f(x).sum(); }), three, {longer});
  expect_plain(rc::vmap(f), three, {longer});
  expect_plain(rc::jacfwd(f), three, {other});
  expect_plain([](Tensor x) { return rc::fori_loop(3, 1, [](Tensor, Tensor y) { return y * 2; }, x); }, three,
               {longer});
}

TEST(RecordedScan, NumbersStayNumbersOnTheWayBack) {
  const auto f = [](Tensor s, Tensor xs) {
    const auto step = [&](Tensor c, Tensor x) { return std::pair{c * exp(s) + x, std::tuple<>()}; };
    return rc::scan(step, rc::tensor(0.5F), xs).first;
  };
  const Tensor s = Tensor(2.0), xs = rc::ones({3});
  const Tensor found = rc::trace(rc::grad<1>(f))(s, xs)({s, xs})[0];
  EXPECT_EQ(found.dtype(), rc::float32);
  expect_close(found, rc::grad<1>(f)(s, xs), 1e-6);
}

struct Bare : rc::Function<Bare> {
  static Tensor forward(const Tensor& x) { return x * 2; }
};

/// A function without a derivative is no matter as long as nobody asks for it.
TEST(RecordedScan, AStepMayHoldWhatHasNoDerivative) {
  const auto both = [](Tensor xs) {
    const auto step = [](Tensor c, Tensor x) { return std::pair{c + x * x, Bare::apply(x)}; };
    return rc::scan(step, number(0), xs);
  };
  const auto f = [&](Tensor xs) { return both(xs).first; };
  expect_close(rc::trace(rc::grad(f))(three)({three})[0], rc::grad(f)(three), 0);
  EXPECT_THROW(rc::trace(rc::grad([&](Tensor xs) { return both(xs).second.sum(); }))(three), rc::NotImplementedError);
}

/// As where the loop runs: a number takes the dtype that the first step gives it.
TEST(RecordedScan, ANumberForACarryTakesTheDtypeOfTheStep) {
  const Tensor xs = rc::ones({3}), x = rc::tensor(0.5F);
  const auto scanned = [](Tensor xs) {
    return rc::scan([](Tensor c, Tensor x) { return std::pair{c + x, x}; }, Tensor(0.0), xs).first;
  };
  const auto counted = [](Tensor x) {
    return rc::fori_loop(0, 3, [&](Tensor, Tensor y) { return y * x; }, Tensor(1.0));
  };
  const auto endless = [](Tensor x) {
    return rc::while_loop([](Tensor y) { return y < 3; }, [&](Tensor y) { return y + x; }, Tensor(1.0));
  };
  EXPECT_EQ(rc::trace(scanned)(xs)({xs})[0].dtype(), rc::float32);
  expect_plain(scanned, xs, {});
  EXPECT_EQ(rc::trace(counted)(x)({x})[0].dtype(), rc::float32);
  expect_plain(counted, x, {});
  EXPECT_EQ(rc::trace(endless)(x)({x})[0].dtype(), rc::float32);
  expect_plain(endless, x, {});
}

TEST(RecordedScan, OverNoSlicesGivesACarryOfItsOwn) {
  const Tensor c = number(1);
  const auto step = [](Tensor carry, Tensor x) { return std::pair{carry + x, x}; };
  rc::scan(step, c, doubles({})).first.add_(1);
  expect_values(c, {1});
}

TEST(RecordedScan, OfTensorsOfDifferentLengthsIsRefusedWhereItIsParsed) {
  const std::string step =
      "scan[step=program(a: f32[], b: f32[], c: f32[]) {\n    d: f32[] = add b c\n"
      "    return a d\n  }\n, carried=1, scanned=2, streams=0, reverse=false, length=none]";
  const std::string text =
      "program(a: f32[3], b: f32[2]) {\n  c: f32[] = zeros[shape=(), dtype=f32]\n  d: f32[], "
      "e: f32[3] = " +
      step + " carry(c) xs(a b)\n  return e\n}\n";
  EXPECT_THROW(rc::parse_program(text, {}), rc::Error) << text;
}

/// The way forward writes each row to its place, and the way back reads it there.
TEST(RecordedScan, HoldsItsRowsOnce) {
  const auto f = [](Tensor x) { return rc::fori_loop(0, 32, [](Tensor, Tensor y) { return sin(y); }, x).sum(); };
  const Tensor x = rc::ones({1 << 18});
  const rc::Program p = rc::trace(rc::grad(f))(x);
  const Tensor expected = rc::grad(f)(x);
  rc::empty_cache();
  const std::size_t before = rc::memory_stats().reserved, rows = std::size_t{32} << 20;
  rc::reset_peak_memory_stats();
  expect_equal(p({x})[0], expected);
  EXPECT_LT(rc::memory_stats().max_reserved - before, rows + rows / 2);
}

TEST(RecordedLoop, AsOftenAsASizeTellsServesAllSizes) {
  const auto f = [](Tensor x) {
    const auto body = [](Tensor i, Tensor y) { return y * 0.5 + i; };
    return rc::fori_loop(0, x.shape()[0], body, x);
  };
  expect_plain(f, three, {other, longer});
}

TEST(RecordedLoop, AsOftenAsASizeTellsKeepsToItsLimit) {
  const auto f = [](Tensor x) {
    return rc::fori_loop(0, x.shape()[0], [](Tensor, Tensor y) { return y * 2; }, x, {.max_steps = 5});
  };
  const rc::Program p = rc::trace(f)(three);
  expect_values(p({longer})[0], values(f(longer)));
  EXPECT_THROW(p({rc::ones({10}, rc::float64)}), rc::ValueError);
}

TEST(RecordedLoop, OfMoreStepsThanItMayTakeIsAnErrorWhenItRuns) {
  const auto f = [](Tensor x) {
    return rc::fori_loop(0, 20, [](Tensor, Tensor y) { return y * 2; }, x, {.max_steps = 5});
  };
  const rc::Program p = rc::trace(f)(three);
  EXPECT_THROW(p({three}), rc::ValueError);
}

}  // namespace
