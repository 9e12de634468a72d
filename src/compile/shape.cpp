// The choice of widths, from a plan alone.
#include "compile/shape.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace ricci::compiled {

namespace {
/// Not a call of the library, as far as whole numbers and simple words of floats go.
bool is_instruction(const ScalarGraph& graph, const ScalarStep& s) {
  if (s.kind != StepKind::word || s.word <= Word::divide || s.word == Word::negative || s.word == Word::fma)
    return true;
  if (s.dtype != DType::int64) return false;
  switch (s.word) {
    case Word::bit_and:
    case Word::bit_or:
    case Word::bit_xor:
    case Word::bit_not: return true;
    case Word::left_shift:
    case Word::right_shift: return graph.is_number(s.from[1]);
    default: return false;
  }
}
}  // namespace

int width_of(const LanePlan& plan, int register_bytes) {
  std::size_t widest = 1, counts[17] = {};
  bool calls = false;  // by a whole register
  const auto for_each_node = [&](const auto& f) {
    for (const Stage& stage : plan.stages)
      for (const std::vector<Node>* const nodes : {&stage.lane, &stage.turn})
        for (const Node n : *nodes) f(n);
  };
  for_each_node([&](Node n) {
    const ScalarStep& s = plan.program.graph[n];
    const CalledFunction* const f = plan.called_by(s);
    counts[element_size(s.dtype)] += f ? f->steps() : 1;
    calls = calls || (!f && !is_instruction(plan.program.graph, s) && element_size(s.dtype) == 8);
  });
  if (!calls && counts[8] < counts[4]) return register_bytes / 4;
  for_each_node([&](Node n) { widest = std::max(widest, element_size(plan.program.graph[n].dtype)); });
  for (const Stage& stage : plan.stages)
    for (const Output& output : stage.lane_outputs)
      widest = std::max(widest, element_size(plan.program.graph[output.node].dtype));
  return std::min(register_bytes / static_cast<int>(widest), register_bytes / 4);
}

int registers_of(const LanePlan& plan, std::size_t most_operations) {
  constexpr double half = 0.5;  // of a cycle, as two operations begin at once
  int registers = 1;
  for (const Stage& stage : plan.stages) {
    const std::vector<Node>& nodes = stage.turn.empty() ? stage.lane : stage.turn;
    // The turns of a loop wait for each other, however short they are.
    if (stage.turn.empty() && nodes.size() < seen_ahead) continue;
    std::unordered_map<Node, double> ready;
    double chain = 0, busy = 0;
    for (const Node n : nodes) {
      const ScalarStep& s = plan.program.graph[n];
      double from = 0;
      for (const Node operand : s.from)
        if (const auto found = ready.find(operand); found != ready.end()) from = std::max(from, found->second);
      const bool is_slow = s.kind == StepKind::word && (s.word == Word::divide || s.word == Word::sqrt);
      const bool is_value = s.kind == StepKind::word || s.kind == StepKind::convert;
      const CalledFunction* const f = plan.called_by(s);
      const double latency = f ? 4 * static_cast<double>(f->steps()) : is_slow ? 16 : is_value ? 4 : 1;
      busy += f ? half * static_cast<double>(f->steps()) : is_slow ? 12 : half;
      chain = std::max(chain, ready[n] = from + latency);
    }
    const double wanted_here = nodes.size() < seen_ahead ? std::ceil(chain / busy) : std::round(chain / busy);
    int wanted = std::clamp(static_cast<int>(wanted_here), 1, 4);
    while (wanted > 1 && nodes.size() * static_cast<std::size_t>(wanted) > most_operations) --wanted;
    registers = std::max(registers, wanted);
  }
  return registers;
}

}  // namespace ricci::compiled
