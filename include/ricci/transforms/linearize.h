// linearize: the value at a point, and the forward derivative there as a function of tangents.
#pragma once

#include "ricci/transforms/jvp.h"

namespace ricci {

/// A function's derivative at one point, as a function of tangents, to be called many times; f is not run again.
/// ValueError if the tangents differ from the primals in structure or shape, TypeError if in dtype.
template <class Out, class... P>
class LinearMap {
 public:
  explicit LinearMap(runs::AnyLinearMap map) : map_(std::move(map)) {}

  template <class... T>
  Out operator()(const T&... tangents) const {
    static_assert(call::tangents_fit<std::tuple<P...>, std::tuple<T...>>,
                  "ricci: the tangents must have the C++ types of the primals");
    return map_(call::any_list(P(tangents)...)).template take<Out>();
  }

 private:
  runs::AnyLinearMap map_;
};

namespace call {
template <class F, class... P>
auto linearize(const F& f, where_t where, const P&... p) {
  (check_differentiable<P>(), ...);
  using R = result_t<F, P...>;
  using Out = typename Parts<false, R>::Out;
  runs::AnyLinearMap map = runs::linearize({any_function<R, P...>(f), "linearize", where}, any_list(P(p)...));
  Out out = map.output.template as<Out>();
  return std::pair{std::move(out), LinearMap<Out, P...>(std::move(map))};
}
template <class F, class... P>
using linearize_t = decltype(linearize(std::declval<const F&>(), where_t(), std::declval<const P&>()...));
}  // namespace call

/// `auto [out, f_jvp] = rc::linearize(f, x, y)`: a std::pair of the value and the derivative; f runs once,
/// `f_jvp(tx, ty)` many times. TypeError if an output is of integers or f returns no Tensor, and for primals without a
/// derivative, as vjp; ValueError if an output is undefined. A class for the reason that vjp is.
template <class F, class... P>
struct linearize : call::linearize_t<F, P...> {
  linearize(const F& f, const P&... primals, where_t where = where_t::current())
      : call::linearize_t<F, P...>(call::linearize(f, where, primals...)) {}
};
template <class F, class... P>
linearize(const F&, const P&...) -> linearize<F, std::decay_t<const P>...>;
linearize(Unary*, const Tensor&) -> linearize<Unary*, Tensor>;
linearize(Binary*, const Tensor&, const Tensor&) -> linearize<Binary*, Tensor, Tensor>;

}  // namespace ricci
