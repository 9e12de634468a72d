// Convolutions and their transposes against loops that spell out the definition, for every element type and geometry.
#include "kernels/convolution.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <complex>
#include <random>
#include <vector>

#include "kernels/strided_array.h"
#include "kernels/wide.h"

namespace ricci::kernels {
namespace {

using namespace kernel_tests;

template <class T>
struct Array {
  Sizes shape, strides;
  std::vector<T> storage;

  explicit Array(const Sizes& s) : shape(s), strides(s.size(), 1) {
    for (std::size_t i = s.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * s[i];
    std::int64_t count = 1;
    for (std::int64_t size : s) count *= size;
    storage.resize(static_cast<std::size_t>(count));
  }
  void fill(int seed) {
    std::mt19937 random(seed);
    for (T& x : storage) x = draw<T>(random);
  }
  Strided view() { return {storage.data(), dtype_of<T>, static_cast<int>(shape.size()), shape.data(), strides.data()}; }
};

struct Case {
  std::int64_t batch, channels, out_channels;
  Sizes input, kernel;
  ConvolutionShape shape;
};

std::int64_t position(const Sizes& strides, const Sizes& index) {
  std::int64_t at = 0;
  for (std::size_t i = 0; i < index.size(); ++i) at += index[i] * strides[i];
  return at;
}

Sizes out_sizes(const Case& c) {
  Sizes sizes = {c.batch, c.out_channels};
  for (int i = 0; i < c.shape.spatial; ++i) sizes.push_back(convolution_size(c.input[i], c.kernel[i], c.shape, i));
  return sizes;
}

Sizes join(Sizes a, const Sizes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Calls `f(input position, weight position, out position)` for every term of the definition.
template <class T, class F>
void for_each_term(const Case& c, const Array<T>& input, const Array<T>& weight, const Array<T>& out, F&& f) {
  const std::int64_t group_out = c.out_channels / c.shape.groups, group_in = c.channels / c.shape.groups;
  for_each_index(out.shape, [&](const Sizes& o) {
    for_each_index(Sizes(weight.shape.begin() + 1, weight.shape.end()), [&](const Sizes& w) {
      Sizes in = {o[0], o[1] / group_out * group_in + w[0]};
      for (int i = 0; i < c.shape.spatial; ++i) {
        in.push_back(o[i + 2] * c.shape.stride[i] + w[i + 1] * c.shape.dilation[i] - c.shape.padding_low[i]);
        if (in.back() < 0 || in.back() >= c.input[i]) return;
      }
      f(position(input.strides, in), position(weight.strides, join({o[1]}, w)), position(out.strides, o));
    });
  });
}

template <class T>
void expect_close(const Array<T>& got, const std::vector<Wide<T>>& want, const std::vector<double>& sizes) {
  const DType real = real_dtype(dtype_of<T>);
  const double epsilon = real == DType::bfloat16  ? 0x1p-7
                         : real == DType::float16 ? 0x1p-10
                         : real == DType::float32 ? 0x1p-22
                                                  : 0x1p-51;
  for (std::size_t i = 0; i < want.size(); ++i) {
    if constexpr (std::is_integral_v<T>) ASSERT_EQ(got.storage[i], static_cast<T>(want[i])) << i;
    else ASSERT_LE(std::abs(widen(got.storage[i]) - want[i]), epsilon * (sizes[i] + 1.0)) << i;
  }
}

template <class T>
void check(const Case& c) {
  Array<T> input(join({c.batch, c.channels}, c.input)),
      weight(join({c.out_channels, c.channels / c.shape.groups}, c.kernel)), out(out_sizes(c));
  input.fill(1);
  weight.fill(2);
  out.fill(3);
  std::vector<Wide<T>> forward(out.storage.size()), input_gradient(input.storage.size()),
      weight_gradient(weight.storage.size());
  std::vector<double> forward_size(forward.size()), input_size(input_gradient.size()),
      weight_size(weight_gradient.size());
  for_each_term(c, input, weight, out, [&](std::int64_t i, std::int64_t w, std::int64_t o) {
    forward[o] += widen(input.storage[i]) * widen(weight.storage[w]), forward_size[o] += 1;
    input_gradient[i] += widen(out.storage[o]) * widen(weight.storage[w]), input_size[i] += 1;
    weight_gradient[w] += widen(out.storage[o]) * widen(input.storage[i]), weight_size[w] += 1;
  });
  Array<T> result_out = out, result_input = input, result_weight = weight;  // values that must be overwritten
  convolution(result_out.view(), input.view(), weight.view(), c.shape);
  expect_close(result_out, forward, forward_size);
  convolution_input_gradient(result_input.view(), out.view(), weight.view(), c.shape);
  expect_close(result_input, input_gradient, input_size);
  convolution_weight_gradient(result_weight.view(), input.view(), out.view(), c.shape);
  expect_close(result_weight, weight_gradient, weight_size);
}

std::vector<Case> cases() {
  ConvolutionShape plain = {.spatial = 2}, line = {.spatial = 1}, volume = {.spatial = 3};
  ConvolutionShape strided = {.spatial = 2, .stride = {2, 3}, .padding_low = {1, 2}, .padding_high = {1, 2}};
  ConvolutionShape uneven = {.spatial = 2, .padding_low = {0, 2}, .padding_high = {3, 1}};
  ConvolutionShape dilated = {.spatial = 2, .padding_low = {2, 1}, .padding_high = {2, 1}, .dilation = {2, 3}};
  ConvolutionShape grouped = {
      .spatial = 2, .stride = {2, 1}, .padding_low = {1, 1}, .padding_high = {1, 1}, .groups = 2};
  ConvolutionShape depthwise = {.spatial = 2, .padding_low = {1, 1}, .padding_high = {1, 1}, .groups = 6};
  ConvolutionShape line_strided = {
      .spatial = 1, .stride = {3}, .padding_low = {2}, .padding_high = {4}, .dilation = {2}};
  ConvolutionShape pointwise_strided = {.spatial = 2, .stride = {2, 2}};
  ConvolutionShape padded_volume = {
      .spatial = 3, .stride = {1, 2, 1}, .padding_low = {1, 0, 2}, .padding_high = {0, 1, 2}};
  return {
      {2, 3, 4, {6, 7}, {3, 3}, plain},
      {1, 1, 1, {1, 1}, {1, 1}, plain},
      {2, 5, 3, {4, 4}, {1, 1}, plain},
      {3, 2, 5, {9, 11}, {3, 2}, strided},
      {2, 3, 4, {5, 6}, {2, 3}, uneven},
      {2, 3, 4, {9, 10}, {3, 3}, dilated},
      {2, 4, 6, {7, 8}, {3, 3}, grouped},
      {2, 6, 6, {5, 5}, {3, 3}, depthwise},
      {2, 6, 12, {5, 5}, {3, 3}, depthwise},
      {2, 3, 4, {10}, {3}, line},
      {1, 2, 3, {17}, {4}, line_strided},
      {2, 2, 3, {4, 5, 6}, {2, 3, 2}, volume},
      {1, 2, 2, {3, 6, 4}, {2, 2, 3}, padded_volume},
      {2, 3, 4, {7, 7}, {1, 1}, pointwise_strided},
      {2, 16, 32, {8, 8}, {3, 3}, plain},
      {1, 1, 32, {12, 12}, {3, 3}, plain},
      {0, 3, 4, {6, 7}, {3, 3}, plain},
      {2, 0, 4, {6, 7}, {3, 3}, plain},
      {2, 3, 0, {6, 7}, {3, 3}, plain},
      {2, 3, 4, {2, 7}, {3, 3}, plain},
  };
}

template <class T>
class Convolution : public ::testing::Test {};
using Elements = ::testing::Types<std::uint8_t, std::int8_t, std::int16_t, std::int32_t, std::int64_t, Half, BFloat16,
                                  float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Convolution, Elements);

TYPED_TEST(Convolution, agrees_with_its_definition_and_so_do_its_transposes) {
  int number = 0;
  for (const Case& c : cases()) {
    SCOPED_TRACE(::testing::Message() << "case " << number++);
    check<TypeParam>(c);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(Convolution, gives_the_same_again) {
  const Case c = {2, 16, 16, {9, 9}, {3, 3}, {.spatial = 2}};
  Array<float> input({2, 16, 9, 9}), weight({16, 16, 3, 3}), first(out_sizes(c)), second(out_sizes(c));
  input.fill(1);
  weight.fill(2);
  convolution(first.view(), input.view(), weight.view(), c.shape);
  convolution(second.view(), input.view(), weight.view(), c.shape);
  EXPECT_EQ(first.storage, second.storage);
}

TEST(Convolution, of_booleans_asks_for_any_pair) {
  bool input[4] = {false, true, false, false}, weight[2] = {true, true}, out[3] = {};
  const Sizes input_shape = {1, 1, 4}, weight_shape = {1, 1, 2}, out_shape = {1, 1, 3}, input_strides = {4, 4, 1},
              weight_strides = {2, 2, 1}, out_strides = {3, 3, 1};
  convolution({out, boolean, 3, out_shape.data(), out_strides.data()},
              {input, boolean, 3, input_shape.data(), input_strides.data()},
              {weight, boolean, 3, weight_shape.data(), weight_strides.data()}, {.spatial = 1});
  EXPECT_TRUE(out[0] && out[1] && !out[2]);
}

}  // namespace
}  // namespace ricci::kernels
