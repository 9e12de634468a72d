// Functions whose derivative you give as functions: custom_vjp, custom_jvp; and checkpoint, whose derivative computes
// the function again. They nest with every transform. A checkpoint may capture tensors that a transform around it
// differentiates or maps; they count as its arguments. The functions given to custom_vjp and custom_jvp must take such
// a tensor as an argument, since no rule tells its derivative.
#pragma once

#include <tuple>
#include <utility>

#include "ricci/function/checks.h"
#include "ricci/transforms/call.h"

namespace ricci {

namespace function {

/// What errors say of a function with a reverse rule, and what to do for forward mode.
struct ReverseNames {
  const char* name = "custom_vjp";
  const char* remedy = "use custom_jvp, or an rc::Function with jvp";
};

/// The value of `f` at the arguments, with a reverse rule. `forward` gives the value and the residuals apart.
/// `backward` takes residuals and a cotangent of the value. It gives the arguments' cotangents: a tuple, or the one.
tree::AnyTree call_with_vjp(const tree::AnyFunction& f, const tree::AnyFunction& forward,
                            const tree::AnyFunction& backward, tree::Arguments arguments,
                            const ReverseNames& names = {});
/// The same with a forward rule: `rule` takes the primals and then the tangents, and gives value and tangent apart.
tree::AnyTree call_with_jvp(const tree::AnyFunction& f, const tree::AnyFunction& rule, tree::Arguments arguments);
tree::AnyTree call_checkpoint(const tree::AnyFunction& f, tree::Arguments arguments);

template <class F, class... A>
consteval void check_output() {
  static_assert(tree::can_hold_tensor<call::result_t<F, A...>>,
                "ricci: a function with a derivative of its own must return a Tensor or a tree that holds one");
}

}  // namespace function

/// What custom_vjp returns.
template <class F, class Forward, class Backward>
struct CustomVjp {
  F f;
  Forward forward;
  Backward backward;
  function::ReverseNames names = {};

  template <class... A>
  auto operator()(const A&... a) const {
    return call(tree::plain_t<A>(a)...);
  }

 private:
  template <class... A>
  auto call(A... a) const {
    using Output = call::result_t<F, A...>;
    using Both = call::result_t<Forward, A...>;
    static_assert(call::is_two_things<Both>,
                  "ricci: custom_vjp: fwd must return two things, std::pair{output, residuals}");
    function::check_output<F, A...>();
    if constexpr (call::is_two_things<Both>) {
      using Residuals = std::tuple_element_t<1, Both>;
      using Gradients = call::result_t<Backward, Residuals, Output>;
      static_assert(function::returns_gradients<Gradients, sizeof...(A)>(),
                    "ricci: custom_vjp: bwd must return one cotangent for each argument: the only one alone, several "
                    "as a std::tuple or std::pair");
      return function::call_with_vjp(call::kept_function<Output, A...>(f),
                                     call::kept_function<call::Apart<Output, Residuals>, A...>(forward),
                                     call::kept_function<Gradients, Residuals, Output>(backward),
                                     call::any_list(std::move(a)...), names)
          .template take<Output>();
    } else {
      return Output();  // refused above, in one sentence
    }
  }
};

/// `f` with a reverse rule of its own: `fwd(args…)` returns std::pair{output, residuals}, any trees, and
/// `bwd(residuals, ct)` one cotangent for each argument, the only one alone. Where nothing is differentiated, f itself
/// runs. Forward mode throws NotImplementedError.
///   auto clip = rc::custom_vjp(id, [](Tensor x) { return std::pair{x, 0}; },
///                              [](int, Tensor ct) { return clamp(ct, -1, 1); });
template <class F, class Forward, class Backward>
CustomVjp<F, Forward, Backward> custom_vjp(F f, Forward fwd, Backward bwd) {
  return {std::move(f), std::move(fwd), std::move(bwd), {}};
}

/// What custom_jvp returns.
template <class F, class Rule>
struct CustomJvp {
  F f;
  Rule rule;

  template <class... A>
  auto operator()(const A&... a) const {
    return call(tree::plain_t<A>(a)...);
  }

 private:
  template <class... A>
  auto call(A... a) const {
    using Output = call::result_t<F, A...>;
    using Arguments = std::tuple<A...>;
    static_assert(call::is_two_things<call::result_t<Rule, Arguments, Arguments>>,
                  "ricci: custom_jvp: the rule must return two things, std::pair{output, tangent}");
    function::check_output<F, A...>();
    const auto with_lists = [rule = rule](A... primals, A... tangents) {
      Arguments p(std::move(primals)...), t(std::move(tangents)...);
      return call::invoke(rule, p, t);
    };
    return function::call_with_jvp(call::kept_function<Output, A...>(f),
                                   call::kept_function<call::Apart<Output, Output>, A..., A...>(with_lists),
                                   call::any_list(std::move(a)...))
        .template take<Output>();
  }
};

/// `f` with a forward rule of its own: `rule(std::tuple primals, std::tuple tangents)` returns std::pair{output,
/// tangent} and must be linear in the tangents, because reverse mode is its transpose.
///   auto g = rc::custom_jvp(f, [](std::tuple<Tensor> p, std::tuple<Tensor> t) { … return std::pair{y, dy}; });
template <class F, class Rule>
CustomJvp<F, Rule> custom_jvp(F f, Rule rule) {
  return {std::move(f), std::move(rule)};
}

/// What checkpoint returns.
template <class F>
struct Checkpoint {
  F f;

  template <class... A>
  auto operator()(const A&... a) const {
    using Output = call::result_t<F, tree::plain_t<A>...>;
    function::check_output<F, tree::plain_t<A>...>();
    return function::call_checkpoint(call::kept_function<Output, tree::plain_t<A>...>(f),
                                     call::any_list(tree::plain_t<A>(a)...))
        .template take<Output>();
  }
};

/// `f`, of which reverse mode keeps the arguments alone and computes the rest again when the derivative is asked for.
/// Random numbers are the same both times; what f writes to its arguments stays in it. f may capture tensors that a
/// transform around it differentiates or maps. It is then recorded as a program first, so it may not look at values
/// (TransformError), and it may run twice: what it wrote before its first use of a captured tensor stays written. f
/// runs plainly, and everything is kept, (a) where a vmap around it that lets functions draw, or a recording, knows
/// none of the arguments, and (b) in a vmap with Lanes::split or ragged results.
///   Tensor y = rc::checkpoint(block)(weights, x);
template <class F>
Checkpoint<F> checkpoint(F f) {
  return {.f = std::move(f)};
}

}  // namespace ricci
