// Linear maps: as a matrix, as a matrix with few diagonals or of a triangle, as a function, as the derivative of a
// function, and what is made of those. Knows no solver. Start with `LinearOperator`.
#pragma once

#include <functional>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "ricci/sparse/sparse.h"
#include "ricci/transforms/linearize.h"
#include "ricci/type.h"

namespace ricci {

namespace sparse {

/// Linear, from a Tensor to a Tensor.
using LinearFunction = std::function<Tensor(const Tensor&)>;

}  // namespace sparse

namespace operators {

/// What a solver may rely on. Nothing checks it. Of complex numbers, `symmetric` means Hermitian.
struct Tags {
  bool symmetric = false;
  bool positive = false;  ///< symmetric and positive definite
  bool is_symmetric() const { return symmetric || positive; }
};

// The matrices below are trees: a transform maps and differentiates their Tensors. For many matrices, map over one.

struct Matrix {
  Tensor values;  ///< [m, n]
  Tags tags = {};
};
struct Diagonal {
  Tensor values;  ///< [n]
  Tags tags = {.symmetric = true};
};
/// Of `values` only the triangle is read.
struct Triangular {
  Tensor values;  ///< [n, n]
  bool upper = true;
};
struct Tridiagonal {
  Tensor lower, diagonal, upper;  ///< [n - 1], [n], [n - 1]: below the diagonal, on it, above it
  Tags tags = {};
};

/// The matrix, where it is written down.
using Entries = std::variant<std::monostate, Matrix, Diagonal, Triangular, Tridiagonal, Sparse>;

}  // namespace operators

/// A linear map of a Tensor. A function maps a Tensor of any shape; a matrix [m, n] maps a vector [n] to one [m].
///   rc::sparse::cg({[&](Tensor x) { return d * x - x.roll(1, 0); }, [&](Tensor r) { return r / d; }}, b);
///   rc::LinearOperator a = rc::operators::Matrix{values, {.positive = true}};
struct LinearOperator {
  sparse::LinearFunction apply;
  /// About the inverse of `apply`; for cg and minres symmetric and positive definite. Empty: none. What it captures has
  /// no influence on solutions, and so no derivative.
  sparse::LinearFunction preconditioner;
  /// The transpose of `apply`, which systems of derivatives are solved with; of a symmetric map, `apply` itself. Empty:
  /// it is found from `apply`, as by `vjp`. What it captures has no derivative; that is `apply`'s.
  sparse::LinearFunction transpose;
  operators::Tags tags;
  operators::Entries entries;
  /// Shape and dtype of the argument. Empty: those of the result, as of most functions.
  std::optional<Type> argument;

  template <class F>
    requires(std::is_invocable_r_v<Tensor, F&, const Tensor&>)
  LinearOperator(F function, sparse::LinearFunction near_inverse = {}, sparse::LinearFunction transposed = {})
      : apply(std::move(function)), preconditioner(std::move(near_inverse)), transpose(std::move(transposed)) {}
  /// ValueError where Tensors have other shapes than those written above; TypeError unless they are floating or
  /// complex.
  LinearOperator(const operators::Matrix& a);
  LinearOperator(const operators::Diagonal& a);
  LinearOperator(const operators::Triangular& a);
  LinearOperator(const operators::Tridiagonal& a);
  /// The product with a sparse matrix [m, n]: derivatives reach its values.
  LinearOperator(const Sparse& a, sparse::LinearFunction near_inverse = {}, sparse::LinearFunction transposed = {});
};

/// x ↦ a(x) + b(x), and so on. A sum of positive operators is positive; sums, differences and multiples of symmetric
/// ones are symmetric. Entries of the result are not written down. A sum throws ValueError where a(x) and b(x) have
/// different shapes.
LinearOperator operator+(const LinearOperator& a, const LinearOperator& b);
LinearOperator operator-(const LinearOperator& a, const LinearOperator& b);
LinearOperator operator*(const Tensor& number, const LinearOperator& a);
LinearOperator operator-(const LinearOperator& a);

namespace operators {

/// x ↦ x, of Tensors like this one.
LinearOperator identity(const Tensor& like);
/// x ↦ a(b(x)).
LinearOperator compose(const LinearOperator& a, const LinearOperator& b);
/// The transpose, of complex numbers without conjugates. ValueError for a function that has neither a transpose nor an
/// `argument`.
LinearOperator transposed(const LinearOperator& a);
/// The matrix [m, n] of a map from n elements to m, those of a Tensor row-major. What is not written down is found by n
/// products, side by side. ValueError for a function without an `argument`.
///   Tensor m = rc::operators::as_matrix(rc::operators::jacobian(f, x));
Tensor as_matrix(const LinearOperator& a);

/// A map between trees, as a map between the vectors that `ravel` makes of these trees. X: the tree that the map takes.
template <class X>
struct OfTrees {
  LinearOperator of_vectors;
  Unravel<X> unravel;
};

/// `map` with an argument like x.
LinearOperator with_argument(LinearOperator map, const Tensor& x);

/// The derivative of f at x, by `linearize`: f runs once. Its argument is a tree like x, its result one like f(x).
/// `linear_solve` with it is a step of Newton's method.
///   rc::Point step = rc::linear_solve(rc::operators::jacobian(f, x), f(x)).value;
template <class F, class X>
OfTrees<tree::plain_t<X>> jacobian(const F& f, const X& x, Tags tags = {}) {
  const auto [vector, unravel] = ravel(x);
  const auto of_vector = [&](const Tensor& v) { return ravel(sparse::called(f, unravel(v))).vector; };
  const auto [value, product] = linearize(of_vector, vector);
  LinearOperator map = with_argument(product, vector);
  map.tags = tags;
  return {std::move(map), unravel};
}

}  // namespace operators
}  // namespace ricci
