// Draws in recorded control flow under vmap: each example has its own, also where nothing else tells examples apart.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <new>
#include <set>

#include "ricci/ricci.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Randomness;
using rc::Tensor;
using namespace testing_support;

namespace {

std::size_t different(const Tensor& numbers) {
  const auto all = numbers.to_vector<double>();
  return std::set<double>(all.begin(), all.end()).size();
}

/// Of four examples of a recorded vmap, f of a number that they have in common.
Tensor drawn(const std::function<Tensor(Tensor)>& f, double common, Randomness mode) {
  const auto all = [&](Tensor of_all) {
    return rc::vmap([&](Tensor x) { return x + f(of_all); }, {.randomness = mode})(rc::zeros({4}, rc::float64));
  };
  return rc::trace(all)(number(1))({number(common)})[0];
}

void expect_one_for_each(const std::function<Tensor(Tensor)>& f) {
  for (const double common : {1.0, -1.0}) {
    EXPECT_EQ(different(drawn(f, common, Randomness::different)), 4U);
    EXPECT_EQ(different(drawn(f, common, Randomness::same)), 1U);
  }
  EXPECT_THROW(drawn(f, 1, Randomness::error), rc::TransformError);
  const auto pairs = [&](Tensor common) {
    return rc::vmap([&](Tensor x) { return x + f(common); },
                    {.randomness = Randomness::different})(rc::zeros({3}, rc::float64));
  };
  EXPECT_EQ(different(drawn(pairs, 1, Randomness::different)), 12U);
}

Tensor number_drawn() { return rc::rand({}, rc::float64); }

TEST(RecordedDraws, OfAScan) {
  expect_one_for_each([](Tensor common) {
    const auto step = [](Tensor c, Tensor) { return std::pair{c + number_drawn(), c}; };
    return rc::scan(step, common, doubles({1, 2, 3})).first;
  });
}

TEST(RecordedDraws, OfALoop) {
  expect_one_for_each([](Tensor common) {
    return rc::while_loop([](Tensor s) { return s < 2; }, [](Tensor s) { return s + 0.5 + number_drawn(); }, common);
  });
}

TEST(RecordedDraws, OfAConditional) {
  expect_one_for_each([](Tensor common) {
    return rc::cond(common > 0, [] { return number_drawn(); }, [] { return 1 + number_drawn(); });
  });
}

TEST(RecordedDraws, OfACheckpoint) {
  expect_one_for_each(rc::checkpoint([](Tensor common) { return common * number_drawn(); }));
}

TEST(RecordedDraws, OfALoopInALoop) {
  expect_one_for_each([](Tensor common) {
    const auto inner = [](Tensor, Tensor s) { return s + number_drawn(); };
    const auto outer = [&](Tensor, Tensor s) { return s + rc::fori_loop(0, 2, inner, common); };
    return rc::fori_loop(0, 3, outer, common);
  });
}

TEST(RecordedDraws, OfAScanInABranch) {
  expect_one_for_each([](Tensor common) {
    const auto step = [](Tensor c, Tensor) { return std::pair{c + number_drawn(), c}; };
    const auto sum = [&] { return rc::scan(step, common, doubles({1, 2, 3})).first; };
    return rc::cond(common > 0, sum, [&] { return common + number_drawn(); });
  });
}

TEST(RecordedDraws, OfAProgramThatIsRecordedAgain) {
  const auto step = [](Tensor c, Tensor) { return std::pair{c + number_drawn(), c}; };
  const rc::Program p =
      rc::trace([&](Tensor common) { return rc::scan(step, common, doubles({1, 2, 3})).first; })(number(1));
  expect_one_for_each([&](Tensor common) { return p({common})[0]; });
}

// ── what a function draws, step by step, as a program and compiled ──

using Function = std::function<Tensor(Tensor)>;

rc::Generator& other_generator() {
  static rc::Generator generator(0);
  return generator;
}

Tensor seeded(const Function& f, const Tensor& x) {
  rc::manual_seed(3);
  other_generator().manual_seed(8);
  const Tensor y = f(x);
  return y + rc::rand({}, rc::float64);  // the generator has moved on as far
}

Tensor steps_that_draw(Tensor x) {
  return rc::fori_loop(0, 3, [](Tensor, Tensor y) { return y * 2 + number_drawn(); }, x);
}
Tensor draws_until_it_is_great(Tensor x) {
  return rc::while_loop([](Tensor s) { return s.sum() < 9; }, [](Tensor s) { return s + 1 + number_drawn(); }, x);
}
Tensor branches_that_draw(Tensor x) {
  return rc::cond(x.sum() > 2, [&] { return x + number_drawn() * number_drawn(); }, [&] { return x - number_drawn(); });
}
Tensor rows_that_draw(Tensor x) {
  const auto step = [](Tensor c, Tensor row) {
    const Tensor drawn = number_drawn();
    return std::pair{c + drawn * row, drawn};
  };
  const auto [last, drawn] = rc::scan(step, number(1), x);
  return last + drawn;
}
Tensor all_in_all(Tensor x) {
  const auto inner = [](Tensor, Tensor y) { return branches_that_draw(y) + rows_that_draw(y) * number_drawn(); };
  const auto outer = [=](Tensor, Tensor y) { return rc::fori_loop(0, 2, inner, y + number_drawn()); };
  const Tensor before = x * number_drawn();
  return rc::fori_loop(0, 2, outer, before) + number_drawn();
}
Tensor steps_of_which_some_draw(Tensor x) {
  const auto step = [](Tensor i, Tensor y) {
    const Tensor z = rc::cond(i > 1, [&] { return y + number_drawn(); }, [&] { return y; });
    return rc::while_loop([](Tensor s) { return s.sum() < 3; }, [](Tensor s) { return s + number_drawn(); }, z) +
           number_drawn();
  };
  return rc::fori_loop(0, 4, step, x);
}
Tensor steps_kept_by_halves(Tensor x) {
  const auto step = [](Tensor, Tensor y) { return branches_that_draw(y) + number_drawn(); };
  return rc::fori_loop(0, 5, step, x, {.checkpoint = rc::Checkpoints::log});
}
Tensor maps_in_steps(Tensor x) {
  const auto one = [](Tensor a) { return a + number_drawn() + steps_that_draw(a); };
  const auto step = [&](Tensor, Tensor y) {
    return rc::vmap(one, {.randomness = Randomness::different})(y) + number_drawn();
  };
  return rc::fori_loop(0, 2, step, x);
}

std::vector<Function> functions() {
  return {steps_that_draw,
          draws_until_it_is_great,
          branches_that_draw,
          rows_that_draw,
          all_in_all,
          steps_of_which_some_draw,
          steps_kept_by_halves,
          maps_in_steps,
          rc::checkpoint(all_in_all)};
}

void expect_same_draws(const Function& f, const Tensor& x) {
  const Tensor expected = seeded(f, x);
  const rc::Program program = rc::trace(f)(x);
  expect_equal(seeded([&](Tensor a) { return program({a})[0]; }, x), expected);
  expect_equal(seeded([&](Tensor a) { return program.simplified()({a})[0]; }, x), expected);
  const auto compiled = rc::compile(f);
  for (int call = 0; call < 2; ++call) expect_equal(seeded(compiled, x), expected);
}

/// The same but for rounding.
void expect_close_draws(const Function& f, const Tensor& x) {
  const Tensor expected = seeded(f, x);
  const rc::Program program = rc::trace(f)(x);
  expect_close(seeded([&](Tensor a) { return program({a})[0]; }, x), expected);
  expect_close(seeded(rc::compile(f), x), expected);
}

TEST(RecordedDraws, AreThoseOfTheFunction) {
  const Tensor x = doubles({0.5, 1, 1.5});
  int number = 0;
  for (const Function& f : functions()) {
    SCOPED_TRACE(number++);
    expect_same_draws(f, x);
    expect_same_draws(rc::grad([&](Tensor a) { return (f(a) * a).sum(); }), x);
  }
}

TEST(RecordedDraws, OfEachExampleAreThoseOfTheFunction) {
  const Tensor x = rc::tensor({{0.5, 1., 1.5}, {2., 0.1, 0.2}, {0., 5., 7.}, {0.3, 0.2, 0.1}}, rc::float64);
  int number = 0;
  for (const Function& f : functions()) {
    SCOPED_TRACE(number++);
    const Function mapped = rc::vmap(f, {.randomness = Randomness::different});
    expect_same_draws(mapped, x);
    expect_equal(seeded(rc::vmap(f, {.randomness = Randomness::different, .chunk_size = 3}), x), seeded(mapped, x));
  }
}

// ── generators that a step makes or seeds ──

/// Draws for each element of x, in every way that a function may draw.
std::vector<std::function<Tensor(rc::Generator&, Tensor)>> ways_to_draw() {
  const auto one = [](rc::Generator& g) {
    return [&g](Tensor a) { return a + rc::rand({}, {.dtype = rc::float64, .generator = g}); };
  };
  const auto mapped = [=](rc::Generator& g, Tensor x, rc::VmapOptions options) { return rc::vmap(one(g), options)(x); };
  const auto loop = [=](rc::Generator& g, Tensor x) {
    return rc::fori_loop(0, 2, [&](Tensor, Tensor y) { return one(g)(y); }, x);
  };
  return {
      [=](rc::Generator& g, Tensor x) { return one(g)(x); },
      [=](rc::Generator& g, Tensor x) { return mapped(g, x, {.randomness = Randomness::different}); },
      [=](rc::Generator& g, Tensor x) { return mapped(g, x, {.randomness = Randomness::same, .chunk_size = 1}); },
      [=](rc::Generator& g, Tensor x) {
        const Tensor before = one(g)(x);
        const Tensor y = mapped(g, before, {.randomness = Randomness::different, .chunk_size = 1});
        return one(g)(y);
      },
      loop,
      [=](rc::Generator& g, Tensor x) {
        const auto draw = [&](Tensor a) { return one(g)(loop(g, a)); };
        return one(g)(rc::vmap(draw, {.randomness = Randomness::different, .chunk_size = 2})(x));
      },
      [=](rc::Generator& g, Tensor x) {
        return rc::cond(x.sum() < 9, [&] { return one(g)(loop(g, x)); }, [&] { return x; });
      },
  };
}

TEST(RecordedDraws, OfAGeneratorThatAStepMakesOrSeedsBeginAnewInEachStep) {
  const Tensor x = doubles({0.5, 1, 1.5});
  const auto in_steps = [](const Function& f) {
    const auto step = [f](Tensor before, Tensor) { return std::pair{before, f(before)}; };
    return [step](Tensor a) { return rc::scan(step, a, rc::zeros({3})).second; };
  };
  int way = 0;
  for (const auto& draw : ways_to_draw()) {
    SCOPED_TRACE(way++);
    const Function makes = [draw](Tensor a) {
      rc::Generator own(4);
      return draw(own, a);
    };
    const Function seeds = [draw](Tensor a) {
      rc::manual_seed(4);
      return draw(rc::default_generator(), a);
    };
    for (const Function& f : {makes, seeds}) {
      const Tensor rows = in_steps(f)(x);
      for (const int k : {1, 2}) expect_equal(rows[k], rows[0]);
      expect_equal(rc::trace(in_steps(f))(x)({x})[0], rows);
      expect_equal(rc::compile(in_steps(f))(x), rows);
      const Tensor whole = rc::vmap(in_steps(f), {.randomness = Randomness::different})(rc::stack({x, x, x}));
      const Tensor parts =
          rc::vmap(in_steps(f), {.randomness = Randomness::different, .chunk_size = 2})(rc::stack({x, x, x}));
      expect_equal(parts, whole);
      for (const int k : {1, 2}) expect_equal(whole.select(1, k), whole.select(1, 0));
    }
    expect_equal(in_steps(makes)(x), in_steps(seeds)(x));
  }
}

/// What lies where it lay is none of the program's.
TEST(RecordedDraws, OfAGeneratorThatAStepMadeDoNotReadItLater) {
  alignas(rc::Generator) static unsigned char memory[sizeof(rc::Generator)];
  for (const auto& draw : ways_to_draw()) {
    const auto step = [&](Tensor before, Tensor) {
      auto* const own = new (memory) rc::Generator(4);
      const Tensor drawn = draw(*own, before);
      own->~Generator();
      std::memset(memory, 0, sizeof memory);
      return std::pair{before, drawn};
    };
    const Tensor x = doubles({0.5, 1, 1.5});
    const rc::Program program = rc::trace([&](Tensor a) { return rc::scan(step, a, rc::zeros({3})).second; })(x);
    const Tensor expected = program({x})[0];
    for (const int byte : {1, 7}) {
      std::memset(memory, byte, sizeof memory);
      expect_equal(program({x})[0], expected);
    }
  }
}

/// A compiled function, or a program, is called where the function could be.
TEST(RecordedDraws, OfAProgramInsideALoopOrMapAreThoseOfTheFunction) {
  const Tensor x = rc::tensor({{0.5, 1., 1.5}, {2., 0.1, 0.2}, {0.3, 0.2, 0.1}}, rc::float64);
  const auto in_steps = [](const Function& f) {
    const auto step = [f](Tensor, Tensor y) { return f(y) * 0.5 + number_drawn(); };
    return [step](Tensor a) { return rc::fori_loop(0, 2, step, a); };
  };
  const auto mapped = [](const Function& f) { return rc::vmap(f, {.randomness = Randomness::different}); };
  for (const Function& f : {Function(steps_that_draw), Function(branches_that_draw), Function(rows_that_draw)}) {
    const Function compiled = rc::compile(f);
    const Function program = [p = rc::trace(f)(x[0])](Tensor a) { return p({a})[0]; };
    for (const Function& other : {compiled, program}) {
      expect_equal(seeded(in_steps(other), x[0]), seeded(in_steps(f), x[0]));
      expect_equal(seeded(mapped(other), x), seeded(mapped(f), x));
    }
  }
}

/// Functions of which a program must know more than the draws: where a new generator begins, how many branches and
/// loops the function ran through, and which branch or loop draws from which generator.
std::vector<Function> functions_around_draws() {
  return {
      [](Tensor x) {
        rc::Generator made(4);
        const Tensor y = x + rc::rand({}, {.dtype = rc::float64, .generator = made});
        return y + number_drawn() * rc::rand({}, {.dtype = rc::float64, .generator = made});
      },
      [](Tensor x) {
        const Tensor y = rc::fori_loop(0, 2, [](Tensor, Tensor a) { return a * 2; }, x);
        return rc::cond(y.sum() > 0, [&] { return y * number_drawn(); }, [&] { return y + number_drawn(); });
      },
      [](Tensor x) {
        const Tensor y = steps_that_draw(x);
        return rc::while_loop([](Tensor s) { return s.sum() < 9; }, [](Tensor s) { return s * 2; }, y);
      },
      [](Tensor x) {
        const auto both = [](Tensor, Tensor y) {
          const Tensor z = y + number_drawn();
          return z * rc::rand({}, {.dtype = rc::float64, .generator = other_generator()});
        };
        return rc::fori_loop(0, 2, both, rc::fori_loop(0, 2, both, x));
      },
  };
}

TEST(RecordedDraws, OfAProgramAreThoseOfTheFunctionWhereverItIsCalled) {
  const Tensor x = doubles({0.5, 1, 1.5});
  const auto twice = [](const Function& f) { return Function([f](Tensor a) { return steps_that_draw(f(f(a))); }); };
  const std::vector<std::function<Function(Function)>> around{
      [](const Function& f) {
        return [f](Tensor a) { return rc::fori_loop(0, 2, [f](Tensor, Tensor y) { return f(y); }, a); };
      },
      [](const Function& f) { return [f](Tensor a) { return rc::cond(a.sum() > 0, f, f, a); }; },
      [](const Function& f) { return rc::checkpoint(f); },
      [](const Function& f) {
        return [f](Tensor a) {
          const Tensor half = a * 0.5;
          return rc::grad([&](Tensor y) { return rc::checkpoint([&](Tensor z) { return f(z * half); })(y).sum(); })(a);
        };
      },
      [](const Function& f) {
        return
            [f](Tensor a) { return rc::vmap(f, {.randomness = Randomness::different})(rc::stack({a, a + 1})).sum(0); };
      },
      [](const Function& f) { return [f](Tensor a) { return rc::trace(f)(a)({a})[0]; }; },
  };
  int number = 0;
  for (const Function& f : functions_around_draws()) {
    const Function compiled = rc::compile(f), program = [p = rc::trace(f)(x)](Tensor a) { return p({a})[0]; };
    for (std::size_t i = 0; i < around.size(); ++i) {
      SCOPED_TRACE(std::to_string(number) + " in " + std::to_string(i));
      const Function whole = around[i](twice(f));
      const Tensor expected = seeded(whole, x);
      for (const Function& other : {compiled, program}) expect_close(seeded(around[i](twice(other)), x), expected);
      expect_close_draws(around[i](twice(compiled)), x);
    }
    ++number;
  }
}

/// A function that is recorded inside a map is no part of it.
TEST(RecordedDraws, OfACustomFunctionThatIsCompiledInsideAMapAreThoseOfTheFunction) {
  const auto noisy = [](Tensor x) { return x + number_drawn(); };
  const Function f = [=](Tensor x) {
    return rc::grad_and_value([=](Tensor a) {
      return rc::custom_vjp(noisy, [=](Tensor y) { return std::pair{noisy(y), y}; },
                            [](Tensor, Tensor ct) { return ct * 2; })(a)
          .sum();
    })(x).second + x;
  };
  const auto mapped = [](const Function& g) { return rc::vmap(g, {.randomness = Randomness::different}); };
  const Tensor rows = rc::ones({4, 3}, rc::float64);
  expect_equal(seeded(mapped(rc::compile(f)), rows), seeded(mapped(f), rows));
}

/// Functions of a vector whose derivatives read what was drawn; those of most compute it again.
std::vector<Function> functions_of_products() {
  const auto product = [](Tensor y) { return y.flip(0) * exp(y * rc::rand_like(y)); };
  const auto step = [product](Tensor, Tensor y) { return product(y); };
  const auto until = [product](Tensor x) {
    struct State {
      Tensor y, turns;
    };
    return rc::while_loop([](State s) { return s.turns < 3; },
                          [product](State s) { return State{product(s.y), s.turns + 1}; }, State{x, rc::tensor(0)})
        .y;
  };
  const auto steps = [step](rc::Checkpoints checkpoint) {
    return [=](Tensor x) { return rc::fori_loop(0, 4, step, x, {.checkpoint = checkpoint}); };
  };
  return {until,
          rc::checkpoint(product),
          rc::checkpoint(rc::checkpoint(until)),
          steps(rc::Checkpoints::every_step),
          steps(rc::Checkpoints::sqrt),
          steps(rc::Checkpoints::log),
          [product](Tensor x) { return rc::cond(x.sum() > 0, product, [](Tensor y) { return y; }, x); },
          [](Tensor x) { return rc::map([](Tensor y) { return y * rc::exp(y * number_drawn()); }, x); },
          [product](Tensor x) {
            return rc::checkpoint([product](Tensor y) { return rc::cond(y.sum() > 0, product, product, y); })(x);
          }};
}

/// The columns of a Jacobian, by a function that is linearized once.
Function columns(const Function& f, Randomness mode) {
  return [=](Tensor x) {
    const auto [y, push] = rc::linearize(f, x);
    const auto one = [p = push](Tensor tangent) { return p(tangent); };
    return rc::vmap(one, {.randomness = mode})(rc::eye(2, rc::float64));
  };
}

/// The rows of a Jacobian are rows of one function's, so none of them draws.
TEST(RecordedDraws, AreTheSameForAllRowsOfAJacobian) {
  const Tensor x = doubles({0.4, 0.3}), rows = rc::tensor({{0.4, 0.3}, {0.2, 0.1}, {0.5, 0.6}}, rc::float64);
  int number = 0;
  for (const Function& f : functions_of_products()) {
    SCOPED_TRACE(number++);
    const Function gradient = rc::grad([f](Tensor y) { return f(y).sum(); });
    for (const Randomness mode : {Randomness::different, Randomness::same, Randomness::error}) {
      const auto jacobian = [&](const Function& g) { return rc::jacrev(g, {.randomness = mode}); };
      const auto mapped = [](const Function& g) { return rc::vmap(g, {.randomness = Randomness::different}); };
      expect_close_draws(jacobian(f), x);
      expect_close_draws(mapped(jacobian(f)), rows);
      expect_close_draws(jacobian(mapped(f)), rows);
      expect_close_draws(jacobian(gradient), x);
      expect_close_draws(columns(f, mode), x);
      expect_close_draws(mapped(columns(f, mode)), rows);
      expect_close(seeded(jacobian(rc::compile(f)), x), seeded(jacobian(f), x));
      expect_close(seeded(mapped(jacobian(rc::compile(f))), rows), seeded(mapped(jacobian(f)), rows));
    }
  }
}

TEST(RecordedDraws, OfAProgramInACheckpointAreTheSameBothTimes) {
  const auto times_drawn = [](Tensor x) {
    const Tensor y = rc::fori_loop(0, 3, [](Tensor, Tensor y) { return y * number_drawn(); }, x);
    return rc::cond(x.sum() > 0, [&] { return y * number_drawn() * number_drawn(); }, [&] { return y; });
  };
  const Function f = rc::checkpoint([g = rc::compile(times_drawn)](Tensor x) { return g(x) * number_drawn(); });
  const auto alone = [&](const Function& g, const Tensor& x) {
    rc::manual_seed(3);
    return g(x);
  };
  const Tensor x = doubles({0.5, 1, 1.5});
  const Tensor expected = alone([&](Tensor a) { return times_drawn(a) * number_drawn(); }, x);
  expect_close(alone(f, x), expected, 1e-14);
  expect_close(alone(rc::grad([&](Tensor a) { return f(a).sum(); }), x) * x, expected, 1e-14);
}

/// The way back records what runs the first time, and has the same draws.
TEST(RecordedDraws, OfALoopInACheckpointThatCapturesAreTheSameBothTimes) {
  using Checkpoints = rc::Checkpoints;
  const auto by_drawn = [](const Tensor& x) { return x * (number_drawn() + 0.5); };
  const auto steps = [=](const Function& f, Checkpoints kept) {
    return Function([=](Tensor x) {
      return rc::fori_loop(0, 3, [=](Tensor, Tensor y) { return f(y) * 0.5; }, x, {.checkpoint = kept});
    });
  };
  const auto captures = [](const Function& f) {
    return Function([f](Tensor x) {
      const Tensor half = x * 0.5;
      return rc::checkpoint([=](Tensor y) { return f(y + half); })(x);
    });
  };
  const auto then_drawn = [=](const Function& f) {
    return Function([=](Tensor x) { return by_drawn(f(by_drawn(x))); });
  };
  const Function loop = then_drawn(steps(by_drawn, Checkpoints::every_step));
  const Function branch = [=](Tensor x) { return by_drawn(rc::cond(x.sum() > 0, loop, by_drawn, x)); };
  std::vector<Function> all;
  for (const Function& f : {loop, branch, then_drawn(steps(loop, Checkpoints::every_step)), then_drawn(branch)})
    for (const Function& held : {captures(f), then_drawn(captures(then_drawn(captures(f))))}) {
      all.push_back(held);
      all.push_back(rc::checkpoint(then_drawn(held)));
      for (const Checkpoints kept : {Checkpoints::every_step, Checkpoints::sqrt, Checkpoints::log}) {
        all.push_back(then_drawn(steps(held, kept)));
        all.push_back(rc::checkpoint(then_drawn(steps(held, kept))));
      }
    }
  const Tensor x = doubles({0.5, 1, 1.5}), rows = rc::stack({x, x * 2});
  const auto value_of = [](const Function& f) {
    return [f](Tensor a) {
      const auto [gradient, value] = rc::grad_and_value([f](Tensor y) { return f(y).sum(); })(a);
      return rc::cat({value.unsqueeze(0), (gradient * a).sum().unsqueeze(0)});
    };
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    SCOPED_TRACE(i);
    const Function both = value_of(all[i]);
    const Tensor alone = seeded(both, x), recorded = seeded([&](Tensor a) { return rc::trace(both)(a)({a})[0]; }, x);
    expect_close(alone.slice(0, 1, 2), alone.slice(0, 0, 1), 1e-12);
    expect_close(recorded, alone, 1e-12);
    for (const Randomness mode : {Randomness::different, Randomness::same}) {
      const Tensor mapped = seeded(rc::vmap(both, {.randomness = mode}), rows);
      expect_close(mapped.slice(1, 1, 2), mapped.slice(1, 0, 1), 1e-12);
    }
  }
}

/// The vmap over the rows of a Jacobian began later than what its pullback computes again: draws there are none of its.
TEST(RecordedDraws, OfALoopInACheckpointAreTheSameInEachRowOfAJacobian) {
  using Checkpoints = rc::Checkpoints;
  const auto loop = [](Checkpoints kept, bool captures) {
    return Function([=](Tensor x) {
      const auto step = [=](Tensor, Tensor y) { return sin(y) * (number_drawn() + 0.5) * (captures ? x : Tensor(2)); };
      return rc::fori_loop(0, 3, step, x, {.checkpoint = kept}) * number_drawn();
    });
  };
  const auto branch = [](const Function& f) {
    return Function([=](Tensor x) { return rc::cond(x.sum() > 0, f, [](Tensor y) { return y * number_drawn(); }, x); });
  };
  const auto gradient = [](const Function& f) {
    return rc::grad([f](Tensor x) {
      const Tensor y = f(x);
      return (y * y).sum();
    });
  };
  const Tensor x = doubles({0.5, 1, 1.5});
  for (const bool captures : {false, true})
    for (const Checkpoints kept : {Checkpoints::every_step, Checkpoints::sqrt, Checkpoints::log}) {
      SCOPED_TRACE(testing::Message() << "captures " << captures << ", checkpoints " << static_cast<int>(kept));
      const Function plain = branch(loop(Checkpoints::every_step, captures));
      for (const Function& f : {Function(rc::checkpoint(branch(loop(kept, captures)))), branch(loop(kept, captures))}) {
        expect_close(seeded(rc::jacrev(f), x), seeded(rc::jacrev(plain), x), 1e-12);
        expect_close(seeded(rc::jacrev(gradient(f)), x), seeded(rc::jacrev(gradient(plain)), x), 1e-12);
      }
    }
}

}  // namespace
