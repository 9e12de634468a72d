// Loops of functions without C++ types, and their state: what the user sees of it, and what a loop carries beside.
#pragma once

#include <functional>
#include <utility>

#include "control/checks.h"
#include "control/recording.h"
#include "ricci/tensor.h"
#include "ricci/tree/any.h"

namespace ricci::runs {

/// A tree. Tensors that a loop has no use for are undefined.
struct LoopState {
  Tensor index = {}, end = {};  // of fori_loop
  tree::AnyTree users = {};     // errors name places in it, and it holds all values that are no Tensors
  Tensor answer = {};           // of the condition, where segments keep it
  Tensor steps = {};            // that a segment has taken
};

ErasedTree erased(LoopState& state);

/// A loop, of functions of its state. The condition may write to the state that it is given.
struct Loop {
  const char* name;
  std::function<Tensor(const LoopState&)> goes_on;
  std::function<LoopState(LoopState)> step;
  LoopOptions options;
  bool is_written_down = false;  // as programs, which capture nothing: written down again, it would be the same
};
/// The user's part of the state after the loop. Requires: with checkpoints, the loop's functions own what they call.
tree::AnyTree run_loop(const Loop& loop, LoopState state);

/// Numbers in a state get the dtypes that the first step gives them: the step is written down for its types alone.
void take_dtypes_of_step(const char* name, LoopState& state, const std::function<LoopState(LoopState)>& step);

/// A recorded step keeps the state's types, and the values that are no Tensors.
void require_same_after_step(const char* name, const LoopState& before, const LoopState& after);

using ScanStep = std::function<std::pair<LoopState, tree::AnyTree>(LoopState carry, tree::AnyTree slice)>;

/// The scan as one operation of the program that is being recorded. `slice` is like one of those of xs.
std::pair<LoopState, tree::AnyTree> record_scan(const char* name, const ScanStep& step, LoopState carry,
                                                const tree::AnyTree& xs, const tree::AnyTree& slice,
                                                const ScanSteps& steps);

}  // namespace ricci::runs
