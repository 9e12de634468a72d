// Joining, repeating and rearranging: values, sharing, derivatives and batching that the laws cannot say.
#include <cmath>

#include "support/expect_error.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

TEST(Cat, JoinsAlongAnAxis) {
  const Tensor a = rc::arange(4).reshape({2, 2}), b = rc::arange(2).reshape({2, 1});
  expect_values(rc::cat({a, b}, 1), {0, 1, 0, 2, 3, 1});
  expect_values(rc::cat({a, a}), {0, 1, 2, 3, 0, 1, 2, 3});
  EXPECT_EQ(sizes(rc::cat({a, rc::zeros({0, 2})}, -2)), (Sizes{2, 2}));
}

TEST(Cat, PromotesItsOperands) {
  EXPECT_EQ(rc::cat({rc::ones({2}), rc::ones({2}, rc::float64)}).dtype(), rc::float64);
  EXPECT_EQ(rc::cat({rc::ones({2}, rc::int64), rc::ones({2}, rc::float16)}).dtype(), rc::float16);
}

TEST(Cat, OfOneTensorIsACopy) {
  const Tensor x = rc::ones({2});
  EXPECT_FALSE(shares_memory(rc::cat({x}), x));
  EXPECT_FALSE(shares_memory(rc::stack({x}), x));
}

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

TEST(Cat, RefusesTensorsWithoutAxes) {
  expect_error<rc::ValueError>([] { rc::cat({rc::zeros({}), rc::zeros({})}); },
                               "cat: operand 0 is f32[], which has no axis to join along; use stack");
}

TEST(Stack, MakesANewAxis) {
  const Tensor a = rc::tensor({1., 2.}), b = rc::tensor({3., 4.});
  expect_values(rc::stack({a, b}, -1), {1, 3, 2, 4});
  EXPECT_EQ(sizes(rc::stack({rc::zeros({}), rc::zeros({})})), Sizes{2});
}

TEST(Repeat, CopiesTheWhole) {
  const Tensor x = rc::tensor({{1., 2.}, {3., 4.}});
  expect_values(rc::repeat(x, {1, 2}), {1, 2, 1, 2, 3, 4, 3, 4});
  expect_values(rc::repeat(rc::tensor({1., 2.}), {2, 2}), {1, 2, 1, 2, 1, 2, 1, 2});
  expect_values(rc::tile(x, {2}), {1, 2, 1, 2, 3, 4, 3, 4});
  EXPECT_FALSE(shares_memory(rc::repeat(x, {1, 1}), x));
  EXPECT_EQ(sizes(rc::repeat(x, {0, 3})), (Sizes{0, 6}));
  expect_error<rc::ValueError>([&] { rc::repeat(x, {2}); }, "repeat: f32[2,2] has 2 axes, the repeats [2] have only 1");
}

TEST(Flip, RunsBackwards) {
  const Tensor x = rc::arange(6).reshape({2, 3});
  expect_values(rc::flip(x, 1), {2, 1, 0, 5, 4, 3});
  expect_values(rc::flip(x, {0, -1}), {5, 4, 3, 2, 1, 0});
  expect_values(rc::flip(x.t(), 0), {2, 5, 1, 4, 0, 3});
  expect_values(rc::flip(x[0].expand({2, 3}), {0, 1}), {2, 1, 0, 2, 1, 0});
  for (rc::DType dtype : {rc::boolean, rc::int16, rc::float64, rc::complex128})
    expect_values(rc::real(rc::flip(rc::tensor({0, 1, 1}).to(dtype), 0)).to(rc::float64), {1, 1, 0});
}

TEST(Roll, PutsAtTheFrontWhatFallsOff) {
  const Tensor x = rc::arange(6).reshape({2, 3});
  expect_values(rc::roll(x, 1), {5, 0, 1, 2, 3, 4});
  expect_values(rc::roll(x, 4, 1), {2, 0, 1, 5, 3, 4});
  expect_values(rc::roll(x, {1, -1}, {0, 1}), {4, 5, 3, 1, 2, 0});
  EXPECT_FALSE(shares_memory(rc::roll(x, 3, 1), x));
}

