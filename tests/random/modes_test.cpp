// Every random operation under every randomness mode, nested in and around the other transforms.
#include "random/categories.h"

using namespace testing_support;
using rc::Randomness;

namespace {

using Function = std::function<Tensor(Tensor)>;

class Modes : public testing::TestWithParam<Category> {
 protected:
  const Category& category() const { return GetParam(); }
  Tensor draw(Tensor x) const { return GetParam().draw(x); }
  /// A scalar that reads the draw and, if it can, x through it.
  Tensor loss(Tensor x) const { return (draw(x).to(rc::float64)).sum() * x.sum(); }
  Function drawing() const {
    return [this](Tensor x) { return draw(x); };
  }
  Function losing() const {
    return [this](Tensor x) { return loss(x); };
  }
};

Tensor seeded(const Function& f, const Tensor& x) {
  rc::manual_seed(11);
  return f(x);
}

Function mapped(Function f, Randomness mode) {
  return [=](Tensor x) { return rc::vmap(f, {.randomness = mode})(x); };
}
Function mapped(Function f, Randomness mode, std::int64_t chunk_size) {
  return [=](Tensor x) { return rc::vmap(f, {.randomness = mode, .chunk_size = chunk_size})(x); };
}
Function summed(Function f) {
  return [=](Tensor x) { return f(x).sum(); };
}

bool rows_differ(const Tensor& y) {
  for (std::int64_t i = 0; i < y.size(0); ++i)
    for (std::int64_t k = 0; k < i; ++k)
      if (values(y[i]) == values(y[k])) return false;
  return true;
}
bool rows_agree(const Tensor& y) {
  for (std::int64_t i = 1; i < y.size(0); ++i)
    if (values(y[i]) != values(y[0])) return false;
  return true;
}

// ── error ──

TEST_P(Modes, ErrorRefusesEveryDrawInsideAMap) {
  const Tensor x = unequal_examples({4}), nested = unequal_examples({2, 4});
  const Function plain = [this](Tensor a) { return rc::vmap(drawing())(a); };
  const Function derived = [this](Tensor a) { return rc::grad(losing())(a); };
  const std::vector<Function> refused{
      plain,
      [&](Tensor a) { return rc::vmap(derived)(a); },
      [&](Tensor a) { return rc::grad(summed([&](Tensor b) { return rc::vmap(losing())(b); }))(a); },
      [&](Tensor a) { return std::get<1>(rc::jvp(plain, a, a)); },
      [&](Tensor a) { return rc::jacfwd(losing())(a[0]); },
      [&](Tensor a) { return rc::hessian(losing())(a[0]); },
  };
  for (const Function& f : refused) {
    EXPECT_THROW(f(x), rc::TransformError);
    EXPECT_FALSE(rc::inside_transform());
  }
  for (Randomness other : {Randomness::different, Randomness::same}) {
    EXPECT_THROW(mapped(mapped(drawing(), other), Randomness::error)(nested), rc::TransformError);
    EXPECT_THROW(mapped(mapped(drawing(), Randomness::error), other)(nested), rc::TransformError);
  }
}

// ── different and same ──

TEST_P(Modes, DifferentDrawsForEachExample) {
  EXPECT_TRUE(rows_differ(seeded(mapped(drawing(), Randomness::different), equal_examples({6}))));
}

TEST_P(Modes, SameDrawsOnceForAll) {
  EXPECT_TRUE(rows_agree(seeded(mapped(drawing(), Randomness::same), equal_examples({6}))));
}

TEST_P(Modes, SameAppliesOneNoiseToTheParametersOfEachExample) {
  const Tensor x = unequal_examples({5});
  const Tensor together = seeded(mapped(drawing(), Randomness::same), x);
  for (std::int64_t i = 0; i < 5; ++i)
    expect_equal(together[i], seeded(mapped(drawing(), Randomness::same), x[i].unsqueeze(0))[0]);
}

TEST_P(Modes, DifferentGivesAnExampleTheNoiseOfItsNumber) {
  const Tensor x = unequal_examples({5});
  const Tensor together = seeded(mapped(drawing(), Randomness::different), x);
  const Tensor alike = seeded(mapped(drawing(), Randomness::different), x[3].expand({5, 2, 3}));
  expect_equal(together[3], alike[3]);
}

TEST_P(Modes, ChunksDrawWhatTheWholeDraws) {
  const Tensor x = unequal_examples({20});
  for (Randomness mode : {Randomness::different, Randomness::same}) {
    const Tensor whole = seeded(mapped(drawing(), mode), x);
    for (std::int64_t size : {1, 7, 64}) expect_equal(seeded(mapped(drawing(), mode, size), x), whole);
  }
}

TEST_P(Modes, NestedMapsDrawWhatOneMapOverAllPairsDraws) {
  const Tensor x = unequal_examples({3, 5}), flat = x.reshape({15, 2, 3});
  const Randomness different = Randomness::different;
  const Tensor one = seeded(mapped(drawing(), different), flat);
  const Sizes shape = [&] {
    Sizes s = sizes(one);
    s[0] = 5;
    s.insert(s.begin(), 3);
    return s;
  }();
  const Tensor expected = one.reshape(rc::Shape(shape));
  for (std::int64_t outer : {1, 2, 3})
    for (std::int64_t inner : {1, 2, 4, 5})
      expect_equal(seeded(mapped(mapped(drawing(), different, inner), different, outer), x), expected);
}

TEST_P(Modes, EachOfTwoNestedMapsHasItsMode) {
  const Tensor x = equal_examples({3, 4});
  const Tensor outer = seeded(mapped(mapped(drawing(), Randomness::same), Randomness::different), x);
  EXPECT_TRUE(rows_differ(outer));
  for (std::int64_t i = 0; i < 3; ++i) EXPECT_TRUE(rows_agree(outer[i]));
  const Tensor inner = seeded(mapped(mapped(drawing(), Randomness::different), Randomness::same), x);
  EXPECT_TRUE(rows_agree(inner));
  EXPECT_TRUE(rows_differ(inner[0]));
}

TEST_P(Modes, GradInsideAndOutsideOfAMapDrawTheSame) {
  const Tensor x = unequal_examples({4});
  for (Randomness mode : {Randomness::different, Randomness::same}) {
    const Function inside = mapped([this](Tensor a) { return rc::grad(losing())(a); }, mode);
    const Function outside = [&](Tensor a) { return rc::grad(summed(mapped(losing(), mode)))(a); };
    const Tensor expected = seeded(inside, x);
    expect_equal(seeded(outside, x), expected);
    expect_equal(seeded(mapped([this](Tensor a) { return rc::grad(losing())(a); }, mode, 3), x), expected);
  }
}

TEST_P(Modes, JvpInsideAndOutsideOfAMapDrawTheSame) {
  const Tensor x = unequal_examples({4}), t = ramp({4, 2, 3});
  for (Randomness mode : {Randomness::different, Randomness::same}) {
    rc::manual_seed(5);
    const auto [y, dy] =
        rc::vmap([this](Tensor a, Tensor b) { return rc::jvp(losing(), a, b); }, {.randomness = mode})(x, t);
    rc::manual_seed(5);
    const auto [z, dz] = rc::jvp(mapped(losing(), mode), x, t);
    expect_equal(z, y);
    expect_equal(dz, dy);
  }
}

TEST_P(Modes, JacobiansAndHessiansDrawTheSameInChunks) {
  const Tensor x = unequal_examples({});
  const Function squared = [this](Tensor a) { return loss(a) * a.sum(); };
  for (Randomness mode : {Randomness::different, Randomness::same}) {
    const auto forward = [&](std::int64_t chunk) {
      return seeded([&](Tensor a) { return rc::jacfwd(losing(), {.randomness = mode, .chunk_size = chunk})(a); }, x);
    };
    const auto second = [&](std::int64_t chunk) {
      return seeded([&](Tensor a) { return rc::hessian(squared, {.randomness = mode, .chunk_size = chunk})(a); }, x);
    };
    for (std::int64_t chunk : {1, 4}) {
      expect_equal(forward(chunk), forward(6));
      expect_equal(second(chunk), second(6));
    }
  }
}

TEST_P(Modes, AForwardJacobianWithOneDrawIsTheReverseOne) {
  const Tensor x = unequal_examples({});
  if (category().reads == Reads::parameters) {
    // Under one noise the draw is one function of x, whose Jacobian needs no mode in reverse.
    const Tensor forward =
        seeded([&](Tensor a) { return rc::jacfwd(losing(), {.randomness = Randomness::same})(a); }, x);
    EXPECT_EQ(sizes(forward), sizes(x));
    const Tensor tangent = rc::ones_like(x);
    const Tensor slope = seeded(
        [&](Tensor a) {
          return rc::vmap([&](Tensor t) { return std::get<1>(rc::jvp(losing(), a, t)); },
                          {.randomness = Randomness::same})(tangent.unsqueeze(0));
        },
        x);
    EXPECT_NEAR(forward.sum().item(), slope.item(), 1e-9 * std::max(1.0, std::abs(slope.item())));
  }
}

TEST_P(Modes, RepeatFromTheSameSeedAndGoOnAfterwards) {
  const Tensor x = equal_examples({4});
  rc::manual_seed(3);
  const auto f = mapped(drawing(), Randomness::different);
  const Tensor first = f(x), second = f(x);
  EXPECT_NE(values(first), values(second));
  rc::manual_seed(3);
  expect_equal(f(x), first);
  expect_equal(f(x), second);
}

/// A map over nothing has no numbers to draw, and the right sizes.
TEST_P(Modes, NoExamplesDrawNothing) {
  const Tensor one = seeded(mapped(drawing(), Randomness::different), equal_examples({1}));
  const Tensor none = seeded(mapped(drawing(), Randomness::different), equal_examples({1}).narrow(0, 0, 0));
  Sizes expected = sizes(one);
  expected[0] = 0;
  EXPECT_EQ(sizes(none), expected);
}

INSTANTIATE_TEST_SUITE_P(All, Modes, testing::ValuesIn(all_categories()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
