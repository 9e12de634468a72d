// Reading and writing at places against loops over positions, in odd memory layouts, with indices from both ends.
#include "kernels/index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/strided_array.h"

namespace ricci {
namespace {

using namespace kernel_tests;
using kernels::Write;

using Indices = StridedArray<std::int64_t>;

/// Indices into `size` places, half of them negative.
Indices random_indices(Sizes shape, std::int64_t size, Layout layout, unsigned seed = 1) {
  std::minstd_rand generator(seed);
  Indices indices(std::move(shape), layout);
  for (std::int64_t i = 0; i < indices.size(); ++i)
    indices[i] = static_cast<std::int64_t>(generator() % static_cast<unsigned>(2 * size)) - size;
  return indices;
}

std::int64_t wrapped(std::int64_t i, std::int64_t size) { return i < 0 ? i + size : i; }

/// What elements of a type are added in, at places.
template <class T>
struct total_of {
  using type = T;
};
template <> struct total_of<Half> {
  using type = double;
};
template <> struct total_of<BFloat16> {
  using type = double;
};
template <> struct total_of<float> {
  using type = double;
};
template <> struct total_of<std::complex<float>> {
  using type = std::complex<double>;
};

/// What is expected in a table: elements in order of the table, unrounded.
template <class T>
struct Expected {
  using Total = typename total_of<T>::type;
  std::vector<Total> totals;

  explicit Expected(const StridedArray<T>& table) {
    for (std::int64_t i = 0; i < table.size(); ++i) totals.push_back(widened(table[i]));
  }
  static Total widened(T x) {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) return static_cast<float>(x);
    else return static_cast<Total>(x);
  }
  void write(Write write, std::int64_t place, T value) {
    Total total = totals[static_cast<std::size_t>(place)];
    if (write == Write::set) total = widened(value);
    else if constexpr (std::is_same_v<T, bool>) total = total || value;
    else total = static_cast<Total>(total + widened(value));
    totals[static_cast<std::size_t>(place)] = total;
  }
  T operator[](std::int64_t i) const {
    const Total total = totals[static_cast<std::size_t>(i)];
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) return T(static_cast<float>(total));
    else return static_cast<T>(total);
  }
};

struct AxisCase {
  Sizes table, index;
  int axis;
};
const AxisCase axis_cases[] = {
    {{5}, {9}, 0},         {{5, 7}, {5, 3}, 1},       {{5, 7}, {11, 7}, 0},
    {{5, 7}, {2, 4}, 1},   {{4, 5, 6}, {4, 8, 6}, 1}, {{4, 5, 6}, {3, 2, 50}, 2},
    {{3, 4}, {0, 4}, 0},   {{1, 1}, {1, 6}, 1},       {{1000, 7}, {5, 7}, 0},
    {{5, 300}, {5, 6}, 1},
};

template <class T>
void check_gather() {
  for (const AxisCase& c : axis_cases) {
    for (const Layout layout : all_layouts) {
      const std::int64_t size = c.table[static_cast<std::size_t>(c.axis)];
      const auto in = random_array<T>(c.table, layout);
      const Indices index = random_indices(c.index, size, layout);
      StridedArray<T> out(c.index, Layout::gapped);
      kernels::gather(out.view(), in.view(), c.axis, index.view());
      for (std::int64_t i = 0; i < out.size(); ++i) {
        Sizes at = unravel(i, c.index);
        at[static_cast<std::size_t>(c.axis)] = wrapped(index[i], size);
        ASSERT_EQ(out[i], in[ravel(at, c.table)]);
      }
    }
  }
}

TEST(Gather, ReadsAtTheIndex) {
  check_gather<bool>();
  check_gather<std::int16_t>();
  check_gather<float>();
  check_gather<double>();
  check_gather<std::complex<double>>();
}

template <class T>
void check_scatter(Write write) {
  for (const AxisCase& c : axis_cases) {
    for (const Layout layout : all_layouts) {
      const std::int64_t size = c.table[static_cast<std::size_t>(c.axis)];
      const Layout written = layout == Layout::repeated ? Layout::contiguous : layout;
      auto inout = random_array<T>(c.table, written);
      Expected<T> expected(inout);
      const Indices index = random_indices(c.index, size, layout);
      const auto src = random_array<T>(c.index, layout, 9);
      kernels::scatter(write, inout.view(), c.axis, index.view(), src.view());
      for (std::int64_t i = 0; i < index.size(); ++i) {
        Sizes at = unravel(i, c.index);
        at[static_cast<std::size_t>(c.axis)] = wrapped(index[i], size);
        expected.write(write, ravel(at, c.table), src[i]);
      }
      for (std::int64_t i = 0; i < inout.size(); ++i) ASSERT_EQ(inout[i], expected[i]);
    }
  }
}

