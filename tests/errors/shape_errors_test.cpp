// What operations say of shapes, sizes and dtypes that do not fit.
#include <functional>

#include "support/expect_error.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

const auto ones = [](std::vector<std::int64_t> sizes) { return rc::ones(rc::Shape(sizes)); };

TEST(BroadcastErrors, InsideVmapShowOneExample) {
  const Tensor x = ones({5, 3}), y = ones({5, 4});
  expect_error<rc::ValueError>([&] { rc::vmap([](Tensor a, Tensor b) { return a * b; })(x, y); },
                               "mul: shapes do not broadcast: f32[3] and f32[4]; axis -1 is 3 against 4, "
                               "and neither is 1\n  inside vmap over axis 0 of 5{at}",
                               {x, y});
}

TEST(BroadcastErrors, PrintOperandsBeforePromotion) {
  expect_error<rc::ValueError>([] { ones({3}) / rc::ones({2}, rc::int64); },
                               "div: shapes do not broadcast: f32[3] and i64[2]; axis -1 is 3 against 2, "
                               "and neither is 1");
}

TEST(MatmulErrors, InnerSizes) {
  const Tensor x = ones({8, 3}), y = ones({4, 5});
  expect_error<rc::ValueError>([&] { rc::matmul(x, y); },
                               "matmul: inner sizes differ: left is f32[8,3], right is f32[4,5]; "
                               "left axis 1 (3) must equal right axis 0 (4)",
                               {x, y});
}

TEST(MatmulErrors, InnerSizesOfAVector) {
  expect_error<rc::ValueError>([] { rc::matmul(ones({2, 8, 3}), ones({4})); },
                               "matmul: inner sizes differ: left is f32[2,8,3], right is f32[4]; "
                               "left axis 2 (3) must equal right axis 0 (4)");
}

TEST(MatmulErrors, InnerSizesInsideVmapOfGrad) {
  const Tensor x = ones({64, 8, 3}), y = ones({4, 5});
  const auto f = [&](Tensor a) { return matmul(a, y).sum(); };
  expect_error<rc::ValueError>([&] { rc::vmap(rc::grad(f))(x); },
                               "matmul: inner sizes differ: left is f32[8,3], right is f32[4,5]; "
                               "left axis 1 (3) must equal right axis 0 (4)\n"
                               "  inside grad{at}, inside vmap over axis 0 of 64{at}",
                               {x, y});
}

TEST(MatmulErrors, OperandsWithoutAxes) {
  expect_error<rc::ValueError>([] { rc::matmul(ones({3}).sum(), ones({3})); },
                               "matmul: needs operands of at least 1 axis: left is f32[], right is f32[3]; "
                               "use mul for numbers");
}

TEST(MatmulErrors, BatchAxes) {
  expect_error<rc::ValueError>([] { rc::matmul(ones({2, 3, 4}), ones({3, 4, 5})); },
                               "matmul: shapes do not broadcast: f32[2,3,4] and f32[3,4,5]; axis -3 is 2 against 3, "
                               "and neither is 1");
}

TEST(ReshapeErrors, InferredSize) {
  expect_error<rc::ValueError>([] { ones({2, 3}).reshape({4, -1}); },
                               "reshape: f32[2,3] has 6 elements, which do not fill the shape [4,-1]");
  expect_error<rc::ValueError>([] { ones({2, 3}).reshape({-1, -1}); },
                               "reshape: the shape [-1,-1] leaves more than one size to infer");
}

TEST(ReshapeErrors, InsideVmapCountOneExample) {
  const Tensor x = ones({5, 2, 3});
  expect_error<rc::ValueError>([&] { rc::vmap([](Tensor a) { return a.reshape({30}); })(x); },
                               "reshape: f32[2,3] has 6 elements, the shape [30] needs 30\n"
                               "  inside vmap over axis 0 of 5{at}",
                               {x});
}

