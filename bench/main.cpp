// Runs the workloads: Google Benchmark's options choose and time cases, `--checks[=regex]` prints instead, per case, a
// JSON line with size, sum, 2-norm and weighted sum of every output, for comparison with the rivals in peers/.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <string_view>

#include "cases.h"

namespace {

std::vector<bench::Case> all_cases() {
  std::vector<bench::Case> all;
  for (const auto workload :
       {bench::scalar_chain, bench::tiny_net, bench::fusion_chain, bench::per_sample_gradients, bench::jacobians,
        bench::hessians, bench::hessian_vector, bench::differential_equations, bench::greeks, bench::material_points,
        bench::parting_lanes, bench::long_tapes, bench::operations}) {
    for (bench::Case& one : workload()) {
      std::vector<bench::Case> variants = std::move(one.variants);
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
    nlohmann::json line{{"case", one.name}, {"check", nlohmann::json::array()}};
    for (const ricci::Tensor& output : one.check()) line["check"].push_back(figures(output));
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
  for (const bench::Case& one : all_cases()) {
    benchmark::RegisterBenchmark(one.name.c_str(), one.time)->Unit(benchmark::kMillisecond)->UseRealTime();
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
