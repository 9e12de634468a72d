// What operations say of operands they cannot take, as the user sees them inside a vmap: one example, not the batch.
#include <string>

#include "support/expect_error.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

const char* const nest = "\n  inside vmap over axis 0 of 5{at}";

/// `call`, given one example of [5, shape…], throws an E with that text and the nest.
template <class E, class Call>
void expect_inside(const std::vector<std::int64_t>& shape, Call call, const std::string& text,
                   std::source_location where = std::source_location::current()) {
  std::vector<std::int64_t> sizes = shape;
  sizes.insert(sizes.begin(), 5);
  const Tensor xs = ramp(sizes);
  const auto f = [&](Tensor x) {
    call(x);
    return x;
  };
  expect_error<E>([&] { rc::vmap(f)(xs); }, text + nest, {xs}, where);
}

TEST(OperandErrors, OfViews) {
  expect_inside<rc::ValueError>(
      {3, 4}, [](Tensor x) { x.movedim({0, 1}, 0); }, "movedim: as many axes must be moved as places are given");
  expect_inside<rc::IndexError>(
      {3, 4}, [](Tensor x) { x.narrow(1, 2, 3); }, "narrow: start 2 and length 3 reach outside axis 1 of f64[3,4]");
  expect_inside<rc::ValueError>(
      {3}, [](Tensor x) { x.unfold(0, 4, 1); }, "unfold: windows of 4 do not fit axis 0 of f64[3]");
  expect_inside<rc::ValueError>(
      {3, 4}, [](Tensor x) { x.flatten(1, 0); }, "flatten: the first axis must not stand behind the last");
  expect_inside<rc::ValueError>(
      {6}, [](Tensor x) { x.as_strided({2, 2}, {1}); }, "as_strided: 1 stride for the sizes [2,2]; give one for each");
  expect_inside<rc::ValueError>(
      {6}, [](Tensor x) { x.as_strided({2}, {-1}); }, "as_strided: stride -1 is negative; strides count from 0");
  expect_inside<rc::ValueError>(
      {6}, [](Tensor x) { x.as_strided({2, 2}, {4, 2}); },
      "as_strided: the view reaches from element 0 6 further, f64[6] has 6 elements; stay inside them");
  expect_inside<rc::ValueError>(
      {5}, [](Tensor x) { rc::split(x, std::vector<std::int64_t>{2, 2}, 0); },
      "split: the sizes do not add up to axis 0 of f64[5]");
  expect_inside<rc::ValueError>(
      {5}, [](Tensor x) { rc::split(x, std::vector<std::int64_t>{4, 2}, 0); },
      "split: the sizes do not add up to axis 0 of f64[5]");
}

TEST(OperandErrors, OfTypeAs) {
  expect_inside<rc::ValueError>(
      {3}, [](Tensor x) { x.type_as(Tensor()); }, "type_as: operand 1 is an undefined Tensor; give it a value first");
}

TEST(OperandErrors, OfRearranging) {
  expect_inside<rc::ValueError>(
      {3}, [](Tensor x) { rc::pad(x, {-2, -2}); }, "pad: the widths cut more than axis 0 of f64[3] has");
  expect_inside<rc::ValueError>(
      {}, [](Tensor x) { rc::diag_embed(x); }, "diag_embed: needs at least 1 axis, found f64[]");
  expect_inside<rc::ValueError>(
      {3}, [](Tensor x) { rc::diag_embed(x, 0, 1, -1); },
      "diag_embed: both axes are axis 1 of the result; they must differ");
  expect_inside<rc::ValueError>(
      {2, 2, 2}, [](Tensor x) { rc::diag(x); }, "diag: needs a vector or a matrix, found f64[2,2,2]");
  expect_inside<rc::ValueError>(
      {3}, [](Tensor x) { x.roll({1, 2}, {0}); },
      "roll: the shifts [1,2] and the axes [0] are not as many; give one shift for each axis");
  expect_inside<rc::ValueError>({2, 2}, [](Tensor x) { rc::meshgrid({x}); }, "meshgrid: needs vectors, found f64[2,2]");
  expect_inside<rc::ValueError>({}, [](Tensor x) { rc::unstack(x); }, "unstack: f64[] has no axis 0 to take apart");
}