TEST(Scatter, WritesAtTheIndexTheLastOneWinning) {
  check_scatter<bool>(Write::set);
  check_scatter<Half>(Write::set);
  check_scatter<float>(Write::set);
  check_scatter<std::int64_t>(Write::set);
  check_scatter<std::complex<double>>(Write::set);
}

TEST(Scatter, AddsInRowMajorOrderAndRoundsOnce) {
  check_scatter<bool>(Write::add);
  check_scatter<std::int8_t>(Write::add);
  check_scatter<std::int64_t>(Write::add);
  check_scatter<Half>(Write::add);
  check_scatter<BFloat16>(Write::add);
  check_scatter<float>(Write::add);
  check_scatter<std::complex<float>>(Write::add);
}

TEST(Scatter, ReadsOnlyTheIndexedPartOfItsSource) {
  StridedArray<float> inout({3, 4});
  const auto src = random_array<float>({5, 6}, Layout::contiguous);
  const Indices index = random_indices({2, 3}, 4, Layout::contiguous);
  auto expected = inout;
  Strided source = src.view();
  source.shape = index.view().shape;
  kernels::scatter(Write::add, inout.view(), 1, index.view(), source);
  for (std::int64_t i = 0; i < 6; ++i) expected.at({i / 3, wrapped(index[i], 4)}) += src[i / 3 * 6 + i % 3];
  for (std::int64_t i = 0; i < 12; ++i) EXPECT_EQ(inout[i], expected[i]);
}

TEST(Gather, OfScalarsCopies) {
  StridedArray<float> in({}), out({});
  Indices index({});
  in[0] = 3;
  kernels::gather(out.view(), in.view(), 0, index.view());
  EXPECT_EQ(out[0], 3);
  kernels::scatter(Write::add, out.view(), 0, index.view(), in.view());
  EXPECT_EQ(out[0], 6);
}

// --- Tuples of indices

struct TupleCase {
  Sizes indexed, rest, tuples;
};
const TupleCase tuple_cases[] = {
    {{7}, {}, {5}},         {{7}, {20}, {5}},         {{7}, {3, 4}, {2, 3}}, {{7, 3}, {}, {40}},
    {{7, 3}, {5}, {2, 3}},  {{2, 3, 4}, {6, 2}, {3}}, {{7}, {4}, {}},        {{7}, {4}, {0}},
    {{7}, {0}, {3}},        {{}, {3, 4}, {}},         {{5}, {1}, {100}},     {{5}, {100}, {1}},
    {{900}, {}, {70}},      {{90, 8}, {}, {70}},      {{400}, {19}, {70}},   {{40, 30}, {2, 30}, {70}},
    {{700}, {5, 9}, {100}},
};

struct Tuples {
  std::vector<Indices> indices;
  std::vector<Strided> views;
};
Tuples random_tuples(const TupleCase& c, Layout layout) {
  Tuples tuples;
  for (std::size_t k = 0; k < c.indexed.size(); ++k)
    tuples.indices.push_back(random_indices(c.tuples, c.indexed[k], layout, static_cast<unsigned>(k + 1)));
  for (const Indices& index : tuples.indices) tuples.views.push_back(index.view());
  return tuples;
}

