// vmap is a loop over examples and a stack of results, with the batch taken from and put at any axis.
#include <functional>
#include <string>

#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

/// What vmap means, written as it is said.
Tensor loop(const std::function<Tensor(Tensor)>& f, const Tensor& x, std::int64_t in_dim, std::int64_t out_dim) {
  std::vector<Tensor> results;
  for (const Tensor& example : x.unbind(in_dim)) results.push_back(f(example));
  return rc::stack(results, out_dim);
}

TEST(VmapAxes, IsTheLoopOverExamplesInFloat32BitForBit) {
  const auto f = [](Tensor x) { return sin(x) * exp(-x) + tanh(x); };
  const Tensor x = ramp({9, 13}).to(rc::float32);
  expect_equal(rc::vmap(f)(x), loop(f, x, 0, 0));
}

TEST(VmapAxes, EveryInDimAndOutDimAgreesWithTheLoop) {
  const auto f = [](Tensor x) { return x * x.sum(0); };  // [a,b] -> [a,b]
  const Tensor x = ramp({2, 3, 4});
  for (std::int64_t in_dim = -3; in_dim < 3; ++in_dim) {
    for (std::int64_t out_dim = -3; out_dim < 3; ++out_dim) {
      SCOPED_TRACE("in_dim " + std::to_string(in_dim) + ", out_dim " + std::to_string(out_dim));
      expect_close(rc::vmap(f, {.in_dims = in_dim, .out_dims = out_dim})(x), loop(f, x, in_dim, out_dim));
    }
  }
}

TEST(VmapAxes, ShapesInsideDescribeOneExample) {
  const auto f = [](Tensor x) {
    EXPECT_EQ(sizes(x), (Sizes{2, 4}));
    EXPECT_EQ(x.dim(), 2);
    EXPECT_EQ(x.numel(), 8);
    EXPECT_EQ(x.size(-1), 4);
    return x;
  };
  rc::vmap(f, {.in_dims = 1})(ramp({2, 3, 4}));
}

TEST(VmapAxes, AnArgumentWithInDimNoneIsSharedByAllExamples) {
  const Tensor x = ramp({3, 2}), y = ramp({2});
  const Tensor z = rc::vmap([](Tensor a, Tensor b) { return a * b; }, {.in_dims = {0, rc::none}})(x, y);
  expect_close(z, x * y);
}

TEST(VmapAxes, EachArgumentHasItsOwnInDim) {
  const Tensor x = ramp({2, 3}), y = ramp({3, 5});
  const Tensor z = rc::vmap([](Tensor a, Tensor b) { return dot(a, b); }, {.in_dims = {0, -1}})(x, ramp({3, 2}));
  expect_close(z, (x * ramp({3, 2}).t()).sum(1));
  const Tensor w = rc::vmap([](Tensor a, Tensor b) { return a.sum() + b; }, {.in_dims = {1, 0}})(x, y);
  expect_close(w, x.sum(0).unsqueeze(1) + y);
}

TEST(VmapAxes, ResultsMayHaveTheirOwnOutDims) {
  const Tensor x = ramp({3, 2, 4});
  const auto f = [](Tensor a) { return std::tuple{a, a * 2}; };  // [2,4]
  const auto [y, z] = rc::vmap(f, {.out_dims = {2, -2}})(x);
  expect_close(y, x.permute({1, 2, 0}));
  expect_close(z, (x * 2).transpose(0, 1));
}

TEST(VmapAxes, AListOfOneOutDimIsTheDimOfTheOnlyResult) {
  const auto same = [](Tensor x) { return x; };
  expect_close(rc::vmap(same, {.out_dims = {1}})(ramp({2, 3})), ramp({2, 3}).T());
}

TEST(VmapAxes, OneOutDimCoversAllResults) {
  const Tensor x = ramp({3, 2});
  const auto [y, z] = rc::vmap([](Tensor a) { return std::pair{a, a + 1}; }, {.out_dims = 1})(x);
  expect_close(y, x.t());
  expect_close(z, x.t() + 1);
}

TEST(VmapAxes, AConstantResultIsExpandedToTheBatch) {
  const Tensor constant = ramp({2});
  const Tensor y = rc::vmap([&](Tensor) { return constant; })(ramp({3}));
  expect_close(y, constant.expand({3, 2}));
}

TEST(VmapAxes, OutDimNoneReturnsAnUnbatchedResultAsItIs) {
  const Tensor constant = ramp({2});
  const auto [y, z] =
      rc::vmap([&](Tensor x) { return std::pair{x, constant * 2}; }, {.out_dims = {0, rc::none}})(ramp({3}));
  EXPECT_EQ(sizes(y), (Sizes{3}));
  expect_close(z, constant * 2);
}

TEST(VmapAxes, OutDimNoneIsAnErrorForABatchedResult) {
  EXPECT_THROW(rc::vmap([](Tensor x) { return x; }, {.out_dims = rc::none})(ramp({3})), rc::ValueError);
}

TEST(VmapAxes, NestsOverDifferentAxes) {
  const Tensor x = ramp({2, 3, 4});
  const auto inner = rc::vmap([](Tensor a) { return a.sum(); }, {.in_dims = 1});  // [2,4] -> [4]
  const Tensor y = rc::vmap(inner, {.in_dims = 1})(x);
  expect_close(y, x.sum(0));
}

