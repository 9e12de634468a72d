// A batch of matrices as the factorisations see it: one layout, and where each matrix begins.
// Knows nothing of what is done with the matrices.
#pragma once

#include <cstdint>

#include "kernels/matmul_offsets.h"
#include "kernels/matmul_product.h"
#include "ricci/strided.h"

namespace ricci::kernels {

/// The matrices [..., rows, cols] of a view.
template <class T>
struct MatrixBatch {
  Matrix<T> first;
  BatchOffsets offsets;

  explicit MatrixBatch(const Strided& x)
      : first{static_cast<T*>(x.data), x.shape[x.rank - 2], x.shape[x.rank - 1], x.strides[x.rank - 2],
              x.strides[x.rank - 1]},
        offsets(x, 2) {}

  std::int64_t size() const { return offsets.size(); }
  Matrix<T> operator[](std::int64_t index) const { return first.with(first.data + offsets(index)); }
};

/// The vectors [..., n] of a view, as matrices of one column.
template <class T>
struct VectorBatch {
  Matrix<T> first;
  BatchOffsets offsets;

  explicit VectorBatch(const Strided& x)
      : first{static_cast<T*>(x.data), x.shape[x.rank - 1], 1, x.strides[x.rank - 1], 1}, offsets(x, 1) {}

  Matrix<T> operator[](std::int64_t index) const { return first.with(first.data + offsets(index)); }
};

struct TriangularKind {
  bool upper, unit;
  char op;  // 'N', 'T' or 'C'
};

}  // namespace ricci::kernels
