// What modules for NVIDIA's processors need beside instructions. Knows nothing of plans.
#pragma once

#include <llvm/IR/Module.h>

#include <string>

namespace ricci::compiled {

/// Gives the module the functions of NVIDIA's libdevice that it calls, and accesses to memory the alignment of their
/// elements. Gives what is wrong, or an empty text.
std::string complete_for_ptx(llvm::Module& module);

}  // namespace ricci::compiled
