// LLVM's compiler and linker, made when the first module is compiled.
#include "code/session.h"

#include <llvm/Support/TargetSelect.h>

namespace ricci::compiled {

namespace orc = llvm::orc;

orc::LLJIT* session(std::string& error) {
  static std::string failure;
  static orc::LLJIT* const jit = []() -> orc::LLJIT* {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    auto machine = orc::JITTargetMachineBuilder::detectHost();
    if (!machine) return failure = llvm::toString(machine.takeError()), nullptr;
    machine->setCodeGenOptLevel(llvm::CodeGenOptLevel::Less);
    machine->getOptions().AllowFPOpFusion = llvm::FPOpFusion::Strict;
    auto made = orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(*machine)).create();
    if (!made) return failure = llvm::toString(made.takeError()), nullptr;
    return made->release();
  }();
  error = failure;
  return jit;
}

}  // namespace ricci::compiled
