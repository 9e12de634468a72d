// One compiler a thread, and a linker for objects in memory: sessions, symbol tables and threads of LLVM's larger
// linkers cost more than the code of a small plan.
#include "code/compiler.h"

#include <llvm/BinaryFormat/ELF.h>
#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/ExecutionEngine/RuntimeDyld.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>

#include "code/ptx.h"
#include "code/words.h"

namespace ricci::compiled {
namespace {

std::size_t aligned(std::size_t place, std::size_t alignment) {
  const std::size_t to = std::max<std::size_t>(alignment, 1);
  return (place + to - 1) / to * to;
}

}  // namespace

void Sections::reserveAllocationSpace(std::uintptr_t code, llvm::Align, std::uintptr_t read, llvm::Align,
                                      std::uintptr_t written, llvm::Align) {
  static const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  code_bytes_ = aligned(code, page);
  const std::size_t bytes = code_bytes_ + aligned(read + written, page);
  memory_.reset(static_cast<std::uint8_t*>(std::aligned_alloc(page, bytes)));
  if (memory_) std::memset(memory_.get(), 0, bytes);
  next_data_ = code_bytes_;
}

std::uint8_t* Sections::allocateCodeSection(std::uintptr_t size, unsigned alignment, unsigned, llvm::StringRef) {
  const std::size_t place = aligned(next_code_, alignment);
  next_code_ = place + size;
  return memory_ ? memory_.get() + place : nullptr;
}
std::uint8_t* Sections::allocateDataSection(std::uintptr_t size, unsigned alignment, unsigned, llvm::StringRef, bool) {
  const std::size_t place = aligned(next_data_, alignment);
  next_data_ = place + size;
  return memory_ ? memory_.get() + place : nullptr;
}

namespace {

bool knows_this_machine() {
  static const bool is_known = !llvm::InitializeNativeTarget() && !llvm::InitializeNativeTargetAsmPrinter();
  return is_known;
}
/// The processors of targets, as far as LLVM was built with them and CMake's RICCI_LLVM_TARGETS lists them.
void know_others() {
#define RICCI_KNOW(name)                                                                                \
  LLVMInitialize##name##TargetInfo(), LLVMInitialize##name##Target(), LLVMInitialize##name##TargetMC(), \
      LLVMInitialize##name##AsmPrinter()
#if LLVM_HAS_X86_TARGET && defined(RICCI_LLVM_X86)
  RICCI_KNOW(X86);
#endif
#if LLVM_HAS_AARCH64_TARGET && defined(RICCI_LLVM_AArch64)
  RICCI_KNOW(AArch64);
#endif
#if LLVM_HAS_NVPTX_TARGET && defined(RICCI_LLVM_NVPTX)
  RICCI_KNOW(NVPTX);
#endif
#undef RICCI_KNOW
}

llvm::Expected<llvm::orc::JITTargetMachineBuilder> target_builder(const Machine& of) {
  if (of.triple) know_others();
  else if (!knows_this_machine())
    return llvm::make_error<llvm::StringError>("LLVM does not know this machine", llvm::inconvertibleErrorCode());
  if (!of.processor) return llvm::orc::JITTargetMachineBuilder::detectHost();
  llvm::orc::JITTargetMachineBuilder builder{llvm::Triple(of.triple ? of.triple : llvm::sys::getProcessTriple())};
  builder.setCPU(of.processor);
  return builder;
}

/// This thread's. Null, with the reason, where LLVM knows no code for it.
std::unique_ptr<llvm::TargetMachine>& target(const Machine& of, std::string& error) {
  const auto name = [](const char* x) { return std::string_view(x ? x : ""); };
  thread_local std::map<std::pair<std::string_view, std::string_view>, std::unique_ptr<llvm::TargetMachine>> machines;
  std::unique_ptr<llvm::TargetMachine>& machine = machines[{name(of.triple), name(of.processor)}];
  if (machine) return machine;
  auto builder = target_builder(of);
  if (!builder) return error = llvm::toString(builder.takeError()), machine;
  // Where a function returns, LLVM would clear the upper halves of registers, also of those that the function keeps for
  // its caller. Instead, `clear_upper_halves` is called wherever code of others goes on.
  if (builder->getTargetTriple().isX86()) builder->addFeatures({"-vzeroupper"});
  builder->getOptions().AllowFPOpFusion = llvm::FPOpFusion::Strict;
  const std::string triple = builder->getTargetTriple().str();
  const llvm::Target* const known = llvm::TargetRegistry::lookupTarget(triple, error);
  if (known)
    machine.reset(known->createTargetMachine(triple, builder->getCPU(), builder->getFeatures().getString(),
                                             builder->getOptions(), llvm::Reloc::PIC_, llvm::CodeModel::Small,
                                             llvm::CodeGenOptLevel::Less));
  else if (of.triple)
    error = "this build of the library makes no code for " + llvm::Triple(triple).getArchName().str() +
            "; take the target \"c\", whose text any compiler takes, or build the library with LLVM's name of that "
            "processor in RICCI_LLVM_TARGETS";
  return machine;
}

}  // namespace

std::string prepare(llvm::Module& module, const Machine& machine) {
  std::string error;
  if (const auto& made = target(machine, error)) {
    module.setDataLayout(made->createDataLayout());
    module.setTargetTriple(made->getTargetTriple().str());
  }
  return error;
}

namespace {

/// LLVM's scheduler looks at each pair of accesses to memory. Where a function of the module has many it takes half of
/// the time that code takes to be made, and gains nothing (the Jacobian of bundle adjustment, on a Zen 4); where all
/// have few it makes code up to 9 % faster (sixteen normal draws and their exponentials).
bool is_worth_scheduling(const llvm::Module& module) {
  constexpr std::ptrdiff_t few = 100;
  const auto accesses = [](const llvm::Function& f) {
    return std::ranges::count_if(llvm::instructions(f), [](const auto& i) { return i.mayReadOrWriteMemory(); });
  };
  return std::ranges::all_of(module, [&](const llvm::Function& f) { return accesses(f) <= few; });
}

/// The module as an object file, or as text in PTX; empty, where LLVM knows no way.
llvm::SmallVector<char, 0> object_of(llvm::Module& module, llvm::LLVMTargetMachine& machine) {
  const auto type =
      machine.getTargetTriple().isNVPTX() ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile;
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  const Held<llvm::legacy::PassManager> passes;
  // addPassesToEmitFile written out, since it lets nobody leave out a pass.
  llvm::TargetPassConfig* const config = machine.createPassConfig(*passes);
  auto* const functions = new llvm::MachineModuleInfoWrapperPass(&machine);
  config->setDisableVerify(true);  // the module is verified
  // It moves what one later block alone reads behind all that is computed between: then thousands of values wait.
  config->disablePass(&llvm::MachineSinkingID);
  if (!is_worth_scheduling(module)) config->disablePass(&llvm::MachineSchedulerID);
  passes->add(config);
  passes->add(functions);
  if (config->addISelPasses()) return bytes;
  config->addMachinePasses();
  config->setInitialized();
  llvm::MCContext& context = functions->getMMI().getContext();
  if (machine.addAsmPrinter(*passes, out, nullptr, type, context)) return bytes;
  passes->add(llvm::createFreeMachineFunctionPass());
  passes->run(module);
  return bytes;
}

/// By this thread's compiler. Empty, with the reason, where LLVM knows no way.
llvm::SmallVector<char, 0> object_of(llvm::Module& module, const Machine& machine, std::string& error) {
  auto& made = target(machine, error);
  if (!made) return {};
  try {
    llvm::SmallVector<char, 0> bytes = object_of(module, static_cast<llvm::LLVMTargetMachine&>(*made));
    if (bytes.empty()) error = "LLVM writes no object files for this machine";
    return bytes;
  } catch (...) {  // memory ran out inside LLVM
    static_cast<void>(made.release());
    throw;
  }
}

/// Where a processor has no instruction, LLVM calls a function. Empty where C's library has all of these.
std::string called_beyond_c(const llvm::Module& module, llvm::StringRef bytes) {
  static constexpr llvm::StringLiteral of_c[] = {"fma", "fmaf", "memcpy", "memmove", "memset"};
  auto object = llvm::object::ObjectFile::createObjectFile({bytes, module.getName()});
  if (!object) return llvm::toString(object.takeError());
  for (const llvm::object::SymbolRef& symbol : (*object)->symbols()) {
    const bool is_called = (llvm::cantFail(symbol.getFlags()) & llvm::object::SymbolRef::SF_Undefined) != 0;
    const llvm::StringRef name = llvm::cantFail(symbol.getName());
    const bool is_known = name.empty() || module.getNamedValue(name) || llvm::is_contained(of_c, name);
    if (is_called && !is_known) return name.str();
  }
  return {};
}

}  // namespace

void write_object(llvm::Module& module, const Machine& machine, ObjectFile& file) {
  const bool is_ptx = llvm::Triple(module.getTargetTriple()).isNVPTX();
  if (is_ptx) file.error = complete_for_ptx(module);
  if (!file.error.empty()) return;
  const llvm::SmallVector<char, 0> bytes = object_of(module, machine, file.error);
  if (!file.error.empty()) return;
  file.bytes.assign(bytes.begin(), bytes.end());
  file.processor = target(machine, file.error)->getTargetCPU().str();
  if (is_ptx) return;
  if (const std::string name = called_beyond_c(module, file.bytes); !name.empty())
    file.error = "code for " + file.processor + " calls " + name +
                 ", which is no function of C's library: the processor has no such instruction (of float16, mostly); "
                 "take another target";
}

namespace {

/// Whether all that refers to other places does so by how far they are, and nothing is called but what stands in holes.
/// Where LLVM calls a function of C by itself, the function's address stands in the code.
bool runs_anywhere(const llvm::object::ObjectFile& object) {
  if (object.getArch() != llvm::Triple::x86_64) return false;
  for (const llvm::object::SectionRef& section : object.sections())
    for (const llvm::object::RelocationRef& relocation : section.relocations()) {
      const auto symbol = relocation.getSymbol();
      const bool is_near =
          relocation.getType() == llvm::ELF::R_X86_64_PC32 || relocation.getType() == llvm::ELF::R_X86_64_PLT32;
      if (!is_near || symbol == object.symbol_end()) return false;
      const std::uint32_t flags = llvm::cantFail(symbol->getFlags());  // LLVM has just written the object
      if ((flags & llvm::object::SymbolRef::SF_Undefined) != 0) return false;
    }
  return true;
}

}  // namespace

void put_code(llvm::Module& module, const Machine& machine, const std::vector<std::string>& functions, Image& image) {
  llvm::SmallVector<char, 0> bytes = object_of(module, machine, image.error);
  if (!image.error.empty()) return;
  const llvm::SmallVectorMemoryBuffer buffer(std::move(bytes), false);
  auto object = llvm::object::ObjectFile::createObjectFile(buffer.getMemBufferRef());
  if (!object) {
    image.error = llvm::toString(object.takeError());
    return;
  }
  Sections sections;
  llvm::RuntimeDyld linker(sections, sections);
  linker.loadObject(**object);
  linker.resolveRelocations();
  if (linker.hasError()) {
    image.error = linker.getErrorString().str();
    return;
  }
  const auto offset = [&](const std::string& name) { return sections.offset(linker.getSymbol(name).getAddress()); };
  image.bytes = sections.bytes();
  image.code_bytes = sections.code_bytes();
  image.is_for_all_processes = runs_anywhere(**object);
  for (const std::string& name : functions)
    image.functions.push_back(name.empty() ? -1 : static_cast<std::int64_t>(offset(name)));
  for (std::size_t k = 0; k < machine.callees->size(); ++k)
    image.holes.push_back({(*machine.callees)[k], offset(name_of_hole(k))});
}

}  // namespace ricci::compiled
