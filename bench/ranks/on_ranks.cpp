// Workloads of the benchmarks shared out to ranks: `mpirun -np 2 ranks_bench --rounds 7`. Prints for each the fastest
// and the median time of a step, of the slowest rank, and what a rank sends in a step. Start with `measure`.
#include <ricci/mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "inputs.h"
#include "w16_path.h"
#include "w19_material_points.h"
#include "w4_classifier.h"

namespace rc = ricci;
using bench::Net;
using rc::Tensor;
using rc::mpi::World;

namespace {

struct Step {
  std::string name;
  std::function<void()> run;
};

/// Price with its gradient by the market, the paths drawn inside, in blocks of 1,024.
Step w16(const World& world, std::int64_t paths) {
  const auto block = [](const Tensor& market, const Tensor&) {
    const auto price = [](const Tensor& m, const Tensor& z) {
      const auto one = [&](const Tensor& path) {
        return bench::greeks_of_path::discounted(m, path, [](const Tensor& gain) { return relu(gain); });
      };
      return rc::vmap(one)(z).mean();
    };
    return rc::value_and_grad(price)(market, rc::randn({1024, bench::greeks_of_path::dates}));
  };
  return {"W16/greeks_" + std::to_string(paths), [=] {
            const auto blocks = rc::mpi::vmap(
                block, {.in_dims = {rc::none, 0}, .randomness = rc::Randomness::different, .chunk_size = 16}, world)(
                bench::greeks_of_path::market(), rc::arange(paths / 1024));
            rc::map_leaves([](const Tensor& rows) { return rows.mean(0); }, blocks);
          }};
}

/// The clipped mean of 256 gradients, in 64 blocks of 4, so that a block's gradients stay in the cache: every rank's
/// sum of its blocks, then the ranks'.
Step w4(const World& world) {
  const Net net = bench::dense({784, 256, 10}, 41);
  const Tensor x = bench::uniform({256, 784}, 40, 0.0, 1.0).reshape({64, 4, 784});
  const Tensor y = bench::one_hot_labels(256, 10).reshape({64, 4, 10});
  const auto sum_of_rows = [](const Tensor& g) { return g.sum(0); };
  const auto block = [=](const Net& n, const Tensor& images, const Tensor& labels) {
    const auto each = rc::vmap(bench::classifier::clipped_gradient, {.in_dims = {rc::none, 0, 0}});
    return rc::map_leaves(sum_of_rows, each(n, images, labels));
  };
  return {"W4/dp_clip", [=] {
            const Net sums = rc::mpi::vmap(
                block, {.in_dims = {rc::none, 0, 0}, .chunk_size = 1, .results = rc::mpi::my_rows}, world)(net, x, y);
            rc::tree_scale(1 / 256., rc::mpi::sum(rc::map_leaves(sum_of_rows, sums), world));
          }};
}

/// Every rank keeps the stresses and tangents of its points, as a finite-element code does; or gets all.
Step w19(const World& world, std::int64_t points, rc::mpi::Rows results) {
  const Tensor strains = 0.002 * bench::uniform({points, 6}, 190).to(rc::float64);
  const Tensor plastic = bench::uniform({points}, 191, 0, 0.01).to(rc::float64);
  const std::string name = "W19/points_" + std::to_string(points);
  return {results == rc::mpi::my_rows ? name : name + "_gathered",
          [=] { rc::mpi::vmap(bench::material::update, {.results = results}, world)(strains, plastic); }};
}

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Of the slowest rank.
double time_of(const Step& step, const World& world) {
  world.barrier();
  const double start = seconds();
  step.run();
  return rc::mpi::all_gather(rc::tensor({seconds() - start}, rc::float64), world).max().item<double>();
}

void measure(const Step& step, const World& world, int rounds) {
  step.run();
  const rc::mpi::Traffic before = world.traffic();
  step.run();
  const rc::mpi::Traffic after = world.traffic();
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i) times.push_back(1e3 * time_of(step, world));
  std::sort(times.begin(), times.end());
  if (world.rank() != 0) return;
  std::printf("%-24s %d ranks, %d threads each: fastest %9.3f ms, median %9.3f ms; %lld calls, %lld bytes\n",
              step.name.c_str(), world.size(), rc::num_threads(), times.front(), times[times.size() / 2],
              static_cast<long long>(after.calls - before.calls), static_cast<long long>(after.bytes - before.bytes));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = 7;
  std::string only;
  bool any_bits = false;
  CLI::App app{"Workloads shared out to ranks."};
  app.add_option("--rounds", rounds, "timed steps")->capture_default_str();
  app.add_option("--only", only, "the workloads whose names begin so");
  app.add_flag("--any-bits", any_bits, "without rc::mpi::SessionOptions::same_bits");
  CLI11_PARSE(app, argc, argv);
  rc::mpi::Session session(argc, argv, {.same_bits = !any_bits});
  const World world;
  for (const Step& step :
       {w16(world, 1 << 20), w4(world), w19(world, 20000, rc::mpi::my_rows), w19(world, 20000, rc::mpi::all_rows)})
    if (step.name.starts_with(only)) measure(step, world, rounds);
  return 0;
}
