// while_loop, fori_loop, scan, map and associative_scan: each example runs as long as it needs, under every transform.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "ricci/ricci.h"
#include "support/difference_quotient.h"
#include "support/expect_error.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

/// Newton's iteration for the square root, from 1.
Tensor newton_root(Tensor a) {
  return rc::while_loop([&](Tensor x) { return abs(x * x - a) > 1e-12 * a; }, [&](Tensor x) { return (x + a / x) / 2; },
                        rc::ones_like(a));
}

const Tensor some = doubles({2, 9, 1.25, 0.25, 1e6});

TEST(WhileLoop, NumbersInItsStateAreOneForAllExamples) {
  using State = std::tuple<Tensor, double, std::vector<int>>;  // where it is, the next step, what was seen
  const auto f = [](Tensor x, Tensor y) {
    const auto below = [&](State s) { return std::get<0>(s) < x * y; };
    const auto step = [](State s) { return State(std::get<0>(s) + std::get<1>(s), 1, {1, 2}); };
    return rc::while_loop(below, step, State(rc::tensor(0.), 10, {}));
  };
  const auto over_rows = [&](Tensor x, Tensor ys) { return rc::vmap(f, {.in_dims = {rc::none, 0}})(x, ys); };
  const auto [end, next, seen] = rc::vmap(over_rows)(doubles({1, 2, 3}), doubles({1, 9, 11, 4, 2, 6}).reshape({3, 2}));
  expect_values(end, {10, 10, 22, 10, 10, 18});
  EXPECT_EQ(next, 1);
  EXPECT_EQ(seen, (std::vector<int>{1, 2}));
}

TEST(WhileLoop, RunsAsOftenAsItsCondition) {
  expect_values(newton_root(number(2)), {std::sqrt(2.0)});
  EXPECT_EQ(rc::while_loop([](Tensor i) { return i < 10; }, [](Tensor i) { return i + 3; }, rc::tensor(0)).item<int>(),
            12);
}

TEST(WhileLoop, EachExampleRunsAsLongAsItNeeds) {
  expect_close(rc::vmap(newton_root)(some), sqrt(some), 1e-11);
  const auto steps = [](Tensor a) {
    return rc::while_loop([](std::pair<Tensor, Tensor> s) { return s.first < 100; },
                          [&](std::pair<Tensor, Tensor> s) { return std::pair{s.first * 2 + a, s.second + 1}; },
                          std::pair{a, rc::tensor(0)})
        .second;
  };
  const Tensor starts = doubles({1, 200, 49, 3});
  std::vector<double> alone;
  for (const Tensor& a : starts.unbind()) alone.push_back(steps(a).item<double>());
  expect_values(rc::vmap(steps)(starts), alone);
}

TEST(WhileLoop, EachExampleHasItsOwnLimit) {
  const Tensor x = doubles({1, 2, 1, 30}, {2, 2});
  for (const auto checkpoint : {rc::Checkpoints::every_step, rc::Checkpoints::sqrt, rc::Checkpoints::log}) {
    const auto f = [&](Tensor x) {
      return rc::while_loop([](Tensor y) { return y < 100; }, [](Tensor y) { return y * 2; }, x,
                            {.max_steps = 7, .checkpoint = checkpoint});
    };
    expect_equal(rc::vmap(rc::vmap(f))(x), doubles({128, 128, 128, 120}, {2, 2}));
    expect_equal(rc::vmap(rc::vmap(rc::grad(f)))(x), doubles({128, 64, 128, 4}, {2, 2}));
    EXPECT_THROW(rc::vmap(rc::vmap(f))(x / 2), rc::ValueError);
  }
}

TEST(WhileLoop, StopsRunningExamplesThatAreDone) {
  std::int64_t steps = 0;
  const auto f = [&](Tensor n) {
    return rc::while_loop([&](Tensor i) { return i < n; }, [&](Tensor i) { return ++steps, i + 1; }, rc::tensor(0));
  };
  const Tensor counts = rc::tensor(std::vector<std::int64_t>{3, 0, 7, 3});
  expect_values(rc::vmap(f)(counts), {3, 0, 7, 3});
  EXPECT_EQ(steps, 7);
}

