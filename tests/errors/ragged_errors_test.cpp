// A Ragged is one thing: no axis of its tensors runs over its rows. What maps, stacks or scans refuses it, whatever the
// sizes of its tensors happen to be.
#include "support/expect_error.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

/// Three values in two rows: the total is the number of rows + 1.
rc::Ragged two_rows() { return {doubles({1, 2, 3}), rc::tensor(std::vector<std::int64_t>{0, 1, 3})}; }

const std::string part = ", a part of a Ragged, ";

TEST(RaggedErrors, AsAnArgumentOfVmap) {
  const rc::Ragged r = two_rows();
  const std::string remedy =
      "of which no axis runs over its rows; map over pad(fill) and lengths(), use map for each value, or give it "
      "in_dim none{at}";
  expect_error<rc::ValueError>([&] { rc::vmap([](rc::Ragged q) { return q.values * 2; })(r); },
                               "vmap: argument 0 (values) is f64[3]" + part + remedy);
  const rc::Ragged longer{doubles({1, 2, 3, 4}), r.offsets};
  expect_error<rc::ValueError>([&] { rc::vmap([](rc::Ragged q) { return q.values * 2; })(longer); },
                               "vmap: argument 0 (values) is f64[4]" + part + remedy);
  expect_error<rc::ValueError>(
      [&] { rc::vmap([](std::vector<rc::Ragged> q, Tensor x) { return q[0].values * x; })(std::vector{r}, r.values); },
      "vmap: argument 0 ([0].values) is f64[3]" + part + remedy);
  expect_values(
      rc::vmap([](rc::Ragged q, Tensor x) { return q.sum() * x; }, {.in_dims = {rc::none, 0}})(r, doubles({1, 10})),
      {1, 5, 10, 50});
}

TEST(RaggedErrors, AsAResultOfVmap) {
  const Tensor x = doubles({1, 2});
  const auto f = [](Tensor a) { return two_rows() * a; };
  expect_error<rc::ValueError>([&] { rc::vmap(f)(x); },
                               "vmap: result (values) is f64[3]" + part +
                                   "which cannot be stacked; return a Tensor of it, as sum() or pad(fill), its values "
                                   "with .out_dims = rc::ragged, or give it out_dim none{at}",
                               {x});
  const rc::Ragged one = rc::vmap([](Tensor) { return two_rows(); }, {.out_dims = rc::none})(x);
  expect_values(one.sum(), {1, 5});
}

TEST(RaggedErrors, StackedUnstackedAndScanned) {
  const rc::Ragged r = two_rows();
  const std::string rows = part + "of which no axis runs over its rows; ";
  expect_error<rc::ValueError>(
      [&] { rc::stack_trees(std::vector{r, r}); },
      "stack_trees: values is f64[3]" + rows + "stack them with stack_rows, or take them as r[i]");
  expect_error<rc::ValueError>([&] { rc::unstack_trees(r); }, "unstack_trees: values is f64[3]" + rows +
                                                                  "stack them with stack_rows, or take them as r[i]");
  const auto step = [](Tensor c, rc::Ragged q) { return std::pair{c, q.values}; };
  expect_error<rc::ValueError>(
      [&] { rc::scan(step, number(0), r); },
      "scan: xs (values) is f64[3]" + rows + "scan over pad(fill) and lengths(), or loop over its rows r[i]");
}

/// A ragged vmap inside another one works where the rows are as long in every example; else the outer one is named.
TEST(RaggedErrors, InsideAnotherVmap) {
  const Tensor x = doubles({1, -1, 2, 3, -2, -3}, {2, 3});
  const auto positive = [](Tensor row) {
    return rc::vmap([](Tensor a) { return rc::masked_select(a.expand({2}), a > 0); }, {.out_dims = rc::ragged})(row)
        .sum();
  };
  expect_error<rc::TransformError>(
      [&] { rc::vmap(positive)(x); },
      "masked_select: the size of the result depends on the values of bool[], which differ per example of vmap over "
      "axis 0 of 2{at}; the examples of the vmap inside it may part, its own may not: give it .lanes = "
      "rc::Lanes::split "
      "or .out_dims = rc::ragged too\n  inside vmap over axis 0 of 3{at}, inside vmap over axis 0 of 2{at}",
      {x});
  expect_values(rc::vmap(positive, {.lanes = rc::Lanes::split})(x), {2, 0, 4, 6, 0, 0});
  const auto doubled = [](Tensor row) {
    return rc::vmap([](Tensor a) { return a.expand({2}); }, {.out_dims = rc::ragged})(row).sum();
  };
  expect_values(rc::vmap(doubled)(x), {2, -2, 4, 6, -4, -6});
}

}  // namespace
