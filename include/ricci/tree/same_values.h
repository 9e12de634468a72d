// Whether two trees of one type hold the same values beside their Tensors. Not for users; cond is written with it.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>

#include "ricci/tree/kind.h"

namespace ricci::tree {

/// Of trees that differ in structure only what both have is compared. A NaN is the same as any other; values that have no
/// == count as the same.
template <class T>
bool same_values(const T& left, const T& right) {
  const auto same_parts = [](const auto&... l) {
    return [&l...](const auto&... r) { return (tree::same_values(l, r) && ...); };
  };
  if constexpr (TensorLike<T>) {
    return true;
  } else if constexpr (is_optional<T>) {
    return !left || !right || tree::same_values(*left, *right);
  } else if constexpr (is_tuple<T>) {
    return std::apply(std::apply(same_parts, left), right);
  } else if constexpr (is_list<T>) {
    const auto count = static_cast<std::ptrdiff_t>(std::min(left.size(), right.size()));
    return std::equal(left.begin(), left.begin() + count, right.begin(),
                      [](const auto& l, const auto& r) { return tree::same_values(l, r); });
  } else if constexpr (is_map<T>) {
    return std::all_of(left.begin(), left.end(), [&right](const auto& l) {
      const auto r = right.find(l.first);
      return r == right.end() || tree::same_values(l.second, r->second);
    });
  } else if constexpr (HasFields<T>) {
    return tree::same_values(T::tree_fields(left), T::tree_fields(right));
  } else if constexpr (Struct<T>) {
    return with_fields(right, with_fields(left, same_parts));
  } else if constexpr (std::floating_point<T>) {
    return left == right || (left != left && right != right);
  } else if constexpr (std::equality_comparable<T>) {
    return left == right;
  } else {
    return true;
  }
}

}  // namespace ricci::tree
