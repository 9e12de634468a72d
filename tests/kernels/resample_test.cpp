// Weighted sums of neighbours, and their transpose, against loops.
#include "kernels/resample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace {

namespace kernels = ricci::kernels;
using ricci::Strided;

/// Windows whose begins and ends ascend, some empty.
kernels::WeightedWindows some_windows(std::int64_t n, std::int64_t m, std::mt19937& random) {
  kernels::WeightedWindows windows;
  std::int64_t begin = 0, end = 0;
  for (std::int64_t i = 0; i < m; ++i) {
    end = std::clamp<std::int64_t>((i + 1) * n / m + static_cast<std::int64_t>(random() % 4), end, n);
    begin = std::clamp<std::int64_t>(i * n / m, begin, end);
    std::vector<double> weights;
    for (std::int64_t k = begin; k < end; ++k) weights.push_back(std::uniform_real_distribution<double>(-1, 1)(random));
    windows.append(begin, end - begin, weights.data());
  }
  return windows;
}

template <class T>
void compare(std::int64_t outer, std::int64_t n, std::int64_t inner, std::int64_t m, double tolerance) {
  SCOPED_TRACE(testing::Message() << outer << " x " << n << " x " << inner << " to " << m);
  std::mt19937 random(5);
  const kernels::WeightedWindows windows = some_windows(n, m, random), back = kernels::transposed(windows, n);
  const std::int64_t small[] = {outer, n, inner}, large[] = {outer, m, inner};
  const std::int64_t small_strides[] = {n * inner, inner, 1}, large_strides[] = {m * inner, inner, 1};
  const auto numbers = [&](std::int64_t count) {
    std::vector<T> all(static_cast<std::size_t>(outer * count * inner));
    for (T& x : all) x = static_cast<T>(std::uniform_real_distribution<double>(-1, 1)(random));
    return all;
  };
  std::vector<T> x = numbers(n), y = numbers(m), ct = numbers(m), dx = numbers(n);
  kernels::resample({y.data(), ricci::dtype_of<T>, 3, large, large_strides},
                    {x.data(), ricci::dtype_of<T>, 3, small, small_strides}, 1, windows);
  kernels::resample({dx.data(), ricci::dtype_of<T>, 3, small, small_strides},
                    {ct.data(), ricci::dtype_of<T>, 3, large, large_strides}, 1, back);
  std::vector<double> wanted_y(y.size(), 0.0), wanted_dx(dx.size(), 0.0);
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t t = 0; t < windows.count[static_cast<std::size_t>(i)]; ++t)
        for (std::int64_t c = 0; c < inner; ++c) {
          const double weight =
              windows.weights[static_cast<std::size_t>(windows.first_weight[static_cast<std::size_t>(i)] + t)];
          const std::int64_t place = windows.begin[static_cast<std::size_t>(i)] + t;
          const auto from = static_cast<std::size_t>((o * n + place) * inner + c);
          const auto to = static_cast<std::size_t>((o * m + i) * inner + c);
          wanted_y[to] += weight * static_cast<double>(x[from]);
          wanted_dx[from] += weight * static_cast<double>(ct[to]);
        }
  for (std::size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(static_cast<double>(y[i]), wanted_y[i], tolerance) << i;
  for (std::size_t i = 0; i < dx.size(); ++i) ASSERT_NEAR(static_cast<double>(dx[i]), wanted_dx[i], tolerance) << i;
}

TEST(Resample, IsTheSumsWrittenOutAlongEveryAxis) {
  for (const std::int64_t outer : {1, 3, 64, 150})
    for (const std::int64_t inner : {1, 2, 15, 16, 70, 150})
      for (const auto& [n, m] : {std::pair<std::int64_t, std::int64_t>{5, 13}, {13, 5}, {1, 4}, {40, 40}}) {
        compare<double>(outer, n, inner, m, 1e-13);
        compare<float>(outer, n, inner, m, 1e-5);
      }
  compare<float>(0, 3, 2, 5, 0);
}

}  // namespace
