// The erasure boundary of control flow in functions that are being recorded: where a condition is a variable of the
// program, branches and bodies are written down too, each as a program of its own, and the conditional or loop becomes
// one operation. Compiled code that sees only the tensors of a tree.
#pragma once

#include <optional>
#include <span>

#include "custom/closure.h"
#include "ricci/control/options.h"

namespace ricci::runs {

using function::Closure;

/// Writes the outputs of the conditional over the leaves of `result`, that of the last branch. ValueError if the
/// branches' results differ in shape or dtype. Requires: they are one tree.
void run_recorded_branches(const char* name, const Tensor& question, const tree::Walk& operands,
                           std::span<const Closure> branches, const tree::Walk& result);

/// What a recorded loop is: the condition and the body, functions of the state. `name` is what errors speak of.
struct RecordedLoop {
  const char* name;
  Closure condition, body;
  LoopOptions options;
};
/// The number of steps from one bound of a loop to the other, where both are known while the loop is recorded; none
/// where there are more than `most`.
std::optional<Size> known_length(Size low, Size high, std::int64_t most);
/// Gives numbers among the leaves a dtype: the state of a recorded loop has fixed types.
void fix_dtypes(const tree::Walk& state);
bool has_numbers(const tree::Walk& state);
/// Gives numbers in a state the dtypes that they have after a step, where those are of the same kind.
void take_dtypes(const tree::Walk& state, const tree::Walk& after);
/// Writes the state after the loop over the one before it. ValueError unless the condition has one element,
/// NotImplementedError if it draws.
void run_recorded_loop(const RecordedLoop& loop, const tree::Walk& state);

/// The length of a loop's segment number `index`: one longer than the last, or twice as long, and not beyond `most`
/// steps in all. ValueError where these are used up.
std::int64_t segment_length(const char* name, std::int64_t index, bool doubling, std::int64_t most);

/// The size along `dim` that all leaves share; ValueError if there is none, IndexError if a leaf has no such axis.
Size scanned_size(const char* name, const tree::Walk& xs, std::int64_t dim = 0);
/// Replaces every leaf, of a scan's xs, by zeros like one of its slices along axis 0.
void show_slice_types(const char* name, const tree::Walk& xs);
/// How a recorded scan goes over its slices; where nothing is scanned, how many steps it takes.
struct ScanSteps {
  bool reverse = false;
  std::optional<Size> length = {};
};
/// Writes the last carry over the first one, and the outputs of all steps over those of one.
void run_recorded_scan(const Closure& step, const ScanSteps& steps, const tree::Walk& carry, const tree::Walk& xs,
                       const tree::Walk& ys);

}  // namespace ricci::runs
