// The function in C that runs an exported plan: kernels and copies one after the other.
#pragma once

#include <llvm/IR/Module.h>

#include "compile/code.h"

namespace ricci::compiled {

/// `int name(arguments…, results…, void* workspace)`: 0, or 1 where the function throws for these values.
void write_exported(llvm::Module& module, const ExportedPlan& plan, const Machine& machine);

}  // namespace ricci::compiled