TEST(ConcatenationErrors, Cat) {
  const Tensor x = ones({2, 3}), y = ones({2, 4});
  expect_error<rc::ValueError>([&] { rc::cat({x, y}, 0); },
                               "cat: operand 1 is f32[2,4], operand 0 is f32[2,3]; "
                               "all sizes but those of axis 0 must agree",
                               {x, y});
  expect_error<rc::ValueError>([] { rc::cat({ones({2, 3}), ones({2, 3}), ones({3, 3})}, -1); },
                               "cat: operand 2 is f32[3,3], operand 0 is f32[2,3]; "
                               "all sizes but those of axis 1 must agree");
  // An empty list before them adds nothing, and counts.
  expect_error<rc::ValueError>([] { rc::cat({rc::zeros({0}), ones({2, 3}), ones({2, 4})}, 0); },
                               "cat: operand 2 is f32[2,4], operand 1 is f32[2,3]; "
                               "all sizes but those of axis 0 must agree");
}

TEST(ConcatenationErrors, NoOperands) {
  expect_error<rc::ValueError>([] { rc::cat(std::vector<Tensor>(), 0); },
                               "cat: needs at least one tensor; pass it in the list");
  expect_error<rc::ValueError>([] { rc::stack(std::vector<Tensor>(), 0); },
                               "stack: needs at least one tensor; pass it in the list");
}

TEST(WriteErrors, AnExpandedTarget) {
  const Tensor x = ones({3});
  expect_error<rc::ValueError>([&] { x.expand({2, 3}).add_(1); },
                               "add_: the target f32[2,3] is expanded: several of its elements are one in memory; "
                               "write to a clone() of it",
                               {x});
}

TEST(SizeErrors, NegativeSizes) {
  expect_error<rc::ValueError>([] { ones({3}).new_zeros({-1}); }, "new_zeros: the shape [-1] has a negative size");
}

TEST(SizeErrors, ItemOfManyElements) {
  const Tensor x = ones({3});
  expect_error<rc::ValueError>([&] { x.item<double>(); },
                               "item: f32[3] has 3 elements, exactly one is needed; use to_vector for all of them",
                               {x});
  expect_error<rc::ValueError>([] { ones({0}).item<double>(); },
                               "item: f32[0] has 0 elements, exactly one is needed; use to_vector for all of them");
}

TEST(SizeErrors, BoolOfManyElements) {
  const Tensor x = ones({3});
  expect_error<rc::ValueError>(
      [&] {
        if (x > 0) ADD_FAILURE();
      },
      "bool: bool[3] has 3 elements, exactly one is needed; use any or all, and & and | in place of && and ||", {x});
}

TEST(UndefinedErrors, WhereATensorIsReadOrWritten) {
  const Tensor x = ones({3}), none;
  expect_error<rc::ValueError>([&] { none.item<double>(); },
                               "item: operand 0 is an undefined Tensor; give it a value first");
  expect_error<rc::ValueError>([&] { none.shape(); }, "shape: operand 0 is an undefined Tensor; give it a value first");
}

TEST(InPlaceErrors, NameTheMethodThatWasCalled) {
  const Tensor x = ones({3}), y = ones({2}), places = rc::tensor({1, 2, 3});
  expect_error<rc::ValueError>(
      [&] { x.add_(y); }, "add_: shapes do not broadcast: f32[3] and f32[2]; axis -1 is 3 against 2, and neither is 1",
      {x, y});
  expect_error<rc::ValueError>(
      [&] { rc::vmap([](Tensor a, Tensor b) { return a.mul_(b); })(ones({4, 3}), ones({4, 2})); },
      "mul_: shapes do not broadcast: f32[3] and f32[2]; axis -1 is 3 against 2, and neither is 1"
      "\n  inside vmap over axis 0 of 4{at}");
  expect_error<rc::ValueError>(
      [&] { rc::add_out(x, x.clone(), y); },
      "add_out: shapes do not broadcast: f32[3] and f32[2]; axis -1 is 3 against 2, and neither "
      "is 1",
      {x, y});
  expect_error<rc::ValueError>([&] { x.mul_(Tensor()); },
                               "mul_: operand 1 is an undefined Tensor; give it a value first", {x});
}

TEST(SizeErrors, MoreElementsThanMemoryHolds) {
  const std::string rest = " has more elements than memory can hold; make it smaller";
  expect_error<rc::ValueError>([] { ones({std::int64_t{1} << 50}); }, "ones: f32[1125899906842624]" + rest);
  expect_error<rc::ValueError>([] { rc::zeros({std::int64_t{1} << 40, std::int64_t{1} << 40}); },
                               "zeros: the shape [1099511627776,1099511627776]" + rest);
  const Tensor x = ones({1});
  expect_error<rc::ValueError>([&] { x.expand({std::int64_t{1} << 50}) + 1; }, "add: f32[1125899906842624]" + rest,
                               {x});
  expect_error<rc::ValueError>([&] { x.expand({std::int64_t{1} << 50}).clone(); },
                               "clone: f32[1125899906842624]" + rest, {x});
}

