// Activations that draw: what they make of their draws.
#include "support/expect_tensor.h"

namespace {

namespace rc = ricci;
using rc::Tensor;
using testing_support::expect_close;

TEST(DrawingActivations, RreluDrawsItsSlopesBelowZero) {
  const Tensor x = rc::linspace(-2, 2, 101, rc::float64);
  const Tensor y = rc::rrelu(x, {.lower = 0.25, .upper = 0.5, .training = true});
  EXPECT_TRUE(where(x > 0, y == x, rc::logical_and(y <= x * 0.25, y >= x * 0.5)).all().item<bool>());
  EXPECT_GT((y / x).slice(0, 0, 40).std().item(), 0.01);
}

TEST(DrawingActivations, GumbelSoftmaxIsThatOfNoisyLogits) {
  const Tensor x = rc::linspace(-1, 1, 12, rc::float64).reshape({3, 4});
  rc::manual_seed(5);
  const Tensor y = rc::gumbel_softmax(x, {.tau = 0.5, .dim = 0});
  rc::manual_seed(5);
  const Tensor noise = rc::gumbel(0, 1, rc::Shape{3, 4}, rc::TensorOptions{.dtype = rc::float64});
  expect_close(y, rc::softmax((x + noise) / 0.5, 0));
}

TEST(DrawingActivations, HardGumbelSoftmaxIsOneHotWithTheSoftSlope) {
  const Tensor x = rc::linspace(-1, 1, 12, rc::float64).reshape({3, 4}), w = rc::cos(x * 7);
  const auto weighed = [&](bool hard) {
    return [&w, hard](Tensor v) { return (rc::gumbel_softmax(v, {.hard = hard}) * w).sum(); };
  };
  rc::manual_seed(5);
  const Tensor hard = rc::gumbel_softmax(x, {.hard = true});
  expect_close(hard.sum(1), rc::ones({3}, rc::float64));
  expect_close(hard.amax(1), rc::ones({3}, rc::float64));
  rc::manual_seed(6);
  const Tensor slope = rc::grad(weighed(true))(x);
  rc::manual_seed(6);
  expect_close(slope, rc::grad(weighed(false))(x));
}

}  // namespace
