// What holds for every optimiser under every transform, and what trees, states and errors are like.
#include <gtest/gtest.h>
#include <ricci/optim.h>
#include <ricci/ricci.h>

#include <cmath>
#include <complex>
#include <filesystem>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "support/difference_quotient.h"
#include "support/expect_error.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
namespace optim = ricci::optim;
using rc::Tensor;
using namespace testing_support;

namespace {

struct Line {
  Tensor weight, bias;
};

Line start() {
  return {rc::tensor({{0.5, -0.25, 1.5}, {2., -1., 0.75}}, rc::float64), rc::tensor({-0.5, 0.125}, rc::float64)};
}
/// Bounded below, with slopes that are never 0 together.
Tensor loss(const Line& at) {
  const Tensor y = rc::matmul(at.weight, rc::tensor({1., -2., 0.5}, rc::float64)) + at.bias;
  return 0.1 * (y * y).sum() + 0.1 * rc::cosh(at.weight).sum() + 0.1 * rc::square(rc::square(at.bias)).sum();
}

bool is_weight(const std::string& name) { return name == "weight"; }

/// All of them, by their learning rate.
std::map<std::string, optim::Optimiser> optimisers(const Tensor& rate) {
  const optim::Schedule decaying = [rate](const Tensor& count) { return rate * optim::cosine_decay(1, 20)(count); };
  return {
      {"sgd", optim::sgd(rate)},
      {"momentum", optim::momentum(rate)},
      {"nesterov", optim::nesterov(rate)},
      {"adam", optim::adam(rate)},
      {"adam nesterov", optim::adam(rate, {.nesterov = true})},
      {"adamw", optim::adamw(rate, {.weight_decay = 0.1, .mask = is_weight})},
      {"lamb", optim::lamb(rate, {.weight_decay = rate})},
      {"lion", optim::lion(rate, {.weight_decay = 0.1})},
      {"rmsprop", optim::rmsprop(rate)},
      {"rmsprop centered", optim::rmsprop(rate, {.centered = true, .momentum = 0.9})},
      {"rmsprop corrected", optim::rmsprop(rate, {.eps_in_sqrt = false, .bias_correction = true})},
      {"adagrad", optim::adagrad(rate)},
      {"chain", optim::chain(optim::clip_by_global_norm(0.5), optim::clip(0.4), optim::adamw(decaying))},
      {"masked", optim::chain(optim::masked(optim::momentum(-0.5), is_weight), optim::sgd(rate))},
  };
}

using LineState = optim::State<Line>;

std::pair<Line, LineState> stepped(const optim::Optimiser& optimiser, const Line& at, const LineState& state) {
  auto [updates, next] = optimiser.update(rc::grad(loss)(at), state, at);
  return {optim::apply_updates(at, updates), next};
}

Line trained(const optim::Optimiser& optimiser, Line at, int steps) {
  LineState state = optimiser.init(at);
  for (int i = 0; i < steps; ++i) std::tie(at, state) = stepped(optimiser, at, state);
  return at;
}

void expect_same(const Line& found, const Line& expected, double tolerance = 0) {
  expect_close(found.weight, expected.weight, tolerance);
  expect_close(found.bias, expected.bias, tolerance);
}

template <class Check>
void for_each_optimiser(const Check& check) {
  for (const auto& [name, optimiser] : optimisers(0.05)) {
    SCOPED_TRACE(name);
    check(optimiser);
  }
}

TEST(Optim, LowersALoss) {
  const double before = loss(start()).item<double>();
  for_each_optimiser([&](const optim::Optimiser& optimiser) {
    EXPECT_LT(loss(trained(optimiser, start(), 20)).item<double>(), before);
  });
}

TEST(Optim, UnderVmapEachExampleIsAsAlone) {
  const Line other = rc::map_leaves([](const Tensor& p) { return 0.5 - 2 * p; }, start());
  for_each_optimiser([&](const optim::Optimiser& optimiser) {
    const auto train = [&](const Line& at) { return trained(optimiser, at, 4); };
    const std::vector<Line> found = rc::unstack_trees(rc::vmap(train)(rc::stack_trees(std::vector{start(), other})));
    expect_same(found[0], train(start()), 1e-15);
    expect_same(found[1], train(other), 1e-15);
  });
}

TEST(Optim, RatesAreMapped) {
  const auto train = [](const Tensor& rate) { return trained(optim::adam(rate), start(), 4); };
  const Tensor rates = rc::tensor({0.01, 0.1}, rc::float64);
  const std::vector<Line> found = rc::unstack_trees(rc::vmap(train)(rates));
  expect_same(found[0], train(rates[0]), 1e-15);
  expect_same(found[1], train(rates[1]), 1e-15);
}

TEST(Optim, IsTheSameCompiledAndInLoops) {
  for_each_optimiser([&](const optim::Optimiser& optimiser) {
    const Line expected = trained(optimiser, start(), 4);
    const auto body = [&](const Tensor&, const std::pair<Line, LineState>& carried) {
      return stepped(optimiser, carried.first, carried.second);
    };
    const auto train = [&](const Line& at) {
      return rc::fori_loop(0, 4, body, std::pair{at, optimiser.init(at)}).first;
    };
    expect_same(train(start()), expected);

    const auto step = [&](const Line& at, const LineState& state) { return stepped(optimiser, at, state); };
    const auto fast = rc::compile(step);
    std::pair carried{start(), optimiser.init(start())};
    for (int i = 0; i < 4; ++i) carried = fast(carried.first, carried.second);
    expect_same(carried.first, expected, 1e-14);
    EXPECT_EQ(fast.plans(), 1u);
    EXPECT_EQ(carried.second.count.item<int>(), 4);
    expect_same(rc::compile(train)(start()), expected, 1e-14);
  });
}

TEST(Optim, HasDerivativesThroughTenSteps) {
  for (const auto& [name, _] : optimisers(1)) {
    SCOPED_TRACE(name);
    const auto by_rate = [&name = name](const Tensor& rate) {
      return loss(trained(optimisers(rate).at(name), start(), 10));
    };
    const Tensor rate = rc::tensor(0.03, rc::float64);
    expect_close(rc::grad(by_rate)(rate), difference_quotient(by_rate, rate), 1e-6);

    const auto by_start = [&name = name](const Tensor& bias) {
      return loss(trained(optimisers(0.03).at(name), {start().weight, bias}, 10));
    };
    expect_close(rc::grad(by_start)(start().bias), difference_quotient(by_start, start().bias), 1e-6);
  }
}

TEST(Optim, DerivativesByOtherNumbersExist) {
  const auto by_decay = [](const Tensor& b1) { return loss(trained(optim::adam(0.05, {.b1 = b1}), start(), 5)); };
  const Tensor b1 = rc::tensor(0.8, rc::float64);
  expect_close(rc::grad(by_decay)(b1), difference_quotient(by_decay, b1), 1e-6);
  const auto by_peak = [](const Tensor& peak) {
    return loss(trained(optim::sgd(optim::warmup_cosine(0, peak, 2, 9, {.end_value = 1e-3})), start(), 5));
  };
  const Tensor peak = rc::tensor(0.05, rc::float64);
  expect_close(rc::grad(by_peak)(peak), difference_quotient(by_peak, peak), 1e-6);
}

TEST(Optim, ClippingHasADerivativeAtAGradientOfZero) {
  const auto scaled = [](const Tensor& g) {
    const auto clip = optim::chain(optim::clip_by_global_norm(1), optim::lamb(1, {.eps_root = 1}));
    return clip.update(g, clip.init(g), rc::ones({2})).updates.sum();
  };
  expect_values(rc::isfinite(rc::grad(scaled)(rc::zeros({2}))), {1, 1});
}

TEST(Optim, StatesAreSavedByName) {
  const optim::Optimiser adam = optim::adam(0.05);
  Line at = start();
  LineState state = adam.init(at);
  for (int i = 0; i < 3; ++i) std::tie(at, state) = stepped(adam, at, state);
  EXPECT_EQ(rc::leaf_names(state), (std::vector<std::string>{"count", "moments[\"mu\"].weight", "moments[\"mu\"].bias",
                                                             "moments[\"nu\"].weight", "moments[\"nu\"].bias"}));
  const std::string path = (std::filesystem::temp_directory_path() / "ricci_optim_state.safetensors").string();
  rc::save_safetensors(path, rc::named_leaves(state));
  const LineState loaded = rc::load_leaves(adam.init(start()), rc::load_safetensors(path));
  std::filesystem::remove(path);
  expect_same(stepped(adam, at, loaded).first, stepped(adam, at, state).first);
}

TEST(Optim, MomentsOfOneNameAreToldApart) {
  const optim::Optimiser both = optim::chain(optim::momentum(0.1), optim::momentum(0.1), optim::momentum(0.1));
  std::vector<std::string> names;
  for (const auto& [name, moment] : both.init(start()).moments) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"trace", "trace_2", "trace_3"}));
}

