// Lanes::split: plain C++ control flow on batched values gives exactly what a loop over the examples gives.
#include <gtest/gtest.h>

#include "ricci/ricci.h"
#include "support/expect_error.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

template <class F>
Tensor one_by_one(const F& f, const Tensor& xs) {
  std::vector<Tensor> results;
  for (const Tensor& x : xs.unbind()) results.push_back(f(x));
  return rc::stack(results);
}

Tensor branching(Tensor x) {
  if (x > 2) return x * x;
  if (x.item() < 0) return -x;
  Tensor y = x;
  while (y < 5) y = y * 2 + 1;
  return y;
}

const Tensor some = doubles({4, -1, 0.5, 0.5, 1.9, 3, -7});

TEST(LanesSplit, PlainIfAndWhileJustWork) {
  expect_equal(rc::vmap(branching, {.lanes = rc::Lanes::split})(some), one_by_one(branching, some));
}

TEST(LanesSplit, TheFunctionRunsOnceForEachPath) {
  int runs = 0;
  const auto f = [&](Tensor x) {
    ++runs;
    return branching(x);
  };
  rc::vmap(f, {.lanes = rc::Lanes::split})(some);
  EXPECT_EQ(runs, 5);  // above 2, below 0, and one, two or three doublings: 0.5 takes three, 1.9 two, none the rest
}

TEST(LanesSplit, WorksInsideAndAroundGrad) {
  const Tensor slopes = one_by_one(rc::grad(branching), some);
  expect_equal(rc::vmap(rc::grad(branching), {.lanes = rc::Lanes::split})(some), slopes);
  const auto total = [](Tensor xs) { return rc::vmap(branching, {.lanes = rc::Lanes::split})(xs).sum(); };
  expect_equal(rc::grad(total)(some), slopes);
  expect_equal(rc::vmap(rc::hessian(branching), {.lanes = rc::Lanes::split})(some),
               one_by_one(rc::hessian(branching), some));
}

TEST(LanesSplit, PartingAgainAndAgainIsDifferentiated) {
  const auto twice = [](Tensor x) {
    Tensor y = x * 1.0;
    if (y > 1) y = y * y;
    if (y > 2) y = y * y;
    return y;
  };
  const auto often = [](Tensor x) {
    Tensor y = x;
    while (y < 10) y = y * 3.0 + x;
    return y;
  };
  const Tensor xs = doubles({0.1, 1.3, 2, 5, 20});
  expect_equal(rc::vmap(rc::grad(twice), {.lanes = rc::Lanes::split})(xs), one_by_one(rc::grad(twice), xs));
  expect_equal(rc::vmap(rc::hessian(twice), {.lanes = rc::Lanes::split})(xs), one_by_one(rc::hessian(twice), xs));
  expect_equal(rc::vmap(rc::grad(often), {.lanes = rc::Lanes::split})(xs), one_by_one(rc::grad(often), xs));
  expect_equal(rc::vmap(rc::jacrev(often), {.lanes = rc::Lanes::split})(xs), one_by_one(rc::jacrev(often), xs));
}

TEST(LanesSplit, Nests) {
  const auto f = [](Tensor x, Tensor y) { return x > y ? x * y : x - y; };
  const Tensor x = doubles({1, 2, 3}), y = doubles({2.5, 0.5, 3, 1});
  const auto rows = [&](Tensor a) {
    return rc::vmap([&](Tensor b) { return f(a, b); }, {.lanes = rc::Lanes::split})(y);
  };
  const Tensor grid = x.unsqueeze(1), other = y.unsqueeze(0);
  expect_close(rc::vmap(rows, {.lanes = rc::Lanes::split})(x), rc::where(grid > other, grid * other, grid - other));
}

TEST(LanesSplit, WorksWithOtherAxesAndChunks) {
  const auto f = [](Tensor x) { return x.sum() > 3 ? x * 2 : x - 1; };
  const Tensor xs = ramp({2, 7});
  const Tensor expected = rc::where(xs.sum(0) > 3, xs * 2, xs - 1);
  expect_close(rc::vmap(f, {.in_dims = 1, .out_dims = 1, .lanes = rc::Lanes::split})(xs), expected);
  expect_close(rc::vmap(f, {.in_dims = 1, .out_dims = -1, .chunk_size = 3, .lanes = rc::Lanes::split})(xs), expected);
}

TEST(LanesSplit, RunsWhatWasLinearizedForThoseThatAreLeft) {
  const auto branches = [](Tensor x) {
    const Tensor y = rc::cond(x > 0, [](Tensor a) { return a * 3; }, [](Tensor a) { return a * a; }, x);
    if (x > 0) return y * 2;
    if (x < -1.5) return y * 5;
    return y;
  };
  const auto loops = [](Tensor x) {
    const Tensor y = rc::while_loop([](Tensor z) { return z < 4; }, [](Tensor z) { return z * z + 1; }, x);
    if (x > 2) return y * 2;
    return y * x.item();
  };
  const auto expect_the_loop = [](const auto& f) {
    const auto slope = [&](Tensor x) { return rc::linearize(f, x).second(rc::ones({}, rc::float64)); };
    expect_close(rc::vmap(slope, {.lanes = rc::Lanes::split})(some), one_by_one(slope, some));
  };
  expect_the_loop(branches);
  expect_the_loop(loops);
}

