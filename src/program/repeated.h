// Operations that run a program again and again: which of its inputs are the same each time. An operation says so where
// its struct has `RepeatedPrograms repeated()` and its file calls `repeats_programs`.
#pragma once

#include "program/facts.h"
#include "ricci/program.h"

namespace ricci {

/// The last inputs of such a program, from number `first_input` on, are operands of the operation, which follow one
/// another in the same order. There may be any number of these: the operation counts the program's inputs.
struct Repeated {
  Program* program;  // among the parameters
  std::size_t first_input, first_operand;
};
/// In the order of their operands.
using RepeatedPrograms = SmallVector<Repeated, 3>;

struct RepeatedOf {
  using Function = RepeatedPrograms (*)(void* parameters);
};
/// `const bool repeats = repeats_programs<Scan>();`
template <class P>
bool repeats_programs() {
  return Facts<RepeatedOf>::add(rules_of<P>, [](void* op) { return static_cast<P*>(op)->repeated(); });
}

}  // namespace ricci
