// The steps of an exported function, and the places of what they read and write.
#pragma once

#include <string>
#include <vector>

#include "compile/export_kernels.h"
#include "compile/exported_plan.h"
#include "ricci/transforms/runs.h"

namespace ricci::compiled {

/// A plan with the programs whose kernels its steps refer to.
struct Planned {
  ExportedPlan plan;
  std::vector<Program> programs = {};
};

/// Throws NotImplementedError, which names the operation, where an equation has no code but the library's.
Planned planned(const WithKernels& kernels, const std::string& name, const runs::Place& where);

}  // namespace ricci::compiled