Sizes joined(Sizes a, const Sizes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// The place in the table of position `at` of [tuples…, rest…].
Sizes place_of(const Sizes& at, const TupleCase& c, const Tuples& tuples) {
  const Sizes tuple(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(c.tuples.size()));
  Sizes place;
  for (std::size_t k = 0; k < c.indexed.size(); ++k)
    place.push_back(wrapped(tuples.indices[k][ravel(tuple, c.tuples)], c.indexed[k]));
  return joined(place, Sizes(at.begin() + static_cast<std::ptrdiff_t>(c.tuples.size()), at.end()));
}

template <class T>
void check_take() {
  for (const TupleCase& c : tuple_cases) {
    for (const Layout layout : all_layouts) {
      for (const Layout out_layout : written_layouts) {
        const auto in = random_array<T>(joined(c.indexed, c.rest), layout);
        const Tuples tuples = random_tuples(c, layout);
        StridedArray<T> out(joined(c.tuples, c.rest), out_layout);
        kernels::take(out.view(), in.view(), tuples.views);
        for (std::int64_t i = 0; i < out.size(); ++i)
          ASSERT_EQ(out[i], in[ravel(place_of(unravel(i, out.shape()), c, tuples), in.shape())]);
      }
    }
  }
}

TEST(Take, ReadsAtTuplesOfIndices) {
  check_take<std::uint8_t>();
  check_take<BFloat16>();
  check_take<float>();
  check_take<double>();
  check_take<std::complex<double>>();
}

template <class T>
void check_put(Write write) {
  for (const TupleCase& c : tuple_cases) {
    for (const Layout layout : all_layouts) {
      for (const Layout out_layout : written_layouts) {
        auto inout = random_array<T>(joined(c.indexed, c.rest), out_layout);
        Expected<T> expected(inout);
        const Tuples tuples = random_tuples(c, layout);
        const auto values = random_array<T>(joined(c.tuples, c.rest), layout, 4);
        kernels::put(write, inout.view(), tuples.views, values.view());
        for (std::int64_t i = 0; i < values.size(); ++i) {
          const Sizes place = place_of(unravel(i, values.shape()), c, tuples);
          expected.write(write, ravel(place, inout.shape()), values[i]);
        }
        for (std::int64_t i = 0; i < inout.size(); ++i) ASSERT_EQ(inout[i], expected[i]);
      }
    }
  }
}

TEST(Put, WritesAtTuplesOfIndicesTheLastOneWinning) {
  check_put<bool>(Write::set);
  check_put<float>(Write::set);
  check_put<std::complex<double>>(Write::set);
}

TEST(Put, AddsInRowMajorOrderAndRoundsOnce) {
  check_put<bool>(Write::add);
  check_put<std::int32_t>(Write::add);
  check_put<Half>(Write::add);
  check_put<float>(Write::add);
  check_put<std::complex<double>>(Write::add);
}

// --- Searching

TEST(FindOutOfRange, ReturnsTheFirstInRowMajorOrder) {
  for (const Layout layout : written_layouts) {
    Indices index = random_indices({6, 70}, 5, layout);
    EXPECT_EQ(kernels::find_out_of_range(index.view(), -5, 5), std::nullopt);
    index.at({4, 1}) = 5, index.at({3, 60}) = -6, index.at({3, 61}) = 99;
    EXPECT_EQ(kernels::find_out_of_range(index.view(), -5, 5), -6);
    EXPECT_EQ(kernels::find_out_of_range(index.view(), -6, 5), 99);
    index.at({0, 0}) = std::numeric_limits<std::int64_t>::min();
    EXPECT_EQ(kernels::find_out_of_range(index.view(), -5, 5), std::numeric_limits<std::int64_t>::min());
  }
  Indices none({0}), scalar({});
  EXPECT_EQ(kernels::find_out_of_range(none.view(), 0, 0), std::nullopt);
  EXPECT_EQ(kernels::find_out_of_range(scalar.view(), 0, 0), 0);
  EXPECT_EQ(kernels::find_out_of_range(scalar.view(), -1, 1), std::nullopt);
}

template <class T>
void check_nonzero() {
  for (const Sizes& shape : {Sizes{}, Sizes{50}, Sizes{6, 7}, Sizes{2, 3, 30}, Sizes{0, 3}, Sizes{3, 0}}) {
    for (const Layout layout : all_layouts) {
      auto in = random_array<T>(shape, layout);
      for (std::int64_t i = 0; i < in.size(); i += 3) in[i] = T(0);
      std::vector<Sizes> expected;
      for (std::int64_t i = 0; i < in.size(); ++i) {
        if (in[i] != T(0)) expected.push_back(unravel(i, shape));
      }
      const auto count = static_cast<std::int64_t>(expected.size());
      ASSERT_EQ(kernels::count_nonzero(in.view()), count);
      const auto rank = static_cast<std::int64_t>(shape.size());
      Indices out({count, rank});
      kernels::nonzero(out.view(), in.view());
      for (std::int64_t k = 0; k < count; ++k) {
        for (std::int64_t axis = 0; axis < rank; ++axis)
          ASSERT_EQ(out.at({k, axis}), expected[static_cast<std::size_t>(k)][static_cast<std::size_t>(axis)]);
      }
    }
  }
}

TEST(Nonzero, ListsCoordinatesInRowMajorOrder) {
  check_nonzero<bool>();
  check_nonzero<std::int32_t>();
  check_nonzero<Half>();
  check_nonzero<float>();
  check_nonzero<std::complex<float>>();
}

TEST(Nonzero, TakesNanForSomethingAndMinusZeroForNothing) {
  StridedArray<float> in({2});
  in[0] = -0.0F, in[1] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(kernels::count_nonzero(in.view()), 1);
  Indices out({1, 1});
  kernels::nonzero(out.view(), in.view());
  EXPECT_EQ(out[0], 1);
}

}  // namespace
}  // namespace ricci
