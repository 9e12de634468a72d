// Runs the workloads: Google Benchmark's options choose and time cases, `--checks[=regex]` prints instead, per case, a
// JSON line with size, sum, 2-norm and weighted sum of every output, for comparison with the rivals in peers/. The
// environment's RICCI_BENCH_ADBENCH names one more input of W12 or W14.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <string_view>

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

void print_checks(const std::string& pattern) {
  const std::regex wanted(pattern);
  for (const bench::Case& one : all_cases()) {
    if (!std::regex_search(one.name, wanted)) continue;
    nlohmann::json line{{"case", one.name}, {"tolerance", one.tolerance}, {"check", nlohmann::json::array()}};
    if (one.rival_tolerance > 0) line["rival_tolerance"] = one.rival_tolerance;
    if (!one.reference.empty()) line["reference"] = one.reference;
    try {
      for (const ricci::Tensor& output : one.check()) line["check"].push_back(figures(output));
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
    const auto time = [&one](benchmark::State& state) {
      try {
        one.time(state);
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