TEST(OperandErrors, OfProducts) {
  expect_inside<rc::ValueError>(
      {3, 4}, [](Tensor x) { rc::tensordot(x, x, 3); }, "tensordot: cannot contract 3 axes of f64[3,4] and f64[3,4]");
  expect_inside<rc::ValueError>(
      {3}, [](Tensor x) { rc::linear(x, ramp({2, 4})); },
      "linear: inner sizes differ: the input is f64[3], the weight is f64[2,4]; the last axis of the input must equal "
      "axis 1 of the weight");
  expect_inside<rc::ValueError>(
      {2, 4}, [](Tensor x) { rc::cross(x, x); }, "cross: axis 1 must have size 3 in both: f64[2,4] and f64[2,4]");
  expect_inside<rc::ValueError>(
      {3}, [](Tensor x) { rc::layer_norm(x, {}); },
      "layer_norm: the normalized shape [] has no axis; it must hold at least one");
}

TEST(OperandErrors, OfIndices) {
  expect_inside<rc::ValueError>(
      {4}, [](Tensor x) { rc::index_select(x, 0, rc::tensor({{0, 1}})); },
      "index_select: the index i64[1,2] must have 1 axis");
  expect_inside<rc::TypeError>(
      {4}, [](Tensor x) { rc::index_select(x, 0, x); },
      "index_select: the index f64[4] is not of integers; convert it, for example with x.to(rc::int64)");
  expect_inside<rc::ValueError>(
      {4}, [](Tensor x) { rc::gather(x, 0, rc::tensor({{0, 1}})); },
      "gather: the index i64[1,2] must have as many axes as f64[4]");
  expect_inside<rc::ValueError>(
      {4}, [](Tensor x) { rc::embedding(rc::tensor({0, 1}), x); }, "embedding: the weight f64[4] must have 2 axes");
  expect_inside<rc::TypeError>(
      {4}, [](Tensor x) { rc::one_hot(x, 3); }, "one_hot: the index f64[4] is not of integers");
  expect_inside<rc::ValueError>(
      {4}, [](Tensor x) { rc::nonzero(x, {.size = -1}); }, "nonzero: size is -1; it must not be negative");
  expect_inside<rc::ValueError>(
      {4}, [](Tensor x) { rc::nonzero(x, {.size = 2, .fill = rc::ones({2})}); },
      "nonzero: fill is f32[2]; it must be a number or 0-dim");
  expect_inside<rc::ValueError>(
      {4}, [](Tensor x) { rc::unique(x, {.size = 2, .fill = rc::ones({1})}); },
      "unique: fill is f32[1]; it must be a number or 0-dim");
  expect_inside<rc::IndexError>(
      {4, 4}, [](Tensor x) { x.index({rc::ellipsis, 0, rc::ellipsis}); },
      "index: an index may hold one ellipsis, found 2");
  expect_inside<rc::ValueError>(
      {4, 4}, [](Tensor x) { x.index({rc::tensor({0, 1}), rc::tensor({0, 1, 2})}); },
      "index: the index tensors do not broadcast: i64[2] and i64[3]");
  expect_inside<rc::ValueError>(
      {}, [](Tensor x) { rc::topk(x, 0); }, "topk: k is 0, but f64[] has no axis to shorten; choose k = 1");
}

TEST(OperandErrors, OfDtypes) {
  expect_inside<rc::TypeError>(
      {2}, [](Tensor x) { rc::softmax(x.to(rc::int64), 0); },
      "softmax: i64[2] is neither floating nor complex; convert it first, for example with x.to(rc::float32)");
  expect_inside<rc::TypeError>(
      {2}, [](Tensor x) { x.to(rc::complex64).max(); },
      "max: c64[2] is complex and has no order; compare its real part or its absolute value");
}

}  // namespace