TEST(WhileLoop, IsLeftByMoreGroupsThanOneOperationJoins) {
  const auto power = [](Tensor n, Tensor x) {
    return rc::fori_loop(0, n, [&](Tensor i, Tensor y) { return y * x + i; }, rc::ones_like(x));
  };
  constexpr std::int64_t count = 150;
  const Tensor counts = remainder(rc::arange(count) * 37, count);  // each once
  const Tensor x = rc::linspace(0.5, 1.01, count, {.dtype = rc::float64});
  const auto slope = rc::grad<1>(power);
  std::vector<Tensor> alone, slopes;
  for (std::int64_t i = 0; i < count; ++i) {
    alone.push_back(power(counts[i], x[i]));
    slopes.push_back(slope(counts[i], x[i]));
  }
  expect_close(rc::vmap(power)(counts, x), rc::stack(alone));
  expect_close(rc::vmap(slope)(counts, x), rc::stack(slopes));
  expect_close(rc::grad<1>([&](Tensor n, Tensor x) { return rc::vmap(power)(n, x).sum(); })(counts, x),
               rc::stack(slopes));
  const auto twice = [&](auto f) { return rc::vmap(rc::vmap(f))(counts.reshape({10, 15}), x.reshape({10, 15})); };
  expect_close(twice(power), rc::stack(alone).reshape({10, 15}));
  expect_close(twice(slope), rc::stack(slopes).reshape({10, 15}));
}

TEST(WhileLoop, OfAllPairsIsLeftByExamplesOfBothVmaps) {
  const auto steps = [](Tensor x, Tensor most) {
    return rc::while_loop([&](Tensor y) { return y < most; }, [&](Tensor y) { return y + x; }, x);
  };
  const Tensor x = doubles({5, 0.5, 9, 0.25}), most = doubles({1, 7, 4});
  const Tensor all = rc::vmap([&](Tensor a) { return rc::vmap([&](Tensor b) { return steps(a, b); })(most); })(x);
  const Tensor slope =
      rc::vmap(rc::vmap(rc::grad(steps), {.in_dims = {rc::none, 0}}), {.in_dims = {0, rc::none}})(x, most);
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t k = 0; k < 3; ++k) {
      expect_close(all[i][k], steps(x[i], most[k]));
      expect_close(slope[i][k], rc::grad(steps)(x[i], most[k]));
    }
}

TEST(WhileLoop, ANumberInTheStateTakesTheTypeOfTheFirstStep) {
  const Tensor x = rc::tensor({2.0, 5.0, 30.0});
  const auto f = [](Tensor x) {
    return rc::while_loop([&](Tensor y) { return logical_and(y < 20, x < 20); }, [&](Tensor y) { return y * x; },
                          Tensor(1.0));
  };
  const auto expected = {32.0, 25.0, 1.0};
  EXPECT_EQ(f(x[0]).dtype(), rc::float32);
  expect_values(f(x[0]), {32});
  expect_values(rc::vmap(f)(x), expected);
  EXPECT_EQ(rc::vmap(f)(x).dtype(), rc::float32);
  EXPECT_THROW(rc::while_loop([](Tensor y) { return y < 20; }, [](Tensor y) { return y * 1.5; }, Tensor(1)),
               rc::ValueError);
}

TEST(WhileLoop, TakesAStateWithoutATensor) {
  const auto doubled = [](Tensor x) {
    return rc::while_loop([&](int n) { return Tensor(n) < x; }, [](int n) { return 2 * n; }, 1);
  };
  EXPECT_EQ(doubled(number(20)), 32);
}

TEST(WhileLoop, DetachKeepsTheExamplesThatRun) {
  const auto f = [](Tensor k) {
    return rc::while_loop([](Tensor s) { return s < 6; },
                          [k](Tensor s) { return s + k.detach() + (k * s).detach() * 0 + 1; }, number(0));
  };
  const Tensor ks = doubles({4, 1, 2, 6});
  expect_values(rc::vmap(f)(ks), {10, 6, 6, 7});
  expect_values(rc::vmap(f, {.lanes = rc::Lanes::split})(ks), {10, 6, 6, 7});
  const auto product = [&](Tensor k) { return rc::cond(k > 3, [&] { return k * k.detach(); }, [&] { return -k; }); };
  expect_values(rc::grad([&](Tensor k) { return rc::vmap(product)(k).sum(); })(ks), {4, -1, -1, 6});
  expect_values(rc::vmap(rc::grad(product))(ks), {4, -1, -1, 6});
}