TEST(LanesSplit, PartsInsideBranchesAndLoopsThatSomeTake) {
  const auto inner = [](Tensor y) { return rc::cond(y > 1.5, branching, [](Tensor z) { return -z; }, y); };
  const auto loop = [](Tensor y) {
    const auto step = [](Tensor z) {
      if (z > 3) return z * 2.5;
      if (z > 1.7) return z * 3;
      return z + 1;
    };
    return rc::while_loop([](Tensor z) { return z < 20; }, step, y);
  };
  const auto both = [&](Tensor y) { return rc::cond(y > 0.7, inner, [&](Tensor z) { return loop(abs(z)) * z; }, y); };
  const rc::VmapOptions split{.lanes = rc::Lanes::split};
  const auto expect_the_loop = [&](const auto& f) {
    expect_equal(rc::vmap(f, split)(some), one_by_one(f, some));
    expect_equal(rc::vmap(rc::grad(f), split)(some), one_by_one(rc::grad(f), some));
    expect_equal(rc::grad([&](Tensor xs) { return rc::vmap(f, split)(xs).sum(); })(some),
                 one_by_one(rc::grad(f), some));
    const auto rows = [&](Tensor row) { return rc::vmap(f, split)(row); };
    expect_equal(rc::vmap(rows, split)(rc::stack({some, some + 1})),
                 rc::stack({one_by_one(f, some), one_by_one(f, some + 1)}));
  };
  expect_the_loop(inner);
  expect_the_loop(loop);
  expect_the_loop(both);
}

TEST(LanesSplit, PartsInsideCheckpointsAndTheirLoops) {
  const rc::VmapOptions split{.lanes = rc::Lanes::split};
  const auto step = [](Tensor, Tensor z) { return branching(z) * 0.5; };
  const auto loop = [&](Tensor y) { return rc::fori_loop(0, 4, step, y, {.checkpoint = rc::Checkpoints::sqrt}); };
  expect_equal(rc::vmap(rc::checkpoint(branching), split)(some), one_by_one(branching, some));
  expect_equal(rc::vmap(rc::grad(rc::checkpoint(branching)), split)(some), one_by_one(rc::grad(branching), some));
  expect_equal(rc::vmap(rc::grad(loop), split)(some), one_by_one(rc::grad(loop), some));
}

struct Branching : rc::Function<Branching> {
  static Tensor forward(const Tensor& x) { return branching(x); }
  static Tensor backward(rc::Context&, const Tensor& ct) { return ct; }
  static constexpr bool generate_vmap_rule = true;
};

TEST(LanesSplit, DoesNotReachIntoACustomFunctionAndSaysSo) {
  expect_error<rc::TransformError>(
      [&] { rc::vmap([](Tensor x) { return Branching::apply(x); }, {.lanes = rc::Lanes::split})(some); },
      "bool: needs the value of bool[], which differs per example of vmap over axis 0 of 7{at}, in a custom function, "
      "where examples cannot part; use where, cond or while_loop there\n  inside vmap over axis 0 of 7{at}",
      {some});
}

TEST(LanesSplit, WritesToWhatTheFunctionCreated) {
  const auto f = [](Tensor x) {
    const Tensor sum = rc::zeros({2}, rc::float64);
    while (sum[0] < 10) sum[0].add_(x);
    sum[1] = x;
    return sum;
  };
  const Tensor xs = doubles({1, 4, 11});
  expect_equal(rc::vmap(f, {.lanes = rc::Lanes::split})(xs), one_by_one(f, xs));
}

TEST(LanesSplit, NonzeroAndMaskedSelectHaveTheSizeOfEachExample) {
  const auto count = [](Tensor x) {
    return rc::ones({x.nonzero().size(0)}, rc::float64).sum() + rc::masked_select(x, x > 1).sum();
  };
  const Tensor xs = doubles({0, 1, 2, 0, 0, 3, 4, 5, 6}, {3, 3});
  expect_equal(rc::vmap(count, {.lanes = rc::Lanes::split})(xs), one_by_one(count, xs));
}

TEST(LanesSplit, ExamplesThatReturnDifferentShapesAreRefused) {
  const auto f = [](Tensor x) { return x > 0 ? x : rc::stack({x, x}); };
  expect_error<rc::ValueError>(
      [&] { rc::vmap(f, {.lanes = rc::Lanes::split})(doubles({1, -1, 2})); },
      "vmap: result differs between examples: f64[] and f64[2]; return one type, or pass .out_dims = rc::ragged{at}");
}

