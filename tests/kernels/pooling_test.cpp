// Pooling and its transposes against loops that spell out the definition, with padding, dilation, gaps and strides.
#include "kernels/pooling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <vector>

namespace ricci::kernels {
namespace {

using Sizes = std::vector<std::int64_t>;

/// A stack of planes [planes, height, width], of which every `gap`-th element in memory is used.
template <class T>
struct Planes {
  Sizes shape, strides;
  std::vector<T> storage;

  Planes(std::int64_t planes, std::int64_t height, std::int64_t width, bool transposed = false, std::int64_t gap = 1)
      : shape{planes, height, width} {
    strides =
        transposed ? Sizes{height * width * gap, gap, height * gap} : Sizes{height * width * gap, width * gap, gap};
    storage.resize(static_cast<std::size_t>(planes * height * width * gap + 1));
  }
  T& operator()(std::int64_t p, std::int64_t y, std::int64_t x) {
    return storage[static_cast<std::size_t>(p * strides[0] + y * strides[1] + x * strides[2])];
  }
  Strided view() { return {storage.data(), dtype_of<T>, 3, shape.data(), strides.data()}; }
  /// Without the axis of height 1.
  Strided line_view() {
    line_shape = {shape[0], shape[2]};
    line_strides = {strides[0], strides[2]};
    return {storage.data(), dtype_of<T>, 2, line_shape.data(), line_strides.data()};
  }
  Sizes line_shape, line_strides;
};

template <class T>
void fill(Planes<T>& x, int seed) {
  std::mt19937 random(seed);
  for (T& element : x.storage) {
    const int value = static_cast<int>(random() % 41) - 20;  // few values, so that maxima are shared
    if constexpr (std::is_unsigned_v<T>) element = static_cast<T>(value + 20);
    else if constexpr (std::is_integral_v<T>) element = static_cast<T>(value);
    else element = T(static_cast<float>(value) / 4.0f);
  }
}

struct Case {
  std::int64_t planes, height, width;
  PoolingShape shape;
};

std::vector<Case> cases() {
  return {
      {3, 6, 8, {.window = {2, 2}, .stride = {2, 2}}},
      {2, 24, 24, {.window = {2, 2}, .stride = {2, 2}}},
      {2, 5, 151, {.window = {3, 3}, .stride = {2, 2}, .padding = {1, 1}}},
      {1, 3, 150, {.window = {2, 3}, .stride = {1, 1}}},
      {2, 7, 40, {.window = {3, 3}, .stride = {1, 1}, .padding = {1, 1}}},
      {2, 9, 11, {.window = {3, 2}, .stride = {2, 3}, .padding = {1, 1}}},
      {2, 9, 12, {.window = {2, 3}, .stride = {1, 2}, .padding = {1, 1}, .dilation = {3, 2}}},
      {1, 5, 37, {.window = {5, 4}, .stride = {3, 1}, .padding = {2, 2}}},
      {1, 1, 1, {.window = {1, 1}, .stride = {1, 1}}},
      {2, 2, 2, {.window = {2, 2}, .stride = {1, 1}, .padding = {1, 1}, .dilation = {3, 1}}},  // windows without inputs
      {0, 4, 4, {.window = {2, 2}, .stride = {2, 2}}},
      {2, 1, 4, {.window = {2, 2}, .stride = {2, 2}}},  // no outputs
  };
}

/// Calls `f(y, x)` with the inputs that the window of an output holds.
template <class F>
void for_each_input(const Case& c, std::int64_t out_y, std::int64_t out_x, bool dilated, F&& f) {
  for (std::int64_t ky = 0; ky < c.shape.window[0]; ++ky) {
    for (std::int64_t kx = 0; kx < c.shape.window[1]; ++kx) {
      const std::int64_t y =
          out_y * c.shape.stride[0] + ky * (dilated ? c.shape.dilation[0] : Size(1)) - c.shape.padding[0];
      const std::int64_t x =
          out_x * c.shape.stride[1] + kx * (dilated ? c.shape.dilation[1] : Size(1)) - c.shape.padding[1];
      if (y >= 0 && y < c.height && x >= 0 && x < c.width) f(y, x);
    }
  }
}

template <class T>
double as_double(T x) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) return double{static_cast<float>(x)};
  else return static_cast<double>(x);
}

template <class T>
double tolerance() {
  if constexpr (std::is_same_v<T, BFloat16>) return 0x1p-3;
  else if constexpr (std::is_same_v<T, Half>) return 0x1p-6;
  else return std::is_same_v<T, float> ? 1e-5 : 1e-13;
}

