// mpi::vmap is vmap, bit for bit: for every sampler and mode, in chunks, nested with every transform, for any number of
// examples, with arguments and results whole or by the rank's rows.
#include <ricci/mpi.h>

#include "random/categories.h"
#include "support/chain.h"

namespace {

using namespace testing_support;
using rc::Randomness;
using rc::mpi::all_rows;
using rc::mpi::my_rows;

Tensor own(const Tensor& all) {
  const auto [first, count] = rc::mpi::block_of(all.size(0));
  return all.slice(0, first, first + count);
}

// ── draws ──

class MpiVmapDraws : public testing::TestWithParam<Category> {};

TEST_P(MpiVmapDraws, AreThoseOfOneProcess) {
  const auto& draw = GetParam().draw;
  for (const Randomness mode : {Randomness::different, Randomness::same})
    for (const std::int64_t examples : {1, 3, 10}) {
      const Tensor x = unequal_examples({examples});
      rc::manual_seed(11);
      const Tensor expected = rc::vmap(draw, {.randomness = mode})(x), after = rc::rand({2});
      rc::manual_seed(11);
      expect_equal(rc::mpi::vmap(draw, {.randomness = mode})(x), expected);
      expect_equal(rc::rand({2}), after);
      rc::manual_seed(11);
      expect_equal(rc::mpi::vmap(draw, {.randomness = mode, .chunk_size = 2, .rows = my_rows})(own(x)), expected);
      rc::manual_seed(11);
      expect_equal(rc::mpi::vmap(draw, {.randomness = mode, .results = my_rows})(x), own(expected));
    }
}

TEST_P(MpiVmapDraws, NestAsInOneProcess) {
  const auto& draw = GetParam().draw;
  const Tensor x = unequal_examples({5, 3});
  for (const Randomness outer : {Randomness::different, Randomness::same})
    for (const Randomness inner : {Randomness::different, Randomness::same}) {
      const auto each = rc::vmap(draw, {.randomness = inner, .chunk_size = 2});
      rc::manual_seed(5);
      const Tensor expected = rc::vmap(each, {.randomness = outer})(x);
      rc::manual_seed(5);
      expect_equal(rc::mpi::vmap(each, {.randomness = outer})(x), expected);
      rc::manual_seed(5);
      expect_equal(rc::mpi::vmap(each, {.randomness = outer, .chunk_size = 1})(x), expected);
    }
}

TEST_P(MpiVmapDraws, OfDerivativesAreThoseOfOneProcess) {
  if (!GetParam().differentiable) return;
  const auto loss = [](Tensor x) { return (GetParam().draw(x) * x).sum(); };
  const Tensor x = unequal_examples({5});
  for (const Randomness mode : {Randomness::different, Randomness::same}) {
    rc::manual_seed(5);
    const Tensor inside = rc::vmap(rc::grad(loss), {.randomness = mode})(x);
    rc::manual_seed(5);
    expect_equal(rc::mpi::vmap(rc::grad(loss), {.randomness = mode})(x), inside);
    const auto total = [&](Tensor a) { return rc::mpi::vmap(loss, {.randomness = mode})(a).sum(); };
    rc::manual_seed(5);
    expect_equal(rc::grad(total)(x), inside);
  }
}

INSTANTIATE_TEST_SUITE_P(All, MpiVmapDraws, testing::ValuesIn(all_categories()),
                         [](const auto& info) { return info.param.name; });

TEST(MpiVmap, LeavesTheGeneratorWhereOneProcessDoesWhereFewExamplesDraw) {
  // Only the last example draws, so that most ranks' examples do not.
  const auto f = [](Tensor i) {
    return rc::cond(i > 8.5, [](Tensor i) { return i + rc::rand({}); }, [](Tensor i) { return i; }, i);
  };
  const Tensor x = rc::arange(10).to(rc::float32);
  for (const Randomness mode : {Randomness::different, Randomness::same}) {
    rc::manual_seed(3);
    const Tensor expected = rc::vmap(f, {.randomness = mode})(x), after = rc::rand({2});
    rc::manual_seed(3);
    expect_equal(rc::mpi::vmap(f, {.randomness = mode})(x), expected);
    expect_equal(rc::rand({2}), after);
  }
}

TEST(MpiVmap, DrawsInALoopAsOneProcessDoes) {
  const auto f = [](Tensor i) {
    return rc::cond(i > 8.5, [](Tensor i) { return i + rc::rand({}); }, [](Tensor i) { return i; }, i);
  };
  const auto g = [](Tensor i) { return i + rc::rand({}); };
  const auto in_steps = [](const auto& map) {
    return [=](Tensor x) {
      return rc::fori_loop(0, 2, [=](Tensor, Tensor y) { return map(y) + rc::rand({}); }, x) + rc::rand({});
    };
  };
  const Tensor x = rc::arange(10).to(rc::float32);
  for (const Randomness mode : {Randomness::different, Randomness::same}) {
    rc::manual_seed(3);
    const Tensor expected = in_steps(rc::vmap(f, {.randomness = mode}))(x);
    const Tensor of_all = in_steps(rc::vmap(g, {.randomness = mode}))(x);
    rc::manual_seed(3);
    expect_equal(in_steps(rc::mpi::vmap(f, {.randomness = mode}))(x), expected);
    expect_equal(in_steps(rc::mpi::vmap(g, {.randomness = mode}))(x), of_all);
  }
}

TEST(MpiVmap, OfExamplesThatPartGoesOn) {
  const auto f = [](Tensor x) {
    Tensor total = x + rc::rand({});
    while (total.item<double>() < 5) total = total + x * rc::rand({});
    return total;
  };
  const Tensor x = rc::arange(1, 8).to(rc::float64);
  rc::manual_seed(3);
  const Tensor expected = rc::vmap(f, {.randomness = Randomness::different, .lanes = rc::Lanes::split})(x);
  rc::manual_seed(3);
  expect_equal(rc::mpi::vmap(f, {.randomness = Randomness::different, .lanes = rc::Lanes::split})(x), expected);
}

// ── axes, trees, sizes ──

struct Model {
  Tensor weight, bias;
};
struct Result {
  Tensor y, norm;
};

TEST(MpiVmap, IsVmapForEveryNumberOfExamples) {
  const Model model{ramp({3, 2}), ramp({3})};
  const auto f = [](const Model& m, Tensor x) {
    const Tensor y = rc::tanh(rc::matmul(m.weight, x) + m.bias);
    return Result{y, y.square().sum()};
  };
  for (const std::int64_t examples : {0, 1, 2, 3, 5, 17}) {
    const Tensor x = examples == 0 ? rc::zeros({0, 2}, rc::float64) : ramp({examples, 2});
    const Result expected = rc::vmap(f, {.in_dims = {rc::none, 0}})(model, x);
    const Result found = rc::mpi::vmap(f, {.in_dims = {rc::none, 0}})(model, x);
    expect_equal(found.y, expected.y);
    expect_equal(found.norm, expected.norm);
  }
}

TEST(MpiVmap, MapsAnyAxisInAndOut) {
  const auto f = [](Tensor x, Tensor y) { return std::pair{x * y.sum(), x.sum()}; };
  const Tensor x = ramp({4, 7}), y = ramp({2, 7, 3});
  const rc::Dims in{-1, 1}, out{1, 0};
  const auto expected = rc::vmap(f, {.in_dims = in, .out_dims = out})(x, y);
  const auto found = rc::mpi::vmap(f, {.in_dims = in, .out_dims = out})(x, y);
  expect_equal(found.first, expected.first);
  expect_equal(found.second, expected.second);
}

TEST(MpiVmap, TakesUnevenRowsOfTheRanks) {
  const rc::mpi::World world;
  const std::int64_t mine = 2 * world.rank();  // rank 0 has none
  const Tensor x = rc::full({mine, 2}, static_cast<double>(world.rank()));
  const Tensor y = rc::mpi::vmap([](Tensor x) { return x.sum(); }, {.rows = my_rows}, world)(x);
  EXPECT_EQ(y.size(0), world.size() * (world.size() - 1));
  std::vector<double> expected;
  for (int r = 0; r < world.size(); ++r) expected.insert(expected.end(), static_cast<std::size_t>(2 * r), 2 * r);
  expect_values(y, expected);
}

TEST(MpiVmap, GivesOneValueForAllWithoutAnAxis) {
  const auto f = [](Tensor w, Tensor x) { return std::pair{w * 2, x + w}; };
  const auto [twice, rows] =
      rc::mpi::vmap(f, {.in_dims = {rc::none, 0}, .out_dims = {rc::none, 0}})(number(3), ramp({5}));
  expect_equal(twice, number(6));
  expect_equal(rows, ramp({5}) + 3);
}

TEST(MpiVmap, LeavesTheCallersTensorsAlone) {
  const Tensor x = rc::zeros({6});
  const Tensor y = rc::mpi::vmap([](Tensor x) { return x.add_(1); })(x);
  expect_equal(x, rc::zeros({6}));
  expect_equal(y, rc::ones({6}));
}

TEST(MpiVmap, RunsCompiledFunctions) {
  const auto f = [](Tensor w, Tensor x) { return rc::sin(x * w).sum(); };
  const Tensor w = ramp({3}), x = ramp({7, 3});
  const auto compiled = rc::compile(rc::value_and_grad(f));
  const auto plain = rc::vmap(compiled, {.in_dims = {rc::none, 0}})(w, x);
  const auto ranks = rc::mpi::vmap(compiled, {.in_dims = {rc::none, 0}})(w, x);
  expect_equal(ranks.first, plain.first);
  expect_equal(ranks.second, plain.second);
}

TEST(MpiVmap, MayStandInACompiledFunction) {
  const auto f = [](Tensor w, Tensor x) {
    return rc::mpi::vmap([](Tensor w, Tensor x) { return rc::sin(x * w).sum(); }, {.in_dims = {rc::none, 0}})(w, x)
        .sum();
  };
  const Tensor w = ramp({3}), x = ramp({7, 3});
  const auto compiled = rc::compile(rc::grad(f));
  expect_close(compiled(w, x), rc::grad(f)(w, x));
  expect_close(compiled(w, x), rc::grad(f)(w, x));
}

// ── every stack of two transforms ──

Elementwise mapped_by_ranks(const Elementwise& f) {
  return [f](Tensor x) {
    if (x.dim() == 0) return rc::mpi::vmap(f)(x.unsqueeze(0)).squeeze(0);
    return rc::mpi::vmap(f)(x);
  };
}
Elementwise mapped_here(const Elementwise& f) {
  return [f](Tensor x) {
    if (x.dim() == 0) return rc::vmap(f)(x.unsqueeze(0)).squeeze(0);
    return rc::vmap(f)(x);
  };
}

TEST(MpiVmap, IsVmapUnderInAndBetweenAnyTwoTransforms) {
  const Tensor x = ramp({5, 2});
  const Elementwise f = [](Tensor x) { return rc::sin(x) * x * x; };
  const std::vector<Transform> transforms = all_transforms();
  for (const Transform& a : transforms)
    for (const Transform& b : transforms) {
      SCOPED_TRACE(a.name + ", " + b.name);
      expect_equal(mapped_by_ranks(a.apply(b.apply(f)))(x), mapped_here(a.apply(b.apply(f)))(x));
      expect_equal(a.apply(mapped_by_ranks(b.apply(f)))(x), a.apply(mapped_here(b.apply(f)))(x));
      expect_equal(a.apply(b.apply(mapped_by_ranks(f)))(x), a.apply(b.apply(mapped_here(f)))(x));
      if (HasFailure()) return;
    }
}

// ── derivatives around it ──

TEST(MpiVmap, HasTheDerivativesByWhatAllExamplesShare) {
  const Tensor w = ramp({3}), x = ramp({7, 3});
  const auto f = [](Tensor w, Tensor x) { return rc::sin(x * w).prod(); };
  const auto here = [&](Tensor w) { return rc::vmap(f, {.in_dims = {rc::none, 0}})(w, x).square().sum(); };
  const auto ranks = [&](Tensor w) { return rc::mpi::vmap(f, {.in_dims = {rc::none, 0}})(w, x).square().sum(); };
  expect_close(rc::grad(ranks)(w), rc::grad(here)(w));
  expect_close(rc::hessian(ranks)(w), rc::hessian(here)(w));
  expect_close(rc::jacrev(rc::grad(ranks))(w), rc::hessian(here)(w));
}

TEST(MpiVmap, HasTheDerivativesByWhatTheFunctionCaptures) {
  const Tensor w = ramp({3}), x = ramp({7, 3});
  const auto here = [&](Tensor w) { return rc::vmap([w](Tensor x) { return rc::sin(x * w).prod(); })(x).sum(); };
  const auto ranks = [&](Tensor w) { return rc::mpi::vmap([w](Tensor x) { return rc::sin(x * w).prod(); })(x).sum(); };
  expect_close(rc::grad(ranks)(w), rc::grad(here)(w));
  expect_close(rc::hessian(ranks)(w), rc::hessian(here)(w));
  expect_close(std::get<1>(rc::jvp(ranks, w, w)), std::get<1>(rc::jvp(here, w, w)));
}

TEST(MpiVmap, OfOwnRowsHasTheDerivativesOfTheirSum) {
  const Tensor w = ramp({3}), x = ramp({7, 3});
  const auto f = [](Tensor w, Tensor x) { return rc::sin(x * w).prod(); };
  const auto here = [&](Tensor w) { return rc::vmap(f, {.in_dims = {rc::none, 0}})(w, x).sum(); };
  const auto ranks = [&](Tensor w) {
    const Tensor mine = rc::mpi::vmap(f, {.in_dims = {rc::none, 0}, .rows = my_rows, .results = my_rows})(w, own(x));
    return rc::mpi::sum(mine.sum());
  };
  expect_close(rc::grad(ranks)(w), rc::grad(here)(w));
  expect_close(rc::hessian(ranks)(w), rc::hessian(here)(w));
}

TEST(MpiVmap, GivesTheDerivativesByTheWholeArgumentOnEveryRank) {
  const Tensor x = ramp({7, 3});
  const auto f = [](Tensor x) { return rc::sin(x).prod(); };
  const auto ranks = [&](Tensor x) { return rc::mpi::vmap(f)(x).square().sum(); };
  const auto here = [&](Tensor x) { return rc::vmap(f)(x).square().sum(); };
  expect_equal(rc::grad(ranks)(x), rc::grad(here)(x));
}

}  // namespace
