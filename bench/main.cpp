// Runs the workloads: Google Benchmark's options choose and time cases, `--checks[=regex]` prints instead, per case, a
// JSON line with size, sum, 2-norm and weighted sum of every output, for comparison with the rivals in peers/. The
// environment's RICCI_BENCH_ADBENCH names one more input of W12 or W14.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "log_density.h"

namespace {

std::vector<bench::Case> all_cases() {
  std::vector<bench::Case> all;
  for (const auto workload : {bench::scalar_chain,
                              bench::tiny_net,
                              bench::fusion_chain,
                              bench::per_sample_gradients,
                              bench::jacobians,
                              bench::hessians,
                              bench::hessian_vector,
                              bench::bundle_adjustment,
                              bench::recurrent_net,
                              bench::hand_tracking,
                              bench::differential_equations,
                              bench::greeks,
                              bench::nested_optimisation,
                              bench::material_points,
                              bench::arms,
                              bench::common_loops,
                              bench::log_densities,
                              bench::reproducers,
                              bench::fields,
                              bench::parting_lanes,
                              bench::long_tapes,
                              bench::operations,
                              bench::layers}) {
    for (bench::Case& one : workload()) {
      std::vector<bench::Case> variants = std::move(one.variants);
      for (bench::Case& variant : variants) {
        variant.tolerance = one.tolerance, variant.rival_tolerance = one.rival_tolerance;
        variant.reference = one.reference;
      }
      all.push_back(std::move(one));
      std::ranges::move(variants, std::back_inserter(all));
    }
  }
  return all;
}

/// In double: size, sum, 2-norm, and the sum weighted by ((i mod 101) - 50) / 50.
nlohmann::json figures(const ricci::Tensor& output) {
  const std::vector<double> values = output.to_vector<double>();
  double sum = 0, squares = 0, weighted = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sum += values[i];
    squares += values[i] * values[i];
    weighted += values[i] * (static_cast<double>(i % 101) - 50) / 50;
  }
  return {values.size(), sum, std::sqrt(squares), weighted};
}

/// Reports, beside the mean, the first step and the fastest and the median of the others in the counters first_ms,
/// min_ms and median_ms, and the most memory held at one time, inputs and kept blocks included, in peak_mb. A step
/// includes dropping the outputs of the step before. Three steps go first, as the rivals' do: two sets of outputs are
/// alive at once, and the memory of both must have been touched. Steps shorter than 10 us are timed several at a time,
/// because reading the clock takes some 30 ns.
/// `first_ms` keeps the first step of the first run: code that it made is kept for the runs by which Google Benchmark
/// finds the number of steps.
void time_steps(benchmark::State& state, bench::Steps& steps, double& first_ms) {
  const auto milliseconds_of = [&](int times) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    steps.run(times);
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  };
  ricci::empty_cache();
  ricci::reset_peak_memory_stats();
  const double first = milliseconds_of(1);
  if (first_ms == 0) first_ms = first;
  state.counters["first_ms"] = first_ms;
  steps.run(1);
  const int together = std::clamp(static_cast<int>(0.01 / milliseconds_of(1)), 1, 100);
  std::vector<double> milliseconds;
  while (state.KeepRunningBatch(together)) milliseconds.push_back(milliseconds_of(together) / together);
  std::ranges::sort(milliseconds);
  state.counters["min_ms"] = milliseconds.front();
  state.counters["median_ms"] = milliseconds[milliseconds.size() / 2];
  state.counters["peak_mb"] = static_cast<double>(ricci::memory_stats().max_reserved) / 1e6;
}

/// Of a second step, because some steps record the function when they first run; both draw from the default generator
/// as from a new one.
std::vector<ricci::Tensor> checked_outputs(const bench::Case& one) {
  ricci::manual_seed(0);
  const std::unique_ptr<bench::Steps> steps = one.steps();
  steps->run(2);
  return steps->outputs();
}

void print_checks(const std::string& pattern) {
  const std::regex wanted(pattern);
  for (const bench::Case& one : all_cases()) {
    if (!std::regex_search(one.name, wanted)) continue;
    nlohmann::json line{{"case", one.name}, {"tolerance", one.tolerance}, {"check", nlohmann::json::array()}};
    if (one.rival_tolerance > 0) line["rival_tolerance"] = one.rival_tolerance;
    if (!one.reference.empty()) line["reference"] = one.reference;
    try {
      for (const ricci::Tensor& output : checked_outputs(one)) line["check"].push_back(figures(output));
    } catch (const std::exception& error) { line["unsupported"] = error.what(); }
    std::puts(line.dump().c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  constexpr std::string_view checks = "--checks";
  if (argc == 2 && std::string_view(argv[1]).starts_with(checks)) {
    const std::string_view rest = std::string_view(argv[1]).substr(checks.size());
    print_checks(rest.starts_with('=') ? std::string(rest.substr(1)) : "");
    return 0;
  }
  const std::vector<bench::Case> all = all_cases();
  for (const bench::Case& one : all) {
    const auto time = [&one, first_ms = 0.0](benchmark::State& state) mutable {
      try {
        time_steps(state, *one.steps(), first_ms);
      } catch (const std::exception& error) {  // costs the case, not the run
        state.SkipWithError(error.what());
      }
    };
    benchmark::RegisterBenchmark(one.name.c_str(), time)->Unit(benchmark::kMillisecond)->UseRealTime();
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
