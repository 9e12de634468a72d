// What few operations say of themselves to code that runs without the library: which programs they run and how often,
// and which matrices they multiply. Knows no operation by name.
#pragma once

#include <optional>

#include "program/facts.h"
#include "program/program.h"

namespace ricci {

/// Turns of a loop. Operands: the state, tensors of which each turn reads one row, then what the programs read besides.
/// Results: the state after the last turn, then what the turns gave, stacked.
struct Turns {
  const Program* condition = nullptr;  // of the state; null: there is none
  const Program* body = nullptr;       // of the state and the rows
  std::size_t state = 0, rows = 0;
  std::size_t read_by_condition = 0, read_by_body = 0;  // the first operands that these read besides
  Size most_turns = 0;       // without a condition there are so many; with one, the loop throws after these
  bool is_backward = false;  // from the last row to the first
  /// The last part of the state says which examples go on. Those that are done stay as they are, and the condition asks
  /// whether there is one left.
  bool asks_each_example = false;
};
/// None of a loop that draws.
///   const bool has_turns = takes_turns<Scan>();
using TurnsOf = std::optional<Turns> (*)(const void* op, const Types& operands);
template <class P>
bool takes_turns() {
  return Facts<TurnsOf>::add(rules_of<P>,
                             [](const void* op, const Types& operands) { return erase::as<P>(op).turns(operands); });
}

/// One of several programs, which the first operand chooses by its number: false is 0, true is 1.
struct Branch {
  const Program* program;
  std::vector<std::size_t> operands;
};
using BranchesOf = std::vector<Branch> (*)(const void* op);
template <class P>
bool takes_branches() {
  return Facts<BranchesOf>::add(rules_of<P>, [](const void* op) { return erase::as<P>(op).taken_branches(); });
}

/// The operand that serves in place of the result where each example is computed by itself: nobody sees the difference.
using StandInOf = int (*)();
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
using ProductAxesOf = ProductAxes (*)(const void* op);
template <class P>
bool multiplies_matrices() {
  return Facts<ProductAxesOf>::add(rules_of<P>, [](const void* op) { return erase::as<P>(op).product_axes(); });
}

}  // namespace ricci
