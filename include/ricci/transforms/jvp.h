// jvp: the value at a point, and the derivative there along tangents.
#pragma once

#include "ricci/transforms/call.h"

namespace ricci {

namespace call {
template <class T>
struct ArgumentList {
  using type = std::tuple<T>;
  static type of(const T& t) { return type(t); }
};
template <class... T>
struct ArgumentList<std::tuple<T...>> {
  using type = std::tuple<T...>;
  static type of(const type& t) { return t; }
};

/// `{x, y}` as the list of arguments it stands for.
template <std::size_t n>
auto tuple_of(const Tensor (&list)[n]) {
  return [&]<std::size_t... K>(std::index_sequence<K...>) {
    return std::tuple(list[K]...);
  }(std::make_index_sequence<n>{});
}

template <class... A>
tree::Arguments any_arguments(const std::tuple<A...>& list) {
  return std::apply([](const A&... a) { return any_list(A(a)...); }, list);
}

template <class P, class T>
inline constexpr bool tangent_fits =
    std::is_same_v<P, T> || (std::is_same_v<P, Tensor> && std::is_convertible_v<T, Tensor>);
template <class P, class T>
inline constexpr bool tangents_fit = false;
template <class... P, class... T>
inline constexpr bool tangents_fit<std::tuple<P...>, std::tuple<T...>> = [] {
  if constexpr (sizeof...(P) != sizeof...(T)) return false;
  else return (tangent_fits<P, T> && ...);
}();

template <bool aux, bool is_strict, class F, class... P, class T>
auto jvp(const F& f, std::tuple<P...> primals, const T& given, where_t where) {
  static_assert(sizeof...(P) > 0, "ricci: jvp needs a primal to differentiate along");
  static_assert(tangents_fit<std::tuple<P...>, T>, "ricci: the tangents must have the C++ types of the primals");
  (check_differentiable<P>(), ...);
  using Parts = call::Parts<aux, result_t<F, P...>>;
  using Out = typename Parts::Out;
  runs::Derivative found = runs::jvp({any_function<typename Parts::Kept, P...>(f), "jvp", where, aux},
                                     any_arguments(primals), any_arguments(std::tuple<P...>(given)), is_strict);
  auto out = std::move(found.result.out).template take<Out>();
  auto tangent = std::move(found.tangent).template take<Out>();
  if constexpr (aux)
    return std::tuple{std::move(out), std::move(tangent),
                      std::move(found.result.aux).template take<typename Parts::Aux>()};
  else return std::pair{std::move(out), std::move(tangent)};
}
}  // namespace call

/// `auto [out, tangent] = rc::jvp(f, std::tuple{x, y}, std::tuple{tx, ty})`: the value, and the derivative along the
/// tangents. A lone tree stands for a 1-tuple; Tensors in braces, `rc::jvp(f, {x, y}, {tx, ty})`, for a tuple of them.
/// `auto [out, tangent, aux] = rc::jvp(f, rc::has_aux, x, tx)`: f returns std::pair{out, aux}, and aux comes back
/// without derivatives. With rc::strict, behind rc::has_aux if both are given, TransformError if an output does not
/// depend on the primals; its tangent is else zero.
/// ValueError if the tangents differ from the primals in structure or shape, or if an output is undefined. TypeError if
/// they differ in dtype, if an output is of integers or f returns no Tensor, and for primals without a derivative, as
/// vjp; but a tensor of integers may stand beside others with an undefined tangent, `{dx, rc::none}`.
template <class F, class P, class T>
auto jvp(const F& f, const P& primals, const T& tangents, where_t where = where_t::current()) {
  return call::jvp<false, false>(f, call::ArgumentList<P>::of(primals), call::ArgumentList<T>::of(tangents), where);
}
template <class F, class P, class T>
auto jvp(const F& f, has_aux_t, const P& primals, const T& tangents, where_t where = where_t::current()) {
  return call::jvp<true, false>(f, call::ArgumentList<P>::of(primals), call::ArgumentList<T>::of(tangents), where);
}
template <class F, class P, class T>
auto jvp(const F& f, has_aux_t, strict_t, const P& primals, const T& tangents, where_t where = where_t::current()) {
  return call::jvp<true, true>(f, call::ArgumentList<P>::of(primals), call::ArgumentList<T>::of(tangents), where);
}
template <class F, class P, class T>
auto jvp(const F& f, strict_t, const P& primals, const T& tangents, where_t where = where_t::current()) {
  return call::jvp<false, true>(f, call::ArgumentList<P>::of(primals), call::ArgumentList<T>::of(tangents), where);
}
template <class F, std::size_t n>
auto jvp(const F& f, const Tensor (&primals)[n], const Tensor (&tangents)[n], where_t where = where_t::current()) {
  return call::jvp<false, false>(f, call::tuple_of(primals), call::tuple_of(tangents), where);
}
template <class F, std::size_t n>
auto jvp(const F& f, has_aux_t, const Tensor (&primals)[n], const Tensor (&tangents)[n],
         where_t where = where_t::current()) {
  return call::jvp<true, false>(f, call::tuple_of(primals), call::tuple_of(tangents), where);
}
template <class F, std::size_t n>
auto jvp(const F& f, strict_t, const Tensor (&primals)[n], const Tensor (&tangents)[n],
         where_t where = where_t::current()) {
  return call::jvp<false, true>(f, call::tuple_of(primals), call::tuple_of(tangents), where);
}
/// Of an overloaded operation passed by name.
#define RICCI_JVP_OF_NAME(Name)                                                                                 \
  template <class P, class T>                                                                                   \
  auto jvp(Name f, const P& primals, const T& tangents, where_t where = where_t::current()) {                   \
    return jvp<Name, P, T>(f, primals, tangents, where);                                                        \
  }                                                                                                             \
  template <class P, class T>                                                                                   \
  auto jvp(Name f, strict_t, const P& primals, const T& tangents, where_t where = where_t::current()) {         \
    return jvp<Name, P, T>(f, strict, primals, tangents, where);                                                \
  }                                                                                                             \
  template <std::size_t n>                                                                                      \
  auto jvp(Name f, const Tensor(&primals)[n], const Tensor(&tangents)[n], where_t where = where_t::current()) { \
    return jvp<Name, n>(f, primals, tangents, where);                                                           \
  }                                                                                                             \
  template <std::size_t n>                                                                                      \
  auto jvp(Name f, strict_t, const Tensor(&primals)[n], const Tensor(&tangents)[n],                             \
           where_t where = where_t::current()) {                                                                \
    return jvp<Name, n>(f, strict, primals, tangents, where);                                                   \
  }
RICCI_JVP_OF_NAME(Unary*)
RICCI_JVP_OF_NAME(BinaryName)
#undef RICCI_JVP_OF_NAME

/// jvp(f, x, y, tx, ty) is no call: primals and tangents are two lists.
template <class F, class P, class... More>
  requires(sizeof...(More) > 2 && !std::is_same_v<P, has_aux_t> && !std::is_same_v<P, strict_t>)
std::pair<Tensor, Tensor> jvp(const F&, const P&, const More&...) {
  static_assert(sizeof...(More) == 0,
                "ricci: jvp takes all primals as one argument and all tangents as another: jvp(f, std::tuple{x, y}, "
                "std::tuple{tx, ty})");
  return {};
}

}  // namespace ricci
