// Random operations: what they refuse under vmap in error mode, whatever the nesting, and the numbers they cannot draw.
#include "support/expect_error.h"

namespace rc = ricci;
using rc::Randomness;
using rc::Tensor;
using namespace testing_support;

namespace {

std::string random_text(const std::string& operation, const std::string& transform, const std::string& nest) {
  return operation + ": a random operation under " + transform +
         "{at}, whose randomness mode is error; pass .randomness = rc::Randomness::different for a draw per example, "
         "or rc::Randomness::same for one draw for all\n  inside " +
         nest + "{at}";
}
std::string random_text(const std::string& operation, const std::string& transform) {
  return random_text(operation, transform, transform);
}

const char* const over_three = "vmap over axis 0 of 3";

template <class Draw>
void expect_refused(const std::string& operation, Draw draw) {
  SCOPED_TRACE(operation);
  const Tensor x = ramp({3, 2, 2}) / 4;
  expect_error<rc::TransformError>([&] { rc::vmap(draw)(x); }, random_text(operation, over_three), {x});
}

TEST(RandomErrors, NumbersThatTheDtypeDoesNotHold) {
  const std::string of_bytes = " is no u8, which holds numbers from 0 to 255; use a wider dtype";
  expect_error<rc::ValueError>([] { rc::randint(-1000, 10, {20}, rc::uint8); }, "randint: -1000" + of_bytes);
  expect_error<rc::ValueError>([] { rc::randint(0, 257, {20}, rc::uint8); }, "randint: 256" + of_bytes);
  expect_error<rc::ValueError>([] { rc::randperm(1000, rc::uint8); }, "randperm: 999" + of_bytes);
  expect_error<rc::ValueError>([] { rc::full({2}, 300, rc::uint8); }, "full: 300" + of_bytes);
  EXPECT_EQ(rc::randint(0, 256, {20}, rc::uint8).dtype(), rc::uint8);
  EXPECT_EQ(rc::randperm(256, rc::uint8).numel(), 256);
}

TEST(RandomErrors, FactoriesAreRefusedInErrorMode) {
  expect_refused("rand", [](Tensor a) { return a + rc::rand({2}); });
  expect_refused("randn", [](Tensor a) { return a + rc::randn({2}); });
  expect_refused("randint", [](Tensor a) { return a + rc::randint(3, {2}); });
  expect_refused("randperm", [](Tensor a) { return a + rc::randperm(2); });
  expect_refused("normal", [](Tensor a) { return a + rc::normal(0, 1, {2}); });
}

TEST(RandomErrors, LikeFactoriesAreRefusedInErrorMode) {
  expect_refused("rand_like", [](Tensor a) { return rc::rand_like(a); });
  expect_refused("randn_like", [](Tensor a) { return rc::randn_like(a); });
  expect_refused("randint_like", [](Tensor a) { return rc::randint_like(a, 5); });
}

TEST(RandomErrors, InPlaceDrawsAreRefusedInErrorMode) {
  expect_refused("normal_", [](Tensor a) { return a.normal_(); });
  expect_refused("uniform_", [](Tensor a) { return a.uniform_(); });
  expect_refused("bernoulli_", [](Tensor a) { return a.bernoulli_(); });
  expect_refused("exponential_", [](Tensor a) { return a.exponential_(); });
  expect_refused("cauchy_", [](Tensor a) { return a.cauchy_(); });
  expect_refused("geometric_", [](Tensor a) { return a.geometric_(0.5); });
  expect_refused("log_normal_", [](Tensor a) { return a.log_normal_(0, 1); });
  expect_refused("random_", [](Tensor a) { return a.random_(); });
}

TEST(RandomErrors, SamplersAreRefusedInErrorMode) {
  expect_refused("bernoulli", [](Tensor a) { return rc::bernoulli(a); });
  expect_refused("normal", [](Tensor a) { return rc::normal(a, 1); });
  expect_refused("uniform", [](Tensor a) { return rc::uniform(a, 1); });
  expect_refused("log_normal", [](Tensor a) { return rc::log_normal(a, 1); });
  expect_refused("exponential", [](Tensor a) { return rc::exponential(a); });
  expect_refused("cauchy", [](Tensor a) { return rc::cauchy(a, 1); });
  expect_refused("laplace", [](Tensor a) { return rc::laplace(a, 1); });
  expect_refused("gumbel", [](Tensor a) { return rc::gumbel(a, 1); });
  expect_refused("truncated_normal", [](Tensor a) { return rc::truncated_normal(a, 1, 0, 1); });
  expect_refused("geometric", [](Tensor a) { return rc::geometric(a); });
  expect_refused("poisson", [](Tensor a) { return rc::poisson(a); });
  expect_refused("binomial", [](Tensor a) { return rc::binomial(5, a); });
  expect_refused("gamma", [](Tensor a) { return rc::gamma(a); });
  expect_refused("beta", [](Tensor a) { return rc::beta(a, 1); });
  expect_refused("dirichlet", [](Tensor a) { return rc::dirichlet(a); });
  expect_refused("multinomial", [](Tensor a) { return rc::multinomial(a, 1); });
}

TEST(RandomErrors, DropoutInTrainingIsRefusedInErrorMode) {
  expect_refused("dropout", [](Tensor a) { return rc::dropout(a, 0.5, true); });
  expect_refused("feature_dropout", [](Tensor a) { return rc::feature_dropout(a, 0.5, true); });
  expect_refused("alpha_dropout", [](Tensor a) { return rc::alpha_dropout(a, 0.5, true); });
  expect_refused("feature_alpha_dropout", [](Tensor a) { return rc::feature_alpha_dropout(a, 0.5, true); });
}

TEST(RandomErrors, TheMapInErrorModeIsNamedWhateverIsInsideIt) {
  const Tensor x = rc::ones({4, 3});
  const auto loss = [](Tensor a) { return (a * rc::randn_like(a)).sum(); };
  expect_error<rc::TransformError>(
      [&] { rc::vmap(rc::grad(loss))(x); },
      random_text("randn_like", "vmap over axis 0 of 4", "grad{at}, inside vmap over axis 0 of 4"), {x});
  const auto inner = [&](Tensor row) { return rc::vmap(loss, {.randomness = Randomness::same})(row); };
  expect_error<rc::TransformError>(
      [&] { rc::vmap(inner)(x); },
      random_text("randn_like", "vmap over axis 0 of 4", "vmap over axis 0 of 3{at}, inside vmap over axis 0 of 4"),
      {x});
}

struct AddsNoise : rc::Function<AddsNoise> {
  static Tensor forward(const Tensor& x) { return x + rc::randn({}); }
  static Tensor backward(rc::Context&, const Tensor& ct) { return ct; }
  static constexpr bool generate_vmap_rule = true;
};

TEST(RandomErrors, CustomFunctionsOfWhatNoExampleDiffersIn) {
  const Tensor x = ramp({2}), one = rc::ones({});
  const auto noisy = [](Tensor a) { return a + rc::randn({}); };
  const auto by_vjp =
      rc::custom_vjp(noisy, [&](Tensor a) { return std::pair{noisy(a), 0}; }, [](int, Tensor ct) { return ct; });
  const auto by_jvp = rc::custom_jvp(noisy, [&](std::tuple<Tensor> p, std::tuple<Tensor> t) {
    return std::pair{noisy(std::get<0>(p)), std::get<0>(t)};
  });
  const auto by_class = [](Tensor a) { return AddsNoise::apply(a); };
  const auto expect_refused = [&](const auto& f) {
    const auto of_one = [&](Tensor a) { return f(one) + a; };
    expect_error<rc::TransformError>([&] { rc::vmap(of_one)(x); }, random_text("randn", "vmap over axis 0 of 2"), {x});
    expect_error<rc::TransformError>(
        [&] { rc::vmap(of_one, {.randomness = Randomness::different})(x); },
        "randn: a random operation under vmap over axis 0 of 2{at}, whose randomness mode is different, in a function "
        "that none of its arguments makes differ per example: one draw would serve all; pass an argument that does, or "
        "draw outside and pass the numbers\n  inside vmap over axis 0 of 2{at}",
        {x, one});
    const auto recorded = [&](Tensor a) { return rc::trace([&](Tensor k) { return k * f(one); })(a)({a})[0]; };
    expect_error<rc::TransformError>(
        [&] { rc::vmap(recorded)(x); },
        random_text("randn", "vmap over axis 0 of 2", "trace{at}, inside vmap over axis 0 of 2"), {x, one});
    EXPECT_NO_THROW(rc::vmap(of_one, {.randomness = Randomness::same})(x));
    EXPECT_NO_THROW(rc::vmap(f, {.randomness = Randomness::different})(x));
  };
  expect_refused(by_vjp);
  expect_refused(by_jvp);
  expect_refused(by_class);
}

TEST(RandomErrors, CheckpointsNameTheMapThatRefuses) {
  const Tensor x = ramp({2}), y = ramp({3}), one = rc::ones({});
  const auto noisy = rc::checkpoint([](Tensor a) { return a + rc::randn({}); });
  const auto inner = [&](Tensor a) {
    const auto mapped = [&](Tensor b) { return rc::vmap([&](Tensor c) { return noisy(b) + c; })(y); };
    return rc::jvp(mapped, a, rc::ones_like(a)).second;
  };
  expect_error<rc::TransformError>(
      [&] { rc::vmap(inner, {.randomness = Randomness::different})(x); },
      random_text("randn", "vmap over axis 0 of 3",
                  "vmap over axis 0 of 3{at}, inside jvp{at}, inside vmap over axis 0 of 2"),
      {x, y, one});
  expect_error<rc::TransformError>([&] { rc::jacfwd([&](Tensor a) { return noisy(one) + a; })(x); },
                                   random_text("randn", "jacfwd"), {x, one});
}

TEST(RandomErrors, ForwardJacobiansAndHessiansMapOverTangents) {
  const Tensor x = ramp({2});
  const auto f = [](Tensor a) { return (a * rc::randn_like(a)).sum(); };
  expect_error<rc::TransformError>([&] { rc::jacfwd(f)(x); }, random_text("randn_like", "jacfwd"), {x});
  expect_error<rc::TransformError>([&] { rc::hessian(f)(x); }, random_text("randn_like", "hessian"), {x});
}

TEST(RandomErrors, DrawsOfEachExampleDoNotGoIntoACapturedTensor) {
  const Tensor captured = rc::zeros({5}), x = rc::ones({3});
  expect_error<rc::TransformError>(
      [&] { rc::vmap([&](Tensor a) { return captured.normal_(), a; }, {.randomness = Randomness::different})(x); },
      "normal_: the target f32[5] holds one value for all examples of vmap over axis 0 of 3{at}, but the new value "
      "f32[5] has one per example; use the out-of-place operation, map the target, or create it inside the mapped "
      "function\n  inside vmap over axis 0 of 3{at}",
      {captured, x});
}

TEST(RandomErrors, NumbersOutOfAParametersRange) {
  const auto expect_value_error = [](auto call, const char* text) { expect_error<rc::ValueError>(call, text); };
  expect_value_error([] { rc::normal(0, -1, {2}); }, "normal: std is -1; it must be at least 0");
  expect_value_error([] { rc::bernoulli(1.5, {2}); }, "bernoulli: p is 1.5; it must be at least 0 and at most 1");
  expect_value_error([] { rc::exponential(0., {2}); }, "exponential: rate is 0; it must be positive");
  expect_value_error([] { rc::geometric(0., {2}); }, "geometric: p is 0; it must be above 0 and at most 1");
  expect_value_error([] { rc::poisson(-1., {2}); }, "poisson: rate is -1; it must be at least 0");
  expect_value_error([] { rc::zeros({2}).normal_(0, -2); }, "normal_: std is -2; it must be at least 0");
  expect_value_error([] { rc::uniform(2, 1, {2}); }, "uniform: low is 2, high is 1; low must not be above high");
  expect_value_error([] { rc::truncated_normal(0, 1, 2, 2, {2}); },
                     "truncated_normal: low is 2, high is 2; low must be below high");
  expect_value_error([] { rc::dropout(rc::ones({2}), 1.25); },
                     "dropout: p is 1.25; it must be at least 0 and at most 1");
  expect_value_error([] { rc::feature_dropout(rc::ones({2}), 0.5, true); },
                     "feature_dropout: f32[2] has no channels; it must be [N, C, ...]");
}

TEST(RandomErrors, ShapesAndTypesThatCannotBeDrawn) {
  expect_error<rc::TypeError>([] { rc::rand({2}, rc::int64); },
                              "rand: draws floating numbers, not i64; use a floating dtype, or randint");
  expect_error<rc::TypeError>([] { rc::zeros({2}, rc::int64).normal_(); },
                              "normal_: draws floating numbers, not i64; use a floating dtype, or randint");
  expect_error<rc::TypeError>([] { rc::randint(0, 2, {3}, {.dtype = rc::complex64}); },
                              "randint: draws real numbers, not the complex c64; use a real dtype");
  expect_error<rc::ValueError>([] { rc::normal(rc::ones({2}), 1, {3}); },
                               "normal: mean is f32[2], which does not broadcast to the shape [3]; ask for one "
                               "that it does");
}

// ── parameters out of range ──

/// `draw(bad)` is refused with this text.
template <class Draw>
void expect_out_of_range(Draw draw, const Tensor& bad, const std::string& text) {
  SCOPED_TRACE(text);
  const bool holds_nan = !bool(rc::all(bad == bad));
  expect_error<rc::ValueError>([&] { draw(bad); }, text, holds_nan ? std::vector<Tensor>() : std::vector{bad});
}

TEST(RandomErrors, ANumberOutOfRange) {
  expect_error<rc::ValueError>([] { rc::gamma(0.0); }, "gamma: concentration is 0; it must be positive");
}

TEST(RandomErrors, TheFirstElementOutOfRangeAndItsPlace) {
  const Tensor bad = doubles({0.5, 0.25, 1, -1, 2, 0.5}, {2, 3}), unknown = doubles({1, NAN});
  expect_out_of_range([](Tensor p) { rc::bernoulli(p); }, bad,
                      "bernoulli: p is -1 at [1,0]; it must be at least 0 and at most 1");
  expect_out_of_range([](Tensor p) { rc::bernoulli(p.T()); }, bad,
                      "bernoulli: p is -1 at [0,1]; it must be at least 0 and at most 1");
  expect_out_of_range([](Tensor p) { rc::bernoulli(p); }, number(1.5),
                      "bernoulli: p is 1.5; it must be at least 0 and at most 1");
  expect_out_of_range([](Tensor a) { rc::gamma(a); }, bad, "gamma: concentration is -1 at [1,0]; it must be positive");
  expect_out_of_range([](Tensor b) { rc::beta(1, b); }, bad, "beta: b is -1 at [1,0]; it must be positive");
  expect_out_of_range([](Tensor r) { rc::poisson(r); }, bad, "poisson: rate is -1 at [1,0]; it must be at least 0");
  expect_out_of_range([](Tensor r) { rc::poisson(r); }, unknown, "poisson: rate is nan at [1]; it must be at least 0");
  expect_out_of_range([](Tensor n) { rc::binomial(n, 0.5); }, bad,
                      "binomial: count is -1 at [1,0]; it must be at least 0");
  expect_out_of_range([](Tensor p) { rc::binomial(4, p); }, bad,
                      "binomial: probability is -1 at [1,0]; it must be at least 0 and at most 1");
  expect_out_of_range([](Tensor r) { rc::exponential(r); }, bad,
                      "exponential: rate is -1 at [1,0]; it must be positive");
  expect_out_of_range([](Tensor c) { rc::dirichlet(c); }, bad,
                      "dirichlet: concentration is -1 at [1,0]; it must be positive");
  expect_out_of_range([](Tensor s) { rc::normal(0, s); }, bad, "normal: std is -1 at [1,0]; it must be at least 0");
  expect_out_of_range([](Tensor p) { rc::geometric(p); }, doubles({0}),
                      "geometric: p is 0 at [0]; it must be above 0 and at most 1");
}

TEST(RandomErrors, OutOfRangeInOneExampleOfAMap) {
  const Tensor bad = doubles({0.5, 0.25, 1, -1, 2, 0.5}, {3, 2});
  const rc::VmapOptions same{.randomness = Randomness::same};
  const auto draw = [](Tensor p) { return rc::bernoulli(p); };
  expect_error<rc::ValueError>([&] { rc::vmap(draw, same)(bad); },
                               "bernoulli: p is -1 at [1] in example 1; it must be at least 0 and at most 1\n"
                               "  inside vmap over axis 0 of 3{at}",
                               {bad});
  expect_error<rc::ValueError>([&] { rc::vmap(rc::vmap(draw, same), same)(bad); },
                               "bernoulli: p is -1 in example [1,1]; it must be at least 0 and at most 1\n"
                               "  inside vmap over axis 0 of 2{at}, inside vmap over axis 0 of 3{at}",
                               {bad});
  const rc::VmapOptions in_chunks{.randomness = Randomness::same, .chunk_size = 2};
  expect_error<rc::ValueError>([&] { rc::vmap(draw, in_chunks)(doubles({0, 1, 0, 1, 0, 7})); },
                               "bernoulli: p is 7 in example 5; it must be at least 0 and at most 1\n"
                               "  inside vmap over axis 0 of 6{at}");
  const auto loss = [](Tensor p) { return rc::exponential(p).sum(); };
  expect_error<rc::ValueError>([&] { rc::grad(loss)(bad); },
                               "exponential: rate is -1 at [1,1]; it must be positive\n  inside grad{at}", {bad});
}

TEST(RandomErrors, OnlyExamplesThatDrawAreLookedAt) {
  const auto f = [](Tensor p) {
    return rc::cond(p <= 1, [](Tensor q) { return rc::bernoulli(q); }, [](Tensor q) { return q; }, p);
  };
  const Tensor y = rc::vmap(f, {.randomness = Randomness::different})(doubles({1, 7, 0}));
  expect_values(y, {1, 7, 0});
}

TEST(MultinomialErrors, WeightsThatAreNoWeights) {
  const auto draw = [](Tensor w) { return rc::multinomial(w, 1, true); };
  const std::string rest = "; it must be finite and at least 0";
  expect_out_of_range(draw, doubles({1, -2}), "multinomial: a weight is -2 at [1]" + rest);
  expect_out_of_range(draw, doubles({1, NAN}), "multinomial: a weight is nan at [1]" + rest);
  expect_out_of_range(draw, doubles({1, 1, INFINITY, 1}, {2, 2}), "multinomial: a weight is inf at [1,0]" + rest);
  expect_out_of_range([](Tensor w) { return rc::multinomial(w, 1); }, doubles({-1, 1}),
                      "multinomial: a weight is -1 at [0]" + rest);
}

TEST(MultinomialErrors, WeightsThatAreAllZero) {
  const auto draw = [](Tensor w) { return rc::multinomial(w, 1, true); };
  expect_out_of_range(draw, doubles({0, 0}), "multinomial: the weights are all 0; a row needs a class to draw");
  const Tensor rows = doubles({0, 1, 0, 0}, {2, 2});
  expect_out_of_range(draw, rows, "multinomial: the weights are all 0 at [1]; a row needs a class to draw");
  expect_error<rc::ValueError>([&] { rc::vmap(draw, {.randomness = Randomness::same})(rows); },
                               "multinomial: the weights are all 0 in example 1; a row needs a class to draw\n"
                               "  inside vmap over axis 0 of 2{at}",
                               {rows});
  expect_error<rc::ValueError>([&] { rc::vmap(draw, {.randomness = Randomness::same, .chunk_size = 1})(rows); },
                               "multinomial: the weights are all 0 in example 1; a row needs a class to draw\n"
                               "  inside vmap over axis 0 of 2{at}",
                               {rows});
}

}  // namespace
