// Which elements of a matrix may be nonzero, and how to find them for a Jacobian or a Hessian. Knows nothing of colors.
// Start with `jacobian_sparsity`.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <span>
#include <vector>

#include "ricci/ravel.h"
#include "ricci/transforms/grad.h"

namespace ricci {

/// The places of a matrix's nonzeros, row by row (CSR), with PyTorch's names. Immutable; a copy shares them. Transforms
/// leave a Sparsity alone, as a number in a tree.
class Sparsity {
 public:
  Sparsity() : Sparsity(0, 0, {0}, {}) {}
  /// Row i has the columns `col_indices[crow_indices[i]]` up to `col_indices[crow_indices[i + 1]]`, ascending. Throws
  /// ValueError where the lists do not describe a matrix of that size, IndexError for a column outside it.
  ///   rc::Sparsity diagonal(3, 3, {0, 1, 2, 3}, {0, 1, 2});
  Sparsity(std::int64_t rows, std::int64_t columns, std::vector<std::int64_t> crow_indices,
           std::vector<std::int64_t> col_indices);
  /// Of pairs in any order; a pair that is there twice is one place. IndexError for one outside the matrix.
  static Sparsity of_pairs(std::int64_t rows, std::int64_t columns,
                           std::vector<std::pair<std::int64_t, std::int64_t>> pairs);
  /// The nonzeros of a matrix [rows, columns]; ValueError for another shape.
  static Sparsity of_dense(const Tensor& matrix);

  std::int64_t rows() const { return data_->rows; }
  std::int64_t columns() const { return data_->columns; }
  std::int64_t nnz() const { return std::ssize(data_->col_indices); }
  std::span<const std::int64_t> row(std::int64_t i) const;  ///< its columns; IndexError outside 0 … rows - 1
  std::span<const std::int64_t> crow() const { return data_->crow_indices; }
  std::span<const std::int64_t> col() const { return data_->col_indices; }

  Tensor crow_indices() const;  ///< i64[rows + 1], without copying: do not write to it
  Tensor col_indices() const;   ///< i64[nnz], without copying
  Tensor row_indices() const;   ///< i64[nnz]: the row of each nonzero
  /// The same of the transposed matrix.
  Sparsity transposed() const;
  /// bool[rows, columns]
  Tensor to_dense() const;
  friend bool operator==(const Sparsity& a, const Sparsity& b) { return a.data_ == b.data_ || a.is_equal(b); }

