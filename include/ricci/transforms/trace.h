// trace: a function written down as a program.
#pragma once

#include "ricci/ops/reduce.h"
#include "ricci/transforms/call.h"

namespace ricci {

/// What trace returns.
template <class F>
struct Traced {
  F f;
  where_t where;

  template <class... A>
  Program operator()(const A&... a) const {
    using R = call::result_t<F, std::decay_t<const A>...>;
    return runs::trace(call::any_function<R, std::decay_t<const A>...>(f), call::any_list(std::decay_t<const A>(a)...),
                       where);
  }
};

/// Writes a function down as a program: its inputs are the tensors of the arguments, its outputs those of the result,
/// captured tensors are inputs too, read each time the program runs. One program serves all sizes of the inputs, within
/// the guards that `f` left by looking at a size. Reading a value (`item`, `if (x > 0)`) throws TransformError where an
/// input or a draw stands behind it. One computed from captured tensors alone can be read; the program says so in an
/// equation without a result, `expect_equal d true`, and throws TransformError once the value has become another.
/// Of a matrix, `trace` is the sum of its diagonal.
///   rc::Program p = rc::trace(f)(x, y); std::cout << p;
template <class F>
  requires(!std::is_convertible_v<F, Tensor>)
Traced<F> trace(F f, where_t where = where_t::current()) {
  return {std::move(f), where};
}
inline Traced<Unary*> trace(Unary* f, where_t where = where_t::current()) { return {f, where}; }
template <class = void>
Traced<Binary*> trace(Binary* f, where_t where = where_t::current()) {
  return {f, where};
}
using ops::trace;

}  // namespace ricci
