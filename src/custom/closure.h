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

/// One recording of a function. The program is a whole: it computes what the function does, draws included, each time
/// it runs. Sizes that a surrounding recording has symbols for stay symbols.
class ClosureRun {
 public:
  /// `name` is what errors call it. `steps`: of the loop, if it is one of the user's.
  explicit ClosureRun(const char* name, Runs runs = Runs::once, const Steps* steps = nullptr);
  ClosureRun(const ClosureRun&) = delete;
  ~ClosureRun();
  /// Makes the leaves of the arguments the program's inputs.
  void enter(const tree::Walk& arguments);
  /// Ends the recording: the leaves of the result are the program's outputs. A number among them gets a dtype.
  Closure leave(const tree::Walk& result);

 private:
  struct State;
  Owned<State> state_;
};

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
  ClosureRun run(name, runs, steps);
  run.enter(call::walk(arguments));
  result.emplace(std::apply([&](A&... a) { return R(call::invoke(f, a...)); }, arguments));
  return run.leave(call::walk(*result));
}

/// Calls `f` with copies of the arguments, so that the caller's tensors stay as they are. Errors call `f` by `name`.
AnyTree on_copies(const char* name, const AnyFunction& f, Arguments arguments);

}  // namespace ricci::function
