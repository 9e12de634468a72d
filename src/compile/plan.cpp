// Which stage computes which node.
#include "compile/plan.h"

#include <algorithm>
#include <functional>

namespace ricci::compiled {
namespace {

using Kind = ScalarStep::Kind;
std::size_t at(Node n) { return static_cast<std::size_t>(n); }

/// Read where it is used.
bool is_at_hand(const ScalarStep& s) { return s.kind == Kind::number || s.kind == Kind::input; }
/// In a slot from the beginning.
bool is_given(const ScalarStep& s) { return s.kind == Kind::given; }

}  // namespace

LanePlan planned(LaneProgram from) {
  LanePlan plan{.program = std::move(from), .stages = {}, .is_lane = {}, .slots = {}, .given = {}};
  const ScalarGraph& graph = plan.program.graph;
  const std::size_t count = graph.steps().size();
  plan.is_lane.assign(count, false);
  plan.slots.assign(count, -1);
  std::vector<int> stage(count, 0);
  std::vector<Node> outputs;
  for (const Output& output : plan.program.outputs) outputs.push_back(output.node);
  const std::vector<Node> all = graph.order(outputs);
  int last = 0;
  for (const Node n : all) {
    const ScalarStep& s = graph[n];
    if (s.kind == Kind::input) plan.is_lane[at(n)] = plan.program.inputs[s.payload].place.stride != 0;
    if (s.kind == Kind::lane) plan.is_lane[at(n)] = true;
    for (const Node operand : s.from)
      if (operand != no_node) {
        stage[at(n)] = std::max(stage[at(n)], stage[at(operand)]);
        if (s.kind != Kind::total) plan.is_lane[at(n)] = plan.is_lane[at(n)] || plan.is_lane[at(operand)];
      }
    if (s.kind == Kind::total) ++stage[at(n)];
    last = std::max(last, stage[at(n)]);
  }
  plan.stages.resize(static_cast<std::size_t>(last) + 1);
  const auto keep = [&](Node n) {
    if (plan.slots[at(n)] < 0 && !is_at_hand(graph[n])) plan.slots[at(n)] = plan.slot_count++;
  };
  plan.given.assign(plan.program.givens.size(), -1);
  for (const Node n : all) {
    const ScalarStep& s = graph[n];
    if (is_given(s)) {
      keep(n);
      plan.given[s.payload] = plan.slots[at(n)];
    } else if (s.kind == Kind::total) {
      keep(n);
      plan.stages[static_cast<std::size_t>(stage[at(n)] - 1)].totals.push_back(n);
    } else if (!plan.is_lane[at(n)] && !is_at_hand(s)) {
      plan.stages[static_cast<std::size_t>(stage[at(n)])].once.push_back(n);
    }
  }
  for (const Output& output : plan.program.outputs) {
    Stage& s = plan.stages[static_cast<std::size_t>(stage[at(output.node)])];
    (output.place.stride != 0 ? s.lane_outputs : s.once_outputs).push_back(output);
  }
  for (Stage& s : plan.stages) {
    std::vector<Node> wanted;
    for (const Node n : s.totals) wanted.push_back(graph[n].from[0]);
    for (const Output& output : s.lane_outputs) wanted.push_back(output.node);
    for (const Node n : graph.order(wanted))
      if (plan.is_lane[at(n)]) s.lane.push_back(n);
    for (const Node n : s.lane)
      for (const Node operand : graph[n].from)
        if (operand != no_node && !plan.is_lane[at(operand)]) keep(operand);
    for (const Node n : wanted)
      if (!plan.is_lane[at(n)]) keep(n);
  }
  for (std::size_t k = 0; k < plan.stages.size(); ++k)  // what an earlier stage computes once, a later one reads
    for (const Node n : plan.stages[k].once)
      for (const Node operand : graph[n].from)
        if (operand != no_node && static_cast<std::size_t>(stage[at(operand)]) < k) keep(operand);
  for (std::size_t k = 0; k < plan.stages.size(); ++k)
    for (const Output& output : plan.stages[k].once_outputs)
      if (static_cast<std::size_t>(stage[at(output.node)]) < k) keep(output.node);
  return plan;
}

}  // namespace ricci::compiled
