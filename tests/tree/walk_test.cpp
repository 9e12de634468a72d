// What a walk over a tree finds: Tensors from left to right, and a description that is printed, compared and named.
#include "ricci/tree/walk.h"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>

#include "ricci/error.h"
#include "ricci/ops.h"
#include "ricci/tree/values.h"

namespace rc = ricci;
namespace tree = ricci::tree;
using rc::Tensor;

namespace {

struct Linear {
  Tensor weight, bias;
};
struct Mlp {
  std::vector<Linear> layers;
  double dropout = 0.1;
};
struct Node {
  Tensor value;
  std::vector<Node> children;
};
class Counter {
 public:
  explicit Counter(Tensor count) : count_(std::move(count)) {}
  static auto tree_fields(auto& self) { return std::tie(self.count_, self.name_); }

 private:
  Tensor count_;
  std::string name_;
};

Linear linear() { return {rc::zeros({3, 4}), rc::zeros({4})}; }

template <class T>
tree::Walk walk_of(T& object) {
  tree::Walk walk;
  tree::walk(object, walk);
  return walk;
}

template <class T>
std::string print(const T& object) {
  return tree::to_string(walk_of(object));
}

template <class T>
tree::Structure structure(const T& object) {
  return tree::Structure(walk_of(object));
}

TEST(Walk, LeavesAreTheTensorsInPlace) {
  Mlp mlp{{linear(), linear()}};
  const tree::Walk walk = walk_of(mlp);
  ASSERT_EQ(walk.leaves.size(), 4U);
  EXPECT_EQ(walk.leaves[0], &mlp.layers[0].weight);
  EXPECT_EQ(walk.leaves[3], &mlp.layers[1].bias);
}

TEST(Walk, EveryKindOfTreeIsPrinted) {
  const Tensor x = rc::zeros({3});
  EXPECT_EQ(print(x), "f32[3]");
  EXPECT_EQ(print(std::tuple{x, 1.0}), "(f32[3], double)");
  EXPECT_EQ(print(std::pair{x, std::string()}), "(f32[3], std::string)");
  EXPECT_EQ(print(std::vector{x, x}), "[f32[3], f32[3]]");
  EXPECT_EQ(print(std::array{x, x}), "[f32[3], f32[3]]");
  EXPECT_EQ(print(std::map<std::string, Tensor>{{"b", x}, {"a", rc::zeros({})}}), "{\"a\": f32[], \"b\": f32[3]}");
  EXPECT_EQ(print(linear()), "{weight: f32[3,4], bias: f32[4]}");
  EXPECT_EQ(print(Counter(x)), "(f32[3], std::string)");
  EXPECT_EQ(print(Tensor()), "undefined");
  EXPECT_EQ(print(Mlp{{linear()}}), "{layers: [{weight: f32[3,4], bias: f32[4]}], dropout: double}");
}

TEST(Walk, EmptyTreesArePrinted) {
  EXPECT_EQ(print(std::tuple()), "()");
  EXPECT_EQ(print(std::vector<Tensor>()), "[]");
  EXPECT_EQ(print(std::map<std::string, Tensor>()), "{}");
  EXPECT_EQ(print(std::optional<Tensor>()), "none");
}

TEST(Walk, AnEmptyStructIsAValue) {
  struct Tag : std::true_type {};
  EXPECT_EQ(print(std::tuple{std::plus<double>(), Tag()}).substr(0, 18), "(std::plus<double>");
}

TEST(Walk, AFullOptionalIsWhatItHolds) {
  EXPECT_EQ(structure(std::optional(rc::zeros({2}))), structure(rc::zeros({2})));
  EXPECT_NE(structure(std::optional<Tensor>()), structure(rc::zeros({2})));
}

TEST(Walk, VectorsOfNumbersAreOneValue) {
  const tree::Walk walk = walk_of(std::as_const(*std::make_unique<std::vector<double>>(1000)));
  EXPECT_EQ(walk.nodes.size(), 1U);
  EXPECT_EQ(print(std::vector<double>(3)), "std::vector<double>");
  EXPECT_EQ(structure(std::vector<bool>(3)), structure(std::vector<bool>(4)));
}

TEST(Walk, LongListsArePrintedInPart) {
  EXPECT_EQ(print(std::vector(20, rc::zeros({}))),
            "[f32[], f32[], f32[], f32[], f32[], f32[], f32[], f32[], … 12 more]");
}

TEST(Walk, StructsMayContainThemselves) {
  Node node{rc::zeros({}), {{rc::zeros({1}), {}}, {rc::zeros({2}), {}}}};
  EXPECT_EQ(walk_of(node).leaves.size(), 3U);
  EXPECT_TRUE(tree::can_hold_tensor<Node>);
}

TEST(Walk, StructuresDifferInNodesNamesAndKeys) {
  struct Other {
    Tensor weight, offset;
  };
  const Tensor x = rc::zeros({3});
  EXPECT_EQ(structure(linear()), structure(Linear{x, x}));
  EXPECT_NE(structure(linear()), structure(Other{x, x}));
  EXPECT_NE(structure(std::vector{x}), structure(std::vector{x, x}));
  EXPECT_NE(structure(std::vector{x}), structure(std::tuple{x}));
  EXPECT_NE(structure(std::map<std::string, Tensor>{{"a", x}}), structure(std::map<std::string, Tensor>{{"b", x}}));
  EXPECT_NE(structure(std::tuple{x, 1}), structure(std::tuple{x, x}));
  EXPECT_EQ(structure(linear()).hash(), structure(Linear{x, x}).hash());
}

TEST(Walk, AStructureOutlivesItsTree) {
  const auto make = [] {
    const std::map<std::string, Tensor> map{{std::string(40, 'k'), rc::zeros({})}};
    return structure(map);
  };
  EXPECT_EQ(make().to_string(), "{\"" + std::string(40, 'k') + "\": *}");
}

TEST(Walk, LeavesHavePaths) {
  Mlp mlp{{linear(), linear()}};
  std::map<std::string, Mlp> models{{"first", mlp}};
  EXPECT_EQ(tree::leaf_path(walk_of(mlp), 2), "layers[1].weight");
  EXPECT_EQ(tree::leaf_path(walk_of(models), 3), "[\"first\"].layers[1].bias");
  EXPECT_EQ(tree::leaf_path(walk_of(mlp.layers[0].bias), 0), "");
}

TEST(Walk, ArgumentsHaveNames) {
  auto arguments = std::tuple{rc::zeros({}), Mlp{{linear()}}, rc::zeros({2})};
  const tree::Walk walk = walk_of(arguments);
  EXPECT_EQ(tree::argument_name(walk, 0), "argument 0");
  EXPECT_EQ(tree::argument_name(walk, 2), "argument 1 (layers[0].bias)");
  EXPECT_EQ(tree::argument_name(walk, 3), "argument 2");
}

TEST(Walk, DescribesValuesByTheirTypes) {
  const Mlp model;
  EXPECT_EQ(tree::described_value(walk_of(model), 0), "dropout is of type double");
  const double number = 1;
  EXPECT_EQ(tree::described_value(walk_of(number), 0), "it is of type double");
}

TEST(Walk, WritingALeafChangesTheTreeAlone) {
  const Tensor shared = rc::zeros({3});
  Linear model{shared, shared};
  *walk_of(model).leaves[0] = rc::zeros({5});
  EXPECT_EQ(model.weight.size(0), 5);
  EXPECT_EQ(model.bias.size(0), 3);
  EXPECT_EQ(shared.size(0), 3);
}

TEST(TreeTypes, WhatCanHoldATensorIsKnown) {
  struct Plain {
    double a;
    std::string b;
  };
  EXPECT_TRUE((tree::can_hold_tensor<std::tuple<int, std::vector<std::optional<Mlp>>>>));
  EXPECT_TRUE(tree::can_hold_tensor<Counter>);
  EXPECT_FALSE(tree::can_hold_tensor<Plain>);
  EXPECT_FALSE(tree::can_hold_tensor<std::vector<double>>);
  EXPECT_FALSE(tree::can_hold_tensor<std::shared_ptr<Tensor>>);
}

TEST(TreeTypes, ContainersThatWouldHideTensorsAreKnown) {
  EXPECT_TRUE(tree::hides_tensor<std::deque<Tensor>>);
  EXPECT_TRUE(tree::hides_tensor<std::shared_ptr<Linear>>);
  EXPECT_TRUE((tree::hides_tensor<std::variant<double, Tensor>>));
  EXPECT_TRUE((tree::hides_tensor<std::unordered_map<std::string, Tensor>>));
  EXPECT_TRUE((tree::hides_tensor<std::map<int, Mlp>>));
  EXPECT_TRUE(tree::hides_tensor<std::vector<std::deque<Tensor>>>);
  EXPECT_FALSE(tree::hides_tensor<std::function<Tensor(Tensor)>>);
  EXPECT_FALSE((tree::hides_tensor<std::map<int, double>>));
  EXPECT_FALSE(tree::hides_tensor<std::deque<double>>);
}

struct Parameter : Tensor {};

TEST(TreeTypes, WhatIsMadeFromTensorIsKeptAsATensor) {
  EXPECT_TRUE((std::is_same_v<tree::plain_t<Parameter>, Tensor>));
  EXPECT_TRUE((std::is_same_v<tree::plain_t<const std::pair<Parameter, Tensor&>>, std::pair<Tensor, Tensor>>));
  EXPECT_TRUE((std::is_same_v<tree::plain_t<std::vector<double>&>, std::vector<double>>));
}

}  // namespace
