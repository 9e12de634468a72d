// What an Analysis knows: where the nonzeros of a matrix go, and where those of its factors L D U stand. L and U are
// triangles with ones on their diagonals, and U has the pattern of Lᵀ.
#pragma once

#include <cstdint>
#include <vector>

#include "ricci/sparse/direct.h"
#include "sparse/elimination.h"

namespace ricci::sparse {

/// Lists one after another: list i is `of[begin[i]]` up to `of[begin[i + 1]]`.
template <class T>
struct Lists {
  std::vector<std::int64_t> begin{0};
  std::vector<T> of;

  std::span<const T> operator[](std::int64_t i) const {
    const auto from = static_cast<std::size_t>(begin[static_cast<std::size_t>(i)]);
    return std::span(of).subspan(from, static_cast<std::size_t>(begin[static_cast<std::size_t>(i + 1)]) - from);
  }
  void end_list() { begin.push_back(std::ssize(of)); }
};

/// A nonzero of the matrix, by its place among the values, in the row or column `at` of the elimination.
struct Placed {
  std::int32_t at;
  std::int64_t place;
};

struct Analysis::Data {
  Sparsity sparsity;
  bool is_symmetric;
  Nodes rows, columns;                 // of the matrix, as they are eliminated
  Lists<Placed> lower, upper;          // of row, of column k: the nonzeros before the diagonal
  std::vector<std::int64_t> diagonal;  // places among the values; -1: none
  std::vector<std::int64_t> across;    // of a symmetric pattern: the place of the nonzero across the diagonal
  Lists<std::int32_t> of_row;          // of L: columns, ascending
  Lists<std::int32_t> of_column;       // of L: rows, ascending
  double products = 0;                 // that one factorisation takes

  std::int64_t size() const { return sparsity.rows(); }
  std::int64_t triangle() const { return std::ssize(of_row.of); }
  /// D, L and, unless symmetric, U, in this order.
  std::int64_t numbers() const { return size() + (is_symmetric ? 1 : 2) * triangle(); }
};

}  // namespace ricci::sparse
