// Convolutions, pooling and padding beside what the laws hold: element types, sizes that are 0, equal elements, and
// what mistakes say.
#include <ricci/ricci.h>

#include <cmath>

#include "support/expect_error.h"
#include "support/expect_tensor.h"

namespace {

namespace rc = ricci;
using rc::Tensor;
using testing_support::doubles;
using testing_support::expect_close;
using testing_support::expect_equal;
using testing_support::expect_error;

Tensor ramp(const rc::Shape& shape) { return rc::arange(shape.numel(), {.dtype = rc::float64}).reshape(shape); }
Tensor waves(const rc::Shape& shape) { return sin(ramp(shape) * 1.7); }

TEST(Windows, OfIntegersAreThoseOfDoubles) {
  const Tensor x = rc::randint(-20, 20, {2, 3, 6, 6}), w = rc::randint(-5, 5, {3, 2, 2, 2});
  for (const rc::DType dtype : {rc::int8, rc::int16, rc::int32, rc::int64}) {
    const auto [values, indices] = rc::max_pool2d_with_indices(x.to(dtype), 3, 2, 1, 1, true);
    const auto [wanted, places] = rc::max_pool2d_with_indices(x.to(rc::float64), 3, 2, 1, 1, true);
    EXPECT_EQ(values.dtype(), dtype);
    expect_equal(values.to(rc::float64), wanted);
    expect_equal(indices, places);
    expect_equal(rc::adaptive_max_pool2d(x.to(dtype), 4).to(rc::float64),
                 rc::adaptive_max_pool2d(x.to(rc::float64), 4));
    expect_equal(rc::unfold(x.to(dtype), 2).to(rc::float64), rc::unfold(x.to(rc::float64), 2));
  }
  expect_equal(rc::conv_transpose2d(x, w, {.stride = 2}).to(rc::float64),
               rc::conv_transpose2d(x.to(rc::float64), w.to(rc::float64), {.stride = 2}));
  expect_equal(rc::avg_pool2d(x, 2).to(rc::float64), trunc(rc::avg_pool2d(x.to(rc::float64), 2)));
}

TEST(Windows, OfHalvesAreComputedInFloats) {
  const Tensor x = waves({2, 3, 7, 7}).to(rc::float16), w = waves({3, 2, 3, 3}).to(rc::float16);
  for (const auto& f : std::vector<std::function<Tensor(Tensor)>>{
           [](Tensor a) { return rc::avg_pool2d(a, 7); },
           [](Tensor a) { return rc::adaptive_avg_pool2d(a, 3); },
           [](Tensor a) { return rc::max_pool2d(a, 2); },
           [&](Tensor a) { return rc::conv_transpose2d(a, w.to(a.dtype()), {.stride = 2, .padding = 1}); },
           [](Tensor a) { return rc::fold(rc::unfold(a, 3), 7, 3); },
       })
    expect_close(f(x).to(rc::float32), f(x.to(rc::float32)), 2e-2);
}

TEST(Windows, OfNoImagesGiveNone) {
  const Tensor x = rc::zeros({0, 2, 4, 4}), w = rc::ones({2, 3, 2, 2});
  EXPECT_EQ(rc::conv_transpose2d(x, w).shape(), rc::Shape({0, 3, 5, 5}));
  EXPECT_EQ(rc::max_pool2d_with_indices(x, 2).second.shape(), rc::Shape({0, 2, 2, 2}));
  EXPECT_EQ(rc::avg_pool2d(x, 4).shape(), rc::Shape({0, 2, 1, 1}));
  EXPECT_EQ(rc::adaptive_avg_pool2d(x, 3).shape(), rc::Shape({0, 2, 3, 3}));
  EXPECT_EQ(rc::adaptive_max_pool2d(x, 3).shape(), rc::Shape({0, 2, 3, 3}));
  EXPECT_EQ(rc::fractional_max_pool2d(x, 2, 2).shape(), rc::Shape({0, 2, 2, 2}));
  EXPECT_EQ(rc::fold(rc::unfold(x, 2), 4, 2).shape(), x.shape());
  EXPECT_EQ(rc::pad(x, {1, 1, 2, 0}, "reflect").shape(), rc::Shape({0, 2, 6, 6}));
  EXPECT_EQ(rc::grad([](Tensor a) { return rc::adaptive_avg_pool2d(a, 3).sum(); })(x).shape(), x.shape());
}

TEST(Windows, TakeTheFirstOfEqualElementsAndTheLastNan) {
  const Tensor equal = rc::ones({1, 4, 5}), nan = doubles({NAN, 1, 2, 3, NAN, 5}, {1, 2, 3});
  for (const std::int64_t kernel : {2, 4})  // kernels that are wide beside what they give take another way
    EXPECT_EQ(rc::max_pool2d_with_indices(equal, kernel).second.reshape({-1})[0].item<std::int64_t>(), 0);
  expect_equal(rc::adaptive_max_pool2d_with_indices(equal, {1, 2}).second.to(rc::int64), rc::tensor({{{0, 2}}}));
  for (const auto& [values, indices] :
       {rc::adaptive_max_pool2d_with_indices(nan, 1), rc::max_pool2d_with_indices(nan, {2, 3})}) {
    EXPECT_TRUE(std::isnan(values.item()));
    EXPECT_EQ(indices.item<std::int64_t>(), 4);
  }
}

TEST(Windows, OfATransposedViewAreThoseOfACopy) {
  const Tensor x = waves({2, 3, 6, 5}).transpose(2, 3), y = x.contiguous();
  expect_close(rc::max_pool2d(x, {3, 6}), rc::max_pool2d(y, {3, 6}), 0);
  expect_close(rc::avg_pool2d(x, {3, 6}), rc::avg_pool2d(y, {3, 6}), 1e-15);
  expect_close(rc::avg_pool2d(x, {5, 6}), rc::avg_pool2d(y, {5, 6}), 1e-15);
  expect_close(rc::adaptive_avg_pool2d(x, 3), rc::adaptive_avg_pool2d(y, 3), 1e-15);
  expect_close(rc::adaptive_max_pool2d(x, 3), rc::adaptive_max_pool2d(y, 3), 0);
  expect_close(rc::unfold(x, 2), rc::unfold(y, 2), 0);
}

TEST(Windows, UnpoolPutsMaximaBack) {
  const Tensor x = waves({2, 3, 4, 6});
  const auto [values, indices] = rc::max_pool2d_with_indices(x, 2);
  const Tensor y = rc::max_unpool2d(values, indices, 2);
  expect_equal(y, where(y == 0, 0., x));
  expect_equal(rc::max_pool2d(abs(y), 2), abs(values));
}

TEST(Windows, FractionalPoolingDrawsWhatItIsNotGiven) {
  const Tensor x = waves({2, 3, 9, 8});
  rc::manual_seed(5);
  const Tensor y = rc::fractional_max_pool2d(x, 2, {4, 5});
  rc::manual_seed(5);
  const Tensor samples = rc::rand({2, 3, 2}, rc::float64);
  expect_equal(y, rc::fractional_max_pool2d(x, 2, {4, 5}, samples));
  expect_equal(rc::fractional_max_pool2d(x[0], 2, {4, 5}, samples.slice(0, 0, 1)), y[0]);
}

TEST(Windows, PaddingAmongTheOptionsIsNumbersOrAWord) {
  const Tensor x = rc::randn({1, 2, 5, 6}), w = rc::randn({3, 2, 3, 3});
  const Tensor same = rc::conv2d(x, w, rc::none, 1, "same", 1, 1);
  expect_equal(rc::conv2d(x, w, {.padding = "same"}), same);
  expect_equal(rc::conv2d(x, w, {.padding = {1, 1}}), same);
  expect_equal(rc::conv2d(x, w, {.padding = 1}), same);
  expect_equal(rc::conv2d(x, w, rc::none, 1, {1, 1}, 1, 1), same);
  expect_equal(rc::conv2d(x, w, {.padding = "valid"}), rc::conv2d(x, w));
}

TEST(Windows, MistakesAreNamed) {
  const Tensor x = rc::ones({1, 2, 5, 5}), line = rc::ones({1, 2, 5}), w = rc::ones({2, 3, 2, 2});
  using rc::ValueError;
  expect_error<ValueError>(
      [&] { rc::conv_transpose2d(x, w, {.groups = 3}); },
      "conv_transpose2d: the weight f32[2,3,2,2] takes 2 channels, which do not divide into groups "
      "3");
  expect_error<ValueError>([&] { rc::conv_transpose2d(x, w, {.stride = 2, .output_padding = 2}); },
                           "conv_transpose2d: output_padding [2,2] must be less than the stride or the dilation, which "
                           "are 2 and 1 on spatial axis 0");
  expect_error<ValueError>([&] { rc::conv_transpose2d(x, w, {.padding = 3}); },
                           "conv_transpose2d: of the input f32[1,2,5,5] the result has no elements on spatial axis 0; "
                           "pass a larger input or less padding");
  expect_error<ValueError>([&] { rc::conv2d(x, rc::ones({1, 2, 2, 2}), {}, 1, "full", 1, 1); },
                           "conv2d: there is no padding \"full\"; pass \"same\", \"valid\" or numbers");
  expect_error<ValueError>([&] { rc::lp_pool1d(line, 0, 2); }, "lp_pool1d: the norm type is 0; pass another");
  EXPECT_THROW(rc::max_unpool1d(line, rc::full({1, 2, 5}, 10), 2), rc::IndexError);
  expect_error<ValueError>([&] { rc::pad(line, {1, 1}, "mirror"); },
                           "pad: there is no mode \"mirror\"; pass \"constant\", \"reflect\", \"replicate\" or "
                           "\"circular\"");
  expect_error<ValueError>([&] { rc::pad(line, {6, 0}, "circular"); },
                           "pad: axis 2 of f32[1,2,5] cannot fill a width of 6; a circular width must be at most the "
                           "size that is left");
  expect_error<ValueError>([&] { rc::pad(rc::ones({0}), {1, 0}, "replicate"); },
                           "pad: axis 0 of f32[0] cannot fill a width of 1; it has no elements");
  expect_error<ValueError>([&] { rc::pad(line, {1, 0}, "reflect", 2); },
                           "pad: a value is for the mode \"constant\", the mode is \"reflect\"");
}

}  // namespace
