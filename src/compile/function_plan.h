// A program as one function of machine code runs it: steps whose every size and place is a number. Plain data, which
// the generator of machine code reads. Start with `FunctionPlan`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compile/plan.h"
#include "program/places.h"

namespace ricci::compiled {

/// Where the elements of a tensor lie while the function runs.
struct Location {
  enum class In : std::uint8_t {
    argument,
    result,
    constant,
    workspace,
    state,       ///< of a loop that runs
    next_state,  ///< what the turn makes of it
    records,     ///< of the turns of a loop whose length is not known before
  };
  In in = In::workspace;
  std::size_t number = 0;   ///< of the argument, the result, the constant, the state or the records
  std::int64_t offset = 0;  ///< in bytes

  bool operator==(const Location&) const = default;
};

/// One kernel, run for each position of an outer axis.
struct KernelStep {
  const LanePlan* plan;
  int lanes_together;          ///< that its code computes
  std::int32_t own_code = -1;  ///< its number among the kernels that have code of their own; -1: the function has it
  /// Its code stands where it runs, and no function is called: of one lane, in a loop.
  bool stands_in_place = false;
  /// Of one that stands in place: the library call that does the same, for large arguments of sin and cos; -1: the
  /// function has careful code.
  std::int64_t careful_call = -1;
  std::vector<Location> in, out;
  std::int64_t lanes = 1, positions = 1;
  std::vector<std::int64_t> in_steps, out_steps;   ///< by tensor: how far the next position is, in bytes
  std::vector<std::int64_t> sizes;                 ///< by the program's givens: the size that one is, if it is one
  FilledCopies copies = {};                        ///< where a register has more lanes than there are
  std::int64_t slots = 0, totals = 0, copied = 0;  ///< offsets in the workspace

