// How the operands of control flow stand in a program's text: in groups with names, `state(b c) condition(a)`. An
// operation has roles where its struct has `Roles roles(std::size_t operands) const` and its file names them.
#pragma once

#include <string>

#include "program/facts.h"

namespace ricci {

/// So many operands in a row.
struct Role {
  std::string name;
  std::size_t count;
};
using Roles = SmallVector<Role, 6>;

/// The roles of an equation's operands; throws IndexError where the counts among its parameters do not fit.
struct RolesOf {
  using Function = Roles (*)(const void* parameters, std::size_t operands);
};
/// `const bool named = name_operands<WhileLoop>();`
template <class P>
bool name_operands() {
  return Facts<RolesOf>::add(rules_of<P>,
                             [](const void* op, std::size_t count) { return erase::as<P>(op).roles(count); });
}

}  // namespace ricci
