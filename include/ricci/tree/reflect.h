// The fields of an aggregate struct, without a macro and without a base class: how many, their names, visiting them.
// Serves trees and the parameters of operations alike; knows neither. Start with `for_each_field` and `field_names`.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include "ricci/tree/bindings.h"

namespace ricci::tree {

inline constexpr int most_fields = 64;

// ── counting: S has n fields if S{…} takes n wildcards and no more ──

/// Converts to the type of any field of S; to bases of S, and nothing else, if `bases`.
template <class S, bool bases>
struct Wildcard {
  template <class T>
    requires(!std::is_same_v<T, S> && std::is_base_of_v<T, S> == bases)
  operator T() const {
    __builtin_unreachable();
  }
};

template <class S, std::size_t = 0>
using AnyField = Wildcard<S, false>;

/// The length of the longest list of wildcards that initialises an S, -1 if there is none. Shorter lists may fail:
/// the fields they leave out may have no default.
template <class S, class... Fields>
consteval int count_initializers() {
  constexpr std::size_t n = sizeof...(Fields);
  constexpr bool fits = requires { S{Fields{}...}; };
  if constexpr (n > most_fields) {
    return fits ? most_fields + 1 : -1;
  } else if constexpr (!fits && n > sizeof(S) * 8) {
    return -1;
  } else if constexpr (!fits || requires { S{Fields{}..., AnyField<S>{}}; }) {
    return count_initializers<S, Fields..., AnyField<S>>();
  } else {
    return static_cast<int>(n);
  }
}

/// Whether S can be initialised by wildcards, then `{}`, then wildcards.
template <class S, std::size_t... B, std::size_t... A>
consteval bool takes_braces(std::index_sequence<B...>, std::index_sequence<A...>) {
  return requires { S{AnyField<S, B>{}..., {}, AnyField<S, A>{}...}; };
}
template <class S, int before, int after>
inline constexpr bool takes_braces_between =
    takes_braces<S>(std::make_index_sequence<before>(), std::make_index_sequence<after>());

/// A C array takes one wildcard an element, but only one `{}`: with `{}` in its place the list is too long.
template <class S, int initializers, int at = 0>
consteval bool has_array() {
  if constexpr (at >= initializers) {
    return false;
  } else if constexpr (takes_braces_between<S, at, initializers - at - 1>) {
    return has_array<S, initializers, at + 1>();
  } else {
    return takes_braces_between<S, at, 0> || has_array<S, initializers, at + 1>();
  }
}

struct Unconvertible {};

/// Whether the first thing S{…} initialises is a base. Not so if it takes anything at all, as std::any does.
template <class S>
inline constexpr bool has_base = requires { S{Wildcard<S, true>{}}; } && !requires { S{Unconvertible{}}; };

struct Reachable {
  constexpr bool operator()(auto&...) const { return true; }
};

template <class S, int count>
inline constexpr bool has_bit_field =
    !std::is_same_v<decltype(Bindings<count>::visit(std::declval<S&>(), Reachable{})), bool>;

/// Why the fields of a struct cannot be visited.
enum class Refusal { none, not_aggregate, base, uncountable, too_many, array, bit_field };

template <class S>
consteval Refusal refusal() {
  if constexpr (!std::is_aggregate_v<S> || std::is_array_v<S>) return Refusal::not_aggregate;
  else if constexpr (has_base<S>) return Refusal::base;
  else {
    constexpr int initializers = count_initializers<S>();
    if constexpr (initializers < 0) return Refusal::uncountable;
    else if constexpr (has_array<S, initializers>()) return Refusal::array;
    else if constexpr (initializers > most_fields) return Refusal::too_many;
    else return has_bit_field<S, initializers> ? Refusal::bit_field : Refusal::none;
  }
}

/// The number of fields of S; a compile error says why if they cannot be visited.
template <class S>
consteval int count_fields() {
  constexpr Refusal why = refusal<S>();
  static_assert(why != Refusal::not_aggregate,
                "ricci: only an aggregate struct shows its fields: one without constructors and private members");
  static_assert(why != Refusal::base, "ricci: a struct with a base class cannot be a tree: make the base a member");
  static_assert(why != Refusal::uncountable,
                "ricci: a struct with a reference or an unusual member cannot be a tree: its fields cannot be counted");
  static_assert(why != Refusal::array, "ricci: a struct with a C array cannot be a tree: use std::array");
  static_assert(why != Refusal::too_many,
                "ricci: a struct with more than 64 fields cannot be a tree: group some of them in a struct");
  static_assert(why != Refusal::bit_field, "ricci: a struct with a bit-field cannot be a tree: use a whole integer");
  if constexpr (why == Refusal::none) return count_initializers<S>();
  else return 0;
}

template <class S>
inline constexpr int field_count = count_fields<S>();

// ── visiting ──

/// Calls f with all fields of `object`, as lvalues.
template <class S, class F>
constexpr decltype(auto) with_fields(S& object, F&& f) {
  return Bindings<field_count<std::remove_const_t<S>>>::visit(object, f);
}

/// Calls f(field) for each field, in order.
template <class S, class F>
constexpr void for_each_field(S& object, F&& f) {
  with_fields(object, [&](auto&... fields) { (f(fields), ...); });
}

template <class... T>
struct TypeList {};

struct TypeListOf {
  template <class... T>
  constexpr TypeList<T...> operator()(T&...) const {
    return {};
  }
};

/// `TypeList<…>` of the fields of S.
template <class S>
using field_types = decltype(with_fields(std::declval<S&>(), TypeListOf{}));

// ── names, read from how the compiler spells the address of a field ──

/// Room for an S that is never made: where its fields would lie.
template <class S>
union Storage {
  constexpr Storage() : nothing() {}
  constexpr ~Storage() {}
  char nothing;
  S value;
};

template <class S>
inline Storage<S> storage{};

template <std::size_t, class T>
struct Address {
  T* field;
};
template <class Places, class... T>
struct AddressList;
template <std::size_t... I, class... T>
struct AddressList<std::index_sequence<I...>, T...> : Address<I, T>... {};

struct AddressesOf {
  template <class... T>
  constexpr AddressList<std::index_sequence_for<T...>, T...> operator()(T&... fields) const {
    return {{__builtin_addressof(fields)}...};
  }
};

template <std::size_t I, class T>
constexpr T* address_at(const Address<I, T>& address) {
  return address.field;
}

template <auto address>
consteval const char* spelling() {
  return __PRETTY_FUNCTION__;
}

constexpr bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// The last word of `…::weight)]`; empty if it is no identifier.
constexpr std::string_view last_identifier(std::string_view text) {
  while (!text.empty() && !is_word(text.back())) text.remove_suffix(1);
  std::size_t start = text.size();
  while (start > 0 && is_word(text[start - 1])) --start;
  text.remove_prefix(start);
  return text.empty() || (text.front() >= '0' && text.front() <= '9') ? std::string_view() : text;
}

template <class S, std::size_t... I>
constexpr std::array<std::string_view, sizeof...(I)> names_of(std::index_sequence<I...>) {
  [[maybe_unused]] constexpr auto addresses = with_fields(storage<S>.value, AddressesOf{});
  return {last_identifier(spelling<address_at<I>(addresses)>())...};
}

/// The names of the fields of S, in order; empty where the compiler does not tell.
template <class S>
inline constexpr auto field_names = names_of<S>(std::make_index_sequence<static_cast<std::size_t>(field_count<S>)>{});

/// Calls f(name, field) for each field, in order.
template <class S, class F>
constexpr void for_each_named_field(S& object, F&& f) {
  with_fields(object, [&](auto&... fields) {
    const std::string_view* name = field_names<std::remove_const_t<S>>.data();
    (f(*name++, fields), ...);
  });
}

/// Calls f(left, right) for each field of two structs of one type, in order.
template <class S, class F>
constexpr void for_each_field_pair(const S& left, const S& right, F&& f) {
  with_fields(left, [&](const auto&... a) { with_fields(right, [&](const auto&... b) { (f(a, b), ...); }); });
}

}  // namespace ricci::tree
