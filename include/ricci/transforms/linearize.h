// linearize: the value at a point, and the forward derivative there as a function of tangents.
#pragma once

#include "ricci/transforms/jvp.h"

namespace ricci {

/// A function's derivative at one point, as a function of tangents, to be called many times; f is not run again.
/// ValueError if the tangents differ from the primals in structure or shape, TypeError if in dtype.
template <class Out, class... P>
class LinearMap {
 public:
  LinearMap(runs::Linearized linearized, Out output) : linearized_(std::move(linearized)), output_(std::move(output)) {}

  template <class... T>
  Out operator()(const T&... tangents) const {
    static_assert(call::tangents_fit<std::tuple<P...>, std::tuple<T...>>,
                  "ricci: the tangents must have the C++ types of the primals");
    std::tuple<P...> given(tangents...);
    Out result = output_;
    const auto walks = call::walks(given);
    linearized_.apply(walks, call::walk(result));
    return result;
  }

 private:
  runs::Linearized linearized_;
  Out output_;
};

namespace call {
template <class F, class... P>
auto linearize(const F& f, where_t where, const P&... p) {
  (check_differentiable<P>(), ...);
  std::tuple<P...> primals(p...);
  runs::LinearizeRun run(where);
  const auto walks = call::walks(primals);
  run.enter(walks);
  auto result = result_of(run, f, primals);
  runs::Linearized linearized = run.leave(walk(result));
  LinearMap<decltype(result), P...> map(std::move(linearized), result);
  return std::pair{std::move(result), std::move(map)};
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