 private:
  struct Data {
    std::int64_t rows, columns;
    std::vector<std::int64_t> crow_indices, col_indices;
  };
  bool is_equal(const Sparsity& other) const;
  Tensor shown(const std::vector<std::int64_t>& numbers) const;
  std::shared_ptr<const Data> data_;
};

/// `Sparsity 3 x 3, 3 nonzeros`, and below the places as stars, where they are few.
std::ostream& operator<<(std::ostream& out, const Sparsity& sparsity);

struct at_point_t {};
/// A pattern for the argument at hand alone: its values choose branches, places and the turns of loops.
inline constexpr at_point_t at_point{};

namespace sparse {

using VectorFunction = std::function<Tensor(const Tensor&)>;

/// For which values of the argument a pattern holds.
enum class Holds : bool { everywhere, at_point };

/// Of the derivative of a function from a vector to a vector, as forward mode computes it. `name` is for errors.
Sparsity sparsity_of(const char* name, const VectorFunction& f, const Tensor& x, where_t where, Holds holds);
Sparsity hessian_sparsity_of(const VectorFunction& loss, const Tensor& x, where_t where, Holds holds);

/// The elements that either of two patterns of one size has.
Sparsity united(const Sparsity& a, const Sparsity& b);

/// f of these arguments, each a copy of its own.
template <class F, class A, class... Rest>
decltype(auto) called(const F& f, A first, Rest... rest) {
  return call::invoke(f, first, rest...);
}
/// f as a function of the elements of its first argument, in the order of `ravel`, to those of its result. It lives no
/// longer than the arguments.
template <class F, class A, class... Rest>
VectorFunction of_vector(const F& f, const Unravel<A>& unravel, const Rest&... rest) {
  return [&](const Tensor& vector) { return ravel(called(f, unravel(vector), Rest(rest)...)).vector; };
}
/// The same of a function whose result is a loss.
template <class F, class A, class... Rest>
VectorFunction of_loss(const F& f, const Unravel<A>& unravel, const Rest&... rest) {
  return [&](const Tensor& vector) -> Tensor { return called(f, unravel(vector), Rest(rest)...); };
}

template <class F, class A, class... Rest>
Sparsity jacobian_sparsity(const F& f, where_t where, Holds holds, const A& x, const Rest&... rest) {
  const auto [vector, unravel] = ravel(x);
  return sparsity_of("jacobian_sparsity", of_vector(f, unravel, rest...), vector, where, holds);
}
template <class F, class A, class... Rest>
Sparsity hessian_sparsity(const F& f, where_t where, Holds holds, const A& x, const Rest&... rest) {
  const auto [vector, unravel] = ravel(x);
  return hessian_sparsity_of(of_loss(f, unravel, rest...), vector, where, holds);
}

}  // namespace sparse

/// Which elements of the Jacobian of f by its first argument may be nonzero: rows are the elements of the result,
/// columns those of the argument, both in the order of `ravel`. The pattern holds for every value of the first
/// argument; of the other arguments and of captured tensors the values at hand may choose the places that f reads. f is
/// written down as a program, as by `trace`, with its derivative. The sets of elements that each element depends on
/// pass through this program. Errors as of jvp and trace; ValueError where these sets take more than 8 GB.
///   rc::Sparsity pattern = rc::jacobian_sparsity([](Tensor x) { return x * x.roll(1, 0); }, rc::ones({6}));
/// With `at_point` behind f the pattern holds for x alone; TransformError where x has no values, as inside vmap.
///   rc::Sparsity here = rc::jacobian_sparsity(f, rc::at_point, x);
/// A class for the reason that vjp is.
template <class F, class A, class... Rest>
struct jacobian_sparsity : Sparsity {
  jacobian_sparsity(const F& f, const A& x, const Rest&... rest, where_t where = where_t::current())
      : Sparsity(sparse::jacobian_sparsity(f, where, sparse::Holds::everywhere, x, rest...)) {}
  jacobian_sparsity(const F& f, at_point_t, const A& x, const Rest&... rest, where_t where = where_t::current())
      : Sparsity(sparse::jacobian_sparsity(f, where, sparse::Holds::at_point, x, rest...)) {}
};
template <class F, class A, class... Rest>
jacobian_sparsity(const F&, const A&, const Rest&...)
    -> jacobian_sparsity<F, std::decay_t<const A>, std::decay_t<const Rest>...>;
template <class F, class A, class... Rest>
jacobian_sparsity(const F&, at_point_t, const A&, const Rest&...)
    -> jacobian_sparsity<F, std::decay_t<const A>, std::decay_t<const Rest>...>;
jacobian_sparsity(Unary*, const Tensor&) -> jacobian_sparsity<Unary*, Tensor>;

/// The same of the Hessian of a loss: a symmetric pattern. What is linear has no nonzeros there.
template <class F, class A, class... Rest>
struct hessian_sparsity : Sparsity {
  hessian_sparsity(const F& f, const A& x, const Rest&... rest, where_t where = where_t::current())
      : Sparsity(sparse::hessian_sparsity(f, where, sparse::Holds::everywhere, x, rest...)) {}
  hessian_sparsity(const F& f, at_point_t, const A& x, const Rest&... rest, where_t where = where_t::current())
      : Sparsity(sparse::hessian_sparsity(f, where, sparse::Holds::at_point, x, rest...)) {}
};
template <class F, class A, class... Rest>
hessian_sparsity(const F&, const A&, const Rest&...)
    -> hessian_sparsity<F, std::decay_t<const A>, std::decay_t<const Rest>...>;
template <class F, class A, class... Rest>
hessian_sparsity(const F&, at_point_t, const A&, const Rest&...)
    -> hessian_sparsity<F, std::decay_t<const A>, std::decay_t<const Rest>...>;

}  // namespace ricci
