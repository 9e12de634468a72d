// GradBench's evals (gradben.ch), each in a file of its own: what it reads, what it computes, what it answers. main.cpp
// speaks the protocol. An eval is a struct, a function and a transform; no derivative is written by hand.
#pragma once

#include <ricci/ricci.h>

#include <chrono>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace gradbench {

namespace rc = ricci;
using nlohmann::json;
using rc::Tensor;

struct Timing {
  std::string name;
  std::int64_t nanoseconds;
};
struct Answer {
  json output;
  std::vector<Timing> timings;
};
/// The functions of an eval by name: each takes the input of a message.
using Eval = std::map<std::string, std::function<Answer(const json& input)>>;

Eval hello();
Eval gmm();
Eval ba();
Eval ht();
Eval lstm();
Eval kmeans();
Eval llsq();
Eval lse();
Eval ode();
Eval det();
Eval particle();
Eval saddle();

/// Numbers nested in lists, as float64 or int64; every list of a level has the same length.
Tensor read_numbers(const json& lists);
Tensor read_integers(const json& lists);
/// The numbers of a tensor, nested in lists by its axes; a number if it has none.
json write(const Tensor& tensor);

/// A function of these arguments, which is compiled. "prepare" is the first two calls: the first records, and both may
/// make code. "evaluate" is each further one, until there were input.min_runs of them that took input.min_seconds.
template <class F, class... Arguments>
auto timed(const json& input, const F& compiled, const Arguments&... arguments) {
  using Clock = std::chrono::steady_clock;
  std::vector<Timing> timings;
  const auto time = [&](const char* name, const auto& run) {
    const Clock::time_point start = Clock::now();
    auto result = run();
    timings.push_back({name, std::chrono::nanoseconds(Clock::now() - start).count()});
    return result;
  };
  const auto once = [&] { return compiled(arguments...); };
  auto result = time("prepare", [&] { return once(), once(); });
  const bool says = input.is_object();  // hello's input is a number
  const double runs = says ? input.value("min_runs", 1.0) : 1, seconds = says ? input.value("min_seconds", 0.0) : 0;
  double spent = 0;
  for (int done = 0; done < runs || spent < seconds; ++done) {
    result = time("evaluate", once);
    spent += 1e-9 * static_cast<double>(timings.back().nanoseconds);
  }
  return std::pair{std::move(result), std::move(timings)};
}

/// An answer that is one tensor: f of the arguments, compiled.
template <class F, class... Arguments>
Answer answer(const json& input, F f, const Arguments&... arguments) {
  auto [result, timings] = timed(input, rc::compile(std::move(f)), arguments...);
  return {write(result), std::move(timings)};
}

}  // namespace gradbench
