// Programs that run for a block of examples after the other: which ones, and that they give the same bits.
#include "compile/blocks.h"

#include <gtest/gtest.h>
#include <ricci/ricci.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "support/expect_tensor.h"
#include "support/kernels_in_call.h"
#include "support/lane_kernels.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

using Pair = std::pair<Tensor, Tensor>;

class Blocks : public testing::Test {
 protected:
  void SetUp() override {
    if (!makes_kernels()) GTEST_SKIP() << "[SKIP] needs RICCI_COMPILE";
    rc::manual_seed(1);
  }
};

template <class F>
bool runs_in_blocks(const F& f, const Tensor& x) {
  return rc::compiled::blocks_of(kernels_in_call(f, x)).has_value();
}

/// 60 steps of two states, all of which the gradient keeps.
Tensor swing(const Tensor& x) {
  const auto step = [&](const Pair& s, const Tensor&) {
    const Pair next(s.first + 0.1 * s.second, s.second - 0.1 * x * sin(s.first));
    return std::pair(next, next.first);
  };
  return rc::scan(step, Pair(x, 0 * x), rc::zeros({60})).second.square().mean();
}
Tensor both(const Tensor& x) { return swing(x[0]) + x[1] * swing(x[1]); }
/// Of 60 steps that begin where it is small.
Tensor slope_when_small(const Tensor& x) {
  return rc::grad(swing)(
      rc::while_loop([](const Tensor& y) { return y > 0.2; }, [](const Tensor& y) { return y * 0.9; }, x));
}

TEST_F(Blocks, RunWhereExamplesKnowNothingOfEachOther) {
  const Tensor x = rc::rand({5000});
  const auto slopes = rc::vmap(rc::grad(swing));
  EXPECT_TRUE(runs_in_blocks(slopes, x));
  EXPECT_TRUE(runs_in_blocks(rc::vmap(rc::grad(both)), rc::rand({5000, 2})));
  EXPECT_FALSE(runs_in_blocks(slopes, rc::rand({200}))) << "all of it stands in a cache";
  using F = std::function<Tensor(const Tensor&)>;
  const std::vector<std::pair<const char*, F>> joined = {
      {"a mean of all", [&](const Tensor& t) { return slopes(t - t.mean()); }},
      {"a sum of results", [&](const Tensor& t) { return slopes(t).sum(); }},
      {"the first one", [&](const Tensor& t) { return slopes(t * t[0]); }},
      {"a neighbour", [&](const Tensor& t) { return slopes(t + rc::roll(t, 1, 0)); }},
      {"the other end", [&](const Tensor& t) { return slopes(rc::flip(t, {0})); }},
      {"a neighbour of a result", [&](const Tensor& t) { return rc::roll(slopes(t), 1, 0); }},
      {"their number", [&](const Tensor& t) { return slopes(t / t.shape()[0]); }},
      {"their order", [&](const Tensor& t) { return slopes(rc::sort(t, 0).first); }},
      {"each one's number", [&](const Tensor& t) { return slopes(t + 1e-4 * rc::arange(t.shape()[0])); }},
      {"running sums", [&](const Tensor& t) { return slopes(rc::cumsum(t, 0) * 1e-4); }},
      {"one that a value names", [&](const Tensor& t) { return slopes(t[(t * 100).to(rc::int64)]); }},
      {"a draw that all share",
       [&](const Tensor& t) {
         return rc::vmap([&](const Tensor& s) { return rc::grad(swing)(s + rc::randn({})); },
                         {.randomness = rc::Randomness::same})(t);
       }},
      {"two results, one of all", [&](const Tensor& t) { return rc::stack({slopes(t).sum(), t.sum()}); }},
  };
  for (const auto& [name, f] : joined) EXPECT_FALSE(runs_in_blocks(f, x)) << name;
  EXPECT_FALSE(runs_in_blocks(rc::vmap(rc::grad(both), {.in_dims = {1}}), rc::rand({2, 5000}))) << "along other axes";
  const auto any = [](const Tensor& t) {  // a byte of each example but the first
    const Tensor is_large = t.slice(0, 1, t.shape()[0]) > 0;
    const Tensor s = rc::while_loop([](const Tensor& y) { return y < 9; }, [](const Tensor& y) { return y * 2; },
                                    rc::tensor(1.f) + t[0] * 0);
    return t * where(rc::any(is_large), s, -s);
  };
  EXPECT_FALSE(runs_in_blocks(any, rc::ones({3'000'000}))) << "less than a byte of each";
}

TEST_F(Blocks, GiveTheBitsOfTheWhole) {
  const auto expect_same = [](const char* name, const auto& f, const Tensor& x) {
    SCOPED_TRACE(name + (" of " + std::to_string(x.size(0))));
    EXPECT_TRUE(runs_in_blocks(f, x));
    const auto whole = rc::compile(f), in_blocks = rc::compile(f);
    for (int i = 0; i < 3; ++i) {
      ::setenv("RICCI_COMPILE_WITHOUT", "blocks", 1);
      const Tensor expected = whole(x);
      ::unsetenv("RICCI_COMPILE_WITHOUT");
      expect_equal(in_blocks(x), expected);
    }
    expect_close(in_blocks(x), f(x), 1e-4);
  };
  for (const std::int64_t examples : {2048, 4097, 5000}) {
    expect_same("swing", rc::vmap(rc::grad(swing)), rc::rand({examples}));
    expect_same("both", rc::vmap(rc::grad(both)), rc::rand({examples, 2}));
    expect_same("slope_when_small", rc::vmap(slope_when_small), rc::rand({examples}));
    expect_same("swing in float64", rc::vmap(rc::grad(swing)), rc::rand({examples}, rc::float64));
  }
}

TEST_F(Blocks, ThrowWhatTheWholeThrowsAndGoOn) {
  const auto limited = [](const Tensor& x) {
    return swing(rc::while_loop([](const Tensor& y) { return y > 0.2; }, [](const Tensor& y) { return y * 0.9; }, x,
                                {.max_steps = 30}));
  };
  const auto slopes = rc::vmap([&](const Tensor& x) { return rc::jvp(limited, std::tuple(x), std::tuple(x)).second; });
  const auto fast = rc::compile(slopes);
  const Tensor good = rc::rand({5000}), bad = rc::where(rc::arange(5000) == 4999, 1e9f, good);
  for (int i = 0; i < 3; ++i) {
    expect_close(fast(good), slopes(good), 1e-4);
    EXPECT_THROW(fast(bad), rc::Error);
  }
}

}  // namespace
