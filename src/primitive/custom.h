// Custom operations, whose value is written in tensors, as interpreters see them: values in, values out, the rules run
// as functions of the user's. Names no operation. What follows from `call` alone lives in interpreters/lifted.cpp.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "primitive/interpreter.h"

namespace ricci {

/// Throws TransformError if the value belongs to a transform that is set aside, here or where the nest that this thread
/// has entered was taken; `op` names the user of the value.
void require_not_set_aside(const Value& value, const char* op);
/// Whether the level is that of such a transform.
bool is_set_aside(Level level);

/// A function of the user's that runs inside a rule. The transforms that its caller runs under, further in than the
/// level that the rule runs at, are set aside: they are alive, but the function may not use values of theirs.
struct UserFunctionInRule {
  const Interpreter* caller;  // innermost where the user called the operation
  const UserFunctionInRule* outer = this_thread.function_in_rule;
};
/// f(), such a function.
template <class F>
std::invoke_result_t<F> in_rule(const F& f) {
  const UserFunctionInRule function{this_thread.of_the_user ? this_thread.of_the_user : this_thread.innermost};
  const With<&ThreadContext::of_the_user> user(nullptr);
  const With<&ThreadContext::function_in_rule> innermost(&function);
  return f();
}

/// The transforms that a rule sets aside, for threads that enter a nest taken in it.
struct SetAside {
  struct Transform {
    Level level;
    bool differentiates;
    std::string text;
  };
  std::vector<Transform> transforms;
  std::string rule;  // the operation whose rule it is
};
/// Those of this thread, and of the nest that it has entered.
SetAside set_aside_here();

/// Thrown through the user's function where the function uses a value of a transform that is set aside, while
/// `ThreadContext::captures` notes such uses.
struct Captured {};

/// A function with rules of its own, as one operation of a program. Operands: the function's inputs, then what it
/// captured.
struct WrittenDown {
  const Rules* rules;
  OwnedParameters parameters;
  Values captured;
};
/// Requires: `Rules::function_name`.
WrittenDown written_down(Op op, const Types& inputs);
/// The output types of a custom operation that brings no `type`: `call` on values that have a type and no elements.
Types types_by_calling(Op op, const Types& inputs);

namespace custom {

/// The value. Requires: every input is an Array.
Values call(Op op, std::span<const ValueRef> inputs);

struct KeptValues {
  Values outputs;
  std::shared_ptr<const Residual> residual;
  Mask constant;
};
KeptValues keep(Op op, std::span<const ValueRef> inputs, const Mask& wanted);

struct PushedValues {
  Values outputs;
  Tensors tangents;
};
PushedValues push(Op op, std::span<const ValueRef> inputs, std::span<const Tensor> tangents);

Tensors vjp(Op op, const Reverse& rule);
BatchedOutputs batch(Op op, const Batch& batch);

}  // namespace custom

}  // namespace ricci
