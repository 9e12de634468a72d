// What an equation costs, told from its rules and its types: no operation by name.
#pragma once

#include <optional>

#include "program/program.h"

namespace ricci::compiled {

struct Cost {
  double bytes = 0;             // of its operands and results; a view's are 0
  std::optional<double> flops;  // none: its rules do not tell
};

/// Of one run of the equation. `program` says the types of its variables.
Cost cost_of(const Program& program, const Equation& e);

/// How many bytes a second this machine copies, counting those read and those written; measured once.
double copied_bytes_per_second();

}  // namespace ricci::compiled