TEST(WhileLoop, AWriteThatOnlySomeExamplesDoIsRefused) {
  const auto f = [](Tensor n) {
    const Tensor count = rc::zeros({});
    rc::fori_loop(0, n, [&](Tensor, Tensor s) { return count.add_(1), s; }, number(0));
    return count;
  };
  expect_values(rc::vmap(f)(rc::tensor({3, 3})), {3, 3});
  expect_error<rc::TransformError>([&] { rc::vmap(f)(rc::tensor({0, 1, 3})); },
                                   "add_: the target f32[] is from before a branch that only a part of the examples of "
                                   "vmap over axis 0 of 3{at} takes; return the new value from the branch instead\n"
                                   "  inside vmap over axis 0 of 3{at}");
  EXPECT_FALSE(rc::inside_transform());
}

TEST(WhileLoop, APullbackThatOutlivesItsVmapIsRefused) {
  std::function<Tensor(Tensor)> escaped;
  const auto doubled = [](Tensor x) {
    return rc::while_loop([](Tensor y) { return y < 8; }, [](Tensor y) { return 2 * y; }, x);
  };
  const auto halved = [](Tensor x) {
    return rc::cond(x > 4, [](Tensor y) { return y / 2; }, [](Tensor y) { return -y; }, x);
  };
  const auto let_out = [&](const auto& f) {
    rc::vmap([&](Tensor x) {
      auto [y, pullback] = rc::vjp(f, x);
      escaped = pullback;
      return y;
    })(doubles({1, 3, 5}));
  };
  let_out(doubled);
  EXPECT_THROW(escaped(number(1)), rc::TransformError);
  let_out(halved);
  EXPECT_THROW(escaped(number(1)), rc::TransformError);
}

TEST(WhileLoop, DrawsWhatTheExampleDrawsWhereOthersStayAsLong) {
  const Tensor counts = rc::tensor(std::vector<std::int64_t>{3, 0, 40, 1, 7}), all = rc::full({5}, 40, rc::int64);
  const auto walk_of = [](Tensor n) {
    const auto [i, at, path] =
        rc::while_loop([&](const std::tuple<Tensor, Tensor, Tensor>& s) { return std::get<0>(s) < n; },
                       [](const std::tuple<Tensor, Tensor, Tensor>& s) {
                         const auto [i, at, path] = s;
                         const Tensor step = rc::randn({}, rc::float64);
                         return std::tuple{i + 1, at + step, rc::where(rc::arange(40) == i, step, path)};
                       },
                       std::tuple{rc::tensor(0), number(0), rc::zeros({40}, rc::float64)});
    return std::pair{path, rc::randn({}, rc::float64)};
  };
  Tensor first;
  for (const std::int64_t chunk : {1, 2, 5}) {
    const auto drawn = [&](const Tensor& counts) {
      rc::manual_seed(5);
      return rc::vmap(walk_of, {.randomness = rc::Randomness::different, .chunk_size = chunk})(counts);
    };
    const auto [path, after] = drawn(counts);
    const auto [long_path, long_after] = drawn(all);
    const Tensor taken = rc::arange(40).unsqueeze(0) < counts.unsqueeze(1);
    expect_equal(path, rc::where(taken, long_path, 0));
    expect_equal(after, long_after);
    if (!first.defined()) first = path;
    expect_equal(path, first);
  }
}

TEST(WhileLoop, DifferentiatesInEveryDirection) {
  const Tensor slope = 0.5 / sqrt(some), bend = -0.25 / (some * sqrt(some));
  expect_close(rc::vmap(rc::grad(newton_root))(some), slope, 1e-9);
  expect_close(rc::grad([](Tensor a) { return rc::vmap(newton_root)(a).sum(); })(some), slope, 1e-9);
  expect_close(std::get<1>(rc::jvp(rc::vmap(newton_root), some, rc::ones_like(some))), slope, 1e-9);
  expect_close(rc::vmap(rc::jacfwd(newton_root))(some), slope, 1e-9);
  const Tensor few = doubles({2, 9, 1.5});
  expect_close(rc::vmap(rc::hessian(newton_root))(few), (-0.25 / (few * sqrt(few))), 1e-7);
  expect_close(rc::vmap(rc::grad(rc::grad(newton_root)))(few), (-0.25 / (few * sqrt(few))), 1e-7);
}

