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
  expect_error<rc::ValueError>(
      [&] { rc::batch_norm(x, two, Tensor()); },
      "batch_norm: only one of running mean and running variance is given; pass both or neither", {x, two});
  expect_error<rc::ValueError>([&] { rc::batch_norm(x, rc::ones({3}), two); },
                               "batch_norm: the running mean is f32[3]; it must have one value for each of the 2 "
                               "channels of the input f32[3,2]",
                               {x, two});
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
  expect_error<rc::TypeError>([&] { train(mean, rc::ones({2}, rc::complex64)); },
                              "batch_norm: c64[2] is complex; pass its real part or its absolute value", {x, mean});
  expect_error<rc::TypeError>([&] { train(rc::zeros({2}, rc::int64), variance); },
                              "batch_norm: i64[2] is neither floating nor complex; convert it first, for example with "
                              "x.to(rc::float32)",
                              {x, variance});
}

TEST(NormErrors, InstanceNormOfSingleValues) {
  expect_error<rc::ValueError>(
      [] { rc::instance_norm(rc::ones({3, 2})); },
      "instance_norm: each channel of an example needs more than one value, the input is f32[3,2]");
}

TEST(NormErrors, InputsAndParameters) {
  const Tensor x = rc::ones({3, 4, 2}), two = rc::ones({2});
  expect_error<rc::ValueError>([&] { rc::group_norm(x, 3); },
                               "group_norm: 3 groups do not divide the 4 channels of the input f32[3,4,2]", {x});
  expect_error<rc::ValueError>(
      [&] { rc::group_norm(x, 2, two, Tensor()); },
      "group_norm: the weight is f32[2]; it must have one value for each of the 4 channels of the input f32[3,4,2]",
      {x});
  expect_error<rc::ValueError>([&] { rc::instance_norm(two); },
                               "instance_norm: the input is f32[2]; it must be [batch, channels, …]", {two});
  expect_error<rc::TypeError>(
      [&] { rc::group_norm(rc::ones({2, 2}, rc::int64), 1); },
      "group_norm: i64[2,2] is neither floating nor complex; convert it first, for example with "
      "x.to(rc::float32)");
}

}  // namespace
