// Running totals and extremes against loops of long doubles, forward and reverse, along every axis of odd layouts.
#include "kernels/scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "kernels/strided_array.h"

namespace ricci {
namespace {

using namespace kernel_tests;
using kernels::Direction;
using kernels::Scan;

/// What one result in `dtype` may be off, relative to the largest partial result.
double tolerance(DType dtype) {
  switch (dtype) {
    case DType::float16: return 0x1p-11;
    case DType::bfloat16: return 0x1p-8;
    case DType::float32:
    case DType::complex64: return 0x1p-23;
    case DType::float64:
    case DType::complex128: return 0x1p-48;
    default: return 0;
  }
}

const Sizes shapes[] = {{}, {1}, {50}, {5, 30}, {30, 20}, {3, 4, 17}, {9, 2, 10}, {0, 3}, {4, 0}};

/// f(the flat positions of one lane, in the direction's order) for every lane of `shape` along `axis`.
void for_each_lane(const Sizes& shape, int axis, Direction direction,
                   const std::function<void(const std::vector<std::int64_t>&)>& f) {
  const std::int64_t size = shape.empty() ? 1 : shape[static_cast<std::size_t>(axis)];
  for (std::int64_t i = 0; i < product(shape); ++i) {
    Sizes at = unravel(i, shape);
    if (!shape.empty() && at[static_cast<std::size_t>(axis)] != 0) continue;
    std::vector<std::int64_t> lane;
    for (std::int64_t k = 0; k < size; ++k) {
      if (!shape.empty()) at[static_cast<std::size_t>(axis)] = k;
      lane.push_back(ravel(at, shape));
    }
    if (direction == Direction::reverse) std::reverse(lane.begin(), lane.end());
    f(lane);
  }
}

template <class F>
void for_each_case(F f) {
  for (const Sizes& shape : shapes) {
    for (const Layout layout : all_layouts) {
      for (int axis = 0; axis < std::max(1, static_cast<int>(shape.size())); ++axis) {
        for (const Direction direction : {Direction::forward, Direction::reverse}) f(shape, layout, axis, direction);
      }
    }
  }
}

template <class T, class Out>
void check_scan(Scan kind) {
  ASSERT_EQ(kernels::scanned_dtype(kind, dtype_of<T>), dtype_of<Out>);
  for_each_case([&](const Sizes& shape, Layout layout, int axis, Direction direction) {
    auto in = random_array<T>(shape, layout);
    if (kind == Scan::prod) {
      for (std::int64_t i = 0; i < in.size(); ++i) in[i] = i % 4 == 1 && !std::is_integral_v<T> ? T(-1) : T(1);
    }
    StridedArray<Out> out(shape, layout == Layout::gapped ? Layout::contiguous : Layout::gapped);
    kernels::scan(kind, out.view(), in.view(), axis, direction);
    for_each_lane(shape, axis, direction, [&](const std::vector<std::int64_t>& lane) {
      Number total = kind == Scan::prod ? 1 : 0;
      long double scale = 1;
      for (const std::int64_t i : lane) {
        const Number x = number(in[i]);
        if (kind == Scan::sum) total += x;
        if (kind == Scan::prod) total *= x;
        if (kind == Scan::logsumexp) total += std::exp(x.real());
        const Number expected = kind == Scan::logsumexp ? std::log(total) : total;
        scale = std::max(scale, std::abs(expected));
        EXPECT_LE(std::abs(number(out[i]) - expected), tolerance(dtype_of<Out>) * static_cast<double>(scale));
      }
    });
  });
}

TEST(Scan, AddsEveryDtype) {
  check_scan<bool, std::int64_t>(Scan::sum);
  check_scan<std::uint8_t, std::int64_t>(Scan::sum);
  check_scan<std::int8_t, std::int64_t>(Scan::sum);
  check_scan<std::int16_t, std::int64_t>(Scan::sum);
  check_scan<std::int32_t, std::int64_t>(Scan::sum);
  check_scan<std::int64_t, std::int64_t>(Scan::sum);
  check_scan<Half, Half>(Scan::sum);
  check_scan<BFloat16, BFloat16>(Scan::sum);
  check_scan<float, float>(Scan::sum);
  check_scan<double, double>(Scan::sum);
  check_scan<std::complex<float>, std::complex<float>>(Scan::sum);
  check_scan<std::complex<double>, std::complex<double>>(Scan::sum);
}

TEST(Scan, MultipliesEveryDtype) {
  check_scan<std::int16_t, std::int64_t>(Scan::prod);
  check_scan<Half, Half>(Scan::prod);
  check_scan<float, float>(Scan::prod);
  check_scan<double, double>(Scan::prod);
  check_scan<std::complex<float>, std::complex<float>>(Scan::prod);
}

TEST(Scan, LogSumExpsEveryFloatingDtype) {
  check_scan<Half, Half>(Scan::logsumexp);
  check_scan<BFloat16, BFloat16>(Scan::logsumexp);
  check_scan<float, float>(Scan::logsumexp);
  check_scan<double, double>(Scan::logsumexp);
}

TEST(Scan, LogSumExpsInfinities) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  StridedArray<double> in({7}), out({7});
  const double elements[] = {-inf, -inf, 2, -inf, inf, inf, 3}, expected[] = {-inf, -inf, 2, 2, inf, inf, inf};
  std::copy_n(elements, 7, &in[0]);
  kernels::scan(Scan::logsumexp, out.view(), in.view(), 0);
  for (int i = 0; i < 7; ++i) EXPECT_EQ(out[i], expected[i]) << i;
  in[1] = nan;
  kernels::scan(Scan::logsumexp, out.view(), in.view(), 0);
  for (int i = 1; i < 7; ++i) EXPECT_TRUE(std::isnan(out[i])) << i;
  in[0] = 1000, in[1] = 1000, in[2] = -1000;
  kernels::scan(Scan::logsumexp, out.view(), in.view(), 0);
  EXPECT_DOUBLE_EQ(out[2], 1000 + std::log(2.0));
}

TEST(Scan, LanesOfABatchHaveTheBitsTheyHaveAlone) {
  for (const Scan kind : {Scan::sum, Scan::prod, Scan::logsumexp}) {
    const std::int64_t n = 40, batch = 21;
    const auto in = random_array<float>({n, batch}, Layout::contiguous);
    StridedArray<float> out({n, batch});
    kernels::scan(kind, out.view(), in.view(), 0);
    for (std::int64_t b = 0; b < batch; ++b) {
      StridedArray<float> lane({n}), alone({n});
      for (std::int64_t i = 0; i < n; ++i) lane[i] = in[i * batch + b];
      kernels::scan(kind, alone.view(), lane.view(), 0);
      for (std::int64_t i = 0; i < n; ++i) EXPECT_EQ(alone[i], out[i * batch + b]);
    }
  }
}

TEST(Scan, WorksInPlace) {
  auto x = random_array<float>({12, 20}, Layout::contiguous);
  StridedArray<float> out({12, 20});
  kernels::scan(Scan::sum, out.view(), x.view(), 0, Direction::reverse);
  kernels::scan(Scan::sum, x.view(), x.view(), 0, Direction::reverse);
  for (std::int64_t i = 0; i < x.size(); ++i) EXPECT_EQ(x[i], out[i]);
}

template <class T>
void check_long_lanes() {
  constexpr std::int64_t n = 70'001, lanes = 9;
  for (const Direction direction : {Direction::forward, Direction::reverse}) {
    const auto x = random_array<T>({n, lanes}, Layout::contiguous);
    StridedArray<T> together({n, lanes}), alone({n});
    kernels::scan(Scan::sum, together.view(), x.view(), 0, direction);
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      for (std::int64_t i = 0; i < n; ++i) alone[i] = x[i * lanes + lane];
      kernels::scan(Scan::sum, alone.view(), alone.view(), 0, direction);
      for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(number(alone[i]), number(together[i * lanes + lane])) << i;
    }
  }
}

