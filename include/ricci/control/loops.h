// while_loop and fori_loop.
#pragma once

#include "ricci/control/options.h"
#include "ricci/transforms/call.h"

namespace ricci {

namespace runs {
/// The loops themselves. `body` takes the state, in a fori_loop behind the index; the state after all steps is given.
tree::AnyTree while_loop(const tree::AnyFunction& condition, const tree::AnyFunction& body, tree::AnyTree state,
                         const LoopOptions& options);
tree::AnyTree fori_loop(const Tensor& lo, const Tensor& hi, const tree::AnyFunction& body, tree::AnyTree state,
                        const LoopOptions& options);
/// A program that is being recorded gets a scan of as many steps.
tree::AnyTree fori_loop(const Size& lo, const Size& hi, const tree::AnyFunction& body, tree::AnyTree state,
                        const LoopOptions& options);
}  // namespace runs

namespace call {

template <class R, class F, class... A>
constexpr bool returns() {
  if constexpr (takes<F, A...>) return std::is_same_v<result_t<F, A...>, R>;
  return false;
}

/// The bound of a loop, which is known while the loop is recorded.
template <WholeNumber T>
Size size_of_bound(T bound) {
  if constexpr (Integer<T>) return host_index(bound);
  else return bound;
}

template <class Bound, class B, class S>
auto fori_loop(const Bound& lo, const Bound& hi, const B& body, const S& state, const LoopOptions& options) {
  using State = std::decay_t<const S>;
  static_assert(takes<B, Tensor, State>, "ricci: the body of fori_loop must take the index and the state");
  static_assert(returns<State, B, Tensor, State>(), "ricci: the body of fori_loop must return the type of the state");
  if constexpr (returns<State, B, Tensor, State>())
    return runs::fori_loop(lo, hi, kept_function<State, Tensor, State>(body), tree::any(State(state)), options)
        .template take<State>();
  else return State(state);  // refused above, in one sentence
}

}  // namespace call

/// `while (cond_fn(state)) state = body_fn(state)`; the state is one argument, any tree.
/// Under vmap each example takes as many steps as it needs: examples that are done leave the loop. Values in the state
/// that are no Tensors are shared by all examples: TransformError if they differ when examples leave (values of a type
/// without == are not compared). Under nested vmaps whose examples disagree in both, an outer example leaves when all
/// of its inner examples are done; outer examples whose inner examples leave at different steps run one by one. Every
/// differentiation goes through; reverse mode keeps what every step needs. A number in the state takes the dtype that
/// the first step gives it, of the same kind.
/// TypeError if the condition is of floats. ValueError if it has more than one element, if the body changes the
/// state's structure, shapes or dtypes, or if more than `max_steps` are needed.
/// Where a program is recorded, condition and body run once, and numbers in the state become tensors. A step that
/// changes values that are no Tensors is a TransformError there, a condition that draws a NotImplementedError.
///   Tensor root = rc::while_loop([](Tensor x) { return abs(x * x - 2) > 1e-6; },
///                                [](Tensor x) { return (x + 2 / x) / 2; }, rc::tensor(1.));
template <class C, class B, class S>
auto while_loop(const C& cond_fn, const B& body_fn, const S& state, LoopOptions options = {}) {
  using State = std::decay_t<const S>;
  static_assert(call::takes<C, State>, "ricci: the condition of a loop must take the state as its one argument");
  static_assert(!call::takes<C, State> || call::takes<B, State>,
                "ricci: the body of a loop must take the state as its one argument");
  static_assert(!call::takes<C, State> || !call::takes<B, State> || call::returns<State, B, State>(),
                "ricci: the body of a loop must return the type of the state");
  if constexpr (call::takes<C, State> && call::returns<State, B, State>())
    return runs::while_loop(call::kept_function<Tensor, State>(cond_fn), call::kept_function<State, State>(body_fn),
                            tree::any(State(state)), options)
        .template take<State>();
  else return State(state);  // refused above, in one sentence
}

/// `for (i = lo; i < hi; ++i) state = body(i, state)`: i is an int64 Tensor; the bounds, of one element, may differ per
/// example of a vmap. TypeError if a bound is no integer. ValueError if a bound has more elements, if the body changes
/// the state's shapes or dtypes, or if more than `max_steps` are needed. Otherwise as while_loop: the body returns the
/// state's type.
///   Tensor factorial = rc::fori_loop(1, 6, [](Tensor i, Tensor p) { return p * i; }, rc::tensor(1.));
template <class B, class S>
auto fori_loop(const Tensor& lo, const Tensor& hi, const B& body, const S& state, LoopOptions options = {}) {
  return call::fori_loop(lo, hi, body, state, options);
}
/// The same with numbers or sizes as bounds. A program that is being recorded gets a scan of that many steps.
template <class L, class H, class B, class S>
  requires WholeNumber<L> && WholeNumber<H>
auto fori_loop(const L& lo, const H& hi, const B& body, const S& state, LoopOptions options = {}) {
  return call::fori_loop(call::size_of_bound(lo), call::size_of_bound(hi), body, state, options);
}

}  // namespace ricci
