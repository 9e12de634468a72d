// Arguments and results of vmap may be any tree; in_dims and out_dims follow it, and what is no tensor is left alone.
#include <array>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "support/expect_tensor.h"
#include "support/model.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

struct Point {
  Tensor x, y;
};

struct Scaled {
  Tensor value;
  double factor = 1;
  std::string unit;
};

TEST(VmapTrees, AStructIsMappedFieldByField) {
  const Point points{ramp({4}), ramp({4}) * 2};
  const Tensor norm2 = rc::vmap([](Point p) { return p.x * p.x + p.y * p.y; })(points);
  expect_close(norm2, points.x * points.x * 5);
}

TEST(VmapTrees, InDimsFollowTheFieldsOfAStruct) {
  const Point point{ramp({2, 3}), ramp({2})};
  const auto f = [](Point p) { return p.x * p.y; };
  expect_close(rc::vmap(f, {.in_dims = {{1, rc::none}}})(point), point.x.t() * point.y);
}

TEST(VmapTrees, InDimsFollowNestedTreesAndArguments) {
  const Point point{ramp({3, 2}), ramp({2})};
  const Tensor z = ramp({2, 3});
  const auto f = [](Point p, Tensor t) { return p.x + p.y * t; };
  expect_close(rc::vmap(f, {.in_dims = {{0, rc::none}, -1}})(point, z), point.x + point.y * z.t());
}

TEST(VmapTrees, OneIntegerCoversASubtree) {
  const Mlp one = make_mlp();
  const Mlp ensemble = rc::stack_trees(std::vector<Mlp>{one, one, one});
  const Tensor x = ramp({3});
  const Tensor y = rc::vmap(predict, {.in_dims = {0, rc::none}})(ensemble, x);
  expect_close(y, predict(one, x).expand({3, 2}), 1e-12);
}

TEST(VmapTrees, NoneCoversASubtree) {
  const Mlp model = make_mlp();
  const Tensor x = ramp({5, 3});
  expect_close(rc::vmap(predict, {.in_dims = {rc::none, 0}})(model, x), predict(model, x), 1e-12);
}

TEST(VmapTrees, VectorsTuplesPairsAndArraysAreTrees) {
  const Tensor x = ramp({4}), y = x * 3;
  const auto sum_vector = [](std::vector<Tensor> v) { return v[0] + v[1]; };
  const auto sum_tuple = [](std::tuple<Tensor, Tensor> t) { return std::get<0>(t) + std::get<1>(t); };
  const auto sum_pair = [](std::pair<Tensor, Tensor> p) { return p.first + p.second; };
  const auto sum_array = [](std::array<Tensor, 2> a) { return a[0] + a[1]; };
  expect_close(rc::vmap(sum_vector)(std::vector<Tensor>{x, y}), x * 4);
  expect_close(rc::vmap(sum_tuple)(std::tuple{x, y}), x * 4);
  expect_close(rc::vmap(sum_pair)(std::pair{x, y}), x * 4);
  expect_close(rc::vmap(sum_array)(std::array<Tensor, 2>{x, y}), x * 4);
}

TEST(VmapTrees, InDimsFollowAVector) {
  const Tensor x = ramp({4, 2}), y = ramp({2, 4});
  const auto f = [](std::vector<Tensor> v) { return v[0] * v[1]; };
  expect_close(rc::vmap(f, {.in_dims = {{0, 1}}})(std::vector<Tensor>{x, y}), x * y.t());
}

TEST(VmapTrees, MapsAreTreesInTheOrderOfTheirKeys) {
  const std::map<std::string, Tensor> batch = {{"a", ramp({3, 2})}, {"b", ramp({2, 3})}};
  const auto f = [](std::map<std::string, Tensor> m) { return m.at("a") - m.at("b"); };
  expect_close(rc::vmap(f, {.in_dims = {{0, 1}}})(batch), batch.at("a") - batch.at("b").t());
}

TEST(VmapTrees, AnOptionalIsALeafWhenFullAndNothingWhenEmpty) {
  const auto f = [](Tensor x, std::optional<Tensor> shift) { return shift ? x + *shift : x; };
  const Tensor x = ramp({3});
  expect_close(rc::vmap(f)(x, std::optional<Tensor>(x)), x * 2);
  expect_close(rc::vmap(f)(x, std::optional<Tensor>()), x);
}

TEST(VmapTrees, NonTensorArgumentsKeepTheirValue) {
  const auto f = [](Tensor x, double factor, std::string unit) {
    EXPECT_EQ(unit, "metre");
    return x * factor;
  };
  expect_close(rc::vmap(f)(ramp({3}), 2.5, std::string("metre")), ramp({3}) * 2.5);
}

TEST(VmapTrees, NonTensorFieldsKeepTheirValueOnTheWayInAndOut) {
  const auto f = [](Scaled s) { return Scaled{s.value * s.factor, s.factor + 1, s.unit + "2"}; };
  const Scaled result = rc::vmap(f)(Scaled{ramp({3}), 2, "m"});
  expect_close(result.value, ramp({3}) * 2);
  EXPECT_EQ(result.factor, 3);
  EXPECT_EQ(result.unit, "m2");
}

