// What operations say of indices, axes and permutations out of range.
#include "support/expect_error.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

TEST(IndexErrors, AnIndexOutOfRange) {
  const Tensor x = rc::ones({3, 2});
  expect_error<rc::IndexError>(
      [&] { x[5]; }, "select: index 5 is out of range for axis 0 of f32[3,2]; the legal range is [-3, 2]", {x});
  expect_error<rc::IndexError>([&] { x.select(1, -3); },
                               "select: index -3 is out of range for axis 1 of f32[3,2]; the legal range is [-2, 1]",
                               {x});
}

TEST(IndexErrors, AnIndexOutOfRangeInsideVmap) {
  const Tensor x = rc::ones({3, 2});
  expect_error<rc::IndexError>([&] { rc::vmap([](Tensor a) { return a[2]; })(x); },
                               "select: index 2 is out of range for axis 0 of f32[2]; the legal range is [-2, 1]\n"
                               "  inside vmap over axis 0 of 3{at}",
                               {x});
}

TEST(IndexErrors, AnIndexIntoATensorWithoutAxes) {
  expect_error<rc::IndexError>([] { rc::ones({3}).sum()[0]; }, "select: axis 0 is out of range: f32[] has no axes");
}

TEST(IndexErrors, APartOfATensorWithoutAxes) {
  const Tensor x = rc::tensor(1.5);
  const std::string rest = ": axis 0 is out of range: f32[] has no axes";
  expect_error<rc::IndexError>([&] { x.slice(0, 0, 2); }, "slice" + rest, {x});
  expect_error<rc::IndexError>([&] { x.narrow(0, 0, 1); }, "narrow" + rest, {x});
  expect_error<rc::IndexError>([&] { x.split(2, 0); }, "split" + rest, {x});
  expect_error<rc::IndexError>([&] { x.chunk(2, 0); }, "chunk" + rest, {x});
}

TEST(IndexErrors, AnIndexTensorWithAnIndexOutOfRange) {
  const Tensor x = rc::ones({3}), index = rc::tensor({0, 7});
  expect_error<rc::IndexError>([&] { rc::index_select(x, 0, index); },
                               "index_select: index 7 is out of range for axis 0 of f32[3]; the legal range is [0, 2]",
                               {x, index});
}

TEST(IndexErrors, AnIndexIntoAnEmptyAxis) {
  const Tensor x = rc::ones({0, 3}), index = rc::tensor({0});
  const std::string rest = ": index 0 is out of range for axis 0 of f32[0,3]; the legal range is empty";
  expect_error<rc::IndexError>([&] { x[0]; }, "select" + rest, {x});
  expect_error<rc::IndexError>([&] { rc::index_select(x, 0, index); }, "index_select" + rest, {x, index});
}

TEST(IndexErrors, TooManyIndices) {
  const Tensor x = rc::ones({2, 3});
  expect_error<rc::IndexError>([&] { x.index({0, 0, 0}); },
                               "index: 3 indices are too many for f32[2,3], which has 2 axes", {x});
}

TEST(AxisErrors, OfATensorWithoutAxes) {
  const Tensor x = rc::ones({});
  expect_error<rc::IndexError>([&] { x.sum(1); },
                               "sum: axis 1 is out of range: f32[] has 0 axes; the legal range is [-1, 0]", {x});
}

TEST(AxisErrors, OutOfRange) {
  const Tensor x = rc::ones({3, 4});
  const std::string rest = ": axis 2 is out of range: f32[3,4] has 2 axes; the legal range is [-2, 1]";
  expect_error<rc::IndexError>([&] { x.sum(2); }, "sum" + rest, {x});
  expect_error<rc::IndexError>([&] { x.mean(2); }, "mean" + rest, {x});
  expect_error<rc::IndexError>([&] { rc::softmax(x, 2); }, "softmax" + rest, {x});
  expect_error<rc::IndexError>([&] { x.transpose(0, 2); }, "transpose" + rest, {x});
  expect_error<rc::IndexError>([&] { rc::cat({x, x}, 2); }, "cat" + rest, {x});
  expect_error<rc::IndexError>([&] { x.select(2, 0); }, "select" + rest, {x});
  expect_error<rc::IndexError>([&] { x.size(2); }, "size" + rest, {x});
}

TEST(AxisErrors, OutOfRangeInsideVmapCountsVisibleAxes) {
  const Tensor x = rc::ones({3, 4});
  expect_error<rc::IndexError>([&] { rc::vmap([](Tensor a) { return a.sum(1); })(x); },
                               "sum: axis 1 is out of range: f32[4] has 1 axis; the legal range is [-1, 0]\n"
                               "  inside vmap over axis 0 of 3{at}",
                               {x});
}

TEST(AxisErrors, OfANewAxisOutOfRange) {
  const Tensor x = rc::ones({3});
  expect_error<rc::IndexError>([&] { x.unsqueeze(3); },
                               "unsqueeze: axis 3 is out of range: f32[3] has 2 axes with the new one; "
                               "the legal range is [-2, 1]",
                               {x});
  expect_error<rc::IndexError>([&] { rc::stack({x, x}, -3); },
                               "stack: axis -3 is out of range: f32[3] has 2 axes with the new one; "
                               "the legal range is [-2, 1]",
                               {x});
}

TEST(AxisErrors, Repeated) {
  const Tensor x = rc::ones({3, 4});
  expect_error<rc::ValueError>([&] { x.sum({0, -2}); }, "sum: axis 0 appears more than once in [0,-2]", {x});
}

TEST(AxisErrors, TheSameTwice) {
  const Tensor x = rc::ones({2, 3});
  expect_error<rc::ValueError>([&] { x.diagonal(0, 0, -2); },
                               "diagonal: both axes are axis 0 of f32[2,3]; they must differ", {x});
}

TEST(AxisErrors, NotAPermutation) {
  const Tensor x = rc::ones({2, 3});
  expect_error<rc::ValueError>([&] { x.permute({0, 0}); },
                               "permute: [0,0] is not a permutation of the 2 axes of f32[2,3]", {x});
  expect_error<rc::ValueError>([&] { x.permute({0}); }, "permute: [0] is not a permutation of the 2 axes of f32[2,3]",
                               {x});
}

TEST(AxisErrors, AStepThatIsNotPositive) {
  const Tensor x = rc::ones({3});
  expect_error<rc::ValueError>([&] { x.slice(0, 0, 3, 0); }, "slice: step is 0; it must be at least 1", {x});
  expect_error<rc::ValueError>([&] { x.slice(0, 0, 3, -1); }, "slice: step is -1; it must be at least 1", {x});
}

}  // namespace
