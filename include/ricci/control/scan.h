// scan and map: a function over the slices along an axis, one after the other.
#pragma once

#include <tuple>
#include <utility>

#include "ricci/control/options.h"
#include "ricci/transforms/call.h"

namespace ricci {

namespace runs {
/// The scan itself: the last carry and the stacked ys. `step` gives carry and y apart.
tree::AnyPair scan(const tree::AnyFunction& step, tree::AnyTree carry, tree::AnyTree xs, const ScanOptions& options);
tree::AnyTree map(const tree::AnyFunction& f, tree::AnyTree xs);
}  // namespace runs

namespace call {
/// Whether the step fits carry and slices; where it does not, one sentence says why.
template <class F, class C, class X>
consteval bool is_step() {
  static_assert(takes<F, C, X>, "ricci: the step of scan must take the carry and one slice");
  if constexpr (takes<F, C, X>) {
    using R = result_t<F, C, X>;
    static_assert(is_two_things<R>, "ricci: the step of scan must return std::pair{carry, y}");
    if constexpr (is_two_things<R>) {
      constexpr bool keeps_type = std::is_same_v<std::tuple_element_t<0, R>, C>;
      static_assert(keeps_type, "ricci: the step of scan must return the type of the carry");
      return keeps_type;
    }
  }
  return false;
}

}  // namespace call

/// `std::pair{carry, ys}` of `carry, y = step(carry, x)` over the slices x of xs along axis `options.dim`, 0 unless
/// told; ys are stacked along axis 0. The work of reverse mode is that of the steps. Over no slices the step runs once
/// on zeros, to learn what y is. Values in y that are no Tensors are those of the first step.
/// ValueError if a Tensor of xs has no axes or their sizes along `dim` differ, if xs hold an rc::Ragged, which has no
/// axis over its rows, if a step changes the carry's structure, shapes or dtypes, or if the ys of two steps differ in
/// structure or shape. IndexError if a Tensor of xs has axes, but not `dim`. Where a program is recorded, a step that
/// changes values of the carry that are no Tensors is a TransformError.
///   auto [total, sums] = rc::scan([](Tensor c, Tensor x) { return std::pair{c + x, c + x}; }, rc::tensor(0.), xs);
template <class F, class C, class X>
auto scan(const F& step, const C& carry, const X& xs, ScanOptions options = {}) {
  using Carry = std::decay_t<const C>;
  using Row = std::decay_t<const X>;
  if constexpr (call::is_step<F, Carry, Row>()) {
    using R = call::result_t<F, Carry, Row>;
    auto [last, ys] = runs::scan(call::any_function<call::apart_t<R>, Carry, Row>(step), tree::any(Carry(carry)),
                                 tree::any(Row(xs)), options);
    return std::pair{std::move(last).template take<Carry>(), std::move(ys).template take<std::tuple_element_t<1, R>>()};
  } else {
    return std::pair{carry, xs};  // refused above, in one sentence
  }
}

/// f on every slice of xs along axis 0, one after the other; the results are stacked. What vmap computes at once, in
/// the memory of one example. ValueError if xs have no axis 0, or differing ones, or if two results differ in structure
/// or shape.
template <class F, class X>
auto map(const F& f, const X& xs) {
  using Row = std::decay_t<const X>;
  using Y = call::result_t<F, Row>;
  return runs::map(call::any_function<Y, Row>(f), tree::any(Row(xs))).template take<Y>();
}
template <class X>
auto map(Unary* f, const X& xs) {
  return map([f](const Tensor& x) { return f(x); }, xs);
}

}  // namespace ricci
