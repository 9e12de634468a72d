// jet: the value at a point of a curve, and the derivatives there along the curve (Taylor mode).
#pragma once

#include <array>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "ricci/transforms/jvp.h"

namespace ricci {

namespace call {

template <class F, class... P, class... C>
auto jet(const F& f, const std::tuple<P...>& x, const std::tuple<std::vector<C>...>& series, runs::Place where) {
  static_assert(sizeof...(P) > 0, "ricci: jet needs an argument to go along");
  static_assert(tangents_fit<std::tuple<P...>, std::tuple<C...>>,
                "ricci: the coefficients must have the C++ types of the arguments");
  static_assert(!std::is_void_v<result_t<F, P...>>,
                "ricci: jet needs a function that returns a Tensor, or a tree of "
                "Tensors");
  (check_differentiable<P>(), ...);
  const std::array<std::size_t, sizeof...(P)> orders =
      std::apply([](const auto&... c) { return std::array{c.size()...}; }, series);
  runs::require_equal_orders(orders, where);
  std::vector<tree::Arguments> coefficients;
  for (std::size_t k = 0; k < orders[0]; ++k)
    coefficients.push_back(std::apply([&](const auto&... c) { return any_list(P(c[k])...); }, series));
  using Out = result_t<F, P...>;
  std::vector<tree::AnyTree> found = runs::jet(any_function<Out, P...>(f), any_arguments(x), coefficients, where);
  std::vector<Out> derivatives;
  for (std::size_t k = 1; k < found.size(); ++k) derivatives.push_back(std::move(found[k]).template take<Out>());
  return std::pair{std::move(found[0]).template take<Out>(), std::move(derivatives)};
}
}  // namespace call

/// `auto [y, series] = rc::jet(f, x, std::vector{x1, x2, x3})`: y = f(x), and the first, second and third derivative by
/// t at 0 of f(x + x1 t + x2 t²/2! + x3 t³/3!), as JAX has them. They are trees like y, as many as there are
/// coefficients; a coefficient is a tree like x. Several arguments stand in a tuple, their coefficients in a tuple of
/// vectors: `rc::jet(f, std::tuple{x, z}, std::tuple{std::vector{x1, x2}, std::vector{z1, z2}})`. f runs once. Example:
/// the derivatives of sin at x are those along `std::vector{one, zero, zero}`.
/// ValueError if coefficients differ from x in structure or shape, or in number from one argument to another, or if an
/// output is undefined. TypeError if they differ in dtype, if an output is of integers or holds no Tensor, and for
/// arguments without a derivative, as jvp.
template <class F, class X, class C>
  requires std::is_same_v<typename call::ArgumentList<X>::type, std::tuple<X>>
auto jet(const F& f, const X& x, const std::vector<C>& series, where_t where = where_t::current()) {
  return call::jet(f, std::tuple<X>(x), std::tuple(series), where);
}
template <class F, class... P, class... C>
auto jet(const F& f, const std::tuple<P...>& x, const std::tuple<std::vector<C>...>& series,
         where_t where = where_t::current()) {
  return call::jet(f, x, series, where);
}
/// Of an overloaded operation passed by name.
template <class C>
auto jet(Unary* f, const Tensor& x, const std::vector<C>& series, where_t where = where_t::current()) {
  return jet<Unary*, Tensor, C>(f, x, series, where);
}
template <class... P, class... C>
auto jet(BinaryName f, const std::tuple<P...>& x, const std::tuple<std::vector<C>...>& series,
         where_t where = where_t::current()) {
  return call::jet(f, x, series, where);
}

}  // namespace ricci