struct Mixed {
  Tensor weight, count, missing;
  double rate = 0.5;
};

TEST(Optim, LeavesIntegersNumbersAndUndefinedTensorsAlone) {
  const Mixed at{rc::ones({2}), rc::full({}, 3, rc::int64), {}};
  for_each_optimiser([&](const optim::Optimiser& optimiser) {
    const auto [updates, state] = optimiser.update(at, optimiser.init(at), at);
    const Mixed next = optim::apply_updates(at, updates);
    EXPECT_EQ(next.count.item<int>(), 3);
    EXPECT_EQ(next.count.dtype(), rc::int64);
    EXPECT_FALSE(next.missing.defined());
    EXPECT_EQ(next.rate, 0.5);
  });
}

TEST(Optim, TakesTreesWithoutParameters) {
  const std::vector<Tensor> none;
  for_each_optimiser([&](const optim::Optimiser& optimiser) {
    const auto [updates, state] = optimiser.update(none, optimiser.init(none), none);
    EXPECT_TRUE(optim::apply_updates(none, updates).empty());
    EXPECT_EQ(state.count.item<int>(), 1);
  });
}

TEST(Optim, KeepsDtypes) {
  for (const rc::DType dtype : {rc::float16, rc::bfloat16, rc::float32, rc::float64, rc::complex64}) {
    for (const rc::Shape& shape : {rc::Shape{}, rc::Shape{2}}) {
      const std::vector<Tensor> at{rc::ones(shape, dtype)};
      for (const auto& [name, optimiser] : optimisers(rc::tensor(0.05, rc::float64))) {
        if (rc::is_complex(dtype) && name == "chain") continue;  // complex numbers have no order to clip by
        SCOPED_TRACE(name);
        const auto first = optimiser.init(at);
        const auto [updates, state] = optimiser.update(at, first, at);
        EXPECT_EQ(updates[0].dtype(), dtype);
        EXPECT_EQ(optim::apply_updates(at, updates)[0].dtype(), dtype);
        for (const auto& [moment, tree] : state.moments)
          EXPECT_EQ(tree[0].dtype(), first.moments.at(moment)[0].dtype());
      }
    }
  }
}

