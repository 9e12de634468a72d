// The erasure boundary of control flow in functions that are being recorded: where a condition is a variable of the
// program, branches and bodies are written down too, each as a program of its own, and the conditional or loop becomes
// one operation. Compiled code that sees only the tensors of a tree. Not for users; control.h is written with it.
#pragma once

#include <span>

#include "ricci/control/options.h"
#include "ricci/function/closure.h"

namespace ricci::runs {

using function::Closure;

/// Whether the examples' answers are known only when the program that is being recorded runs.
bool is_decided_later(const char* name, const Tensor& question);

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
/// Gives numbers among the leaves a dtype: the state of a recorded loop has fixed types.
void fix_dtypes(const tree::Walk& state);
/// Writes the state after the loop over the one before it. ValueError unless the condition has one element,
/// NotImplementedError if it draws.
void run_recorded_loop(const RecordedLoop& loop, const tree::Walk& state);

/// Replaces every leaf, of a scan's xs, by zeros like one of its slices along axis 0.
void show_slice_types(const char* name, const tree::Walk& xs);
/// Writes the last carry over the first one, and the outputs of all steps over those of one.
void run_recorded_scan(const Closure& step, bool reverse, const tree::Walk& carry, const tree::Walk& xs,
                       const tree::Walk& ys);

}  // namespace ricci::runs
