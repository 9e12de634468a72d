// jacrev, jacfwd and hessian: leaf shapes are output sizes then input sizes, trees are the output's outside and the
// input's inside, values are closed formulas.
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "support/difference_quotient.h"
#include "support/expect_tensor.h"
#include "support/model.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

struct Out {
  Tensor square, total;
  double tag = 0;
};

TEST(Jacobian, OfAnElementwiseFunctionIsDiagonal) {
  const Tensor x = ramp({3});
  const Tensor expected = rc::eye(3, rc::float64) * cos(x);
  expect_close(rc::jacrev(rc::sin)(x), expected);
  expect_close(rc::jacfwd(rc::sin)(x), expected);
}

TEST(Jacobian, HasTheOutputsSizesThenTheInputs) {
  const auto f = [](Tensor x) { return matmul(x, rc::ones({3, 5}, rc::float64)); };
  EXPECT_EQ(sizes(rc::jacrev(f)(ramp({2, 3}))), (Sizes{2, 5, 2, 3}));
  EXPECT_EQ(sizes(rc::jacfwd(f)(ramp({2, 3}))), (Sizes{2, 5, 2, 3}));
}

TEST(Jacobian, OfAScalarFunctionIsItsGradient) {
  const auto f = [](Tensor x) { return (x * x).sum(); };
  expect_close(rc::jacrev(f)(ramp({2, 3})), ramp({2, 3}) * 2);
  expect_close(rc::jacfwd(f)(ramp({2, 3})), ramp({2, 3}) * 2);
}

TEST(Jacobian, OfAScalarArgumentHasTheOutputsSizes) {
  const auto f = [](Tensor t) { return doubles({1, 2, 3}) * t * t; };
  expect_values(rc::jacrev(f)(number(2)), {4, 8, 12});
  expect_values(rc::jacfwd(f)(number(2)), {4, 8, 12});
}

TEST(Jacobian, AgreesWithDifferenceQuotients) {
  const auto f = [](Tensor x) { return tanh(matmul(x, x.t())) * x.sum(); };
  const Tensor x = ramp({2, 3}) * 0.4;
  const Tensor expected = difference_quotient(f, x);
  expect_close(rc::jacrev(f)(x), expected, difference_tolerance);
  expect_close(rc::jacfwd(f)(x), expected, difference_tolerance);
}

TEST(Jacobian, ArgnumsChooseArguments) {
  const auto f = [](Tensor x, Tensor y) { return x * y; };
  const Tensor x = ramp({2}), y = ramp({2}) + 1;
  expect_close(rc::jacrev<1>(f)(x, y), rc::eye(2, rc::float64) * x);
  expect_close(rc::jacfwd<-1>(f)(x, y), rc::eye(2, rc::float64) * x);
  const auto [fx, fy] = rc::jacfwd<0, 1>(f)(x, y);
  expect_close(fx, rc::eye(2, rc::float64) * y);
  expect_close(fy, rc::eye(2, rc::float64) * x);
  const auto [ry, rx] = rc::jacrev<1, 0>(f)(x, y);
  expect_close(rx, fx);
  expect_close(ry, fy);
}

TEST(Jacobian, OfATensorByATreeHasTheInputsTree) {
  const Mlp model = make_mlp();
  const Tensor x = ramp({3});
  const Mlp jacobian = rc::jacrev([&](Mlp m) { return predict(m, x); })(model);
  EXPECT_EQ(sizes(jacobian.layers[0].weight), (Sizes{2, 3, 4}));
  EXPECT_EQ(sizes(jacobian.layers[1].bias), (Sizes{2, 2}));
  EXPECT_EQ(jacobian.dropout, model.dropout);
  const Mlp forward = rc::jacfwd([&](Mlp m) { return predict(m, x); })(model);
  expect_close(forward.layers[0].weight, jacobian.layers[0].weight, 1e-12);
}

TEST(Jacobian, OfATreeByATensorHasTheOutputsTree) {
  const Tensor x = ramp({2});
  const auto f = [](Tensor a) { return Out{a * a, a.sum(), 3.5}; };
  for (const Out& jacobian : {rc::jacrev(f)(x), rc::jacfwd(f)(x)}) {
    expect_close(jacobian.square, rc::eye(2, rc::float64) * x * 2);
    expect_values(jacobian.total, {1, 1});
    EXPECT_EQ(jacobian.tag, 3.5);
  }
}