TEST(WhileLoop, NestsInALoop) {
  const auto f = [](Tensor n, Tensor x) {
    using State = std::pair<Tensor, Tensor>;
    return rc::while_loop([&](State s) { return s.first < n; },
                          [&](State s) {
                            const Tensor inner = rc::while_loop([](Tensor y) { return y < 10; },
                                                                [](Tensor y) { return y * 3; }, s.second);
                            return State{s.first + 1, inner / (s.first + 2)};
                          },
                          State{rc::tensor(0), x})
        .second;
  };
  const Tensor n = rc::tensor(std::vector<std::int64_t>{0, 1, 4, 2}), x = doubles({5, 0.1, 2, 20});
  std::vector<double> alone, slopes;
  for (std::int64_t i = 0; i < 4; ++i) {
    alone.push_back(f(n[i], x[i]).item());
    slopes.push_back(rc::grad<1>(f)(n[i], x[i]).item());
  }
  expect_values(rc::vmap(f)(n, x), alone);
  expect_values(rc::vmap(rc::grad<1>(f))(n, x), slopes);
}

TEST(WhileLoop, AnEndlessLoopIsAnErrorAfterAsManyStepsAsItMayTake) {
  for (const rc::Checkpoints kept : {rc::Checkpoints::every_step, rc::Checkpoints::sqrt, rc::Checkpoints::log}) {
    int steps = 0;
    expect_error<rc::ValueError>(
        [&] {
          rc::while_loop([](Tensor) { return rc::tensor(true); }, [&](Tensor x) { return ++steps, x; }, number(1),
                         {.max_steps = 50, .checkpoint = kept});
        },
        "while_loop: still running after 50 steps; the condition may never become false: mend it, or raise .max_steps");
    EXPECT_EQ(steps, 50);
  }
}

TEST(WhileLoop, AStateThatChangesItsShapeIsRefused) {
  expect_error<rc::ValueError>(
      [] {
        rc::while_loop([](Tensor) { return rc::tensor(true); }, [](Tensor x) { return rc::stack({x, x}); }, number(1));
      },
      "while_loop: the state changes from f64[] to f64[2]; every step must keep its shape and dtype");
}

TEST(ForiLoop, CountsFromTheLowerToTheUpperBound) {
  const auto factorial = [](Tensor n) {
    return rc::fori_loop(1, n + 1, [](Tensor i, Tensor p) { return p * i; }, number(1));
  };
  expect_values(factorial(rc::tensor(5)), {120});
  expect_values(rc::vmap(factorial)(rc::tensor(std::vector<std::int64_t>{0, 3, 5, 1})), {1, 6, 120, 1});
}

TEST(ForiLoop, IsDifferentiatedThroughBoundsThatDiffer) {
  const auto power = [](Tensor x, Tensor n) {
    return rc::fori_loop(0, n, [&](Tensor, Tensor p) { return p * x; }, rc::ones_like(x));
  };
  const Tensor x = doubles({2, 3, 1.5}), n = rc::tensor(std::vector<std::int64_t>{3, 0, 2});
  expect_values(rc::vmap(rc::grad(power), {.in_dims = {0, 0}})(x, n), {12, 0, 3});
  expect_values(rc::vmap(rc::grad(rc::grad(power)), {.in_dims = {0, 0}})(x, n), {12, 0, 2});
}

TEST(Checkpoints, ChangeNeitherValuesNorGradients) {
  for (const rc::Checkpoints kept : {rc::Checkpoints::every_step, rc::Checkpoints::sqrt, rc::Checkpoints::log}) {
    const auto f = [kept](Tensor x, Tensor n) {
      using State = std::pair<Tensor, Tensor>;
      return rc::fori_loop(0, n, [](Tensor i, State s) { return State{sin(s.first * s.second) + i * 0.1, s.second}; },
                           State{x, x * 1.5}, {.checkpoint = kept})
          .first;
    };
    const Tensor x = doubles({0.3, 0.9, 1.1}), n = rc::tensor(std::vector<std::int64_t>{13, 0, 6});
    std::vector<double> alone, slopes;
    for (std::int64_t i = 0; i < 3; ++i) {
      alone.push_back(f(x[i], n[i]).item());
      slopes.push_back(difference_quotient([&](Tensor a) { return f(a, n[i]); }, x[i].clone()).item());
    }
    expect_values(rc::vmap(f)(x, n), alone);
    expect_values(rc::vmap(rc::grad(f))(x, n), slopes, 1e-6);
    expect_values(rc::grad([&](Tensor all) { return rc::vmap(f)(all, n).sum(); })(x), slopes, 1e-6);
  }
}

