// What a benchmark case is, and the list of workloads. A case builds its inputs and a step; the step is timed, and its
// outputs are summed up by figures that the rivals in peers/ print too. Each workload is one file; main.cpp runs them.
#pragma once

#include <benchmark/benchmark.h>
#include <ricci/ricci.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace bench {

struct Case {
  std::string name;                                   // W3/fwd_4096
  std::function<void(benchmark::State&)> time;        // steps one by one
  std::function<std::vector<ricci::Tensor>()> check;  // one step's outputs
  std::vector<Case> variants = {};                    // W3/fwd_4096/program
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
std::vector<Case> material_points();         // W19
std::vector<Case> parting_lanes();           // lanes: no rival has them
std::vector<Case> long_tapes();              // tape: no rival has them
std::vector<Case> operations();              // single ones, for threads

/// A step from a function and its inputs.
template <class F, class... Inputs>
struct Call {
  F f;
  std::tuple<Inputs...> inputs;

  auto operator()() const { return std::apply(f, inputs); }
  /// The same step by the simplified program of f, which is recorded here.
  auto as_program() const {
    const auto trace = [this](const Inputs&... x) { return ricci::trace(f)(x...).simplified(); };
    return [program = std::apply(trace, inputs), leaves = ricci::leaves(inputs)] { return program(leaves); };
  }
};
template <class F, class... Inputs>
Call<F, Inputs...> call(F f, Inputs... inputs) {
  return {std::move(f), {std::move(inputs)...}};
}

/// Reports, beside the mean, the fastest and the median step in the counters min_ms and median_ms, and the most memory
/// that was held at one time, inputs and kept blocks included, in peak_mb. A step includes
/// dropping the outputs of the step before. Three steps go first, as the rivals' do: two sets of outputs are alive at
/// once, and the memory of both must have been touched.
template <class Step>
void time_steps(benchmark::State& state, const Step& step) {
  using Clock = std::chrono::steady_clock;
  ricci::empty_cache();
  ricci::reset_peak_memory_stats();
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
  state.counters["peak_mb"] = static_cast<double>(ricci::memory_stats().max_reserved) / 1e6;
}

/// `build` makes the inputs and gives the step: a callable without arguments that returns any tree. A step that can be
/// had as a program is timed as one too.
template <class Build>
Case make_case(std::string name, Build build) {
  const auto case_of = [](std::string called, auto make) -> Case {
    return {std::move(called), [make](benchmark::State& state) { time_steps(state, make()); },
            [make] { return ricci::leaves(make()()); }};
  };
  Case one = case_of(name, build);
  if constexpr (requires { build().as_program(); })
    one.variants.push_back(case_of(name + "/program", [build] { return build().as_program(); }));
  return one;
}

}  // namespace bench
