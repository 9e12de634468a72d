// LLVM's compiler and linker of this process: modules into code. Knows nothing of plans.
#pragma once

#include <llvm/ExecutionEngine/Orc/LLJIT.h>

#include <string>

namespace ricci::compiled {

/// Lives as long as the process. Null, with the reason in `error`, where LLVM knows no code for this machine.
llvm::orc::LLJIT* session(std::string& error);

}  // namespace ricci::compiled
