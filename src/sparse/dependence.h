// Which of a program's input elements each element of its values depends on: a pass over the equations with sets of
// elements in place of numbers. Knows no operation by name. Start with `dependences_of`.
#pragma once

#include <vector>

#include "program/program.h"
#include "sparse/element_sets.h"

namespace ricci::sparse {

/// What the elements of one value depend on, row by row.
struct Dependence {
  Type type;              // sizes are numbers
  std::vector<SetId> of;  // of every element; empty where all have one set
  SetId all = empty_set;  // that one
  ValueRef number = {};   // the value itself, where it is known and places depend on it

  bool is_uniform() const { return of.empty(); }
  bool is_nothing() const { return is_uniform() && all == empty_set; }
  SetId operator[](std::size_t i) const { return is_uniform() ? all : of[i]; }
};
using Dependences = std::vector<Dependence>;
using DependenceOperands = std::vector<const Dependence*>;

/// Of an operation's results, where it holds no program. What the operation says to compiled functions of single
/// elements is read here too: no operation says anything for this pass alone. An operation that says nothing is taken
/// apart into its examples; there each result depends on all operands. So a set may be too large, never too small.
Dependences dependences_of(Op op, const DependenceOperands& operands, const Types& results, ElementSets& sets);

/// Of the program's outputs, given those of its inputs. Captured tensors are read where they choose places; an input
/// without a number may choose any place.
Dependences dependences_of(const Program& program, Dependences inputs, ElementSets& sets);

}  // namespace ricci::sparse
