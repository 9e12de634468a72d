// Exported functions of any number of examples.
#pragma once

#include <span>
#include <string>

#include "compile/function_steps.h"

namespace ricci::compiled {

/// As `planned_alone`, with `FunctionPlan::open`. Requires: the program is in a call, where one of its sizes is open:
/// that of the first axis of some arguments. Throws ValueError where the function decides by the number of examples or
/// reads it, and where a result does not have them in front; NotImplementedError where examples may know of each other.
PlannedFunction planned_for_examples(const Program& program, std::span<const Tensor> captured, const std::string& name,
                                     const Target& target, const runs::Place& where);

}  // namespace ricci::compiled
