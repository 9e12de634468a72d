// A batch of matrices as the factorisations see it: one layout, and where each matrix begins.
// Knows nothing of what is done with the matrices.
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>

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

/// Element (i, j) of (a + aᴴ) / 2.
template <class T>
T hermitian_element(const Matrix<const T>& a, std::int64_t i, std::int64_t j) {
  if constexpr (std::is_floating_point_v<T>) {
    return a(i, j) * T(0.5) + a(j, i) * T(0.5);
  } else {
    using Real = typename T::value_type;
    return a(i, j) * Real(0.5) + std::conj(a(j, i)) * Real(0.5);
  }
}

struct TriangularKind {
  bool upper, unit;
  char op;  // 'N', 'T' or 'C'
};

}  // namespace ricci::kernels
