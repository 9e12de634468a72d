// vmap: values that hold one value per example.
#pragma once

#include "primitive/interpreter.h"

namespace ricci {

/// One value per example: `value` is one level down and has the batch as axis 0. (Moving an axis is a change of
/// strides, so other positions are never stored.)
struct Batched final : Value {
  ValueRef value;

  Batched(Level level, ValueRef value);
  void destroy() noexcept override;
};

class BatchInterpreter final : public Interpreter {
 public:
  BatchInterpreter(Size size, const Entry& entry, Randomness randomness = Randomness::error)
      : Interpreter(ValueKind::batched, entry), size(size), randomness(randomness) {}
  Values process(Op op, std::span<const ValueRef> inputs) override;

  const Size size;
  const Randomness randomness;

 private:
  Values process_elementwise(Op op, std::span<const ValueRef> inputs);
  Values process_by_rule(Op op, std::span<const ValueRef> inputs);
};

}  // namespace ricci
