// Random numbers: the published test vectors, each element against a slow and obvious formula of its own bits, and the
// moments and tails of the distributions.
#include "kernels/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>

#include "kernels/strided_array.h"

namespace ricci {
namespace {

using namespace kernel_tests;
using kernels::RandomSource;

// --- The reference, word by word

using Block = std::array<std::uint32_t, 4>;

Block reference_philox(Block c, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53} * c[0], p1 = std::uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ key[0], static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ key[1], static_cast<std::uint32_t>(p0)};
    key[0] += 0x9E3779B9, key[1] += 0xBB67AE85;
  }
  return c;
}

Block block_of(RandomSource source, std::uint64_t number) {
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  return reference_philox({low(number), low(number >> 32), low(source.stream), low(source.stream >> 32)},
                          {low(source.seed), low(source.seed >> 32)});
}
std::uint32_t word32(RandomSource source, std::uint64_t i) { return block_of(source, i / 4)[i % 4]; }
std::uint64_t word64(RandomSource source, std::uint64_t i) {
  const Block block = block_of(source, i / 2);
  return std::uint64_t{block[i % 2 * 2 + 1]} << 32 | block[i % 2 * 2];
}

/// Box and Muller on the pair of element i.
template <class Word>
long double reference_normal(Word x, Word y, bool second) {
  const long double unit = std::ldexp(1.0L, -static_cast<int>(8 * sizeof(Word))),
                    turns = static_cast<long double>(y) * unit;
  const long double from_zero = (static_cast<long double>(x) + 0.5L) * unit,
                    from_one = (static_cast<long double>(static_cast<Word>(~x)) + 0.5L) * unit;
  const long double r = std::sqrt(-2 * (from_one < 0.5L ? std::log1p(-from_one) : std::log(from_zero)));
  // In eighths of a turn, so that the argument of sin and cos is small and exact.
  const long double quarter = std::round(4 * turns),
                    angle = (4 * turns - quarter) * std::numbers::pi_v<long double> / 2;
  const long double s = std::sin(angle), c = std::cos(angle);
  const int q = static_cast<int>(quarter) % 4;
  const long double cosine = q == 0   ? c
                             : q == 1 ? -s
                             : q == 2 ? -c
                                      : s,
                    sine = q == 0   ? s
                           : q == 1 ? c
                           : q == 2 ? -s
                                    : -c;
  return r * (second ? sine : cosine);
}

const RandomSource sources[] = {{0, 0}, {1, 2}, {0x123456789abcdef0, 0xfedcba9876543210}};

