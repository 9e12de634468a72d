// What PyTorch takes and we once refused or took in another order: sizes of 1 in einsum, weights without an axis,
// negative indices, values of any shape, running statistics before weights.
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

TEST(EinsumBroadcasting, ASizeOf1StandsForTheOthers) {
  const Tensor a = ramp({2, 3}), row = ramp({1, 3}), column = ramp({2, 1}), one = ramp({1, 1}), b = ramp({3, 4});
  expect_close(rc::einsum("ij,ij->ij", a, row), a * row);
  expect_close(rc::einsum("ij,ij->", a, column), (a * column).sum());
  expect_close(rc::einsum("ij,ij", row, column), (row * column).sum());
  expect_close(rc::einsum("ij,jk->ik", column, b), matmul(column.expand({2, 3}), b));
  expect_close(rc::einsum("ij,jk->ik", a, one.expand({1, 4})), matmul(a, one.expand({3, 4})));
  expect_close(rc::einsum("ii,i->i", one, ramp({3})), one[0][0] * ramp({3}));
  expect_close(rc::einsum("i,ii->i", ramp({3}), one), one[0][0] * ramp({3}));
  expect_close(rc::einsum("ij->ji", one), one);
  expect_close(rc::einsum("bij,bjk->bik", ramp({1, 2, 3}), ramp({5, 3, 2})), matmul(ramp({1, 2, 3}), ramp({5, 3, 2})));
  expect_close(rc::einsum("ij,ij,ij->j", row, a, column), (row * a * column).sum(0));
}

TEST(EinsumBroadcasting, DerivativesAndExamplesFollow) {
  const Tensor a = ramp({2, 3}), row = ramp({1, 3});
  const auto f = [&](Tensor x) { return rc::einsum("ij,ij->i", a, x).square().sum(); };
  const auto by_hand = [&](Tensor x) { return (a * x).sum(1).square().sum(); };
  expect_close(rc::grad(f)(row), rc::grad(by_hand)(row));
  const auto each = [&](Tensor x) { return rc::einsum("ij,ij->i", a, x); };
  expect_close(rc::vmap(each)(ramp({4, 1, 3})), (a * ramp({4, 1, 3})).sum(2));
}

TEST(ConvolutionArguments, MayEndAfterTheStrideOrLater) {
  const Tensor x = ramp({1, 2, 5, 5}), w = ramp({2, 2, 3, 3}), b = ramp({2});
  expect_close(rc::conv2d(x, w, b, 2), rc::conv2d(x, w, b, {.stride = 2}));
  expect_close(rc::conv2d(x, w, b, 2, 1), rc::conv2d(x, w, b, {.stride = 2, .padding = 1}));
  expect_close(rc::conv2d(x, w, b, {2, 1}, {1, 0}), rc::conv2d(x, w, b, {.stride = {2, 1}, .padding = {1, 0}}));
  expect_close(rc::conv2d(x, w, b, 1, "same", 2), rc::conv2d(x, w, b, {.padding = "same", .dilation = 2}));
  expect_close(rc::conv_transpose2d(x, w, b, 2), rc::conv_transpose2d(x, w, b, {.stride = 2}));
  expect_close(rc::conv_transpose2d(x, w, b, 2, 1, 1),
               rc::conv_transpose2d(x, w, b, {.stride = 2, .padding = 1, .output_padding = 1}));
}

// A list of torch is one number for each axis.
template <class Options>
concept takes_a_list = requires { Options{2, 2}; };
static_assert(!takes_a_list<rc::ConvOptions> && !takes_a_list<rc::ConvTransposeOptions>);
static_assert(!takes_a_list<rc::InterpolateOptions> && takes_a_list<rc::UnfoldOptions>);

TEST(Unbiased, IsFollowedByKeepdim) {
  const Tensor x = ramp({2, 3});
  expect_close(rc::std(x, 1, false, true), rc::std(x, 1, 0, true));
  expect_close(rc::var(x, 1, true, true), rc::var(x, 1, 1, true));
}

TEST(NewTensors, TakeADtype) {
  const Tensor x = ramp({2});
  EXPECT_EQ(x.new_zeros({3}, rc::int64).dtype(), rc::int64);
  EXPECT_EQ(x.new_ones({3}, rc::boolean).dtype(), rc::boolean);
  EXPECT_EQ(x.new_empty({3}, rc::float32).dtype(), rc::float32);
  expect_close(x.new_full({2}, 3, rc::float32), rc::full({2}, 3, rc::float32));
  EXPECT_EQ(rc::tensor({1., 2.}, {.dtype = rc::int64}).dtype(), rc::int64);
  EXPECT_EQ(rc::tensor(1, {.dtype = rc::float64}).dtype(), rc::float64);
  EXPECT_EQ(rc::tensor(std::vector<double>{1}, {.dtype = rc::float32}).dtype(), rc::float32);
}

TEST(LinearWeights, WithoutAnAxisGiveOneOutput) {
  const Tensor x = ramp({4, 2, 3}), w = ramp({3});
  expect_close(rc::linear(x, w), matmul(x, w));
  expect_close(rc::linear(x[0][0], w), rc::dot(x[0][0], w));
  expect_close(rc::linear(x, w, number(0.5)), matmul(x, w) + 0.5);
  expect_close(rc::vmap([&](Tensor each) { return rc::linear(each, w); })(x), matmul(x, w));
  expect_close(rc::grad([&](Tensor v) { return rc::linear(x, v).sum(); })(w), x.sum({0, 1}));
}

