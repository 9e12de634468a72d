// W16: what one path of an arithmetic Asian call pays, over 64 dates.
#pragma once

#include <ricci/ricci.h>

#include <cmath>

namespace bench::greeks_of_path {

namespace rc = ricci;
using rc::Tensor;

inline constexpr std::int64_t dates = 64;
inline constexpr double dt = 1.0 / dates, strike = 100;

/// Discounted payoff of one path of normals z [64]; market: spot, rate, volatility.
template <class Payoff>
Tensor discounted(const Tensor& market, const Tensor& z, const Payoff& payoff) {
  const Tensor spot = market[0], rate = market[1], volatility = market[2];
  const Tensor logs = cumsum((rate - 0.5 * volatility * volatility) * dt + volatility * std::sqrt(dt) * z, 0);
  return exp(-rate) * payoff((spot * exp(logs)).mean() - strike);
}

inline Tensor market() { return rc::tensor(std::vector<float>{100, 0.05F, 0.2F}); }

}  // namespace bench::greeks_of_path
