// The values of a tree that are no Tensors, listed so that compiled code can keep, compare and restore them without
// knowing their types. Not for users; control flow is written with it. Start with `values`.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "ricci/tree/walk.h"

namespace ricci::tree {

template <class T>
inline constexpr bool has_equality = std::equality_comparable<T>;
template <class T, class A>
inline constexpr bool has_equality<std::vector<T, A>> = has_equality<T>;  // vector's own == is declared for every T

/// What can be done with a value of a C++ type that only its tree knows.
struct ValueType {
  std::shared_ptr<const void> (*copy)(const void* value);
  /// By ==, but among numbers, complex numbers and vectors of numbers a NaN equals any other, and 0. is not -0. Null
  /// where the type has no ==.
  bool (*equal)(const void* left, const void* right);
  void (*assign)(void* to, const void* from);  ///< does nothing where the type cannot be assigned
};

template <class T>
bool are_equal(const T& l, const T& r) {
  if constexpr (std::floating_point<T>) return l == r ? std::signbit(l) == std::signbit(r) : l != l && r != r;
  else return static_cast<bool>(l == r);
}
template <class E>
bool are_equal(const std::complex<E>& l, const std::complex<E>& r) {
  return tree::are_equal(l.real(), r.real()) && tree::are_equal(l.imag(), r.imag());
}
template <class T, class A>
bool are_equal(const std::vector<T, A>& l, const std::vector<T, A>& r) {
  const auto equal = [](const T& a, const T& b) { return tree::are_equal(a, b); };
  return std::equal(l.begin(), l.end(), r.begin(), r.end(), equal);
}
template <class T>
bool are_equal_values(const void* left, const void* right) {
  return tree::are_equal(*static_cast<const T*>(left), *static_cast<const T*>(right));
}

template <class T>
constexpr auto equality_of() -> bool (*)(const void*, const void*) {
  if constexpr (has_equality<T>) return &are_equal_values<T>;
  else return nullptr;
}

template <class T>
inline constexpr ValueType value_type = {
    .copy = [](const void* value) -> std::shared_ptr<const void> {
      return std::make_shared<const T>(*static_cast<const T*>(value));
    },
    .equal = equality_of<T>(),
    .assign =
        [](void* to, const void* from) {
          if constexpr (std::is_copy_assignable_v<T>) *static_cast<T*>(to) = *static_cast<const T*>(from);
        },
};

struct Value {
  void* object;
  const ValueType* type;
};
using Values = std::vector<Value>;
using CopiedValues = std::vector<std::shared_ptr<const void>>;

void list_values_of_any(const AnyTree& tree, Values& into);

/// Appends the values of `object` in the order of its nodes. Those of a const tree are there to be read only.
template <class T>
void list_values(T& object, Values& into) {
  using Plain = std::remove_const_t<T>;
  const auto list_all = [&into](auto&... parts) { (tree::list_values(parts, into), ...); };
  if constexpr (TensorLike<Plain>) {
    return;
  } else if constexpr (std::is_same_v<Plain, AnyTree>) {
    list_values_of_any(object, into);
  } else if constexpr (is_optional<Plain>) {
    if (object) tree::list_values(*object, into);
  } else if constexpr (is_tuple<Plain>) {
    std::apply(list_all, object);
  } else if constexpr (is_list<Plain>) {
    for (auto& part : object) tree::list_values(part, into);
  } else if constexpr (is_map<Plain>) {
    for (auto& [key, part] : object) tree::list_values(part, into);
  } else if constexpr (HasFields<Plain>) {
    std::apply(list_all, Plain::tree_fields(object));
  } else if constexpr (Struct<Plain>) {
    with_fields(object, list_all);
  } else {
    into.push_back({const_cast<Plain*>(&object), &value_type<Plain>});
  }
}

/// They live no longer than the tree, and only while no container in it changes size.
template <class T>
Values values(T& tree) {
  Values list;
  tree::list_values(tree, list);
  return list;
}

CopiedValues copy_values(const Values& values);
/// The number of the first value that differs; how many there are if none does. Values that have no == count as equal.
/// Requires: values of trees of one structure, or copies of them.
std::size_t first_difference(const Values& values, const CopiedValues& other);
std::size_t first_difference(const Values& values, const Values& other);
void assign_values(const Values& into, const CopiedValues& from);

/// Value i and its C++ type: `rate is of type double`.
std::string described_value(const Walk& walk, std::size_t i);

}  // namespace ricci::tree