TEST(Checkpoints, ChangeNoDraw) {
  const auto walk = [](rc::Checkpoints checkpoint) {
    return [checkpoint](Tensor n, Tensor x) {
      const auto step = [](Tensor, Tensor y) {
        const Tensor noise = rc::randn({}, rc::float64);
        return rc::cond(y > 0, [&] { return y * noise + rc::rand({}, rc::float64); }, [&] { return y + noise; });
      };
      return rc::fori_loop(0, n, step, x, {.checkpoint = checkpoint});
    };
  };
  const Tensor counts = rc::tensor(std::vector<std::int64_t>{3, 0, 11, 1, 7, 11}).reshape({2, 3});
  const Tensor x = doubles({0.5, -1, 2, 1, -0.5, 3}, {2, 3});
  const auto drawn = [&](rc::Checkpoints checkpoint) {
    rc::manual_seed(11);
    const rc::VmapOptions different{.randomness = rc::Randomness::different};
    return rc::vmap(rc::vmap(rc::grad_and_value<1>(walk(checkpoint)), different), different)(counts, x);
  };
  const auto [slope, value] = drawn(rc::Checkpoints::every_step);
  for (const auto checkpoint : {rc::Checkpoints::sqrt, rc::Checkpoints::log}) {
    const auto [kept_slope, kept_value] = drawn(checkpoint);
    expect_equal(kept_value, value);
    expect_close(kept_slope, slope);
  }
}

TEST(WhileLoop, WhatTheConditionWritesStaysInIt) {
  for (const auto kept : {rc::Checkpoints::every_step, rc::Checkpoints::sqrt, rc::Checkpoints::log}) {
    const auto f = [kept](Tensor x) {
      return rc::while_loop([](Tensor s) { return s.add_(1) < 9; }, [](Tensor s) { return s * 2; }, x,
                            {.checkpoint = kept});
    };
    const Tensor x = number(1);
    expect_values(f(x), {8});
    expect_values(x, {1});
    expect_values(rc::trace(f)(x)({x})[0], {8});
    expect_values(rc::grad(f)(x), {8});
  }
}

TEST(Checkpoints, AskAConditionThatDrawsOnceForEachState) {
  const auto walk = [](rc::Checkpoints checkpoint) {
    return [checkpoint](Tensor x) {
      const auto goes_on = [](Tensor y) {
        const Tensor limit = rc::cond(y > 0, [] { return rc::rand({}, rc::float64); }, [] { return number(0.5); });
        return logical_and(abs(y) < 8, rc::rand({}, rc::float64) + limit > 0.3);
      };
      const auto step = [](Tensor y) { return y * 1.1 + rc::randn({}, rc::float64); };
      return rc::while_loop(goes_on, step, x, {.checkpoint = checkpoint});
    };
  };
  const Tensor x = doubles({0.5, -1, 2, 1, -0.5, 3, 0.1, 9});
  const auto drawn = [&](rc::Checkpoints checkpoint, bool is_mapped) {
    rc::manual_seed(12);
    const auto f = rc::grad_and_value(walk(checkpoint));
    return is_mapped ? rc::vmap(f, {.randomness = rc::Randomness::different})(x) : f(number(0.5));
  };
  for (const bool is_mapped : {false, true}) {
    const auto [slope, value] = drawn(rc::Checkpoints::every_step, is_mapped);
    for (const auto checkpoint : {rc::Checkpoints::sqrt, rc::Checkpoints::log}) {
      const auto [kept_slope, kept_value] = drawn(checkpoint, is_mapped);
      expect_equal(kept_value, value);
      expect_close(kept_slope, slope);
    }
  }
}

