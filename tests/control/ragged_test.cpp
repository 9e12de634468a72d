// rc::ragged as out_dims: results whose first size differs per example, and what one does with them.
#include <gtest/gtest.h>

#include <cmath>

#include "ricci/ricci.h"
#include "support/expect_error.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Ragged;
using rc::Tensor;
using namespace testing_support;

namespace {

const Tensor some = doubles({1, -2, 3, -4, -5, -6, 7, 8, 9}, {3, 3});

Tensor positive(Tensor x) { return rc::masked_select(x, x > 0); }

Ragged kept() { return rc::vmap(positive, {.out_dims = rc::ragged})(some); }

TEST(RaggedResults, HoldTheValuesOfAllExamplesAndWhereEachStarts) {
  const Ragged r = kept();
  expect_values(r.values, {1, 3, 7, 8, 9});
  expect_values(r.offsets, {0, 2, 2, 5});
  EXPECT_EQ(r.rows(), 3);
  expect_values(r.lengths(), {2, 0, 3});
  expect_values(r[0], {1, 3});
  expect_values(r[-1], {7, 8, 9});
  expect_values(r.row_numbers(), {0, 0, 2, 2, 2});
}

TEST(RaggedResults, DoNotDependOnChunks) {
  for (std::int64_t chunk : {1, 2, 3}) {
    const Ragged r = rc::vmap(positive, {.out_dims = rc::ragged, .chunk_size = chunk})(some);
    expect_equal(r.values, kept().values);
    expect_equal(r.offsets, kept().offsets);
  }
}

TEST(RaggedResults, ComeFromNonzeroUniqueAndMasks) {
  const Tensor xs = doubles({0, 1, 1, 2, 2, 2}, {2, 3});
  const auto [places, distinct, chosen] =
      rc::vmap([](Tensor x) { return std::tuple{rc::nonzero(x), rc::unique(x), Tensor(x[x > 1])}; },
               {.out_dims = rc::ragged})(xs);
  expect_values(places.values, {1, 2, 0, 1, 2});
  expect_values(distinct.values, {0, 1, 2});
  expect_values(distinct.offsets, {0, 2, 3});
  expect_values(chosen.values, {2, 2, 2});
}

TEST(RaggedResults, ComeFromAnOverloadedOperationByName) {
  const Tensor rows = doubles({1, 2, 3, 4}, {2, 2}), masks = rows > 1;
  const rc::Ragged kept = rc::vmap(rc::masked_select, {.out_dims = rc::ragged})(rows, masks);
  expect_values(kept.values, {2, 3, 4});
  expect_values(kept.offsets, {0, 1, 3});
}

TEST(RaggedResults, ComeFromALoopThatCollectsWhereLanesSplit) {
  const auto halvings = [](Tensor x) {
    std::vector<Tensor> all;
    for (; x > 1; x = x / 2) all.push_back(x);
    return all.empty() ? rc::zeros({0}, rc::float64) : rc::stack(all);
  };
  const Ragged r = rc::vmap(halvings, {.out_dims = rc::ragged, .lanes = rc::Lanes::split})(doubles({4, 0.5, 9}));
  expect_values(r.values, {4, 2, 9, 4.5, 2.25, 1.125});
  expect_values(r.lengths(), {2, 0, 4});
}

TEST(RaggedResults, AreDifferentiableInTheirValues) {
  const auto f = [](Tensor xs) {
    const Ragged r = rc::vmap([](Tensor x) { return rc::masked_select(x * x, x > 0); }, {.out_dims = rc::ragged})(xs);
    return (r.sum() * doubles({1, 10, 100})).sum();
  };
  expect_values(rc::grad(f)(some), {2, 0, 6, 0, 0, 0, 1400, 1600, 1800});
  expect_values(std::get<1>(rc::jvp(f, some, rc::ones_like(some))), {4808});
}

TEST(RaggedResults, OfNumbersAreRefused) {
  expect_error<rc::ValueError>(
      [] { rc::vmap([](Tensor x) { return x.sum(); }, {.out_dims = rc::ragged})(some); },
      "vmap: a ragged result needs at least one axis per example, found f64[]; return a tensor "
      "with the values of one example along axis 0{at}",
      {some});
}

TEST(RaggedRows, ReduceEachRow) {
  const Ragged r = kept();
  expect_values(r.sum(), {4, 0, 24});
  expect_values(r.mean(), {2, std::nan(""), 8});
  const Ragged full{r.values, rc::tensor(std::vector<std::int64_t>{0, 1, 3, 5})};
  expect_values(full.max(), {1, 7, 9});
  expect_values(full.min(), {1, 3, 8});
  expect_values(rc::grad([&](Tensor v) { return full.with(v).max().sum(); })(r.values), {1, 0, 1, 0, 1});
}

TEST(RaggedRows, AnEmptyRowHasNoMaximum) {
  expect_error<rc::ValueError>([] { kept().max(); }, "max: row 1 of the Ragged is empty");
}

TEST(RaggedRows, TakeElementwiseOperations) {
  const Ragged r = kept();
  expect_values((r * 2 + r).values, {3, 9, 21, 24, 27});
  expect_values((1 - r).values, {0, -2, -6, -7, -8});
  expect_close(r.map(rc::sin).values, sin(r.values));
}

TEST(RaggedRows, OfOtherLengthsDoNotAdd) {
  const Ragged r = kept(), other{r.values, rc::tensor(std::vector<std::int64_t>{0, 1, 3, 5})};
  expect_error<rc::ValueError>([&] { r + other; }, "Ragged: rows differ in length: 3 rows of f64[5], 3 rows of f64[5]");
}

TEST(RaggedRows, PadAndComeBack) {
  const Ragged r = kept();
  const Tensor padded = r.pad(-1);
  expect_close(padded, doubles({1, 3, -1, -1, -1, -1, 7, 8, 9}, {3, 3}));
  const Ragged back = rc::unpad(padded, r.lengths());
  expect_equal(back.values, r.values);
  expect_equal(back.offsets, r.offsets);
}

TEST(RaggedRows, JoinRowByRowAndBelowEachOther) {
  const Ragged r = kept(), wide = rc::cat_rows({r, r * 10});
  expect_values(wide.values, {1, 3, 10, 30, 7, 8, 9, 70, 80, 90});
  expect_values(wide.lengths(), {4, 0, 6});
  const Ragged tall = rc::stack_rows({r, r});
  expect_values(tall.values, {1, 3, 7, 8, 9, 1, 3, 7, 8, 9});
  expect_values(tall.lengths(), {2, 0, 3, 2, 0, 3});
}

TEST(Ragged, OfNoExamplesHasNoRows) {
  const Tensor none = rc::zeros({0, 4});
  for (const rc::Ragged& r : {rc::vmap([](Tensor x) { return rc::nonzero(x); }, {.out_dims = rc::ragged})(none),
                              rc::vmap([](Tensor x) { return rc::unique(x); }, {.out_dims = rc::ragged})(none)}) {
    EXPECT_EQ(r.rows(), 0);
    EXPECT_EQ(r.values.size(0), 0);
    EXPECT_EQ(r.sum().size(0), 0);
    EXPECT_EQ(r.max().size(0), 0);
    EXPECT_EQ(r.min().size(0), 0);
  }
}

TEST(SizedResults, AreCutOffOrFilledUp) {
  const Tensor x = doubles({0, 1, 0, 2, 3});
  expect_values(rc::nonzero(x, {.size = 4}), {1, 3, 4, -1});
  expect_values(rc::nonzero(x, {.size = 2, .fill = 9}), {1, 3});
  expect_values(rc::masked_select(x, x > 0, {.size = 5, .fill = 7}), {1, 2, 3, 7, 7});
  expect_values(rc::unique(doubles({3, 1, 3, 2}), {.size = 4}), {1, 2, 3, 0});
}

TEST(SizedResults, WorkUnderVmapAndGrad) {
  const auto f = [](Tensor x) { return rc::masked_select(x * x, x > 0, {.size = 2}); };
  expect_close(rc::vmap(f)(some), doubles({1, 9, 0, 0, 49, 64}, {3, 2}));
  expect_close(rc::vmap(rc::grad([&](Tensor x) { return f(x).sum(); }))(some),
               doubles({2, 0, 6, 0, 0, 0, 14, 16, 0}, {3, 3}));
  expect_close(rc::vmap([](Tensor x) { return rc::nonzero(x > 0, {.size = 2}); })(some).to(rc::float64),
               doubles({0, 2, -1, -1, 0, 1}, {3, 2, 1}));
}

}  // namespace