TEST(Jacobian, OfATupleByATensorIsATuple) {
  const auto f = [](Tensor a) { return std::tuple{a * 2, a.sum()}; };
  const std::tuple<Tensor, Tensor> jacobian = rc::jacrev(f)(ramp({2}));
  expect_close(std::get<0>(jacobian), rc::eye(2, rc::float64) * 2);
  expect_values(std::get<1>(jacobian), {1, 1});
}

TEST(Jacobian, OfAMapByAMapIsAMapOfMaps) {
  using Named = std::map<std::string, Tensor>;
  const auto f = [](Named m) { return Named{{"p", m.at("a") * m.at("b")}}; };
  const Named at{{"a", ramp({2})}, {"b", ramp({2}) + 1}};
  const std::map<std::string, Named> jacobian = rc::jacrev(f)(at);
  expect_close(jacobian.at("p").at("a"), rc::eye(2, rc::float64) * at.at("b"));
  expect_close(rc::jacfwd(f)(at).at("p").at("b"), rc::eye(2, rc::float64) * at.at("a"));
}

TEST(Jacobian, OfAVectorByAStructIsAVectorOfStructs) {
  const auto f = [](Linear l) { return std::vector<Tensor>{l.bias * 2, l.weight.sum()}; };
  const std::vector<Linear> jacobian = rc::jacrev(f)(make_linear(3, 2));
  ASSERT_EQ(jacobian.size(), 2U);
  expect_close(jacobian[0].bias, rc::eye(2, rc::float64) * 2);
  EXPECT_EQ(sizes(jacobian[0].weight), (Sizes{2, 3, 2}));
  expect_close(jacobian[1].weight, rc::ones({3, 2}, rc::float64));
}

TEST(Jacobian, OfAStructByAStructIsIndexedByMembers) {
  const Linear at = make_linear(3, 2);
  const auto f = [](Linear l) { return Linear{l.weight * 2, l.bias * l.weight.sum(0)}; };
  const auto jacobian = rc::jacrev(f)(at);
  EXPECT_EQ(sizes(jacobian[&Linear::weight].bias), (Sizes{3, 2, 2}));
  EXPECT_EQ(sizes(jacobian[&Linear::bias].weight), (Sizes{2, 3, 2}));
  expect_close(jacobian[&Linear::bias].bias, rc::eye(2, rc::float64) * at.weight.sum(0));
  expect_values(jacobian[&Linear::weight].bias, Values(12, 0.0));
  const auto forward = rc::jacfwd(f)(at);
  expect_close(forward[&Linear::bias].weight, jacobian[&Linear::bias].weight);
}

TEST(Jacobian, OfAStructByAStructOpensAsABindingAndByPosition) {
  const auto f = [](Linear l) { return Linear{l.weight * 2, l.bias * 3}; };
  auto jacobian = rc::jacrev(f)(make_linear(3, 2));
  auto& [w, b] = jacobian;
  expect_close(b.bias, rc::eye(2, rc::float64) * 3);
  expect_close(jacobian.get<1>().bias, b.bias);
  expect_close(w.weight, jacobian[&Linear::weight].weight);
}

TEST(Jacobian, OfTwoArgumentsByAStructOutputIsIndexedByMembers) {
  const auto f = [](Tensor a, Tensor b) { return Linear{a * b, a + b}; };
  const Tensor a = ramp({2}), b = ramp({2}) + 1;
  const Tensor one = rc::eye(2, rc::float64);
  const auto expect_blocks = [&](const auto& jacobian) {
    expect_close(std::get<0>(jacobian[&Linear::weight]), one * b);
    expect_close(std::get<1>(jacobian[&Linear::weight]), one * a);
    expect_close(std::get<0>(jacobian[&Linear::bias]), one);
    expect_close(std::get<1>(jacobian[&Linear::bias]), one);
  };
  expect_blocks(rc::jacrev<0, 1>(f)(a, b));
  expect_blocks(rc::jacfwd<0, 1>(f)(a, b));
}

TEST(Jacobian, UnrelatedOutputsAndInputsGiveZeros) {
  const auto f = [](Tensor x, Tensor) { return std::tuple{x * 2, doubles({1, 2, 3})}; };
  const auto [of_x, of_constant] = rc::jacrev(f)(ramp({2}), ramp({4}));
  expect_values(of_constant, Values(6, 0.0));
  EXPECT_EQ(sizes(of_constant), (Sizes{3, 2}));
  expect_values(of_x, {2, 0, 0, 2});
  for (const auto& [by_unread, constant] :
       {rc::jacrev<1>(f)(ramp({2}), ramp({4})), rc::jacfwd<1>(f)(ramp({2}), ramp({4}))}) {
    expect_close(by_unread, rc::zeros({2, 4}, rc::float64));
    expect_close(constant, rc::zeros({3, 4}, rc::float64));
  }
}

