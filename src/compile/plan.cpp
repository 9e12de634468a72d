// Which stage computes which node.
#include "compile/plan.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <set>
#include <utility>

#include "compile/costs.h"
#include "compile/lowering.h"
#include "compile/shape.h"
#include "compile/words.h"
#include "tensor/at.h"

namespace ricci::compiled {
namespace {

/// Read where it is used.
bool is_at_hand(const ScalarStep& s) { return s.kind == StepKind::number || s.kind == StepKind::input; }
/// In a slot from the beginning.
bool is_given(const ScalarStep& s) { return s.kind == StepKind::given; }

}  // namespace

namespace {

/// What is the same at each turn is computed before.
LanePlan planned_turns(LaneProgram from) {
  LanePlan plan{.program = std::move(from), .stages = {}, .is_lane = {}, .is_turn = {}, .slots = {}, .given = {}};
  const ScalarGraph& graph = plan.program.graph;
  const LaneTurns& turns = *plan.program.turns;
  plan.is_lane.assign(graph.steps().size(), false);
  plan.is_turn = plan.is_lane;
  plan.slots.assign(graph.steps().size(), -1);
  plan.given.assign(plan.program.givens.size(), -1);
  for (std::size_t k = 0; k < plan.given.size(); ++k) plan.given[k] = plan.slot_count++;
  std::vector<bool> is_state(plan.program.inputs.size());
  for (const int input : turns.state_of_output)
    if (input >= 0) is_state[static_cast<std::size_t>(input)] = true;
  std::vector<Node> outputs;
  for (const Output& output : plan.program.outputs) outputs.push_back(output.node);
  Stage& stage = plan.stages.emplace_back();
  for (const Node n : graph.order(outputs)) {
    const ScalarStep& s = graph[n];
    bool is_turn = false, is_lane = false;
    if (s.kind == StepKind::input) {
      const Place& place = plan.program.inputs[s.payload].place;
      is_turn = is_state[s.payload] || turns.in_rows[static_cast<std::size_t>(place.tensor)].is_stack();
      is_lane = place.stride != 0;
    }
    for (const Node operand : s.from) {
      if (operand == no_node) continue;
      is_turn = is_turn || plan.is_turn[at(operand)];
      is_lane = is_lane || plan.is_lane[at(operand)];
    }
    plan.is_turn[at(n)] = is_turn;
    plan.is_lane[at(n)] = is_turn || is_lane;
    if (is_at_hand(s)) continue;
    if (is_given(s)) plan.slots[at(n)] = plan.given[s.payload];
    else if (is_turn) stage.turn.push_back(n);
    else (is_lane ? stage.lane : stage.once).push_back(n);
  }
  for (std::size_t n = 0; n < graph.steps().size(); ++n) {  // a state that no turn reads, too
    const ScalarStep& s = graph.steps()[n];
    if (s.kind == StepKind::input && is_state[s.payload]) plan.is_turn[n] = plan.is_lane[n] = true;
  }
  for (const Node n : stage.once) plan.slots[at(n)] = plan.slot_count++;
  stage.lane_outputs = plan.program.outputs;
  return plan;
}

}  // namespace

LanePlan planned(LaneProgram from) {
  if (from.turns) return planned_turns(std::move(from));
  LanePlan plan{.program = std::move(from), .stages = {}, .is_lane = {}, .is_turn = {}, .slots = {}, .given = {}};
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
    if (s.kind == StepKind::input) plan.is_lane[at(n)] = plan.program.inputs[s.payload].place.stride != 0;
    if (s.kind == StepKind::lane) plan.is_lane[at(n)] = true;
    for (const Node operand : s.from)
      if (operand != no_node) {
        stage[at(n)] = std::max(stage[at(n)], stage[at(operand)]);
        if (s.kind != StepKind::total) plan.is_lane[at(n)] = plan.is_lane[at(n)] || plan.is_lane[at(operand)];
      }
    if (s.kind == StepKind::total) ++stage[at(n)];
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
    } else if (s.kind == StepKind::total) {
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

FilledCopies filled_copies(const LaneProgram& program, std::size_t inputs, int width) {
  assert(program.rows < 0);  // strides that only a call knows are none to reckon with
  FilledCopies copies;
  std::vector<std::int64_t> in(inputs, 0), out(program.output_dtypes.size(), 0);  // bytes of each copy
  const auto reach = [&](std::vector<std::int64_t>& bytes, const Place& p, DType dtype) {
    if (p.stride == 0) return;
    const std::int64_t elements = p.first(width) + (width - 1) * p.stride + 1;
    std::int64_t& of = bytes[static_cast<std::size_t>(p.tensor)];
    of = std::max(of, elements * static_cast<std::int64_t>(element_size(dtype)));
  };
  for (const Input& input : program.inputs) reach(in, input.place, input.dtype);
  for (const Output& output : program.outputs)
    reach(out, output.place, program.output_dtypes[static_cast<std::size_t>(output.place.tensor)]);
  const auto place = [&](const std::vector<std::int64_t>& bytes, std::vector<std::int64_t>& offsets) {
    for (const std::int64_t of : bytes) {
      offsets.push_back(of > 0 ? copies.bytes : -1);
      copies.bytes += (of + 63) / 64 * 64;
    }
  };
  place(in, copies.in);
  place(out, copies.out);
  return copies;
}

// ── elementary functions ──

namespace {

std::size_t steps_of(const LaneProgram& program) {
  std::vector<Node> outputs;
  for (const Output& output : program.outputs) outputs.push_back(output.node);
  return program.graph.order(outputs).size();
}

/// The word, with its companion, of one argument. None where lowering leaves the word as it is.
std::optional<CalledFunction> function_for(Word word, DType dtype) {
  const bool turns = word == Word::sin || word == Word::cos;
  CalledFunction f{dtype, turns ? std::vector{Word::sin, Word::cos} : std::vector{word}, {}};
  f.program.inputs = {{dtype, {0, 0, 0, 1}}};
  f.program.has_lanes = true;
  const Node x = f.program.graph.input(0, dtype);
  for (const Word each : f.words) {
    f.program.outputs.push_back({f.program.graph.word(each, x), {static_cast<int>(f.program.outputs.size()), 0, 0, 1}});
    f.program.output_dtypes.push_back(dtype);
  }
  f.program = lowered(f.program);
  for (Output& output : f.program.outputs) {
    const ScalarStep& s = f.program.graph[output.node];
    if (turns) output.node = s.from[1];  // the formula alone
    if (output.node == no_node || (!turns && s.word == word)) return std::nullopt;
  }
  return f;
}

/// One for each elementary function that can be taken apart.
std::vector<CalledFunction> functions_of(const LaneProgram& program) {
  LanePlan known;
  std::set<std::pair<Word, DType>> seen;
  for (const ScalarStep& s : program.graph.steps()) {
    const bool is_function = s.kind == StepKind::word && operands_of(s.word) == 1 && !scalar::is_test(s.word);
    const bool is_new = is_function && seen.emplace(s.word, s.dtype).second;
    if (!is_new || known.function_of(s.word, s.dtype)) continue;
    if (auto f = function_for(s.word, s.dtype)) known.functions.push_back(std::move(*f));
  }
  return std::move(known.functions);
}

}  // namespace

LanePlan planned_for_code(const LaneProgram& program, std::int64_t lanes, std::size_t most_operations,
                          const Target& target) {
  constexpr std::size_t few = 500;
  if (target.writes_c()) return planned(program);
  LaneProgram apart = lowered(program);
  const std::size_t steps = steps_of(apart);
  const bool stays_whole = steps > few && steps >= 2 * steps_of(program);
  LanePlan plan = planned(stays_whole ? program : std::move(apart));
  if (stays_whole) plan.functions = functions_of(program);
  if (plan.program.has_lanes && !target.is_scalar()) {
    plan.width = width_of(plan, target.register_bytes);
    while (lanes > 0 && lanes < plan.width) plan.width /= 2;
    plan.registers = registers_of(plan, most_operations);
    if (lanes > 0) plan.registers = std::clamp(static_cast<int>(lanes / plan.width), 1, plan.registers);
  }
  if (!target.is_scalar()) plan.refill = refill_of(plan);
  return plan;
}

}  // namespace ricci::compiled