TEST(VmapTrees, AStructAsResultIsStackedFieldByField) {
  const Tensor x = ramp({4});
  const Point p = rc::vmap([](Tensor a) { return Point{a, a * a}; })(x);
  expect_close(p.x, x);
  expect_close(p.y, x * x);
}

TEST(VmapTrees, AnOutDimCoversItsSubtree) {
  const Tensor x = ramp({3, 2});
  const auto f = [](Tensor a) { return std::tuple{Point{a, a * 2}, std::vector<Tensor>{a, a * 3}, a.sum()}; };
  const auto [p, v, s] = rc::vmap(f, {.out_dims = {1, {0, -1}, 0}})(x);
  expect_close(p.x, x.t());
  expect_close(p.y, x.t() * 2);
  expect_close(v[0], x);
  expect_close(v[1], x.t() * 3);
  expect_close(s, x.sum(1));
}

TEST(VmapTrees, OutDimsFollowTheResultTree) {
  const Tensor x = ramp({3, 2});
  const auto f = [](Tensor a) { return std::tuple{Point{a, a * 2}, a.sum()}; };
  const auto [p, s] = rc::vmap(f, {.out_dims = {{1, 0}, 0}})(x);
  expect_close(p.x, x.t());
  expect_close(p.y, x * 2);
  expect_close(s, x.sum(1));
}

TEST(VmapTrees, AMapAsResultKeepsItsKeys) {
  const auto f = [](Tensor a) { return std::map<std::string, Tensor>{{"twice", a * 2}, {"once", a}}; };
  const auto result = rc::vmap(f)(ramp({3}));
  ASSERT_EQ(result.size(), 2U);
  expect_close(result.at("once"), ramp({3}));
  expect_close(result.at("twice"), ramp({3}) * 2);
}

TEST(VmapTrees, AVectorAsResultMayHaveAnyLength) {
  const auto f = [](Tensor a) { return a.unbind(0); };
  const std::vector<Tensor> columns = rc::vmap(f)(ramp({3, 4}));
  ASSERT_EQ(columns.size(), 4U);
  expect_close(columns[2], ramp({3, 4}).select(1, 2));
}

TEST(VmapTrees, AnEnsembleIsAStackOfModels) {
  Mlp first = make_mlp(), second = make_mlp();
  second.layers[1].bias = second.layers[1].bias + 1;
  const Mlp ensemble = rc::stack_trees(std::vector<Mlp>{first, second});
  const Tensor x = ramp({5, 3});
  const Tensor y = rc::vmap(predict, {.in_dims = {0, rc::none}})(ensemble, x);
  expect_close(y, rc::stack({predict(first, x), predict(second, x)}, 0), 1e-12);
  const std::vector<Mlp> back = rc::unstack_trees(ensemble);
  ASSERT_EQ(back.size(), 2U);
  expect_equal(back[1].layers[1].bias, second.layers[1].bias);
}

TEST(VmapTrees, PerSampleGradientsHaveTheTreeOfTheModel) {
  const Mlp model = make_mlp();
  const Tensor xs = ramp({4, 3}), ys = ramp({4, 2});
  const auto loss = [](Mlp m, Tensor x, Tensor y) { return (predict(m, x) - y).square().sum(); };
  const Mlp each = rc::vmap(rc::grad(loss), {.in_dims = {rc::none, 0, 0}})(model, xs, ys);
  EXPECT_EQ(each.dropout, model.dropout);
  ASSERT_EQ(each.layers.size(), 2U);
  for (std::int64_t i = 0; i < 4; ++i) {
    const Mlp one = rc::grad(loss)(model, xs[i], ys[i]);
    expect_close(each.layers[0].weight[i], one.layers[0].weight, 1e-12);
    expect_close(each.layers[1].bias[i], one.layers[1].bias, 1e-12);
  }
}

TEST(VmapTrees, AnUndefinedLeafOfAResultStaysUndefined) {
  const Linear layer{ramp({3}), Tensor()};
  const Tensor xs = ramp({4, 3});
  const auto loss = [](Linear l, Tensor x) { return (l.weight * l.weight * x).sum(); };
  for (const std::optional<std::int64_t> chunk : {std::optional<std::int64_t>(), std::optional<std::int64_t>(3)}) {
    const Linear each = rc::vmap(rc::grad(loss), {.in_dims = {rc::none, 0}, .chunk_size = chunk})(layer, xs);
    expect_close(each.weight, layer.weight * xs * 2);
    EXPECT_FALSE(each.bias.defined());
  }
}

struct Scorer {
  Tensor weight;
  Tensor score(const Tensor& x) const { return (weight * x).sum(); }
};

TEST(VmapTrees, AMemberFunctionTakesItsObjectAsFirstArgument) {
  const Scorer scorer{rc::tensor({1., 2.})};
  const Tensor rows = rc::tensor({{1., 0.}, {0., 1.}, {3., 4.}});
  expect_values(rc::vmap(&Scorer::score, {.in_dims = {rc::none, 0}})(scorer, rows), {1, 2, 11});
  expect_close(rc::vmap(rc::grad(&Scorer::score), {.in_dims = {rc::none, 0}})(scorer, rows).weight, rows);
}

}  // namespace
