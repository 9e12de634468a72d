// The steps of a program as one function, and the places of what they read and write.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "compile/folding.h"
#include "compile/function_plan.h"
#include "compile/lane_kernel.h"
#include "ricci/transforms/runs.h"

namespace ricci::compiled {

/// An equation that the library computes, and the types of what it reads and gives. It reads each operand where the
/// operand lies: of a transposed matrix no copy is made.
struct LibraryCall {
  Equation equation;
  Types in, out;
  std::vector<Strides> in_strides = {};  ///< by operand
  bool replaces = false;                 ///< a part of the first operand, in its memory
};

/// A plan with what its steps refer to.
struct PlannedFunction {
  FunctionPlan plan;
  Types arguments = {}, results = {};    ///< of the function
  std::vector<Program> programs = {};    ///< whose kernels steps run
  std::vector<LibraryCall> calls = {};   ///< by the numbers of steps
  std::deque<CarefulCall> careful = {};  ///< of the kernels that have code of their own
  /// A loop, as errors name it, and where it and what it stands in come from.
  struct Limited {
    const char* name;
    OriginRef origin;
  };
  std::vector<Limited> limited = {};  ///< by limit of the plan
};

/// Of a function that runs without the library. Throws NotImplementedError, which names the operation, where an
/// equation has no code but the library's.
PlannedFunction planned_alone(const Folded& kernels, const std::string& name, const Target& target,
                              const runs::Place& where);
/// Of a function that runs in the library: the library computes equations that have no code. The plan's constants are
/// small.
PlannedFunction planned_in_library(const Program& program);

}  // namespace ricci::compiled
