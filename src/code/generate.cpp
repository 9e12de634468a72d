// LLVM code of lane plans. One register holds the same value of neighbouring lanes. Code that is computed once for all
// lanes works on single elements, by the same words. Start with `ricci_generate`, then read `StageFunction`.
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <string>
#include <vector>

#include "code/compiler.h"
#include "code/shape.h"
#include "code/stage_function.h"

namespace ricci::compiled {
namespace {

struct Names {
  std::string once, lane, join;  // empty: the stage has no such function
};

/// All functions of a plan, in one module.
std::vector<Names> write(llvm::Module& module, const LanePlan& plan, const Machine& machine, Code& code) {
  const int width = plan.program.has_lanes ? width_of(plan, machine.register_bytes) : 1;
  const int registers = plan.program.has_lanes ? registers_of(plan) : 1;
  code.width = width * registers;
  ElementaryFunctions elementary(module, plan, machine);
  std::vector<Names> names;
  for (std::size_t k = 0; k < plan.stages.size(); ++k) {
    const Stage& stage = plan.stages[k];
    const std::string number = std::to_string(k);
    Names& of = names.emplace_back();
    if (!stage.once.empty() || !stage.once_outputs.empty())
      StageFunction(module, of.once = "once" + number, plan, machine, elementary, k, 1, 1).write_once();
    if (!stage.totals.empty() || !stage.lane_outputs.empty())
      StageFunction(module, of.lane = "lane" + number, plan, machine, elementary, k, width, registers).write_lanes();
    if (!stage.totals.empty())
      StageFunction(module, of.join = "join" + number, plan, machine, elementary, k, 1, 1).write_join();
  }
  return names;
}

void generate(const LanePlan& plan, const Machine& machine, Code& code) {
  const Held<llvm::LLVMContext> context;
  const Held<llvm::Module> made_module("lanes", *context);
  llvm::Module& module = *made_module;
  code.error = prepare(module);
  if (!code.error.empty()) return;
  const std::vector<Names> names = write(module, plan, machine, code);
  if (machine.dump) {
    llvm::raw_string_ostream text(*machine.dump);
    module.print(text, nullptr);
  }
  std::string wrong;  // wrong code would give wrong numbers
  llvm::raw_string_ostream reason(wrong);
  if (llvm::verifyModule(module, &reason)) {
    code.error = "the code does not verify: " + wrong;
    return;
  }
  MachineCode made = machine_code(module);
  code.error = made.error;
  if (!code.error.empty()) return;
  for (const Names& of : names)
    code.stages.push_back({reinterpret_cast<OnceFunction>(made.address(of.once)),
                           reinterpret_cast<LaneFunction>(made.address(of.lane)),
                           reinterpret_cast<JoinFunction>(made.address(of.join))});
  code.owner = made.pages.release();
  code.release = [](void* owner) { delete static_cast<Pages*>(owner); };
}

}  // namespace
}  // namespace ricci::compiled

extern "C" void ricci_generate(const ricci::compiled::LanePlan& plan, const ricci::compiled::Machine& machine,
                               ricci::compiled::Code& code) {
  ricci::compiled::generate(plan, machine, code);
}
