// A function with what it captures made explicit: recorded once as a program whose inputs are the function's own, then
// the captured tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "custom/operation.h"
#include "interpreters/recorder.h"
#include "interpreters/streams.h"
#include "ricci/program.h"
#include "ricci/transforms/call.h"

namespace ricci::function {

/// Inputs of the program: the function's, then, of a step, the places that its draws are derived from, then what it
/// captured. Outputs: the function's, then those places for the next step.
struct Closure {
  Program program;
  std::vector<Tensor> captured;
  std::vector<Tensor> streams = {};  // the places that the first step begins at
  std::vector<bool> numbers = {};    // those outputs of the function that were numbers and got a dtype
};

/// Whether the function runs once for each run of the program around it, or, the step of a loop, many times.
enum class Runs : std::uint8_t { once, many };

/// The steps of a recorded loop: the streams that theirs are derived from, null where draws are repeated; the number of
/// the first step.
struct Steps {
  StreamScope* streams;
  std::uint64_t first = 0;
};

/// Whether a program that is being recorded will compute the tensor; `name` is what asks.
bool is_recorded(const char* name, const Tensor& x);
/// Whether it will compute any of these leaves.
bool is_recorded(const char* name, const tree::Walk& leaves);

constexpr Records records_for(Runs runs) { return runs == Runs::many ? Records::step : Records::part; }
/// Adds to the outputs, for each generator that a step draws from, the place that the next step's draws are derived
/// from. Returns the generators.
std::vector<Generator*> end_streams(const Recorder& recorder);
/// Ends the recording, its streams included. The program is a whole: it computes what the function does, draws
/// included, each time it runs. Sizes that a surrounding recording has symbols for stay symbols. `steps`: of the loop,
/// if it is one of the user's; null of one that is derived from another.
Closure closed(Recorder& recorder, const Steps* steps = nullptr);
/// The same; the leaves of the result are the program's outputs. A number among them gets a dtype.
Closure closed(Recorder& recorder, const tree::Walk& result, const Steps* steps = nullptr);
/// The live equations of a body whose recording has ended, what it captured among the inputs. `streams`: the generators
/// that a step draws from.
Closure closed(const ProgramBody& body, const std::vector<Generator*>& streams, const Steps* steps = nullptr);

/// A number as a tensor of its dtype.
Tensor with_dtype(const Tensor& x);
/// The tensors among the leaves.
Tensors defined_leaves(const tree::Walk& walk);
/// Gives every leaf a cell of its own with the same value: what a function writes to its arguments stays in it. `name`
/// is what errors call the function.
void own_cells(const char* name, const tree::Walk& leaves);
/// Over the defined leaves, from the front of `values`, which then begins behind them.
void write_leaves(std::span<const Tensor>& values, const tree::Walk& into);

/// `f` at arguments like these, written down; `name` is what errors call it. `result` is what it returned, for its
/// structure and types.
Closure write_down(const char* name, const AnyFunction& f, Arguments arguments, AnyTree& result, Runs runs = Runs::once,
                   const Steps* steps = nullptr);
template <class R, class F, class... A>
Closure write_down(const char* name, const F& f, std::tuple<A...> arguments, std::optional<R>& result,
                   Runs runs = Runs::once, const Steps* steps = nullptr) {
  Recorder recorder(name, records_for(runs), {.name = name});
  recorder.show(call::walk(arguments).leaves);
  result.emplace(std::apply([&](A&... a) { return R(call::invoke(f, a...)); }, arguments));
  return closed(recorder, call::walk(*result), steps);
}

/// Calls `f` with copies of the arguments, so that the caller's tensors stay as they are. Errors call `f` by `name`.
AnyTree on_copies(const char* name, const AnyFunction& f, Arguments arguments);

}  // namespace ricci::function
