// What a run of DP-SGD reveals: the (epsilon, delta) of `steps` rounds of the Poisson-subsampled Gaussian mechanism,
// where each example enters a round with probability `rate` and the sum of contributions of norm at most C is released
// with Gaussian noise of standard deviation `noise` * C. Neighbours differ by one example added or removed.
// Knows nothing of tensors. Start with `epsilon`.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace accountant {

/// Rényi divergence of integer order >= 2 of one round: log(A) / (order - 1), where
/// A = sum over k of binomial(order, k) (1 - rate)^(order - k) rate^k exp((k^2 - k) / (2 noise^2)).
/// Source: Mironov, Talwar, Zhang, "Rényi Differential Privacy of the Sampled Gaussian Mechanism", 2019, section 3.3.
inline double renyi_of_round(int order, double rate, double noise) {
  if (rate >= 1) return order / (2 * noise * noise);  // the Gaussian mechanism itself
  std::vector<double> terms;                          // logarithms: A can exceed the range of a double
  for (int k = 0; k <= order; ++k) {
    const double log_binomial = std::lgamma(order + 1.0) - std::lgamma(k + 1.0) - std::lgamma(order - k + 1.0);
    const double log_weight = k * std::log(rate) + (order - k) * std::log1p(-rate);
    terms.push_back(log_binomial + log_weight + (k * k - k) / (2 * noise * noise));
  }
  const double greatest = *std::max_element(terms.begin(), terms.end());
  double sum = 0;
  for (const double term : terms) sum += std::exp(term - greatest);
  return (greatest + std::log(sum)) / (order - 1);
}

/// The smallest epsilon at `delta` over integer orders 2 to 256: infinite without noise.
/// Rounds add up in Rényi divergence rho; rho + log(1 - 1 / order) - (log(delta) + log(order)) / (order - 1) is the
/// conversion of Canonne, Kamath, Steinke, "The Discrete Gaussian for Differential Privacy", 2020, proposition 12, and
/// of Balle et al., "Hypothesis Testing Interpretations and Rényi Differential Privacy", 2020, theorem 21.
inline double epsilon(double rate, double noise, double steps, double delta) {
  double best = std::numeric_limits<double>::infinity();
  if (noise <= 0) return best;
  for (int order = 2; order <= 256; ++order) {
    const double rho = steps * renyi_of_round(order, rate, noise);
    const double bound = rho + std::log1p(-1.0 / order) - (std::log(delta) + std::log(order)) / (order - 1);
    best = std::min(best, std::max(bound, 0.0));
  }
  return best;
}

/// One published value: rate 0.04, noise 1.5, 2250 steps, delta 1e-5 give 7.32911117143 in Opacus' accounting tests,
/// which search fractional orders too. Integer orders alone may only be looser, here by 0.0008.
inline bool agrees_with_published_value() {
  const double excess = epsilon(0.04, 1.5, 2250, 1e-5) - 7.32911117143;
  return excess >= 0 && excess < 1e-3;
}

}  // namespace accountant
