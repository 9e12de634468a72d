// vmap of a function that also gets the number of its example.
#pragma once

#include "ricci/transforms/vmap.h"

namespace ricci {

namespace runs {
/// The number of the example that runs, i64[]. Requires: the innermost transform is vmap.
Tensor example_number();
}  // namespace runs

namespace call {
/// A function of the number of an example and more, as a function of what follows the number.
template <class F>
struct WithIndex {
  F f;

  template <class... A>
  result_t<F, Tensor, A...> operator()(A... a) const {
    Tensor index = runs::example_number();
    return invoke(f, index, a...);
  }
};
}  // namespace call

/// vmap of a function whose first argument is the number of the example, i64[], which counts from 0 along the mapped
/// axis: `vmap_with_index(f)(x) == stack(f(0, x[0]), f(1, x[1]), …)`. Options, results and errors are those of vmap;
/// `in_dims` are those of the arguments behind the number. Chunks and Lanes::split do not change the numbers.
///   rc::Tensor y = rc::vmap_with_index([](Tensor i, Tensor row) { return row * i; })(x);
template <class F>
auto vmap_with_index(F f, VmapOptions options = {}, where_t where = where_t::current()) {
  return vmap(call::WithIndex<F>{std::move(f)}, std::move(options), where);
}
template <class F>
auto vmap_with_index(F f, RaggedOptions options, where_t where = where_t::current()) {
  return vmap(call::WithIndex<F>{std::move(f)}, std::move(options), where);
}

}  // namespace ricci
