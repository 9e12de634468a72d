// The algorithms, in double precision.
#include "kernels/random_samplers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/random_philox.h"

namespace ricci::kernels {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// The stream of one key.
class KeyStream {
 public:
  explicit KeyStream(std::uint64_t key) : source_(derived_source({key, 0}, 0, Purpose::element)) {}
  /// On (0, 1): the middles of 2^53 cells.
  double uniform() {
    if (used_ == Words64::elements) refill();
    return (static_cast<double>(words_[used_++] >> 11) + 0.5) * 0x1p-53;
  }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  void refill() {
    store_in_order(words_, words64(block_, source_).word);
    block_ += std::uint64_t{Words64::elements} / 2;
    used_ = 0;
  }

  RandomSource source_;
  std::uint64_t block_ = 0;
  int used_ = Words64::elements;
  std::uint64_t words_[Words64::elements];
};

double log_factorial(double k) {
  int sign = 0;  // std::lgamma would write it where other threads do too
  return ::lgamma_r(k + 1, &sign);
}

/// Requires: concentration >= 1.
double log_gamma_of_one_or_more(KeyStream& random, double concentration) {
  const double d = concentration - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = random.normal(), root = 1 + c * x;
    if (root <= 0) continue;
    const double log_v = 3 * std::log(root);
    if (std::log(random.uniform()) < x * x / 2 + d * (log_v - std::expm1(log_v))) return std::log(d) + log_v;
  }
}

double poisson_by_inversion(KeyStream& random, double rate) {
  double probability = std::exp(-rate), rest = random.uniform(), k = 0;
  while (rest > probability && probability > 0) {
    rest -= probability;
    probability *= rate / ++k;
  }
  return k;
}

double poisson_by_rejection(KeyStream& random, double rate) {
  const double root = std::sqrt(rate), log_rate = std::log(rate);
  const double b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), v_r = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const double u = random.uniform() - 0.5, v = random.uniform(), us = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / us + b) * u + rate + 0.43);
    if (us >= 0.07 && v <= v_r) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (std::log(v * inverse_alpha / (a / (us * us) + b)) <= k * log_rate - rate - log_factorial(k)) return k;
  }
}

double binomial_by_gaps(KeyStream& random, double count, double probability) {
  if (probability == 0) return 0;
  const double log_failure = std::log1p(-probability);
  double trials = 0, successes = 0;
  for (;; ++successes) {
    trials += std::ceil(std::log(random.uniform()) / log_failure);
    if (trials > count) return successes;
  }
}

double binomial_by_rejection(KeyStream& random, double count, double probability) {
  const double deviation = std::sqrt(count * probability * (1 - probability));
  const double b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * probability;
  const double c = count * probability + 0.5, v_r = 0.92 - 4.2 / b, alpha = (2.83 + 5.1 / b) * deviation;
  const double log_odds = std::log(probability / (1 - probability)), mode = std::floor((count + 1) * probability);
  const double top = log_factorial(mode) + log_factorial(count - mode);
  for (;;) {
    const double u = random.uniform() - 0.5, v = random.uniform(), us = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / us + b) * u + c);
    if (us >= 0.07 && v <= v_r) return k;
    if (k < 0 || k > count) continue;
    if (std::log(v * alpha / (a / (us * us) + b)) <=
        top - log_factorial(k) - log_factorial(count - k) + (k - mode) * log_odds)
      return k;
  }
}

}  // namespace

double log_gamma_sample(std::uint64_t key, double concentration) {
  if (!(concentration > 0)) return not_a_number;
  if (concentration == infinity) return infinity;
  KeyStream random(key);
  if (concentration >= 1) return log_gamma_of_one_or_more(random, concentration);
  const double above = log_gamma_of_one_or_more(random, concentration + 1);
  return above + std::log(random.uniform()) / concentration;
}

double poisson_sample(std::uint64_t key, double rate) {
  if (!(rate >= 0)) return not_a_number;
  if (rate == infinity) return infinity;
  KeyStream random(key);
  return rate < 10 ? poisson_by_inversion(random, rate) : poisson_by_rejection(random, rate);
}

double binomial_sample(std::uint64_t key, double count, double probability) {
  if (!(count >= 0 && count < infinity && probability >= 0 && probability <= 1)) return not_a_number;
  KeyStream random(key);
  count = std::floor(count);
  const bool swapped = probability > 0.5;
  if (swapped) probability = 1 - probability;
  const double successes = count * probability < 10 ? binomial_by_gaps(random, count, probability)
                                                    : binomial_by_rejection(random, count, probability);
  return swapped ? count - successes : successes;
}

double von_mises_sample(std::uint64_t key, double concentration) {
  if (!(concentration > 0 && concentration < infinity)) return not_a_number;
  KeyStream random(key);
  // With rho = (tau - sqrt(2 tau)) / (2 k), tau = 1 + sqrt(1 + 4 k²), the envelope has r = (1 + rho²) / (2 rho), and
  // (1 - rho)² / (2 rho) is r - 1. For small k rho is k / 2.
  const double k = concentration, root = std::hypot(1, 2 * k), tau = 1 + root;
  const double rho = k < 1e-4 ? k / 2 : (tau - std::sqrt(2 * tau)) / (2 * k);
  const double r = (1 + rho * rho) / (2 * rho), beyond = (1 - rho) * (1 - rho) / (2 * rho);
  for (;;) {
    const double half_turn = std::numbers::pi / 2 * random.uniform(), sine = std::sin(half_turn);
    const double z = 1 - 2 * sine * sine, lacking = beyond * 2 * sine * sine / (r + z);  // 1 - cos of the angle
    const double c = k * (beyond + lacking), u = random.uniform();
    if (c * (2 - c) > u || std::log(c / u) + 1 >= c)
      return std::copysign(2 * std::asin(std::sqrt(std::min(lacking / 2, 1.0))), random.uniform() - 0.5);
  }
}

}  // namespace ricci::kernels
