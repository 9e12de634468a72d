// eval_shape: shapes and dtypes of results, without computing them.
#include "support/expect_error.h"
#include "support/expect_tensor.h"
#include "support/printed.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

struct Layer {
  Tensor weight, bias;
  int number = 0;
};

/// A tensor of a shape, which holds one number.
Tensor of_shape(const rc::Shape& shape, rc::DType dtype = rc::float32) { return rc::zeros({}, dtype).expand(shape); }

TEST(EvalShape, GivesTheTypesOfAResultWithoutComputingIt) {
  const auto f = [](const Layer& l, Tensor x) {
    rc::debug::print("computes {}", x.sum());
    return std::pair{matmul(x, l.weight) + l.bias, Layer{l.weight > 0, l.bias, 7}};
  };
  // The product would take 4 * 10^12 numbers.
  const Layer layer{of_shape({1'000'000, 2'000'000}), of_shape({2'000'000}), 3};
  std::pair<Tensor, Layer> found;
  EXPECT_TRUE(printed([&] {
                found = rc::eval_shape(f)(layer, of_shape({2'000'000, 1'000'000}, rc::float64));
              }).empty());
  EXPECT_EQ(found.first.shape(), rc::Shape({2'000'000, 2'000'000}));
  EXPECT_EQ(found.first.dtype(), rc::float64);
  EXPECT_EQ(found.second.weight.shape(), rc::Shape({1'000'000, 2'000'000}));
  EXPECT_EQ(found.second.weight.dtype(), rc::boolean);
  EXPECT_EQ(found.second.number, 7);
}

TEST(EvalShape, WorksWithTransformsInsideAndOutside) {
  const auto loss = [](Tensor w, Tensor x) { return square(matmul(x, w)).sum(); };
  EXPECT_EQ(
      rc::eval_shape(rc::vmap(rc::grad(loss), {.in_dims = {rc::none, 0}}))(rc::ones({3}), rc::ones({5, 3})).shape(),
      rc::Shape({5, 3}));
  EXPECT_EQ(rc::eval_shape(rc::hessian(loss))(rc::ones({3}), rc::ones({5, 3})).shape(), rc::Shape({3, 3}));
  // Buffers as large as what f gives, inside vmap, derivatives and programs.
  const auto padded = [](Tensor x) {
    const Tensor like = rc::eval_shape([](Tensor y) { return rc::cat({y, y}, 0); })(x);
    return like.sum() + x.sum() * Tensor(like.shape()[0]);
  };
  const Tensor x = rc::tensor({{1., 2., 3.}, {4., 5., 6.}});
  for (const Tensor& found :
       {rc::vmap(padded)(x), rc::compile(rc::vmap(padded))(x), rc::trace(rc::vmap(padded))(x)({x})[0]})
    expect_values(found, {36, 90});
  expect_values(rc::grad(padded)(rc::tensor({1., 2.})), {4, 4});
  const rc::Program program = rc::trace(padded)(rc::tensor({1., 2.}));
  expect_values(program({rc::tensor({1., 2., 3.})})[0], {36});
}

TEST(EvalShape, TakesOperationsByName) {
  EXPECT_EQ(rc::eval_shape(rc::sin)(rc::ones({4})).shape(), rc::Shape({4}));
  EXPECT_EQ(rc::eval_shape(rc::matmul)(rc::ones({4, 2}), rc::ones({2, 3})).shape(), rc::Shape({4, 3}));
}

TEST(EvalShape, LeavesGeneratorsAlone) {
  const rc::GeneratorState before = rc::get_rng_state();
  EXPECT_EQ(rc::eval_shape([](Tensor x) { return rc::randn({3}) + x; })(rc::ones({3})).shape(), rc::Shape({3}));
  EXPECT_EQ(rc::get_rng_state(), before);
}

TEST(EvalShape, RefusesWhatReadsValuesOrDoesNotFit) {
  const auto sign_of = [](Tensor x) { return x.item<double>() > 0 ? x : -x; };
  expect_error<rc::TransformError>(
      [&] { rc::eval_shape(sign_of)(number(1)); },
      "item: needs the value of f64[], which is not known while eval_shape{at} records the "
      "function; use where, cond or while_loop\n  inside eval_shape{at}");
  expect_error<rc::ValueError>(
      [] {
        rc::eval_shape(rc::matmul)(rc::ones({4, 2}), rc::ones({3, 3}));
      },
      "matmul: inner sizes differ: left is f32[4,2], right is f32[3,3]; left axis 1 (2) must "
      "equal right axis 0 (3)\n  inside eval_shape{at}");
  expect_error<rc::TypeError>(
      [] { rc::eval_shape([](Tensor) { return std::vector<Tensor>(); })(rc::ones({2})); },
      "eval_shape: the function returned no tensor: the result is []; return a Tensor or a tree "
      "that holds one{at}\n  inside eval_shape{at}");
  expect_error<rc::ValueError>([] { rc::eval_shape([](Tensor) { return Tensor(); })(rc::ones({2})); },
                               "eval_shape: result is an undefined Tensor; give it a value first{at}\n"
                               "  inside eval_shape{at}");
}

}  // namespace
