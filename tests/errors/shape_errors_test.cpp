// What operations say of shapes, sizes and dtypes that do not fit.
#include <functional>

#include "support/expect_error.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

const auto ones = [](std::vector<std::int64_t> sizes) { return rc::ones(rc::Shape(sizes)); };

TEST(BroadcastErrors, TwoOperands) {
  const Tensor x = ones({2, 3}), y = ones({4});
  expect_error<rc::ValueError>([&] { x + y; },
                               "add: shapes do not broadcast: f32[2,3] and f32[4]; axis -1 is 3 against 4, "
                               "and neither is 1",
                               {x, y});
  expect_error<rc::ValueError>([&] { rc::mul(ones({2, 3}), ones({3, 3})); },
                               "mul: shapes do not broadcast: f32[2,3] and f32[3,3]; axis -2 is 2 against 3, "
                               "and neither is 1");
}

TEST(BroadcastErrors, ThreeOperands) {
  expect_error<rc::ValueError>([] { rc::where(ones({3}) > 0, ones({4}), ones({3})); },
                               "where: shapes do not broadcast: bool[3], f32[4] and f32[3]; axis -1 is 3 against 4, "
                               "and neither is 1");
}

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

TEST(ReshapeErrors, Numel) {
  const Tensor x = ones({2, 3});
  expect_error<rc::ValueError>([&] { x.reshape({4, 2}); }, "reshape: f32[2,3] has 6 elements, the shape [4,2] needs 8",
                               {x});
  expect_error<rc::ValueError>([&] { x.view({5}); }, "view: f32[2,3] has 6 elements, the shape [5] needs 5", {x});
  expect_error<rc::ValueError>([] { ones({1}).reshape({0}); }, "reshape: f32[1] has 1 element, the shape [0] needs 0");
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

TEST(ExpandErrors, Sizes) {
  expect_error<rc::ValueError>([] { ones({3}).expand({2, 4}); },
                               "expand: f32[3] does not expand to [2,4]; axis -1 is 3 against 4, and is not 1");
}

TEST(ExpandErrors, TooFewAxes) {
  expect_error<rc::ValueError>([] { ones({2, 3}).expand({3}); },
                               "expand: f32[2,3] has 2 axes, the shape [3] has only 1");
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

TEST(ConcatenationErrors, Stack) {
  expect_error<rc::ValueError>([] { rc::stack({ones({3}), ones({4})}, 0); },
                               "stack: operand 1 is f32[4], operand 0 is f32[3]; all shapes must agree");
}

TEST(WriteErrors, CopyOfASourceThatDoesNotBroadcast) {
  const Tensor x = ones({3}), y = rc::zeros({4});
  expect_error<rc::ValueError>([&] { x.copy_(y); },
                               "copy_: the source f32[4] does not broadcast to the target f32[3]; "
                               "reshape or expand it to that shape",
                               {x, y});
  expect_error<rc::ValueError>([&] { x[0] = y; },
                               "copy_: the source f32[4] does not broadcast to the target f32[]; "
                               "reshape or expand it to that shape",
                               {x, y});
}

TEST(WriteErrors, AResultLargerThanTheTarget) {
  const Tensor x = ones({3}), y = ones({2, 3});
  expect_error<rc::ValueError>(
      [&] { x.add_(y); }, "add_: the result f32[2,3] does not fit the target f32[3]; a write keeps its target's shape",
      {x, y});
  expect_error<rc::ValueError>([&] { rc::add_out(x, y, y); },
                               "add_out: the result f32[2,3] does not fit the target f32[3]; "
                               "a write keeps its target's shape",
                               {x, y});
}

TEST(WriteErrors, AResultOfAHigherKindThanTheTarget) {
  const Tensor x = rc::ones({3}, rc::int64), y = ones({3});
  expect_error<rc::TypeError>([&] { x.add_(y); },
                              "add_: the result is f32, which does not convert to the target i64[3]; "
                              "convert an operand, or use the out-of-place operation",
                              {x, y});
}

TEST(WriteErrors, AnExpandedTarget) {
  const Tensor x = ones({3});
  expect_error<rc::ValueError>([&] { x.expand({2, 3}).add_(1); },
                               "add_: the target f32[2,3] is expanded: several of its elements are one in memory; "
                               "write to a clone() of it",
                               {x});
}

TEST(DtypeErrors, MeanOfIntegers) {
  const Tensor x = rc::ones({3}, rc::int64);
  const std::string rest =
      "i64[3] is neither floating nor complex; convert it first, for example with x.to(rc::float32)";
  expect_error<rc::TypeError>([&] { x.mean(); }, "mean: " + rest, {x});
  expect_error<rc::TypeError>([&] { rc::softmax(x, 0); }, "softmax: " + rest, {x});
}

TEST(SizeErrors, NegativeSizes) {
  expect_error<rc::ValueError>([] { rc::zeros({2, -1}); }, "zeros: the shape [2,-1] has a negative size");
  expect_error<rc::ValueError>([] { rc::ones({-3}); }, "ones: the shape [-3] has a negative size");
  expect_error<rc::ValueError>([] { ones({3}).new_zeros({-1}); }, "new_zeros: the shape [-1] has a negative size");
}

TEST(SizeErrors, RaggedBraces) {
  expect_error<rc::ValueError>([] { rc::tensor({{1., 2.}, {1., 2., 3.}}); },
                               "tensor: the braces are ragged: a list of 2 and a list of 3 stand at axis 1");
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

TEST(UndefinedErrors, NameTheOperand) {
  const Tensor x = ones({3}), none;
  expect_error<rc::ValueError>([&] { x + none; }, "add: operand 1 is an undefined Tensor; give it a value first", {x});
  expect_error<rc::ValueError>([&] { sin(none); }, "sin: operand 0 is an undefined Tensor; give it a value first");
  expect_error<rc::ValueError>([&] { none.sum(); }, "sum: operand 0 is an undefined Tensor; give it a value first");
  expect_error<rc::ValueError>([&] { rc::cat({x, none}, 0); },
                               "cat: operand 1 is an undefined Tensor; give it a value first", {x});
}

TEST(UndefinedErrors, WhereATensorIsReadOrWritten) {
  const Tensor x = ones({3}), none;
  expect_error<rc::ValueError>([&] { none.item<double>(); },
                               "item: operand 0 is an undefined Tensor; give it a value first");
  expect_error<rc::ValueError>([&] { none.shape(); }, "shape: operand 0 is an undefined Tensor; give it a value first");
  expect_error<rc::ValueError>([&] { none.add_(x); }, "add_: operand 0 is an undefined Tensor; give it a value first",
                               {x});
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

TEST(SizeErrors, PiecesOfATensorWithoutAxes) {
  const Tensor x = number(1);
  const std::string rest = ": axis 0 is out of range: f64[] has no axes";
  expect_error<rc::IndexError>([&] { rc::slice(x, 0, 0, 1); }, "slice" + rest, {x});
  expect_error<rc::IndexError>([&] { rc::narrow(x, 0, 0, 1); }, "narrow" + rest, {x});
  expect_error<rc::IndexError>([&] { rc::select(x, 0, 0); }, "select" + rest, {x});
  expect_error<rc::IndexError>([&] { rc::split(x, 1); }, "split" + rest, {x});
  expect_error<rc::IndexError>([&] { rc::chunk(x, 2); }, "chunk" + rest, {x});
  expect_error<rc::IndexError>([&] { rc::unbind(x); }, "unbind" + rest, {x});
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

TEST(SizeErrors, TensorSplit) {
  const Tensor x = ones({4});
  expect_error<rc::ValueError>([&] { rc::tensor_split(x, 0); }, "tensor_split: sections is 0; it must be at least 1",
                               {x});
  expect_error<rc::IndexError>([&] { rc::tensor_split(rc::sum(x), 2); },
                               "tensor_split: axis 0 is out of range: f32[] has no axes", {x});
}

// ── complex operands of operations on real numbers ──

TEST(ComplexErrors, OfAnElementwiseOperation) {
  const Tensor z = rc::zeros({3}, rc::complex64), x = ones({3});
  const std::string rest = ": not defined for the complex c64; pass real parts, imaginary parts or absolute values";
  expect_error<rc::TypeError>([&] { rc::maximum(z, x); }, "maximum" + rest, {z, x});
  expect_error<rc::TypeError>([&] { floor(z); }, "floor" + rest, {z});
}

TEST(ComplexErrors, SayThatTheOperandIsComplex) {
  const Tensor z = rc::zeros({1, 2, 4, 4}, rc::complex64), v = rc::zeros({3}, rc::complex64), x = ones({3});
  const std::vector<std::function<void()>> calls{
      [&] { rc::maximum(v, v); },
      [&] { floor(v); },
      [&] { relu(v); },
      [&] { rc::lt(v, v); },
      [&] { rc::clamp(v, 0, 1); },
      [&] { erf(v); },
      [&] { rc::atan2(x, v); },
      [&] { rc::sort(v); },
      [&] { rc::topk(v, 1); },
      [&] { rc::median(v); },
      [&] { rc::max(v); },
      [&] { rc::argmax(v); },
      [&] { rc::amin(v, 0); },
      [&] { rc::threshold(v, 0, 0); },
      [&] { rc::max_pool2d(z, 2); },
      [&] { rc::batch_norm(z, Tensor(), Tensor(), Tensor(), Tensor(), true); },
      [&] { rc::layer_norm(v, {3}); },
      [&] { rc::searchsorted(v, v); },
      [&] { rc::huber_loss(v, v, 1); },
      [&] { rc::bernoulli(v); },
      [&] { rc::unique(v); },
      [&] { rc::remainder(v, v); },
      [&] { rc::cross_entropy(v, v); },
  };
  for (std::size_t i = 0; i < calls.size(); ++i) {
    try {
      calls[i]();
      ADD_FAILURE() << "call " << i << " threw nothing";
    } catch (const rc::Error& error) {
      EXPECT_NE(std::string(error.what()).find("complex"), std::string::npos) << i << ": " << error.what();
    }
  }
}

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
  expect_error<rc::ValueError>([&] { rc::index_put(x, {places}, rc::ones({5})); },
                               "index_put: f32[5] does not expand to [2,3]; axis -1 is 5 against 3, and is not 1", {x});
  expect_error<rc::ValueError>([&] { x.index_put_({places}, rc::ones({5})); },
                               "index_put_: f32[5] does not expand to [2,3]; axis -1 is 5 against 3, and is not 1",
                               {x});
  const rc::Ragged narrow{rc::ones({3, 2}), rc::tensor({0, 1, 3})}, wide{rc::ones({3, 4}), rc::tensor({0, 1, 3})};
  const std::string differ = "operand 1 is f32[3,4], operand 0 is f32[3,2]; all sizes but those of axis 0 must agree";
  expect_error<rc::ValueError>([&] { rc::stack_rows({narrow, wide}); }, "stack_rows: " + differ);
  expect_error<rc::ValueError>([&] { rc::cat_rows({narrow, wide}); }, "cat_rows: " + differ);
  expect_error<rc::ValueError>([&] { narrow.pad(rc::ones({2})); },
                               "pad: the value f32[2] has 1 axis; pass a number or a 0-dim tensor");
  expect_error<rc::ValueError>([&] { rc::searchsorted(rc::ones({2, 3}), rc::ones({3, 3})); },
                               "searchsorted: the values f32[3,3] and the sorted values f32[2,3] differ along axis 0; "
                               "give both one size there");
}

}  // namespace
