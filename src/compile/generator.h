// The generator of machine code: a module that is loaded when the first code is made. Knows its functions.
#pragma once

#include "compile/code.h"

namespace ricci::compiled {

/// Null functions where the library was built without a compiler.
struct Generator {
  Generate generate = nullptr;
  Export export_plan = nullptr;
  GeneratePlan generate_plan = nullptr;
};
const Generator& generator();

/// What code is made for: this machine, with the library's functions. `dump`: gets the code's text, if RICCI_DUMP lists
/// `code`.
Machine this_machine(std::string& dump);

}  // namespace ricci::compiled