TEST(Jacobian, ChunksGiveTheSameResult) {
  const auto f = [](Tensor x) { return sin(x) * x.sum(); };
  const Tensor x = ramp({5});
  const Tensor whole = rc::jacrev(f)(x);
  for (std::int64_t size : {1, 2, 5, 9}) {
    expect_close(rc::jacrev(f, {.chunk_size = size})(x), whole, 1e-13);
    expect_close(rc::jacfwd(f, {.chunk_size = size})(x), whole, 1e-13);
  }
  expect_close(rc::hessian(f, {.chunk_size = 2})(x), rc::hessian(f)(x), 1e-12);
}

/// x², whose rule looks at the cotangent that it is given, and has no rule for vmap.
struct SquareThatLooks : rc::Function<SquareThatLooks> {
  static Tensor forward(const Tensor& x) { return x * x; }
  static void setup_context(rc::Context& ctx, const std::tuple<Tensor>& inputs, const Tensor&) {
    ctx.save_for_backward(std::get<0>(inputs));
  }
  static Tensor backward(rc::Context& ctx, const Tensor& ct) {
    const std::vector<double> seen = ct.to_vector<double>();
    for (std::size_t i = 0; i < seen.size(); ++i)
      if (seen[i] != 0) return 2 * ctx.saved(0) * ct;
    return rc::zeros_like(ct);
  }
};

TEST(Jacobian, ByRowsOneByOneServesRulesThatLookAtValues) {
  const Tensor x = ramp({2, 3}), y = ramp({3});
  const auto f = [](Tensor a, Tensor b) { return std::tuple{SquareThatLooks::apply(a) * b, (a * b).sum(), b.sum(0)}; };
  const auto plain = [](Tensor a, Tensor b) { return std::tuple{a * a * b, (a * b).sum(), b.sum(0)}; };
  EXPECT_THROW((rc::jacrev<0, 1>(f)(x, y)), rc::Error);
  EXPECT_THROW((rc::jacrev<0, 1>(f, {.chunk_size = 2})(x, y)), rc::Error);
  const auto rows = rc::jacrev<0, 1>(f, {.chunk_size = 1})(x, y), expected = rc::jacrev<0, 1>(plain)(x, y);
  const std::vector<Tensor> found = rc::leaves(rows), wanted = rc::leaves(expected);
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) expect_close(found[i], wanted[i], 1e-13);
  const auto loss = [](Tensor a) { return SquareThatLooks::apply(a).sum(); };
  expect_close(rc::hessian([](Tensor a) { return (a * a).sum(); }, {.chunk_size = 1})(y), 2 * rc::eye(3, rc::float64));
  expect_close(rc::jacrev(loss, {.chunk_size = 1})(y), 2 * y);
  expect_close(rc::jacrev([](Tensor a) { return a * a; }, {.chunk_size = 1})(rc::zeros({0, 2})),
               rc::zeros({0, 2, 0, 2}));
}

TEST(Jacobian, AuxIsReturnedBesideTheJacobian) {
  const auto f = [](Tensor x) { return std::pair{x * x, std::tuple{x + 1, 5}}; };
  const auto [reverse, aux] = rc::jacrev(f, rc::has_aux)(doubles({2, 3}));
  expect_values(reverse, {4, 0, 0, 6});
  expect_values(std::get<0>(aux), {3, 4});
  EXPECT_EQ(std::get<1>(aux), 5);
  const auto [forward, aux2] = rc::jacfwd(f, rc::has_aux)(doubles({2, 3}));
  expect_values(forward, {4, 0, 0, 6});
  expect_values(std::get<0>(aux2), {3, 4});
}

TEST(Jacobian, NonTensorArgumentsAreHandedOn) {
  const auto f = [](Tensor x, double factor, std::string) { return x * factor; };
  expect_values(rc::jacrev(f)(ramp({1}), 2.5, std::string("s")), {2.5});
  expect_values(rc::jacfwd(f)(ramp({1}), 2.5, std::string("s")), {2.5});
}

