// The order of work of a lane program: what is computed once, what in every lane, and which totals of the lanes stand
// between. Plain data, like the graph. Start with `LanePlan`.
#pragma once

#include <algorithm>

#include "compile/expansion.h"

namespace ricci::compiled {

/// First what serves all lanes, then all lanes, then the totals of all lanes, which later stages read.
struct Stage {
  std::vector<Node> once;  ///< computed once, operands first
  std::vector<Output> once_outputs;
  std::vector<Node> lane;  ///< computed in every lane; what serves all lanes is read
  std::vector<Node> turn;  ///< of a program with turns: computed in every lane at each turn
  std::vector<Output> lane_outputs;
  std::vector<Node> totals;  ///< of nodes in `lane`

  // Which functions its code has.
  bool has_once() const { return !once.empty() || !once_outputs.empty(); }
  bool has_lane() const { return !totals.empty() || !lane_outputs.empty(); }
  bool has_join() const { return !totals.empty(); }
};

/// An elementary function that a plan's code calls, because it stands there too often to be spelled out each time.
struct CalledFunction {
  DType dtype;
  std::vector<Word> words;  ///< sin and cos come together
  LaneProgram program;      ///< one input; a result for each word

  std::size_t steps() const { return program.graph.steps().size(); }
};

/// Of a loop in lanes: lanes that are done are given the next examples while others go on, where that pays.
/// Code looks whether it does after some turns, then after twice as many, and so on.
struct Refill {
  std::int64_t most_turns, fewest_turns;  ///< from one look to the next: at most, and after lanes were filled
  std::int64_t of_turn, of_all, of_lane;  ///< time of a turn of all lanes, of filling any, and of each one filled
};

struct LanePlan {
  LaneProgram program;
  std::vector<Stage> stages;
  std::vector<bool> is_lane;  ///< by node: whether it differs by lane, or by turn
  std::vector<bool> is_turn;  ///< by node, of a program with turns: whether it differs by turn
  std::vector<int> slots;     ///< by node: where a value is kept for later functions; -1: nowhere
  std::vector<int> given;     ///< by the program's givens: their slots; -1: not read
  int slot_count = 1;         ///< the first is not a node's
  int width = 1;              ///< lanes in a register
  int registers = 1;          ///< of lanes that code computes side by side
  std::vector<CalledFunction> functions = {};
  std::optional<Refill> refill = {};  ///< none: lanes that are done wait for the others
  bool walks = false;                 ///< code of lanes goes from one position of an outer range to the next by itself

  int lanes_together() const { return width * registers; }
  std::size_t steps() const {
    std::size_t steps = 0;
    for (const Stage& stage : stages) steps += stage.once.size() + stage.lane.size() + stage.turn.size();
    return steps;
  }
  /// Scalar operations of these nodes, with those of the functions that they call.
  double operations(const std::vector<Node>& nodes) const;
  /// The function that stands for a word; null: the word is an instruction, or a call of the library.
  const CalledFunction* function_of(Word word, DType dtype) const;
  const CalledFunction* called_by(const ScalarStep& s) const;
};

// Inline, as the generator of machine code calls them too, which does not see the library's symbols.
inline const CalledFunction* LanePlan::function_of(Word word, DType dtype) const {
  const auto found = std::ranges::find_if(functions, [&](const CalledFunction& f) {
    return f.dtype == dtype && std::ranges::find(f.words, word) != f.words.end();
  });
  return found == functions.end() ? nullptr : &*found;
}
inline double LanePlan::operations(const std::vector<Node>& nodes) const {
  auto count = static_cast<double>(nodes.size());
  for (const Node n : nodes)
    if (const CalledFunction* const f = called_by(program.graph[n])) count += static_cast<double>(f->steps());
  return count;
}
inline const CalledFunction* LanePlan::called_by(const ScalarStep& s) const {
  return s.kind == StepKind::word && !functions.empty() ? function_of(s.word, s.dtype) : nullptr;
}

/// Where fewer lanes than a register has stand in copies that fill one: the offset of each tensor's copy, in bytes; -1
/// where a tensor has no lanes.
struct FilledCopies {
  std::vector<std::int64_t> in, out;
  std::int64_t bytes = 0;
};
FilledCopies filled_copies(const LaneProgram& program, std::size_t inputs, int width);

LanePlan planned(LaneProgram program);
/// Its elementary functions are taken apart (lowering.h), or called where that makes the code much shorter: a compiler
/// takes its time for each operation. `lanes`: how many there are in any call; 0: any number. Several registers of
/// lanes side by side have at most so many operations together.
LanePlan planned_for_code(const LaneProgram& program, std::int64_t lanes = 0, std::size_t most_operations = SIZE_MAX,
                          const Target& target = this_machine());

}  // namespace ricci::compiled