TEST(Checkpoints, AGradientChangesNoDrawAfterIt) {
  const auto f = [](bool differentiates) {
    return [differentiates](Tensor n, Tensor x) {
      const auto loop = [n](Tensor y) {
        const auto step = [](const std::pair<Tensor, Tensor>& s) {
          return std::pair{s.first * rc::rand({}, rc::float64), s.second - 1};
        };
        const auto goes_on = [](const std::pair<Tensor, Tensor>& s) { return s.second > 0; };
        return rc::while_loop(goes_on, step, std::pair{y, n}, {.checkpoint = rc::Checkpoints::sqrt}).first;
      };
      if (differentiates) rc::grad(loop)(x);
      else loop(x);
      const auto draws = [](Tensor y) { return y + rc::rand({}, rc::float64); };
      return rc::cond(x > 0, draws, draws, x);
    };
  };
  const Tensor counts = rc::tensor(std::vector<std::int64_t>{9, 0, 2, 4}), x = doubles({1, -1, 2, -2});
  const auto drawn = [&](bool differentiates, std::int64_t chunk) {
    rc::manual_seed(4);
    return rc::vmap(f(differentiates), {.randomness = rc::Randomness::different, .chunk_size = chunk})(counts, x);
  };
  const Tensor plain = drawn(false, 4);
  for (const std::int64_t chunk : {1, 2, 4}) expect_equal(drawn(true, chunk), plain);
}

TEST(Checkpoints, PullBackInBranchesAndLoopsThatSomeExamplesTake) {
  const auto draws = [](Tensor, Tensor z) { return sin(z) * rc::rand({}, rc::float64); };
  const auto loop = [&](rc::Checkpoints kept) {
    return [=](Tensor a) {
      const Tensor b = rc::fori_loop(0, (2 * a).to(rc::int64), draws, a, {.checkpoint = kept});
      return b * rc::rand({}, rc::float64);
    };
  };
  const auto run = [](const auto& f, rc::Lanes lanes, std::int64_t chunk) {
    rc::manual_seed(1);
    const auto pulled = [&](Tensor a) {
      const auto [y, pullback] = rc::vjp(f, a);
      const auto pull = [&pull_back = pullback](Tensor c) { return pull_back(c); };
      const auto again = [&](Tensor, Tensor z) { return z + pull(z); };
      const Tensor looped = rc::fori_loop(0, a.to(rc::int64), again, a);
      if (lanes == rc::Lanes::split && a.item() > 2.2) return looped * pull(a);
      return looped + rc::cond(a < 1.8, pull, [](Tensor c) { return c; }, a);
    };
    const Tensor x = doubles({1, 2, 3, 1.5});
    return rc::vmap(pulled, {.randomness = rc::Randomness::different, .chunk_size = chunk, .lanes = lanes})(x);
  };
  const auto plain = loop(rc::Checkpoints::every_step);
  for (const auto lanes : {rc::Lanes::together, rc::Lanes::split})
    for (const std::int64_t chunk : {4, 3}) {
      const Tensor wanted = run(plain, lanes, chunk);
      expect_close(run(rc::checkpoint(plain), lanes, chunk), wanted);
      expect_close(run(loop(rc::Checkpoints::sqrt), lanes, chunk), wanted);
      expect_close(run(loop(rc::Checkpoints::log), lanes, chunk), wanted);
    }
}

TEST(Checkpoints, OfAMappedFunctionPullBackInABranchThatSomeExamplesTake) {
  const auto plain = [](Tensor n, Tensor y) {
    const auto step = [](Tensor, Tensor s) { return sin(s) * rc::rand({}, rc::float64); };
    return rc::fori_loop(0, n.to(rc::int64), step, y) * rc::rand({}, rc::float64);
  };
  const Tensor counts = doubles({1, 4, 2}), x = doubles({0.5, 1, 2, 2, 3, 4, 1, 1.5, 0.7}, {3, 3});
  const rc::Randomness different = rc::Randomness::different;
  const auto run = [&](const auto& f, const rc::Dims& in_dims, const Tensor& n) {
    rc::manual_seed(3);
    const auto of_row = [&](Tensor count, Tensor row) {
      const auto mapped = rc::vmap(f, {.in_dims = in_dims, .randomness = different});
      const auto [y, pullback] = rc::vjp([&](Tensor a) { return mapped(count, a); }, row);
      const auto pull = [&pull_back = pullback](Tensor ct) { return pull_back(ct); };
      return rc::cond(row.sum() < 4, pull, [](Tensor ct) { return ct; }, row);
    };
    return rc::vmap(of_row, {.randomness = different})(n, x);
  };
  const rc::Dims shared{rc::none, 0}, own{0, 0};
  expect_close(run(rc::checkpoint(plain), shared, counts), run(plain, shared, counts));
  const Tensor counts_of_each = doubles({1, 3, 2, 5, 0, 4, 2, 2, 6}, {3, 3});
  expect_close(run(rc::checkpoint(plain), own, counts_of_each), run(plain, own, counts_of_each));
}