TEST(Jacobian, OfAnEmptyInputIsEmpty) {
  EXPECT_EQ(sizes(rc::jacrev(rc::sin)(rc::zeros({0}))), (Sizes{0, 0}));
  EXPECT_EQ(sizes(rc::jacfwd(rc::sin)(rc::zeros({0}))), (Sizes{0, 0}));
}

TEST(Jacobian, AStructJacobianCanBeMappedAndDifferentiated) {
  const auto f = [](Linear l) { return Linear{l.weight * l.weight, l.bias * 2}; };
  const Linear one = make_linear(2, 2);
  const auto mapped = rc::vmap(rc::jacrev(f))(rc::stack_trees(std::vector<Linear>{one, one, one}));
  EXPECT_EQ(sizes(mapped[&Linear::weight].weight), (Sizes{3, 2, 2, 2, 2}));
  const auto second = rc::jacfwd(rc::jacrev(f))(one);
  EXPECT_EQ(sizes(second[&Linear::weight][&Linear::weight].bias), (Sizes{2, 2, 2, 2, 2}));
}

TEST(Hessian, OfAQuadraticFormIsItsSymmetricMatrix) {
  const Tensor a = doubles({1, 2, 3, 4}, {2, 2});
  const auto f = [&](Tensor x) { return dot(x, rc::mv(a, x)); };
  expect_close(rc::hessian(f)(ramp({2})), a + a.t());
}

TEST(Hessian, OfARosenbrockFunctionIsTheClosedFormula) {
  const auto f = [](Tensor x) {
    const Tensor u = x[0], v = x[1];
    return (v - u * u) * (v - u * u) * 100 + (1 - u) * (1 - u);
  };
  const double u = 0.4, v = 0.7;
  expect_values(rc::hessian(f)(doubles({u, v})), {1200 * u * u - 400 * v + 2, -400 * u, -400 * u, 200});
}

TEST(Hessian, AgreesInAllFourOrdersOfDifferentiation) {
  const auto f = [](Tensor x) { return (exp(x) * x.sum()).sum() + sin(x).prod(); };
  const Tensor x = ramp({3});
  const Tensor expected = rc::hessian(f)(x);
  expect_close(rc::jacfwd(rc::jacfwd(f))(x), expected, 1e-11);
  expect_close(rc::jacfwd(rc::jacrev(f))(x), expected, 1e-11);
  expect_close(rc::jacrev(rc::jacfwd(f))(x), expected, 1e-11);
  expect_close(rc::jacrev(rc::jacrev(f))(x), expected, 1e-11);
}

TEST(Hessian, OfAVectorFunctionHasTheOutputsSizesFirst) {
  const auto f = [](Tensor x) { return rc::stack({(x * x).sum(), x.prod()}, 0); };
  const Tensor h = rc::hessian(f)(doubles({2, 3}));
  EXPECT_EQ(sizes(h), (Sizes{2, 2, 2}));
  expect_values(h, {2, 0, 0, 2, 0, 1, 1, 0});
}

TEST(Hessian, OfATreeIsIndexedByMembersTwice) {
  const Linear at = make_linear(3, 2);
  const auto f = [](Linear l) { return (l.weight.sum(0) * l.bias * l.bias).sum(); };
  const auto h = rc::hessian(f)(at);
  EXPECT_EQ(sizes(h[&Linear::weight].bias), (Sizes{3, 2, 2}));
  expect_close(h[&Linear::bias].bias, rc::eye(2, rc::float64) * at.weight.sum(0) * 2);
  expect_close(h[&Linear::weight].bias, (rc::eye(2, rc::float64) * at.bias * 2).expand({3, 2, 2}));
  expect_values(h[&Linear::weight].weight, Values(36, 0.0));
}

TEST(Hessian, OfANestedModelIsIndexedPathByPath) {
  const Mlp model = make_mlp();
  const Tensor x = ramp({3});
  const auto h = rc::hessian([&](Mlp m) { return predict(m, x).sum(); })(model);
  EXPECT_EQ(sizes(h[&Mlp::layers][0][&Linear::weight].layers[1].bias), (Sizes{3, 4, 2}));
}

TEST(Hessian, OfTwoArgumentsIsATupleOfTuples) {
  const auto f = [](Tensor x, Tensor y) { return (x * x * y).sum(); };
  const Tensor x = ramp({2}), y = ramp({2}) + 1;
  const auto h = rc::hessian<0, 1>(f)(x, y);
  const Tensor eye = rc::eye(2, rc::float64);
  expect_close(std::get<0>(std::get<0>(h)), eye * y * 2);
  expect_close(std::get<1>(std::get<0>(h)), eye * x * 2);
  expect_close(std::get<0>(std::get<1>(h)), eye * x * 2);
  expect_close(std::get<1>(std::get<1>(h)), eye * 0);
}