TEST(LanesSplit, OfNoExamplesTakesTheBranchOfZero) {
  const auto f = [](Tensor x) { return x.sum() > 0 ? x * 2 : x * x.sum().item(); };
  const Tensor y = rc::vmap(f, {.lanes = rc::Lanes::split})(rc::ones({0, 3}));
  EXPECT_EQ(sizes(y), Sizes({0, 3}));
}

TEST(LanesSplit, MoreGroupsThanAllowedAreAnErrorThatNamesTheBranch) {
  const auto f = [](Tensor x) { return x * x.item(); };
  expect_error<rc::TransformError>([&] { rc::vmap(f, {.lanes = rc::Lanes::split, .max_groups = 3})(some); },
                                   "item: the examples of vmap over axis 0 of 7{at} part into more than 3 groups here; "
                                   "use cond or while_loop, which "
                                   "keep them together, or raise .max_groups\n  inside vmap over axis 0 of 7{at}",
                                   {some});
}

TEST(LanesSplit, WithoutItAnIfOnABatchedValueIsAnError) { EXPECT_THROW(rc::vmap(branching)(some), rc::TransformError); }

/// Calls f, which throws, on tensors that it writes to; they hold what they held.
template <class F>
void expect_put_back(const F& f, const std::vector<Tensor>& written) {
  std::vector<Tensor> before;
  for (const Tensor& x : written) before.push_back(x.clone());
  EXPECT_ANY_THROW(f());
  EXPECT_FALSE(rc::inside_transform());
  for (std::size_t i = 0; i < written.size(); ++i) {
    SCOPED_TRACE(i);
    expect_equal(written[i], before[i]);
  }
}

struct Stop {};

TEST(LanesSplit, AnExceptionPutsBackWhatTheCallWrote) {
  const auto throws_below_zero = [](const Tensor& x) {
    if (x.item() < 0) throw Stop();
  };
  const auto several_groups = [&](Tensor x) {
    x.add_(10);  // all examples, before they part
    if (x < 3.2) return x * 2;
    if (x < 9.6) throws_below_zero(x - 10);
    return x;
  };
  const auto write_of_a_group = [](Tensor x) {
    x.mul_(2);
    if (x > 1) x.add_(1);  // refused
    return x;
  };
  const auto of_two = [&](Tensor x, Tensor shared) {
    shared.add_(1);
    x.copy_(x * shared);
    throws_below_zero(x);
    return x;
  };
  const rc::VmapOptions split{.lanes = rc::Lanes::split};
  const rc::VmapOptions shares{.in_dims = {0, rc::none}, .lanes = rc::Lanes::split};
  const Tensor x = some.clone(), table = rc::stack({some, some + 1}), shared = doubles({2});
  const Tensor row = table[1], column = table.t();

  expect_put_back([&] { rc::vmap(several_groups, split)(x); }, {x});
  expect_put_back([&] { rc::vmap(write_of_a_group, split)(x); }, {x});
  expect_put_back([&] { rc::vmap(of_two, shares)(x, shared[0]); }, {x, shared});
  expect_put_back([&] { rc::vmap(several_groups, split)(row); }, {table, row});
  expect_put_back([&] { rc::vmap(rc::vmap(several_groups, split))(table); }, {table, row});
  expect_put_back([&] { rc::vmap(rc::vmap(several_groups), split)(column); }, {table, row});
  expect_put_back([&] { rc::vmap(rc::vmap(of_two, shares), shares)(table, shared[0]); }, {table, shared});
  expect_put_back([&] { rc::jvp(rc::vmap(several_groups, split), x, x); }, {x});
  expect_put_back([&] { rc::vjp(rc::vmap(write_of_a_group, split), x); }, {x});
  expect_put_back([&] { rc::vmap(several_groups, {.out_dims = rc::ragged, .lanes = rc::Lanes::split})(x); }, {x});
  std::vector<double> memory{4, -1, 0.5};
  const Tensor lent = rc::from_blob(memory.data(), {3}, rc::float64);
  expect_put_back([&] { rc::vmap(several_groups, split)(lent); }, {lent});
  EXPECT_EQ(memory, (std::vector<double>{4, -1, 0.5}));
}

TEST(LanesSplit, AFunctionThatCatchesGoesOnWithItsArgumentsAndTheirDerivatives) {
  const auto fails = [](Tensor x) {
    x.add_(1);
    if (x > 1) throw Stop();
    return x;
  };
  const auto f = [&](Tensor x) {
    try {
      const rc::no_grad off;
      rc::vmap(fails, {.lanes = rc::Lanes::split})(x);
    } catch (const Stop&) {}
    return square(x).sum();
  };
  expect_equal(rc::grad(f)(some), 2 * some);
}

}  // namespace
