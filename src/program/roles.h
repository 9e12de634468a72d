// How the operands of control flow stand in a program's text: in groups with names, `state(b c) condition(a)`. An
// operation has roles where its struct has `Roles roles(std::size_t operands) const`, which throws IndexError where the
// counts among its parameters do not fit.
#pragma once

#include <string>

#include "ricci/primitive.h"

namespace ricci {

/// So many operands in a row.
struct Role {
  std::string name;
  std::size_t count;
};
using Roles = SmallVector<Role, 6>;

}  // namespace ricci
