// The order of work of a lane program: what is computed once, what in every lane, and which totals of the lanes stand
// between. Plain data, like the graph. Start with `LanePlan`.
#pragma once

#include "compile/expansion.h"

namespace ricci::compiled {

/// First what serves all lanes, then all lanes, then the totals of all lanes, which later stages read.
struct Stage {
  std::vector<Node> once;  ///< computed once, operands first
  std::vector<Output> once_outputs;
  std::vector<Node> lane;  ///< computed in every lane; what serves all lanes is read
  std::vector<Output> lane_outputs;
  std::vector<Node> totals;  ///< of nodes in `lane`
};

struct LanePlan {
  LaneProgram program;
  std::vector<Stage> stages;
  std::vector<bool> is_lane;  ///< by node: whether it differs by lane
  std::vector<int> slots;     ///< by node: where a value is kept for later functions; -1: nowhere
  std::vector<int> given;     ///< by the program's givens: their slots; -1: not read
  int slot_count = 1;         ///< the first is not a node's
};

LanePlan planned(LaneProgram program);

}  // namespace ricci::compiled
