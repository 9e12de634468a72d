// Recording: values that are variables of a program being written.
#pragma once

#include <memory>
#include <unordered_map>

#include "primitive/interpreter.h"
#include "program/program.h"

namespace ricci {

struct Recorded final : Value {
  Variable variable;

  Recorded(Level level, Type type, Variable variable)
      : Value(ValueKind::recorded, level, std::move(type)), variable(variable) {}
  void destroy() noexcept override;
};

class RecordInterpreter final : public Interpreter {
 public:
  /// With `factories`, operations without inputs are recorded too, not computed.
  RecordInterpreter(bool factories, const Entry& entry)
      : Interpreter(ValueKind::recorded, entry), body(std::make_shared<ProgramBody>()), factories_(factories) {}
  Values process(Op op, std::span<const ValueRef> inputs) override;
  bool sees_factories() const override { return factories_; }

  ValueRef add_input(const Type& type);
  /// The variable of a value: its own, or a new capture.
  Variable variable_of(const ValueRef& value);

  const std::shared_ptr<ProgramBody> body;

 private:
  Variable new_variable(const Type& type);

  bool factories_;
  std::unordered_map<const Value*, Variable> captured_;
};

}  // namespace ricci
