// Functions whose derivative you give as functions: custom_vjp, custom_jvp; and checkpoint, whose derivative computes
// the function again. They nest with every transform. A checkpoint may capture tensors that a transform around it
// differentiates or maps; they count as its arguments. The functions given to custom_vjp and custom_jvp must take such
// a tensor as an argument, since no rule tells its derivative.
#pragma once

#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "ricci/function/captures.h"
#include "ricci/function/checks.h"
#include "ricci/function/closure.h"
#include "ricci/function/operation.h"
#include "ricci/transforms.h"

namespace ricci {

namespace function {

/// A function whose reverse rule was given: `forward` returns the value and residuals, `backward` reads them.
template <class F, class Forward, class Backward, class Output, class... A>
class WithVjp final : public Typed<Operation, Output, A...> {
  using Base = Typed<Operation, Output, A...>;
  using typename Base::Arguments;
  using Both = call::result_t<Forward, A...>;
  static_assert(call::is_two_things<Both>,
                "ricci: custom_vjp: fwd must return two things, std::pair{output, residuals}");
  using Residuals = std::tuple_element_t<1, Both>;

 public:
  WithVjp(Arguments arguments, Tensors& inputs, const F& f, const Forward& forward, const Backward& backward)
      : Base(std::move(arguments), inputs, "custom_vjp"), f_(f), forward_(forward), backward_(backward) {}

  Tensors call(std::span<const Tensor> inputs) const override {
    Arguments arguments = this->arguments(inputs);
    return this->tensors_of(call::invoke(f_, arguments));
  }
  Kept keep(std::span<const Tensor> inputs, const Mask&) const override {
    Arguments arguments = this->arguments(inputs);
    auto [output, residuals] = call::invoke(forward_, arguments);
    Tensors saved;
    auto rest = std::make_shared<const Emptied<Residuals>>(std::move(residuals), saved);
    return {.outputs = this->tensors_of(std::move(output)),
            .residual = {{saved.begin(), saved.end()}, std::move(rest)}};
  }
  Tensors vjp(const Reverse& rule) const override {
    const auto& rest = *static_cast<const Emptied<Residuals>*>(rule.residual->rest.get());
    std::tuple<Residuals, Output> given(rest.filled(rule.residual->tensors),
                                        this->result(filled_with_zeros(rule.cotangents, rule.output_types)));
    using Gradients = call::result_t<Backward, Residuals, Output>;
    static_assert(returns_gradients<Gradients, sizeof...(A)>(),
                  "ricci: custom_vjp: bwd must return one cotangent for each argument: the only one alone, several as "
                  "a std::tuple or std::pair");
    Gradients gradients = call::invoke(backward_, given);
    return this->fit_gradients("bwd", this->gradients_of("bwd", std::move(gradients)), rule.input_types);
  }
  Pushed jvp(std::span<const Tensor>, std::span<const Tensor>) const override { return this->refuse_forward_mode(); }

 private:
  F f_;
  Forward forward_;
  Backward backward_;
};

/// A function whose forward rule was given; reverse mode transposes the rule, which is linear in the tangents.
template <class F, class Rule, class Output, class... A>
class WithJvp final : public Typed<Operation, Output, A...> {
  using Base = Typed<Operation, Output, A...>;
  using typename Base::Arguments;
  using Both = call::result_t<Rule, Arguments, Arguments>;
  static_assert(call::is_two_things<Both>,
                "ricci: custom_jvp: the rule must return two things, std::pair{output, tangent}");

 public:
  WithJvp(Arguments arguments, Tensors& inputs, const F& f, const Rule& rule)
      : Base(std::move(arguments), inputs, "custom_jvp"), f_(f), rule_(rule) {}

  Tensors call(std::span<const Tensor> inputs) const override {
    Arguments arguments = this->arguments(inputs);
    return this->tensors_of(call::invoke(f_, arguments));
  }
  Kept keep(std::span<const Tensor> inputs, const Mask&) const override { return this->keep_inputs(inputs); }
  Tensors vjp(const Reverse& rule) const override {
    const std::vector<Tensor>& inputs = rule.residual->tensors;
    const auto tangents_along = [&](const std::vector<Tensor>& tangents) {
      return differentiable_among(push(inputs, tangents).tangents, rule.output_types);
    };
    return transposed(tangents_along, rule);
  }
  Pushed jvp(std::span<const Tensor> inputs, std::span<const Tensor> tangents) const override {
    return push(inputs, tangents);
  }

 private:
  Pushed push(std::span<const Tensor> inputs, std::span<const Tensor> tangents) const {
    std::tuple<Arguments, Arguments> given(this->arguments(inputs),
                                           this->arguments(filled_with_zeros(tangents, types_of_all(inputs))));
    auto [output, tangent] = call::invoke(rule_, given);
    Tensors outputs = this->tensors_of(std::move(output));
    Tensors found = this->fit_tangents("the rule", this->tangents_of("the rule", std::move(tangent)), outputs);
    return {std::move(outputs), std::move(found)};
  }
  F f_;
  Rule rule_;
};

/// A function that is computed again for its derivative.
template <class F, class Output, class... A>
class Checkpointed final : public Typed<Recomputed, Output, A...> {
  using Base = Typed<Recomputed, Output, A...>;
  using typename Base::Arguments;

