// A batch of matrices as the factorisations see it: one layout, and where each matrix begins.
// Knows nothing of what is done with the matrices.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <type_traits>

#include "kernels/matmul_offsets.h"
#include "kernels/matmul_product.h"
#include "ricci/primitive/scratch.h"
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

/// float of float and of std::complex<float>.
template <class T> using real_of = decltype(std::real(T()));

template <class T>
struct ComplexOf {
  using type = std::complex<T>;
};
template <class T>
struct ComplexOf<std::complex<T>> {
  using type = std::complex<T>;
};
/// The complex type of T's precision.
template <class T> using complex_of = typename ComplexOf<T>::type;

/// Memory for m × n elements, not set: row-major, the transpose of what LAPACK sees there.
template <class T>
struct RowMajor {
  Scratch<T> memory;
  Matrix<T> rows;

  explicit RowMajor(std::int64_t m, std::int64_t n) : memory(m * n), rows(row_major(memory.data(), m, n)) {}
  T* data() const { return memory.data(); }
};

/// LAPACK promises neither an end nor silence where an element is not finite: then info is `not_finite`.
constexpr int not_finite = -1;
template <class T>
bool is_finite(const Matrix<T>& a) {
  bool finite = true;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < a.cols; ++j)
      finite &=
          static_cast<bool>(std::isfinite(std::real(a(i, j)))) && static_cast<bool>(std::isfinite(std::imag(a(i, j))));
  }
  return finite;
}

/// The factor of size 1 that makes the greatest element of a column, the first of equal ones, real and positive.
template <class T>
T phase_of_greatest(const Matrix<T>& vectors, std::int64_t column) {
  T greatest = 0;
  for (std::int64_t i = 0; i < vectors.rows; ++i)
    if (std::norm(vectors(i, column)) > std::norm(greatest)) greatest = vectors(i, column);
  if constexpr (std::is_floating_point_v<T>) return greatest < T(0) ? T(-1) : T(1);
  else return greatest == T(0) ? T(1) : std::conj(greatest) / std::abs(greatest);
}

struct TriangularKind {
  bool upper, unit;
  char op;  // 'N', 'T' or 'C'
};

}  // namespace ricci::kernels
