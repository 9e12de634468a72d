// A transform that shares draws draws what the function draws: law over all transforms and stacks of two of them. The
// functions are noise · eˣ at x = 0, where the value and the derivatives of every order are the noise itself, and the
// noise is made of integers, so that nothing is rounded.
#include <functional>

#include "random/categories.h"

using namespace testing_support;
using rc::Randomness;

namespace {

using Function = std::function<Tensor(Tensor)>;  // float64 [n] → [n], each element of its own

struct Named {
  std::string name;
  Function f;
  bool parts = false;  // its examples may part: under a map it draws what maps draw there
};
struct Transform {
  std::string name;
  std::function<Function(Function)> of;
  bool maps = false, records = false;
};

Function summed(Function f) {
  return [=](Tensor x) { return f(x).sum(); };
}

// ── transforms: each gives the value or a derivative of each element ──

Transform mapped(const std::string& name, rc::VmapOptions options) {
  options.randomness = Randomness::same;
  const auto of = [=](Function f) { return [=](Tensor x) { return rc::vmap(f, options)(rc::stack({x, x, x}))[1]; }; };
  return {name, of, true};
}

template <class Jacobian>
Transform jacobian(const std::string& name, Jacobian of, std::optional<std::int64_t> chunk_size) {
  const rc::JacobianOptions options{.randomness = Randomness::same, .chunk_size = chunk_size};
  return {name, [=](Function f) { return [=](Tensor x) { return of(f, options)(x).diagonal(); }; }};
}

std::vector<Transform> transforms() {
  const auto jacfwd = [](Function f, rc::JacobianOptions options) { return rc::jacfwd(f, options); };
  const auto jacrev = [](Function f, rc::JacobianOptions options) { return rc::jacrev(f, options); };
  const auto hessian = [](Function f, rc::JacobianOptions options) { return rc::hessian(summed(f), options); };
  return {
      {"itself", [](Function f) { return f; }},
      {"grad", [](Function f) { return Function(rc::grad(summed(f))); }},
      {"vjp", [](Function f) { return [=](Tensor x) { return std::get<1>(rc::vjp(f, x))(rc::ones_like(x)); }; }},
      {"jvp", [](Function f) { return [=](Tensor x) { return std::get<1>(rc::jvp(f, x, rc::ones_like(x))); }; }},
      {"linearize",
       [](Function f) { return [=](Tensor x) { return std::get<1>(rc::linearize(f, x))(rc::ones_like(x)); }; }},
      {"Tape",
       [](Function f) {
         return [=](Tensor x) {
           rc::Tape tape;
           const Tensor watched = x.clone();
           tape.watch(watched);
           return tape.gradient(f(watched).sum(), watched);
         };
       }},
      jacobian("jacrev", jacrev, {}),
      jacobian("jacrev in chunks", jacrev, 3),
      jacobian("jacfwd", jacfwd, {}),
      jacobian("jacfwd in chunks", jacfwd, 3),
      jacobian("hessian", hessian, {}),
      jacobian("hessian in chunks", hessian, 3),
      mapped("vmap", {}),
      mapped("vmap in chunks", {.chunk_size = 1}),
      mapped("vmap that may split", {.lanes = rc::Lanes::split}),
      {"trace", [](Function f) { return [=](Tensor x) { return rc::trace(f)(x)({x})[0]; }; }, false, true},
  };
}

// ── functions ──

rc::Generator& own_generator() {
  static rc::Generator generator(0);
  return generator;
}
Tensor seeded(const Function& f, const Tensor& x) {
  rc::manual_seed(0);
  own_generator().manual_seed(1);
  return f(x);
}

Tensor noise(std::int64_t n) { return rc::randint(1, 1000, {n}).to(rc::float64); }
Tensor times_noise(const Tensor& y) { return y * noise(y.size(0)); }
Tensor times_few(const Tensor& y) { return y * rc::randint(1, 4, {y.size(0)}); }  // so that many products are exact

std::vector<Named> functions() {
  const auto program = std::make_shared<rc::Program>(rc::trace(times_noise)(rc::zeros({8}, rc::float64)));
  const auto step = [](Tensor, Tensor y) { return times_noise(y); };
  return {
      {"dropout", [](Tensor x) { return rc::dropout(exp(x), 0.5, true); }},
      {"draws in a row",
       [](Tensor x) {
         const Tensor y = times_noise(exp(x));
         const Tensor z = rc::dropout(y, 0.5, true);
         return times_noise(z);
       }},
      {"a generator of one's own between draws of the default one",
       [](Tensor x) {
         const Tensor y = times_noise(exp(x));
         const Tensor z = y * rc::randint(1, 1000, {8}, {.generator = own_generator()}).to(rc::float64);
         return times_noise(z);
       }},
      {"in place",
       [](Tensor x) {
         Tensor y = exp(x);
         y *= rc::zeros_like(x).random_(1, 1000);
         y.slice(0, 2, 5) *= rc::zeros({3}, rc::float64).random_(1, 1000);
         return y;
       }},
      {"a map that draws for each",
       [](Tensor x) {
         const Tensor y = times_noise(exp(x));
         const auto one = [](Tensor a) { return a * rc::randint(1, 1000, {}).to(rc::float64); };
         const Tensor z = rc::vmap(one, {.randomness = Randomness::different, .chunk_size = 3})(y);
         return times_noise(z);
       }},
      {"a map that draws for all",
       [](Tensor x) {
         const auto one = [](Tensor a) { return a * rc::randint(1, 1000, {}).to(rc::float64); };
         const Tensor y = rc::vmap(one, {.randomness = Randomness::same, .chunk_size = 3})(exp(x));
         return times_noise(y);
       }},
      {"a checkpoint",
       [](Tensor x) {
         const Tensor y = rc::checkpoint([](Tensor a) { return times_noise(times_noise(exp(a))); })(x);
         return times_noise(y);
       }},
      {"a program", [program](Tensor x) { return times_noise((*program)({exp(x)})[0]); }},
      {"a conditional",
       [](Tensor x) {
         const Tensor y = times_noise(exp(x));
         const Tensor z = rc::cond(rc::tensor(true), [&] { return times_noise(times_noise(y)); }, [&] { return y; });
         return times_noise(z);
       }},
      {"a loop",
       [=](Tensor x) {
         const Tensor y = rc::fori_loop(0, 3, step, exp(x));
         return times_noise(y);
       }},
      {"a loop that keeps few states",
       [=](Tensor x) {
         const Tensor y = rc::fori_loop(0, 4, step, exp(x), {.checkpoint = rc::Checkpoints::sqrt});
         return times_noise(y);
       },
       true},
      {"a loop of unknown length",
       [](Tensor x) {
         using State = std::pair<Tensor, Tensor>;
         const auto next = [](State s) { return State(s.first + 1, times_noise(s.second)); };
         const State end = rc::while_loop([](State s) { return s.first < 3; }, next, State(rc::tensor(0), exp(x)));
         return times_noise(end.second);
       }},
      {"a scan",
       [](Tensor x) {
         const auto next = [](Tensor y, Tensor) {
           const Tensor z = times_noise(y);
           return std::pair(z, z);
         };
         const Tensor y = rc::scan(next, exp(x), rc::zeros({3})).first;
         return times_noise(y);
       }},
      {"a loop in a loop, beside a branch that draws nothing",
       [](Tensor x) {
         const auto inner = [](Tensor i, Tensor y) {
           return times_few(rc::cond(i > 0, [&] { return times_few(y); }, [&] { return y; }));
         };
         const auto outer = [=](Tensor, Tensor y) { return rc::fori_loop(0, 2, inner, times_few(y)); };
         return times_few(rc::fori_loop(0, 2, outer, exp(x)));
       }},
      {"a loop with a generator of its own",
       [](Tensor x) {
         const auto next = [](Tensor, Tensor y) {
           rc::Generator own(3);
           const Tensor z = times_few(y);
           return z * rc::randint(1, 4, {8}, {.generator = own});
         };
         return times_few(rc::fori_loop(0, 3, next, exp(x)));
       }},
  };
}

/// Recording itself sets the seed.
std::vector<Named> functions_that_a_program_draws_otherwise() {
  return {
      {"a seed set on the way",
       [](Tensor x) {
         const Tensor y = times_noise(exp(x));
         rc::manual_seed(5);
         return times_noise(y);
       }},
  };
}

class OneDraw : public testing::TestWithParam<Transform> {};

/// What the function alone draws, recorded or not, mapped or not where its examples may part.
Tensor expected_draw(const Named& function, const Tensor& x, bool records, bool maps) {
  Function f = function.f;
  if (maps && function.parts) f = mapped("vmap", {}).of(f);
  if (records) f = transforms().back().of(f);
  return seeded(f, x);
}

void expect_one_draw(const Named& function, const Transform& outer) {
  const Tensor x = rc::zeros({8}, rc::float64);
  for (const Transform& inner : transforms()) {
    SCOPED_TRACE(outer.name + " of " + inner.name + " of " + function.name);
    const Tensor expected = expected_draw(function, x, outer.records || inner.records, outer.maps || inner.maps);
    expect_equal(seeded(outer.of(inner.of(function.f)), x), expected);
  }
}

TEST_P(OneDraw, OfAFunctionAndOfItsDerivatives) {
  for (const Named& function : functions()) {
    SCOPED_TRACE(function.name);
    const Tensor x = rc::zeros({8}, rc::float64);
    expect_equal(seeded(transforms().back().of(function.f), x), seeded(function.f, x));
    expect_one_draw(function, GetParam());
  }
}

TEST_P(OneDraw, OfAFunctionThatAProgramDrawsOtherwiseAndOfItsDerivatives) {
  for (const Named& function : functions_that_a_program_draws_otherwise()) expect_one_draw(function, GetParam());
}

std::ostream& operator<<(std::ostream& out, const Transform& t) { return out << t.name; }

INSTANTIATE_TEST_SUITE_P(Under, OneDraw, testing::ValuesIn(transforms()), [](const auto& info) {
  std::string name = info.param.name;
  for (char& c : name)
    if (c == ' ') c = '_';
  return name;
});

// ── what all examples share under `same` ──

class OneDrawOf : public testing::TestWithParam<Category> {};

TEST_P(OneDrawOf, AMapThatSharesDrawsGivesAnExampleWhatTheFunctionGives) {
  const Tensor x = unequal_examples({5});
  const auto f = [](Tensor a) {
    const Tensor drawn = GetParam().draw(a);
    return std::pair(drawn, GetParam().draw(a));
  };
  for (const std::int64_t chunk : {1, 2, 5}) {
    rc::manual_seed(4);
    const auto [first, second] = rc::vmap(f, {.randomness = Randomness::same, .chunk_size = chunk})(x);
    const Tensor next = rc::rand({3});
    for (std::int64_t i = 0; i < 5; ++i) {
      rc::manual_seed(4);
      const auto [one, other] = f(x[i]);
      expect_equal(first[i], one);
      expect_equal(second[i], other);
      expect_equal(rc::rand({3}), next);
    }
  }
}

TEST_P(OneDrawOf, AForwardJacobianIsTheReverseOne) {
  const auto f = [](Tensor a) { return GetParam().draw(a).to(rc::float64).sum() * a.sum(); };
  const Tensor x = unequal_examples({});
  const auto run = [&](const Function& g) {
    rc::manual_seed(4);
    return g(x);
  };
  const Tensor expected = run(rc::grad(f));
  expect_close(run(rc::jacrev(f)), expected, 1e-9);
  for (const std::int64_t chunk : {1, 4, 6})
    expect_close(run(rc::jacfwd(f, {.randomness = Randomness::same, .chunk_size = chunk})), expected, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(All, OneDrawOf, testing::ValuesIn(all_categories()),
                         [](const auto& info) { return info.param.name; });

// ── where examples part ──

/// Draws before, in and behind what examples part in, some of them on one path only.
Tensor parts_on_the_way(Tensor x) {
  const Tensor before = rc::rand({}, rc::float64);
  const Tensor branch =
      rc::cond(x > 2, [&] { return rc::rand({}, rc::float64) + rc::rand({}, rc::float64); }, [&] { return x; });
  const Tensor between = rc::rand({}, rc::float64);
  const Tensor loop = rc::while_loop([](Tensor s) { return s > 0; },
                                     [](Tensor s) { return s - 1 - 0.1 * rc::rand({}, rc::float64); }, x);
  const auto one = [](Tensor a) { return a + rc::rand({}, rc::float64); };
  const auto each = [&](Tensor) {
    return rc::vmap(one, {.randomness = Randomness::different})(rc::zeros({2}, rc::float64)).sum();
  };
  const Tensor inside = rc::cond(x > 1, each, [](Tensor a) { return a; }, x);
  return rc::stack({before, branch, between, loop, inside, rc::rand({}, rc::float64)});
}

TEST(SharedDraws, OfAnExampleDependNeitherOnChunksNorOnThePathsOfOthers) {
  const Tensor x = doubles({0, 1, 2, 3, 4, 5, 1, 3});
  const auto run = [](const Tensor& of, rc::VmapOptions options) {
    options.randomness = Randomness::same;
    rc::manual_seed(6);
    return rc::vmap(parts_on_the_way, options)(of);
  };
  const Tensor whole = run(x, {});
  for (const std::int64_t chunk : {1, 2, 3, 7}) expect_equal(run(x, {.chunk_size = chunk}), whole);
  for (std::int64_t i = 0; i < 8; ++i) expect_equal(run(x[i].unsqueeze(0), {})[0], whole[i]);
  expect_equal(run(x.flip({0}), {}).flip({0}), whole);
}

/// A loop that begins with a number, and whose examples part once it is theirs; draws in it wherever `draws` says.
template <class Draws>
Tensor parts_later(Tensor x, const Draws& draws) {
  const auto step = [&](Tensor s) {
    const Tensor drawn = rc::cond(draws(s), [&] { return s + 0.01 * rc::rand({}, rc::float64); }, [&] { return s; });
    return drawn + x;
  };
  const Tensor end = rc::while_loop([](Tensor s) { return s < 1; }, step, rc::tensor(0., rc::float64));
  const auto add = [](Tensor, Tensor s) { return s + rc::rand({}, rc::float64); };
  return rc::stack({end, rc::rand({}, rc::float64), rc::fori_loop(0, 2, add, end)});
}

TEST(SharedDraws, OfAnExampleDoNotDependOnChunksWhereALoopTurnsOutToPartLater) {
  const Tensor x = doubles({2, 2, 0.3, 0.3, 0.2});
  const auto expect_as_in_chunks = [&](const auto& f) {
    for (const Randomness mode : {Randomness::same, Randomness::different}) {
      const auto run = [&](const Tensor& of, std::int64_t chunk) {
        rc::manual_seed(6);
        const Tensor y = rc::vmap(f, {.randomness = mode, .chunk_size = chunk})(of);
        return std::pair{y, rc::rand({2})};
      };
      const auto [whole, next] = run(x, 5);
      for (const std::int64_t chunk : {1, 2, 3}) {
        const auto [parts, next_after_parts] = run(x, chunk);
        expect_equal(parts, whole);
        expect_equal(next_after_parts, next);
      }
    }
  };
  expect_as_in_chunks([](Tensor a) { return parts_later(a, [](Tensor s) { return s > 0.1; }); });
  expect_as_in_chunks([](Tensor a) { return parts_later(a, [](Tensor s) { return s < 0.1; }); });
  expect_as_in_chunks([](Tensor a) { return parts_later(a, [](Tensor) { return rc::tensor(true); }); });
  // Examples part in the steps of a loop that all of them take.
  expect_as_in_chunks([](Tensor a) {
    const auto draw = [](Tensor s) { return s + rc::rand({}, rc::float64); };
    const auto step = [&](Tensor, Tensor s) {
      const Tensor t = rc::cond(a > 1, draw, [](Tensor b) { return b; }, s);
      const Tensor u = rc::while_loop([](Tensor b) { return b < 1; }, [&](Tensor b) { return draw(b) + a; }, t * 0);
      return rc::cond(a < 1, draw, [](Tensor b) { return b; }, t) + u;
    };
    const Tensor y = rc::fori_loop(0, 2, step, a);
    return rc::stack({y, draw(y), rc::fori_loop(0, 2, [&](Tensor, Tensor s) { return draw(s); }, y), draw(y)});
  });
}

TEST(SharedDraws, OfAnExampleDoNotDependOnChunksWhereABranchSeeds) {
  const Tensor x = doubles({1, 1, 2, 2, 3});
  const auto seeds = [](Tensor a) {
    const Tensor before = rc::rand({}, rc::float64);
    const auto branch = [] {
      rc::manual_seed(5);
      return rc::rand({}, rc::float64);
    };
    return rc::stack({before, rc::cond(a > 0, branch, [] { return rc::zeros({}, rc::float64); }), a});
  };
  for (const Randomness mode : {Randomness::same, Randomness::different}) {
    const auto run = [&](std::int64_t chunk) {
      rc::manual_seed(6);
      return rc::vmap(seeds, {.randomness = mode, .chunk_size = chunk})(x);
    };
    for (const std::int64_t chunk : {1, 2, 3}) expect_equal(run(chunk), run(5));
  }
}

TEST(SharedDraws, OfTwoMapsInARowDiffer) {
  const auto f = [](Tensor x) {
    return rc::cond(x > 2, [] { return rc::rand({}, rc::float64); }, [] { return 1 + rc::rand({}, rc::float64); });
  };
  const Tensor x = doubles({1, 3});
  rc::manual_seed(1);
  Values all = values(rc::vmap(f, {.randomness = Randomness::same})(x));
  const Values more = values(rc::vmap(f, {.randomness = Randomness::same})(x));
  EXPECT_NE(all[0], more[0]);
  EXPECT_NE(all[1], more[1]);
}

// ── recorded ──

struct TimesNoise : rc::Function<TimesNoise> {
  static constexpr bool generate_vmap_rule = true;
  static Tensor forward(const Tensor& x) { return times_noise(x); }
};

TEST(RecordedMaps, DrawWhatTheWholeDrawsInChunks) {
  const auto program = std::make_shared<rc::Program>(rc::trace(times_noise)(rc::zeros({2}, rc::float64)));
  const std::vector<Named> functions{
      {"draws", [](Tensor x) { return times_noise(times_noise(x)); }},
      {"a checkpoint", [](Tensor x) { return times_noise(rc::checkpoint(times_noise)(x)); }},
      {"a program", [=](Tensor x) { return times_noise((*program)({x})[0]); }},
      {"a custom function", [](Tensor x) { return times_noise(TimesNoise::apply(x)); }},
      {"a branch",
       [](Tensor x) { return times_noise(rc::cond(x.sum() > 3, [&] { return times_noise(x); }, [&] { return x; })); }},
      {"a loop",
       [](Tensor x) { return times_noise(rc::fori_loop(0, 3, [](Tensor, Tensor y) { return times_noise(y); }, x)); }},
  };
  const Tensor x = ramp({5, 2});
  for (const Named& function : functions)
    for (const Randomness mode : {Randomness::different, Randomness::same}) {
      SCOPED_TRACE(function.name + (mode == Randomness::same ? " of all" : " of each"));
      const auto run = [&](std::int64_t chunk) {
        const Function f = rc::vmap(function.f, {.randomness = mode, .chunk_size = chunk});
        return seeded(transforms().back().of(f), x);
      };
      for (const std::int64_t chunk : {1, 2}) expect_equal(run(chunk), run(5));
    }
}

}  // namespace
