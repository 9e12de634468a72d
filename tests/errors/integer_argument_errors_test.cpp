// Derivatives with respect to what has none: a tensor of integers, or a tree that holds no others.
#include "support/expect_error.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

struct Indices {
  Tensor rows, columns;
};
struct Mixed {
  Tensor weight, rows;
};

const std::string lone = " 0 is i64[2], which has no derivative; convert it with .to(rc::float32){at}";
const std::string tree =
    " 0 is {rows: i64[2], columns: bool[]}, of which nothing has a derivative; convert a tensor of it with "
    ".to(rc::float32){at}";

Tensor integers() { return rc::tensor(std::vector<std::int64_t>{1, 2}); }
Indices indices() { return {integers(), rc::zeros({}, rc::boolean)}; }

TEST(IntegerArgumentErrors, OfEveryTransform) {
  const Tensor n = integers();
  const auto loss = [](Tensor a) { return (a * 0.5).sum(); };
  expect_error<rc::TypeError>([&] { rc::grad(loss)(n); }, "grad: argument" + lone, {n});
  expect_error<rc::TypeError>([&] { rc::grad_and_value(loss)(n); }, "grad_and_value: argument" + lone, {n});
  expect_error<rc::TypeError>([&] { rc::value_and_grad(loss)(n); }, "value_and_grad: argument" + lone, {n});
  expect_error<rc::TypeError>([&] { rc::jacrev(loss)(n); }, "jacrev: argument" + lone, {n});
  expect_error<rc::TypeError>([&] { rc::jacfwd(loss)(n); }, "jacfwd: argument" + lone, {n});
  expect_error<rc::TypeError>([&] { rc::hessian(loss)(n); }, "hessian: argument" + lone, {n});
  expect_error<rc::TypeError>([&] { rc::vjp(loss, n); }, "vjp: argument" + lone, {n});
  expect_error<rc::TypeError>([&] { rc::jvp(loss, n, n); }, "jvp: primal" + lone, {n});
  expect_error<rc::TypeError>([&] { rc::linearize(loss, n); }, "linearize: primal" + lone, {n});
}

TEST(IntegerArgumentErrors, OfEveryTransformOfATree) {
  const Indices both = indices();
  const auto loss = [](Indices i) { return (i.rows * 0.5).sum(); };
  expect_error<rc::TypeError>([&] { rc::grad(loss)(both); }, "grad: argument" + tree);
  expect_error<rc::TypeError>([&] { rc::jacrev(loss)(both); }, "jacrev: argument" + tree);
  expect_error<rc::TypeError>([&] { rc::jacfwd(loss)(both); }, "jacfwd: argument" + tree);
  expect_error<rc::TypeError>([&] { rc::hessian(loss)(both); }, "hessian: argument" + tree);
  expect_error<rc::TypeError>([&] { rc::vjp(loss, both); }, "vjp: argument" + tree);
  expect_error<rc::TypeError>([&] { rc::jvp(loss, both, both); }, "jvp: primal" + tree);
  expect_error<rc::TypeError>([&] { rc::linearize(loss, both); }, "linearize: primal" + tree);
}

/// Converting an index, or a mask, breaks it: what else can be done stands first.
TEST(IntegerArgumentErrors, BesideOneThatHasADerivative) {
  const Tensor x = rc::ones({2}), n = integers();
  const auto loss = [](Tensor a, Tensor b) { return (a * b).sum(); };
  const std::string second = " 1 is i64[2], which has no derivative; ";
  const auto others = [&](const std::string& name) {
    return name + ": argument" + second + "differentiate others, as " + name +
           "<0>, or convert it with .to(rc::float32){at}";
  };
  expect_error<rc::TypeError>([&] { rc::grad<0, 1>(loss)(x, n); }, others("grad"), {x, n});
  expect_error<rc::TypeError>([&] { rc::grad<-1>(loss)(x, n); }, others("grad"), {x, n});
  expect_error<rc::TypeError>([&] { rc::jacrev<0, 1>(loss)(x, n); }, others("jacrev"), {x, n});
  expect_error<rc::TypeError>([&] { rc::jacfwd<0, 1>(loss)(x, n); }, others("jacfwd"), {x, n});
  expect_error<rc::TypeError>([&] { rc::hessian<1>(loss)(x, n); }, others("hessian"), {x, n});
  expect_error<rc::TypeError>([&] { rc::grad(loss)(n, x); },
                              "grad: argument 0 is i64[2], which has no derivative; differentiate others, as grad<1>, "
                              "or convert it with .to(rc::float32){at}",
                              {x, n});
  const std::string aside = second + "capture it in the function, or put it into a struct, tuple or list with others";
  expect_error<rc::TypeError>([&] { rc::vjp(loss, x, n); }, "vjp: argument" + aside + "{at}", {x, n});
  expect_error<rc::TypeError>([&] { rc::linearize(loss, x, n); }, "linearize: primal" + aside + "{at}", {x, n});
  expect_error<rc::TypeError>([&] { rc::jvp(loss, {x, n}, {x, rc::zeros_like(n)}); },
                              "jvp: primal" + aside + ", or pass an undefined tangent for it{at}", {x, n});
  const auto with_tree = [](Tensor a, Indices i) { return (a * i.rows).sum(); };
  expect_error<rc::TypeError>([&] { rc::grad<0, 1>(with_tree)(x, indices()); },
                              "grad: argument 1 is {rows: i64[2], columns: bool[]}, of which nothing has a derivative; "
                              "differentiate others, as grad<0>, or convert a tensor of it with .to(rc::float32){at}");
}

