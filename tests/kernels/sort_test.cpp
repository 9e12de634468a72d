// Sorting and selecting against std::stable_sort, along every axis of odd layouts; NaN, signed zeros and ties.
#include "kernels/sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "kernels/strided_array.h"

namespace ricci {
namespace {

using namespace kernel_tests;
using kernels::Order;

/// NaN after everything.
bool before(long double a, long double b) { return a < b || (!std::isnan(a) && std::isnan(b)); }

/// The places of a stable sort.
template <class T>
std::vector<std::int64_t> sorted_places(const std::vector<T>& x, Order order) {
  std::vector<std::int64_t> places(x.size());
  std::iota(places.begin(), places.end(), 0);
  std::stable_sort(places.begin(), places.end(), [&](std::int64_t i, std::int64_t j) {
    const long double a = number(x[static_cast<std::size_t>(i)]).real(),
                      b = number(x[static_cast<std::size_t>(j)]).real();
    return order == Order::ascending ? before(a, b) : before(b, a);
  });
  return places;
}

template <class T>
bool same(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// std::vector<bool> has no elements to point at.
template <class T>
using Element = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;

/// Checks that `values` and `places`, of `kept` elements along `axis`, are [first, first + kept) of the sorted lanes.
template <class T>
void expect_sorted(const StridedArray<T>& in, const StridedArray<T>& values, const StridedArray<std::int64_t>& places,
                   int axis, Order order, std::int64_t first) {
  const Sizes& shape = in.shape();
  for (std::int64_t i = 0; i < values.size(); ++i) {
    Sizes at = unravel(i, values.shape());
    if (!at.empty() && at[static_cast<std::size_t>(axis)] != 0) continue;
    std::vector<Element<T>> lane;
    const std::int64_t size = shape.empty() ? 1 : shape[static_cast<std::size_t>(axis)];
    for (std::int64_t k = 0; k < size; ++k) {
      if (!at.empty()) at[static_cast<std::size_t>(axis)] = k;
      lane.push_back(in[ravel(at, shape)]);
    }
    const auto expected = sorted_places(lane, order);
    const std::int64_t kept = shape.empty() ? 1 : values.shape()[static_cast<std::size_t>(axis)];
    for (std::int64_t k = 0; k < kept; ++k) {
      if (!at.empty()) at[static_cast<std::size_t>(axis)] = k;
      const std::int64_t place = expected[static_cast<std::size_t>(first + k)], to = ravel(at, values.shape());
      ASSERT_EQ(places[to], place);
      ASSERT_TRUE(same<Element<T>>(values[to], lane[static_cast<std::size_t>(place)]));
    }
  }
}

template <class T>
void check_dtype() {
  for (const Sizes& shape : {Sizes{}, Sizes{1}, Sizes{15}, Sizes{60}, Sizes{1000}, Sizes{5, 90}, Sizes{90, 5},
                             Sizes{3, 30, 4}, Sizes{0, 3}, Sizes{3, 0}}) {
    for (const Layout layout : all_layouts) {
      for (int axis = 0; axis < std::max(1, static_cast<int>(shape.size())); ++axis) {
        for (const Order order : {Order::ascending, Order::descending}) {
          const auto in = random_array<T>(shape, layout, 5);
          StridedArray<T> values(shape, Layout::reversed);
          StridedArray<std::int64_t> places(shape, Layout::gapped);
          kernels::sort(values.view(), places.view(), in.view(), axis, order);
          expect_sorted(in, values, places, axis, order, 0);
          if (testing::Test::HasFatalFailure()) return;
          const std::int64_t size = shape.empty() ? 1 : shape[static_cast<std::size_t>(axis)];
          for (const std::int64_t k : {std::int64_t{0}, std::int64_t{1}, size / 10, size / 2, size}) {
            if (k > size) continue;
            Sizes kept = shape;
            if (!shape.empty()) kept[static_cast<std::size_t>(axis)] = k;
            else if (k != 1) continue;
            StridedArray<T> top(kept, Layout::gapped);
            StridedArray<std::int64_t> top_places(kept, Layout::rotated);
            kernels::topk(top.view(), top_places.view(), in.view(), axis, order);
            expect_sorted(in, top, top_places, axis, order, 0);
            if (k == size) continue;
            if (!shape.empty()) kept[static_cast<std::size_t>(axis)] = 1;
            StridedArray<T> kth(kept);
            StridedArray<std::int64_t> kth_place(kept);
            kernels::kth_value(kth.view(), kth_place.view(), in.view(), axis, k, order);
            expect_sorted(in, kth, kth_place, axis, order, k);
          }
        }
      }
    }
  }
}

TEST(Sort, EqualsAStableSortForEveryDtype) {
  check_dtype<bool>();
  check_dtype<std::uint8_t>();
  check_dtype<std::int8_t>();
  check_dtype<std::int16_t>();
  check_dtype<std::int32_t>();
  check_dtype<std::int64_t>();
  check_dtype<Half>();
  check_dtype<BFloat16>();
  check_dtype<float>();
  check_dtype<double>();
}

template <class T, class Bits>
void check_bit_patterns() {
  const std::int64_t n = 5000;
  StridedArray<T> in({n}), values({n});
  StridedArray<std::int64_t> places({n});
  std::mt19937_64 generator(7);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint64_t bits = generator();
    in[i] = std::bit_cast<T>(static_cast<Bits>(bits));
    if (i % 11 == 0) in[i] = static_cast<T>(i % 2 ? 0.0F : -0.0F);
    if (i % 13 == 0) in[i] = static_cast<T>(std::numeric_limits<float>::infinity() * (i % 2 ? 1.0F : -1.0F));
    if (i % 17 == 0) in[i] = static_cast<T>(std::numeric_limits<float>::quiet_NaN());
  }
  for (const Order order : {Order::ascending, Order::descending}) {
    kernels::sort(values.view(), places.view(), in.view(), 0, order);
    expect_sorted(in, values, places, 0, order, 0);
  }
}

TEST(Sort, OrdersEveryBitPattern) {
  check_bit_patterns<Half, std::uint16_t>();
  check_bit_patterns<BFloat16, std::uint16_t>();
  check_bit_patterns<float, std::uint32_t>();
  check_bit_patterns<double, std::uint64_t>();
}

TEST(Sort, PutsNanLastAscendingAndFirstDescending) {
  StridedArray<float> in({4}), values({4});
  StridedArray<std::int64_t> places({4});
  in[0] = std::numeric_limits<float>::quiet_NaN(), in[1] = 1, in[2] = std::numeric_limits<float>::infinity(),
  in[3] = -2;
  kernels::sort(values.view(), places.view(), in.view(), 0, Order::ascending);
  EXPECT_EQ(places[3], 0);
  EXPECT_EQ(places[0], 3);
  kernels::sort(values.view(), places.view(), in.view(), 0, Order::descending);
  EXPECT_EQ(places[0], 0);
  EXPECT_EQ(places[1], 2);
}

TEST(SearchSorted, CountsSmallerElements) {
  const std::vector<double> table = {-1, 0, 0, 2, 5};
  StridedArray<double> sorted({5}), values({2, 4}, Layout::reversed);
  for (std::size_t i = 0; i < table.size(); ++i) sorted[static_cast<std::int64_t>(i)] = table[i];
  const double queries[] = {-3, -0.0, 0, 1, 2, 5, 6, std::numeric_limits<double>::quiet_NaN()};
  const std::int64_t left[] = {0, 1, 1, 3, 3, 4, 5, 5}, right[] = {0, 3, 3, 3, 4, 5, 5, 5};
  for (int i = 0; i < 8; ++i) values[i] = queries[i];
  StridedArray<std::int64_t> out({2, 4}, Layout::gapped);
  kernels::search_sorted(out.view(), sorted.view(), values.view(), false);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(out[i], left[i]);
  kernels::search_sorted(out.view(), sorted.view(), values.view(), true);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(out[i], right[i]);
}

TEST(SearchSorted, SearchesEachRowInItsOwnTable) {
  StridedArray<std::int32_t> sorted({2, 3}, Layout::reversed), values({2, 2});
  for (int i = 0; i < 6; ++i) sorted[i] = 10 * i;
  values[0] = 10, values[1] = 11, values[2] = 10, values[3] = 45;
  StridedArray<std::int64_t> out({2, 2});
  kernels::search_sorted(out.view(), sorted.view(), values.view(), false);
  EXPECT_EQ(out[0], 1);
  EXPECT_EQ(out[1], 2);
  EXPECT_EQ(out[2], 0);
  EXPECT_EQ(out[3], 2);
}

}  // namespace
}  // namespace ricci
