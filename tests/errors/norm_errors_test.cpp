// Errors of batch_norm, group_norm and instance_norm.
#include "support/expect_error.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

TEST(NormErrors, BatchNormOfMappedExamplesWithSharedStatistics) {
  const Tensor xs = rc::rand({3, 4, 2}), mean = rc::zeros({2}), variance = rc::ones({2});
  const auto f = [&](Tensor x) { return rc::batch_norm(x, mean, variance, Tensor(), Tensor(), true); };
  const std::string found =
      "batch_norm: the input has one value per example of vmap over axis 0 of 3{at}, the running statistics f32[2], "
      "which training updates in place, have one for all; map them too, pass undefined tensors for them, or use "
      "group_norm\n"
      "  inside vmap over axis 0 of 3{at}";
  expect_error<rc::TransformError>([&] { rc::vmap(f)(xs); }, found, {xs, mean, variance});
  const auto g = [](Tensor x, Tensor m, Tensor v) { return rc::batch_norm(x, m, v, Tensor(), Tensor(), true); };
  expect_error<rc::TransformError>([&] { rc::vmap(g, {.in_dims = {0, rc::none, rc::none}})(xs, mean, variance); },
                                   found, {xs, mean, variance});
}

TEST(NormErrors, BatchNormStatistics) {
  const Tensor x = rc::ones({3, 2}), two = rc::ones({2});
  expect_error<rc::ValueError>(
      [&] { rc::batch_norm(x, Tensor(), Tensor()); },
      "batch_norm: outside training the running statistics are needed; pass them, or training = true", {x});
  expect_error<rc::ValueError>([&] { rc::batch_norm(rc::ones({1, 2}), Tensor(), Tensor(), Tensor(), Tensor(), true); },
                               "batch_norm: in training each channel needs more than one value, the input is f32[1,2]");
}

TEST(NormErrors, BatchNormWritesBothStatisticsOrNone) {
  const Tensor x = rc::tensor({{1.0, 2.0}, {3.0, 5.0}}), weight = rc::ones({2}), mean = rc::zeros({2}),
               variance = rc::ones({2});
  const auto captured = [&](Tensor w, Tensor m) { return rc::batch_norm(x, m, variance, w, Tensor(), true).sum(); };
  expect_error<rc::TransformError>(
      [&] { rc::grad(captured)(weight, mean); },
      "batch_norm: the target f32[2] was captured from outside grad{at}; a function under differentiation writes only "
      "to "
      "its arguments and to what it creates: pass it as an argument, or write to a clone()\n  inside grad{at}",
      {x, weight, mean, variance});
  const auto train = [&](Tensor m, Tensor v) { rc::batch_norm(x, m, v, Tensor(), Tensor(), true); };
  expect_error<rc::ValueError>(
      [&] { train(mean, rc::ones({1}).expand({2})); },
      "batch_norm: the target f32[2] is expanded: several of its elements are one in memory; write to a clone() of it",
      {x, mean});
}

}  // namespace
