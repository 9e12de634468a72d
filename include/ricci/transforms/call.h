// How transforms take a function by name, call it, and speak about its type at compile time.
#pragma once

#include <array>
#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>

#include "ricci/tensor.h"
#include "ricci/transforms/runs.h"
#include "ricci/tree.h"

namespace ricci {

using Unary = Tensor(const Tensor&);
using Binary = Tensor(const Tensor&, const Tensor&);
using where_t = std::source_location;

struct has_aux_t {};
struct strict_t {};
inline constexpr has_aux_t has_aux{};  ///< f returns std::pair{output, aux}: aux comes back without derivatives
inline constexpr strict_t strict{};    ///< an output that does not depend on the primals is an error

/// An overloaded operation passed by name, in its two-tensor form; worse than Unary, so that the one-tensor form wins.
struct BinaryName {
  Binary* f;
  BinaryName(Binary* function) : f(function) {}  // NOLINT(google-explicit-constructor)
  Tensor operator()(const Tensor& a, const Tensor& b) const { return f(a, b); }
};

namespace call {

template <class F, class... A>
inline constexpr bool takes = std::is_invocable_v<const F&, A...> || std::is_invocable_v<const F&, A&...>;

/// f(a...), or (a.*f)(more...) for a pointer to a member function: `vmap(&Model::apply)(model, x)`.
template <class F, class... A>
decltype(auto) plainly(const F& f, A&&... a) {
  if constexpr (std::is_member_function_pointer_v<F>) {
    return [f](auto&& object, auto&&... more) -> decltype(auto) {
      return (std::forward<decltype(object)>(object).*f)(std::forward<decltype(more)>(more)...);
    }(std::forward<A>(a)...);
  } else {
    return f(std::forward<A>(a)...);
  }
}

/// f on rvalues if it takes them, else on lvalues.
template <class F, class... A>
decltype(auto) invoke(const F& f, std::tuple<A...>& arguments) {
  static_assert(takes<F, A...>,
                "ricci: this callable cannot be called with these arguments: it must be callable as const (no mutable "
                "lambda), take as many arguments, and have one overload that fits; else pass a lambda that calls it");
  if constexpr (std::is_invocable_v<const F&, A...>)
    return std::apply([&](A&... a) -> decltype(auto) { return plainly(f, std::move(a)...); }, arguments);
  else if constexpr (takes<F, A...>)
    return std::apply([&](A&... a) -> decltype(auto) { return plainly(f, a...); }, arguments);
}

template <class F, class... A>
auto result_type() {
  if constexpr (std::is_invocable_v<const F&, A...>)
    return std::type_identity<tree::plain_t<std::invoke_result_t<const F&, A...>>>{};
  else if constexpr (takes<F, A...>) return std::type_identity<tree::plain_t<std::invoke_result_t<const F&, A&...>>>{};
  else return std::type_identity<Tensor>{};
}
template <class F, class... A>
using result_t = typename decltype(result_type<F, A...>())::type;

template <class R>
inline constexpr bool is_two_things = false;
template <class A, class B>
inline constexpr bool is_two_things<std::pair<A, B>> = true;
template <class A, class B>
inline constexpr bool is_two_things<std::tuple<A, B>> = true;

template <class R>
consteval void check_pair() {
  static_assert(is_two_things<R>,
                "ricci: has_aux needs a function that returns exactly two things, std::pair{output, aux}");
}

/// What f returns, with aux a pair; where that is nothing, `run` refuses it.
template <bool aux = false, class Run, class F, class... A>
auto result_of(Run& run, const F& f, std::tuple<A...>& arguments) {
  using R = result_t<F, A...>;
  if constexpr (aux && !is_two_things<R>) {
    check_pair<R>();
    return std::pair<Tensor, Tensor>();  // keeps the compiler from a second message
  } else if constexpr (std::is_void_v<R>) {
    call::invoke(f, arguments);
    run.refuse("nothing");
    return Tensor();
  } else {
    return R(call::invoke(f, arguments));
  }
}

template <class T>
tree::Walk walk(T& object) {
  tree::Walk walk;
  tree::walk(object, walk);
  return walk;
}

template <class... A>
std::array<tree::Walk, sizeof...(A)> walks(std::tuple<A...>& arguments) {
  std::array<tree::Walk, sizeof...(A)> walks;
  std::size_t i = 0;
  std::apply([&](A&... a) { (tree::walk(a, walks[i++]), ...); }, arguments);
  return walks;
}

/// Which arguments are differentiated: positions among `count`, negative ones from the back.
template <int count, int... I>
struct Argnums {
  static constexpr std::array<int, sizeof...(I)> wrapped = {(I < 0 ? I + count : I)...};
  static constexpr bool in_range = ((I >= -count && I < count) && ...);
  static constexpr bool distinct = [] {
    constexpr std::array<int, sizeof...(I)> positions = {(I < 0 ? I + count : I)...};
    for (std::size_t a = 0; a < positions.size(); ++a)
      for (std::size_t b = a + 1; b < positions.size(); ++b)
        if (positions[a] == positions[b]) return false;
    return true;
  }();
  static_assert(in_range,
                "ricci: argnum out of range: it must name one of the arguments of the call (a negative one counts from "
                "the last)");
  static_assert(distinct, "ricci: argnum repeated: name each differentiated argument once");

  static constexpr bool contains(int argument) {
    for (int i : wrapped)
      if (i == argument) return true;
    return false;
  }
  /// The chosen argument, or a tuple of copies of the chosen ones.
  template <class... A>
  static auto choose(const std::tuple<A...>& arguments) {
    if constexpr (sizeof...(I) == 1) return std::get<static_cast<std::size_t>(wrapped[0])>(arguments);
    else return pick(arguments, std::make_index_sequence<sizeof...(I)>{});
  }

 private:
  template <class T, std::size_t... K>
  static auto pick(const T& arguments, std::index_sequence<K...>) {
    return std::tuple(std::get<static_cast<std::size_t>(wrapped[K])>(arguments)...);
  }
};
template <int count>
struct Argnums<count> : Argnums<count, 0> {};

template <class T>
consteval void check_differentiable() {
  static_assert(tree::can_hold_tensor<T>, "ricci: a differentiated argument must be able to hold a Tensor");
}

/// The chosen arguments can be differentiated.
template <class Chosen, class... A>
constexpr void check_chosen(const std::tuple<A...>&) {
  [&]<std::size_t... K>(std::index_sequence<K...>) {
    (
        [&] {
          if constexpr (Chosen::contains(static_cast<int>(K))) check_differentiable<A>();
        }(),
        ...);
  }(std::index_sequence_for<A...>{});
}

/// Walks of the parts of what `Argnums::choose` gave.
template <class T>
auto walks_of_chosen(T& chosen, std::true_type /*one argument*/) {
  return std::array<tree::Walk, 1>{walk(chosen)};
}
template <class... T>
auto walks_of_chosen(std::tuple<T...>& chosen, std::false_type) {
  return walks(chosen);
}

}  // namespace call
}  // namespace ricci
