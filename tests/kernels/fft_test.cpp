// Fourier transforms against the sums that define them, of lengths on all ways: several lines side by side, one line in
// two steps, prime lengths; along rows and columns.
#include "kernels/fft.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <vector>

#include "kernels/fft_kept_plans.h"

namespace ricci::kernels {
namespace {

using Sizes = std::vector<std::int64_t>;

/// Σ x_j exp(±2πi j k / n) for all k.
std::vector<std::complex<double>> sums(const std::vector<std::complex<double>>& x, bool backward) {
  const std::size_t n = x.size();
  std::vector<std::complex<double>> roots(n), y(n);
  for (std::size_t j = 0; j < n; ++j)
    roots[j] =
        std::polar(1.0, (backward ? 2 : -2) * std::numbers::pi * static_cast<double>(j) / static_cast<double>(n));
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t j = 0, power = 0; j < n; ++j, power = (power + k) % n) y[k] += x[j] * roots[power];
  return y;
}

/// [lines, n] in memory, or [n, lines] where lines are columns.
template <class T>
struct Lines {
  Sizes shape, strides;
  std::vector<T> storage;

  Lines(std::int64_t lines, std::int64_t n, bool columns)
      : shape{lines, n}, strides{columns ? 1 : n, columns ? lines : 1}, storage(static_cast<std::size_t>(lines * n)) {}
  T& operator()(std::int64_t line, std::int64_t i) {
    return storage[static_cast<std::size_t>(line * strides[0] + i * strides[1])];
  }
  Strided view() { return {storage.data(), dtype_of<T>, 2, shape.data(), strides.data()}; }
};

template <class T>
void check(std::int64_t lines, std::int64_t n, bool columns) {
  SCOPED_TRACE(::testing::Message() << lines << " lines of " << n << " columns " << columns);
  const double tolerance = (sizeof(T) == 4 ? 1e-6 : 2e-15) * std::sqrt(static_cast<double>(n)) * 4;
  Lines<std::complex<T>> x(lines, n, columns), y(lines, n, columns), half(lines, n / 2 + 1, columns);
  Lines<T> real(lines, n, columns), again(lines, n, columns);
  std::mt19937 random(static_cast<unsigned>(n));
  std::uniform_real_distribution<T> uniform(-1, 1);
  for (std::complex<T>& element : x.storage) element = {uniform(random), uniform(random)};
  for (T& element : real.storage) element = uniform(random);
  for (const bool backward : {false, true}) {
    fft(y.view(), x.view(), 1, backward, 0.5);
    for (const std::int64_t line : {std::int64_t{0}, lines - 1}) {
      std::vector<std::complex<double>> given;
      for (std::int64_t i = 0; i < n; ++i) given.emplace_back(x(line, i));
      const auto wanted = sums(given, backward);
      for (std::int64_t i = 0; i < n; ++i)
        ASSERT_LT(std::abs(std::complex<double>(y(line, i)) - 0.5 * wanted[static_cast<std::size_t>(i)]), tolerance)
            << "backward " << backward << " line " << line << " element " << i;
    }
  }
  rfft(half.view(), real.view(), 1, 1);
  irfft(again.view(), half.view(), 1, 1.0 / static_cast<double>(n));
  for (const std::int64_t line : {std::int64_t{0}, lines - 1}) {
    std::vector<std::complex<double>> given;
    for (std::int64_t i = 0; i < n; ++i) given.emplace_back(real(line, i));
    const auto wanted = sums(given, false);
    for (std::int64_t i = 0; i < n / 2 + 1; ++i)
      ASSERT_LT(std::abs(std::complex<double>(half(line, i)) - wanted[static_cast<std::size_t>(i)]), tolerance)
          << "real line " << line << " element " << i;
    for (std::int64_t i = 0; i < n; ++i) ASSERT_NEAR(again(line, i), real(line, i), tolerance);
  }
}

TEST(Fft, is_the_sum_that_defines_it) {
  for (const std::int64_t n : {1, 2, 3, 16, 17, 48, 64, 100, 192, 256, 512, 768, 1000})
    for (const std::int64_t lines : {1, 3, 17})
      for (const bool columns : {false, true}) {
        check<float>(lines, n, columns);
        check<double>(lines, n, columns);
        if (::testing::Test::HasFatalFailure()) return;
      }
}

/// Bytes that the process has asked for and not freed; 0 where a sanitizer stands in for the heap.
std::size_t bytes_in_use() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

template <class T>
void transform_once(std::int64_t n) {
  Lines<std::complex<T>> x(1, n, false), y(1, n, false);
  fft(y.view(), x.view(), 1, false, 1);
}

TEST(Fft, keeps_plans_of_long_lines_up_to_a_bound) {
  const std::size_t before = bytes_in_use();
  constexpr std::int64_t longest = 1 << 20, prime = 1048573;
  for (std::int64_t i = 0; i < 10; ++i) {
    transform_once<double>(longest - 1024 * i);  // a plan of 16 MB
    transform_once<float>(longest - 1024 * i);
    EXPECT_LE(bytes_of_kept_plans(), most_bytes_of_plans);
  }
  transform_once<double>(prime);
  EXPECT_LE(bytes_of_kept_plans(), most_bytes_of_plans);
  EXPECT_GE(bytes_of_kept_plans(), most_bytes_of_plans / 2);
  constexpr std::size_t of_lists = 1 << 20;
  EXPECT_LE(bytes_in_use(), before + most_bytes_of_plans + of_lists);
}

}  // namespace
}  // namespace ricci::kernels
