// The step of a loop by roles, and what transforms make of it, whatever the loop does with its slices and rows: a scan
// takes them from tensors and stacks them, stages keep them inside. Start with `Step`.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "control/assembly.h"
#include "custom/derived.h"
#include "program/program.h"
#include "ricci/primitive/rule_arguments.h"

namespace ricci::runs {

/// Inputs of the program: the carry, slices, the streams that it draws from, then what it captures. Outputs: the carry,
/// rows, the streams.
struct Step {
  const Program& program;
  std::size_t carried, slices, streams;

  std::size_t inputs() const { return program.inputs(); }
  std::size_t outputs() const { return program.body().outputs.size(); }
  std::size_t slices_end() const { return carried + slices; }
  std::size_t captures_begin() const { return slices_end() + streams; }
  std::size_t rows_end() const { return outputs() - streams; }
  std::size_t rows() const { return rows_end() - carried; }
  bool is_carried(std::size_t i) const { return i < carried; }
  bool is_slice(std::size_t i) const { return i >= carried && i < slices_end(); }
  bool draws(std::size_t i) const { return i >= slices_end() && i < captures_begin(); }
};

/// By the number of an input that is no slice: a tensor that the loop is given, or its tangent.
using TensorOf = std::function<Tensor(std::size_t)>;

/// The streams and captures of the step, for a program derived from it.
void add_streams_and_captures(Assembly& to, const Step& step, const TensorOf& operand);

/// The step with its tangents. Slices: each one, followed by its tangent if it has one. Rows: those of the step, then
/// the tangents of those that have one.
struct PushedStep {
  Assembly assembly;
  Flags active, outputs;  // inputs and outputs of the step that have a tangent
};
PushedStep pushed(const Step& step, Flags active, const TensorOf& operand, const TensorOf& tangent);

/// The step that keeps what the way back reads, as rows behind its own.
struct ForwardHalf {
  function::Split split;
  Assembly assembly;
  Flags active, outputs;          // inputs and outputs that the way back is asked for
  std::vector<std::size_t> kept;  // the row of each value that is kept
};
/// `prints`: as the step does.
ForwardHalf forward_half(const Step& step, Flags active, const TensorOf& operand, bool prints);

/// A slice of the way back: a slice of the step, a value that was kept, the cotangent of a row, or the sum of a slice's
/// cotangents so far.
struct BackwardSlice {
  enum class Of { slice, kept, row, sum } of;
  std::size_t number;  // among those
};
/// The way back of a step. It carries the cotangents of the carry, then the sums of the captures' gradients.
struct BackwardHalf {
  Assembly assembly;
  std::vector<BackwardSlice> slices;
  std::vector<std::size_t> rows;  // the slices of the step whose cotangents are its rows
  Flags gradients;                // inputs of the step that have one
};
/// `rows`, `sums`: the rows that have a cotangent, the slices whose cotangents are added to a sum. `first_output`: the
/// number of the carry's first part among the operation's results.
BackwardHalf backward_half(const Step& step, const function::Split& split, const Reverse& rule,
                           std::size_t first_output, const Flags& rows, const Flags& sums, const TensorOf& operand);

}  // namespace ricci::runs
