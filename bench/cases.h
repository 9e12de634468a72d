// What a benchmark case is, and the list of workloads. A case builds its inputs and a step; the step is timed, and its
// outputs are summed up by figures that the rivals in peers/ print too. Each workload is one file; main.cpp runs them.
#pragma once

#include <benchmark/benchmark.h>
#include <ricci/ricci.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

struct Case {
  std::string name;                                   // W3/fwd_4096
  std::function<void(benchmark::State&)> time;        // steps one by one
  std::function<std::vector<ricci::Tensor>()> check;  // one step's outputs
};

std::vector<Case> scalar_chain();            // W1
std::vector<Case> tiny_net();                // W2
std::vector<Case> fusion_chain();            // W3
std::vector<Case> per_sample_gradients();    // W4
std::vector<Case> jacobians();               // W7
std::vector<Case> hessians();                // W8
std::vector<Case> hessian_vector();          // W9
std::vector<Case> differential_equations();  // W15
std::vector<Case> greeks();                  // W16
std::vector<Case> parting_lanes();           // lanes: no rival has them
std::vector<Case> long_tapes();              // tape: no rival has them
std::vector<Case> operations();              // single ones, for threads

/// A step from a function and its inputs.
template <class F, class... Inputs>
auto call(F f, Inputs... inputs) {
  return [f = std::move(f), ... inputs = std::move(inputs)] { return f(inputs...); };
}

/// Reports, beside the mean, the fastest and the median step in the counters min_ms and median_ms. A step includes
/// dropping the outputs of the step before. Three steps go first, as the rivals' do: two sets of outputs are alive at
/// once, and the memory of both must have been touched.
template <class Step>
void time_steps(benchmark::State& state, const Step& step) {
  using Clock = std::chrono::steady_clock;
  auto outputs = step();
  for (int i = 0; i < 2; ++i) outputs = step();
  std::vector<double> milliseconds;
  for (auto _ : state) {
    const Clock::time_point start = Clock::now();
    outputs = step();
    benchmark::DoNotOptimize(outputs);
    milliseconds.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  state.counters["min_ms"] = milliseconds.front();
  state.counters["median_ms"] = milliseconds[milliseconds.size() / 2];
}

/// `build` makes the inputs and gives the step: a callable without arguments that returns any tree.
template <class Build>
Case make_case(std::string name, Build build) {
  return {std::move(name), [build](benchmark::State& state) { time_steps(state, build()); },
          [build] { return ricci::leaves(build()()); }};
}

}  // namespace bench
