// The function that runs the steps of a plan one after the other.
#pragma once

#include <llvm/IR/Module.h>

#include <string>

#include "compile/code.h"

namespace ricci::compiled {

/// `int name(arguments…, results…, void* workspace)`: 0, or 1 where the function throws for these values. Gives
/// what is wrong, or an empty text.
std::string write_alone(llvm::Module& module, const FunctionPlan& plan, const Machine& machine);
/// `PlanCode::run`, with the plan's name.
std::string write_in_library(llvm::Module& module, const FunctionPlan& plan, const Machine& machine);

}  // namespace ricci::compiled