 public:
  Checkpointed(Arguments arguments, Tensors& inputs, const F& f)
      : Base(std::move(arguments), inputs, "checkpoint"), f_(f) {}

  Tensors call(std::span<const Tensor> inputs) const override {
    Arguments arguments = this->arguments(inputs);
    return this->tensors_of(call::invoke(f_, arguments));
  }

 private:
  F f_;
};

/// Makes and runs an application of class O, whose last template arguments are the result's and the arguments' types.
template <template <class...> class O, class... Given, class F, class... A>
auto run(std::tuple<A...> arguments, const F& f, const Given&... given) {
  using Output = call::result_t<F, A...>;
  static_assert(tree::can_hold_tensor<Output>,
                "ricci: a function with a derivative of its own must return a Tensor or a tree that holds one");
  Tensors inputs;
  const auto application =
      std::make_shared<const O<F, Given..., Output, A...>>(std::move(arguments), inputs, f, given...);
  return application->result(application->apply(inputs));
}

}  // namespace function

/// What custom_vjp returns.
template <class F, class Forward, class Backward>
struct CustomVjp {
  F f;
  Forward forward;
  Backward backward;

  template <class... A>
  auto operator()(const A&... a) const {
    return function::run<function::WithVjp>(std::tuple<tree::plain_t<A>...>(a...), f, forward, backward);
  }
};

/// `f` with a reverse rule of its own: `fwd(args…)` returns std::pair{output, residuals}, any trees, and
/// `bwd(residuals, ct)` one cotangent for each argument, the only one alone. Where nothing is differentiated, f itself
/// runs. Forward mode throws NotImplementedError.
///   auto clip = rc::custom_vjp(id, [](Tensor x) { return std::pair{x, 0}; },
///                              [](int, Tensor ct) { return clamp(ct, -1, 1); });
template <class F, class Forward, class Backward>
CustomVjp<F, Forward, Backward> custom_vjp(F f, Forward fwd, Backward bwd) {
  return {std::move(f), std::move(fwd), std::move(bwd)};
}

/// What custom_jvp returns.
template <class F, class Rule>
struct CustomJvp {
  F f;
  Rule rule;

  template <class... A>
  auto operator()(const A&... a) const {
    return function::run<function::WithJvp>(std::tuple<tree::plain_t<A>...>(a...), f, rule);
  }
};

/// `f` with a forward rule of its own: `rule(std::tuple primals, std::tuple tangents)` returns std::pair{output,
/// tangent} and must be linear in the tangents, because reverse mode is its transpose.
///   auto g = rc::custom_jvp(f, [](std::tuple<Tensor> p, std::tuple<Tensor> t) { … return std::pair{y, dy}; });
template <class F, class Rule>
CustomJvp<F, Rule> custom_jvp(F f, Rule rule) {
  return {std::move(f), std::move(rule)};
}

namespace function {

/// Writes what the checkpointed program gives over the leaves of `result`.
void run_recorded_checkpoint(const Closure& f, const tree::Walk& arguments, const tree::Walk& result);

/// Whether a checkpoint of these values only calls its function, because an operation cannot do what the function does
/// there: draw for the examples of a vmap that lets functions draw and knows none of the values, or for a program that
/// is being recorded; part the examples of a vmap. Requires: none of the values is recorded.
bool simply_runs(const tree::Walk& arguments);

/// In a recorded function, what is computed again is a program: its draws are the same both times.
template <class F, class... A>
auto record_checkpoint(const F& f, std::tuple<A...> arguments) {
  std::optional<call::result_t<F, A...>> result;
  const Closure closure = write_down("checkpoint", f, arguments, result);
  run_recorded_checkpoint(closure, call::walk(arguments), call::walk(*result));
  return *std::move(result);
}

}  // namespace function

/// What checkpoint returns.
template <class F>
struct Checkpoint {
  F f;
  bool may_capture = true;  // false: whoever made it deals with captures

  template <class... A>
  auto operator()(const A&... a) const {
    std::tuple<tree::plain_t<A>...> arguments(a...);
    if (function::is_recorded("checkpoint", call::walk(arguments)))
      return function::record_checkpoint(f, std::move(arguments));
    if (!function::simply_runs(call::walk(arguments))) {
      const auto run = [&] { return function::run<function::Checkpointed>(arguments, f); };
      if (!may_capture) return run();
      return function::with_captures(run, [&] { return function::record_checkpoint(f, arguments); });
    }
    function::own_cells("checkpoint", call::walk(arguments));
    return call::invoke(f, arguments);
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
