// Trees as vectors: tree_add, tree_sub, tree_scale, tree_dot and tree_norm.
#include <gtest/gtest.h>

#include <complex>

#include "support/expect_error.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

struct Line {
  Tensor slope, offset, count;
  double rate = 0.5;
};

Line line(double slope, double offset) {
  return {rc::full({2}, slope), rc::full({}, offset), rc::full({}, 3, rc::int64)};
}

TEST(TreeArithmetic, WorksLeafByLeaf) {
  const Line sum = rc::tree_add(line(1, 2), line(10, 20));
  expect_values(sum.slope, {11, 11});
  expect_values(sum.offset, {22});
  const Line difference = rc::tree_sub(line(1, 2), line(10, 20));
  expect_values(difference.slope, {-9, -9});
  expect_values(rc::tree_scale(3, line(1, 2)).offset, {6});
}

TEST(TreeArithmetic, LeavesIntegersNumbersAndUndefinedTensorsAlone) {
  const Line sum = rc::tree_add(line(1, 2), rc::tree_scale(-0.5, line(1, 2)));
  EXPECT_EQ(sum.count.item<int>(), 3);
  EXPECT_EQ(sum.count.dtype(), rc::int64);
  EXPECT_EQ(sum.rate, 0.5);
  EXPECT_FALSE(rc::tree_add(Line{1.0, {}, 0}, Line{1.0, {}, 0}).offset.defined());
  expect_values(rc::tree_norm(Line{rc::full({1}, 3.0), {}, rc::full({}, 100, rc::int64)}), {3});
}

TEST(TreeArithmetic, StepsDownAGradient) {
  const auto loss = [](const Line& at) { return (at.slope * at.slope).sum() + 3 * at.offset; };
  const Line at = line(1, 2);
  const Line next = rc::tree_add(at, rc::tree_scale(-0.25, rc::grad(loss)(at)));
  expect_values(next.slope, {0.5, 0.5});
  expect_values(next.offset, {1.25});
  EXPECT_EQ(next.count.item<int>(), 3);
}

TEST(TreeArithmetic, DotIsTheSumOverAllLeaves) {
  expect_values(rc::tree_dot(line(1, 2), line(10, 20)), {60});
  expect_values(rc::tree_dot(std::tuple{1}, std::tuple{2}), {0});
  const Tensor i = std::complex<double>(0, 1);
  EXPECT_EQ(rc::tree_dot(std::tuple{i}, std::tuple{i}).item<std::complex<double>>(), std::complex<double>(1, 0));
}

TEST(TreeArithmetic, NormIsThatOfAllElements) {
  expect_values(rc::tree_norm(std::tuple{rc::full({2, 2}, 2.0), rc::full({}, 3.0)}), {5});
  expect_values(rc::tree_norm(std::tuple{1}), {0});
}

TEST(TreeArithmetic, NormIsDifferentiableAtZero) {
  const auto norm = [](const std::vector<Tensor>& tree) { return rc::tree_norm(tree); };
  const std::vector<Tensor> slopes = rc::grad(norm)(std::vector<Tensor>{rc::zeros({2}), rc::zeros({})});
  expect_values(slopes[0], {0, 0});
  expect_values(slopes[1], {0});
}

TEST(TreeArithmetic, NormIsMapped) {
  const auto norm = [](const std::vector<Tensor>& tree) { return rc::tree_norm(tree); };
  expect_values(rc::vmap(norm)(std::vector<Tensor>{rc::tensor({{3., 0.}, {0., 5.}}), rc::tensor({4., 12.})}), {5, 13});
}

TEST(TreeArithmetic, ComparesStructuresAndShapes) {
  expect_error<rc::ValueError>(
      [] { rc::tree_add(std::vector<Tensor>{1.0, 2.0}, std::vector<Tensor>{1.0}); },
      "tree_add: the trees have different structures: the first is [f64[], f64[]], number 2 is [f64[]]; pass trees of "
      "one structure");
  expect_error<rc::ValueError>(
      [] { rc::tree_dot(line(1, 2), Line{rc::ones({3}), 1.0, rc::ones({}, rc::int64)}); },
      "tree_dot: slope is f32[2] in the first tree, f32[3] in the second; the shapes must agree");
  expect_error<rc::ValueError>(
      [] { rc::tree_sub(Line{1.0, {}, 0}, Line{1.0, 2.0, 0}); },
      "tree_sub: offset is undefined in the first tree, f64[] in the second; both or neither must be defined");
}

TEST(MapLeaves, TakesOperationsByName) {
  const Line zeros = rc::map_leaves(rc::zeros_like, line(1, 2));
  expect_values(zeros.slope, {0, 0});
  expect_values(rc::map_leaves(rc::add, line(1, 2), line(1, 2)).offset, {4});
}

}  // namespace
