// Convolution, pooling, normalisation and losses: what the laws cannot say. The shapes that are taken, element types,
// values against formulas where options have no recorded ones, extreme values, error texts.
#include <complex>

#include "support/expect_error.h"

namespace rc = ricci;
using rc::Tensor;
using namespace testing_support;

namespace {

/// Values between -1 and 1 without a pattern.
Tensor waves(const Sizes& sizes) { return sin(ramp(sizes) * 9.1); }

void expect_near(const Tensor& actual, const Tensor& expected) { expect_close(actual, expected, 1e-10); }

// ── convolution ──

TEST(Convolution, BiasOneExampleAndTorchsArguments) {
  const Tensor x = waves({3, 5, 5}), w = waves({2, 3, 3, 3}), bias = ramp({2});
  const Tensor y = rc::conv2d(x.unsqueeze(0), w).squeeze(0) + bias.reshape({2, 1, 1});
  expect_near(rc::conv2d(x, w, bias), y);
  expect_near(rc::conv2d(x, w, bias, 1, 0, 1, 1), y);
  EXPECT_EQ(sizes(rc::conv2d(x, w, Tensor(), 2, 1, 1, 1)), (Sizes{2, 3, 3}));
  EXPECT_EQ(sizes(rc::conv1d(waves({3, 5}), waves({2, 3, 2}))), (Sizes{2, 4}));
}

TEST(Convolution, ComplexByItsParts) {
  const Tensor i = Tensor(std::complex<double>(0, 1));
  const Tensor x = waves({1, 2, 4, 4}), w = waves({3, 2, 2, 2}) * 0.7;
  const Tensor y = rc::conv2d(x + i * x, w - i * w * 2);
  expect_near(real(y), rc::conv2d(x, w) * 3);
  expect_near(imag(y), rc::conv2d(x, w) * -1);
}

TEST(Convolution, HalfPrecisionIsComputedInFloat) {
  const Tensor x = waves({2, 2, 5}).to(rc::bfloat16), w = waves({3, 2, 2}).to(rc::bfloat16), y = rc::conv1d(x, w);
  EXPECT_EQ(y.dtype(), rc::bfloat16);
  expect_equal(y, rc::conv1d(x.to(rc::float32), w.to(rc::float32)).to(rc::bfloat16));
}

TEST(ConvolutionErrors, ShapesAndOptions) {
  const Tensor x = rc::ones({1, 4, 3, 3}), w = rc::ones({6, 4, 2, 2});
  expect_error<rc::ValueError>([&] { rc::conv2d(x, rc::ones({6, 4, 5, 2})); },
                               "conv2d: the kernel of the weight f32[6,4,5,2] does not fit the input f32[1,4,3,3]: "
                               "on spatial axis 0 it reaches over 5 elements, the padded input has 3");
  expect_error<rc::ValueError>([&] { rc::conv2d(x, rc::ones({6, 1, 2, 2}), {.groups = 4}); },
                               "conv2d: the weight f32[6,1,2,2] gives 6 channels, which do not divide into groups 4");
  expect_error<rc::ValueError>([&] { rc::conv2d(x, w, {.stride = {1, 1, 1}}); },
                               "conv2d: stride [1,1,1] must hold one number or 2");
  expect_error<rc::ValueError>([&] { rc::conv2d(x, w, {.stride = 0}); }, "conv2d: stride is 0; it must be at least 1");
}

// ── pooling ──

TEST(Pooling, NanWins) {
  const Tensor x = doubles({1, NAN, 3, 4}, {1, 2, 2});
  EXPECT_TRUE(std::isnan(rc::max_pool2d(x, 2).item()));
}

TEST(PoolingErrors, ShapesAndOptions) {
  const Tensor x = rc::ones({1, 2, 3, 3});
  expect_error<rc::ValueError>([&] { rc::avg_pool2d(x, {1, 2, 3}); },
                               "avg_pool2d: kernel [1,2,3] must hold one number or 2");
}

// ── layer_norm ──

TEST(LayerNorm, HalfPrecisionIsComputedInFloat) {
  const Tensor x = (waves({3, 64}) + 100).to(rc::float16), y = rc::layer_norm(x, {64});
  EXPECT_EQ(y.dtype(), rc::float16);
  expect_equal(y, rc::layer_norm(x.to(rc::float32), {64}).to(rc::float16));
}

// ── losses ──

void expect_reduced(const std::function<Tensor(rc::Reduction)>& loss, const Tensor& each) {
  expect_near(loss(rc::Reduction::none), each);
  expect_near(loss(rc::Reduction::mean), each.mean());
  expect_near(loss(rc::Reduction::sum), each.sum());
}

TEST(Losses, OfDifferences) {
  const Tensor x = waves({3, 4}) * 3, y = waves({4});
  expect_reduced([&](rc::Reduction r) { return rc::mse_loss(x, y, r); }, square(x - y));
  expect_reduced([&](rc::Reduction r) { return rc::l1_loss(x, y, r); }, rc::abs(x - y));
  expect_near(rc::mse_loss(x, y), square(x - y).mean());
  expect_near(rc::l1_loss(x, y), rc::abs(x - y).mean());
}

TEST(Losses, HuberIsQuadraticThenLinear) {
  const Tensor x = doubles({0.5, -0.5, 3, -3, 2}), zero = doubles({0, 0, 0, 0, 0});
  expect_near(rc::huber_loss(x, zero, 2), number((0.125 + 0.125 + 4 + 4 + 2) / 5));
  const Tensor gradient = rc::grad([&](Tensor a) { return rc::huber_loss(a, zero, 2) * 5; })(x);
  expect_values(gradient, {0.5, -0.5, 2, -2, 2});
  expect_values(rc::grad([&](Tensor a) { return rc::huber_loss(a, zero, 1); })(doubles({INFINITY, 0, 0, 0, 0})),
                {0.2, 0, 0, 0, 0});
}

TEST(Losses, BinaryCrossEntropyAtExtremeValues) {
  const Tensor x = doubles({1000, -1000, 1000, -1000, 0}), y = doubles({1, 0, 0, 1, 0.5});
  const auto each = [](const Tensor& a, const Tensor& b) {
    return rc::binary_cross_entropy_with_logits(a, b, rc::Reduction::none);
  };
  expect_values(each(x, y), {0, 0, 1000, 1000, std::log(2.0)});
  expect_values(rc::grad([&](Tensor a) { return each(a, y).sum(); })(x), {0, 0, 1, -1, 0});
  const auto of_probabilities = [](Tensor a, Tensor b) { return rc::binary_cross_entropy(a, b); };
  expect_values(of_probabilities(doubles({0, 1}), doubles({0, 1})), {0});
  expect_values(of_probabilities(doubles({0, 1}), doubles({1, 0})), {100});
  expect_values(rc::grad(of_probabilities)(doubles({0, 1}), doubles({0, 1})), {0, 0});
}

TEST(CrossEntropy, OfClassesInEveryShape) {
  const Tensor one = waves({3}) * 3, two = waves({4, 3}) * 3, four = waves({2, 3, 2, 2}) * 3;
  const Tensor class_of_one = rc::tensor(2), classes = rc::tensor({0, 2, 1, 2});
  const Tensor places = rc::tensor(std::vector<std::int64_t>{0, 1, 2, 0, 2, 2, 1, 0}).reshape({2, 2, 2});
  expect_near(rc::cross_entropy(one, class_of_one), neg(log_softmax(one, 0)[2]));
  Values rows;
  for (int i = 0; i < 4; ++i) rows.push_back(-log_softmax(two[i], 0)[classes[i].item<int>()].item());
  expect_reduced([&](rc::Reduction r) { return rc::cross_entropy(two, classes, r); }, doubles(rows));
  expect_near(rc::cross_entropy(four, places),
              rc::cross_entropy(four.movedim(1, -1).reshape({8, 3}), places.flatten()));
  expect_near(rc::cross_entropy(two, classes.to(rc::int32)), rc::cross_entropy(two, classes));
}

TEST(CrossEntropy, StaysFiniteAtExtremeLogits) {
  const Tensor x = doubles({1000, -1000, 0}, {1, 3});
  expect_values(rc::cross_entropy(x, rc::tensor({1})), {2000});
  expect_values(rc::cross_entropy(x, rc::tensor({0})), {0});
  expect_values(rc::grad([](Tensor a) { return rc::cross_entropy(a, rc::tensor({1})); })(x), {1, -1, 0});
}

/// By definition: window i of k over n elements is [i n / k, ceil((i + 1) n / k)).
Tensor plain_adaptive_pool(const Tensor& x, std::int64_t rows, std::int64_t columns) {
  const Tensor y = x.new_zeros({x.size(0), rows, columns});
  const auto first = [](std::int64_t i, std::int64_t n, std::int64_t k) { return i * n / k; };
  const auto end = [](std::int64_t i, std::int64_t n, std::int64_t k) { return ((i + 1) * n + k - 1) / k; };
  const std::int64_t h = x.size(1), w = x.size(2);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      y.select(2, j).select(1, i).copy_(x.slice(1, first(i, h, rows), end(i, h, rows))
                                            .slice(2, first(j, w, columns), end(j, w, columns))
                                            .mean({1, 2}));
  return y;
}

TEST(AdaptivePooling, AveragesTheWindowsThatDivideThePlane) {
  for (const auto& [h, w] : {std::pair{6, 4}, {7, 5}, {3, 2}, {1, 1}})
    for (const auto& [rows, columns] : {std::pair{1, 1}, {3, 2}, {2, 3}, {5, 4}, {7, 5}}) {
      const Tensor x = sin(ramp({2, h, w}) * 3);
      expect_close(rc::adaptive_avg_pool2d(x, {rows, columns}), plain_adaptive_pool(x, rows, columns), 1e-12);
      expect_equal(rc::adaptive_avg_pool2d(x.unsqueeze(0), {rows, columns})[0],
                   rc::adaptive_avg_pool2d(x, {rows, columns}));
    }
}

TEST(AdaptivePooling, AnInfinityStaysInItsWindow) {
  const Tensor x = rc::zeros({1, 1, 5}, rc::float64);
  x.select(2, 4).fill_(INFINITY);
  EXPECT_EQ(values(rc::adaptive_avg_pool2d(x, {1, 3})), (Values{0, 0, INFINITY}));
}

TEST(AdaptivePooling, RefusesWhatIsNoPlane) {
  const Tensor x = rc::ones({1, 2, 3}), empty = rc::ones({1, 0, 3});
  expect_error<rc::ValueError>([&] { rc::adaptive_avg_pool2d(empty, 1); },
                               "adaptive_avg_pool2d: the planes of f32[1,0,3] are empty; pool at least one element",
                               {empty});
}

}  // namespace
