// How transforms take a function by name, call it, and speak about its type at compile time.
#pragma once

#include <array>
#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>

#include "ricci/tensor.h"
#include "ricci/transforms/calls.h"
#include "ricci/tree.h"
#include "ricci/tree/any.h"

namespace ricci {

using Unary = Tensor(const Tensor&);
using Binary = Tensor(const Tensor&, const Tensor&);
using AlongAxis = Tensor(const Tensor&, std::int64_t);  // of softmax: so that its name alone says what is missing
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

/// Whether f(a...) is a call. (std::is_invocable asks the same by a dozen templates, which each lambda pays for.)
template <class F, class... A>
concept takes_exactly = (std::is_member_function_pointer_v<F> && std::is_invocable_v<const F&, A...>) ||
                        requires(const F& f) { f(std::declval<A>()...); };
template <class F, class... A>
concept takes = takes_exactly<F, A...> || takes_exactly<F, A&...>;

/// (a.*f)(more...) for a pointer to a member function: `vmap(&Model::apply)(model, x)`.
template <class F, class T, class... A>
decltype(auto) call_member(const F& f, T&& object, A&&... more) {
  return (std::forward<T>(object).*f)(std::forward<A>(more)...);
}

/// f on rvalues if it takes them, else on lvalues.
template <class F, class... A>
decltype(auto) invoke(const F& f, A&... a) {
  static_assert(takes<F, A...>,
                "ricci: this callable cannot be called with these arguments: it must be callable as const (no mutable "
                "lambda), take as many arguments, and have one overload that fits; else pass a lambda that calls it");
  constexpr bool takes_rvalues = takes_exactly<F, A...>;
  if constexpr (!takes<F, A...>) return;
  else if constexpr (std::is_member_function_pointer_v<F> && takes_rvalues) return call_member(f, std::move(a)...);
  else if constexpr (std::is_member_function_pointer_v<F>) return call_member(f, a...);
  else if constexpr (takes_rvalues) return f(std::move(a)...);
  else return f(a...);
}

template <class F, class... A>
struct Result {
  using type = Tensor;  // of a call that is an error
};
template <class F, class... A>
  requires takes<F, A...>
struct Result<F, A...> {
  using type = tree::plain_t<decltype(invoke(std::declval<const F&>(), std::declval<A&>()...))>;
};
template <class F, class... A>
using result_t = typename Result<F, A...>::type;

template <class R>
inline constexpr bool is_two_things = false;
template <class A, class B>
inline constexpr bool is_two_things<std::pair<A, B>> = true;
template <class A, class B>
inline constexpr bool is_two_things<std::tuple<A, B>> = true;

/// Stands for a result of two things that compiled code sees apart.
template <class First, class Second>
struct Apart {
  template <class Two>
  static tree::AnyTree taken(Two two, tree::AnyTree& rest) {
    auto& [first, second] = two;
    rest = tree::any(Second(std::move(second)));
    return tree::any(First(std::move(first)));
  }
};
template <class R>
using apart_t = Apart<std::tuple_element_t<0, R>, std::tuple_element_t<1, R>>;
template <class R>
inline constexpr bool is_apart = false;
template <class First, class Second>
inline constexpr bool is_apart<Apart<First, Second>> = true;

/// How compiled code calls an F with arguments of the types A: what it returns is converted to an R.
template <class F, class R, class Places, class... A>
struct Caller;
template <class F, class R, std::size_t... K, class... A>
struct Caller<F, R, std::index_sequence<K...>, A...> {
  static tree::AnyTree call(const void* object, [[maybe_unused]] tree::AnyTree* arguments,
                            [[maybe_unused]] tree::AnyTree& second) {
    const F& f = *reinterpret_cast<const F*>(const_cast<void*>(object));  // a function has no const
    if constexpr (std::is_void_v<R>) return invoke(f, arguments[K].template as<A>()...), tree::AnyTree();
    else if constexpr (is_apart<R>) return R::taken(invoke(f, arguments[K].template as<A>()...), second);
    else return tree::any(R(invoke(f, arguments[K].template as<A>()...)));
  }
};

template <class F, class R, class... A>
inline constexpr tree::FunctionType function_type = {&Caller<F, R, std::index_sequence_for<A...>, A...>::call};

/// `f`, which takes arguments of the types A, as compiled code sees it. What it returns is converted to an R; an
/// Apart says that it is two things.
template <class R, class... A, class F>
[[gnu::always_inline]] inline tree::AnyFunction any_function(const F& f) {
  return {reinterpret_cast<const void*>(&f), function_type<F, R, A...>};
}

template <class F>
struct Kept : tree::KeptFunction {
  explicit Kept(const F& function) : f(function) {}
  F f;

