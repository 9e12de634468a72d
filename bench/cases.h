// What a benchmark case is, and the list of workloads. A case builds its inputs and a step; the step is timed, and its
// outputs are summed up by figures that the rivals in peers/ print too. Each workload is one file; main.cpp runs them.
// Variants of a case compute the same by other means: program, compiled, by_hand.
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
  std::vector<Case> variants = {};                    // W3/fwd_4096/program: the same by other means
  double tolerance = 1e-4;                            // of the outputs' figures, relative to their 2-norms
  double rival_tolerance = 0;                         // the same against rivals, where it is wider
  std::string reference = {};                         // FILE/ARRAY of data/adbench/reference_values.json, or empty
};

std::vector<Case> scalar_chain();            // W1
std::vector<Case> tiny_net();                // W2
std::vector<Case> fusion_chain();            // W3
std::vector<Case> per_sample_gradients();    // W4
std::vector<Case> jacobians();               // W7
std::vector<Case> hessians();                // W8
std::vector<Case> hessian_vector();          // W9
std::vector<Case> bundle_adjustment();       // W12
std::vector<Case> recurrent_net();           // W13
std::vector<Case> hand_tracking();           // W14
std::vector<Case> differential_equations();  // W15
std::vector<Case> greeks();                  // W16
std::vector<Case> nested_optimisation();     // W18
std::vector<Case> material_points();         // W19
std::vector<Case> arms();                    // arm
std::vector<Case> common_loops();            // loops
std::vector<Case> reproducers();             // asked
std::vector<Case> fields();                  // fields
std::vector<Case> parting_lanes();           // lanes: JAX has some of them
std::vector<Case> long_tapes();              // tape: no rival has them
std::vector<Case> operations();              // single ones, for threads
std::vector<Case> layers();                  // of networks, one by one

/// A step: a function and its inputs.
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
  /// The same step by a plan, which is made at the first step.
  auto compiled() const {
    return [fast = ricci::compile(f), inputs = inputs] { return std::apply(fast, inputs); };
  }
};
template <class F, class... Inputs>
Call<F, Inputs...> call(F f, Inputs... inputs) {
  return {std::move(f), {std::move(inputs)...}};
}

/// Reports, beside the mean, the first step and the fastest and the median of the others in the counters first_ms,
/// min_ms and median_ms, and the most memory held at one time, inputs and kept blocks included, in peak_mb. A step
/// includes dropping the outputs of the step before. Three steps go first, as the rivals' do: two sets of outputs are
/// alive at once, and the memory of both must have been touched. Steps shorter than 10 us are timed several at a time,
/// because reading the clock takes some 30 ns.
/// `first_ms` keeps the first step of the first run: code that it made is kept for the runs by which Google Benchmark
/// finds the number of steps.
template <class Step>
void time_steps(benchmark::State& state, const Step& step, double& first_ms) {
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  };
  ricci::empty_cache();
  ricci::reset_peak_memory_stats();
  Clock::time_point start = Clock::now();
  auto outputs = step();
  if (first_ms == 0) first_ms = since(start);
  state.counters["first_ms"] = first_ms;
  outputs = step();
  start = Clock::now();
  outputs = step();
  const int together = std::clamp(static_cast<int>(0.01 / since(start)), 1, 100);
  std::vector<double> milliseconds;
  while (state.KeepRunningBatch(together)) {
    start = Clock::now();
    for (int i = 0; i < together; ++i) {
      outputs = step();
      benchmark::DoNotOptimize(outputs);
    }
    milliseconds.push_back(since(start) / together);
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  state.counters["min_ms"] = milliseconds.front();
  state.counters["median_ms"] = milliseconds[milliseconds.size() / 2];
  state.counters["peak_mb"] = static_cast<double>(ricci::memory_stats().max_reserved) / 1e6;
}

/// A case without variants. `build` makes the inputs and gives the step: a callable without arguments that returns any
/// tree. The check is of a second step, because some steps record the function when they first run; both draw from the
/// default generator as from a new one.
template <class Build>
Case make_single(std::string name, Build build) {
  return {std::move(name),
          [build, first_ms = 0.0](benchmark::State& state) mutable { time_steps(state, build(), first_ms); },
          [build] {
            ricci::manual_seed(0);
            const auto step = build();
            step();
            return ricci::leaves(step());
          }};
}

/// A case. A `Call` is timed, as variants, as a program and compiled too.
template <class Build>
Case make_case(const std::string& name, Build build) {
  Case one = make_single(name, build);
  if constexpr (requires { build().as_program(); }) {
    one.variants.push_back(make_single(name + "/program", [build] { return build().as_program(); }));
    one.variants.push_back(make_single(name + "/compiled", [build] { return build().compiled(); }));
  }
  return one;
}

/// The case with one more variant, a loop written by hand.
template <class Build>
Case beside_loop(Case one, Build build_loop) {
  one.variants.push_back(make_single(one.name + "/by_hand", build_loop));
  return one;
}

/// The cases, held to this tolerance.
inline std::vector<Case> within(double tolerance, std::vector<Case> cases) {
  for (Case& one : cases) one.tolerance = tolerance;
  return cases;
}

}  // namespace bench
