// What vmap says of arguments, in_dims, out_dims, results and options that do not fit.
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "support/expect_error.h"
#include "support/model.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

Tensor identity(Tensor x) { return x; }
Tensor sum_of(Tensor x, Tensor y) { return x.sum() + y.sum(); }

TEST(VmapErrors, NoArguments) {
  expect_error<rc::ValueError>([] { rc::vmap([] { return rc::ones({2}); })(); },
                               "vmap: called without arguments; pass at least one tensor to map over{at}");
}

TEST(VmapErrors, NothingMappedSinceAllInDimsAreNone) {
  const Tensor x = rc::ones({3}), y = rc::ones({4});
  expect_error<rc::ValueError>([&] { rc::vmap(sum_of, {.in_dims = {rc::none, rc::none}})(x, y); },
                               "vmap: nothing is mapped: in_dims is (none, none), the arguments are (f32[3], f32[4]); "
                               "give at least one tensor an integer in_dim{at}",
                               {x, y});
}

TEST(VmapErrors, NothingMappedSinceNoArgumentIsATensor) {
  expect_error<rc::ValueError>([] { rc::vmap([](double a) { return rc::ones({2}) * a; })(3.0); },
                               "vmap: nothing is mapped: in_dims is 0, the arguments are (double); "
                               "give at least one tensor an integer in_dim{at}");
}

TEST(VmapErrors, InDimsForTooManyArguments) {
  const Tensor x = rc::ones({3}), y = rc::ones({3});
  expect_error<rc::ValueError>(
      [&] { rc::vmap(sum_of, {.in_dims = {0, 0, rc::none}})(x, y); },
      "vmap: in_dims does not fit the arguments: in_dims is (0, 0, none), the arguments are (f32[3], f32[3]); "
      "write one integer or none for all, or braces that follow the arguments{at}",
      {x, y});
}

TEST(VmapErrors, InDimsForTooFewArguments) {
  const Tensor x = rc::ones({3, 2}), y = rc::ones({3});
  expect_error<rc::ValueError>(
      [&] { rc::vmap(sum_of, {.in_dims = {0}})(x, y); },
      "vmap: in_dims does not fit the arguments: in_dims is (0), the arguments are (f32[3,2], f32[3]); "
      "write one integer or none for all, or braces that follow the arguments{at}",
      {x, y});
}

TEST(VmapErrors, InDimsDeeperThanTheArgument) {
  const Tensor x = rc::ones({3});
  expect_error<rc::ValueError>(
      [&] { rc::vmap(identity, {.in_dims = {{0, 1}}})(x); },
      "vmap: in_dims does not fit the arguments: in_dims is ((0, 1)), the arguments are (f32[3]); "
      "write one integer or none for all, or braces that follow the arguments{at}",
      {x});
}

TEST(VmapErrors, InDimsOfAnotherShapeThanAStruct) {
  const Linear layer{rc::ones({3, 2}), rc::ones({3})};
  expect_error<rc::ValueError>([&] { rc::vmap([](Linear l) { return l.bias; }, {.in_dims = {{0, 0, 0}}})(layer); },
                               "vmap: in_dims does not fit the arguments: in_dims is ((0, 0, 0)), "
                               "the arguments are ({weight: f32[3,2], bias: f32[3]}); "
                               "write one integer or none for all, or braces that follow the arguments{at}",
                               {layer.weight, layer.bias});
}

TEST(VmapErrors, TreesOfEveryKindPrint) {
  const Tensor x = rc::ones({3});
  const std::map<std::string, Tensor> named{{"a", x}};
  const auto f = [](std::map<std::string, Tensor>, std::vector<Tensor> v, std::optional<Tensor>, double) {
    return v[0];
  };
  expect_error<rc::ValueError>(
      [&] { rc::vmap(f, {.in_dims = {0}})(named, std::vector<Tensor>{x, x}, std::optional<Tensor>(), 2.0); },
      "vmap: in_dims does not fit the arguments: in_dims is (0), "
      "the arguments are ({\"a\": f32[3]}, [f32[3], f32[3]], none, double); "
      "write one integer or none for all, or braces that follow the arguments{at}",
      {x});
}

TEST(VmapErrors, InDimOutOfRange) {
  const Tensor x = rc::ones({3, 4});
  expect_error<rc::IndexError>(
      [&] { rc::vmap(identity, {.in_dims = 2})(x); },
      "vmap: in_dim 2 of argument 0 is out of range: f32[3,4] has 2 dimensions; the legal range is [-2, 1]{at}", {x});
}

