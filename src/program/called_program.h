// Operations that call a program, as custom functions do: which program an equation calls. Knows no operation by name.
#pragma once

#include "program/facts.h"
#include "program/program.h"

namespace ricci {

/// A program whose results at the operands are those of the operation. All else that the operation has are rules for
/// transforms.
struct CalledProgram {
  const Program* program;  // null: the operation is no call
  /// Nothing that the program computes is merged with what stands around it: it would be kept in memory between.
  bool stays_apart = false;
};
///   const bool is_call = calls_program<Checkpoint>();
struct CalledProgramOf {
  using Function = CalledProgram (*)(const void* op);
};
template <class P>
bool calls_program() {
  return Facts<CalledProgramOf>::add(rules_of<P>, [](const void* op) { return erase::as<P>(op).called(); });
}

inline CalledProgram called_program(const Equation& e) {
  const auto of = Facts<CalledProgramOf>::of(*e.rules);
  return of ? of(e.parameters.get()) : CalledProgram{nullptr};
}
/// Of a call that stays apart; null: the equation is no such call.
inline const Program* program_apart(const Equation& e) {
  const CalledProgram call = called_program(e);
  return call.stays_apart ? call.program : nullptr;
}

}  // namespace ricci
