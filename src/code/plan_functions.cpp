// Which functions a plan needs.
#include "code/plan_functions.h"

#include "code/stage_function.h"

namespace ricci::compiled {
namespace {

class Writer {
 public:
  Writer(llvm::Module& module, const LanePlan& plan, const Machine& machine)
      : module_(module), plan_(plan), careful_(machine), elementary_(module, plan, machine), machine_(machine) {
    careful_.is_careful = true;
  }
  void once(const std::string& name, std::size_t stage) {
    with_careful(name, [&](const std::string& of, const Machine& machine) {
      StageFunction(module_, of, plan_, machine, elementary_, stage, 1, 1).write_once();
    });
  }
  void lane(const std::string& name, std::size_t stage) {
    with_careful(name, [&](const std::string& of, const Machine& machine) {
      StageFunction function(module_, of, plan_, machine, elementary_, stage, plan_.width, plan_.registers);
      if (plan_.program.turns) function.write_turns();
      else function.write_lanes();
    });
  }
  InPlace in_place(const std::string& name, int inputs) {
    StageFunction function(module_, name, plan_, machine_, elementary_, 0, 1, 1);
    const bool may_be_large = function.write_in_place(inputs);
    return {module_.getFunction(name), may_be_large};
  }
  void join(const std::string& name, std::size_t stage) {
    StageFunction(module_, name, plan_, machine_, elementary_, stage, 1, 1).write_join();
  }

 private:
  template <class Write>
  void with_careful(const std::string& name, const Write& write) {
    write(name, machine_);
    if (machine_.stands_alone() && module_.getFunction(careful_name(name))) write(careful_name(name), careful_);
  }

  llvm::Module& module_;
  const LanePlan& plan_;
  Machine careful_;
  ElementaryFunctions elementary_;
  const Machine& machine_;
};

}  // namespace

std::vector<StageNames> write_functions(llvm::Module& module, const LanePlan& plan, const Machine& machine,
                                        const std::string& prefix) {
  Writer writer(module, plan, machine);
  std::vector<StageNames> all;
  for (std::size_t k = 0; k < plan.stages.size(); ++k) {
    const Stage& stage = plan.stages[k];
    const auto named = [&](const char* kind) { return prefix + kind + std::to_string(k); };
    StageNames& of = all.emplace_back();
    if (stage.has_once()) writer.once(of.once = named("once"), k);
    if (stage.has_lane()) writer.lane(of.lane = named("lane"), k);
    if (stage.has_join()) writer.join(of.join = named("join"), k);
  }
  return all;
}

InPlace write_in_place(llvm::Module& module, const LanePlan& plan, int inputs, const Machine& machine,
                       const std::string& name) {
  return Writer(module, plan, machine).in_place(name, inputs);
}

}  // namespace ricci::compiled
