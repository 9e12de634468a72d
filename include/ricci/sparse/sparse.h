// Sparse matrices as trees: a pattern, which transforms leave alone, and the values of its nonzeros, which they map and
// differentiate. Start with `Sparse`.
#pragma once

#include "ricci/ops/linalg.h"
#include "ricci/sparse/sparsity.h"

namespace ricci {

/// A matrix [rows, columns], or several with one pattern. `values` [batch…, nnz] has the nonzeros row by row.
///   rc::Sparse a{rc::Sparsity(2, 2, {0, 1, 2}, {1, 0}), rc::tensor({3., 4.})};  std::cout << matmul(a, x);
struct Sparse {
  Sparsity sparsity;
  Tensor values;

  /// The matrix with nonzeros at pairs of places, in any order; those at one place are added. `rows` and `columns` are
  /// i64[count], `values` is [batch…, count]. IndexError for a place outside, TypeError for places that are no whole
  /// numbers, ValueError for lists of other lengths.
  static Sparse of_coordinates(const Tensor& rows, const Tensor& columns, const Tensor& values, std::int64_t row_count,
                               std::int64_t column_count);
  /// The elements of [batch…, rows, columns] at the places of the pattern.
  static Sparse of_dense(const Tensor& matrix, const Sparsity& sparsity);

  Shape shape() const;  ///< [batch…, rows, columns]
  DType dtype() const { return values.dtype(); }
  Tensor to_dense() const;   ///< [batch…, rows, columns]
  Sparse transpose() const;  ///< of the last two axes
  Tensor diagonal() const;   ///< [batch…, min(rows, columns)]
  /// Over the rows, axis -2: [batch…, columns]; over the columns, axis -1: [batch…, rows]. IndexError for another axis.
  Tensor sum(std::int64_t axis) const;
};

using ops::matmul;  // rc::matmul is that of dense matrices too

/// [batch…, rows] of a vector [columns]; [batch…, rows, k] of a matrix [batch…, columns, k], batches broadcast. Time
/// and memory of the nonzeros, k times. ValueError where sizes differ.
Tensor matmul(const Sparse& a, const Tensor& x);
/// [batch…, columns] of a vector [rows]; [batch…, k, columns] of [batch…, k, rows].
Tensor matmul(const Tensor& x, const Sparse& a);
/// Of matrices of one size: nonzeros of either.
Sparse operator+(const Sparse& a, const Sparse& b);
Sparse operator-(const Sparse& a, const Sparse& b);
/// Each nonzero times a number.
Sparse operator*(const Sparse& a, const Tensor& number);
Sparse operator*(const Tensor& number, const Sparse& a);
/// `Sparse [6, 6], 12 nonzeros: ` and the values.
std::ostream& operator<<(std::ostream& out, const Sparse& a);

}  // namespace ricci
