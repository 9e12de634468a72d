// Potential scale reduction and effective sample size.
#include "ricci/sample/diagnostics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ricci/ops.h"
#include "ricci/ops/fft.h"
#include "ricci/ops/statistics.h"
#include "ricci/primitive/raise.h"

namespace ricci::samplers {
namespace {

constexpr std::int64_t fewest_draws = 4;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Throws unless these are draws of chains.
void require_draws(const char* name, const Tensor& x) {
  if (x.dim() < 2)
    raise<ValueError>(std::string(name) + ": the draws are " + tree::type_of(x) +
                      "; they must have the axes [chains, draws, …]");
}
/// The draws as floating numbers.
Tensor real_draws(const char* name, const Tensor& x) {
  if (x.is_complex())
    raise<TypeError>(std::string(name) + ": the draws are " + tree::type_of(x) +
                     "; make them real and imaginary parts, for example with view_as_real");
  return x.is_floating_point() ? x : to(x, default_dtype());
}

/// x: [chains, draws, elements]. NaN instead of the value, where all draws of an element are equal: rounding makes
/// their variance about 0 and not 0.
Tensor unless_constant(const Tensor& value, const Tensor& x) {
  return where(x.amax({0, 1}) == x.amin({0, 1}), nan, value);
}

/// The variance over an axis, of n - 1.
Tensor spread(const Tensor& x, std::int64_t dim) {
  const double n = static_cast<double>(x.size(dim));
  return square(x - x.mean(dim, true)).sum(dim) / (n - 1);
}

/// x: [chains, draws, elements]
Tensor rhat_of(const Tensor& x) {
  const std::int64_t chains = x.size(0), half = x.size(1) / 2, elements = x.size(2);
  if (chains == 0 || half < fewest_draws / 2) return full({elements}, nan, x.dtype());
  const Tensor halves = x.slice(1, 0, 2 * half).reshape({2 * chains, half, elements});
  const double n = static_cast<double>(half);
  const Tensor between = n * spread(halves.mean(1), 0), within = spread(halves, 1).mean(0);
  return unless_constant(sqrt((between / within + n - 1) / n), x);
}

/// [chains, draws, elements]: at lag t the mean product of what is t draws apart, over all draws.
Tensor autocovariances(const Tensor& x) {
  const std::int64_t n = x.size(1);
  const Tensor spectrum = rfft(x - x.mean(1, true), 2 * n, 1);
  const Tensor power = square(real(spectrum)) + square(imag(spectrum));
  return irfft(complex(power, zeros_like(power)), 2 * n, 1).slice(1, 0, n) / static_cast<double>(n);
}

Tensor ess_of(const Tensor& x) {
  const std::int64_t chains = x.size(0), even = x.size(1) / 2 * 2, elements = x.size(2);
  if (chains == 0 || even < fewest_draws) return full({elements}, nan, x.dtype());
  const double n = static_cast<double>(x.size(1)), all = n * static_cast<double>(chains);
  const Tensor covariance = autocovariances(x).mean(0);  // [draws, elements]
  const Tensor within = covariance[0] * (n / (n - 1));
  Tensor variance = covariance[0];
  if (chains > 1) variance = variance + spread(x.mean(1), 0);
  const Tensor correlation = 1 - (within - covariance.slice(0, 0, even)) / variance;
  const Tensor first = ones({1, elements}, x.dtype());
  const Tensor pairs = cat({first, correlation.slice(0, 1, even)}, 0).reshape({even / 2, 2, elements});
  const Tensor sums = pairs.sum(1);                                // [even / 2, elements]
  const Tensor is_positive = cumprod(to(sums > 0, x.dtype()), 0);  // up to the first that is not
  const Tensor falling = cummin(where(is_positive == 1, sums, 0), 0).first;
  // What stands alone behind the last pair: the first correlation of the pair that is not positive.
  const Tensor is_next = to(cat({first, is_positive.slice(0, 0, even / 2 - 1)}, 0) - is_positive, x.dtype());
  const Tensor alone = (clamp_min(pairs.select(1, 0), 0) * is_next).sum(0);
  const Tensor time = 2 * falling.sum(0) - 1 + alone;
  return unless_constant(all / clamp_min(time, 1 / std::log10(all)), x);
}

template <class F>
void each_leaf(const char* name, const tree::Walk& draws, const F& f) {
  for (Tensor* leaf : draws.leaves) {
    if (!leaf->defined()) continue;
    require_draws(name, *leaf);
    const Tensor draws = real_draws(name, *leaf);
    Shape rest;
    for (int axis = 2; axis < draws.dim(); ++axis) rest.push_back(draws.shape()[axis]);
    *leaf = f(draws.reshape({draws.shape()[0], draws.shape()[1], rest.numel()})).reshape(rest);
  }
}

}  // namespace

void rhat_of_leaves(const tree::Walk& draws) { each_leaf("rhat", draws, rhat_of); }
void ess_of_leaves(const tree::Walk& draws) { each_leaf("ess", draws, ess_of); }

}  // namespace ricci::samplers
