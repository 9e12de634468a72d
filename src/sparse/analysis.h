// What an Analysis knows: where the nonzeros of a matrix go, and where those of its factors L D U stand. L and U are
// triangles with ones on their diagonals, and U has the pattern of Lᵀ.
//
// The numbers of a factor are panels, one for each supernode, column after column: the panel of L, of all its rows from
// the diagonal on, and behind it, unless U is Lᵀ, the panel of Uᵀ. D stands on the diagonal of L's panel. What is above
// the diagonal of a panel, and on that of Uᵀ, means nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "ricci/sparse/direct.h"
#include "sparse/elimination_tree.h"

namespace ricci::sparse {

/// A nonzero of the matrix: where it goes in its panel, and its place among the values.
struct Entry {
  std::int32_t to, place;
};

/// Two nonzeros of a symmetric pattern across the diagonal from each other: their places, and the column of the first.
struct Pair {
  std::int32_t column, place, across;
};

struct Analysis::Data {
  Sparsity sparsity;
  bool is_symmetric;
  Supernodes supernodes;
  Nodes rows, columns;               // of the matrix, as they are eliminated
  std::vector<std::int64_t> panels;  // where each begins, and behind the last one how many numbers there are
  Lists<Entry> entries;              // of each panel; if symmetric, both halves of an element, also on the diagonal
  Lists<Pair> pairs;                 // if symmetric, of each row: with the diagonal, and as the shorter of two rows
  std::int64_t nonzeros;             // of D, L and, unless symmetric, U
  double products;                   // that one factorisation takes

  std::int64_t size() const { return sparsity.rows(); }
  std::int64_t numbers() const { return panels.back(); }
};

}  // namespace ricci::sparse