template <class T>
void check_max(const Case& c, bool transposed, std::int64_t gap) {
  const std::int64_t oh = pooling_size(c.height, c.shape, 0), ow = pooling_size(c.width, c.shape, 1);
  Planes<T> in(c.planes, c.height, c.width, transposed, gap), out(c.planes, oh, ow, !transposed, gap),
      gradient(c.planes, c.height, c.width, !transposed, gap), ct(c.planes, oh, ow, transposed, gap);
  Planes<std::int64_t> index(c.planes, oh, ow, transposed, gap);
  fill(in, 1);
  fill(ct, 2);
  fill(gradient, 3);
  max_pool(out.view(), index.view(), in.view(), c.shape);
  Planes<T> alone(c.planes, oh, ow, transposed, gap);
  max_pool(alone.view(), in.view(), c.shape);
  max_pool_gradient(gradient.view(), ct.view(), index.view(), c.shape.spatial);
  for (std::int64_t p = 0; p < c.planes; ++p) {
    std::vector<double> sums(static_cast<std::size_t>(c.height * c.width));
    for (std::int64_t oy = 0; oy < oh; ++oy) {
      for (std::int64_t ox = 0; ox < ow; ++ox) {
        std::int64_t place = -1;
        for_each_input(c, oy, ox, true, [&](std::int64_t y, std::int64_t x) {
          if (place < 0 || as_double(in(p, y, x)) > as_double(in(p, place / c.width, place % c.width)))
            place = y * c.width + x;
        });
        ASSERT_EQ(index(p, oy, ox), place) << p << " " << oy << " " << ox;
        ASSERT_EQ(as_double(alone(p, oy, ox)), as_double(out(p, oy, ox))) << p << " " << oy << " " << ox;
        if (place < 0) continue;
        ASSERT_EQ(as_double(out(p, oy, ox)), as_double(in(p, place / c.width, place % c.width)));
        sums[place] += as_double(ct(p, oy, ox));
      }
    }
    for (std::int64_t y = 0; y < c.height; ++y) {
      for (std::int64_t x = 0; x < c.width; ++x) {
        const double want = sums[y * c.width + x];
        if constexpr (std::is_integral_v<T>) ASSERT_EQ(gradient(p, y, x), static_cast<T>(want));
        else ASSERT_NEAR(as_double(gradient(p, y, x)), want, tolerance<T>() * (1 + std::abs(want)));
      }
    }
  }
}

template <class T>
void check_avg(const Case& c, bool transposed, std::int64_t gap) {
  PoolingShape plain = c.shape;
  plain.dilation = {1, 1, 1};
  const std::int64_t oh = pooling_size(c.height, plain, 0), ow = pooling_size(c.width, plain, 1);
  Planes<T> in(c.planes, c.height, c.width, transposed, gap), out(c.planes, oh, ow, !transposed, gap),
      gradient(c.planes, c.height, c.width, !transposed, gap), ct(c.planes, oh, ow, transposed, gap);
  fill(in, 1);
  fill(ct, 2);
  fill(gradient, 3);
  avg_pool(out.view(), in.view(), c.shape);
  avg_pool_gradient(gradient.view(), ct.view(), c.shape);
  const auto elements = static_cast<double>(c.shape.window[0] * c.shape.window[1]);
  for (std::int64_t p = 0; p < c.planes; ++p) {
    std::vector<double> sums(static_cast<std::size_t>(c.height * c.width));
    for (std::int64_t oy = 0; oy < oh; ++oy) {
      for (std::int64_t ox = 0; ox < ow; ++ox) {
        double sum = 0;
        for_each_input(c, oy, ox, false, [&](std::int64_t y, std::int64_t x) {
          sum += as_double(in(p, y, x));
          const double share = as_double(ct(p, oy, ox)) / elements;
          sums[y * c.width + x] += std::is_integral_v<T> ? std::trunc(share) : share;
        });
        const double want = std::is_integral_v<T> ? std::trunc(sum / elements) : sum / elements;
        ASSERT_NEAR(as_double(out(p, oy, ox)), want, tolerance<T>() * (1 + std::abs(want)));
      }
    }
    for (std::int64_t y = 0; y < c.height; ++y) {
      for (std::int64_t x = 0; x < c.width; ++x) {
        const double want = sums[y * c.width + x];
        if constexpr (std::is_integral_v<T>) ASSERT_EQ(gradient(p, y, x), static_cast<T>(want));
        else ASSERT_NEAR(as_double(gradient(p, y, x)), want, tolerance<T>() * (1 + std::abs(want)));
      }
    }
  }
}

