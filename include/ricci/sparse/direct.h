// Linear systems solved by factors of a sparse matrix. What follows from the pattern alone is an Analysis, made once;
// what follows from the values is a Factor. Derivatives are implicit and use the same factor. Start with `solve`.
#pragma once

#include <string>
#include <string_view>

#include "ricci/sparse/sparse.h"

namespace ricci::sparse {

struct AnalysisOptions {
  /// For matrices that equal their transposes: L D Lᵀ, half the work of L D U. Both triangles are read: where they
  /// differ, the symmetric part (a + aᵀ) / 2 is solved, so gradients are symmetric.
  bool symmetric = false;
};

/// The order in which the matrices of a pattern are eliminated, and the places of their factors' nonzeros. Immutable; a
/// copy shares it. Transforms leave it alone, as a number in a tree.
///
/// The order is an approximate minimum degree (Amestoy, Davis and Duff, SIAM J. Matrix Anal. 17, 1996). Columns with
/// nearly the same rows below them are dense panels, which products of matrices eliminate. Rows are not
/// exchanged by the values at hand. Where the pattern lacks a place on the diagonal, rows are exchanged before the
/// elimination; in a symmetric pattern, an unknown without such a place comes after all its neighbours that have one.
/// So the factors of a quadratic programme's optimality conditions exist if its Hessian is definite and its constraints
/// are independent.
class Analysis {
 public:
  Analysis() : Analysis(Sparsity()) {}
  /// ValueError for a pattern that is not square, whose matrices are all singular or, with `.symmetric`, that is not
  /// symmetric; where the factors would have more than 2³⁰ numbers.
  ///   rc::sparse::Analysis analysis(a.sparsity, {.symmetric = true});
  explicit Analysis(const Sparsity& sparsity, AnalysisOptions options = {});
  /// For matrices like this one, whose diagonal may be small. Unless symmetric, its values are read and rows exchanged
  /// so that each element of the diagonal is at least a tenth of its column's greatest, or else that the least of these
  /// parts is as great as can be; of several matrices, the least in any of them counts. ValueError as above, and where
  /// the values are not [batch…, nnz]; TypeError unless they are floating.
  ///   rc::Tensor x = rc::sparse::solve(a, b, rc::sparse::Analysis(a));
  explicit Analysis(const Sparse& a, AnalysisOptions options = {});

  const Sparsity& sparsity() const;
  bool is_symmetric() const;
  /// Nonzeros of the factors: of D and of L, unless symmetric also of U.
  std::int64_t factor_nnz() const;
  /// The columns, as they are eliminated.
  std::vector<std::int64_t> order() const;
  friend bool operator==(const Analysis& a, const Analysis& b) { return a.data_ == b.data_ || a.is_equal(b); }

  // What operations read, and their parameter as text.
  struct Data;
  const Data& data() const { return *data_; }
  void print_parameter(std::string& out) const;
  void parse_parameter(std::string_view& text);

 private:
  bool is_equal(const Analysis& other) const;
  std::shared_ptr<const Data> data_;
};

/// `Analysis of Sparsity 3 x 3, 7 nonzeros: L D U of 9 nonzeros`
std::ostream& operator<<(std::ostream& out, const Analysis& analysis);

/// The factors of a matrix, or of several with one pattern, for any number of right-hand sides. A tree: it maps, and
/// derivatives reach `values`.
struct Factor {
  Analysis analysis;
  Tensor values;  ///< of the matrix, [batch…, nnz]: its memory, so write to a's values only before `factor`
  /// i64[batch…, numbers]: the bits of float64 numbers, in dense panels that hold some zeros beside the nonzeros. They
  /// carry no derivative: `solve` has that of `values`.
  Tensor numbers;
};

/// The factors of a, computed in float64 whatever its dtype. TypeError unless the values are floating; ValueError where
/// a has another pattern than the analysis, or a pivot is zero; the error names its row.
///   rc::sparse::Factor f = rc::sparse::factor(a, analysis);
Factor factor(const Sparse& a, const Analysis& analysis);
Factor factor(const Sparse& a, AnalysisOptions options = {});

/// The x with a x = b, in the dtype that those of a and b promote to: [batch…, n] of a vector [n]; [batch…, n, k] of a
/// matrix [batch…, n, k], batches broadcast.
///
/// Each solution is put into the system once. A column of x that is exact for elements of a and b within a part of
/// 7e-15 (64 roundings) of those given stays as it is. Another is refined until it is as exact, or until two steps have
/// not halved that part (the componentwise backward error of Arioli, Demmel and Duff, SIAM J. Matrix Anal. 10, 1989).
/// How far x is from the exact one depends on the system's condition. A column of x is the same, to the bit, whatever
/// columns stand beside it. Derivatives by a's values and by b, of any order, solve systems with the same factor.
///
/// ValueError where sizes differ, and where a column of finite numbers has no solution that is exact for elements that
/// differ by a part of 1e-8: the matrix is singular, or its pivots are too small. A NaN in a or b is no error; one in b
/// stays in its column.
///   Tensor x = rc::sparse::solve(a, b);
Tensor solve(const Factor& factor, const Tensor& b);
Tensor solve(const Sparse& a, const Tensor& b, const Analysis& analysis);
Tensor solve(const Sparse& a, const Tensor& b, AnalysisOptions options = {});

}  // namespace ricci::sparse
