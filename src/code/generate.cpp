// LLVM code of plans: bytes that the library puts into memory, or an object file, for programs in C. Start with
// `ricci_generate`, then read `StageFunction`.
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <string>
#include <vector>

#include "code/compiler.h"
#include "code/plan_function.h"
#include "code/plan_functions.h"

namespace ricci::compiled {
namespace {

void dump(const llvm::Module& module, const Machine& machine) {
  if (!machine.dump) return;
  llvm::raw_string_ostream text(*machine.dump);
  module.print(text, nullptr);
}

/// Wrong code would give wrong numbers. Empty where nothing is wrong.
std::string what_is_wrong(const llvm::Module& module) {
  std::string wrong;
  llvm::raw_string_ostream reason(wrong);
  return llvm::verifyModule(module, &reason) ? "the code does not verify: " + wrong : std::string();
}

/// Code of what `write(module, machine)` writes into a module. `write` fills in the names of the image's functions, and
/// gives what is wrong, or an empty text.
template <class Write>
void make(Image& image, Machine machine, const Write& write) {
  const Held<llvm::LLVMContext> context;
  const Held<llvm::Module> made_module("code", *context);
  llvm::Module& module = *made_module;
  std::vector<Callee> callees;
  machine.callees = &callees;
  image.error = prepare(module, machine);
  std::vector<std::string> functions;
  if (image.error.empty()) image.error = write(module, machine, functions);
  if (!image.error.empty()) return;
  dump(module, machine);
  image.error = what_is_wrong(module);
  if (image.error.empty()) put_code(module, machine, functions, image);
}

void generate(const LanePlan& plan, const Machine& machine, Image& image) {
  make(image, machine, [&](llvm::Module& module, const Machine& with, std::vector<std::string>& functions) {
    for (const StageNames& of : write_functions(module, plan, with, ""))
      functions.insert(functions.end(), {of.once, of.lane, of.join});
    return std::string();
  });
}

void generate(const FunctionPlan& plan, const Machine& machine, Image& image) {
  make(image, machine, [&](llvm::Module& module, const Machine& with, std::vector<std::string>& functions) {
    functions.push_back(plan.name);
    return write_in_library(module, plan, with);
  });
}

void generate(const FunctionPlan& plan, const Machine& machine, ObjectFile& file) {
  const Held<llvm::LLVMContext> context;
  const Held<llvm::Module> made_module(plan.name, *context);
  llvm::Module& module = *made_module;
  file.error = prepare(module, machine);
  if (!file.error.empty()) return;
  file.error = write_alone(module, plan, machine);
  if (!file.error.empty() || !machine.lacking->empty()) return;
  dump(module, machine);
  file.error = what_is_wrong(module);
  if (file.error.empty()) write_object(module, machine, file);
}

}  // namespace
}  // namespace ricci::compiled

extern "C" void ricci_generate(const ricci::compiled::LanePlan& plan, const ricci::compiled::Machine& machine,
                               ricci::compiled::Image& image) {
  ricci::compiled::generate(plan, machine, image);
}
extern "C" void ricci_export(const ricci::compiled::FunctionPlan& plan, const ricci::compiled::Machine& machine,
                             ricci::compiled::ObjectFile& file) {
  ricci::compiled::generate(plan, machine, file);
}
extern "C" void ricci_generate_plan(const ricci::compiled::FunctionPlan& plan, const ricci::compiled::Machine& machine,
                                    ricci::compiled::Image& image) {
  ricci::compiled::generate(plan, machine, image);
}
