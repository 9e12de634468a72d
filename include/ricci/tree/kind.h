// What each C++ type is in a tree: a Tensor, a container of subtrees, a struct of fields, or a value that transforms
// leave alone. Decides by type alone; knows nothing of walking. Start with `is_leaf` and `can_hold_tensor`.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "ricci/tensor.h"
#include "ricci/tree/reflect.h"

namespace ricci::tree {

template <class T>
concept TensorLike = std::derived_from<T, Tensor>;  // a Tensor, or a class made from it

class AnyTree;  // a tree whose type is gone: ricci/tree/any.h

/// A class that shows its fields itself: `static auto tree_fields(auto& self) { return std::tie(self.a, self.b); }`.
template <class T>
concept HasFields = requires(T& t) { T::tree_fields(t); };

template <class T>
inline constexpr bool is_tuple = false;
template <class... T>
inline constexpr bool is_tuple<std::tuple<T...>> = true;
template <class A, class B>
inline constexpr bool is_tuple<std::pair<A, B>> = true;

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <class T>
inline constexpr bool is_map = false;
template <class T, class C, class A>
inline constexpr bool is_map<std::map<std::string, T, C, A>> = true;

template <class T>
inline constexpr bool is_array = false;
template <class T, std::size_t n>
inline constexpr bool is_array<std::array<T, n>> = true;

/// An aggregate struct: a node whose children are its fields. An empty one is a value.
template <class T>
concept Struct = std::is_class_v<T> && std::is_aggregate_v<T> && !std::is_empty_v<T> && !is_array<T> && !HasFields<T> &&
                 !TensorLike<T>;

/// A struct, or a class that also names the fields it shows: `static const std::string_view* tree_names()`.
template <class T>
concept HasNames = Struct<T> || requires { T::tree_names(); };

/// True for a value without subtrees. A vector of such values, of numbers for one, is such a value too.
template <class T>
inline constexpr bool is_leaf = !TensorLike<T> && !HasFields<T> && !Struct<T> && !is_tuple<T> && !is_optional<T> &&
                                !is_map<T> && !is_array<T> && !std::is_same_v<T, AnyTree>;
template <class T, class A>
inline constexpr bool is_leaf<std::vector<T, A>> = is_leaf<T>;

template <class T>
inline constexpr bool is_list = is_array<T>;
template <class T, class A>
inline constexpr bool is_list<std::vector<T, A>> = !is_leaf<T>;

// ── whether a Tensor can be inside; asked when T is complete, so that recursive structs work ──

template <class T>
concept Complete = requires { sizeof(T); };

enum class Through { trees, templates };  // what transforms reach, or the types any class template is made of as well

/// The types of the parts of a container; for another class template, the types it is made of.
template <class T>
struct PartTypes {
  using type = TypeList<>;
};
template <template <class...> class C, class... T>
struct PartTypes<C<T...>> {
  using type = TypeList<T...>;
};
template <class T, class A>
struct PartTypes<std::vector<T, A>> {
  using type = TypeList<T>;
};
template <class K, class T, class C, class A>
struct PartTypes<std::map<K, T, C, A>> {
  using type = TypeList<K, T>;
};
template <template <class, std::size_t> class C, class T, std::size_t n>
struct PartTypes<C<T, n>> {
  using type = TypeList<T>;
};

template <Through through, class T, class... Outer>
consteval bool reaches_tensor();

template <Through through, class... Outer, class... T>
consteval bool any_reaches_tensor(TypeList<T...>, TypeList<Outer...>) {
  return (reaches_tensor<through, std::remove_cvref_t<T>, Outer...>() || ...);
}

/// Outer: the types that are being looked into already, and add nothing.
template <Through through, class T, class... Outer>
consteval bool reaches_tensor() {
  if constexpr (std::is_same_v<T, AnyTree>) {
    return true;
  } else if constexpr ((std::is_same_v<T, Outer> || ...) || !std::is_class_v<T> || !Complete<T>) {
    return false;
  } else if constexpr (TensorLike<T>) {
    return true;
  } else if constexpr (HasFields<T>) {
    using Fields = decltype(T::tree_fields(std::declval<T&>()));
    return any_reaches_tensor<through>(typename PartTypes<Fields>::type{}, TypeList<T, Outer...>{});
  } else if constexpr (Struct<T>) {
    if constexpr (refusal<T>() != Refusal::none) return through == Through::trees;  // walking it says why it is refused
    else return any_reaches_tensor<through>(field_types<T>{}, TypeList<T, Outer...>{});
  } else if constexpr (through == Through::trees && is_leaf<T>) {
    return false;
  } else {
    return any_reaches_tensor<through>(typename PartTypes<T>::type{}, TypeList<T, Outer...>{});
  }
}

/// True if a tree of type T may have a Tensor leaf.
template <class T>
inline constexpr bool can_hold_tensor = reaches_tensor<Through::trees, std::remove_cvref_t<T>>();

/// True for a leaf such as `std::deque<Tensor>`, whose Tensors no transform would see.
template <class T>
inline constexpr bool hides_tensor = is_leaf<T> && reaches_tensor<Through::templates, T>();

// ── the type a tree is kept as: without references, and with Tensor for classes made from it ──

template <class T>
struct plain {
  using type = T;
};
template <class T>
using plain_t = typename plain<std::remove_cvref_t<T>>::type;

template <TensorLike T>
struct plain<T> {
  using type = Tensor;
};
template <class... T>
struct plain<std::tuple<T...>> {
  using type = std::tuple<plain_t<T>...>;
};
template <class A, class B>
struct plain<std::pair<A, B>> {
  using type = std::pair<plain_t<A>, plain_t<B>>;
};
template <TensorLike T>
struct plain<std::vector<T>> {
  using type = std::vector<Tensor>;
};
template <TensorLike T, std::size_t n>
struct plain<std::array<T, n>> {
  using type = std::array<Tensor, n>;
};
template <TensorLike T>
struct plain<std::optional<T>> {
  using type = std::optional<Tensor>;
};

}  // namespace ricci::tree
