// W16: the Greeks of an arithmetic Asian call by Monte Carlo, 64 dates, the paths drawn inside the step: price with its
// gradient by spot, rate and volatility; and gamma, by forward over reverse, with a smoothed payoff.
#include <algorithm>
#include <array>
#include <cmath>

#include "by_hand.h"
#include "cases.h"
#include "kernels/random_normal.h"
#include "w16_path.h"

namespace rc = ricci;
using rc::Tensor;
using namespace bench::greeks_of_path;

namespace {

template <class Payoff>
auto price_of(Payoff payoff) {
  return [payoff](const Tensor& market, const Tensor& normals) {
    const auto one = [&](const Tensor& z) { return discounted(market, z, payoff); };
    return rc::vmap(one)(normals).mean();
  };
}

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

// ── by hand: one path a lane, its normals made in the lane, derivatives along the path ──

using V = bench::by_hand::Pack<float>;

struct Market {
  float spot, rate, volatility;
};
Market numbers(const Tensor& market) {
  const std::vector<float> m = market.to_vector<float>();
  return {m[0], m[1], m[2]};
}

/// Dates 4 quarter, … of paths first, first + 1, …: what randn gives them where it draws [paths, dates].
void draw_normals(V (&z)[4], std::int64_t first, std::int64_t quarter, rc::kernels::RandomSource source) {
  using Blocks = rc::kernels::Bits<std::uint64_t>;
  constexpr std::uint64_t blocks = dates / 4;
  Blocks even;  // of every second lane
  for (int l = 0; l < V::lanes / 2; ++l)
    even[l] = static_cast<std::uint64_t>(first + 2 * l) * blocks + static_cast<std::uint64_t>(quarter);
  const auto low = rc::kernels::philox_words(even, source), high = rc::kernels::philox_words(even + blocks, source);
  rc::kernels::Bits<std::uint32_t> words[4];
  for (int w = 0; w < 4; ++w)
    words[w] = (rc::kernels::Bits<std::uint32_t>)((low.word[w] & 0xffffffffU) | (high.word[w] << 32));
  rc::kernels::box_muller<std::uint32_t>(words[0], words[1]);
  rc::kernels::box_muller<std::uint32_t>(words[2], words[3]);
  for (int w = 0; w < 4; ++w) z[w] = V((V::vector)words[w]);
}

/// The mean price along a path, and its derivatives.
struct Average {
  V value, by_spot, by_rate, by_volatility;
};
Average average(const Market& m, std::int64_t first, rc::kernels::RandomSource source) {
  const V drift((m.rate - 0.5F * m.volatility * m.volatility) * static_cast<float>(dt)), volatility(m.volatility),
      root(std::sqrt(static_cast<float>(dt)));
  V walk(0), growth(0), sum(0), by_rate(0), by_volatility(0);
  for (std::int64_t quarter = 0; quarter < dates / 4; ++quarter) {
    V z[4];
    draw_normals(z, first, quarter, source);
    for (int i = 0; i < 4; ++i) {
      const V time(static_cast<float>(4 * quarter + i + 1) * static_cast<float>(dt));
      walk = fma(root, z[i], walk), growth = growth + drift;
      const V price = bench::by_hand::inlined::exp(fma(volatility, walk, growth));
      sum = sum + price, by_rate = fma(price, time, by_rate);
      by_volatility = fma(price, walk - volatility * time, by_volatility);
    }
  }
  const V mean(m.spot / static_cast<float>(dates));
  return {sum * mean, sum * V(1 / static_cast<float>(dates)), by_rate * mean, by_volatility * mean};
}

/// The means over all paths of what `f` makes of the average of a vector of paths.
template <std::size_t count, class F>
std::array<double, count> means(const Tensor& market, std::int64_t paths, const F& f) {
  static std::uint64_t stream = 0;  // each call draws anew
  const rc::kernels::RandomSource source{.seed = 1, .stream = ++stream};
  const Market m = numbers(market);
  constexpr std::int64_t part = 1024;
  std::vector<std::array<double, count>> sums(static_cast<std::size_t>((paths + part - 1) / part));
  rc::kernels::parallel_for({.size = paths, .nanoseconds = 50, .step = part},
                            [&](std::int64_t begin, std::int64_t end) {
                              for (std::int64_t at = begin; at < end; at += part) {
                                std::array<V, count> sum;
                                sum.fill(V(0));
                                for (std::int64_t i = at; i < std::min(at + part, end); i += V::lanes) {
                                  const std::array<V, count> found = f(m, average(m, i, source));
                                  for (std::size_t k = 0; k < count; ++k) sum[k] = sum[k] + found[k];
                                }
                                for (std::size_t k = 0; k < count; ++k)
                                  for (int l = 0; l < V::lanes; ++l)
                                    sums[static_cast<std::size_t>(at / part)][k] += static_cast<double>(sum[k][l]);
                              }
                            });
  std::array<double, count> all{};
  for (std::size_t k = 0; k < count; ++k) {
    for (const auto& sum : sums) all[k] += sum[k];
    all[k] *= std::exp(-static_cast<double>(m.rate)) / static_cast<double>(paths);
  }
  return all;
}

Tensor of_floats(double a, double b, double c) {
  return rc::tensor(std::vector<float>{static_cast<float>(a), static_cast<float>(b), static_cast<float>(c)});
}

std::pair<Tensor, Tensor> price_and_gradient_by_hand(const Tensor& market, std::int64_t paths) {
  const auto [price, by_spot, by_rate, by_volatility] = means<4>(market, paths, [](const Market&, const Average& a) {
    const V gain = a.value - V(static_cast<float>(strike));
    const auto paid = greater(gain, V(0));
    const auto where_paid = [&](V x) { return select(paid, x, V(0)); };
    return std::array{where_paid(gain), where_paid(a.by_spot), where_paid(a.by_rate), where_paid(a.by_volatility)};
  });
  return {rc::tensor(static_cast<float>(price)), of_floats(by_spot, by_rate - price, by_volatility)};
}

/// The derivative by spot of the gradient of the smoothed price.
Tensor price_gamma_by_hand(const Tensor& market, std::int64_t paths) {
  const auto [of_spot, of_rate, of_volatility] = means<3>(market, paths, [](const Market& m, const Average& a) {
    const V gain = a.value - V(static_cast<float>(strike)), per_spot(1 / m.spot);
    const V share = V(1) / (V(1) + exp(-gain)), curve = share * (V(1) - share) * a.by_spot;
    return std::array{curve * a.by_spot, curve * a.by_rate + share * (a.by_rate * per_spot - a.by_spot),
                      curve * a.by_volatility + share * a.by_volatility * per_spot};
  });
  return of_floats(of_spot, of_rate, of_volatility);
}

}  // namespace

std::vector<bench::Case> bench::greeks() {
  std::vector<Case> cases;
  for (const std::int64_t paths : {16384, 1048576}) {
    const std::string size = std::to_string(paths);
    const double tolerance = paths < 100000 ? 0.15 : 0.03;  // other generators draw other normals
    const std::vector<Case> both = within(
        tolerance,
        {beside_loop(make_case("W16/greeks_" + size, [paths] { return call(price_and_gradient, market(), paths); }),
                     [paths] { return [paths, m = market()] { return price_and_gradient_by_hand(m, paths); }; }),
         beside_loop(
             make_case("W16/gamma_" + size,
                       [paths] { return call(price_gamma, market(), rc::tensor(std::vector<float>{1, 0, 0}), paths); }),
             [paths] { return [paths, m = market()] { return price_gamma_by_hand(m, paths); }; })});
    cases.insert(cases.end(), both.begin(), both.end());
  }
  return cases;
}
