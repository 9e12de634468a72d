// A program as one operation, for a reason: a checkpoint, a compiled function. The rules of such a call are calls of
// programs derived from its program, which are made once and kept with it. Start with `push_call`.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "custom/derived.h"

namespace ricci::function {

/// Applies the operation that is a call of the program for one reason.
using ApplyCall = std::function<Tensors(const Program& f, std::span<const Tensor> inputs)>;

/// Throws IndexError unless there are as many operands as the program has inputs.
Types type_of_call(const Program& f, const Types& inputs);
/// A call of the program with its tangents.
Pushed push_call(const ApplyCall& apply, const Program& f, std::span<const Tensor> inputs,
                 std::span<const Tensor> tangents);
/// A call of the program on all examples.
BatchedOutputs batch_call(const ApplyCall& apply, const Program& f, const Batch& batch);

/// Whether a derivative goes through one of these.
bool are_differentiated(std::span<const Tensor> inputs);
/// What `keep_to_compute_again` asks of a program in the operation.
struct Watched {
  Flags inputs;              ///< of the program: which depend on what cotangents are wanted of
  std::size_t operands_end;  ///< of the operation: behind the last operand that the program captures
};
struct WatchedInside {
  std::vector<Watched> programs;  ///< in the order in which the operation's parameters name them
  Flags outputs;                  ///< of the operation: which depend on what cotangents are wanted of
};
/// The rule `keep` of an operation of a program whose way back computes it again: keeps the inputs. Places are values
/// of the program, so all that is noted of its draws is whose they are. Where other derivatives go through the inputs,
/// they go through what functions with rules of their own compute inside reverse mode, as without the operation: then
/// the operation runs with such programs, and the tensors that the rules in one capture are operands of its own behind
/// those that the program captured before. Then the outputs that do not depend on what cotangents are wanted of have no
/// derivative either: functions that take them are outside this reverse mode, as without the operation.
Kept keep_to_compute_again(Op op, std::span<const Tensor> inputs, const std::function<WatchedInside()>& watched);

/// Reverse mode that keeps the inputs: on the way back, a call of a program that computes the function again and then
/// its cotangents.
Tensors pull_call_again(const ApplyCall& apply, const Program& f, const Reverse& rule);

/// Reverse mode in two halves: the call also gives what the way back reads, and the way back is a call that reads it.
Kept keep_call(const ApplyCall& apply, const Program& f, std::span<const Tensor> inputs, const Mask& wanted);
/// Requires: the residual is one of `keep_call`.
Tensors pull_call(const ApplyCall& apply, const Program& f, const Reverse& rule);

}  // namespace ricci::function