TEST(Checkpoints, KeepAsFewStatesInAPullbackThatIsMapped) {
  int steps = 0;
  const auto step = [&](Tensor, Tensor s) { return ++steps, sin(s); };
  const auto steps_of = [&](rc::Randomness mode) {
    const auto loop = [&](Tensor s) { return rc::fori_loop(0, 40, step, s, {.checkpoint = rc::Checkpoints::log}); };
    const auto [y, pullback] = rc::vjp(loop, rc::ones({}, rc::float64));
    steps = 0;
    rc::vmap([&pull_back = pullback](Tensor ct) { return pull_back(ct); }, {.randomness = mode})(ramp({3}));
    return steps;
  };
  EXPECT_GT(steps_of(rc::Randomness::error), 80);
  EXPECT_EQ(steps_of(rc::Randomness::same), steps_of(rc::Randomness::error));
  EXPECT_EQ(steps_of(rc::Randomness::different), steps_of(rc::Randomness::error));
}

Tensor is_below_100(Tensor x) { return x < 100; }
Tensor doubled(Tensor x) { return x * 2; }

TEST(WhileLoop, TakesFunctionsByName) {
  expect_values(rc::while_loop(is_below_100, doubled, rc::tensor(3.)), {192});
  expect_values(rc::while_loop(&is_below_100, &doubled, rc::tensor(3.)), {192});
}

TEST(Checkpoints, KeepFewStatesAndComputeThemAgain) {
  const auto steps_run = [](rc::Checkpoints kept) {
    int steps = 0;
    const auto f = [&](Tensor x) {
      return rc::while_loop([](Tensor y) { return y < 1000; }, [&](Tensor y) { return ++steps, y + 1; }, x,
                            {.checkpoint = kept});
    };
    rc::grad(f)(number(0));
    return steps;
  };
  EXPECT_EQ(steps_run(rc::Checkpoints::every_step), 1000);
  EXPECT_EQ(steps_run(rc::Checkpoints::sqrt), 2000);
  EXPECT_GT(steps_run(rc::Checkpoints::log), 2000);
  EXPECT_LT(steps_run(rc::Checkpoints::log), 20000);
}

TEST(Scan, GivesTheCarryAndTheStackedResults) {
  const Tensor xs = ramp({5});
  auto [total, sums] = rc::scan([](Tensor c, Tensor x) { return std::pair{c + x, c + x}; }, number(0), xs);
  expect_close(sums, cumsum(xs, 0));
  expect_close(total, xs.sum());
  auto [_, tails] =
      rc::scan([](Tensor c, Tensor x) { return std::pair{c + x, c + x}; }, number(0), xs, {.reverse = true});
  expect_close(tails, rc::flip(cumsum(rc::flip(xs, 0), 0), 0));
}

TEST(Scan, TakesAndGivesTrees) {
  using Pair = std::pair<Tensor, Tensor>;
  const auto step = [](std::vector<Tensor> carry, Pair x) {
    return std::pair{std::vector<Tensor>{carry[0] + x.first * x.second}, Pair{x.second, carry[0]}};
  };
  auto [carry, ys] = rc::scan(step, std::vector<Tensor>{number(0)}, Pair{doubles({1, 2}), doubles({3, 4})});
  expect_values(carry[0], {11});
  expect_values(ys.first, {3, 4});
  expect_values(ys.second, {0, 3});
}

TEST(Scan, HasTheDerivativesOfTheLoopItStandsFor) {
  const auto f = [](Tensor w) {
    auto [c, ys] = rc::scan(
        [&](Tensor c, Tensor x) {
          auto h = tanh(w * x + c);
          return std::pair{h, h * h};
        },
        number(0.1), ramp({6}));
    return ys.sum() + c;
  };
  const Tensor w = number(0.7);
  expect_close(rc::grad(f)(w), difference_quotient(f, w), 1e-6);
  expect_close(rc::hessian(f)(w), difference_quotient(rc::grad(f), w), 1e-6);
  expect_close(rc::vmap(rc::grad(f))(ramp({3})),
               rc::stack({rc::grad(f)(ramp({3})[0]), rc::grad(f)(ramp({3})[1]), rc::grad(f)(ramp({3})[2])}));
}

