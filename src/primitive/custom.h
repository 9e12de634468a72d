// Custom operations, whose value is written in tensors, as interpreters see them: values in, values out, the rules run
// as functions of the user's. Names no operation. What follows from `call` alone lives in interpreters/lifted.cpp.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "primitive/interpreter.h"

namespace ricci {

/// Throws TransformError if the value belongs to a transform that is set aside, here or where the nest that this thread
/// has entered was taken; `op` names the user of the value.
void require_not_set_aside(const Value& value, const char* op);
/// Whether the level is that of such a transform.
bool is_set_aside(Level level);

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

/// Thrown through the user's function where it uses a tensor that a rule does not reach.
struct Captured {};

/// While it lives, a value that belongs to a transform which is set aside throws Captured where it is used.
class CatchesCaptures {
 public:
  CatchesCaptures() = default;
  CatchesCaptures(const CatchesCaptures&) = delete;
  bool has_thrown() const { return has_thrown_; }

 private:
  friend void require_not_set_aside(const Value& value, const char* op);
  const With<&ThreadContext::captures> innermost_{this};
  bool has_thrown_ = false;
};

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