  std::int64_t filled() const {
    return plan->program.has_lanes && !plan->refill && lanes < lanes_together ? lanes_together - lanes : 0;
  }
};

/// The elements of a strided view, row by row.
struct CopyStep {
  Location from, to;
  DType dtype;
  std::vector<std::int64_t> shape, strides;  ///< strides in elements, of what is read
};

/// Single elements from one place to another, by a table of pairs of 32-bit numbers: of the element that is written,
/// and of the element that is read.
struct MoveStep {
  Location from, to, table;
  DType dtype;
  std::int64_t count;
};

/// Products of matrices by CBLAS, one for each member of a batch: a [m, k] times b [k, n] is c [m, n], row by row.
struct ProductStep {
  struct Factor {
    Location where;
    bool is_transposed;               ///< it lies column by column
    std::int64_t leading;             ///< elements from one row, or column, to the next
    std::vector<std::int64_t> steps;  ///< in elements, by axis of the batch
  };
  DType dtype;  ///< float32 or float64
  std::int64_t m, n, k;
  Factor a, b;
  Location c;
  std::vector<std::int64_t> batch;
};

/// Elements of a table at places that whole numbers name. Outside of the table the function throws.
struct PlacesStep {
  struct Index {
    Location where;
    std::vector<std::int64_t> strides;  ///< in elements, along the axes that indices have
    std::int64_t size, step;            ///< of the table's axis: its size, and elements from one place to the next
  };
  AtPlaces::What what;
  bool wraps;
  DType dtype;
  Location table, values;
  std::vector<std::int64_t> shape, table_strides, value_strides;  ///< walked from the outside in; in elements
  std::size_t index_axes;                                         ///< the first ones, those of the indices
  std::vector<Index> indices;
  std::int64_t elements;               ///< of the table
  std::optional<std::int64_t> totals;  ///< where sums are made: offset in the workspace; none: in the table
};

/// The function throws unless all of these numbers are allowed.
struct CheckStep {
  Location numbers;
  DType dtype;
  std::int64_t count;
  Allowed allowed;
};

/// Rows, with copies of the first row that takes part in the place of those that do not. Several groups of rows may lie
/// one behind the other.
struct FillStep {
  Location takes_part, from, to;
  DType dtype;
  std::int64_t groups, rows, row_bytes;
};

/// Each element becomes the word of all up to it along an axis of `count`, between `outer` and `inner` others.
struct RunningStep {
  Location from, to;
  DType from_type, total_type, to_type;
  Word word;
  bool is_backward;
  std::int64_t outer, count, inner;
};

/// Elements of another type, as copies convert.
struct ConvertStep {
  Location from, to;
  DType from_type, to_type;
  std::int64_t count;
};

/// An equation that the library computes, by its number in the plan.
struct CallStep {
  std::int64_t number;
  std::vector<Location> in, out;
};

/// One row of a stack, the row that has the number of the turn.
struct RowCopy {
  Location stack, row;
  std::int64_t bytes;
  DType dtype;
  std::int64_t step;  ///< bytes from one row of the stack to the next
};

/// Memory for a record of each turn.
struct TurnRecords {
  std::int64_t bytes;                       ///< of one record
  std::optional<std::int64_t> offset = {};  ///< in the workspace; none: the memory grows while the loop runs
};

/// A part of a loop's state, which stands at two places in turn: what is read at one is written to the other.
struct AlternatingState {
  std::size_t number;      ///< among all of the plan
  Location first, second;  ///< the loop begins at the first, and ends there
  std::int64_t bytes;
  DType dtype;
};

/// A part of the workspace.
struct WorkspacePart {
  std::int64_t offset, bytes;
};

struct Step;

/// Turns of a loop.
struct LoopStep {
  std::int64_t most_turns;  ///< without a condition there are so many; with one, the function throws after these
  bool is_backward;
  std::size_t limit = 0;                       ///< with a condition: the number of the limit among the plan's
  std::vector<Step> condition;                 ///< computed before each turn; empty: there is none
  Location truth = {};                         ///< of the condition: whether there is a turn
  std::vector<RowCopy> reads = {};             ///< before the body
  std::vector<Step> body;                      ///< of each turn
  std::vector<RowCopy> writes = {};            ///< behind the body
  std::vector<CopyStep> next = {};             ///< the small parts of the next turn's state
  std::vector<AlternatingState> states = {};   ///< the large ones
  std::optional<std::size_t> records = {};     ///< the loop makes a record at each turn
  std::optional<std::size_t> counted_by = {};  ///< there are as many turns as these records were made
  std::vector<CopyStep> begin = {}, end = {};  ///< what is copied before the first turn, and behind the last one
  std::vector<WorkspacePart> own = {};         ///< what nobody reads or writes but this loop
  bool is_in_registers = false;                ///< as far as there are registers for what stands in `own`
};

struct BranchStep {
  Location question;
  DType dtype;  ///< of the question
  std::vector<std::vector<Step>>
      branches;  ///< by number; of a truth value: what is done where it is false is the first
};

struct Step {
  std::variant<KernelStep, CopyStep, MoveStep, PlacesStep, CheckStep, FillStep, RunningStep, ConvertStep, ProductStep,
               CallStep, LoopStep, BranchStep>
      what;
};

/// Examples along the first axis of arguments and results, as many as a call says. They know nothing of each other: the
/// steps compute a block of them, then the next one. Those of the last block may be in the block before it, too.
struct OpenExamples {
  std::int64_t of_block = 1;  ///< how many
  struct Rows {
    std::int64_t bytes = -1, copy = 0;  ///< of an example, -1: it has none; offset in the workspace of a block's copy
    bool has_examples() const { return bytes >= 0; }
  };
  std::vector<Rows> arguments = {}, results = {};
};

struct FunctionPlan {
  std::string name;  ///< of the function
  std::size_t arguments, results;
  std::vector<std::string> constants;  ///< the bytes of each
  std::vector<Step> steps;
  std::int64_t workspace_bytes = 0;
  std::size_t states = 0;                 ///< that alternate
  std::vector<std::int64_t> limits = {};  ///< of loops with a condition: the most turns
  std::vector<TurnRecords> records = {};
  bool calls_blas = false;
  std::optional<OpenExamples> open = {};
};

}  // namespace ricci::compiled