TEST(Scan, OverNothingGivesTheCarryAndNoResults) {
  auto [carry, ys] =
      rc::scan([](Tensor c, Tensor x) { return std::pair{c + x.sum(), x * 2}; }, number(3), doubles({}, {0, 2}));
  expect_values(carry, {3});
  EXPECT_EQ(sizes(ys), (Sizes{0, 2}));
}

TEST(Scan, WhatAStepWritesToItsCarryStaysInTheStep) {
  const Tensor start = number(1);
  auto [carry, ys] = rc::scan([](Tensor c, Tensor x) { return c.mul_(x), std::pair{c, c}; }, start, doubles({2, 3}));
  expect_values(carry, {6});
  expect_values(ys, {2, 6});
  expect_values(start, {1});
}

TEST(Scan, WithoutAnAxisToScanIsRefused) {
  expect_error<rc::ValueError>(
      [] { rc::scan([](Tensor c, Tensor x) { return std::pair{c, x}; }, number(0), number(1)); },
      "scan: xs is f64[]; every Tensor needs an axis 0 to scan over");
}

TEST(Map, IsVmapOneExampleAtATime) {
  const auto f = [](Tensor x) { return std::pair{x.sum(), x * 2}; };
  const Tensor xs = ramp({3, 2});
  const auto [sums, doubled] = rc::map(f, xs);
  expect_close(sums, xs.sum(1));
  expect_close(doubled, xs * 2);
  expect_close(rc::map(rc::sin, xs), sin(xs));
}

TEST(AssociativeScan, CombinesAllPrefixes) {
  for (std::int64_t n : {1, 2, 3, 4, 7, 16, 31}) {
    const Tensor x = ramp({n});
    expect_close(rc::associative_scan(rc::add, x, 0), cumsum(x, 0));
    expect_close(rc::associative_scan(rc::mul, x, 0), cumprod(x, 0));
  }
  const Tensor x = ramp({2, 5, 3});
  expect_close(rc::associative_scan(rc::add, x, 1), cumsum(x, 1));
}

TEST(AssociativeScan, InReverseCombinesAllSuffixes) {
  for (std::int64_t n : {1, 2, 3, 8, 13}) {
    const Tensor x = ramp({2, n});
    expect_close(rc::associative_scan(rc::add, x, 1, {.reverse = true}), rc::flip(cumsum(rc::flip(x, 1), 1), 1));
  }
  const auto second = [](Tensor, Tensor b) { return b; };  // combine(later, earlier)
  expect_values(rc::associative_scan(second, ramp({4}), 0, {.reverse = true}), values(ramp({4})));
  const auto first = [](Tensor a, Tensor) { return a; };
  expect_values(rc::associative_scan(first, doubles({1, 2, 3}), 0, {.reverse = true}), {3, 3, 3});
  const auto loss = [](Tensor x) { return rc::associative_scan(rc::mul, x, 0, {.reverse = true}).sum(); };
  expect_close(rc::grad(loss)(ramp({5})), difference_quotient(loss, ramp({5})), difference_tolerance);
  expect_close(rc::vmap(loss)(ramp({3, 4})),
               rc::stack({loss(ramp({3, 4})[0]), loss(ramp({3, 4})[1]), loss(ramp({3, 4})[2])}));
}

TEST(AssociativeScan, CombinesTreesThatDoNotCommute) {
  using Affine = std::pair<Tensor, Tensor>;  // x → a x + b
  const auto after = [](Affine f, Affine g) { return Affine{g.first * f.first, g.first * f.second + g.second}; };
  const Affine maps{ramp({6}), ramp({6}) * 2};
  const Affine all = rc::associative_scan(after, maps, 0);
  double a = 1, b = 0;
  for (std::int64_t i = 0; i < 6; ++i) {
    const double ga = maps.first[i].item(), gb = maps.second[i].item();
    a *= ga, b = ga * b + gb;
    EXPECT_NEAR(all.first[i].item(), a, 1e-12);
    EXPECT_NEAR(all.second[i].item(), b, 1e-11);
  }
  const auto last = [&](Tensor a) { return rc::associative_scan(after, Affine{a, maps.second}, 0).second.sum(); };
  expect_close(rc::grad(last)(maps.first), difference_quotient(last, maps.first), 1e-6);
}

}  // namespace
