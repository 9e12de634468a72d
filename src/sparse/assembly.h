// The nonzeros of a matrix, row by row, out of vectors that hold them in other orders. Knows nothing of derivatives.
// Start with `assembled`.
#pragma once

#include <bit>
#include <vector>

#include "ricci/sparse/sparsity.h"

namespace ricci::sparse {

/// Where a nonzero comes from: an element of a vector; without one, it is a number.
struct Source {
  static constexpr std::int32_t no_vector = -1;
  std::int32_t vector = no_vector;
  std::int64_t element = 0;
  double number = 0;
};
inline bool is_number(const Source& of) { return of.vector == Source::no_vector; }

/// The nonzeros [nnz] of the pattern. Where the rows of a stretch of the matrix are made alike, as in the middle of a
/// band, columns of vectors become rows: a compiler computes them in their places. Else places are read, or written
/// where most nonzeros are numbers.
Tensor assembled(const Sparsity& sparsity, const std::vector<Tensor>& vectors, const std::vector<Source>& sources,
                 DType dtype);

}  // namespace ricci::sparse
