// A tree as one vector and back.
#include <gtest/gtest.h>
#include <ricci/ricci.h>

#include <vector>

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

Line line() { return {rc::tensor({{1., 2.}, {3., 4.}}), rc::tensor(5., rc::float64), rc::full({}, 3, rc::int64)}; }

TEST(Ravel, GivesAllElementsAndTheWayBack) {
  const auto [vector, unravel] = rc::ravel(line());
  expect_values(vector, {1, 2, 3, 4, 5});
  EXPECT_EQ(vector.dtype(), rc::float64);
  const Line back = unravel(10 * vector);
  expect_values(back.slope, {10, 20, 30, 40});
  EXPECT_EQ(sizes(back.slope), (Sizes{2, 2}));
  EXPECT_EQ(back.slope.dtype(), rc::float32);
  expect_values(back.offset, {50});
  EXPECT_EQ(back.count.item<int>(), 3);
  EXPECT_EQ(back.rate, 0.5);
}

TEST(Ravel, TakesLoneTensorsAndTreesWithoutElements) {
  expect_values(rc::ravel(rc::eye(2)).vector, {1, 0, 0, 1});
  const auto [vector, unravel] = rc::ravel(std::pair{Tensor(), 7});
  EXPECT_EQ(sizes(vector), Sizes{0});
  EXPECT_FALSE(unravel(vector).first.defined());
}

TEST(Ravel, IsMappedDifferentiatedAndCompiled) {
  const auto cost = [](const Line& at) { return (at.slope * at.slope).sum() * at.offset; };
  const auto [vector, unravel] = rc::ravel(line());
  const auto of_vector = [&cost, unravel = unravel](const Tensor& v) { return cost(unravel(v)); };
  expect_values(rc::grad(of_vector)(vector), {10, 20, 30, 40, 30});
  EXPECT_EQ(sizes(rc::hessian(of_vector)(vector)), (Sizes{5, 5}));
  const auto there_and_back = [](const Line& at) {
    const auto [v, back] = rc::ravel(at);
    return back(v * v).slope;
  };
  const std::vector<Line> two{line(), rc::tree_scale(2, line())};
  expect_values(rc::vmap(there_and_back)(rc::stack_trees(two)), {1, 4, 9, 16, 4, 16, 36, 64});
  expect_values(rc::compile(there_and_back)(line()), {1, 4, 9, 16});
}

TEST(Ravel, RefusesVectorsOfAnotherSize) {
  const auto [vector, unravel] = rc::ravel(line());
  expect_error<rc::ValueError>([&back = unravel] { back(rc::ones({4})); },
                               "unravel: the vector is f32[4], the tree has 5 elements; give a vector of as many");
  expect_error<rc::ValueError>([&back = unravel] { back(rc::ones({1, 5})); },
                               "unravel: the vector is f32[1,5], the tree has 5 elements; give a vector of as many");
}

}  // namespace
