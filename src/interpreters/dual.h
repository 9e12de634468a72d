// Forward mode: values that carry a tangent.
#pragma once

#include "interpreters/remembered.h"
#include "primitive/derive.h"

namespace ricci {

/// A primal and its tangent, both one level down.
struct Dual final : Value {
  ValueRef primal;
  ValueRef tangent;

  Dual(Level level, ValueRef primal, ValueRef tangent)
      : Value(ValueKind::dual, level, primal->type), primal(std::move(primal)), tangent(std::move(tangent)) {}
  void destroy() noexcept override;
};

class DualInterpreter : public Interpreter {
 public:
  explicit DualInterpreter(const Entry& entry) : Interpreter(ValueKind::dual, entry) {}
  Values process(Op op, std::span<const ValueRef> inputs) override;
  std::unique_ptr<Interpreter> copy() override { return std::unique_ptr<Interpreter>(new DualInterpreter(*this)); }

 protected:
  DualInterpreter(const DualInterpreter&) = default;

 private:
  virtual Tensors tangents(Op op, const Forward& rule) { return tangents_of(op, rule); }
  Values process_custom(Op op, std::span<const ValueRef> primals, const Tensors& tangents);
  /// Makes duals of the results that have a tangent.
  void join(Values& results, const Tensors& tangents, Op op);
};

/// One level of a jet, which is as many levels as its order. The rules of one operation meet the same operations on the
/// same values again and again there: x y, the derivative of x' y + x y' among them, asks for x' y' twice. Each is
/// computed once, so that an operation costs a power of the order, and not two to the order. What is remembered is
/// forgotten when the operation is done that the user asked for.
class JetInterpreter final : public DualInterpreter {
 public:
  explicit JetInterpreter(const Entry& entry) : DualInterpreter(entry) {}
  Values process(Op op, std::span<const ValueRef> inputs) override;
  std::unique_ptr<Interpreter> copy() override { return std::unique_ptr<Interpreter>(new JetInterpreter(*this)); }

 private:
  JetInterpreter(const JetInterpreter& other) : DualInterpreter(other) {}
  Tensors tangents(Op op, const Forward& rule) override { return tangents_by_factors(op, rule); }
  RememberedOperations met_;
};

}  // namespace ricci
