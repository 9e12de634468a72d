// Rows of different lengths: what vmap gives for results whose first size differs per example
// (`.out_dims = rc::ragged`). All rows lie one after the other in one tensor, which is what derivatives see.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "ricci/tensor.h"
#include "ricci/tree/kind.h"

namespace ricci {

/// Row i is values[offsets[i]], …, values[offsets[i + 1] - 1]. A tree; differentiable in `values`. No axis of its
/// tensors runs over the rows, so vmap, scan, map and stack_trees refuse it with a ValueError: map over `pad(fill)` and
/// `lengths()`, or values by value with `map`; `stack_rows` stacks.
///   rc::Ragged found = rc::vmap(f, {.out_dims = rc::ragged})(xs);  rc::Tensor means = found.mean();
struct Ragged {
  Tensor values;           ///< [total, …]
  Tensor offsets;          ///< int64 [rows + 1], from 0 to total
  using is_ragged = void;  ///< not for users: tells trees what this is

  std::int64_t rows() const;
  Tensor lengths() const;                     ///< int64 [rows]
  Tensor operator[](std::int64_t row) const;  ///< [length, …], a view of `values`; IndexError if there is no such row
  Tensor row_numbers() const;                 ///< int64 [total]: the row of each value

  // Over the values of each row: [rows, …].
  Tensor sum() const;   ///< 0 for an empty row
  Tensor mean() const;  ///< nan for an empty row
  Tensor max() const;   ///< ValueError if a row is empty
  Tensor min() const;

  /// The rows as [rows, longest, …], shorter ones filled up with `fill`.
  Tensor pad(const Tensor& fill) const;
  /// An elementwise function of all values: `r.map(rc::sin)`. ValueError if it changes their number.
  template <class F>
  Ragged map(const F& f) const {
    return with(f(values));
  }
  /// Other values in the same rows; ValueError if there are not as many.
  Ragged with(const Tensor& other) const;
};

/// The first lengths[i] entries of padded[i]: [rows, longest, …] → Ragged; the reverse of `pad`.
Ragged unpad(const Tensor& padded, const Tensor& lengths);
/// Row i of the result is the rows i of the parts, one after the other. ValueError if their numbers of rows differ.
Ragged cat_rows(const std::vector<Ragged>& parts);
/// One Ragged with the rows of all parts.
Ragged stack_rows(const std::vector<Ragged>& parts);

/// Value by value. Of two Ragged the rows must be equally long, else ValueError; a Tensor broadcasts against the
/// values.
Ragged operator+(const Ragged& a, const Ragged& b);
Ragged operator-(const Ragged& a, const Ragged& b);
Ragged operator*(const Ragged& a, const Ragged& b);
Ragged operator/(const Ragged& a, const Ragged& b);
Ragged operator+(const Ragged& a, const Tensor& b);
Ragged operator-(const Ragged& a, const Tensor& b);
Ragged operator*(const Ragged& a, const Tensor& b);
Ragged operator/(const Ragged& a, const Tensor& b);
Ragged operator+(const Tensor& a, const Ragged& b);
Ragged operator-(const Tensor& a, const Ragged& b);
Ragged operator*(const Tensor& a, const Ragged& b);
Ragged operator/(const Tensor& a, const Ragged& b);

// ── the tree of a ragged result ──

/// A tree with every Tensor replaced by a Ragged: a tuple, pair, vector, array, optional or map stays what it is.
template <class R>
struct ragged_of {
  static_assert(!tree::can_hold_tensor<R>,
                "ricci: a ragged result is a Tensor or a tuple, pair, vector, array, optional or map of them");
  using type = R;
};
template <class R>
using RaggedTree = typename ragged_of<R>::type;
template <>
struct ragged_of<Tensor> {
  using type = Ragged;
};
template <class... R>
struct ragged_of<std::tuple<R...>> {
  using type = std::tuple<RaggedTree<R>...>;
};
template <class A, class B>
struct ragged_of<std::pair<A, B>> {
  using type = std::pair<RaggedTree<A>, RaggedTree<B>>;
};
template <class R>
struct ragged_of<std::vector<R>> {
  using type = std::vector<RaggedTree<R>>;
};
template <class R, std::size_t n>
struct ragged_of<std::array<R, n>> {
  using type = std::array<RaggedTree<R>, n>;
};
template <class R>
struct ragged_of<std::optional<R>> {
  using type = std::optional<RaggedTree<R>>;
};
template <class R>
struct ragged_of<std::map<std::string, R>> {
  using type = std::map<std::string, RaggedTree<R>>;
};

/// `result` with `next()` in place of every Tensor, from left to right.
template <class R, class Next>
RaggedTree<R> to_ragged(const R& result, const Next& next) {
  if constexpr (std::is_same_v<R, Tensor>) return next();
  else if constexpr (tree::is_tuple<R>)
    return std::apply([&](const auto&... part) { return RaggedTree<R>{to_ragged(part, next)...}; }, result);
  else if constexpr (tree::is_optional<R>) return result ? RaggedTree<R>(to_ragged(*result, next)) : std::nullopt;
  else if constexpr (tree::is_list<R>) {
    RaggedTree<R> rows{};
    if constexpr (requires { rows.resize(result.size()); }) rows.resize(result.size());
    for (std::size_t i = 0; i < result.size(); ++i) rows[i] = to_ragged(result[i], next);
    return rows;
  } else if constexpr (tree::is_map<R>) {
    RaggedTree<R> rows;
    for (const auto& [key, part] : result) rows.emplace(key, to_ragged(part, next));
    return rows;
  } else {
    return result;
  }
}

}  // namespace ricci
