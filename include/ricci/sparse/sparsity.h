// Which elements of a matrix may be nonzero, and how to find them for a Jacobian or a Hessian. Knows nothing of colors.
// Start with `jacobian_sparsity`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
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
template <int... I>
struct argnums_t {};
/// Which arguments a pattern is of: `argnums<1>` the second, `argnums<0, 2>` the first and the third, as of `grad`.
template <int... I>
inline constexpr argnums_t<I...> argnums{};

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
template <class F, class... A>
decltype(auto) called(const F& f, A... args) {
  return call::invoke(f, args...);
}
/// use(g, elements), where g is f as a function of the elements of its chosen arguments, in the order of `ravel`.
template <int... I, class Use, class F, class... A>
auto of_elements(const Use& use, const F& f, const A&... args) {
  using Chosen = call::Argnums<static_cast<int>(sizeof...(A)), I...>;
  call::check_chosen<Chosen, A...>();
  const auto all = std::tie(args...);
  return [&]<std::size_t... K, std::size_t... J>(std::index_sequence<K...>, std::index_sequence<J...>) {
    // The type is written out: std::tuple(p) of one pair p would be the tuple of its two parts.
    using Elements = std::tuple<std::tuple_element_t<Chosen::wrapped[K], std::tuple<A...>>...>;
    const auto [vector, unravel] = ravel(Elements(std::get<Chosen::wrapped[K]>(all)...));
    const auto of_vector = [&, &unravel = unravel](const Tensor& elements) {
      auto chosen = unravel(elements);
      const auto argument = [&]<std::size_t j>() -> std::tuple_element_t<j, std::tuple<A...>> {
        constexpr auto k = std::ranges::find(Chosen::wrapped, static_cast<int>(j)) - Chosen::wrapped.begin();
        if constexpr (k < std::ssize(Chosen::wrapped)) return std::get<k>(chosen);
        else return std::get<j>(all);
      };
      return called(f, argument.template operator()<J>()...);
    };
    return use(of_vector, vector);
  }(std::make_index_sequence<Chosen::wrapped.size()>{}, std::index_sequence_for<A...>{});
}

/// A pattern's arguments, behind the tags.
template <int... I>
struct PatternOf {
  where_t where;
  Holds holds = Holds::everywhere;

  template <class F, class... A>
  Sparsity jacobian(const F& f, at_point_t, const A&... args) const {
    return PatternOf{where, Holds::at_point}.jacobian(f, args...);
  }
  template <class F, int... chosen, class... A>
  Sparsity jacobian(const F& f, argnums_t<chosen...>, const A&... args) const {
    return PatternOf<chosen...>{where, holds}.jacobian(f, args...);
  }
  template <class F, class... A>
  Sparsity jacobian(const F& f, const A&... args) const {
    return of_elements<I...>(
        [&](const auto& of_vector, const Tensor& x) {
          const auto y = [&](const Tensor& v) { return ravel(of_vector(v)).vector; };
          return sparsity_of("jacobian_sparsity", y, x, where, holds);
        },
        f, args...);
  }
  template <class F, class... A>
  Sparsity hessian(const F& f, at_point_t, const A&... args) const {
    return PatternOf{where, Holds::at_point}.hessian(f, args...);
  }
  template <class F, int... chosen, class... A>
  Sparsity hessian(const F& f, argnums_t<chosen...>, const A&... args) const {
    return PatternOf<chosen...>{where, holds}.hessian(f, args...);
  }
  template <class F, class... A>
  Sparsity hessian(const F& f, const A&... args) const {
    return of_elements<I...>(
        [&](const auto& loss, const Tensor& x) { return hessian_sparsity_of(loss, x, where, holds); }, f, args...);
  }
};

}  // namespace sparse

/// Which elements of the Jacobian of f by its first argument may be nonzero: rows are the elements of the result,
/// columns those of the argument, both in the order of `ravel`. The pattern holds for every value of that argument; of
/// the other arguments and of captured tensors the values at hand may choose the places that f reads. f is written down
/// as a program, as by `trace`, with its derivative. The sets of elements that each element depends on pass through
/// this program. Errors as of jvp and trace; TypeError for complex arguments or results,
/// ValueError where these sets take more than 8 GB.
///   rc::Sparsity pattern = rc::jacobian_sparsity([](Tensor x) { return x * x.roll(1, 0); }, rc::ones({6}));
/// Behind f may stand `rc::argnums<1>`, for another argument, or `rc::argnums<0, 2>`, for the elements of one after
/// those of the other; and `rc::at_point`: the pattern holds for the arguments at hand alone. TransformError where they
/// have no values, as inside vmap.
///   rc::Sparsity here = rc::jacobian_sparsity(f, rc::argnums<1>, rc::at_point, x, y);
/// A class for the reason that vjp is.
template <class F, class... A>
struct jacobian_sparsity : Sparsity {
  jacobian_sparsity(const F& f, const A&... args, where_t where = where_t::current())
      : Sparsity(sparse::PatternOf<>{where}.jacobian(f, args...)) {}
};
template <class F, class... A>
jacobian_sparsity(const F&, const A&...) -> jacobian_sparsity<F, std::decay_t<const A>...>;
jacobian_sparsity(Unary*, const Tensor&) -> jacobian_sparsity<Unary*, Tensor>;

/// The same of the Hessian of a loss: a symmetric pattern. What is linear has no nonzeros there.
template <class F, class... A>
struct hessian_sparsity : Sparsity {
  hessian_sparsity(const F& f, const A&... args, where_t where = where_t::current())
      : Sparsity(sparse::PatternOf<>{where}.hessian(f, args...)) {}
};
template <class F, class... A>
hessian_sparsity(const F&, const A&...) -> hessian_sparsity<F, std::decay_t<const A>...>;

}  // namespace ricci