TEST(Philox, GivesThePublishedTestVectors) {
  EXPECT_EQ(kernels::philox({0, 0, 0, 0}, {0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const std::uint32_t ones = 0xffffffff;
  EXPECT_EQ(kernels::philox({ones, ones, ones, ones}, {ones, ones}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(kernels::philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomBits, AreTheWordsOfTheBlocks) {
  for (const RandomSource source : sources) {
    for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{6}, std::uint64_t{1000003},
                                      std::uint64_t{1} << 40, ~std::uint64_t{0} - 500}) {
      for (const std::int64_t n : {0, 1, 3, 16, 63, 64, 65, 200}) {
        StridedArray<std::int32_t> words({n});
        StridedArray<std::int64_t> pairs({n});
        StridedArray<std::uint8_t> bytes({n});
        StridedArray<bool> coins({n});
        kernels::random_bits(words.view(), source, first);
        kernels::random_bits(pairs.view(), source, first);
        kernels::random_bits(bytes.view(), source, first);
        kernels::random_bits(coins.view(), source, first);
        for (std::int64_t i = 0; i < n; ++i) {
          const std::uint64_t counter = first + static_cast<std::uint64_t>(i);
          const std::uint32_t word = word32(source, counter);
          ASSERT_EQ(static_cast<std::uint32_t>(words[i]), word);
          ASSERT_EQ(static_cast<std::uint64_t>(pairs[i]), word64(source, counter));
          ASSERT_EQ(bytes[i], word & 0xff);
          ASSERT_EQ(coins[i], (word & 1) != 0);
        }
      }
    }
  }
}

TEST(RandomUniform, IsTheUpperBitsOfItsOwnWord) {
  for (const RandomSource source : sources) {
    const std::int64_t n = 300;
    StridedArray<float> single({n});
    StridedArray<double> twice({n});
    StridedArray<Half> half({n});
    StridedArray<BFloat16> brain({n});
    kernels::random_uniform(single.view(), source, 7);
    kernels::random_uniform(twice.view(), source, 7);
    kernels::random_uniform(half.view(), source, 7);
    kernels::random_uniform(brain.view(), source, 7);
    for (std::int64_t i = 0; i < n; ++i) {
      const auto counter = static_cast<std::uint64_t>(7 + i);
      ASSERT_EQ(single[i], std::ldexp(static_cast<float>(word32(source, counter) >> 8), -24));
      ASSERT_EQ(twice[i], std::ldexp(static_cast<double>(word64(source, counter) >> 11), -53));
      ASSERT_EQ(static_cast<float>(half[i]), std::ldexp(static_cast<float>(word32(source, counter) >> 21), -11));
      ASSERT_EQ(static_cast<float>(brain[i]), std::ldexp(static_cast<float>(word32(source, counter) >> 24), -8));
    }
  }
}

TEST(RandomNormal, IsBoxAndMullersFormulaWithinSixRoundings) {
  const std::int64_t n = 200000;
  const RandomSource source{3, 4};
  StridedArray<float> single({n});
  StridedArray<double> twice({n});
  kernels::random_normal(single.view(), source, 0);
  kernels::random_normal(twice.view(), source, 0);
  long double worst_single = 0, worst_twice = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto counter = static_cast<std::uint64_t>(i), even = counter & ~std::uint64_t{1};
    const long double s = reference_normal(word32(source, even), word32(source, even + 1), counter % 2 == 1);
    const long double t = reference_normal(word64(source, even), word64(source, even + 1), counter % 2 == 1);
    worst_single = std::max(worst_single, std::abs(static_cast<long double>(single[i]) / s - 1));
    worst_twice = std::max(worst_twice, std::abs(static_cast<long double>(twice[i]) / t - 1));
  }
  EXPECT_LE(worst_single, 6 * 0x1p-24L);
  EXPECT_LE(worst_twice, 6 * 0x1p-53L);
}

template <class T, class Fill>
void expect_position_free(Fill fill) {
  const RandomSource source{11, 5};
  const std::int64_t n = 500;
  StridedArray<T> whole({n});
  fill(whole.view(), source, 0);
  for (const std::int64_t piece : {1, 3, 64, 77}) {
    for (std::int64_t i = 0; i < n; i += piece) {
      const std::int64_t size = std::min(piece, n - i);
      StridedArray<T> part({size});
      fill(part.view(), source, static_cast<std::uint64_t>(i));
      for (std::int64_t k = 0; k < size; ++k) ASSERT_EQ(part[k], whole[i + k]);
    }
  }
  for (const Layout layout : written_layouts) {
    StridedArray<T> shaped({5, 4, 25}, layout);
    fill(shaped.view(), source, 0);
    for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(shaped[i], whole[i]);
  }
}

TEST(Random, ElementsDependOnTheirCounterOnly) {
  const auto integers = [](Strided out, RandomSource source, std::uint64_t first) {
    kernels::random_integers(out, -5, 100, source, first);
  };
  expect_position_free<std::int32_t>(kernels::random_bits);
  expect_position_free<std::int64_t>(kernels::random_bits);
  expect_position_free<std::int16_t>(kernels::random_bits);
  expect_position_free<float>(kernels::random_uniform);
  expect_position_free<double>(kernels::random_uniform);
  expect_position_free<float>(kernels::random_normal);
  expect_position_free<double>(kernels::random_normal);
  expect_position_free<BFloat16>(kernels::random_normal);
  expect_position_free<std::int64_t>(integers);
  expect_position_free<float>(integers);
}

TEST(Random, ScalarsAreTheFirstElement) {
  StridedArray<float> scalar({}), first({1});
  kernels::random_normal(scalar.view(), {1, 1}, 9);
  kernels::random_normal(first.view(), {1, 1}, 9);
  EXPECT_EQ(scalar[0], first[0]);
}

// --- Distributions

struct Moments {
  long double mean = 0, variance = 0, skewness = 0, kurtosis = 0;
};

template <class T>
Moments moments_of(const StridedArray<T>& x) {
  Moments m;
  const auto n = static_cast<long double>(x.size());
  const T* data = static_cast<const T*>(x.view().data);
  for (std::int64_t i = 0; i < x.size(); ++i) m.mean += static_cast<long double>(data[i]) / n;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const long double d = static_cast<long double>(data[i]) - m.mean;
    m.variance += d * d / n, m.skewness += d * d * d / n, m.kurtosis += d * d * d * d / n;
  }
  return m;
}

template <class T>
void expect_normal() {
  const std::int64_t n = 1 << 20;
  StridedArray<T> x({n});
  kernels::random_normal(x.view(), {2024, 1}, 0);
  const Moments m = moments_of(x);
  EXPECT_NEAR(m.mean, 0, 0.004);
  EXPECT_NEAR(m.variance, 1, 0.006);
  EXPECT_NEAR(m.skewness, 0, 0.012);
  EXPECT_NEAR(m.kurtosis, 3, 0.05);
  T* data = static_cast<T*>(x.view().data);
  long double products = 0;
  for (std::int64_t i = 0; i + 1 < n; ++i)
    products += static_cast<long double>(data[i]) * static_cast<long double>(data[i + 1]);
  EXPECT_NEAR(products / static_cast<long double>(n), 0, 0.005);
  std::sort(data, data + n);
  double gap = 0;  // Kolmogorov and Smirnov: below 1.95 / sqrt(n) with probability 0.999
  for (std::int64_t i = 0; i < n; ++i) {
    const double probability = 0.5 * std::erfc(-static_cast<double>(data[i]) / std::numbers::sqrt2);
    gap = std::max(gap, std::abs(probability - (static_cast<double>(i) + 0.5) / static_cast<double>(n)));
  }
  EXPECT_LE(gap, 1.95 / std::sqrt(static_cast<double>(n)));
  EXPECT_GT(data[n - 1], T(4));
  EXPECT_LT(data[0], T(-4));
}

TEST(RandomNormal, HasTheMomentsAndTheDistribution) {
  expect_normal<float>();
  expect_normal<double>();
}

TEST(RandomUniform, HasTheMomentsAndTheRange) {
  const std::int64_t n = 1 << 20;
  StridedArray<float> x({n});
  kernels::random_uniform(x.view(), {7, 7}, 0);
  const Moments m = moments_of(x);
  EXPECT_NEAR(m.mean, 0.5, 0.002);
  EXPECT_NEAR(m.variance, 1.0 / 12, 0.001);
  const auto* data = static_cast<const float*>(x.view().data);
  EXPECT_GE(*std::min_element(data, data + n), 0);
  EXPECT_LT(*std::max_element(data, data + n), 1);
  EXPECT_GT(*std::max_element(data, data + n), 0.9999F);
}

TEST(RandomIntegers, FillTheirRangeEvenly) {
  const std::int64_t n = 700000;
  StridedArray<std::int8_t> x({n});
  kernels::random_integers(x.view(), -3, 4, {5, 6}, 0);
  std::array<int, 7> counts{};
  for (std::int64_t i = 0; i < n; ++i) ++counts.at(static_cast<std::size_t>(x[i] + 3));
  for (const int count : counts) EXPECT_NEAR(count, 100000, 1500);
}

TEST(RandomIntegers, AreTheUpperHalfOfTheProduct) {
  const std::int64_t low = std::numeric_limits<std::int64_t>::min(), high = std::numeric_limits<std::int64_t>::max();
  StridedArray<std::int64_t> wide({100}), narrow({100});
  const RandomSource source{8, 9};
  kernels::random_integers(wide.view(), low, high, source, 3);
  kernels::random_integers(narrow.view(), 10, 11, source, 3);
  for (std::int64_t i = 0; i < 100; ++i) {
    const auto bits = word64(source, static_cast<std::uint64_t>(3 + i));
    const auto upper = static_cast<std::uint64_t>(static_cast<unsigned __int128>(bits) * ~std::uint64_t{0} >> 64);
    EXPECT_EQ(static_cast<std::uint64_t>(wide[i]), upper + (std::uint64_t{1} << 63));
    EXPECT_EQ(narrow[i], 10);
  }
}

TEST(RandomPermutation, HoldsEachNumberOnceAndSortsItsKeys) {
  const RandomSource source{1, 1};
  for (const std::int64_t n : {1, 2, 10, 100, 5000}) {
    StridedArray<std::int64_t> out({2, n}, Layout::reversed);
    kernels::random_permutation(out.view(), source, 4);
    for (std::int64_t row = 0; row < 2; ++row) {
      std::set<std::int64_t> seen;
      std::uint64_t last = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t place = out[row * n + i];
        const std::uint64_t key = word64(source, static_cast<std::uint64_t>(4 + row * n + place));
        EXPECT_GE(key, last);
        last = key;
        seen.insert(place);
      }
      EXPECT_EQ(static_cast<std::int64_t>(seen.size()), n);
      EXPECT_EQ(*seen.begin(), 0);
      EXPECT_EQ(*seen.rbegin(), n - 1);
    }
  }
  StridedArray<std::int64_t> none({0});
  kernels::random_permutation(none.view(), source, 0);
}

TEST(RandomPermutation, PutsEachNumberAnywhere) {
  std::array<std::array<int, 4>, 4> counts{};
  for (std::uint64_t draw = 0; draw < 20000; ++draw) {
    StridedArray<std::int64_t> out({4});
    kernels::random_permutation(out.view(), {3, draw}, 0);
    for (std::int64_t i = 0; i < 4; ++i) ++counts[static_cast<std::size_t>(i)][static_cast<std::size_t>(out[i])];
  }
  for (const auto& row : counts) {
    for (const int count : row) EXPECT_NEAR(count, 5000, 300);
  }
}

TEST(Random, SeedsAndStreamsAreIndependent) {
  const std::int64_t n = 100000;
  StridedArray<double> a({n}), b({n}), c({n});
  kernels::random_normal(a.view(), {1, 1}, 0);
  kernels::random_normal(b.view(), {2, 1}, 0);
  kernels::random_normal(c.view(), {1, 2}, 0);
  long double ab = 0, ac = 0;
  for (std::int64_t i = 0; i < n; ++i)
    ab += static_cast<long double>(a[i]) * b[i], ac += static_cast<long double>(a[i]) * c[i];
  EXPECT_NEAR(ab / static_cast<long double>(n), 0, 0.015);
  EXPECT_NEAR(ac / static_cast<long double>(n), 0, 0.015);
}

}  // namespace
}  // namespace ricci
