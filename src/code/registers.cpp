// By LLVM's own passes. None of them changes what an operation on floating numbers gives.
#include "code/registers.h"

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Pass.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/Scalar.h>

#include "code/compiler.h"

namespace ricci::compiled {

void keep_in_registers(llvm::Module& module, llvm::Function& f) {
  const Held<llvm::legacy::PassManager> inlines;
  inlines->add(llvm::createAlwaysInlinerLegacyPass(false));
  inlines->run(module);
  const Held<llvm::legacy::FunctionPassManager> passes(&module);
  passes->add(llvm::createSROAPass(false));
  passes->add(llvm::createEarlyCSEPass());
  passes->add(llvm::createCFGSimplificationPass());
  passes->doInitialization();
  passes->run(f);
  passes->doFinalization();
}

}  // namespace ricci::compiled