TEST(TakeAlongDim, CountsNegativeIndicesFromTheBack) {
  const Tensor x = ramp({2, 3}), i = rc::tensor({{-1, 0, -3}, {1, -2, 2}});
  expect_equal(rc::take_along_dim(x, i, 1), rc::take_along_dim(x, rc::remainder(i, 3), 1));
  expect_equal(rc::take_along_dim(x, rc::tensor({{-1}}), 1), x.slice(1, 2, 3));
  expect_equal(rc::vmap([](Tensor a, Tensor k) { return rc::take_along_dim(a, k, 0); })(x, i),
               rc::take_along_dim(x, i, 1));
  expect_close(rc::grad([&](Tensor a) { return rc::take_along_dim(a, i, 1).sum(); })(x),
               doubles({2, 0, 1, 0, 2, 1}, {2, 3}));
}

TEST(Searchsorted, TakesValuesOfAnyShape) {
  const Tensor sorted = doubles({1, 3, 5});
  EXPECT_EQ(sizes(rc::searchsorted(sorted, number(4))), Sizes{});
  EXPECT_EQ(rc::searchsorted(sorted, 4).item<std::int64_t>(), 2);
  expect_values(rc::searchsorted(sorted, doubles({0, 1, 2, 9}, {2, 2})), {0, 0, 1, 3});
  EXPECT_EQ(sizes(rc::searchsorted(sorted, doubles({0, 1, 2, 9}, {2, 2}))), (Sizes{2, 2}));
  EXPECT_EQ(sizes(rc::searchsorted(sorted, rc::zeros({0, 2}))), (Sizes{0, 2}));
  expect_values(rc::searchsorted(rc::zeros({0}), rc::ones({2})), {0, 0});
  expect_values(rc::searchsorted(doubles({1, 3, 2, 4}, {2, 2}), doubles({2, 3, 2, 3}, {2, 2})), {1, 1, 0, 1});
}

TEST(ArgumentOrder, EmbeddingTakesTheIndexFirst) {
  const Tensor table = ramp({4, 2}), index = rc::tensor({{3, 0}, {1, 1}});
  expect_equal(rc::embedding(index, table), rc::index_select(table, 0, index.flatten()).reshape({2, 2, 2}));
  expect_equal(rc::embedding(rc::tensor(2), table), table[2]);
  EXPECT_EQ(sizes(rc::embedding(rc::zeros({0}, rc::int64), table)), (Sizes{0, 2}));
}

TEST(ArgumentOrder, TriangularSolveTakesTheRightHandSideFirst) {
  const Tensor a = ramp({3, 3}) + 2 * rc::eye(3, rc::float64), b = ramp({3, 3}) * 2 - 1;
  expect_close(matmul(rc::triu(a), rc::triangular_solve(b, a)), b, 1e-10);
  expect_close(rc::triangular_solve(b, a, {.upper = false}), rc::solve_triangular(a, b, false));
  expect_close(rc::vmap([&](Tensor each) { return rc::triangular_solve(b, each); })(rc::stack({a, a * 2}))[1],
               rc::triangular_solve(b, a * 2));
}

TEST(ArgumentOrder, InstanceNormTakesRunningStatisticsFirst) {
  const Tensor x = rc::sin(ramp({2, 3, 5}) * 7), mean = rc::zeros({3}, rc::float64), var = rc::ones({3}, rc::float64);
  const Tensor weight = ramp({3}), bias = ramp({3}) - 1;
  const Tensor normal = rc::instance_norm(x), column = weight.unsqueeze(1);
  expect_close(rc::instance_norm(x, {}, {}, weight, bias), normal * column + bias.unsqueeze(1));
  expect_close(rc::instance_norm(x, mean, var, {}, {}, true, 0.25, 1e-5), normal);
  expect_close(mean, 0.25 * x.mean(2).mean(0));
  expect_close(var, 0.75 + 0.25 * rc::var(x, 2).mean(0));
  const Tensor by_running = rc::instance_norm(x, mean, var, weight, bias, false);
  expect_close(by_running, rc::batch_norm(x, mean, var, weight, bias, false));
  EXPECT_THROW(rc::instance_norm(x, {}, {}, weight, bias, false), rc::ValueError);
}

TEST(Losses, HuberTakesTheReductionAndDeltaIs1) {
  const Tensor x = ramp({4}) * 3, y = rc::zeros({4}, rc::float64);
  const Tensor each = rc::huber_loss(x, y, rc::Reduction::none, 0.5);
  expect_close(rc::huber_loss(x, y, 0.5), each.mean());
  expect_close(rc::huber_loss(x, y, rc::Reduction::sum, 0.5), each.sum());
  expect_close(rc::huber_loss(x, y), rc::huber_loss(x, y, 1));
  const Tensor p = ramp({3}), q = rc::tensor({0.f, 1.f, 1.f}).to(rc::float64);
  expect_close(rc::binary_cross_entropy(p, q, rc::Reduction::none).mean(), rc::binary_cross_entropy(p, q));
}

TEST(Cross, BroadcastsAndCountsTheAxesOfTheResult) {
  const Tensor a = ramp({3}), b = rc::cos(ramp({4, 3}));
  expect_close(rc::cross(a, b), rc::cross(a.expand({4, 3}), b));
  expect_close(rc::cross(b.t(), a.unsqueeze(1), 0), rc::cross(b, a).t());
}

}  // namespace