TEST(Optim, TreatsComplexNumbersByTheirSize) {
  const Tensor g = rc::tensor({std::complex<double>(3, 4)}).to(rc::complex64);
  const optim::Optimiser adam = optim::adam(1);
  const auto [update, state] = adam.update(g, adam.init(g), g);
  expect_numbers(update, {{-0.6, -0.8}}, 1e-6);
  EXPECT_FALSE(state.moments.at("nu").is_complex());
}

TEST(Optim, NaNStaysNaN) {
  const std::vector<Tensor> at{rc::ones({2})}, g{rc::full({2}, std::nan(""))};
  for_each_optimiser([&](const optim::Optimiser& optimiser) {
    expect_values(rc::isnan(optimiser.update(g, optimiser.init(at), at).updates[0]), {1, 1});
  });
}

TEST(Optim, CenteredSpreadIsNeverNegative) {
  const Tensor at = rc::zeros({3}), g = rc::tensor({1000.1, 3.3, -0.7}).to(rc::float32);
  const optim::Optimiser rmsprop = optim::rmsprop(1e-3, {.centered = true, .bias_correction = true});
  auto state = rmsprop.init(at);
  for (int i = 0; i < 50; ++i) {
    const auto [update, next] = rmsprop.update(g, state, at);
    expect_values(rc::isfinite(update), {1, 1, 1});
    state = next;
  }
}

TEST(Optim, AnOptimiserIsAValueToTransforms) {
  const auto step = [](const optim::Optimiser& optimiser, const Tensor& g) {
    return optimiser.update(g, optimiser.init(g), g).updates;
  };
  const auto fast = rc::compile(step);
  const optim::Optimiser slow = optim::sgd(0.5), quick = optim::sgd(2);
  for (const optim::Optimiser& optimiser : {slow, quick, slow})
    expect_equal(fast(optimiser, rc::ones({3})), step(optimiser, rc::ones({3})));
  EXPECT_EQ(fast.plans(), 2u);
  expect_values(rc::vmap(step)(slow, rc::ones({3})), {-0.5, -0.5, -0.5});
}

