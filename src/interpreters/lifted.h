// Custom operations as parameters of others, and functions of tensors under forward mode or a tape. Looks up no
// operation by name.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "interpreters/tape.h"
#include "primitive/interpreter.h"
#include "program/pruning.h"

namespace ricci {

/// An operation as the parameter of another.
struct InnerOp {
  const Rules* rules = nullptr;
  OwnedParameters parameters;

  InnerOp() = default;
  explicit InnerOp(Op op) : rules(op.rules), parameters(op.rules->parameters, op.parameters) {}
  Op op() const { return {rules, parameters.get()}; }
  Tensors call(std::span<const Tensor> inputs) const { return rules->call(parameters.get(), inputs); }

  void print_parameter(std::string& out) const;
  void walk_parameter(ParameterVisitor& visitor);
  friend bool operator==(const InnerOp& a, const InnerOp& b) {
    return a.rules == b.rules && (!a.rules || a.rules->parameters.equal(a.parameters.get(), b.parameters.get()));
  }
};

Flags flags_of(const Mask& mask, std::size_t count);
Flags defined_among(std::span<const Tensor> tensors);

using TensorFunction = std::function<Tensors(std::span<const Tensor>)>;

/// The function under a level of forward mode; undefined tangents are zero.
Pushed push_through(const TensorFunction& f, std::span<const Tensor> inputs, std::span<const Tensor> tangents);

/// One tensor from the front of `found` for each flag that is set, undefined ones for the others.
Tensors by_flag(std::span<const Tensor> found, const Flags& flags);
/// Splits `found` into outputs, then a tangent for each output that `has` flags.
Pushed paired(const Tensors& found, const Flags& has);

/// The function under a tape, which has ended.
struct TapedCall {
  /// `name` is what errors speak of.
  TapedCall(const TensorFunction& f, std::span<const Tensor> inputs, const Flags& wanted, const char* name = "vjp");

  Tensors outputs;
  std::vector<int> wanted_slots;  // of the wanted inputs
  std::vector<int> output_slots;  // -1: not on the tape
  std::shared_ptr<TapeRecord> record;
};

/// Which of the inputs in `watched` a derivative may go through; none if that is empty.
Flags differentiable_in(const Flags& watched, std::span<const Tensor> inputs);

}  // namespace ricci
