// The type of a Jacobian: the tree of the output outside, the tree of the input in place of each Tensor. A struct
// outside becomes a JacobianOf, indexed by members. Knows nothing of how derivatives are computed. Start with
// `Jacobian`.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "ricci/tree/walk.h"

namespace ricci {

template <class S, class I>
struct JacobianOf;

/// `jacobian_of<O, I>::type`: of an output O with respect to an input I. A value that is no Tensor stays.
template <class O, class I>
struct jacobian_of {
  using type = O;
};
template <class O, class I>
using Jacobian = typename jacobian_of<O, I>::type;

template <class I>
struct jacobian_of<Tensor, I> {
  using type = I;
};
template <class... O, class I>
struct jacobian_of<std::tuple<O...>, I> {
  using type = std::tuple<Jacobian<O, I>...>;
};
template <class A, class B, class I>
struct jacobian_of<std::pair<A, B>, I> {
  using type = std::pair<Jacobian<A, I>, Jacobian<B, I>>;
};
template <class O, class A, class I>
  requires tree::is_list<std::vector<O, A>>
struct jacobian_of<std::vector<O, A>, I> {
  using type = std::vector<Jacobian<O, I>>;
};
template <class O, std::size_t n, class I>
struct jacobian_of<std::array<O, n>, I> {
  using type = std::array<Jacobian<O, I>, n>;
};
template <class O, class I>
struct jacobian_of<std::optional<O>, I> {
  using type = std::optional<Jacobian<O, I>>;
};
template <class O, class C, class A, class I>
struct jacobian_of<std::map<std::string, O, C, A>, I> {
  using type = std::map<std::string, Jacobian<O, I>, C>;
};

namespace tree {

template <class S>
concept HasParts = Struct<S> || HasFields<S>;

/// Calls f with the parts of a struct, or of a class that shows them by tree_fields.
template <class S, class F>
constexpr decltype(auto) with_parts(S& object, F&& f) {
  if constexpr (HasFields<std::remove_const_t<S>>) return std::apply(f, std::remove_const_t<S>::tree_fields(object));
  else return with_fields(object, f);
}

/// Names the tuple without making one: in a struct that contains itself, its parts are not complete yet.
template <class I>
struct JacobianFieldsOf {
  template <class... O>
  using Tuple = std::type_identity<std::tuple<Jacobian<std::remove_const_t<O>, I>...>>;
  template <class... O>
  constexpr Tuple<O...> operator()(O&...) const {
    return {};
  }
};

}  // namespace tree

template <tree::HasParts S>
struct jacobian_of<S, Tensor> {
  using type = S;
};
template <tree::HasParts S, class I>
struct jacobian_of<S, I> {
  using type = JacobianOf<S, I>;
};
template <class S, class A, class B>
struct jacobian_of<JacobianOf<S, A>, B> {
  using type = JacobianOf<S, Jacobian<A, B>>;
};
template <class S, class A>
struct jacobian_of<JacobianOf<S, A>, Tensor> {
  using type = JacobianOf<S, A>;
};

template <class S, class I>
using JacobianFields = typename decltype(tree::with_parts(std::declval<S&>(), tree::JacobianFieldsOf<I>{}))::type;

/// The Jacobian of a struct S with respect to a tree I: for each field of S its Jacobian with respect to I.
///   H[&Linear::weight].bias    auto& [w, b] = H;    H.get<0>()
template <class S, class I>
struct JacobianOf {
  JacobianFields<S, I> fields;

  template <class T>
    requires std::is_object_v<T>
  const Jacobian<T, I>& operator[](T S::* member) const {
    return at(*this, member);
  }
  template <class T>
    requires std::is_object_v<T>
  Jacobian<T, I>& operator[](T S::* member) {
    return at(*this, member);
  }

  template <std::size_t n>
  const auto& get() const {
    return std::get<n>(fields);
  }
  template <std::size_t n>
  auto& get() {
    return std::get<n>(fields);
  }

  static auto tree_fields(auto& self) {
    return std::apply([](auto&... parts) { return std::tie(parts...); }, self.fields);
  }
  static constexpr const std::string_view* tree_names()
    requires tree::HasNames<S>
  {
    if constexpr (tree::HasFields<S>) return S::tree_names();
    else return tree::field_names<S>.data();
  }

 private:
  /// The field that lies in an S where `member` does.
  template <class T>
  static auto& at(auto& self, T S::* member) {
    const void* wanted = __builtin_addressof(tree::storage<S>.value.*member);
    constexpr bool is_const = std::is_const_v<std::remove_reference_t<decltype(self)>>;
    std::conditional_t<is_const, const Jacobian<T, I>, Jacobian<T, I>>* found = nullptr;
    const auto compare = [&](auto& place, auto& field) {
      if constexpr (std::is_same_v<std::remove_reference_t<decltype(place)>, T>) {
        if (__builtin_addressof(place) == wanted) found = __builtin_addressof(field);
      }
    };
    tree::with_parts(tree::storage<S>.value, [&](auto&... places) {
      std::apply([&](auto&... parts) { (compare(places, parts), ...); }, self.fields);
    });
    return *found;
  }
};

/// Puts a Jacobian together. `next()` gives its Tensors in order: for each Tensor of `out` those of `in`.
/// Other values are those of `out`, and of `in` inside each of them.
template <class O, class I, class Next>
Jacobian<O, I> build_jacobian(const O& out, const I& in, Next&& next);

namespace tree {

template <class T, class Next>
T with_leaves(T object, Next& next) {
  Walk into;
  walk(object, into);
  for (Tensor* leaf : into.leaves) *leaf = next();
  return object;
}

}  // namespace tree

template <class O, class I, class Next>
Jacobian<O, I> build_jacobian(const O& out, const I& in, Next&& next) {
  using J = Jacobian<O, I>;
  const auto build = [&](const auto& part) { return ricci::build_jacobian(part, in, next); };
  const auto braced = [&](const auto&... parts) { return J{build(parts)...}; };  // braces: from left to right
  if constexpr (tree::TensorLike<O>) {
    return tree::with_leaves(in, next);
  } else if constexpr (tree::is_optional<O>) {
    return out ? J(build(*out)) : J();
  } else if constexpr (tree::is_tuple<O>) {
    return std::apply(braced, out);
  } else if constexpr (tree::is_array<O>) {
    return std::apply([&](const auto&... parts) { return J{{build(parts)...}}; }, out);
  } else if constexpr (tree::is_list<O>) {
    J result;
    for (const auto& part : out) result.push_back(build(part));
    return result;
  } else if constexpr (tree::is_map<O>) {
    J result;
    for (const auto& [key, part] : out) result.emplace(key, build(part));
    return result;
  } else if constexpr (tree::HasParts<O> && std::is_same_v<I, Tensor>) {
    return tree::with_leaves(out, next);
  } else if constexpr (tree::HasParts<O>) {
    return tree::with_parts(out, [&](const auto&... parts) { return J{{build(parts)...}}; });
  } else {
    return out;
  }
}

}  // namespace ricci

template <class S, class I>
struct std::tuple_size<ricci::JacobianOf<S, I>> : std::tuple_size<ricci::JacobianFields<S, I>> {};
template <std::size_t n, class S, class I>
struct std::tuple_element<n, ricci::JacobianOf<S, I>> : std::tuple_element<n, ricci::JacobianFields<S, I>> {};
