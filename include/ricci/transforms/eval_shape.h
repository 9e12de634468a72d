// eval_shape: what a function would give, without computing it.
#pragma once

#include "ricci/transforms/call.h"

namespace ricci {

namespace runs {

/// One call of a function of which only the types of results are wanted.
class TypesRun {
 public:
  explicit TypesRun(Place where);
  void enter(const tree::Walk& arguments);
  /// The leaves of output become zeros of their types, which hold one number each.
  void leave(const tree::Walk& output);
  [[noreturn]] void refuse(const char* found);  ///< a function that returned no tensor

 private:
  struct State;
  Owned<State> state_;
};

AnyTree eval_shape(const AnyFunction& f, Arguments arguments, Place where);

}  // namespace runs

/// What eval_shape returns.
template <class F>
struct ShapeOf {
  F f;
  where_t where;

  template <class... A>
  auto operator()(const A&... a) const {
    using R = typename call::Parts<false, call::result_t<F, std::decay_t<const A>...>>::Out;
    return runs::eval_shape(call::any_function<R, std::decay_t<const A>...>(f),
                            call::any_list(std::decay_t<const A>(a)...), where)
        .template take<R>();
  }
};

/// A tree like the result of f. Its Tensors have the shapes and dtypes that f would give, and zeros as elements: each
/// holds one number, however large it is. `f` is written down, as by trace, and no operation of it is computed; so
/// `rc::zeros({}).expand({1'000'000})` is argument enough for a million elements. Values that are no Tensors are what f
/// gives. TransformError where f reads a value, ValueError for an undefined Tensor in the result, as with trace.
///   Tensor y = rc::eval_shape(f)(x);  y.shape(), y.dtype()
template <class F>
ShapeOf<F> eval_shape(F f, where_t where = where_t::current()) {
  return {std::move(f), where};
}
inline ShapeOf<Unary*> eval_shape(Unary* f, where_t where = where_t::current()) { return {f, where}; }
template <class = void>
ShapeOf<Binary*> eval_shape(Binary* f, where_t where = where_t::current()) {
  return {f, where};
}

}  // namespace ricci
