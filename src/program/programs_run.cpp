// What the programs of a loop read each time.
#include "program/programs_run.h"

namespace ricci {

SmallVector<Repeated, 3> repeated_programs(const Rules& rules, const void* parameters) {
  const ProgramsRun run = programs_run(rules, parameters);
  SmallVector<Repeated, 3> all;
  if (const auto* const turns = std::get_if<Turns>(&run)) {
    if (turns->condition) all.push_back({turns->condition, turns->state, turns->read_by_condition});
    all.push_back({turns->body, turns->state + turns->rows + turns->streams, turns->read_by_body});
  }
  const auto* const passes = std::get_if<Passes>(&run);
  if (!passes) return all;
  std::size_t operand = 0;
  const auto add = [&](const Program* program, std::size_t first_input) {
    all.push_back({program, first_input, operand});
    operand += program->inputs() - first_input;
  };
  for (const Passes::Pass& pass : passes->all) {
    operand += pass.state + pass.streams;
    if (all.empty()) add(passes->condition, pass.state);
    add(pass.body, pass.state + pass.reads.size() + pass.streams);
  }
  return all;
}

}  // namespace ricci