  static tree::KeptFunction* keep(const void* function, const void*& copy) {
    auto* const kept = new Kept(*static_cast<const F*>(function));
    copy = &kept->f;
    return kept;
  }
  static void destroy(tree::KeptFunction* kept) { delete static_cast<Kept*>(kept); }
};
template <class F, class R, class... A>
inline constexpr tree::FunctionType kept_function_type = {
    .call = &Caller<F, R, std::index_sequence_for<A...>, A...>::call,
    .keep = &Kept<F>::keep,
    .destroy = &Kept<F>::destroy};

/// The same of an `f` that may be called again after the call that it is given to: by a derivative.
template <class R, class... A, class F>
[[gnu::always_inline]] inline tree::AnyFunction kept_function(const F& f) {
  static_assert(std::is_copy_constructible_v<std::decay_t<F>>,
                "ricci: a function that is called again for a derivative must be copyable");
  if constexpr (std::is_function_v<F>) return any_function<R, A...>(f);
  else return {&f, kept_function_type<F, R, A...>};
}

template <class... A>
tree::Arguments any_list(A... a) {
  tree::Arguments list;
  (list.push_back(tree::any(std::move(a))), ...);
  return list;
}

/// What a function that returns an R gives a transform: `Kept` is how compiled code has it.
template <bool aux, class R>
struct Parts {
  using Kept = R;
  using Out = std::conditional_t<std::is_void_v<R>, Tensor, R>;
};
template <class R>
struct Parts<true, R> {
  static_assert(is_two_things<R>,
                "ricci: has_aux needs a function that returns exactly two things, std::pair{output, aux}");
  using Kept = void;
  using Out = Tensor;
  using Aux = Tensor;
};
template <class R>
  requires is_two_things<R>
struct Parts<true, R> {
  using Kept = apart_t<R>;
  using Out = std::tuple_element_t<0, R>;
  using Aux = std::tuple_element_t<1, R>;
};

template <class T>
tree::Walk walk(T& object) {
  tree::Walk walk;
  tree::walk(object, walk);
  return walk;
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
  /// The chosen arguments, of the types A, or a tuple of them.
  template <class... A>
  static auto chosen(const tree::Arguments& arguments) {
    tree::Arguments found = runs::those(wrapped, arguments);
    return taken<A...>(found);
  }
  /// The chosen one of what was found for arguments of the types A, or a tuple of the chosen ones.
  template <class... A>
  static auto taken(tree::Arguments& found) {
    return taken<std::tuple<A...>>(found, std::make_index_sequence<sizeof...(I)>{});
  }

 private:
  template <class List, std::size_t... K>
  static auto taken(tree::Arguments& found, std::index_sequence<K...>) {
    if constexpr (sizeof...(K) == 1) return std::move(found[0]).template take<std::tuple_element_t<wrapped[0], List>>();
    else
      return std::tuple<std::tuple_element_t<wrapped[K], List>...>(
          std::move(found[K]).template take<std::tuple_element_t<wrapped[K], List>>()...);
  }
};
template <int count>
struct Argnums<count> : Argnums<count, 0> {};

template <class T>
consteval void check_differentiable() {
  static_assert(tree::can_hold_tensor<T>,
                "ricci: a differentiated argument must be able to hold a Tensor; a class with constructors or private "
                "members names its parts in tree_fields");
}

/// The chosen arguments can be differentiated.
template <class Chosen, class... A>
consteval void check_chosen() {
  [&]<std::size_t... K>(std::index_sequence<K...>) {
    (check_differentiable<std::conditional_t<Chosen::contains(static_cast<int>(K)), A, Tensor>>(), ...);
  }(std::index_sequence_for<A...>{});
}

/// What was found for each of several arguments of the types A: a tuple, the only one alone.
template <class... A>
auto one_or_tuple(tree::Arguments& found) {
  return [&]<std::size_t... K>(std::index_sequence<K...>) {
    if constexpr (sizeof...(A) == 1) return (std::move(found[K]).template take<A>(), ...);
    else return std::tuple<A...>(std::move(found[K]).template take<A>()...);
  }(std::index_sequence_for<A...>{});
}

}  // namespace call
}  // namespace ricci
