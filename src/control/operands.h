// What the operations that have programs for parameters share: operands by role, checked and taken from the front.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "program/program.h"
#include "program/roles.h"

namespace ricci::runs {

using State = std::vector<Tensor>;

/// Takes the next tensors from the front.
inline std::span<const Tensor> take(std::span<const Tensor>& from, std::size_t count) {
  const std::span<const Tensor> taken = from.first(count);
  from = from.subspan(count);
  return taken;
}

/// A program at these inputs and what its function captured.
inline State run(const Program& program, std::span<const Tensor> inputs, std::span<const Tensor> captured) {
  State all(inputs.begin(), inputs.end());
  all.insert(all.end(), captured.begin(), captured.end());
  return program(all);
}

// The type rules hold the counts among the parameters, which a program's text may get wrong.

/// Throws IndexError unless the operands are as many as the roles say.
inline Roles checked(Roles roles, std::size_t operands) {
  std::size_t wanted = 0;
  for (const Role& role : roles) wanted += role.count;
  if (wanted != operands)
    throw IndexError("takes " + std::to_string(wanted) + " operands, found " + std::to_string(operands));
  return roles;
}

/// How many inputs of the program follow the first `given` ones: what its function captured.
inline std::size_t captures(const Program& program, std::size_t given) {
  if (program.inputs() < given)
    throw IndexError("a program takes " + std::to_string(program.inputs()) + " inputs, it is given " +
                     std::to_string(given));
  return program.inputs() - given;
}

}  // namespace ricci::runs
