// W16: the Greeks of an arithmetic Asian call by Monte Carlo, 64 dates, the paths drawn inside the step: price with its
// gradient by spot, rate and volatility; and gamma, by forward over reverse, with a smoothed payoff.
#include <cmath>

#include "cases.h"

namespace rc = ricci;
using rc::Tensor;

namespace {

constexpr std::int64_t dates = 64;
constexpr double dt = 1.0 / dates, strike = 100;

/// Discounted payoff of one path of normals z [64]; market: spot, rate, volatility.
template <class Payoff>
Tensor discounted(const Tensor& market, const Tensor& z, const Payoff& payoff) {
  const Tensor spot = market[0], rate = market[1], volatility = market[2];
  const Tensor logs = cumsum((rate - 0.5 * volatility * volatility) * dt + volatility * std::sqrt(dt) * z, 0);
  return exp(-rate) * payoff((spot * exp(logs)).mean() - strike);
}

template <class Payoff>
auto price_of(Payoff payoff) {
  return [payoff](const Tensor& market, const Tensor& normals) {
    const auto one = [&](const Tensor& z) { return discounted(market, z, payoff); };
    return rc::vmap(one)(normals).mean();
  };
}

Tensor market() { return rc::tensor(std::vector<float>{100, 0.05F, 0.2F}); }

std::pair<Tensor, Tensor> price_and_gradient(const Tensor& market, std::int64_t paths) {
  const Tensor normals = rc::randn({paths, dates});
  return rc::value_and_grad(price_of([](const Tensor& gain) { return relu(gain); }))(market, normals);
}

Tensor price_gamma(const Tensor& market, const Tensor& direction, std::int64_t paths) {
  const Tensor normals = rc::randn({paths, dates});
  const auto price = price_of([](const Tensor& gain) { return softplus(gain); });
  const auto gradient = rc::grad([&](const Tensor& m) { return price(m, normals); });
  return std::get<1>(rc::jvp(gradient, market, direction));
}

}  // namespace

std::vector<bench::Case> bench::greeks() {
  std::vector<Case> cases;
  for (const std::int64_t paths : {16384, 1048576}) {
    const std::string size = std::to_string(paths);
    cases.push_back(make_case("W16/greeks_" + size, [paths] { return call(price_and_gradient, market(), paths); }));
    cases.push_back(make_case("W16/gamma_" + size, [paths] {
      return call(price_gamma, market(), rc::tensor(std::vector<float>{1, 0, 0}), paths);
    }));
  }
  return cases;
}