// ── products of sizes that no number holds ──

constexpr std::int64_t huge = std::int64_t{1} << 62;

std::string too_many(const std::string& op, const std::string& shape) {
  return op + ": the shape " + shape + " has more elements than memory can hold; make it smaller";
}

TEST(SizeErrors, ProductsThatOverflow) {
  const Tensor x = ones({1}), none = ones({0}), wide = rc::expand(x, {std::int64_t{1} << 40});
  const std::string shape = "[4611686018427387904,4]";
  expect_error<rc::ValueError>([&] { rc::expand(x, {huge, 4}); }, too_many("expand", shape), {x});
  expect_error<rc::ValueError>([&] { x.expand({huge, 4, 0, 1}); }, too_many("expand", "[4611686018427387904,4,0,1]"),
                               {x});
  expect_error<rc::ValueError>([&] { rc::reshape(none, {huge, 4}); }, too_many("reshape", shape), {none});
  expect_error<rc::ValueError>([&] { rc::view(none, {huge, 4, -1}); }, too_many("view", "[4611686018427387904,4,-1]"),
                               {none});
  expect_error<rc::ValueError>([] { rc::zeros({huge, 4}); }, too_many("zeros", shape));
  expect_error<rc::ValueError>([] { rc::rand({huge, 4}); }, too_many("rand", shape));
  expect_error<rc::ValueError>([&] { rc::repeat(x, {huge, 4}); }, too_many("repeat", shape), {x});
  expect_error<rc::ValueError>([&] { rc::repeat_interleave(ones({4}), huge, 0); },
                               too_many("repeat_interleave", "[4,4611686018427387904]"));
  expect_error<rc::ValueError>([&] { rc::kron(wide, wide); }, too_many("kron", "[1099511627776,1099511627776]"));
  expect_error<rc::ValueError>([&] { rc::unfold(wide, 0, std::int64_t{1} << 39, 1); },
                               too_many("unfold", "[549755813889,549755813888]"));
  expect_error<rc::ValueError>(
      [&] { rc::as_strided(x, {huge, 1}, {4, 0}); },
      "as_strided: the sizes [4611686018427387904,1] and strides [4,0] reach further than a 64-bit number counts; make "
      "them smaller",
      {x});
}

TEST(SizeErrors, StridesThatDoNotFit) {
  const Tensor x = ones({6});
  expect_error<rc::ValueError>(
      [&] { rc::as_strided(x, {2, 3}, {3, 1}, 1); },
      "as_strided: the view reaches from element 1 5 further, f32[6] has 6 elements; stay inside "
      "them",
      {x});
  expect_error<rc::ValueError>([&] { x.new_empty_strided({2, 3}, {1}); },
                               "new_empty_strided: 1 stride for the sizes [2,3]; give one for each", {x});
  expect_error<rc::ValueError>([&] { x.new_empty_strided({2}, {-1}); },
                               "new_empty_strided: stride -1 is negative; strides count from 0", {x});
}

TEST(SizeErrors, SumsThatOverflow) {
  const Tensor x = ones({1}), wide = x.expand({huge});
  EXPECT_THROW(rc::pad(x, {huge, huge}), rc::ValueError);
  EXPECT_THROW(rc::cat({wide, wide}), rc::ValueError);
  EXPECT_THROW(rc::diag_embed(x, huge, 0, 1), rc::ValueError);
  expect_error<rc::ValueError>([] { rc::arange(1e30); },
                               "arange: from 0 to 1e+30 by 1 has more elements than memory can hold; make it shorter");
}