TEST(Optim, IsMadeByUsers) {
  const optim::Optimiser mean_of_two({{"before", {}}}, [](optim::Step& step) {
    for (auto& [update, param, moments] : step.leaves) {
      const Tensor g = update;
      update = 0.5 * (g + moments[0]);
      moments[0] = g;
    }
  });
  const Tensor at = rc::zeros({2}), g = rc::ones({2});
  const auto [first, state] = mean_of_two.update(g, mean_of_two.init(at), at);
  const auto [second, last] = optim::chain(mean_of_two, optim::sgd(0.1)).update(g, state, at);
  expect_values(first, {0.5, 0.5});
  expect_values(second, {-0.1, -0.1}, 1e-7);
}

TEST(Optim, ErrorsNameBothTrees) {
  const optim::Optimiser adam = optim::adam(0.1);
  const std::vector<Tensor> two{rc::ones({2}), rc::ones({3})}, one{rc::ones({2})};
  expect_error<rc::ValueError>(
      [&] { adam.update(one, adam.init(two), two); },
      "update: the trees have different structures: the first is [f32[2], f32[3]], number 2 is "
      "[f32[2]]; pass trees of one structure",
      two);
  expect_error<rc::ValueError>(
      [&] { adam.update(two, adam.init(one), two); },
      "update: the trees have different structures: the first is [f32[2], f32[3]], number 3 is "
      "[f32[2]]; pass trees of one structure",
      two);
  expect_error<rc::ValueError>(
      [&] { adam.update(std::vector<Tensor>{rc::ones({2}), rc::ones({4})}, adam.init(two), two); },
      "update: [1] is f32[3] in the parameters, f32[4] in the gradients; the shapes must agree", two);
  expect_error<rc::TypeError>(
      [&] { adam.update(std::vector<Tensor>{rc::ones({2}), rc::ones({3}, rc::int64)}, adam.init(two), two); },
      "update: [1] is f32[3] in the parameters, i64[3] in the gradients; convert it to a floating dtype", two);
  expect_error<rc::ValueError>(
      [&] { adam.update(two, optim::sgd(0.1).init(two), two); },
      "update: the state has no moment mu; pass what init of this optimiser or its last update gave", two);
  expect_error<rc::ValueError>(
      [&] { optim::apply_updates(two, std::vector<Tensor>{rc::ones({2}), {}}); },
      "apply_updates: [1] is f32[3] in the parameters, undefined in the updates; the shapes must agree", two);
}

TEST(Optim, AStepOfOnesOwnMayNotChangeShapesNorWhatThereIs) {
  const Tensor x = rc::ones({2});
  const auto update_by = [&](std::vector<optim::Moment> moments, std::function<void(optim::Step&)> apply) {
    const optim::Optimiser own(std::move(moments), std::move(apply));
    own.update(x, own.init(x), x);
  };
  expect_error<rc::ValueError>([&] { update_by({}, [](auto& step) { step.leaves[0].update = rc::ones({}); }); },
                               "update: a step made f32[] of the update f32[2]; it must keep the shape", {x});
  expect_error<rc::ValueError>(
      [&] { update_by({{"mu", {}}}, [](auto& step) { step.leaves[0].moments[0] = rc::ones({7}); }); },
      "update: a step made f32[7] of the moment mu, f32[2]; it must keep the shape", {x});
  expect_error<rc::ValueError>([&] { update_by({}, [](auto& step) { step.leaves.clear(); }); },
                               "update: a step left out a leaf or a moment, or added one; it may only change them",
                               {x});
  expect_error<rc::ValueError>([&] { update_by({{"mu", {}}}, [](auto& step) { step.leaves[0].moments.clear(); }); },
                               "update: a step left out a leaf or a moment, or added one; it may only change them",
                               {x});
  expect_error<rc::ValueError>([&] { update_by({{"mu", {}}, {"mu", {}}}, [](auto&) {}); },
                               "Optimiser: two moments have the name mu; give each its own", {x});
}

TEST(Optim, ErrorsOfSchedulesNameTheNumber) {
  expect_error<rc::ValueError>([] { optim::cosine_decay(0.1, 0); },
                               "cosine_decay: decay_steps is 0; it must be positive");
  expect_error<rc::ValueError>([] { optim::warmup_cosine(0, 0.1, 10, 10); },
                               "warmup_cosine: decay_steps - warmup_steps is 0; it must be positive");
  expect_error<rc::ValueError>([] { optim::piecewise(0.1, {{3, -0.5}}); },
                               "piecewise: the scale at 3 is -0.500000; it must not be negative");
  expect_error<rc::ValueError>(
      [] { optim::join_schedules({optim::cosine_decay(0.1, 5)}, {5}); },
      "join_schedules: there are 1 schedules and 1 boundaries; give one boundary fewer than schedules");
}

}  // namespace
