// Custom operations, whose value is written in tensors, as interpreters see them: values in, values out, the rules run
// as functions of the user's. Names no operation. What follows from `call` alone lives in interpreters/lifted.cpp.
#pragma once

#include <memory>

#include "primitive/interpreter.h"

namespace ricci {

/// Throws TransformError if the value belongs to a transform that is set aside; `op` names the user of the value.
void require_not_set_aside(const Value& value, const char* op);

/// While it lives, this thread runs a rule of the operation that errors call `name`.
class RuleOf {
 public:
  explicit RuleOf(const std::string& name);
  RuleOf(const RuleOf&) = delete;
  ~RuleOf();

 private:
  const std::string* const outer_;
};

/// While it lives, a value that belongs to a transform which is set aside throws function::Captured where it is used.
class CatchesCaptures {
 public:
  CatchesCaptures();
  CatchesCaptures(const CatchesCaptures&) = delete;
  ~CatchesCaptures();
};

/// The output types of a custom operation that brings no `type`: `call` on values that have a type and no elements.
Types types_by_calling(Op op, const Types& inputs);

/// Whether an operation on these values, as they were read, will run with the innermost running derivative set aside: none
/// of them depends on it, nor is one a variable of a recording further in, whose program may be run under it.
bool is_innermost_set_aside(std::span<const ValueRef> values);
/// Whether a transparent operation, which is not beneath a level already, holds programs that depend on the levels they
/// run under. False for an opaque one.
bool depends_on_levels(Op op);
/// Applies such an operation beneath a level that is set aside for it.
Tensors apply_beneath(Op op, std::span<const Tensor> inputs);

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
