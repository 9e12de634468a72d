// What a function keeps on its stack, in registers. Knows nothing of plans.
#pragma once

#include <llvm/IR/Module.h>

namespace ricci::compiled {

/// Puts the functions that are always inlined into the place of their calls, and what `f` keeps on its stack into
/// registers, as far as all of its places are known.
void keep_in_registers(llvm::Module& module, llvm::Function& f);

}  // namespace ricci::compiled
