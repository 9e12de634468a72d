// A program taken apart into scalar operations on one lane: the elements along the axes of fixed size are unrolled, the
// axis whose size is a symbol holds the lanes. Knows the rules of operations, no operation by name, and nothing of
// machine code. Start with `expand`.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "compile/scalar_graph.h"
#include "program/program.h"

namespace ricci::compile {

/// Where an element of a contiguous tensor lies, in elements: at `base + per_lane_count * lanes + lane * stride`.
struct Place {
  int tensor;  ///< which input (captured tensors behind them), or which output
  std::int64_t base, per_lane_count, stride;
  bool operator==(const Place&) const = default;
};

struct Input {
  DType dtype;
  Place place;
};
struct Output {
  Node node;
  Place place;
};

struct LaneProgram {
  ScalarGraph graph;
  std::vector<Input> inputs;  ///< by the graph's numbers of them
  std::vector<Output> outputs;
  bool has_lanes;                    ///< else one lane
  std::vector<DType> output_dtypes;  ///< by output tensor. One more than the program has: whether what must hold does
  std::vector<Node> required;
};

/// A program that cannot be said element by element: why, with the equation.
struct NotExpandable {
  std::string why;
};

struct ExpandOptions {
  /// Which number each size of the inputs is, in their order, where it is a symbol; -1: it is the number of lanes.
  /// Empty: sizes are what they were in the recording, up to `most_unrolled`, and the lanes beyond.
  std::vector<std::int64_t> sizes = {};
  std::int64_t most_unrolled = 16;
  std::size_t most_steps = 10'000;  ///< that are computed once or in a lane, elementary functions taken apart
  /// Whether zeros that an operation without operands makes are structural, as those of seeds are.
  bool created_zeros_are_structural = false;
};

/// Requires: the program is simplified.
std::variant<LaneProgram, NotExpandable> expand(const Program& program, const ExpandOptions& options = {});

/// The graph, and where its elements lie.
std::string to_string(const LaneProgram& program);

}  // namespace ricci::compile
