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

/// One level of a jet; a jet of order n has n of them. The rules of an operation apply the same operations to the same
/// values many times: the second derivative of x y asks for x' y' twice. Each level computes such an operation once and
/// looks it up afterwards, so an operation costs a power of the order, and not two to the order. When an operation of
/// the user's is done, the levels forget all they remember.
class JetInterpreter final : public DualInterpreter {
 public:
  explicit JetInterpreter(const Entry& entry) : DualInterpreter(entry) {}
  Values process(Op op, std::span<const ValueRef> inputs) override;
  bool stands_with_others() const override { return true; }
  std::unique_ptr<Interpreter> copy() override { return std::unique_ptr<Interpreter>(new JetInterpreter(*this)); }

 private:
  JetInterpreter(const JetInterpreter& other) : DualInterpreter(other) {}
  Tensors tangents(Op op, const Forward& rule) override { return tangents_by_factors(op, rule); }
  RememberedOperations met_;
};

}  // namespace ricci
