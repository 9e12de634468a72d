// Joining, repeating and rearranging: values, sharing, derivatives and batching that the laws cannot say.
#include <cmath>

#include "support/expect_error.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

TEST(Cat, OfManyTensorsIsDifferentiable) {
  const auto f = [](Tensor x) {
    const std::vector<Tensor> parts = rc::unbind(x);
    return (rc::stack(parts) * rc::arange(100)).sum();
  };
  expect_close(rc::grad(f)(rc::ones({100})), rc::arange(100, rc::float32));
  expect_values(rc::vmap(f)(rc::ones({2, 100})), {4950, 4950});
}

TEST(Cat, OfMappedAndUnmappedTensorsHoldsBoth) {
  const Tensor one = rc::tensor({9.}), x = rc::tensor({{1., 2.}, {3., 4.}});
  expect_values(rc::vmap([&](Tensor a) { return rc::cat({one, a}); })(x), {9, 1, 2, 9, 3, 4});
}

TEST(Triangle, KeepsOneSideOfADiagonal) {
  const Tensor x = rc::ones({3, 3});
  expect_values(rc::tril(x), {1, 0, 0, 1, 1, 0, 1, 1, 1});
  expect_values(rc::triu(x), {1, 1, 1, 0, 1, 1, 0, 0, 1});
  expect_values(rc::triu(x, 1), {0, 1, 1, 0, 0, 1, 0, 0, 0});
  expect_values(rc::tril(x, -1), {0, 0, 0, 1, 0, 0, 1, 1, 0});
  expect_values(rc::tril(rc::ones({2, 1, 2})), {1, 0, 1, 0});
  EXPECT_EQ(values(rc::tril(rc::full({2, 2}, HUGE_VAL))), (Values{HUGE_VAL, 0, HUGE_VAL, HUGE_VAL}));  // not inf * 0
}

TEST(Triangle, IsPackedRowAfterRowAndUnpackedAmongZeros) {
  const Tensor x = rc::arange(9).reshape({3, 3});
  expect_values(rc::tril_pack(x), {0, 3, 4, 6, 7, 8});
  expect_values(rc::tril_pack(x, -1), {3, 6, 7});
  expect_values(rc::tril_pack(x, 1), {0, 1, 3, 4, 5, 6, 7, 8});
  expect_values(rc::tril_pack(x.t()), {0, 1, 4, 2, 5, 8});
  for (std::int64_t diagonal : {-4, -3, -1, 0, 1, 2, 5})
    expect_equal(rc::tril_unpack(rc::tril_pack(x, diagonal), 3, diagonal), rc::tril(x, diagonal));
  const Tensor stack = rc::arange(24).reshape({2, 3, 4}).slice(2, 0, 3);
  expect_equal(rc::tril_unpack(rc::tril_pack(stack), 3), rc::tril(stack));
  EXPECT_EQ(sizes(rc::tril_pack(rc::ones({5, 0, 0}))), (Sizes{5, 0}));
  EXPECT_THROW(rc::tril_unpack(rc::ones({0}), -1), rc::ValueError);
}

TEST(Scatter, ReplacesARegionOfACopy) {
  const Tensor x = rc::zeros({2, 3});
  expect_values(rc::select_scatter(x, rc::tensor({1., 2.}), 1, -1), {0, 0, 1, 0, 0, 2});
  expect_values(rc::slice_scatter(x, rc::ones({2, 2}), 1, 0, 3, 2), {1, 0, 1, 1, 0, 1});
  expect_values(rc::diagonal_scatter(x, rc::tensor({7, 8}), 1, 0, 1), {0, 7, 0, 0, 0, 8});
  expect_values(x, Values(6, 0));
}

TEST(Scatter, OfSeveralToOnePlaceOnlyTheLastHasAGradient) {
  const Tensor places = rc::tensor({0, 1, 0}), values = rc::tensor({1., 2., 4.});
  const auto by_index = [&](Tensor v) {
    const Tensor y = rc::zeros({2});
    y[places] = v;
    return y;
  };
  const auto by_scatter = [&](Tensor v) { return rc::scatter(rc::zeros({2}), 0, places, v); };
  expect_values(by_index(values), {4, 2});
  expect_values(by_scatter(values), {4, 2});
  expect_values(rc::jacrev(by_index)(values), {0, 0, 1, 0, 1, 0});
  expect_values(rc::jacrev(by_scatter)(values), {0, 0, 1, 0, 1, 0});
  expect_values(rc::jacfwd(by_index)(values), {0, 0, 1, 0, 1, 0});
  const auto slope = [](Tensor v, Tensor to) {
    return rc::grad([&](Tensor w) { return rc::square(rc::scatter(rc::zeros({5}), 0, to, w)).sum(); })(v);
  };
  const rc::Program program = rc::trace(slope)(values, places);
  expect_values(program({rc::ones({4}), rc::tensor({0, 1, 0, 4})})[0], {0, 2, 2, 2});
}

TEST(TensorSplit, TakesIndicesFromTheBackAndBeyondTheEnd) {
  const auto parts = rc::tensor_split(rc::arange(6), {1, -2, 3, 9});
  const std::vector<Values> expected{{0}, {1, 2, 3}, {}, {3, 4, 5}, {}};
  ASSERT_EQ(parts.size(), expected.size());
  for (std::size_t i = 0; i < parts.size(); ++i) EXPECT_EQ(values(parts[i]), expected[i]) << i;
  const Tensor base = rc::zeros({4});
  rc::tensor_split(base, {1})[1].fill_(1);
  expect_values(base, {0, 1, 1, 1});
}

TEST(TensorSplit, AListOfOneIndexIsNoNumberOfSections) {
  const Tensor x = rc::zeros({4, 4, 4});
  const rc::Size size = 1;
  for (const auto& parts : {rc::tensor_split(x, {1}), rc::tensor_split(x, {size}), rc::tensor_split(x, {1}, 1),
                            x.tensor_split({1}), rc::hsplit(x, {1}), rc::vsplit(x, {1}), rc::dsplit(x, {1})})
    EXPECT_EQ(parts.size(), 2U);
  for (const auto& parts : {rc::tensor_split(x, {}), rc::tensor_split(x, 1), rc::hsplit(x, 1)})
    EXPECT_EQ(parts.size(), 1U);
}

}  // namespace
