// The price of an arithmetic Asian call and its Greeks by Monte Carlo, a million paths shared out to the ranks of an
// MPI program: `mpirun -np 4 greeks_on_ranks`. Draws belong to paths, not to ranks, and sums are taken in one order. So
// every number of ranks prints the same digits, to the last. Start with `greeks_of_block`.
#include <ricci/mpi.h>
#include <ricci/ricci.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>

#include "support/command_line.h"

namespace rc = ricci;
using rc::Tensor;

namespace {

constexpr std::int64_t dates = 64;
constexpr double dt = 1.0 / dates, strike = 100;

struct Market {
  Tensor spot, rate, volatility;  // []
};
struct Greeks {
  Tensor price;      // []
  Market by_market;  // delta, rho, vega
  Tensor gamma;      // []: the second derivative by spot, of a smoothed payoff
};

/// What a path of normals z pays on average over the dates, less the strike. z: [paths, dates] gives [paths].
Tensor gain(const Market& m, const Tensor& z) {
  const Tensor drift = (m.rate - 0.5 * m.volatility.square()) * dt;
  const Tensor logs = rc::cumsum(drift + m.volatility * std::sqrt(dt) * z, -1);
  return (m.spot * rc::exp(logs)).mean(-1) - strike;
}

Tensor price(const Market& m, const Tensor& z) { return (rc::exp(-m.rate) * rc::relu(gain(m, z))).mean(); }

Tensor delta_of_smoothed(const Tensor& spot, const Market& m, const Tensor& z) {
  const auto smoothed = [&](const Tensor& s) {
    return (rc::exp(-m.rate) * rc::softplus(gain({s, m.rate, m.volatility}, z))).mean();
  };
  return rc::grad(smoothed)(spot);
}

/// One block of paths, which it draws itself.
Greeks greeks_of_block(const Market& m, std::int64_t paths) {
  const Tensor z = rc::randn({paths, dates});
  const auto [value, by_market] = rc::value_and_grad(price)(m, z);
  const auto delta = [&](const Tensor& spot) { return delta_of_smoothed(spot, m, z); };
  return {value, by_market, std::get<1>(rc::jvp(delta, m.spot, rc::ones_like(m.spot)))};
}

struct Settings {
  std::int64_t paths = 1 << 20, paths_in_block = 1024, chunk_size = 8;
  std::uint64_t seed = 0;
  bool quick = false;
};

/// The one line that knows of ranks is mpi::vmap's, over blocks; each rank gets all blocks' results and takes the mean.
Greeks greeks(const Market& m, const Settings& settings, const rc::mpi::World& world) {
  const auto of_block = [&](const Market& market, const Tensor&) {
    return greeks_of_block(market, settings.paths_in_block);
  };
  const auto on_ranks = rc::mpi::vmap(
      of_block, {.in_dims = {rc::none, 0}, .randomness = rc::Randomness::different, .chunk_size = settings.chunk_size},
      world);
  const Greeks blocks = on_ranks(m, rc::arange(settings.paths / settings.paths_in_block));
  return rc::map_leaves([](const Tensor& rows) { return rows.mean(0); }, blocks);
}

void print(const char* name, const Tensor& x) {
  const float value = x.item<float>();
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  std::printf("%-6s %12.6f  bits %08x\n", name, static_cast<double>(value), bits);
}

}  // namespace

int main(int argc, char** argv) {
  rc::mpi::Session session(argc, argv);
  Settings settings;
  CommandLine line("Price and Greeks of an Asian call, the paths shared out to the ranks.");
  line.option("--paths", settings.paths, "how many, a multiple of 1024", [&](std::int64_t paths) -> std::string {
    const std::int64_t block = settings.paths_in_block;
    if (paths > 0 && paths % block == 0) return "";
    const std::int64_t more = (std::max<std::int64_t>(paths, 1) + block - 1) / block * block;
    return std::to_string(paths) + " is no multiple of " + std::to_string(block) + "; give " + std::to_string(more);
  });
  line.option("--chunk", settings.chunk_size, "blocks of 1024 paths at a time");
  line.option("--seed", settings.seed, "same seed, same numbers");
  line.flag("--quick", settings.quick, "few paths: a test that the program runs");
  if (const auto code = line.read(argc, argv)) return *code;
  if (settings.quick) settings.paths = 7 * settings.paths_in_block;

  const rc::mpi::World world;
  rc::manual_seed(settings.seed);
  const Greeks found = greeks({rc::tensor(100.F), rc::tensor(0.05F), rc::tensor(0.2F)}, settings, world);
  if (world.rank() != 0) return 0;
  print("price", found.price);
  print("delta", found.by_market.spot);
  print("rho", found.by_market.rate);
  print("vega", found.by_market.volatility);
  print("gamma", found.gamma);
  return 0;
}
