// Leaves by name: leaf_names, named_leaves and load_leaves.
#include <gtest/gtest.h>

#include "support/expect_error.h"
#include "support/expect_tensor.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

struct Linear {
  Tensor weight, bias;
};
struct Mlp {
  std::vector<Linear> layers;
  double dropout = 0.1;
  std::map<std::string, Tensor> extra;
};

Mlp model() {
  return {{{rc::ones({2, 3}), rc::zeros({2})}, {rc::full({1, 2}, 2.0), {}}}, 0.3, {{"scale", rc::ones({})}}};
}

TEST(LeafNames, AreThoseThatErrorsPrint) {
  EXPECT_EQ(rc::leaf_names(model()), (std::vector<std::string>{"layers[0].weight", "layers[0].bias", "layers[1].weight",
                                                               "layers[1].bias", "extra[\"scale\"]"}));
  EXPECT_EQ(rc::leaf_names(std::tuple{rc::ones({}), 3, model().layers[0]}),
            (std::vector<std::string>{"[0]", "[2].weight", "[2].bias"}));
  EXPECT_EQ(rc::leaf_names(rc::ones({})), std::vector<std::string>{""});
  EXPECT_TRUE(rc::leaf_names(std::tuple{1, std::vector<Linear>{}}).empty());
}

TEST(NamedLeaves, LeaveOutWhatIsUndefined) {
  const std::map<std::string, Tensor> named = rc::named_leaves(model());
  EXPECT_EQ(named.size(), 4U);
  EXPECT_FALSE(named.contains("layers[1].bias"));
  expect_values(named.at("layers[1].weight"), {2, 2});
}

TEST(LoadLeaves, GivesBackTheTreeWithItsValues) {
  Mlp like = model();
  like.layers[0].weight = rc::zeros({2, 3});
  const Mlp loaded = rc::load_leaves(like, rc::named_leaves(model()));
  expect_values(loaded.layers[0].weight, {1, 1, 1, 1, 1, 1});
  EXPECT_FALSE(loaded.layers[1].bias.defined());
  EXPECT_EQ(loaded.dropout, 0.3);
  expect_values(like.layers[0].weight, {0, 0, 0, 0, 0, 0});
}

TEST(LoadLeaves, ReadsNamesAsPyTorchSpellsThem) {
  const Mlp loaded = rc::load_leaves(model(), {{"layers.0.weight", rc::zeros({2, 3})},
                                               {"layers.0.bias", rc::full({2}, 5)},
                                               {"layers.1.weight", rc::zeros({1, 2})},
                                               {"extra.scale", rc::full({}, 7)}});
  expect_values(loaded.layers[0].bias, {5, 5});
  expect_values(loaded.extra.at("scale"), {7});
}

TEST(LoadLeaves, ConvertsToTheDTypeOfTheTree) {
  const Linear loaded = rc::load_leaves(Linear{rc::ones({1}, rc::float64), rc::ones({1}, rc::float16)},
                                        {{"weight", rc::full({1}, 3)}, {"bias", rc::full({1}, 4)}});
  EXPECT_EQ(loaded.weight.dtype(), rc::float64);
  EXPECT_EQ(loaded.bias.dtype(), rc::float16);
}

struct Deep {
  std::vector<std::vector<Linear>> blocks;
  std::vector<Tensor> scales;
  std::vector<double> rates;
  std::array<Linear, 2> both;
};

TEST(LoadLeaves, GivesEmptyVectorsTheSizesOfTheNames) {
  const Mlp loaded = rc::load_leaves(Mlp{{}, 0.5, {{"scale", {}}}}, rc::named_leaves(model()));
  EXPECT_EQ(loaded.layers.size(), 2U);
  expect_values(loaded.layers[1].weight, {2, 2});
  EXPECT_EQ(loaded.dropout, 0.5);
  const std::map<std::string, Tensor> named = {{"blocks.0.0.weight", number(1)}, {"blocks[0][1].bias", number(2)},
                                               {"blocks.1.0.bias", number(3)},   {"scales.0", number(4)},
                                               {"scales[1]", number(5)},         {"both[1].bias", number(6)}};
  const Deep deep = rc::load_leaves(Deep{}, named);
  EXPECT_EQ(deep.blocks.size(), 2U);
  EXPECT_EQ(deep.blocks[0].size(), 2U);
  EXPECT_EQ(deep.blocks[1].size(), 1U);
  expect_values(deep.blocks[0][1].bias, {2});
  EXPECT_FALSE(deep.blocks[0][1].weight.defined());
  expect_values(deep.scales[1], {5});
  EXPECT_TRUE(deep.rates.empty());
  expect_values(rc::load_leaves(std::vector<Tensor>(), {{"[0]", number(8)}, {"1", number(9)}})[1], {9});
}

struct WithKeys {
  std::vector<rc::Key> keys;  // a Key has no default constructor
  Tensor weight;
};

