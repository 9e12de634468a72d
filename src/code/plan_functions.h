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

/// A function that stands in the place of its call: void (inputs…, outputs…, slots, lanes).
struct InPlace {
  llvm::Function* function;
  bool may_be_large;  ///< an argument of sin or cos: then the first slot tells whether it was, and there are no results
};
/// Requires: the plan has one stage and no lanes.
InPlace write_in_place(llvm::Module& module, const LanePlan& plan, int inputs, const Machine& machine,
                       const std::string& name);

}  // namespace ricci::compiled