TEST(Triangle, KeepsOneSideOfADiagonal) {
  const Tensor x = rc::ones({3, 3});
  expect_values(rc::tril(x), {1, 0, 0, 1, 1, 0, 1, 1, 1});
  expect_values(rc::triu(x), {1, 1, 1, 0, 1, 1, 0, 0, 1});
  expect_values(rc::triu(x, 1), {0, 1, 1, 0, 0, 1, 0, 0, 0});
  expect_values(rc::tril(x, -1), {0, 0, 0, 1, 0, 0, 1, 1, 0});
  expect_values(rc::tril(rc::ones({2, 1, 2})), {1, 0, 1, 0});
  EXPECT_EQ(values(rc::tril(rc::full({2, 2}, HUGE_VAL))), (Values{HUGE_VAL, 0, HUGE_VAL, HUGE_VAL}));  // not inf * 0
  expect_error<rc::ValueError>([] { rc::tril(rc::ones({3})); }, "tril: needs matrices, found f32[3]");
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
  expect_error<rc::ValueError>([] { rc::tril_pack(rc::ones({2, 3})); },
                               "tril_pack: needs square matrices, found f32[2,3]");
  expect_error<rc::ValueError>([] { rc::tril_unpack(rc::ones({5}), 3); },
                               "tril_unpack: matrices of 3 rows have 6 elements on and below diagonal 0, found f32[5]; "
                               "pass the rows and the diagonal that packed it");
  expect_error<rc::ValueError>([] { rc::tril_unpack(rc::ones({}), 3); },
                               "tril_unpack: matrices of 3 rows have 6 elements on and below diagonal 0, found f32[]; "
                               "pass the rows and the diagonal that packed it");
  EXPECT_THROW(rc::tril_unpack(rc::ones({0}), -1), rc::ValueError);
}

TEST(Diagonal, IsEmbeddedInZeros) {
  const Tensor x = rc::tensor({1., 2.});
  expect_values(rc::diag_embed(x), {1, 0, 0, 2});
  expect_values(rc::diag_embed(x, 1, 0, 1), {0, 1, 0, 0, 0, 2, 0, 0, 0});
  EXPECT_EQ(sizes(rc::diag_embed(rc::ones({2, 3, 4}), -1, 0, 2)), (Sizes{5, 2, 5, 3}));
  const Tensor matrix = rc::arange(4).reshape({2, 2});
  expect_values(rc::diag(matrix), {0, 3});
  EXPECT_FALSE(shares_memory(rc::diag(matrix), matrix));
  expect_values(rc::diag(x), {1, 0, 0, 2});
}

TEST(Pad, PutsAConstantAround) {
  const Tensor x = rc::tensor({{1., 2.}, {3., 4.}});
  expect_values(rc::pad(x, {1, 0}), {0, 1, 2, 0, 3, 4});
  expect_values(rc::pad(x, {0, 1, 1, 0}, 9), {9, 9, 9, 1, 2, 9, 3, 4, 9});
  expect_values(rc::pad(x, {-1, 1}), {2, 0, 4, 0});
  expect_values(rc::pad(x, rc::Axes{}), {1, 2, 3, 4});
  expect_error<rc::ValueError>(
      [&] { rc::pad(x, {1, 1, 1}); },
      "pad: the widths [1,1,1] do not fit f32[2,2]; give two for each axis, the last axis first");
}

TEST(Scatter, ReplacesARegionOfACopy) {
  const Tensor x = rc::zeros({2, 3});
  expect_values(rc::select_scatter(x, rc::tensor({1., 2.}), 1, -1), {0, 0, 1, 0, 0, 2});
  expect_values(rc::slice_scatter(x, rc::ones({2, 2}), 1, 0, 3, 2), {1, 0, 1, 1, 0, 1});
  expect_values(rc::diagonal_scatter(x, rc::tensor({7, 8}), 1, 0, 1), {0, 7, 0, 0, 0, 8});
  expect_values(x, Values(6, 0));
  expect_error<rc::ValueError>([&] { rc::select_scatter(x, rc::ones({4}), 0, 0); },
                               "select_scatter: the source f32[4] does not broadcast to the target f32[3]; "
                               "reshape or expand it to that shape",
                               {x});
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
