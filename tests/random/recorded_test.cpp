// Draws in recorded functions: a program draws anew each time it runs, what the function would draw there; and what is
// computed again for a derivative draws the same.
#include <gtest/gtest.h>

#include "ricci/ricci.h"
#include "support/expect_error.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Randomness;
using rc::Tensor;
using namespace testing_support;

namespace {

/// x + 2 n + u
Tensor noisy(Tensor x) {
  const Tensor n = rc::randn_like(x);
  const Tensor u = rc::rand({}, rc::float64);
  return x + 2 * n + u;
}

template <class F>
Tensor seeded(const F& f, const Tensor& x) {
  rc::manual_seed(11);
  return f(x);
}

/// The program of f, run from the same seed, gives what f gives; run again, something else.
template <class F>
void expect_same_draws(const F& f, const Tensor& recorded_at, const Tensor& x) {
  const rc::Program p = rc::trace(f)(recorded_at);
  const auto run = [&](Tensor y) { return p({y})[0]; };
  expect_equal(seeded(run, x), seeded(f, x));
  const Tensor once = run(x), again = run(x);
  EXPECT_FALSE(rc::equal(once, again));
}

const Tensor three = doubles({1, 2, 3}), four = doubles({1, 2, 3, 4});

struct Noisy : rc::Function<Noisy> {
  static constexpr bool generate_vmap_rule = true;
  static Tensor forward(const Tensor& x) { return x * rc::rand({}, rc::float64); }
};

/// To find the types of its results a function runs once more, which must leave nothing behind in the run's streams.
TEST(RecordedDraws, MayStandAroundAFunctionThatDraws) {
  const auto before = [](Tensor x) { return rc::rand({}, rc::float64) + Noisy::apply(x); };
  const auto behind = [](Tensor x) { return Noisy::apply(x) + rc::rand({}, rc::float64); };
  const auto expect_fresh_draws = [](const auto& one) {
    const Tensor ones = rc::ones({4}, rc::float64);
    const rc::Program p = rc::trace(rc::vmap(one, {.randomness = Randomness::different}))(ones);
    const Tensor once = p({ones})[0], again = p({ones})[0];
    EXPECT_FALSE(rc::equal(once, again));
    EXPECT_EQ(rc::unique(rc::cat({once, again})).numel(), 8);
  };
  expect_fresh_draws(before);
  expect_fresh_draws(behind);
}

TEST(RecordedDraws, AreWhatTheFunctionWouldDraw) { expect_same_draws(noisy, three, four); }

TEST(RecordedDraws, OfEverySampler) {
  expect_same_draws([](Tensor x) { return rc::gamma(x); }, three, four);
  expect_same_draws([](Tensor x) { return rc::dropout(x, 0.5, true); }, rc::ones({40}), rc::ones({60}));
  expect_same_draws([](Tensor x) { return x + rc::randint(1000000, {2}); }, three.slice(0, 0, 2, 1),
                    four.slice(0, 0, 2, 1));
  expect_same_draws([](Tensor x) { return x.clone().normal_(); }, three, four);
}

TEST(RecordedDraws, UnderVmapInsideTheRecording) {
  for (const auto mode : {Randomness::different, Randomness::same}) {
    expect_same_draws(rc::vmap(noisy, {.randomness = mode}), three, four);
    const auto twice = [&](Tensor x) {
      return rc::vmap(rc::vmap(noisy, {.randomness = mode}), {.randomness = mode})(x);
    };
    expect_same_draws(twice, rc::stack({three, three}), rc::stack({four, four, four}));
  }
}

TEST(RecordedDraws, UnderVmapAroundTheProgram) {
  const rc::Program p = rc::trace(noisy)(three);
  const Tensor rows = rc::stack({four, 2 * four});
  for (const auto mode : {Randomness::different, Randomness::same}) {
    const auto run = rc::vmap([&](Tensor y) { return p({y})[0]; }, {.randomness = mode});
    expect_equal(seeded(run, rows), seeded(rc::vmap(noisy, {.randomness = mode}), rows));
  }
  const rc::Program mapped = rc::trace(rc::vmap(noisy, {.randomness = Randomness::different}))(three);
  const auto run = rc::vmap([&](Tensor y) { return mapped({y})[0]; }, {.randomness = Randomness::different});
  const Tensor drawn = seeded(run, rc::zeros({20, 30}, rc::float64)).flatten();
  EXPECT_EQ(rc::unique(drawn).numel(), 600);
}

TEST(RecordedDraws, NeedAModeOfTheVmapAround) {
  const rc::Program p = rc::trace([](Tensor x) { return x + rc::rand({}, rc::float64); })(three);
  expect_error<rc::TransformError>(
      [&] { rc::vmap([&](Tensor y) { return p({y})[0]; })(rc::stack({three})); },
      "rand: a random operation under vmap over axis 0 of 1{at}, whose randomness mode is "
      "error; "
      "pass .randomness = rc::Randomness::different for a draw per example, or rc::Randomness::same for one draw for "
      "all\n  inside vmap over axis 0 of 1{at}");
}

TEST(RecordedDraws, ComeFromTheGeneratorGiven) {
  rc::Generator g(5);
  const rc::Program p =
      rc::trace([&](Tensor x) { return x + rc::rand({3}, {.dtype = rc::float64, .generator = g}); })(three);
  g.manual_seed(5);
  const Tensor drawn = p({three})[0];
  g.manual_seed(5);
  expect_equal(drawn, three + rc::rand({3}, {.dtype = rc::float64, .generator = g}));
}

TEST(RecordedDraws, DifferFromStepToStep) {
  const auto walk = [](Tensor x) {
    return rc::scan(
               [](Tensor at, Tensor step) {
                 const Tensor next = at + step * rc::rand({}, rc::float64);
                 return std::pair{next, next - at};
               },
               number(0), x)
        .second;
  };
  const rc::Program p = rc::trace(walk)(three);
  const Tensor steps = p({rc::ones({200}, rc::float64)})[0];
  EXPECT_EQ(rc::unique(steps).numel(), 200);
  EXPECT_NEAR(steps.mean().item<double>(), 0.5, 0.1);
  const auto loop = [](Tensor n) {
    return rc::fori_loop(0, n, [](Tensor, Tensor s) { return s + rc::rand({}, rc::float64); }, number(0));
  };
  const rc::Program q = rc::trace(loop)(rc::tensor(3));
  EXPECT_NEAR(q({rc::tensor(400)})[0].item<double>(), 200, 30);
  EXPECT_NE(q({rc::tensor(4)})[0].item<double>(), q({rc::tensor(4)})[0].item<double>());
}

TEST(RecordedDraws, DifferFromExampleToExampleInALoop) {
  const auto loop = [](Tensor n) {
    return rc::fori_loop(0, n, [](Tensor, Tensor s) { return s + rc::rand({}, rc::float64); }, number(0));
  };
  const rc::Program p = rc::trace(rc::vmap(loop, {.randomness = Randomness::different}))(rc::tensor({1, 2}));
  EXPECT_EQ(rc::unique(p({rc::tensor({1, 2, 1, 2, 3})})[0]).numel(), 5);
}

TEST(RecordedDraws, InWhatIsAProgramOfItsOwnDifferFromExampleToExample) {
  const auto in_branch = [](Tensor x) {
    return rc::cond(x > 0, [&] { return x * rc::rand({}, rc::float64); }, [] { return rc::rand({}, rc::float64); });
  };
  const auto in_checkpoint = [](Tensor x) {
    return rc::checkpoint([](Tensor y) { return y * rc::rand({}, rc::float64); })(x);
  };
  const auto of_own_generator = [](Tensor x) {
    return rc::cond(
        x > 0,
        [&] {
          rc::Generator g(2);
          return x * rc::rand({}, {.dtype = rc::float64, .generator = g});
        },
        [&] { return x; });
  };
  const auto expect_own = [](const auto& f) {
    const rc::Program p = rc::trace(rc::vmap(f, {.randomness = Randomness::different}))(three);
    EXPECT_EQ(rc::unique(p({rc::ones({50}, rc::float64)})[0]).numel(), 50);
  };
  expect_own(in_branch);
  expect_own(in_checkpoint);
  expect_own(of_own_generator);
}

/// Linear in x, so that its gradient times x is its value if both see the same numbers.
template <class F>
void expect_gradient_of_what_was_drawn(const F& f) {
  const rc::Program p = rc::trace(rc::grad_and_value(f))(three);
  const std::vector<Tensor> found = p({four});
  expect_close((found[0] * four).sum(), found[1]);
}

TEST(RecordedDraws, AreTheSameInWhatIsComputedAgainForADerivative) {
  const auto drawn = [](Tensor x) { return (x * rc::rand_like(x)).sum(); };
  expect_gradient_of_what_was_drawn(drawn);
  expect_gradient_of_what_was_drawn([&](Tensor x) { return rc::checkpoint(drawn)(x); });
  expect_gradient_of_what_was_drawn(
      [&](Tensor x) { return rc::cond(x.sum() > 0, [&] { return drawn(x); }, [&] { return x.sum(); }); });
  for (const auto checkpoint : {rc::Checkpoints::every_step, rc::Checkpoints::sqrt})
    expect_gradient_of_what_was_drawn([&](Tensor x) {
      return rc::fori_loop(0, 5, [&](Tensor, Tensor y) { return y * rc::rand_like(y); }, x, {.checkpoint = checkpoint})
          .sum();
    });
}

/// A function with rules of its own that draws.
Tensor times_noise(const Tensor& x) {
  return rc::custom_vjp([](Tensor x) { return x * rc::rand_like(x); },
                        [](Tensor x) {
                          const Tensor noise = rc::rand_like(x);
                          return std::pair{x * noise, noise};
                        },
                        [](Tensor noise, Tensor ct) { return ct * noise; })(x);
}

/// The same as a class.
struct TimesNoise : rc::Function<TimesNoise> {
  static std::pair<Tensor, Tensor> forward(const Tensor& x) {
    const Tensor noise = rc::rand_like(x);
    return {x * noise, noise};
  }
  static void setup_context(rc::Context& ctx, const std::tuple<Tensor>&, const std::pair<Tensor, Tensor>& output) {
    ctx.mark_non_differentiable(output.second);
    ctx.save_for_backward(output.second);
  }
  static Tensor backward(rc::Context& ctx, const Tensor& ct, const Tensor&) { return ct * ctx.saved(0); }
  static constexpr bool generate_vmap_rule = true;
};
Tensor times_noise_of_class(const Tensor& x) { return TimesNoise::apply(x).first; }

TEST(RecordedDraws, OfACustomFunctionDifferFromStepToStep) {
  const auto noises = [](Tensor x) {
    return rc::scan([](Tensor at, Tensor step) { return std::pair{at, times_noise(step)}; }, number(0), x).second;
  };
  const rc::Program p = rc::trace(noises)(three);
  EXPECT_EQ(rc::unique(p({rc::ones({200}, rc::float64)})[0]).numel(), 200);
  EXPECT_NE(p({three})[0].to_vector<double>(), p({three})[0].to_vector<double>());
}

void expect_repeated(Tensor (*noisy)(const Tensor&)) {
  const auto f = [=](Tensor x) { return noisy(x).sum(); };
  expect_gradient_of_what_was_drawn(f);
  expect_gradient_of_what_was_drawn([&](Tensor x) { return rc::checkpoint(f)(x); });
  expect_gradient_of_what_was_drawn([&](Tensor x) {  // a draw that no output needs comes first
    return rc::checkpoint([&](Tensor x) {
      noisy(x);
      return f(x);
    })(x);
  });
  expect_gradient_of_what_was_drawn(
      [&](Tensor x) { return rc::cond(x.sum() > 0, [&] { return f(x); }, [&] { return x.sum(); }); });
  for (const auto checkpoint : {rc::Checkpoints::every_step, rc::Checkpoints::sqrt})
    expect_gradient_of_what_was_drawn([&](Tensor x) {
      const auto step = [=](std::pair<Tensor, Tensor> s) { return std::pair{s.first + 1, noisy(s.second)}; };
      return rc::while_loop([](std::pair<Tensor, Tensor> s) { return s.first < 5; }, step, std::pair{number(0), x},
                            {.checkpoint = checkpoint})
          .second.sum();
    });
}

TEST(RecordedDraws, OfACustomFunctionAreTheSameInWhatIsComputedAgain) {
  expect_repeated(times_noise);
  expect_repeated(times_noise_of_class);
}

TEST(RecordedDraws, OfACustomFunctionThatMakesAGeneratorAreThoseOfTheFunctionInMaps) {
  const auto made_and_given = [](Tensor x) {
    rc::Generator made(4);
    const Tensor factor = rc::rand({}, {.dtype = rc::float64, .generator = made});
    return x * factor + rc::rand({}, rc::float64);
  };
  const auto with_rule = [=](Tensor x) {
    return rc::custom_vjp(made_and_given, [=](Tensor x) { return std::pair{made_and_given(x), x}; },
                          [](Tensor, Tensor ct) { return ct * 2; })(x);
  };
  const auto kept = [=](Tensor x) { return rc::checkpoint(with_rule)(x); };
  const auto looped = [=](Tensor x) {
    return rc::fori_loop(0, 2, [=](Tensor, Tensor y) { return with_rule(y); }, x);
  };
  for (const std::function<Tensor(Tensor)>& f : {std::function<Tensor(Tensor)>(with_rule), {kept}, {looped}})
    for (const Randomness mode : {Randomness::different, Randomness::same})
      expect_same_draws(rc::vmap(f, {.randomness = mode}), three, three);
}

TEST(RecordedDraws, OfACustomFunctionInABranchLoopOrCheckpointAreThoseOfTheFunctionInMapsInMaps) {
  const auto kept = [](Tensor x) { return rc::checkpoint(times_noise)(x); };
  const auto looped = [](Tensor x) {
    return rc::fori_loop(0, 2, [](Tensor, Tensor y) { return times_noise(y); }, x);
  };
  const auto chosen = [](Tensor x) { return rc::cond(rc::tensor(true), times_noise, times_noise, x); };
  const auto in_another = [](Tensor x) {
    const auto twice = [](Tensor x) {
      return rc::custom_vjp(times_noise, [](Tensor x) { return std::pair{times_noise(x), x}; },
                            [](Tensor, Tensor ct) { return ct * 2; })(x);
    };
    return rc::fori_loop(0, 2, [=](Tensor, Tensor y) { return twice(y); }, x);
  };
  using F = std::function<Tensor(const Tensor&)>;
  for (const F& f : {F(kept), F(looped), F(chosen), F(in_another)})
    for (const Randomness inner : {Randomness::different, Randomness::same})
      for (const Randomness outer : {Randomness::different, Randomness::same}) {
        const auto rows = [=](Tensor x) { return rc::vmap(f, {.randomness = inner})(rc::stack({x, x + 1, x * 2})); };
        expect_same_draws(rc::vmap(rows, {.randomness = outer}), three, three);
      }
}

/// Each call of a program's derivative draws new numbers; its value and slope share them.
TEST(RecordedDraws, OfACustomFunctionAreNewAtEachDerivativeOfTheProgram) {
  const auto twice = [](Tensor x) { return times_noise(x) + 100 * times_noise(x); };
  const auto kept = [](Tensor x) { return rc::checkpoint(times_noise)(x); };
  const auto looped = [](Tensor x) {
    return rc::fori_loop(rc::tensor(0), rc::tensor(3), [](Tensor, Tensor s) { return times_noise(s); }, x);
  };
  for (const std::function<Tensor(Tensor)>& f : {std::function<Tensor(Tensor)>(twice), {kept}, {looped}}) {
    const rc::Program p = rc::trace(f)(three);
    const auto run = [&](Tensor x) { return p({x})[0].sum(); };
    std::vector<double> seen;
    for (int call = 0; call < 3; ++call) {
      const auto [y, slope] = rc::value_and_grad(run)(four);
      expect_close((slope * four).sum(), y);
      seen.push_back(y.item<double>());
      const auto [value, tangent] = rc::jvp([&](Tensor x) { return rc::grad(run)(x).sum(); }, four, four);
      EXPECT_EQ(tangent.item<double>(), 0);  // linear in x
    }
    EXPECT_NE(seen[0], seen[1]);
    EXPECT_NE(seen[1], seen[2]);
    const auto mapped = rc::vmap(rc::grad(run), {.randomness = Randomness::different})(rc::stack({four, four}));
    EXPECT_FALSE(rc::equal(mapped[0], mapped[1]));
  }
}

TEST(RecordedDraws, OfAGeneratorMadeInsideStartAnewAtEachRun) {
  const auto f = [](Tensor x) {
    rc::Generator g(3);
    return x + rc::rand({3}, {.dtype = rc::float64, .generator = g});
  };
  const rc::Program p = rc::trace(f)(three);
  for (int run = 0; run < 2; ++run) expect_equal(p({three})[0], f(three));
  const auto loop = [&](Tensor x) { return rc::fori_loop(0, 3, [&](Tensor, Tensor y) { return f(y); }, x); };
  const rc::Program q = rc::trace(loop)(three);
  for (int run = 0; run < 2; ++run) expect_equal(q({three})[0], loop(three));
}

TEST(RecordedDraws, OfARecordingInsideACheckpointBelongToItsProgram) {
  const auto f = [](Tensor x) {
    return rc::checkpoint(
        [](Tensor y) { return rc::trace([](Tensor z) { return (z * rc::rand_like(z)).sum(); })(y)({y})[0]; })(x);
  };
  const auto [gradient, value] = rc::grad_and_value(f)(three);
  expect_close((gradient * three).sum(), value);
}

TEST(RecordedDraws, OfALoopThatKeepsFewStatesUnderVmapAreThoseOfItsGradient) {
  for (const auto checkpoint : {rc::Checkpoints::sqrt, rc::Checkpoints::log}) {
    const auto f = [&](Tensor x) {
      return rc::fori_loop(0, 4, [](Tensor, Tensor y) { return y * (1 + rc::rand({}, rc::float64)); }, x,
                           {.checkpoint = checkpoint});
    };
    const rc::Program p = rc::trace(rc::vmap(rc::grad_and_value(f), {.randomness = Randomness::different}))(three);
    const std::vector<Tensor> found = p({four});
    expect_close(found[0] * four, found[1]);
    EXPECT_EQ(rc::unique(found[0]).numel(), 4);
  }
}

TEST(RecordedDraws, OfALoopsConditionAreAnError) {
  const auto f = [](Tensor x) {
    return rc::while_loop([](Tensor y) { return y < rc::rand({}); }, [](Tensor y) { return y + 1; }, x);
  };
  expect_error<rc::NotImplementedError>(
      [&] { rc::trace(f)(number(0)); },
      "while_loop: the condition draws random numbers while the function is recorded; "
      "draw them in the body, as part of the state\n  inside trace{at}");
}

}  // namespace