template <class T>
class Pooling : public ::testing::Test {};
using Elements = ::testing::Types<std::uint8_t, std::int8_t, std::int16_t, std::int32_t, std::int64_t, Half, BFloat16,
                                  float, double>;
TYPED_TEST_SUITE(Pooling, Elements);

TYPED_TEST(Pooling, agrees_with_its_definition_and_so_do_its_transposes) {
  int number = 0;
  for (const Case& c : cases()) {
    for (const bool transposed : {false, true}) {
      for (const std::int64_t gap : {1, 3}) {
        SCOPED_TRACE(::testing::Message() << "case " << number << " transposed " << transposed << " gap " << gap);
        check_max<TypeParam>(c, transposed, gap);
        check_avg<TypeParam>(c, transposed, gap);
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
    ++number;
  }
}

/// Two images [2, channels, height, width]: one behind the other, or with channels side by side.
template <class T>
struct Images {
  Sizes shape, strides;
  std::vector<T> storage;

  Images(std::int64_t channels, std::int64_t height, std::int64_t width, bool channels_last)
      : shape{2, channels, height, width}, storage(static_cast<std::size_t>(2 * channels * height * width)) {
    strides = channels_last ? Sizes{channels * height * width, 1, channels * width, channels}
                            : Sizes{channels * height * width, height * width, width, 1};
  }
  T& at(std::int64_t i) {  // in row-major order
    std::int64_t place = 0;
    for (std::size_t axis = 4; axis-- > 0; i /= shape[axis]) place += i % shape[axis] * strides[axis];
    return storage[static_cast<std::size_t>(place)];
  }
  Strided view() { return {storage.data(), dtype_of<T>, 4, shape.data(), strides.data()}; }
};

/// How means divide: by nine numbers or fewer, by a power of two, by a negative number.
const Averaging divisions[] = {{}, {0, false}, {4}, {-4}, {3}};

TYPED_TEST(Pooling, gives_the_same_bits_where_channels_lie_side_by_side) {
  using T = TypeParam;
  for (const std::int64_t channels : {16, 67, 150}) {
    int number = 0;
    for (const Case& c : cases()) {
      SCOPED_TRACE(::testing::Message() << "case " << number++ << " of " << channels << " channels");
      PoolingShape plain = c.shape;
      plain.dilation = {1, 1, 1};
      Images<T> rows(channels, c.height, c.width, false), last(channels, c.height, c.width, true);
      std::mt19937 random(7);
      for (std::size_t i = 0; i < rows.storage.size(); ++i) {
        const int value = static_cast<int>(random() % 101);
        const T element = std::is_integral_v<T> ? static_cast<T>(value) : static_cast<T>(static_cast<float>(value) / 7);
        rows.at(static_cast<std::int64_t>(i)) = last.at(static_cast<std::int64_t>(i)) = element;
      }
      const auto expect_same = [&](const PoolingShape& shape, const auto& pool) {
        const std::int64_t oh = pooling_size(c.height, shape, 0), ow = pooling_size(c.width, shape, 1);
        for (const bool turned : {false, true}) {
          Images<T> of_rows(channels, oh, ow, turned), of_last(channels, oh, ow, turned);
          pool(of_rows.view(), rows.view());
          pool(of_last.view(), last.view());
          EXPECT_EQ(of_rows.storage, of_last.storage);
        }
      };
      expect_same(c.shape, [&](Strided out, Strided in) { max_pool(out, in, c.shape); });
      for (const Averaging& averaging : divisions)
        expect_same(plain, [&](Strided out, Strided in) { avg_pool(out, in, plain, averaging); });
    }
  }
}

TEST(Pooling, over_one_axis_is_pooling_over_planes_of_height_one) {
  const PoolingShape line = {.spatial = 1, .window = {3}, .stride = {2}, .padding = {1}};
  const PoolingShape plane = {.spatial = 2, .window = {1, 3}, .stride = {1, 2}, .padding = {0, 1}};
  const std::int64_t count = pooling_size(21, line, 0);
  Planes<float> in(4, 1, 21), a(4, 1, count), b(4, 1, count), ga(4, 1, 21), gb(4, 1, 21);
  Planes<std::int64_t> ia(4, 1, count), ib(4, 1, count);
  fill(in, 5);
  max_pool(a.line_view(), ia.line_view(), in.line_view(), line);
  max_pool(b.view(), ib.view(), in.view(), plane);
  EXPECT_EQ(a.storage, b.storage);
  EXPECT_EQ(ia.storage, ib.storage);
  max_pool_gradient(ga.line_view(), a.line_view(), ia.line_view(), 1);
  max_pool_gradient(gb.view(), b.view(), ib.view(), 2);
  EXPECT_EQ(ga.storage, gb.storage);
  avg_pool(a.line_view(), in.line_view(), line);
  avg_pool(b.view(), in.view(), plane);
  EXPECT_EQ(a.storage, b.storage);
  avg_pool_gradient(ga.line_view(), a.line_view(), line);
  avg_pool_gradient(gb.view(), b.view(), plane);
  EXPECT_EQ(ga.storage, gb.storage);
}

TEST(Pooling, maxima_keep_nan_and_find_the_lowest_numbers) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), low = -std::numeric_limits<float>::infinity();
  Planes<float> in(1, 2, 4), out(1, 1, 2);
  Planes<std::int64_t> index(1, 1, 2);
  in.storage = {1, nan, low, low, nan, 3, low, low};
  max_pool(out.view(), index.view(), in.view(), {.window = {2, 2}, .stride = {2, 2}});
  EXPECT_TRUE(std::isnan(out(0, 0, 0)));
  EXPECT_EQ(index(0, 0, 0), 4);
  EXPECT_EQ(out(0, 0, 1), low);
  EXPECT_EQ(index(0, 0, 1), 2);
}

