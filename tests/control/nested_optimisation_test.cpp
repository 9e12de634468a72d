// Optimisers inside optimisers, each differentiated forward or in reverse: GradBench's saddle and particle, whose
// answers are known to all digits. Loops are while_loop and cond, the gradients jvp along the axes or grad.
#include <gtest/gtest.h>

#include <functional>

#include "ricci/ricci.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

using Function = std::function<Tensor(Tensor)>;
enum class Mode { forward, reverse };

Tensor length(Tensor x) { return sqrt((x * x).sum()); }

Function gradient(Mode mode, Function f) {
  if (mode == Mode::reverse) return rc::grad(f);
  return [f](Tensor x) {
    std::vector<Tensor> slopes;
    for (const Tensor& axis : rc::eye(x.size(0), rc::float64).unbind())
      slopes.push_back(std::get<1>(rc::jvp(f, x, axis)));
    return rc::stack(slopes);
  };
}

struct Descent {
  Tensor x, value, slope, rate, lowered, done;
};

/// Gradient descent: the rate doubles after ten steps that lower f and halves where one does not.
Tensor argmin(Mode mode, const Function& f, Tensor start) {
  const Function slope_of = gradient(mode, f);
  const auto going = [](Descent s) { return logical_and(length(s.slope) > 1e-5, logical_not(s.done)); };
  const auto descend = [&](Descent s) {
    const Tensor next = s.x - s.rate * s.slope, value = f(next);
    const Tensor stop = length(s.x - next) <= 1e-5;
    return rc::cond(
        logical_and(value < s.value, logical_not(stop)),
        [&] { return Descent{next, value, slope_of(next), s.rate, s.lowered + 1, stop}; },
        [&] { return Descent{s.x, s.value, s.slope, rc::where(stop, s.rate, s.rate / 2), s.lowered * 0, stop}; });
  };
  const auto step = [&](Descent s) {
    return rc::cond(
        s.lowered == 10, [](Descent s) { return Descent{s.x, s.value, s.slope, s.rate * 2, s.lowered * 0, s.done}; },
        descend, s);
  };
  const Descent first{start, f(start), slope_of(start), number(1e-5), rc::tensor(0), rc::tensor(false)};
  return rc::while_loop(going, step, first).x;
}

Tensor saddle(Mode outer, Mode inner) {
  const Tensor start = doubles({1, 1});
  const auto best_b = [&](Tensor a) {
    return argmin(inner, [a](Tensor b) { return -((a * a).sum() - (b * b).sum()); }, start);
  };
  const auto worst = [&](Tensor a) {
    const Tensor b = best_b(a);
    return (a * a).sum() - (b * b).sum();
  };
  const Tensor a = argmin(outer, worst, start);
  return rc::cat(std::vector<Tensor>{a, best_b(a)}, 0);
}

Tensor particle(Mode outer, Mode inner) {
  const Tensor fixed = doubles({10, 0}), up = doubles({0, 1});
  const auto landing = [&](Tensor w) {
    const Tensor moving = fixed + (10 - w) * up;
    const Function slope = gradient(inner, [&](Tensor x) { return 1 / length(x - moving) + 1 / length(x - fixed); });
    using State = std::pair<Tensor, Tensor>;  // place, speed
    const auto [x, speed] =
        rc::while_loop([](State s) { return (s.first + 0.1 * s.second)[1] > 0; },
                       [&](State s) { return State{s.first + 0.1 * s.second, s.second - 0.1 * slope(s.first)}; },
                       State{doubles({0, 8}), doubles({0.75, 0})});
    return square(x[0] - x[1] / speed[1] * speed[0]);
  };
  return argmin(outer, landing, doubles({0}));
}

TEST(NestedOptimisation, TheSaddlePointIsFoundInEveryNesting) {
  const double known = 8.246324826140356e-06;
  for (const Mode outer : {Mode::forward, Mode::reverse})
    for (const Mode inner : {Mode::forward, Mode::reverse})
      for (const double found : values(saddle(outer, inner))) EXPECT_NEAR(found, known, 1e-12 * known);
}

TEST(NestedOptimisation, TheParticleIsSteeredWhicheverModeIsInside) {  // the saddle point tries equal modes
  const double known = 0.2071918746486116;
  EXPECT_NEAR(particle(Mode::forward, Mode::reverse).item(), known, 1e-12 * known);
  EXPECT_NEAR(particle(Mode::reverse, Mode::forward).item(), known, 1e-12 * known);
}

}  // namespace
