// The types of Jacobians, how they are indexed, and the order in which they are put together.
#include "ricci/jacobian_tree.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "ricci/tree.h"

namespace rc = ricci;
using rc::Jacobian;
using rc::JacobianOf;
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
  Counter() = default;
  static auto tree_fields(auto& self) { return std::tie(self.count_, self.total_); }

 private:
  Tensor count_ = 1.0, total_ = 2.0;
};

template <class A, class B>
constexpr bool same = std::is_same_v<A, B>;

const Linear linear{1.0, 2.0};
const Mlp mlp{{linear, linear}, 0.5};

/// A Jacobian whose Tensors are 0, 1, 2, … in order.
template <class O, class I>
Jacobian<O, I> counted(const O& out, const I& in) {
  double count = 0;
  return rc::build_jacobian(out, in, [&] { return Tensor(count++); });
}

std::vector<double> numbers(const std::vector<Tensor>& tensors) {
  std::vector<double> values;
  for (const Tensor& t : tensors) values.push_back(t.item());
  return values;
}

TEST(JacobianTypes, OfATensorIsTheInputTree) {
  EXPECT_TRUE((same<Jacobian<Tensor, Tensor>, Tensor>));
  EXPECT_TRUE((same<Jacobian<Tensor, Mlp>, Mlp>));
}

TEST(JacobianTypes, OfAContainerIsThatContainer) {
  EXPECT_TRUE((same<Jacobian<std::tuple<Tensor, double>, Linear>, std::tuple<Linear, double>>));
  EXPECT_TRUE((same<Jacobian<std::vector<Tensor>, Linear>, std::vector<Linear>>));
  EXPECT_TRUE((same<Jacobian<std::map<std::string, Tensor>, Linear>, std::map<std::string, Linear>>));
  EXPECT_TRUE((same<Jacobian<std::optional<std::array<Tensor, 2>>, Linear>, std::optional<std::array<Linear, 2>>>));
  EXPECT_TRUE((same<Jacobian<std::pair<std::vector<double>, Tensor>, Linear>, std::pair<std::vector<double>, Linear>>));
}

TEST(JacobianTypes, OfAStructWithRespectToATensorIsThatStruct) { EXPECT_TRUE((same<Jacobian<Mlp, Tensor>, Mlp>)); }

TEST(JacobianTypes, OfAJacobianNestsTheInputs) {
  EXPECT_TRUE((same<Jacobian<JacobianOf<Linear, Mlp>, Tensor>, JacobianOf<Linear, Mlp>>));
  EXPECT_TRUE((same<Jacobian<Jacobian<Linear, Linear>, Mlp>, JacobianOf<Linear, JacobianOf<Linear, Mlp>>>));
}

TEST(BuildJacobian, PutsTheOutputOutsideAndTheInputInside) {
  const std::tuple<Linear, Linear> jacobian = counted(std::tuple{Tensor(0.0), Tensor(0.0)}, linear);
  EXPECT_EQ(numbers(rc::leaves(jacobian)), (std::vector<double>{0, 1, 2, 3}));
  EXPECT_EQ(std::get<1>(jacobian).weight.item(), 2);
}

TEST(BuildJacobian, OfAStructIsIndexedByMembers) {
  const auto H = counted(mlp, mlp);
  EXPECT_EQ(H[&Mlp::layers][0][&Linear::weight].layers[1].bias.item(), 3);
  EXPECT_EQ(H[&Mlp::layers][1][&Linear::weight].layers[0].weight.item(), 8);
  EXPECT_EQ(H[&Mlp::dropout], 0.5);
  EXPECT_EQ(H[&Mlp::layers][1][&Linear::bias].dropout, 0.5);
}

TEST(BuildJacobian, OfAStructIsTakenApart) {
  auto H = counted(linear, linear);
  auto& [w, b] = H;
  EXPECT_EQ(w.bias.item(), 1);
  EXPECT_EQ(H.get<1>().weight.item(), 2);
  b.weight = 7.0;
  EXPECT_EQ(H[&Linear::bias].weight.item(), 7);
  H[&Linear::bias].weight = 8.0;
  EXPECT_EQ(std::as_const(H).get<1>().weight.item(), 8);
  const auto [first, second] = std::as_const(H);
  EXPECT_EQ(second.weight.item(), 8);
  EXPECT_EQ(first.weight.item(), 0);
}

TEST(BuildJacobian, OfAStructWithRespectToATensorKeepsItsValues) {
  const Mlp jacobian = counted(mlp, Tensor(0.0));
  EXPECT_EQ(numbers(rc::leaves(jacobian)), (std::vector<double>{0, 1, 2, 3}));
  EXPECT_EQ(jacobian.dropout, 0.5);
}

TEST(BuildJacobian, KeepsTheSizesOfContainers) {
  const std::map<std::string, std::vector<Tensor>> out{{"a", {}}, {"b", {1.0, 1.0}}};
  const auto jacobian = counted(out, std::tuple{std::optional<Tensor>(), std::array<Tensor, 1>{}});
  EXPECT_EQ(jacobian.at("a").size(), 0U);
  EXPECT_EQ(numbers(rc::leaves(jacobian)), (std::vector<double>{0, 1}));
  EXPECT_FALSE(counted(std::optional<Tensor>(), linear).has_value());
}

TEST(BuildJacobian, WorksForStructsThatContainThemselves) {
  const Node node{1.0, {{2.0, {}}, {3.0, {}}}};
  const auto H = counted(node, node);
  EXPECT_EQ(H[&Node::children][1][&Node::value].children[0].value.item(), 7);
  EXPECT_EQ(rc::leaves(H).size(), 9U);
}

TEST(BuildJacobian, WorksForStructsThatContainThemselvesInAnyContainer) {
  struct Graph {
    std::map<std::string, Graph> named;
    std::optional<std::vector<Graph>> maybe;
    Tensor value;
  };
  const Graph leaf{{}, {}, 1.0};
  const Graph graph{{{"a", leaf}}, std::vector{leaf}, 2.0};
  const auto H = counted(graph, graph);
  EXPECT_EQ(rc::leaves(H).size(), 9U);
  EXPECT_EQ((*H[&Graph::maybe])[0][&Graph::value].value.item(), 5);
}

TEST(BuildJacobian, OfAJacobianGoesThreeTreesDeep) {
  const auto H = counted(linear, linear);
  const auto third = counted(H, mlp);
  EXPECT_EQ(third[&Linear::weight][&Linear::bias].layers[1].weight.item(), 6);
  EXPECT_EQ(rc::leaves(third).size(), 16U);
}

TEST(BuildJacobian, WorksForClassesWithTreeFields) {
  const auto H = counted(Counter(), linear);
  EXPECT_EQ(H.get<1>().weight.item(), 2);
  EXPECT_EQ(numbers(rc::leaves(counted(Counter(), Tensor(0.0)))), (std::vector<double>{0, 1}));
}

TEST(JacobianOf, IsATreeWithTheNamesOfItsStruct) {
  auto H = counted(linear, linear);
  rc::tree::Walk walk;
  rc::tree::walk(H, walk);
  EXPECT_EQ(rc::tree::leaf_path(walk, 1), "weight.bias");
  const auto doubled = rc::map_leaves([](Tensor t) { return Tensor(2 * t.item()); }, H);
  EXPECT_EQ(doubled[&Linear::bias].bias.item(), 6);
}

}  // namespace