TEST(Pooling, maxima_alone_keep_nan_wherever_it_stands) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::int64_t stride : {1, 2, 3}) {
    const PoolingShape shape = {.window = {1, 3}, .stride = {1, stride}, .padding = {0, 1}};
    const std::int64_t count = pooling_size(90, shape, 1);
    for (std::int64_t place = 0; place < 90; ++place) {
      Planes<float> in(1, 1, 90), out(1, 1, count), alone(1, 1, count);
      Planes<std::int64_t> index(1, 1, count);
      fill(in, 1);
      in(0, 0, place) = nan;
      max_pool(out.view(), index.view(), in.view(), shape);
      max_pool(alone.view(), in.view(), shape);
      for (std::int64_t i = 0; i < count; ++i) {
        ASSERT_EQ(std::isnan(out(0, 0, i)), std::abs(i * stride - place) <= 1);
        ASSERT_TRUE(alone(0, 0, i) == out(0, 0, i) || (std::isnan(alone(0, 0, i)) && std::isnan(out(0, 0, i))));
      }
    }
  }
}

/// In rows of zero to two registers and all halves of them.
template <class T>
void expect_maximum_wherever_it_stands(T greatest) {
  for (std::int64_t width = 1; width <= 70; ++width)
    for (std::int64_t place = 0; place < 2 * width; ++place) {
      Planes<T> in(1, 2, width), out(1, 1, 1);
      in(0, place / width, place % width) = greatest;
      max_pool(out.view(), in.view(), {.window = {2, width}, .stride = {2, width}});
      ASSERT_TRUE(out(0, 0, 0) == greatest || (greatest != greatest && out(0, 0, 0) != out(0, 0, 0))) << place;
    }
}
TEST(Pooling, maxima_of_whole_planes_are_found_wherever_they_stand) {
  expect_maximum_wherever_it_stands<float>(std::numeric_limits<float>::quiet_NaN());
  expect_maximum_wherever_it_stands<double>(std::numeric_limits<double>::quiet_NaN());
  expect_maximum_wherever_it_stands<float>(1e-3f);
  expect_maximum_wherever_it_stands<std::int8_t>(7);
  expect_maximum_wherever_it_stands<std::int64_t>(std::int64_t{1} << 40);
}

TEST(Pooling, averages_complex_numbers) {
  Planes<std::complex<double>> in(1, 1, 4), out(1, 1, 2);
  in.storage = {{1, 2}, {3, 4}, {5, 6}, {7, 0}, {0, 0}};
  avg_pool(out.view(), in.view(), {.window = {1, 2}, .stride = {1, 2}});
  EXPECT_EQ(out(0, 0, 0), std::complex<double>(2, 3));
  EXPECT_EQ(out(0, 0, 1), std::complex<double>(6, 3));
}

}  // namespace
}  // namespace ricci::kernels
