// Forward mode: values that carry a tangent.
#pragma once

#include "primitive/interpreter.h"

namespace ricci {

/// A primal and its tangent, both one level down.
struct Dual final : Value {
  ValueRef primal;
  ValueRef tangent;

  Dual(Level level, ValueRef primal, ValueRef tangent)
      : Value(ValueKind::dual, level, primal->type), primal(std::move(primal)), tangent(std::move(tangent)) {}
  void destroy() noexcept override;
};

class DualInterpreter final : public Interpreter {
 public:
  explicit DualInterpreter(const Entry& entry) : Interpreter(ValueKind::dual, entry) {}
  Values process(Op op, std::span<const ValueRef> inputs) override;
  std::unique_ptr<Interpreter> copy() override { return std::unique_ptr<Interpreter>(new DualInterpreter(*this)); }

 private:
  DualInterpreter(const DualInterpreter&) = default;
  Values process_custom(Op op, std::span<const ValueRef> primals, const Tensors& tangents);
  /// Makes duals of the results that have a tangent.
  void join(Values& results, const Tensors& tangents, Op op);
};

}  // namespace ricci
