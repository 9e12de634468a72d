// The parameters of an operation with the programs among them replaced.
#pragma once

#include "ricci/primitive.h"
#include "ricci/program.h"

namespace ricci {

/// `f(program)` in place of each program.
template <class F>
OwnedParameters with_each_program(Op op, const F& f) {
  struct Replace final : ParameterVisitor {
    const F& f;
    explicit Replace(const F& f) : ParameterVisitor(Mode::edits), f(f) {}
    void program(Program& program) override { program = f(program); }
  } replace(f);
  return {op.rules->parameters, op.parameters, replace};
}

}  // namespace ricci