TEST(VmapErrors, NegativeInDimOutOfRangeInATree) {
  const Linear layer{rc::ones({3, 2}), rc::ones({3})};
  const auto f = [](Tensor x, Linear l) { return x + l.bias.sum(); };
  expect_error<rc::IndexError>(
      [&] { rc::vmap(f, {.in_dims = {0, {0, -2}}})(rc::ones({3}), layer); },
      "vmap: in_dim -2 of argument 1 (bias) is out of range: f32[3] has 1 dimension; the legal range is [-1, 0]{at}",
      {layer.weight, layer.bias});
}

TEST(VmapErrors, InDimOfATensorWithoutDimensions) {
  const Tensor x = rc::ones({3}), y = rc::ones({3}).sum();
  expect_error<rc::IndexError>(
      [&] { rc::vmap(sum_of)(x, y); },
      "vmap: in_dim 0 of argument 1 is out of range: f32[] has no dimension to map; use none{at}", {x, y});
}

TEST(VmapErrors, InDimOnANonTensor) {
  const Tensor x = rc::ones({3});
  expect_error<rc::ValueError>(
      [&] { rc::vmap([](Tensor a, double b) { return a * b; }, {.in_dims = {0, 0}})(x, 2.0); },
      "vmap: in_dims maps axis 0 of a non-tensor (double), whose place must be none: in_dims is (0, 0), "
      "the arguments are (f32[3], double); write one integer or none for all, or braces that follow the arguments{at}",
      {x});
}

TEST(VmapErrors, InDimOnAnUndefinedTensor) {
  const Tensor x = rc::ones({3});
  expect_error<rc::ValueError>(
      [&] { rc::vmap(sum_of)(x, Tensor()); },
      "vmap: argument 1 is an undefined Tensor with in_dim 0; give it a value, or map it with none{at}", {x});
}

TEST(VmapErrors, MappedSizesDiffer) {
  const Tensor x = rc::ones({3, 4}), y = rc::ones({2, 5});
  expect_error<rc::ValueError>(
      [&] { rc::vmap(sum_of, {.in_dims = {0, -1}})(x, y); },
      "vmap: mapped sizes differ: argument 0 maps axis 0 of f32[3,4] (3), argument 1 maps axis 1 of f32[2,5] (5); "
      "all mapped axes must have one size: what all examples share is mapped by rc::none, as in {.in_dims = {rc::none, "
      "0}}{at}",
      {x, y});
}

TEST(VmapErrors, MappedSizesOfALargeModelAreCounted) {
  const std::vector<std::pair<Tensor, Tensor>> model(200, {rc::ones({3, 3}), rc::ones({3})});
  expect_error<rc::ValueError>(
      [&] {
        rc::vmap([](const std::vector<std::pair<Tensor, Tensor>>&, Tensor x) { return x; })(model, rc::ones({5, 3}));
      },
      "vmap: mapped sizes differ: argument 0 ([0][0]) maps axis 0 of f32[3,3] (3), as 399 tensors behind it do, "
      "argument 1 maps axis 0 of f32[5,3] (5); all mapped axes must have one size: what all examples share is mapped "
      "by "
      "rc::none, as in {.in_dims = {rc::none, 0}}{at}");
}

TEST(VmapErrors, OfManyMappedSizesTheFirstAreSaid) {
  std::vector<Tensor> tensors;
  for (const std::int64_t n : {1, 2, 1, 2, 1, 2, 1, 2, 3, 3}) tensors.push_back(rc::ones({n}));
  const auto text_of_error = [&]() -> std::string {
    try {
      rc::vmap([](std::vector<Tensor> t) { return t[0]; })(tensors);
    } catch (const rc::ValueError& error) { return error.what(); }
    return "";
  };
  const std::string text = text_of_error();
  EXPECT_NE(text.find("argument 0 ([7]) maps axis 0 of f32[2] (2), … 2 more"), std::string::npos) << text;
  EXPECT_EQ(text.find("behind"), std::string::npos) << text;
}

