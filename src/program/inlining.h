// Operations that call a program, as custom functions do, and a program with such calls inlined. Knows no operation by
// name.
#pragma once

#include <cstddef>
#include <cstdint>

#include "program/facts.h"
#include "program/program.h"

namespace ricci {

/// A program whose results at the operands are those of the operation. All else that the operation has are rules for
/// transforms.
struct Call {
  const Program* program;  // null: the operation stays as it is
  /// Nothing that the program computes is merged with what stands around it: it would be kept in memory between.
  bool stays_apart = false;
};
///   const bool is_call = calls_program<Checkpoint>();
using CallOf = Call (*)(const void* op);
template <class P>
bool calls_program() {
  return Facts<CallOf>::add(rules_of<P>, [](const void* op) { return erase::as<P>(op).called(); });
}

/// Of a call that stays apart; null: the equation is no such call.
const Program* program_apart(const Equation& e);

/// The program that computes the same with the equations of called programs in the place of the calls, also in the
/// programs of loops and branches. Transforms find no rules of the called functions there any more: it is for a program
/// that only runs. It may have to be simplified again. A call stays where it would bring in more than what is left of
/// `most` equations.
Program inlined(const Program& program, std::size_t most = SIZE_MAX);

}  // namespace ricci
