// Where draws inside vmap take their numbers from: the formula, independence of chunks and threads, and what
// manual_seed, generators of one's own and several runs do.
#include "interpreters/streams.h"

#include <algorithm>
#include <functional>
#include <thread>

#include "kernels/random.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Randomness;
using rc::Tensor;
using namespace testing_support;

namespace {

using Function = std::function<Tensor(Tensor)>;

Tensor noise(Tensor x) { return rc::randn_like(x); }

Tensor mapped(const Function& f, const Tensor& x, std::int64_t chunk_size) {
  return rc::vmap(f, {.randomness = Randomness::different, .chunk_size = chunk_size})(x);
}
Tensor mapped(const Function& f, const Tensor& x) { return rc::vmap(f, {.randomness = Randomness::different})(x); }

// ── the formula ──

TEST(Streams, AMapDrawsOnceForAllExamplesFromAStreamDerivedFromOnePosition) {
  rc::Generator g(9);
  rc::rand({2}, {.generator = g});  // position 0
  const Tensor drawn = rc::vmap(
      [&](Tensor) {
        rc::rand({3}, {.dtype = rc::float64, .generator = g});
        return rc::rand({3}, {.dtype = rc::float64, .generator = g});
      },
      {.randomness = Randomness::different})(rc::zeros({4}));
  const std::uint64_t seed = rc::kernels::derived_source({9, 1}, 0, rc::kernels::Purpose::scope).seed;
  std::vector<double> expected(12);
  const std::int64_t shape[] = {12}, strides[] = {1};
  rc::kernels::random_uniform({expected.data(), rc::float64, 1, shape, strides}, {seed, 1});
  expect_values(drawn.flatten(), expected, 1e-300);
  EXPECT_EQ(g.next(), 2U);  // the map has taken one position
}

TEST(Streams, NumbersOutsideTransformsAreThoseOfTheSeedAndPosition) {
  rc::Generator g(9);
  rc::rand({2}, {.generator = g});
  const Tensor drawn = rc::rand({5}, {.dtype = rc::float64, .generator = g});
  std::vector<double> expected(5);
  const std::int64_t shape[] = {5}, strides[] = {1};
  rc::kernels::random_uniform({expected.data(), rc::float64, 1, shape, strides}, {9, 1});
  expect_values(drawn, expected, 1e-300);
}

// ── states ──

TEST(Streams, AStateThatIsPutBackRepeatsWhatWasDrawn) {
  const auto draws = [](rc::Generator& g) {
    const Tensor first = rc::rand({3}, {.generator = g});
    const Tensor mapped = rc::vmap([&](Tensor x) { return x + rc::randn({2}, {.generator = g}); },
                                   {.randomness = Randomness::different})(rc::zeros({4, 2}));
    return rc::cat({first, mapped.flatten(), rc::randperm(5, {.generator = g}).to(rc::float32)});
  };
  rc::Generator g(9), other(9);
  draws(g);
  const rc::GeneratorState state = g.get_state();
  const Tensor drawn = draws(g);
  EXPECT_FALSE(g.get_state() == state);
  g.set_state(state);
  EXPECT_EQ(g.get_state(), state);
  expect_equal(draws(g), drawn);
  other.set_state(state);
  expect_equal(draws(other), drawn);
  g.manual_seed(state.seed);
  draws(g);
  expect_equal(draws(g), drawn);
  rc::manual_seed(3);
  rc::rand({2});
  const rc::GeneratorState before = rc::get_rng_state();
  const Tensor x = rc::rand({2});
  rc::set_rng_state(before);
  expect_equal(rc::rand({2}), x);
}

TEST(Streams, AStateThatIsPutBackInAFunctionSeedsItAnew) {
  rc::Generator g(9);
  rc::rand({2}, {.generator = g});
  const rc::GeneratorState state = g.get_state();
  const auto twice = [&](Tensor x) {
    g.set_state(state);
    const Tensor first = rc::rand({2}, {.generator = g});
    g.set_state(state);
    return x + first - rc::rand({2}, {.generator = g});
  };
  const Tensor zeros = rc::zeros({3, 2});
  expect_equal(mapped(twice, zeros), zeros);
  expect_equal(mapped(twice, zeros, 2), zeros);
  expect_equal(rc::trace(twice)(zeros[0])({zeros[0]})[0], zeros[0]);
}

TEST(Streams, AStateIsAskedForOutsideOfFunctionsWithStreamsOfTheirOwn) {
  const auto ask = [](Tensor x) {
    rc::get_rng_state();
    return x.sum();
  };
  const Tensor x = ramp({3});
  EXPECT_NO_THROW(rc::grad(ask)(x));
  EXPECT_THROW(mapped(ask, x), rc::TransformError);
  EXPECT_THROW(rc::grad([&](Tensor y) { return rc::vmap(ask)(y).sum(); })(x), rc::TransformError);
  EXPECT_THROW(rc::trace(ask)(x), rc::TransformError);
}

TEST(Streams, AMillionNumbersAreAllDifferentAndTheSameInChunks) {
  const Function draw = [](Tensor) { return rc::rand({1000}, rc::float64); };
  const Tensor x = rc::zeros({1000});
  rc::manual_seed(1);
  const Tensor whole = mapped(draw, x);
  for (std::int64_t size : {1, 7, 64}) {
    rc::manual_seed(1);
    expect_equal(mapped(draw, x, size), whole);
  }
  Values all = values(whole);
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
}

TEST(Streams, ExamplesAreUncorrelated) {
  rc::manual_seed(2);
  const Tensor x = mapped([](Tensor) { return rc::randn({2000}, rc::float64); }, rc::zeros({40}));
  const Tensor correlation = rc::matmul(x, x.t()) / 2000 - rc::eye(40, rc::float64);
  EXPECT_LT(correlation.abs().max().item(), 5 / std::sqrt(2000.0));
}

// ── runs ──

TEST(Streams, TwoMapsInARowDiffer) {
  rc::manual_seed(1);
  const Tensor x = rc::zeros({4, 3});
  EXPECT_NE(values(mapped(noise, x)), values(mapped(noise, x)));
}

TEST(Streams, TwoMapsInARowInsideAMapDiffer) {
  rc::manual_seed(1);
  const auto twice = [](Tensor x) { return std::pair{mapped(noise, x, 2), mapped(noise, x, 2)}; };
  const auto [first, second] = rc::vmap(twice, {.randomness = Randomness::different})(rc::zeros({2, 5, 3}));
  Values all = values(first), more = values(second);
  all.insert(all.end(), more.begin(), more.end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
}

TEST(Streams, DrawsBeforeBetweenAndAfterInnerMapsDoNotDependOnChunks) {
  const auto f = [](std::int64_t chunk) {
    return [chunk](Tensor x) {
      const Tensor before = noise(x), first = mapped(noise, x, chunk), between = noise(x);
      const Tensor second = mapped([](Tensor a) { return noise(a) + noise(a); }, x, chunk), after = noise(x);
      return rc::stack({before, first, between, second, after});
    };
  };
  const Tensor x = rc::zeros({3, 4, 2});
  rc::manual_seed(1);
  const Tensor whole = mapped(f(4), x, 3), next = noise(x);
  rc::manual_seed(1);
  expect_equal(mapped(f(1), x, 2), whole);
  expect_equal(noise(x), next);
}

TEST(Streams, ADrawAfterAMapDoesNotDependOnItsChunks) {
  const Tensor x = rc::zeros({5, 3});
  rc::manual_seed(1);
  mapped(noise, x);
  const Tensor after = rc::rand({3});
  for (std::int64_t size : {1, 2, 5}) {
    rc::manual_seed(1);
    mapped(noise, x, size);
    expect_equal(rc::rand({3}), after);
  }
}

// ── generators ──

TEST(Streams, AGeneratorMakesACallRepeatable) {
  const auto f = [](rc::Generator& g) { return [&g](Tensor x) { return rc::randn_like(x, {.generator = g}); }; };
  const Tensor x = rc::zeros({4, 3});
  rc::Generator g(7), h(7);
  const Tensor first = mapped(f(g), x);
  rc::manual_seed(99);
  expect_equal(mapped(f(h), x, 3), first);
  EXPECT_NE(values(mapped(f(g), x)), values(first));
}

TEST(Streams, SeveralGeneratorsKeepToThemselves) {
  rc::Generator g(7), h(7);
  const Tensor x = rc::zeros({4, 3});
  const Tensor both = mapped(
      [&](Tensor a) {
        const Tensor left = rc::randn_like(a, {.generator = g}), right = rc::randn_like(a, {.generator = h});
        return left - right;
      },
      x);
  EXPECT_EQ(values(both), Values(12, 0.0));
}

TEST(Streams, AGeneratorMadeInsideTheFunctionStartsItsStreamEachTime) {
  const Function f = [](Tensor x) {
    rc::Generator g(5);
    const Tensor first = rc::randn_like(x, {.generator = g});
    rc::Generator h(5);
    return rc::stack({first, rc::randn_like(x, {.generator = h})});
  };
  const Tensor x = rc::zeros({4, 3});
  const Tensor drawn = mapped(f, x);
  expect_equal(drawn.select(1, 0), drawn.select(1, 1));
  expect_equal(mapped(f, x, 1), drawn);
}

TEST(Streams, ManualSeedInsideTheFunctionStartsANewStream) {
  const Function f = [](Tensor x) {
    const Tensor before = noise(x);
    rc::manual_seed(4);
    const Tensor first = noise(x);
    rc::manual_seed(4);
    return rc::stack({before, first, noise(x)});
  };
  const Tensor x = rc::zeros({6, 3});
  rc::manual_seed(1);
  const Tensor whole = mapped(f, x), next = rc::rand({2});
  expect_equal(whole.select(1, 1), whole.select(1, 2));
  EXPECT_NE(values(whole.select(1, 0)), values(whole.select(1, 1)));
  for (std::int64_t size : {1, 4}) {
    rc::manual_seed(1);
    expect_equal(mapped(f, x, size), whole);
    expect_equal(rc::rand({2}), next);
  }
}

TEST(Streams, AnErrorLeavesNothingBehind) {
  rc::manual_seed(1);
  const Tensor x = rc::zeros({3, 2});
  const Tensor expected = mapped(noise, x);
  rc::manual_seed(1);
  EXPECT_THROW(mapped([](Tensor a) { return a + rc::zeros({5}); }, x, 1), rc::ValueError);
  expect_equal(mapped(noise, x), expected);
}

// ── threads ──

TEST(Streams, ThreadsDrawWhatOneThreadDraws) {
  const Tensor x = rc::zeros({50, 30});
  const auto run = [&](std::uint64_t seed) {
    rc::Generator g(seed);
    return mapped([&](Tensor a) { return rc::randn_like(a, {.generator = g}) + rc::rand_like(a, {.generator = g}); }, x,
                  7);
  };
  const Tensor alone[] = {run(1), run(2)};
  Tensor together[2];
  std::thread other([&] { together[1] = run(2); });
  together[0] = run(1);
  other.join();
  for (int i = 0; i < 2; ++i) expect_equal(together[i], alone[i]);
}

TEST(Streams, ThreadsThatShareAGeneratorTakeAPositionEach) {
  const Tensor x = rc::zeros({20, 10}, rc::float64);
  rc::Generator g(3);
  const auto run = [&] { return values(mapped([&](Tensor a) { return rc::randn_like(a, {.generator = g}); }, x, 3)); };
  std::vector<Values> alone{run(), run()}, together(2);
  g.manual_seed(3);
  std::thread other([&] { together[1] = run(); });
  together[0] = run();
  other.join();
  std::sort(alone.begin(), alone.end());
  std::sort(together.begin(), together.end());
  EXPECT_EQ(together, alone);
}

// ── scopes, as control flow uses them ──

TEST(StreamScopes, ABranchDrawsFromStreamsOfItsOwnAndLeavesThoseAroundItAsTheyWere) {
  rc::Generator g(1), h(2);
  rc::StreamScope scope(nullptr, Randomness::different);
  scope.next(g);
  const std::uint64_t around = scope.next(g).seed;
  const rc::AroundDraws inside{.streams = &scope};
  const auto draws_of_a_branch = [&] {
    rc::StreamScope branch(rc::StreamScope::Branch(), inside);
    std::vector<std::uint64_t> seeds{branch.next(g).seed};
    for (int i = 0; i < 2; ++i) {
      rc::StreamScope inner(rc::StreamScope::Branch(), inside);
      seeds.push_back(inner.next(h).seed);
      seeds.push_back(inner.next(g).seed);
    }
    EXPECT_EQ(branch.next(g).position, 1U);
    return seeds;
  };
  const auto first = draws_of_a_branch(), second = draws_of_a_branch();
  EXPECT_EQ(scope.next(g).position, 2U);
  EXPECT_EQ(scope.next(g).seed, around);
  EXPECT_EQ(scope.next(h).position, 0U);
  std::vector<std::uint64_t> all{around};
  for (const auto& seeds : {first, second}) all.insert(all.end(), seeds.begin(), seeds.end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end()) << "two branches share a stream";
  scope.restart();
  EXPECT_EQ(draws_of_a_branch(), first);
  EXPECT_EQ(draws_of_a_branch(), second);
}

TEST(StreamScopes, AnInnerScopeRestartsWhereItBeganAndEndsAtTheFurthest) {
  rc::Generator g(1);
  rc::StreamScope outer(nullptr, Randomness::different);
  outer.next(g);
  {
    rc::StreamScope inner(&outer, Randomness::different);
    inner.next(g), inner.next(g);
    inner.restart();
    EXPECT_EQ(inner.next(g).position, 1U);
  }
  EXPECT_EQ(outer.next(g).position, 3U);
  outer.restart();
  EXPECT_EQ(outer.next(g).position, 0U);
  EXPECT_EQ(g.next(), 1U);
}

TEST(StreamScopes, AnInnerRestartRepeatsNoDrawOfTheOuterScope) {
  rc::Generator g(1);
  rc::StreamScope outer(nullptr, Randomness::different);
  rc::StreamScope inner(&outer, Randomness::different);
  const auto first = outer.next(g);
  inner.restart();
  const auto second = outer.next(g);
  EXPECT_TRUE(first.seed != second.seed || first.position != second.position);
}

TEST(StreamScopes, OfALoopKeepNoStreamOfAGeneratorThatAStepMakes) {
  rc::Generator old(1);
  const auto streams_after = [&](int steps) {
    const rc::StreamScope loop{rc::StreamScope::Branch()};
    std::size_t most = 0;
    rc::StreamScope step{rc::StreamScope::Step{0}};
    for (int k = 0; k < steps; ++k) {
      step.move_to(static_cast<std::uint64_t>(k));
      std::vector<rc::Generator> made(2, rc::Generator(3));
      step.next(made[0]);
      {
        rc::StreamScope map(&step, Randomness::different);
        map.next(made[1]);
        map.restart();
        rc::StreamScope inner(rc::StreamScope::Branch(), rc::AroundDraws{.streams = &map});
        inner.next(made[0]);
        inner.next(old);
      }
      most = std::max(most, step.positions().draws.size());
    }
    return most;
  };
  EXPECT_EQ(streams_after(20), streams_after(40));
  EXPECT_EQ(streams_after(40), 3U);
}

// ── programs ──

TEST(RecordedMaps, DrawForEachExampleOfTheSizeTheyRunWith) {
  const Function f = [](Tensor x) { return mapped([](Tensor a) { return a + rc::randn_like(a); }, x); };
  const rc::Program program = rc::trace(f)(rc::zeros({3, 4}));
  const Tensor y = program({rc::zeros({6, 5})})[0];
  EXPECT_EQ(sizes(y), (Sizes{6, 5}));
  EXPECT_NE(values(y[0]), values(y[5]));
}

}  // namespace