TEST(VmapErrors, MappedSizesDifferInsideTrees) {
  const Mlp model{{{rc::ones({3, 2}), rc::ones({3})}, {rc::ones({4, 2}), rc::ones({3})}}, 0.1};
  expect_error<rc::ValueError>(
      [&] { rc::vmap([](Mlp m) { return m.layers[0].bias; })(model); },
      "vmap: mapped sizes differ: argument 0 (layers[0].weight) maps axis 0 of f32[3,2] (3), "
      "argument 0 (layers[0].bias) maps axis 0 of f32[3] (3), argument 0 (layers[1].weight) maps axis 0 of f32[4,2] "
      "(4), "
      "argument 0 (layers[1].bias) maps axis 0 of f32[3] (3); all mapped axes must have one size: what all examples "
      "share "
      "is mapped by rc::none, as in {.in_dims = {rc::none, 0}}{at}",
      rc::leaves(model));
}

TEST(VmapErrors, OutDimNoneForABatchedResult) {
  const Tensor x = rc::ones({5, 3});
  expect_error<rc::ValueError>(
      [&] { rc::vmap(identity, {.out_dims = rc::none})(x); },
      "vmap: out_dim none of result is on f32[3], which differs per example; give it an integer out_dim{at}", {x});
}

TEST(VmapErrors, OutDimNoneForABatchedResultInATree) {
  const auto f = [](Tensor x) { return std::tuple{x, Linear{x, x.sum()}}; };
  expect_error<rc::ValueError>(
      [&] { rc::vmap(f, {.out_dims = {0, {0, rc::none}}})(rc::ones({5, 3})); },
      "vmap: out_dim none of result ([1].bias) is on f32[], which differs per example; give it an integer out_dim{at}");
}

TEST(VmapErrors, OutDimOutOfRange) {
  const Tensor x = rc::ones({5, 3});
  expect_error<rc::IndexError>([&] { rc::vmap(identity, {.out_dims = 2})(x); },
                               "vmap: out_dim 2 of result is out of range: with the batch, f32[3] has 2 dimensions; "
                               "the legal range is [-2, 1]{at}",
                               {x});
}

TEST(VmapErrors, OutDimsThatDoNotFitTheResult) {
  const auto f = [](Tensor x) { return std::pair{x, x.sum()}; };
  expect_error<rc::ValueError>([&] { rc::vmap(f, {.out_dims = {0, 0, 0}})(rc::ones({5, 3})); },
                               "vmap: out_dims does not fit the result: out_dims is (0, 0, 0), "
                               "the result is (f32[3], f32[]); "
                               "write one integer or none for all, or braces that follow the result{at}");
}

TEST(VmapErrors, ANumberAsResult) {
  const Tensor x = rc::ones({5});
  expect_error<rc::TypeError>([&] { rc::vmap([](Tensor) { return 3.5; })(x); },
                              "vmap: the function returned no tensor: the result is double; "
                              "return a Tensor or a tree that holds one{at}",
                              {x});
}

TEST(VmapErrors, NoResult) {
  const Tensor x = rc::ones({5});
  expect_error<rc::TypeError>([&] { rc::vmap([](Tensor) {})(x); },
                              "vmap: the function returned no tensor: the result is nothing; "
                              "return a Tensor or a tree that holds one{at}",
                              {x});
}

TEST(VmapErrors, ATreeOfNumbersAsResult) {
  expect_error<rc::TypeError>([] { rc::vmap([](Tensor) { return std::pair{1, 2.5}; })(rc::ones({5})); },
                              "vmap: the function returned no tensor: the result is (int, double); "
                              "return a Tensor or a tree that holds one{at}");
}

TEST(VmapErrors, ChunkSizeOfZeroOrLess) {
  const Tensor x = rc::ones({5});
  expect_error<rc::ValueError>([&] { rc::vmap(identity, {.chunk_size = 0})(x); },
                               "vmap: chunk_size is 0; it must be at least 1{at}", {x});
  expect_error<rc::ValueError>([&] { rc::vmap(identity, {.chunk_size = -3})(x); },
                               "vmap: chunk_size is -3; it must be at least 1{at}", {x});
}

TEST(VmapErrors, OfAnInnerVmapNameTheTransformsAround) {
  const Tensor x = rc::ones({5, 3});
  const auto outer = [](Tensor row) { return rc::vmap(identity, {.in_dims = 1})(row).sum(); };
  expect_error<rc::IndexError>(
      [&] { rc::vmap(rc::grad(outer))(x); },
      "vmap: in_dim 1 of argument 0 is out of range: f32[3] has 1 dimension; the legal range is [-1, 0]{at}\n"
      "  inside grad{at}, inside vmap over axis 0 of 5{at}",
      {x});
}

}  // namespace