TEST(Scan, LongLanesHaveTheBitsAloneAndInPlaceThatTheyHaveInABatch) {
  check_long_lanes<float>();
  check_long_lanes<double>();
  check_long_lanes<Half>();
  check_long_lanes<std::int64_t>();
  check_long_lanes<std::complex<float>>();
}

TEST(Scan, SumOfManySinglesIsThatOfDoubles) {
  const std::int64_t n = 1000000;
  StridedArray<float> in({n}), out({n});
  for (std::int64_t i = 0; i < n; ++i) in[i] = 0.1F;
  kernels::scan(Scan::sum, out.view(), in.view(), 0);
  EXPECT_FLOAT_EQ(out[n - 1], 0.1F * 1000000);
}

template <class T>
void check_extremes() {
  for_each_case([&](const Sizes& shape, Layout layout, int axis, Direction direction) {
    for (const bool greatest : {true, false}) {
      const auto in = random_array<T>(shape, layout);
      StridedArray<T> values(shape, Layout::reversed);
      StridedArray<std::int64_t> places(shape, Layout::gapped);
      kernels::scan_extreme(greatest, values.view(), places.view(), in.view(), axis, direction);
      for_each_lane(shape, axis, direction, [&](const std::vector<std::int64_t>& lane) {
        std::int64_t best = lane[0];
        for (const std::int64_t i : lane) {
          const long double x = number(in[i]).real(), b = number(in[best]).real();
          if (greatest ? x >= b : x <= b) best = i;
          EXPECT_EQ(number(values[i]), number(in[best]));
          const std::int64_t place = shape.empty() ? 0 : unravel(best, shape)[static_cast<std::size_t>(axis)];
          EXPECT_EQ(places[i], place);
        }
      });
    }
  });
}

TEST(ScanExtreme, FindsTheLatestBestSoFar) {
  check_extremes<bool>();
  check_extremes<std::uint8_t>();
  check_extremes<std::int8_t>();
  check_extremes<std::int64_t>();
  check_extremes<Half>();
  check_extremes<BFloat16>();
  check_extremes<float>();
  check_extremes<double>();
}

TEST(ScanExtreme, StaysNanFromTheFirstOn) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  StridedArray<float> in({5}), values({5});
  StridedArray<std::int64_t> places({5});
  in[0] = 3, in[1] = nan, in[2] = 9, in[3] = nan, in[4] = 10;
  kernels::scan_extreme(true, values.view(), places.view(), in.view(), 0);
  EXPECT_EQ(values[0], 3);
  for (int i = 1; i < 5; ++i) EXPECT_TRUE(std::isnan(values[i]));
  EXPECT_EQ(places[2], 1);
  EXPECT_EQ(places[4], 3);
}

}  // namespace
}  // namespace ricci
