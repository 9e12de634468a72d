// Operations made of operations: a custom operation under vmap, jvp or vjp, as one custom operation. Recorded programs
// hold them where a transform met a custom operation. Looks up no operation by name.
#pragma once

#include "primitive/interpreter.h"

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
  void visit_parameter_sizes(SizeVisitor& visitor);
  friend bool operator==(const InnerOp& a, const InnerOp& b) {
    return a.rules == b.rules && (!a.rules || a.rules->parameters.equal(a.parameters.get(), b.parameters.get()));
  }
};

using Flags = SmallVector<bool, 8>;

}  // namespace ricci
