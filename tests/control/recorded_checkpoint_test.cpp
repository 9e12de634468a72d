// Checkpoints in recorded functions: whatever transforms are applied to one, the program is made of checkpoints, and
// computes what the transforms of the function do.
#include <gtest/gtest.h>

#include <functional>

#include "ricci/ricci.h"
#include "support/expect_tensor.h"
#include "support/plain_program.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

/// Captures what the result depends on, and returns a tree.
Tensor bend(Tensor x) {
  const Tensor scale = exp(0.1 * x).sum();
  const auto f = [&](Tensor y) { return std::pair{sin(y) * scale, (y * y).sum()}; };
  const auto [a, b] = rc::checkpoint(f)(x);
  return (a * b).sum();
}

const Tensor three = doubles({1, 2, 3}), other = doubles({-1, 0.5, 2}), longer = doubles({-1, 5, 2, 1, -3});

Tensor derivative(const std::function<Tensor(Tensor)>& f, Tensor x) { return rc::jvp(f, x, rc::cos(x)).second; }

TEST(RecordedCheckpoint, EveryTransformOfItIsMadeOfCheckpoints) {
  const Tensor rows = rc::stack({three, other}), more = rc::stack({longer, -longer, 2 * longer});
  EXPECT_EQ(times(expect_plain(bend, three, {other, longer}), "checkpoint["), 1U);
  EXPECT_EQ(times(expect_plain(rc::grad(bend), three, {other, longer}), "checkpoint["), 2U);
  EXPECT_EQ(times(expect_plain([](Tensor x) { return derivative(bend, x); }, three, {other}), "checkpoint["), 1U);
  EXPECT_EQ(times(expect_plain(rc::vmap(bend), rows, {more}), "checkpoint["), 1U);
  expect_plain(rc::vmap(rc::grad(bend)), rows, {more});
  expect_plain(rc::grad([](Tensor x) { return rc::vmap(bend)(x).sum(); }), rows, {more});
  expect_plain(rc::hessian(bend), three, {other}, 1e-10);
  expect_plain(rc::jacfwd(rc::grad(bend)), three, {other}, 1e-10);
  expect_plain(rc::grad([](Tensor x) { return derivative(bend, x); }), three, {other}, 1e-10);
  expect_plain(rc::grad([](Tensor x) { return rc::grad(bend)(x).sum(); }), three, {other, longer}, 1e-10);
  expect_plain(rc::vmap(rc::hessian(bend)), rows, {-rows}, 1e-10);
}

TEST(RecordedCheckpoint, LinearizedInsideTheRecording) {
  const auto f = [](Tensor x) {
    const auto [y, tangent_of] = rc::linearize(bend, x);
    return y + tangent_of(rc::cos(x));
  };
  expect_plain(f, three, {other});
}

TEST(RecordedCheckpoint, OutputsWithoutADerivativeNeedNone) {
  const auto f = [](Tensor x) {
    const auto [a, b, c] =
        rc::checkpoint([](Tensor y) { return std::tuple{y * y, y > 1.5, rc::ones({3}, rc::float64)}; })(x);
    return (where(b, a, 2 * x) * c * c).sum();
  };
  expect_plain(rc::grad(f), three, {other});
  expect_plain(rc::hessian(f), three, {other});
}

TEST(RecordedCheckpoint, HoldsLoopsAndStandsInThem) {
  const auto f = [](Tensor xs) {
    const auto step = [](Tensor c, Tensor x) {
      const Tensor next = rc::checkpoint([](Tensor a, Tensor b) { return tanh(a * b) + b; })(c, x);
      return std::pair{next, next * c};
    };
    const auto sums = [&](Tensor rows) {
      const auto [last, ys] = rc::scan(step, number(0.5), rows);
      return last + (ys * ys).sum();
    };
    return rc::checkpoint(sums)(xs);
  };
  expect_plain(rc::grad(f), three, {other, longer});
  expect_plain(rc::vmap(rc::grad(f)), rc::stack({three, other}), {rc::stack({longer, -longer})});
}

TEST(RecordedCheckpoint, DrawsTheSameOnTheWayBack) {
  const auto f = [](Tensor x) { return rc::checkpoint([](Tensor y) { return y * rc::rand_like(y); })(x); };
  const auto both = [&](Tensor x) {
    const auto [y, pull_back] = rc::vjp(f, x);
    return std::pair{y, pull_back(rc::ones_like(x))};
  };
  const auto expect_same_draws = [](const std::vector<Tensor>& found, const Tensor& x) {
    expect_close(found[0], found[1] * x);
  };
  expect_same_draws(rc::trace(both)(three)({other}), other);
  const rc::Program mapped =
      rc::trace(rc::vmap(both, {.randomness = rc::Randomness::different}))(rc::stack({three, other}));
  EXPECT_TRUE(is_plain(rc::to_string(mapped))) << mapped;
  const Tensor rows = rc::stack({other, three});
  expect_same_draws(mapped({rows}), rows);
}

}  // namespace
