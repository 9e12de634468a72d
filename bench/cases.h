// What a benchmark case is, and the list of workloads. A case builds its inputs and a step; the step is timed, and its
// outputs are summed up by figures that the rivals in peers/ print too. Each workload is one file; main.cpp runs them.
// Variants of a case compute the same by other means: program, compiled, by_hand.
#pragma once

#include <benchmark/benchmark.h>
#include <ricci/ricci.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace bench {

/// A step that is run again and again.
class Steps {
 public:
  virtual ~Steps() = default;
  /// Each takes the place of the outputs of the one before, which are dropped then: two sets of outputs are alive.
  virtual void run(int times) = 0;
  virtual std::vector<ricci::Tensor> outputs() const = 0;
};

struct Case {
  std::string name;                               // W3/fwd_4096
  std::function<std::unique_ptr<Steps>()> steps;  // makes the inputs; nothing has run yet
  std::vector<Case> variants = {};                // W3/fwd_4096/program: the same by other means
  double tolerance = 1e-4;                        // of the outputs' figures, relative to their 2-norms
  double rival_tolerance = 0;                     // the same against rivals, where it is wider
  std::string reference = {};                     // FILE/ARRAY of data/adbench/reference_values.json, or empty
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

template <class Step>
class StepsOf final : public Steps {
 public:
  explicit StepsOf(Step step) : step_(std::move(step)) {}
  void run(int times) override {
    for (int i = 0; i < times; ++i) {
      outputs_ = step_();
      benchmark::DoNotOptimize(outputs_);
    }
  }
  std::vector<ricci::Tensor> outputs() const override { return ricci::leaves(*outputs_); }

 private:
  const Step step_;
  std::optional<std::decay_t<std::invoke_result_t<const Step&>>> outputs_;
};

/// A case without variants. `build` makes the inputs and gives the step: a callable without arguments that returns any
/// tree.
template <class Build>
Case make_single(std::string name, Build build) {
  return {std::move(name), [build]() -> std::unique_ptr<Steps> {
            return std::make_unique<StepsOf<std::invoke_result_t<const Build&>>>(build());
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
