// Keys: the same numbers each time, under every transform, without a mode.
#include <algorithm>

#include "random/statistics.h"
#include "support/expect_error.h"

namespace rc = ricci;
using rc::Key;
using rc::Randomness;
using rc::Tensor;
using namespace testing_support;

namespace {

std::vector<Tensor (*)(Key)> draws() {
  return {
      [](Key k) { return rc::normal(k, {4}); },
      [](Key k) { return rc::normal(k, {4}, rc::float64); },
      [](Key k) { return rc::uniform(k, {2, 2}); },
      [](Key k) { return rc::uniform(k, 2, 3, {4}); },
      [](Key k) { return rc::randint(k, 0, 1000, {4}); },
      [](Key k) { return rc::randperm(k, 30); },
      [](Key k) { return rc::bernoulli(k, 0.5, {60}); },
      [](Key k) { return rc::exponential(k, {4}); },
      [](Key k) { return rc::cauchy(k, {4}); },
      [](Key k) { return rc::laplace(k, {4}); },
      [](Key k) { return rc::gumbel(k, {4}); },
      [](Key k) { return rc::log_normal(k, 0, 1, {4}); },
      [](Key k) { return rc::geometric(k, 0.01, {4}); },
      [](Key k) { return rc::truncated_normal(k, -1, 1, {4}); },
      [](Key k) { return rc::gamma(k, 0.7, {4}); },
      [](Key k) { return rc::gamma(k, ramp({3})); },
      [](Key k) { return rc::beta(k, 2, ramp({3})); },
      [](Key k) { return rc::dirichlet(k, ramp({2, 3})); },
      [](Key k) { return rc::poisson(k, 100, {4}); },
      [](Key k) { return rc::binomial(k, 1000, 0.5, {4}); },
      [](Key k) { return rc::multinomial(k, ramp({8}), 20, true); },
      [](Key k) { return rc::multinomial(k, ramp({8}).expand({9, 8}), 4, false); },
  };
}

TEST(Keys, OfASplitAreTakenByAnIndexOrApart) {
  const Key key(7), three = rc::split(key, 3);
  const auto [a, b, c] = rc::split<3>(key);
  expect_equal(a.data, three[0].data);
  expect_equal(b.data, three[rc::tensor(1)].data);
  expect_equal(c.data, three[-1].data);
  expect_equal(three[rc::Slice(1, 3)].data, rc::stack({b.data, c.data}));
  const auto [first, second] = rc::split(key);
  expect_equal(first.data, a.data);
  expect_equal(second.data, b.data);
  const auto draw = [&](Tensor i) { return rc::normal(three[i], {2}); };
  expect_equal(rc::vmap(draw)(rc::arange(3)), rc::vmap([](Key k) { return rc::normal(k, {2}); })(three));
  expect_error<rc::ValueError>([&] { key[0]; },
                               "Key: key[i] is one of several keys, this is a single one; rc::split(key, n) gives n of "
                               "them");
  expect_error<rc::IndexError>([&] { three[3]; },
                               "index: index 3 is out of range for axis 0 of i64[3,2]; the legal range is [-3, 2]");
}

TEST(Keys, GiveTheSameNumbersEachTimeAndOthersForOtherSeeds) {
  for (const auto& draw : draws()) {
    expect_equal(draw(Key(3)), draw(Key(3)));
    EXPECT_NE(values(draw(Key(3))), values(draw(Key(4))));
  }
}

/// Without a dtype where none is given.
using Sampler = std::function<Tensor(Key, const Tensor& half, std::optional<rc::DType>)>;
struct NamedSampler {
  const char* name;
  Sampler sample;
};

/// `sample(key, half, dtype…)`, with a dtype and without.
NamedSampler sampler(const char* name, auto sample) {
  return {name, [=](const Key& key, const Tensor& half, std::optional<rc::DType> dtype) {
            return dtype ? sample(key, half, *dtype) : sample(key, half);
          }};
}
std::vector<NamedSampler> samplers_with_parameters() {
  const rc::Shape s = {4};
  using K = Key;
  using T = Tensor;
  return {
      sampler("uniform", [=](K k, T p, auto... d) { return rc::uniform(k, p, 2, s, d...); }),
      sampler("normal", [=](K k, T p, auto... d) { return rc::normal(k, 0, p, s, d...); }),
      sampler("log_normal", [=](K k, T p, auto... d) { return rc::log_normal(k, p, 1, s, d...); }),
      sampler("exponential", [=](K k, T p, auto... d) { return rc::exponential(k, p, s, d...); }),
      sampler("cauchy", [=](K k, T p, auto... d) { return rc::cauchy(k, p, 1, s, d...); }),
      sampler("laplace", [=](K k, T p, auto... d) { return rc::laplace(k, p, 1, s, d...); }),
      sampler("gumbel", [=](K k, T p, auto... d) { return rc::gumbel(k, 0, p, s, d...); }),
      sampler("truncated_normal", [=](K k, T p, auto... d) { return rc::truncated_normal(k, -1, p, s, d...); }),
      sampler("bernoulli", [=](K k, T p, auto... d) { return rc::bernoulli(k, p, s, d...); }),
      sampler("geometric", [=](K k, T p, auto... d) { return rc::geometric(k, p, s, d...); }),
      sampler("poisson", [=](K k, T p, auto... d) { return rc::poisson(k, p, s, d...); }),
      sampler("binomial", [=](K k, T p, auto... d) { return rc::binomial(k, 10, p, s, d...); }),
      sampler("gamma", [=](K k, T p, auto... d) { return rc::gamma(k, p, s, d...); }),
      sampler("beta", [=](K k, T p, auto... d) { return rc::beta(k, 2, p, s, d...); }),
  };
}
/// These take no parameter: `half` is not looked at.
std::vector<NamedSampler> samplers_without_parameters() {
  const rc::Shape s = {4};
  using K = Key;
  using T = Tensor;
  return {
      sampler("uniform", [=](K k, T, auto... d) { return rc::uniform(k, s, d...); }),
      sampler("normal", [=](K k, T, auto... d) { return rc::normal(k, s, d...); }),
      sampler("exponential", [=](K k, T, auto... d) { return rc::exponential(k, s, d...); }),
      sampler("cauchy", [=](K k, T, auto... d) { return rc::cauchy(k, s, d...); }),
      sampler("laplace", [=](K k, T, auto... d) { return rc::laplace(k, s, d...); }),
      sampler("gumbel", [=](K k, T, auto... d) { return rc::gumbel(k, s, d...); }),
  };
}

TEST(Keys, SamplersOfAShapeGiveTheDtypeOfTheirParameters) {
  const auto half = [](rc::DType dtype) { return rc::full({4}, 0.5, dtype); };
  for (const auto& [name, sample] : samplers_with_parameters()) {
    SCOPED_TRACE(name);
    for (const rc::DType dtype : {rc::float32, rc::float64})
      EXPECT_EQ(sample(Key(1), half(dtype), {}).dtype(), dtype);
    EXPECT_EQ(sample(Key(1), 0.5, {}).dtype(), rc::float32);
    expect_equal(sample(Key(1), half(rc::float32), {}), sample(Key(1), 0.5, {}));
  }
  const Tensor single = half(rc::float32), twice = half(rc::float64);
  EXPECT_EQ(rc::normal(Key(1), single, twice, {4}).dtype(), rc::float64);
  EXPECT_EQ(rc::poisson(Key(1), rc::full({4}, 3, rc::int64), {4}).dtype(), rc::float32);
}

TEST(Keys, SamplersOfAShapeGiveTheDtypeThatTheyAreGiven) {
  for (const auto& samplers : {samplers_with_parameters(), samplers_without_parameters()})
    for (const auto& [name, sample] : samplers) {
      SCOPED_TRACE(name);
      for (const rc::DType dtype : {rc::float16, rc::bfloat16, rc::float32, rc::float64}) {
        const Tensor drawn = sample(Key(1), 0.5, dtype);
        EXPECT_EQ(drawn.dtype(), dtype);
        // The numbers are those of parameters of that dtype, where there are any.
        expect_equal(drawn, sample(Key(1), rc::full({4}, 0.5, dtype), dtype));
      }
      for (const rc::DType parameter : {rc::float32, rc::float64})
        EXPECT_EQ(sample(Key(1), rc::full({4}, 0.5, parameter), rc::float16).dtype(), rc::float16);
      expect_equal(sample(Key(1), 0.5, rc::float32), sample(Key(1), 0.5, {}));
    }
  for (const rc::DType dtype : {rc::int32, rc::int64, rc::float64}) {
    EXPECT_EQ(rc::randint(Key(1), 0, 9, {4}, dtype).dtype(), dtype);
    expect_equal(rc::randint(Key(1), 0, 9, {4}, dtype), rc::randint(Key(1), 0, 9, {4}).to(dtype));
    expect_equal(rc::randperm(Key(1), 9, dtype), rc::randperm(Key(1), 9).to(dtype));
  }
}

TEST(Keys, SamplersSayWhichDtypeTheyCannotGive) {
  expect_error<rc::TypeError>(
      [] { rc::exponential(Key(1), 2, {3}, rc::complex64); },
      "exponential: draws floating numbers, not the complex c64; use a floating dtype, or randint");
  expect_error<rc::TypeError>([] { rc::uniform(Key(1), {3}, rc::int64); },
                              "uniform: draws floating numbers, not i64; use a floating dtype, or randint");
  expect_error<rc::ValueError>([] { rc::randperm(Key(1), 1000, rc::uint8); },
                              "randperm: 999 is no u8, which holds numbers from 0 to 255; use a wider dtype");
}

TEST(Keys, LeaveGeneratorsAlone) {
  rc::manual_seed(1);
  const Tensor expected = rc::rand({3});
  rc::manual_seed(1);
  for (const auto& draw : draws()) draw(Key(0));
  expect_equal(rc::rand({3}), expected);
}

TEST(Keys, AreNotTheGeneratorOfTheirSeed) {
  rc::Generator g(5);
  EXPECT_NE(values(rc::uniform(Key(5), {3})), values(rc::rand({3}, {.generator = g})));
}

TEST(Keys, SplitIntoKeysThatHaveNothingInCommon) {
  const Key key(7);
  const auto [left, right] = rc::split(key);
  const Key many = rc::split(key, 100);
  EXPECT_EQ(sizes(many.data), (Sizes{100, 2}));
  std::vector<double> all = values(rc::uniform(many, {50}, rc::float64));
  for (const Key& k : {key, rc::fold_in(key, 0), rc::fold_in(key, 1)}) {
    const Values more = values(rc::uniform(k, {50}, rc::float64));
    all.insert(all.end(), more.begin(), more.end());
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
  expect_equal(left.data, many.data[0]);
  expect_equal(right.data, many.data[1]);
}

TEST(Keys, FoldInTensorsOfNumbers) {
  const Key key(7);
  const Key steps = rc::fold_in(key, rc::arange(5));
  for (int i = 0; i < 5; ++i) expect_equal(steps.data[i], rc::fold_in(key, i).data);
}

TEST(Keys, UnderVmapDrawWhatEachKeyDrawsAlone) {
  const Key keys = rc::split(Key(1), 6);
  for (const auto& draw : draws()) {
    for (Randomness mode : {Randomness::error, Randomness::different, Randomness::same}) {
      const Tensor mapped = rc::vmap(draw, {.randomness = mode})(keys);
      for (std::int64_t i = 0; i < 6; ++i) expect_equal(mapped[i], draw(Key(keys.data[i])));
      expect_equal(rc::vmap(draw, {.randomness = mode, .chunk_size = 4})(keys), mapped);
    }
  }
}

TEST(Keys, ThatAreNotMappedDrawOnceForAll) {
  const Key key(2);
  for (const auto& draw : draws()) {
    const Tensor mapped =
        rc::vmap([&](Tensor x) { return draw(key).to(rc::float64).sum() + x; })(rc::zeros({3}, rc::float64));
    EXPECT_EQ(values(mapped)[0], values(mapped)[2]);
  }
}

TEST(Keys, NestInMapsWithParametersOfEachExample) {
  const Key keys(rc::split(Key(1), 6).data.reshape({2, 3, 2}).clone());
  const Tensor mean = ramp({2, 3});
  const auto f = [](Key k, Tensor m) { return rc::normal(k, m, 1); };
  const Tensor mapped = rc::vmap(rc::vmap(f))(keys, mean);
  for (std::int64_t i = 0; i < 2; ++i)
    for (std::int64_t j = 0; j < 3; ++j) expect_close(mapped[i][j], f(Key(keys.data[i][j]), mean[i][j]));
}

TEST(Keys, WithLeadingAxesDrawForEachOfThem) {
  const Key keys = rc::split(Key(1), 3);
  expect_equal(rc::gamma(keys, ramp({4})), rc::vmap([](Key k) { return rc::gamma(k, ramp({4})); })(keys));
  expect_equal(rc::beta(keys, 2, ramp({4})), rc::vmap([](Key k) { return rc::beta(k, 2, ramp({4})); })(keys));
  expect_equal(rc::multinomial(keys, ramp({4}), 5, true),
               rc::vmap([](Key k) { return rc::multinomial(k, ramp({4}), 5, true); })(keys));
}

TEST(Keys, AreConstantsUnderDifferentiation) {
  const Key key(4);
  const auto f = [&](Tensor x) { return (rc::normal(key, x, x) * x).sum(); };
  const Tensor x = ramp({3}), z = rc::normal(key, {3}, rc::float64);
  expect_close(rc::grad(f)(x), 2 * x * (1 + z));
  expect_close(rc::jacfwd(f)(x), 2 * x * (1 + z));
  expect_close(rc::hessian(f)(x), rc::diag(2 * (1 + z)));
}

TEST(Keys, TravelThroughDifferentiatedFunctionsAsTrees) {
  struct State {
    Key key;
    Tensor x;
  };
  const auto f = [](State s) { return (rc::normal(s.key, {3}, rc::float64) * s.x).sum(); };
  const State state{Key(4), ramp({3})};
  const State gradient = rc::grad(f)(state);
  expect_close(gradient.x, rc::normal(Key(4), {3}, rc::float64));
  expect_equal(gradient.key.data, state.key.data);
}

TEST(Keys, StackAsTrees) {
  const Key both = rc::stack_trees(std::vector<Key>{Key(1), Key(2)});
  expect_equal(rc::uniform(both, {3})[1], rc::uniform(Key(2), {3}));
}

TEST(Keys, AreInputsOfRecordedPrograms) {
  const auto f = [](Tensor data) { return rc::normal(rc::split(Key(data), 3), {2}); };
  const rc::Program program = rc::trace(f)(Key(1).data);
  for (int seed : {1, 2, 3}) expect_equal(program({Key(seed).data})[0], f(Key(seed).data));
}

TEST(Keys, DrawFromTheDistributionWhenSplit) {
  expect_distribution(rc::normal(rc::split(Key(0), 40000), {}), normal_distribution);
}

TEST(Keys, SayWhatIsNoKey) {
  expect_error<rc::TypeError>([] { Key(rc::ones({2})); },
                              "Key: f32[2] is no key's data, which is int64; make a key with rc::Key(seed)");
  expect_error<rc::ValueError>(
      [] { Key(rc::ones({3}, rc::int64)); },
      "Key: i64[3] is no key's data, which has a last axis of 2; make a key with rc::Key(seed)");
  expect_error<rc::TypeError>([] { rc::fold_in(Key(0), 0.5); }, "fold_in: the number is f64[]; it must be an integer");
  expect_error<rc::ValueError>([] { rc::split(Key(0), -1); }, "split: the shape [-1] has a negative size");
}

}  // namespace