TEST(VmapAxes, NestedNegativeAxesCountWhatIsVisible) {
  const Tensor x = ramp({2, 3, 4});
  const auto inner = rc::vmap([](Tensor a) { return a * 2; }, {.in_dims = -1, .out_dims = -1});
  expect_close(rc::vmap(inner, {.in_dims = -1, .out_dims = -1})(x), x * 2);
}

TEST(VmapAxes, NestedVmapsOverTwoArgumentsMakeAnOuterProduct) {
  const Tensor x = ramp({3}), y = ramp({4});
  const auto row = rc::vmap([](Tensor a, Tensor b) { return a * b; }, {.in_dims = {rc::none, 0}});
  expect_close(rc::vmap(row, {.in_dims = {0, rc::none}})(x, y), x.unsqueeze(1) * y);
}

TEST(VmapAxes, AnInnerVmapThatUsesOnlyTheOuterValueExpandsIt) {
  const Tensor x = ramp({3}), y = ramp({3, 2});
  const auto outer = [](Tensor a, Tensor row) { return rc::vmap([&](Tensor) { return a; })(row); };
  expect_close(rc::vmap(outer)(x, y), x.unsqueeze(1).expand({3, 2}));
}

TEST(VmapAxes, IdentityReturnsAViewOfItsInput) {
  const Tensor x = ramp({3, 2});
  const Tensor y = rc::vmap([](Tensor a) { return a; })(x);
  expect_close(y, x);
  y.fill_(7);
  expect_values(x, {7, 7, 7, 7, 7, 7});
}

TEST(VmapAxes, IdentityThatMovesTheAxisIsStillAView) {
  const Tensor x = ramp({2, 3});
  const Tensor y = rc::vmap([](Tensor a) { return a; }, {.in_dims = 1, .out_dims = 0})(x);
  expect_close(y, x.t());
  y[2].fill_(-1);
  expect_values(x.select(1, 2), {-1, -1});
}

TEST(VmapAxes, ViewsTakenInsideAreViewsOutside) {
  const Tensor x = ramp({3, 2, 2});
  const Tensor y = rc::vmap([](Tensor a) { return a.diagonal(); })(x);
  EXPECT_TRUE(shares_memory(y, x));
}

TEST(VmapAxes, ABatchOfSizeZeroGivesAnEmptyResultOfTheRightShape) {
  const auto f = [](Tensor x) { return matmul(x, rc::ones({2, 4}, rc::float64)).sum(0); };  // [5,2] -> [4]
  const Tensor y = rc::vmap(f)(rc::zeros({0, 5, 2}, rc::float64));
  EXPECT_EQ(sizes(y), (Sizes{0, 4}));
  EXPECT_EQ(y.dtype(), rc::float64);
}

TEST(VmapAxes, ABatchOfSizeZeroWorksUnderVmapOfGrad) {
  const Tensor y = rc::vmap(rc::grad([](Tensor x) { return (x * x).sum(); }))(rc::zeros({0, 3}));
  EXPECT_EQ(sizes(y), (Sizes{0, 3}));
}

TEST(VmapAxes, ABatchOfSizeOneIsNotSqueezed) {
  expect_close(rc::vmap([](Tensor x) { return x.sum(); })(ramp({1, 3})), ramp({1, 3}).sum(1));
}

TEST(VmapAxes, OperationsPassByName) {
  const Tensor x = ramp({4});
  expect_close(rc::vmap(rc::sin)(x), sin(x));
  expect_close(rc::vmap(rc::add)(x, x), x + x);
  expect_close(rc::vmap(rc::diagonal)(ramp({2, 3, 3})), ramp({2, 3, 3}).diagonal(0, 1, 2));
}

TEST(VmapAxes, ACapturedTensorIsSharedByAllExamples) {
  const Tensor weight = ramp({3, 2}), x = ramp({5, 3});
  expect_close(rc::vmap([&](Tensor a) { return matmul(a, weight); })(x), matmul(x, weight), 1e-12);
}

TEST(VmapAxes, ControlFlowOnShapesIsUntouched) {
  const auto custom_dot = [](Tensor x) {
    if (x.dim() == 1) return dot(x, x);
    return (x * x).sum();
  };
  expect_close(rc::vmap(custom_dot)(ramp({4, 3})), (ramp({4, 3}) * ramp({4, 3})).sum(1));
  expect_close(rc::vmap(custom_dot)(ramp({4})), ramp({4}) * ramp({4}));
}

/// With out_dims none nothing is stacked, so a function may return nothing to stack.
TEST(VmapAxes, OutDimNoneServesAFunctionWithoutATensorInItsResult) {
  const Tensor x = ramp({3, 2}), before = x.clone();
  int runs = 0;
  rc::vmap([&](Tensor a) { a.mul_(2), ++runs; }, {.out_dims = rc::none})(x);
  expect_close(x, before * 2);
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(rc::vmap([](Tensor a) { return a.dim(); }, {.out_dims = rc::none})(x), 1);
  EXPECT_EQ(rc::vmap([](Tensor) { return std::string("one"); }, {.out_dims = rc::none, .chunk_size = 2})(x), "one");
  EXPECT_THROW(rc::vmap([](Tensor) {})(x), rc::TypeError);
  EXPECT_THROW(rc::vmap([](Tensor a) { return a.dim(); })(x), rc::TypeError);
}

}  // namespace
