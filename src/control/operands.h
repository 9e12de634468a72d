// What the operations that have programs for parameters share: operands by role, checked and taken from the front.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "interpreters/lifted.h"
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

/// Whether a number of one branch becomes an element of another one's tensor.
inline bool number_becomes(DType number, DType tensor) { return category(number) <= category(tensor); }

/// Those of the flags that one of the programs takes.
inline Flags chosen(const Flags& from, const std::vector<std::size_t>& which) {
  Flags found;
  for (const std::size_t i : which) found.push_back(from[i]);
  return found;
}

/// Throws IndexError unless every one of these known indices names one of `count` branches.
void require_indices(const Tensor& indices, std::int64_t count);

/// Derives the step again until every part of the carry that leaves it with a tangent (or with examples) also enters it
/// so. `flags` says which inputs have one, and grows.
template <class Derive>
auto until_stable(Flags& flags, std::size_t carried, std::size_t outputs, const Derive& derive) {
  for (;;) {
    Flags at_least(outputs, false);
    for (std::size_t i = 0; i < carried; ++i) at_least[i] = flags[i];
    auto derived = derive(at_least);
    bool grown = false;
    for (std::size_t i = 0; i < carried; ++i) {
      grown |= derived.outputs[i] && !flags[i];
      flags[i] |= derived.outputs[i];
    }
    if (!grown) return derived;
  }
}

}  // namespace ricci::runs
