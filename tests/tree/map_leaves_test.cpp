// leaves, map_leaves, stack_trees and unstack_trees.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "ricci/error.h"
#include "ricci/ops.h"
#include "ricci/tree.h"

namespace rc = ricci;
using rc::Tensor;

namespace {

struct Linear {
  Tensor weight, bias;
};
struct Mlp {
  std::vector<Linear> layers;
  double dropout = 0.1;
};

Mlp mlp(double value, double dropout) { return {{{{value, value + 1}}}, dropout}; }
Mlp mlp(double value) { return mlp(value, value); }

std::vector<double> numbers(const std::vector<Tensor>& tensors) {
  std::vector<double> values;
  for (const Tensor& t : tensors) values.push_back(t.item());
  return values;
}

template <class Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const rc::ValueError& error) {
    const std::string text = error.what();
    return text.substr(0, text.find('\n'));
  }
  return "no error";
}

TEST(Leaves, AreTheTensorsFromLeftToRight) {
  EXPECT_EQ(numbers(rc::leaves(std::tuple{Tensor(1.0), 2, mlp(3), std::optional<Tensor>()})),
            (std::vector<double>{1, 3, 4}));
}

TEST(Leaves, OfAMapAreInTheOrderOfItsKeys) {
  EXPECT_EQ(numbers(rc::leaves(std::map<std::string, Tensor>{{"z", 1.0}, {"a", 2.0}})), (std::vector<double>{2, 1}));
}

TEST(Leaves, AliasTheTree) {
  const Linear layer{rc::zeros({3}), rc::zeros({3})};
  EXPECT_TRUE(rc::leaves(layer)[0].is_same(layer.weight));
}

TEST(MapLeaves, KeepsTheTreeAndItsValues) {
  const Mlp model = mlp(3);
  const Mlp mapped = rc::map_leaves([](Tensor p) { return Tensor(p.item() * 10); }, model);
  EXPECT_EQ(numbers(rc::leaves(mapped)), (std::vector<double>{30, 40}));
  EXPECT_EQ(mapped.dropout, 3);
  EXPECT_EQ(numbers(rc::leaves(model)), (std::vector<double>{3, 4}));
}

TEST(MapLeaves, GivesTheLeavesOfAllTreesAtOnePlace) {
  const auto f = [](const Tensor& a, const Tensor& b, const Tensor& c) {
    return a.item() + 10 * b.item() + 100 * c.item();
  };
  const Mlp mapped = rc::map_leaves(f, mlp(1), mlp(2), mlp(3));
  EXPECT_EQ(numbers(rc::leaves(mapped)), (std::vector<double>{321, 432}));
  EXPECT_EQ(mapped.dropout, 1);
}

TEST(MapLeaves, TakesFunctionsOfLvalues) {
  EXPECT_EQ(rc::map_leaves([](Tensor& p) { return p; }, Tensor(2.0)).item(), 2);
}

TEST(MapLeaves, RefusesTreesOfDifferentStructure) {
  const std::vector<Tensor> one{rc::zeros({2})}, two{rc::zeros({2}), rc::zeros({3})};
  EXPECT_EQ(error_of([&] { rc::map_leaves([](Tensor a, Tensor, Tensor) { return a; }, one, one, two); }),
            "map_leaves: the trees have different structures: the first is [f32[2]], number 3 is [f32[2], f32[3]]; "
            "pass trees of one structure");
}

TEST(StackTrees, GivesEveryLeafANewAxisInFront) {
  const Mlp ensemble =
      rc::stack_trees(std::vector<Mlp>{{{{rc::zeros({2}), rc::zeros({})}}, 7}, {{{rc::zeros({2}), rc::zeros({})}}, 7}});
  EXPECT_EQ(ensemble.layers[0].weight.shape(), (rc::Shape{2, 2}));
  EXPECT_EQ(ensemble.layers[0].bias.shape(), (rc::Shape{2}));
  EXPECT_EQ(ensemble.dropout, 7);
}

TEST(StackTrees, IsUndoneByUnstackTrees) {
  const std::vector<Mlp> back = rc::unstack_trees(rc::stack_trees(std::vector<Mlp>{mlp(1, 7), mlp(5, 7), mlp(9, 7)}));
  ASSERT_EQ(back.size(), 3U);
  EXPECT_EQ(numbers(rc::leaves(back[2])), (std::vector<double>{9, 10}));
}

TEST(StackTrees, RefusesValuesThatDiffer) {
  EXPECT_EQ(error_of([] { rc::stack_trees(std::vector<Mlp>{mlp(1, 7), mlp(5, 7), mlp(9, 8)}); }),
            "stack_trees: the first tree and number 3 hold different values that are no Tensors (dropout is of type "
            "double); give all trees one value, or make it a Tensor, which is stacked");
  using Tagged = std::tuple<Tensor, std::vector<int>>;
  EXPECT_EQ(error_of([] { rc::stack_trees(std::vector<Tagged>{{1., {1, 2}}, {2., {1, 2, 3}}}); }),
            "stack_trees: the first tree and number 2 hold different values that are no Tensors ([1] is of type "
            "std::vector<int>); give all trees one value, or make it a Tensor, which is stacked");
}

TEST(StackTrees, KeepsANumberThatIsNaNInAllTrees) {
  EXPECT_TRUE(std::isnan(rc::stack_trees(std::vector<Mlp>{mlp(1, NAN), mlp(5, NAN)}).dropout));
}

TEST(StackTrees, RefusesNoTrees) {
  EXPECT_EQ(error_of([] { rc::stack_trees(std::vector<Mlp>()); }),
            "stack_trees: there is no tree to stack; pass a vector that holds one");
}

TEST(StackTrees, RefusesTreesOfDifferentStructure) {
  const std::vector<std::vector<Tensor>> trees{{rc::zeros({2})}, {}};
  EXPECT_EQ(error_of([&] { rc::stack_trees(trees); }),
            "stack_trees: the trees have different structures: the first is [f32[2]], number 2 is []; "
            "pass trees of one structure");
}

TEST(UnstackTrees, RefusesATreeWithoutTensors) {
  EXPECT_EQ(error_of([] { rc::unstack_trees(std::tuple{1.0}); }),
            "unstack_trees: the tree holds no Tensor: (double); pass one that does");
}

TEST(UnstackTrees, RefusesALeafWithoutAxes) {
  EXPECT_EQ(error_of([] { rc::unstack_trees(Linear{rc::zeros({2}), rc::zeros({})}); }),
            "unstack_trees: bias is f32[]; every Tensor needs an axis 0 to take apart");
}

TEST(UnstackTrees, RefusesAnUndefinedLeaf) {
  EXPECT_EQ(error_of([] { rc::unstack_trees(Linear{rc::zeros({2}), Tensor()}); }),
            "unstack_trees: bias is undefined; every Tensor needs an axis 0 to take apart");
}

TEST(UnstackTrees, RefusesLeavesOfDifferentSizes) {
  EXPECT_EQ(error_of([] { rc::unstack_trees(Linear{rc::zeros({2}), rc::zeros({3, 2})}); }),
            "unstack_trees: sizes along axis 0 differ: weight is f32[2], bias is f32[3,2]; "
            "all must hold one number of trees");
}

}  // namespace
