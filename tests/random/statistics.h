// Tests of fit: how far samples are from a distribution, by Kolmogorov and Smirnov, and by chi-square for counts; and
// the distribution functions the standard library lacks. Seeds are fixed, so a test passes always or never.
#pragma once

#include <functional>
#include <map>
#include <numbers>

#include "support/expect_tensor.h"

namespace testing_support {

using Distribution = std::function<double(double)>;

inline double normal_distribution(double z) { return std::erfc(-z / std::numbers::sqrt2) / 2; }

/// P(a, exp(y)), the regularised lower incomplete gamma function, by its power series.
inline double log_gamma_distribution(double a, double y) {
  const double x = std::exp(y);
  double term = std::exp(a * y - x - std::lgamma(a + 1)), sum = 0;
  for (int k = 1; term > 1e-18 * sum || k < x - a; ++k) {
    sum += term;
    term *= x / (a + k);
  }
  return std::min(sum, 1.0);
}

/// The regularised incomplete beta function by Simpson's rule, after x = sin² t. Within 1e-5 where tests ask.
inline double beta_distribution(double a, double b, double x) {
  const double end = std::asin(std::sqrt(std::clamp(x, 0.0, 1.0)));
  const double scale = 2 * std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b));
  const auto f = [&](double t) { return std::pow(std::sin(t), 2 * a - 1) * std::pow(std::cos(t), 2 * b - 1); };
  constexpr int intervals = 64;
  double sum = f(0) + f(end);
  for (int i = 1; i < intervals; ++i) sum += (i % 2 ? 4 : 2) * f(end * i / intervals);
  return scale * sum * end / intervals / 3;
}

/// The greatest distance between the samples' distribution function and F is below what one sample in 2000 exceeds.
inline void expect_distribution(const Tensor& samples, const Distribution& f) {
  Values sorted = values(samples);
  std::sort(sorted.begin(), sorted.end());
  const auto n = static_cast<double>(sorted.size());
  double distance = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const double below = static_cast<double>(i) / n, p = f(sorted[i]);
    distance = std::max({distance, p - below, below + 1 / n - p});
  }
  EXPECT_LT(distance * std::sqrt(n), 2.03);
}

/// Mean and variance are within five standard errors; `kurtosis` is that of the distribution (3 for the normal one).
inline void expect_moments(const Tensor& samples, double mean, double variance, double kurtosis) {
  const Tensor x = samples.to(ricci::float64);
  const auto n = static_cast<double>(x.numel());
  EXPECT_NEAR(x.mean().item(), mean, 5 * std::sqrt(variance / n));
  EXPECT_NEAR(x.var().item(), variance, 5 * variance * std::sqrt((kurtosis - 1) / n));
}

/// Chi-square of whole numbers against their probabilities is within 4.5 deviations of its mean. Numbers expected fewer
/// than five times count together.
inline void expect_frequencies(const Tensor& samples, const std::function<double(int)>& probability, int first,
                               int last) {
  std::map<int, double> seen;
  for (double value : values(samples)) {
    EXPECT_EQ(value, std::floor(value));
    seen[static_cast<int>(value)] += 1;
  }
  const auto n = static_cast<double>(samples.numel());
  double rest_seen = n, rest_expected = n, chi = 0;
  int cells = 0;
  for (int k = first; k <= last; ++k) {
    const double expected = n * probability(k);
    if (expected < 5) continue;
    chi += (seen[k] - expected) * (seen[k] - expected) / expected;
    rest_seen -= seen[k];
    rest_expected -= expected;
    ++cells;
  }
  const double difference = rest_seen - rest_expected;
  if (rest_expected > 5) chi += difference * difference / rest_expected;
  EXPECT_LT(difference, 20 + 5 * std::sqrt(std::max(rest_expected, 0.0)));
  EXPECT_LT(chi, cells + 4.5 * std::sqrt(2.0 * cells));
}

}  // namespace testing_support