TEST(Hessian, AuxIsReturnedOnceWithoutDerivatives) {
  const auto f = [](Tensor x) { return std::pair{(x * x * x).sum(), x * 10}; };
  const auto [h, aux] = rc::hessian(f, rc::has_aux)(doubles({1, 2}));
  expect_values(h, {6, 0, 0, 12});
  expect_values(aux, {10, 20});
}

/// A weight and the places it is read at, which have no derivative.
struct Table {
  Tensor weight, places;
};

TEST(Jacobian, KeepsIntegerLeavesAsTheyAre) {
  const Table table{doubles({1, 2, 3}), rc::tensor({2, 0})};
  const auto read = [](Table t) { return square(rc::index_select(t.weight, 0, t.places)); };  // [2]
  const auto expect_row = [&](const Table& j) {
    expect_values(j.weight, {0, 0, 6, 2, 0, 0});
    expect_equal(j.places, table.places);
  };
  expect_row(rc::jacrev(read)(table));
  expect_row(rc::jacfwd(read)(table));
  expect_row(rc::jacfwd(read, {.chunk_size = 2})(table));
  const auto h = rc::hessian([&](Table t) { return read(t).sum(); })(table);
  expect_values(h[&Table::weight].weight, {2, 0, 0, 0, 0, 0, 0, 0, 2});
  expect_equal(h[&Table::weight].places, table.places);
  expect_equal(h[&Table::places].places, table.places);
  const auto again = rc::jacrev(rc::jacrev([&](Table t) { return read(t).sum(); }))(table);
  expect_values(again[&Table::weight].weight, {2, 0, 0, 0, 0, 0, 0, 0, 2});
  expect_equal(again[&Table::places].weight, table.places);
}

TEST(Jacobian, LeavesUndefinedLeavesUndefined) {
  const Linear layer{doubles({1, 2, 3}), Tensor()};
  const auto squares = [](Linear l) { return Linear{square(l.weight), l.bias}; };
  for (const auto& j : {rc::jacrev(squares)(layer), rc::jacfwd(squares)(layer)}) {
    expect_values(j[&Linear::weight].weight, {2, 0, 0, 0, 4, 0, 0, 0, 6});
    EXPECT_FALSE(j[&Linear::weight].bias.defined());
    EXPECT_FALSE(j[&Linear::bias].weight.defined());
  }
  const auto h = rc::hessian([&](Linear l) { return squares(l).weight.sum(); })(layer);
  expect_values(h[&Linear::weight].weight, {2, 0, 0, 0, 2, 0, 0, 0, 2});
  EXPECT_FALSE(h[&Linear::bias].weight.defined());
  EXPECT_FALSE(h[&Linear::weight].bias.defined());
}

/// Each chunk runs the function on the arguments as they were given. In the end the arguments are as after one run.
TEST(Jacobian, InChunksOfAFunctionThatWritesToItsArguments) {
  const auto f = [](Tensor x, Tensor scale, std::vector<Tensor> rest) {
    scale.mul_(2);
    rest[0].add_(scale.sum());
    x.mul_(scale);
    return x * x * rest[0];
  };
  const auto run = [&](std::optional<std::int64_t> chunk_size, bool second) {
    const Tensor table = doubles({1, 2, 3, 10, 20, 30}, {2, 3}), rest = doubles({5, 6, 7}, {3});
    const Tensor x = table[0], scale = table[1];
    const auto g = [&](Tensor a, Tensor b, std::vector<Tensor> c) { return f(a, b, c).sum(); };
    const rc::JacobianOptions options{.chunk_size = chunk_size};
    const Tensor j = second ? rc::hessian(g, options)(x, scale, std::vector<Tensor>{rest})
                            : rc::jacfwd(f, options)(x, scale, std::vector<Tensor>{rest});
    return std::tuple{j, table, rest};
  };
  for (bool second : {false, true}) {
    const auto [j, table, rest] = run({}, second);
    for (std::int64_t chunk_size : {1, 2, 3, 5}) {
      SCOPED_TRACE(chunk_size);
      const auto [j_chunked, table_chunked, rest_chunked] = run(chunk_size, second);
      expect_equal(j_chunked, j);
      expect_equal(table_chunked, table);
      expect_equal(rest_chunked, rest);
    }
  }
}

}  // namespace
