// What few operations say of themselves to compiled functions: which programs they run and how often, which matrices
// they multiply, which places of a table they name, which numbers they let through, how they are made of simpler ones,
// and which draws come in blocks. Knows no operation by name.
#pragma once

#include <optional>
#include <span>

#include "program/facts.h"
#include "program/places.h"
#include "program/program.h"
#include "ricci/primitive/symbolic.h"

namespace ricci {

/// Turns of a loop. Operands: the state, tensors of which each turn reads one row, the places that turns draw from,
/// then what the programs read besides. Results: the state after the last turn, then what the turns gave, stacked. The
/// body gives the next state, its rows, and the next places.
struct Turns {
  const Program* condition = nullptr;  // of the state; null: there is none
  const Program* body = nullptr;       // of the state, the rows and the places
  std::size_t state = 0, rows = 0, streams = 0;
  std::size_t read_by_condition = 0, read_by_body = 0;  // the first operands that these read besides
  Size most_turns = 0;       // without a condition there are so many; with one, the loop throws after these
  bool is_backward = false;  // from the last row to the first
  /// The last part of the state says which examples go on. Those that are done stay as they are, and the condition asks
  /// whether there is one left.
  bool asks_each_example = false;
  const char* name = nullptr;  // of one with a condition, as its user called it
};
///   const bool has_turns = takes_turns<Scan>();
struct TurnsOf {
  using Function = Turns (*)(const void* op, const Types& operands);
};
template <class P>
bool takes_turns() {
  return Facts<TurnsOf>::add(rules_of<P>,
                             [](const void* op, const Types& operands) { return erase::as<P>(op).turns(operands); });
}

/// A loop and ways back and forth through its turns: the first pass is the loop, the second begins with the last turn,
/// the third with the first, and so on in turn. Operands: of each pass its state, the places that it draws from and
/// what its body reads besides; before what the first body reads besides, what the condition does. Results: of each
/// pass the state after its last turn.
struct Passes {
  struct Pass {
    const Program* body;  // of the state, rows and places; gives the next state, its rows and the next places
    std::size_t state, streams;
    std::vector<std::int64_t> reads;  // numbers of rows: of all that the passes before it keep at each turn, in order
  };
  const Program* condition;  // of the first pass's state
  std::vector<Pass> all;
  std::int64_t most_turns;
  const char* name;  // of the loop, as its user called it
};
/// None of a loop that keeps only a few of the states.
struct PassesOf {
  using Function = std::optional<Passes> (*)(const void* op);
};
template <class P>
bool takes_passes() {
  return Facts<PassesOf>::add(rules_of<P>, [](const void* op) { return erase::as<P>(op).passes(); });
}

/// One of several programs, which the first operand chooses by its number: false is 0, true is 1.
struct Branch {
  const Program* program;
  std::vector<std::size_t> operands;
};
struct BranchesOf {
  using Function = std::vector<Branch> (*)(const void* op);
};
template <class P>
bool takes_branches() {
  return Facts<BranchesOf>::add(rules_of<P>, [](const void* op) { return erase::as<P>(op).taken_branches(); });
}

/// The operand that may replace the result where each example is computed by itself. `fill_rows` alone has one: the
/// first operand says which rows of the second take part; copies of the first of these stand in the place of others, so
/// that nothing fails there.
struct StandInOf {
  using Function = int (*)();
};
template <class P>
bool has_stand_in() {
  return Facts<StandInOf>::add(rules_of<P>, [] { return P::stand_in; });
}

/// Products of matrices: how many axes of each operand, from behind, are the matrix. The axes before are batches, which
/// broadcast. A single axis is a row on the left and a column on the right; the other way round in an outer product.
struct ProductAxes {
  int left, right;
  bool is_outer;
};
struct ProductAxesOf {
  using Function = ProductAxes (*)(const void* op);
};
template <class P>
bool multiplies_matrices() {
  return Facts<ProductAxesOf>::add(rules_of<P>, [](const void* op) { return erase::as<P>(op).product_axes(); });
}

/// Elements at places that whole numbers name (places.h).
struct AtPlacesOf {
  using Function = AtPlaces (*)(const void* op);
};
template <class P>
bool names_places() {
  return Facts<AtPlacesOf>::add(rules_of<P>, [](const void* op) { return erase::as<P>(op).at_places(); });
}

/// Which numbers an operation lets through (places.h).
struct AllowedOf {
  using Function = Allowed (*)(const void* op);
};
template <class P>
bool allows_some() {
  return Facts<AllowedOf>::add(rules_of<P>, [](const void* op) { return erase::as<P>(op).allowed(); });
}

/// The results in operations that are simpler: for where a kernel cannot hold the operation, and no library is there.
/// Sums may be made in another order. Requires: the operands are real, and none is empty.
struct SimplerOf {
  using Function = Tensors (*)(const void* op, std::span<const Tensor> operands);
};
template <class P>
bool has_simpler() {
  return Facts<SimplerOf>::add(rules_of<P>, [](const void* op, std::span<const Tensor> operands) {
    return erase::as<P>(op).simpler(operands[0]);
  });
}

/// Along an axis, each element becomes the word of all up to it, one after the other, in the type `computed_in`.
struct Running {
  scalar::Word word;
  std::int64_t axis;
  bool is_backward;  // from the last element to the first
  DType computed_in;
};
struct RunningOf {
  using Function = Running (*)(const void* op, DType operand);
};
template <class P>
bool runs_along() {
  return Facts<RunningOf>::add(rules_of<P>, [](const void* op, DType operand) {
    const P& p = erase::as<P>(op);
    return Running{P::word, p.way.axis, p.way.reverse, P::computed_in(operand)};
  });
}

/// Draws from one source, the operand: elements are made in blocks of so many neighbours. `of_shape`: parameters of the
/// same draw in another shape, whose elements are these, row by row.
struct Blocks {
  std::int64_t elements;
  OwnedParameters (*of_shape)(const void* op, const Shape& shape);
};
struct BlocksOf {
  using Function = Blocks (*)(const void* op);
};
template <class P>
bool draws_in_blocks() {
  return Facts<BlocksOf>::add(rules_of<P>, [](const void* op) {
    return Blocks{erase::as<P>(op).numbers.elements_of_block(), [](const void* of, const Shape& shape) {
                    P other = erase::as<P>(of);
                    other.shape = shape;
                    return OwnedParameters(rules_of<P>.parameters, &other);
                  }};
  });
}

}  // namespace ricci