TEST(LoadLeaves, LeavesEmptyVectorsWhoseElementsHaveNoDefaultConstructor) {
  const WithKeys loaded = rc::load_leaves(WithKeys{{}, number(1)}, {{"weight", number(2)}});
  EXPECT_TRUE(loaded.keys.empty());
  expect_values(loaded.weight, {2});
  const auto named = rc::named_leaves(WithKeys{{rc::Key(7)}, number(2)});
  const WithKeys filled = rc::load_leaves(WithKeys{{rc::Key(1)}, number(1)}, named);
  expect_equal(filled.keys[0].data, rc::Key(7).data);
}

TEST(LoadLeaves, LeavesEmptyVectorsOfWhichNoNameSpeaksAndGapsInThem) {
  EXPECT_TRUE(rc::load_leaves(Deep{}, {{"both[0].bias", number(1)}}).blocks.empty());
  expect_error<rc::ValueError>(
      [] { (void)rc::load_leaves(Deep{}, {{"scales[0]", number(1)}, {"scales[4000000000]", number(1)}}); },
      "load_leaves: the named tensors do not fit the tree; in no place of the tree: scales[4000000000]; pass a tree of "
      "the structure that was saved");
}

TEST(LoadLeaves, FillsTreesThatHoldNothingYet) {
  const Linear loaded = rc::load_leaves(Linear{}, {{"weight", rc::ones({2, 2}, rc::int8)}});
  EXPECT_EQ(loaded.weight.dtype(), rc::int8);
  EXPECT_FALSE(loaded.bias.defined());
}

TEST(LoadLeaves, ListsEverythingThatDoesNotFit) {
  expect_error<rc::ValueError>(
      [] {
        (void)rc::load_leaves(model(), {{"layers[0].weight", rc::ones({3, 2})},
                                        {"layers[0].bais", rc::ones({2})},
                                        {"layers[1].weight", rc::ones({1, 2})},
                                        {"extra[\"scale\"]", rc::ones({})}});
      },
      "load_leaves: the named tensors do not fit the tree; missing: layers[0].bias; of another shape: "
      "layers[0].weight is f32[2,3], given is f32[3,2]; in no place of the tree: layers[0].bais; pass a tree of the "
      "structure that was saved");
}

TEST(LoadLeaves, SuggestsAPrefixThatOneSideHas) {
  const Linear linear{rc::ones({1}), rc::ones({1})};
  expect_error<rc::ValueError>(
      [&] { (void)rc::load_leaves(linear, {{"model.weight", rc::ones({1})}, {"model.bias", rc::ones({1})}}); },
      "load_leaves: the named tensors do not fit the tree; missing: weight, bias; in no place of the tree: model.bias, "
      "model.weight; the names given begin with model., those of the tree do not; take it off, or load a tree that has "
      "it");
  expect_error<rc::ValueError>(
      [&] { (void)rc::load_leaves(std::vector{linear}, {{"weight", rc::ones({1})}, {"bias", rc::ones({1})}}); },
      "load_leaves: the named tensors do not fit the tree; missing: [0].weight, [0].bias; in no place of the tree: "
      "bias, weight; the names of the tree begin with 0., those given do not; put it in front, or load the part below");
  expect_error<rc::ValueError>(
      [&] { (void)rc::load_leaves(linear, {{"a.weight", rc::ones({1})}, {"b.bias", rc::ones({1})}}); },
      "load_leaves: the named tensors do not fit the tree; missing: weight, bias; in no place of the tree: a.weight, "
      "b.bias; pass a tree of the structure that was saved");
}

TEST(LoadLeaves, KeepsTheListShort) {
  std::vector<Tensor> many(400, rc::ones({}));
  expect_error<rc::ValueError>([&] { (void)rc::load_leaves(many, {}); },
                               "load_leaves: the named tensors do not fit the tree; missing: [0], [1], [2], [3], [4], "
                               "[5], [6], [7], … 392 more; pass a tree of the structure that was saved");
}

TEST(LoadLeaves, ConvertsToNoLowerCategory) {
  expect_error<rc::TypeError>(
      [] { (void)rc::load_leaves(Linear{rc::ones({1}), {}}, {{"weight", rc::ones({1}, rc::complex64)}}); },
      "load_leaves: weight is f32[1], given is c64[1], which it cannot hold; convert one of them first");
  expect_error<rc::TypeError>(
      [] { (void)rc::load_leaves(Linear{rc::ones({1}, rc::int64), {}}, {{"weight", rc::ones({1})}}); },
      "load_leaves: weight is i64[1], given is f32[1], which it cannot hold; convert one of them first");
}

TEST(NamedLeaves, NeedATreeWithNames) {
  expect_error<rc::ValueError>([] { rc::named_leaves(rc::ones({})); },
                               "named_leaves: the tree is a lone Tensor, which has no name; give it one, for example "
                               "std::map<std::string, Tensor>{{\"x\", x}}");
}

}  // namespace