TEST(SizeErrors, MorePiecesThanMemoryHolds) {
  const Tensor x = ones({4}), empty = ones({0}), wide = ones({0}).unsqueeze(1).expand({0, huge});
  const auto rest = [](const std::string& count) {
    return ": " + count + " pieces are more than memory can hold; ask for fewer";
  };
  expect_error<rc::ValueError>([&] { rc::tensor_split(x, INT64_MAX); }, "tensor_split" + rest("9223372036854775807"),
                               {x});
  expect_error<rc::ValueError>([&] { rc::chunk(empty, INT64_MAX); }, "chunk" + rest("9223372036854775807"), {empty});
  expect_error<rc::ValueError>([&] { rc::unbind(wide, 1); }, "unbind" + rest(std::to_string(huge)));
  expect_error<rc::ValueError>([&] { rc::split(wide, 1, 1); }, "split" + rest(std::to_string(huge)));
}

TEST(IndexErrors, OfTensorsWithoutAxes) {
  const Tensor x = number(1), two = rc::tensor({0, 0});
  const std::string rest = ": the index i64[2] must name 1 place, as f64[] has no axis";
  expect_error<rc::ValueError>([&] { rc::index_select(x, 0, two); }, "index_select" + rest, {x});
  expect_error<rc::ValueError>([&] { rc::index_add(x, 0, two, x); }, "index_add" + rest, {x});
  expect_error<rc::ValueError>([&] { rc::index_fill(x, 0, two, 1); }, "index_fill" + rest, {x});
  expect_error<rc::IndexError>([&] { rc::index_add(x, 0, rc::tensor(1), x); },
                               "index_add: index 1 is out of range for axis 0 of f64[]; the legal range is [0, 0]",
                               {x});
  expect_error<rc::IndexError>([&] { rc::index_fill(x, -1, rc::tensor(-2), 1); },
                               "index_fill: index -2 is out of range for axis 0 of f64[]; the legal range is [-1, 0]",
                               {x});
}

TEST(IndexErrors, RowsThatDoNotFit) {
  const Tensor x = ones({2, 3}), i = rc::tensor({0, 1});
  expect_error<rc::ValueError>([&] { rc::index_add(x, 1, i, ones({2, 3})); },
                               "index_add: the source f32[2,3] does not broadcast to [2,2], one place for each index "
                               "along axis 1 of f32[2,3]",
                               {x});
  expect_error<rc::ValueError>([&] { rc::index_fill(x, 0, i, ones({3})); },
                               "index_fill: the value f32[3] must be a number or a 0-dim tensor", {x});
  expect_error<rc::ValueError>([&] { rc::take_along_dim(x, rc::zeros({3, 1}, rc::int64), 1); },
                               "take_along_dim: the index i64[3,1] does not broadcast against f32[2,3] along axis 0",
                               {x});
}

// ── complex operands of operations on real numbers ──

TEST(ShapeErrors, ASourceWithOtherAxesThanItsIndex) {
  const Tensor x = rc::ones({2, 3}), index = rc::tensor({{0, 1, 2}}), src = rc::ones({3});
  const std::string finding = ": the source f32[3] must have as many axes as the index i64[1,3]";
  expect_error<rc::ValueError>([&] { rc::scatter(x, 1, index, src); }, "scatter" + finding, {x, index, src});
  expect_error<rc::ValueError>([&] { rc::scatter_add(x, 1, index, src); }, "scatter_add" + finding, {x, index, src});
  expect_error<rc::ValueError>([&] { rc::scatter(x, 1, index, rc::ones({1, 1, 3})); },
                               "scatter: the source f32[1,1,3] must have as many axes as the index i64[1,3]", {x});
}

TEST(ShapeErrors, NameTheCallOfTheUser) {
  const Tensor x = rc::ones({2, 3}), places = rc::tensor({0, 1});
  const rc::Ragged narrow{rc::ones({3, 2}), rc::tensor({0, 1, 3})}, wide{rc::ones({3, 4}), rc::tensor({0, 1, 3})};
  const std::string differ = "operand 1 is f32[3,4], operand 0 is f32[3,2]; all sizes but those of axis 0 must agree";
  expect_error<rc::ValueError>([&] { rc::stack_rows({narrow, wide}); }, "stack_rows: " + differ);
  expect_error<rc::ValueError>([&] { rc::cat_rows({narrow, wide}); }, "cat_rows: " + differ);
  expect_error<rc::ValueError>([&] { narrow.pad(rc::ones({2})); },
                               "pad: the value f32[2] has 1 axis; pass a number or a 0-dim tensor");
}

}  // namespace
