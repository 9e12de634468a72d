// vjp: the value at a point, and the reverse derivative there as a function of cotangents.
#pragma once

#include "ricci/transforms/call.h"

namespace ricci {

/// The reverse derivative at one point: maps a cotangent of the output to cotangents of the primals. Can be called many
/// times, under later transforms too, and outlives everything it needs. ValueError if the cotangent differs from the
/// output in structure or shape, TypeError if in dtype.
template <class Out, class... P>
class Pullback {
 public:
  explicit Pullback(runs::AnyPullback pullback) : pullback_(std::move(pullback)) {}

  /// One primal: its cotangent; else a std::tuple of them.
  template <class C>
  auto operator()(const C& cotangent) const {
    static_assert(std::is_same_v<C, Out> || (std::is_same_v<Out, Tensor> && std::is_convertible_v<C, Tensor>),
                  "ricci: the cotangent must have the C++ type of the function's output");
    tree::Arguments gradients = pullback_(tree::any(Out(cotangent)));
    return call::one_or_tuple<P...>(gradients);
  }

 private:
  runs::AnyPullback pullback_;
};

namespace call {
template <bool aux, class F, class... P>
auto vjp(const F& f, where_t where, const P&... p) {
  (check_differentiable<P>(), ...);
  using Parts = call::Parts<aux, result_t<F, P...>>;
  using Out = typename Parts::Out;
  runs::Pulled found = runs::vjp({any_function<typename Parts::Kept, P...>(f), "vjp", where, aux}, any_list(P(p)...));
  Pullback<Out, P...> pullback(std::move(found.pullback));
  auto out = std::move(found.result.out).template take<Out>();
  if constexpr (aux)
    return std::tuple{std::move(out), std::move(pullback),
                      std::move(found.result.aux).template take<typename Parts::Aux>()};
  else return std::pair{std::move(out), std::move(pullback)};
}
template <bool aux, class F, class... P>
using vjp_t = decltype(vjp<aux>(std::declval<const F&>(), where_t(), std::declval<const P&>()...));
}  // namespace call

/// `auto [out, pullback] = rc::vjp(f, x, y)`: a std::pair of the value and the map from cotangents of out to cotangents
/// of x and y. `auto [out, pullback, aux] = rc::vjp(f, rc::has_aux, x, y)`: a std::tuple; f returns std::pair{out,
/// aux}. TypeError if the output has an integer leaf, a primal is a tensor of integers, or nothing has a derivative; a
/// tree of integers beside others, a key for one, keeps its value. (A class, as only a constructor takes any number of
/// primals and still has the line of the call as a default argument.)
template <class F, class... P>
struct vjp : call::vjp_t<false, F, P...> {
  vjp(const F& f, const P&... primals, where_t where = where_t::current())
      : call::vjp_t<false, F, P...>(call::vjp<false>(f, where, primals...)) {}
};
template <class F, class... P>
struct vjp<F, has_aux_t, P...> : call::vjp_t<true, F, P...> {
  vjp(const F& f, has_aux_t, const P&... primals, where_t where = where_t::current())
      : call::vjp_t<true, F, P...>(call::vjp<true>(f, where, primals...)) {}
};
template <class F, class... P>
vjp(const F&, const P&...) -> vjp<F, std::decay_t<const P>...>;
vjp(Unary*, const Tensor&) -> vjp<Unary*, Tensor>;
vjp(Binary*, const Tensor&, const Tensor&) -> vjp<Binary*, Tensor, Tensor>;

}  // namespace ricci

/// `auto [out, pullback, aux] = rc::vjp(f, rc::has_aux, x)` takes the std::tuple apart that the class is.
template <class F, class... P>
struct std::tuple_size<ricci::vjp<F, ricci::has_aux_t, P...>> : std::tuple_size<ricci::call::vjp_t<true, F, P...>> {};
template <std::size_t i, class F, class... P>
struct std::tuple_element<i, ricci::vjp<F, ricci::has_aux_t, P...>>
    : std::tuple_element<i, ricci::call::vjp_t<true, F, P...>> {};
