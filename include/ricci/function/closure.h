// A function with what it captures made explicit: recorded once as a program whose inputs are the function's own, then
// the captured tensors. Not for users; implicit.h is written with it.
#pragma once

#include <utility>
#include <vector>

#include "ricci/function/operation.h"
#include "ricci/program.h"
#include "ricci/transforms/call.h"

namespace ricci::function {

struct Closure {
  Program program;
  std::vector<Tensor> captured;
};

/// One recording of a function. The program is a whole: it computes what the function does, draws included, each time
/// it runs. Sizes that a surrounding recording has symbols for stay symbols.
class ClosureRun {
 public:
  explicit ClosureRun(const char* name);  ///< what errors call it
  ClosureRun(const ClosureRun&) = delete;
  ~ClosureRun();
  /// Makes the leaves of the arguments the program's inputs.
  void enter(const tree::Walk& arguments);
  /// Ends the recording: the leaves of the result are the program's outputs. A number among them gets a dtype.
  Closure leave(const tree::Walk& result);

 private:
  struct State;
  State* state_;
};

/// With numbers for the sizes that a surrounding recording has symbols for, under a guard there: for a program that runs
/// while that recording lasts.
Closure with_fixed_sizes(Closure closure);

/// `f` at arguments like `x`, recorded; `name` is what errors call it. f returns a tree like x.
template <class F, class X>
Closure close(const char* name, const F& f, const X& x) {
  static_assert(std::is_same_v<call::result_t<F, X>, X>,
                "ricci: custom_root, custom_linear_solve: the function must return a tree like its argument");
  std::tuple<X> argument(x);
  X like = x;
  ClosureRun run(name);
  run.enter(call::walk(argument));
  X result = call::invoke(f, argument);
  require_like(name, "the function", call::walk(result), call::walk(like), "its argument");
  return with_fixed_sizes(run.leave(call::walk(result)));
}

/// The function again, with these tensors for what it captured.
template <class X>
struct ClosedFunction {
  Program program;
  std::vector<Tensor> captured;

  X operator()(const X& x) const {
    Tensors inputs;
    const Emptied<X> like(x, inputs);
    inputs.append(captured.begin(), captured.end());
    return like.filled(program(inputs));
  }
};

}  // namespace ricci::function
