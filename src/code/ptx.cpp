// libdevice is a file of CUDA's toolkit: NVIDIA's elementary functions, as a module of LLVM.
#include "code/ptx.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/SourceMgr.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "code/registers.h"

namespace ricci::compiled {
namespace {

/// A function that the module calls and does not have; empty: there is none. LLVM itself answers what libdevice asks
/// by __nvvm_reflect.
std::string lacking(const llvm::Module& module) {
  for (const llvm::Function& f : module)
    if (f.isDeclaration() && !f.isIntrinsic() && !f.use_empty() && f.getName() != "__nvvm_reflect")
      return f.getName().str();
  return {};
}

/// Where CUDA's toolkit is told to be, then where it usually is. Empty: it is nowhere.
std::string libdevice() {
  std::vector<std::filesystem::path> folders;
  for (const char* const name : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* const home = std::getenv(name))
      folders.push_back(std::filesystem::path(home) / "nvvm" / "libdevice");
  folders.insert(folders.end(), {"/usr/local/cuda/nvvm/libdevice", "/usr/lib/nvidia-cuda-toolkit/libdevice"});
  for (const std::filesystem::path& folder : folders) {
    const std::filesystem::path file = folder / "libdevice.10.bc";
    std::error_code ignored;
    if (std::filesystem::exists(file, ignored)) return file.string();
  }
  return {};
}

std::string link_libdevice(llvm::Module& module, const std::string& function) {
  const std::string path = libdevice();
  if (path.empty())
    return "code for PTX calls " + function +
           ", a function of NVIDIA's libdevice, and there is no libdevice.10.bc; install CUDA's toolkit, and set the "
           "environment variable CUDA_HOME to its folder";
  llvm::SMDiagnostic problem;
  std::unique_ptr<llvm::Module> library = llvm::parseIRFile(path, problem, module.getContext());
  if (!library) return path + ": " + problem.getMessage().str();
  library->setTargetTriple(module.getTargetTriple());
  library->setDataLayout(module.getDataLayout());
  std::vector<const llvm::Function*> own;
  for (const llvm::Function& f : module)
    if (!f.isDeclaration()) own.push_back(&f);
  if (llvm::Linker::linkModules(module, std::move(library), llvm::Linker::LinkOnlyNeeded)) return path + " is broken";
  for (llvm::Function& f : module)
    if (!f.isDeclaration() && std::ranges::find(own, &f) == own.end()) f.setLinkage(llvm::GlobalValue::InternalLinkage);
  return {};
}

/// Moves each function that is called at one place into its caller. The caller then needs no memory for the lists of
/// arrays that it passed. Long code stays cut into functions: LLVM takes minutes for one long block.
void join_functions(llvm::Module& module) {
  constexpr unsigned few = 4000;
  if (module.getInstructionCount() > few) return;
  for (llvm::Function& f : module)
    if (f.hasInternalLinkage() && f.hasOneUse() && !f.isDeclaration()) {
      f.removeFnAttr(llvm::Attribute::NoInline);
      f.addFnAttr(llvm::Attribute::AlwaysInline);
    }
  for (llvm::Function& f : module)
    if (!f.hasInternalLinkage() && !f.isDeclaration()) keep_in_registers(module, f);
}

/// What nothing calls or reads any more.
void remove_unused(llvm::Module& module) {
  const auto is_unused = [](const llvm::GlobalValue& x) { return x.hasInternalLinkage() && x.use_empty(); };
  const auto removes_one = [&] {
    for (llvm::Function& f : module)
      if (is_unused(f)) return f.eraseFromParent(), true;
    for (llvm::GlobalVariable& x : module.globals())
      if (is_unused(x)) return x.eraseFromParent(), true;
    return false;
  };
  while (removes_one()) {}
}

/// Elements stand at multiples of their size, and halves of complex numbers at multiples of theirs. The builder
/// promises nothing, which costs nothing on other processors; this one reads byte by byte then.
void align_accesses(llvm::Module& module) {
  const llvm::DataLayout& layout = module.getDataLayout();
  const auto alignment = [&](llvm::Type* type, bool is_copy) {
    const llvm::Align own = std::min(layout.getABITypeAlign(type), llvm::Align(8));
    const bool may_be_pair = is_copy && layout.getTypeStoreSize(type) == 8;
    return may_be_pair ? llvm::Align(4) : own;
  };
  const auto is_only_stored = [](const llvm::Value* x) {
    return llvm::isa<llvm::LoadInst>(x) && x->getType()->isIntegerTy() && x->hasOneUse() &&
           llvm::isa<llvm::StoreInst>(*x->user_begin());
  };
  for (llvm::Function& f : module)
    for (llvm::Instruction& i : llvm::instructions(f)) {
      if (auto* const load = llvm::dyn_cast<llvm::LoadInst>(&i); load && load->getAlign() == 1)
        load->setAlignment(alignment(load->getType(), is_only_stored(load)));
      if (auto* const store = llvm::dyn_cast<llvm::StoreInst>(&i); store && store->getAlign() == 1)
        store->setAlignment(alignment(store->getValueOperand()->getType(), is_only_stored(store->getValueOperand())));
    }
}

}  // namespace

std::string complete_for_ptx(llvm::Module& module) {
  align_accesses(module);
  if (const std::string function = lacking(module); !function.empty()) {
    if (std::string problem = link_libdevice(module, function); !problem.empty()) return problem;
    if (const std::string still = lacking(module); !still.empty()) return "libdevice has no " + still;
  }
  join_functions(module);
  remove_unused(module);
  return {};
}

}  // namespace ricci::compiled