TEST(IntegerArguments, GoAlongWithAnUndefinedTangent) {
  const Tensor x = doubles({3, 4, 5}), dx = doubles({1, 10, 100}), n = integers();
  const auto f = [](Tensor a, Tensor i) { return a[i] * a[i]; };
  auto [y, dy] = rc::jvp(f, {x, n}, {dx, rc::none});
  expect_values(y, {16, 25});
  expect_values(dy, {80, 1000});
  expect_values(std::get<1>(rc::jvp(f, std::tuple{x, n}, std::tuple{dx, Tensor()})), {80, 1000});
  const auto mapped = rc::vmap([&](Tensor i) { return std::get<1>(rc::jvp(f, {x, i}, {dx, rc::none})); });
  expect_values(mapped(rc::stack({n, n + (-1)})), {80, 1000, 6, 80});
  const auto [z, dz] = rc::jvp([&](Tensor a) { return std::get<1>(rc::jvp(f, {a, n}, {dx, rc::none})); }, x, dx);
  expect_values(dz, {200, 20000});
  expect_error<rc::TypeError>([&] { rc::jvp([](Tensor i) { return i * 0.5; }, n, Tensor()); }, "jvp: primal" + lone,
                              {n});
  expect_error<rc::ValueError>([&] { rc::jvp(f, {x, n}, {rc::none, rc::none}); },
                               "jvp: the tangents do not fit the primals: tangent 0 is undefined, primal 0 is f64[3]; "
                               "pass tangents like the primals{at}",
                               {x, n});
}

TEST(IntegerArguments, StayWhatTheyAreBesideOthersOfTheirTree) {
  const Mixed mixed{doubles({3, 4}), integers()};
  const auto loss = [](Mixed m) { return (m.weight * m.rows).sum(); };
  const Mixed gradient = rc::grad(loss)(mixed);
  expect_values(gradient.weight, {1, 2});
  expect_values(gradient.rows, {1, 2});
  auto [y, pullback] = rc::vjp(loss, mixed);
  expect_values(pullback(number(1)).rows, {1, 2});
}

/// A key is a tree of integers, which a function that draws takes beside what is differentiated.
TEST(IntegerArguments, ATreeOfIntegersGoesAlongWherePrimalsAreNotChosen) {
  const Tensor x = doubles({3, 4});
  const rc::Key key(7);
  const auto f = [](Tensor a, rc::Key k) { return (a * rc::normal(k, {2}, rc::float64)).sum(); };
  auto [y, pullback] = rc::vjp(f, x, key);
  expect_close(std::get<0>(pullback(number(1))), rc::normal(key, {2}, rc::float64));
  auto [z, f_jvp] = rc::linearize(f, x, key);
  expect_close(f_jvp(x, key), y);
}

TEST(IntegerArguments, ATreeWithoutTensorsHasAnEmptyGradient) {
  const auto loss = [](std::vector<Tensor> parameters) { return number(static_cast<double>(parameters.size())); };
  EXPECT_TRUE(rc::grad(loss)(std::vector<Tensor>{}).empty());
}

TEST(IntegerArguments, AnEquationThatCapturesIntegersAlone) {
  const Tensor n = integers();
  const auto f = [&](Tensor x) {
    return rc::custom_root([n](Tensor r) { return r * r - n; }, x,
                           [](auto, Tensor x0) { return sqrt(integers().to(rc::float64)) + x0 * 0; },
                           [](auto g, Tensor y) { return y / g(rc::ones_like(y)); });
  };
  const Tensor x = doubles({1, 1});
  expect_values(rc::grad([&](Tensor a) { return f(a).sum(); })(x), {0, 0});
  expect_values(std::get<1>(rc::jvp(f, x, x)), {0, 0});
  const auto solve = [](auto, Tensor y) { return y / integers(); };
  const auto g = [&](Tensor b) { return rc::custom_linear_solve([n](Tensor v) { return v * n; }, b, solve, solve); };
  expect_values(rc::grad([&](Tensor a) { return g(a).sum(); })(x), {1, 0.5});
  expect_values(std::get<1>(rc::jvp(g, x, x)), {1, 0.5});
}

}  // namespace
