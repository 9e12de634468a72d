// The functions of a lane plan in a module. One register holds the same value of neighbouring lanes. Code that is
// computed once for all lanes works on single elements, by the same words.
#pragma once

#include <llvm/IR/Module.h>

#include <string>
#include <vector>

#include "compile/code.h"

namespace ricci::compiled {

struct StageNames {
  std::string once, lane, join;  // empty: the stage has no such function
};

/// `prefix`: of their names. Where code stands alone, the careful functions that they call stand beside them.
std::vector<StageNames> write_functions(llvm::Module& module, const LanePlan& plan, const Machine& machine,
                                        const std::string& prefix);

}  // namespace ricci::compiled
