// LLVM code of lane plans. One register holds the same value of neighbouring lanes. Code that is computed once for all
// lanes works on single elements, by the same words. Start with `ricci_generate`, then read `StageFunction`.
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <array>
#include <atomic>
#include <memory>

#include "code/session.h"
#include "code/shape.h"
#include "code/stage_function.h"

namespace ricci::compiled {
namespace {

namespace orc = llvm::orc;

void generate(const LanePlan& plan, const Machine& machine, Code& code) {
  orc::LLJIT* const jit = session(code.error);
  if (!jit) return;
  static std::atomic<std::uint64_t> kernels{0};
  const std::string prefix = "lanes" + std::to_string(kernels++) + "_";
  auto context = std::make_unique<llvm::LLVMContext>();
  auto module = std::make_unique<llvm::Module>(prefix, *context);
  module->setDataLayout(jit->getDataLayout());
  module->setTargetTriple(jit->getTargetTriple().str());
  const int width = plan.program.has_lanes ? width_of(plan, machine.register_bytes) : 1;
  const int registers = plan.program.has_lanes ? registers_of(plan) : 1;
  code.width = width * registers;
  std::vector<std::array<std::string, 3>> names;
  for (std::size_t k = 0; k < plan.stages.size(); ++k) {
    const Stage& stage = plan.stages[k];
    auto& name = names.emplace_back();
    const std::string number = std::to_string(k);
    if (!stage.once.empty() || !stage.once_outputs.empty())
      StageFunction(*module, name[0] = prefix + "once" + number, plan, machine, k, 1, 1).write_once();
    if (!stage.totals.empty() || !stage.lane_outputs.empty())
      StageFunction(*module, name[1] = prefix + "lane" + number, plan, machine, k, width, registers).write_lanes();
    if (!stage.totals.empty())
      StageFunction(*module, name[2] = prefix + "join" + number, plan, machine, k, 1, 1).write_join();
  }
  if (machine.dump) {
    llvm::raw_string_ostream text(*machine.dump);
    module->print(text, nullptr);
  }
#ifndef NDEBUG
  if (llvm::verifyModule(*module, &llvm::errs())) {
    code.error = "the code does not verify";
    return;
  }
#endif
  auto tracker = jit->getMainJITDylib().createResourceTracker();
  if (llvm::Error failed = jit->addIRModule(tracker, {std::move(module), std::move(context)})) {
    code.error = llvm::toString(std::move(failed));
    return;
  }
  const auto address = [&](const std::string& name) -> std::uint64_t {
    if (name.empty() || !code.error.empty()) return 0;
    auto found = jit->lookup(name);
    if (found) return found->getValue();
    code.error = llvm::toString(found.takeError());
    return 0;
  };
  for (const auto& name : names)
    code.stages.push_back({reinterpret_cast<OnceFunction>(address(name[0])),
                           reinterpret_cast<LaneFunction>(address(name[1])),
                           reinterpret_cast<JoinFunction>(address(name[2]))});
  code.owner = new orc::ResourceTrackerSP(std::move(tracker));
  code.release = [](void* owner) {
    const std::unique_ptr<orc::ResourceTrackerSP> kept(static_cast<orc::ResourceTrackerSP*>(owner));
    llvm::consumeError((*kept)->remove());
  };
}

}  // namespace
}  // namespace ricci::compiled

extern "C" void ricci_generate(const ricci::compiled::LanePlan& plan, const ricci::compiled::Machine& machine,
                               ricci::compiled::Code& code) {
  ricci::compiled::generate(plan, machine, code);
}
