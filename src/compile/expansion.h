// A program taken apart into scalar operations on one lane: the elements along the axes of fixed size are unrolled, the
// axis whose size is a symbol holds the lanes. Knows the rules of operations, no operation by name, and nothing of
// machine code. Start with `expand`.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compile/lane_sizes.h"
#include "compile/scalar_graph.h"
#include "program/program.h"

namespace ricci::compiled {

/// Where an element of a contiguous tensor lies, in elements: at `base + per_lane_count * lanes + lane * stride`.
struct Place {
  /// Strides of lanes that are rows, whose length a call says (`LaneProgram::rows`): of an input, of an output.
  static constexpr std::int64_t input_row = std::int64_t{1} << 40, output_row = std::int64_t{1} << 41;
  int tensor;  ///< which input (captured tensors behind them), or which output
  std::int64_t base, per_lane_count, stride;
  std::int64_t first(std::int64_t lanes) const { return base + per_lane_count * lanes; }  ///< that of the first lane
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

/// What a run of the code is given beside elements, as an int64.
struct Given {
  enum class What : std::uint8_t {
    address,  ///< of the first element of an input
    size,     ///< of an input along an axis
    filling,  ///< how many lanes stand in front that only fill a register: they repeat the first
  };
  What what;
  int tensor = -1, axis = -1;
  bool operator==(const Given&) const = default;
};

/// Turns of a loop, in each lane by itself. Outputs of the program are made at each turn: one that is a state becomes
/// the value of an input at the next turn, and is written when the loop has ended; one may say whether what must hold
/// does; the others are rows of stacks.
struct LaneTurns {
  static constexpr int row = -1, must_hold = -2;  // outputs that are no state

  /// Elements from one row of a stack to the next.
  struct RowStep {
    std::int64_t base = 0, per_lane_count = 0;
    bool is_stack() const { return base != 0 || per_lane_count != 0; }
  };
  std::vector<int> state_of_output;  ///< by output: the input that it becomes, `row` or `must_hold`
  std::vector<std::optional<std::uint64_t>> first_number;  ///< by input: of a state that begins with a number, its bits
  std::vector<RowStep> in_rows, out_rows;                  ///< by tensor
  std::int64_t count = 0;                                  ///< of turns; with an input that goes on: the most
  int count_given = -1;                                    ///< the count is this one of the program's givens
  int goes_on = -1;                                        ///< the input that says whether the lane goes on
  bool is_backward = false;                                ///< from the last row to the first
};

struct LaneProgram {
  ScalarGraph graph;
  std::vector<Input> inputs;  ///< by the graph's numbers of them
  std::vector<Given> givens;  ///< by the graph's numbers of them
  std::vector<Output> outputs;
  bool has_lanes;                    ///< else the results are the same in all, and computed once
  std::vector<DType> output_dtypes;  ///< by output tensor. One more than the program has: whether what must hold does
  std::vector<Node> required;
  std::optional<LaneTurns> turns = {};
  /// The input tensor that holds the lengths of rows as int64: those of outputs, then those of inputs; -1: none.
  int rows = -1;
};

/// Requires: the program is simplified.
std::variant<LaneProgram, NotExpandable> expand(const Program& program, const ExpandOptions& options = {});

/// Says a part of the whole program element by element. The part has the sizes and symbols of the whole. Along an
/// outer axis the first position is said, because all positions are the same. Requires: the whole program's symbols are
/// installed.
std::variant<LaneProgram, NotExpandable> expand(const ProgramBody& part, const ProgramBody& whole,
                                                const ExpandOptions& options);
/// A loop, which is the only equation of the part, with its turns in each lane. The body must be independent along the
/// lanes, and say what each lane does by itself.
std::variant<LaneProgram, NotExpandable> expand_turns(const ProgramBody& part, const ProgramBody& whole,
                                                      const ExpandOptions& options);
/// By equation.
struct Expandability {
  std::vector<bool> apart;         ///< it cannot be said element by element, or reads what has no elements
  std::vector<std::size_t> steps;  ///< that it adds to one lane, roughly: no elementary function is taken apart
};
Expandability expandability(const ProgramBody& body, const ExpandOptions& options);
/// Asks `goes_on` at each equation that is found apart; at the first false, stops and gives none.
std::optional<Expandability> expandability(const ProgramBody& body, const ExpandOptions& options,
                                           const std::function<bool(std::size_t equation)>& goes_on);

/// The graph, and where its elements lie.
std::string to_string(const LaneProgram& program);

}  // namespace ricci::compiled
