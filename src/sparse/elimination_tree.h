// What an order of elimination makes of a graph: its elimination tree, how many nonzeros each column of L has, and
// which columns stand side by side as one dense panel. Knows nothing of values.
#pragma once

#include "sparse/lists.h"

namespace ricci::sparse {

/// An order and its inverse.
struct Elimination {
  Nodes order;  // the nodes, as they are eliminated
  Nodes place;  // of each node in the order
  explicit Elimination(Nodes order);
};

/// Columns of L by their places in the order. A column's parent is the row of its first nonzero below the diagonal.
struct EliminationTree {
  Elimination elimination;  // the given order, children right before their parents
  Nodes parent;             // no_node: a root
  Nodes count;              // nonzeros of each column of L, its diagonal among them
  EliminationTree(const Graph& graph, Nodes order);
};

/// Columns that have the same rows below them, or nearly: they are stored as one dense panel.
struct Supernodes {
  Nodes first;                // the first column of each, and behind the last one the number of columns
  Nodes of_column;            // the supernode of each column
  Lists<std::int32_t> below;  // the rows below each, ascending

  std::int32_t count() const { return static_cast<std::int32_t>(first.size()) - 1; }
  std::int32_t columns(std::int32_t s) const {
    return first[static_cast<std::size_t>(s + 1)] - first[static_cast<std::size_t>(s)];
  }
  std::int64_t rows(std::int32_t s) const { return columns(s) + below.size(s); }  ///< from the diagonal on

  Supernodes(const Graph& graph, const EliminationTree& tree);
};

}  // namespace ricci::sparse
