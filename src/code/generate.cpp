// LLVM code of lane plans: in memory, for the library, or in an object file, for programs in C. Start with
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

/// Code in memory of what `write(module)` writes into a module. `write` gives what is wrong, or an empty text; `code`
/// gets the pages, or the error; `take(made)` takes the addresses.
template <class C, class Write, class Take>
void put_in_memory(C& code, const Machine& machine, const Write& write, const Take& take) {
  const Held<llvm::LLVMContext> context;
  const Held<llvm::Module> made_module("code", *context);
  llvm::Module& module = *made_module;
  code.error = prepare(module, machine);
  if (code.error.empty()) code.error = write(module);
  if (!code.error.empty()) return;
  dump(module, machine);
  code.error = what_is_wrong(module);
  if (!code.error.empty()) return;
  MachineCode made = machine_code(module, machine);
  code.error = made.error;
  if (!code.error.empty()) return;
  take(made);
  code.owner = made.pages.release();
  code.release = [](void* owner) { delete static_cast<Pages*>(owner); };
}

void generate(const LanePlan& plan, const Machine& machine, Code& code) {
  code.width = lanes_together(plan, machine);
  if (machine.measures_only) return;
  std::vector<StageNames> functions;
  const auto write = [&](llvm::Module& module) {
    functions = write_functions(module, plan, machine, "");
    return std::string();
  };
  put_in_memory(code, machine, write, [&](const MachineCode& made) {
    for (const StageNames& of : functions)
      code.stages.push_back({reinterpret_cast<OnceFunction>(made.address(of.once)),
                             reinterpret_cast<LaneFunction>(made.address(of.lane)),
                             reinterpret_cast<JoinFunction>(made.address(of.join))});
  });
}

void generate(const FunctionPlan& plan, const Machine& machine, PlanCode& code) {
  const auto write = [&](llvm::Module& module) { return write_in_library(module, plan, machine); };
  put_in_memory(code, machine, write, [&](const MachineCode& made) {
    code.run = reinterpret_cast<decltype(code.run)>(made.address(plan.name));
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
                               ricci::compiled::Code& code) {
  ricci::compiled::generate(plan, machine, code);
}
extern "C" void ricci_export(const ricci::compiled::FunctionPlan& plan, const ricci::compiled::Machine& machine,
                             ricci::compiled::ObjectFile& file) {
  ricci::compiled::generate(plan, machine, file);
}
extern "C" void ricci_generate_plan(const ricci::compiled::FunctionPlan& plan, const ricci::compiled::Machine& machine,
                                    ricci::compiled::PlanCode& code) {
  ricci::compiled::generate(plan, machine, code);
}
