// What reverse mode keeps of a function while it runs and afterwards: the values that derivatives read, as long as
// somebody can ask for a derivative that reads them.
#include <gtest/gtest.h>
#include <ricci/ricci.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ricci/primitive/pool.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using testing_support::expect_values;

namespace {

constexpr std::int64_t elements = (1 << 16) - 64;  // with what stands before them, they fill a block of the pool
constexpr std::size_t bytes = 4 * elements, steps = 30;

Tensor ramp() { return rc::linspace(0.1, 0.9, elements); }

using Step = std::function<Tensor(const Tensor& x, const Tensor& y)>;

/// The arrays that a function holds more after the steps than before them; `step` gives the next y.
class Loop {
 public:
  explicit Loop(Step step) : step_(std::move(step)) {}
  Tensor operator()(const Tensor& x) {
    Tensor y = x;
    const std::size_t before = rc::pool::bytes_in_use();
    for (std::size_t i = 0; i < steps; ++i) y = step_(x, y);
    arrays_ = (rc::pool::bytes_in_use() + bytes / 2 - before) / bytes;
    return (y * y).sum();
  }
  std::size_t arrays() const { return arrays_; }

 private:
  Step step_;
  std::size_t arrays_ = 0;
};

struct Transform {
  const char* name;
  std::function<void(Loop&)> run;
};

/// Reverse mode alone, twice, and with the other transforms inside it and around it.
const std::vector<Transform>& transforms() {
  static const std::vector<Transform> all = {
      {"grad", [](Loop& f) { rc::grad(std::ref(f))(ramp()); }},
      {"vjp", [](Loop& f) { rc::vjp(std::ref(f), ramp()); }},
      {"jacrev", [](Loop& f) { rc::jacrev(std::ref(f))(ramp()); }},
      {"Tape",
       [](Loop& f) {
         const Tensor x = ramp();
         rc::Tape tape;
         tape.watch(x);
         tape.gradient(f(x), x);
       }},
      {"vmap(grad)", [](Loop& f) { rc::vmap(rc::grad(std::ref(f)))(ramp().reshape({4, -1})); }},
      {"grad(vmap)",
       [](Loop& f) { rc::grad([&](Tensor x) { return rc::vmap(std::ref(f))(x).sum(); })(ramp().reshape({4, -1})); }},
      {"grad(grad)", [](Loop& f) { rc::grad([&](Tensor x) { return rc::grad(std::ref(f))(x).sum(); })(ramp()); }},
      {"jvp(grad)", [](Loop& f) { rc::jvp(rc::grad(std::ref(f)), ramp(), ramp()); }},
  };
  return all;
}

void expect_arrays(const Step& step, std::size_t most) {
  for (const Transform& transform : transforms()) {
    SCOPED_TRACE(transform.name);
    Loop loop(step);
    transform.run(loop);
    EXPECT_LE(loop.arrays(), std::string(transform.name) == "jvp(grad)" ? 2 * most + 1 : most);  // tangents as well
  }
}

TEST(KeptValues, AFactorThatNeedsNoDerivativeTakesNoMemory) {
  const Tensor weight = ramp();
  expect_arrays([](const Tensor&, const Tensor& y) { return y * 0.9; }, 1);
  expect_arrays([](const Tensor&, const Tensor& y) { return y / 1.1; }, 1);
  expect_arrays([](const Tensor& x, const Tensor& y) { return rc::lerp(y, x, 0.5); }, 1);
  expect_arrays([](const Tensor&, const Tensor& y) { return rc::fmod(y, 0.7); }, 1);
  expect_arrays([](const Tensor&, const Tensor& y) { return rc::addcmul(y, y.detach(), 0.1); }, 1);
  expect_arrays([=](const Tensor&, const Tensor& y) { return y * weight.slice(0, 0, y.size(0)); }, 1);
}

TEST(KeptValues, AResultThatNobodyReadsIsNotKept) {
  expect_arrays([](const Tensor& x, const Tensor& y) { return sin(x * 2), y; }, 1);
  expect_arrays([](const Tensor& x, const Tensor& y) { return exp(sin(x) * cos(x)).sum(), y; }, 1);
  expect_arrays([](const Tensor& x, const Tensor& y) { return rc::topk(x * x, 3), y; }, 1);
}

TEST(KeptValues, AResultOfWhichOnlyTheNumbersAreReadIsNotKept) {
  expect_arrays([](const Tensor& x, const Tensor& y) { return y + exp(sin(x)).detach(), y; }, 1);
  expect_arrays(
      [](const Tensor& x, const Tensor& y) {
        const Tensor seen = exp(sin(x) * 2) > 1;
        return where(seen, y, y);
      },
      steps / 2);  // the condition: a byte an element
}

TEST(KeptValues, OfAChainThatNobodyReadsNothingIsKeptHoweverLongItIs) {
  const auto f = [](const Tensor& x) {
    const std::size_t before = rc::pool::bytes_in_use();
    {
      Tensor y = x;
      for (int i = 0; i < 1000000; ++i) y = y * x;
      EXPECT_GT(rc::pool::bytes_in_use(), before + 50000000);
    }
    EXPECT_LT(rc::pool::bytes_in_use(), before + 10000);
    return x * 2;
  };
  expect_values(rc::grad(f)(rc::tensor(1.0)), {2});
}

TEST(KeptValues, WhatIsReadLaterStaysWhileOthersGo) {
  const auto f = [](const Tensor& x) {
    Tensor y = x * 3;
    for (int i = 0; i < 5; ++i) {
      const Tensor dead = exp(y * x);
      Tensor overwritten = sin(y);
      overwritten = y * y;
      y = y + overwritten * 0.1;
    }
    return y;
  };
  const auto without = [](const Tensor& x) {
    Tensor y = x * 3;
    for (int i = 0; i < 5; ++i) y = y + y * y * 0.1;
    return y;
  };
  const Tensor x = rc::tensor(0.3);
  EXPECT_EQ(rc::grad(f)(x).item<double>(), rc::grad(without)(x).item<double>());
  EXPECT_EQ(rc::grad(rc::grad(f))(x).item<double>(), rc::grad(rc::grad(without))(x).item<double>());
}

TEST(KeptValues, APullbackKeepsThemUntilItIsGone) {
  const std::size_t before = rc::pool::bytes_in_use();
  {
    auto [y, pullback] = rc::vjp([](const Tensor& x) { return sin(exp(x)); }, ramp());
    y = Tensor();
    const Tensor once = pullback(rc::ones({elements})), again = pullback(rc::ones({elements}));
    const Tensor x = ramp();
    EXPECT_TRUE(allclose(once, cos(exp(x)) * exp(x)));
    EXPECT_TRUE(equal(once, again));
  }
  EXPECT_EQ(rc::pool::bytes_in_use(), before);
}

TEST(KeptValues, AValueThatNoGradHasCutHoldsItsPlaceOnOtherTapes) {
  const auto f = [](const Tensor& x) {
    return rc::grad([&](const Tensor& z) {
      Tensor y = x * z;
      const Tensor cut = [&] {
        const rc::no_grad scope;
        return y.view({});
      }();
      y = Tensor();
      return sin(cut * z) * x;
    })(x);
  };
  EXPECT_TRUE(std::isfinite(rc::grad(f)(rc::tensor(0.5)).item<double>()));
}

TEST(KeptValues, ATensorOfATapeMayBeDroppedOnAnotherThread) {
  const Tensor x = rc::tensor(0.5);
  rc::Tape tape;
  tape.watch(x);
  for (int i = 0; i < 50; ++i) {
    auto held = std::make_unique<std::vector<Tensor>>();
    Tensor y = x;
    for (int k = 0; k < 50; ++k) held->push_back(y = sin(y));
    std::thread other([held = std::move(held)]() mutable { held.reset(); });
    for (int k = 0; k < 50; ++k) y = cos(x);
    other.join();
  }
  expect_values(tape.gradient(x * x, x), {1});
}

}  // namespace
