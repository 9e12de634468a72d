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

/// One recording of a function.
class ClosureRun {
 public:
  explicit ClosureRun(const char* name);
  ClosureRun(const ClosureRun&) = delete;
  ~ClosureRun();
  void enter(const tree::Walk& argument);
  Closure leave(const tree::Walk& result);

 private:
  struct State;
  State* state_;
};

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
  return run.leave(call::walk(result));
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
