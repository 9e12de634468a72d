// Functions whose derivative the user gives as functions, as operations.
#include "ricci/custom_derivatives.h"

#include "custom/operation.h"

namespace ricci::function {
namespace {

/// A function whose reverse rule was given: `forward` returns the value and residuals, `backward` reads them.
class WithVjp final : public Operation {
 public:
  WithVjp(Arguments arguments, Tensors& inputs, const AnyFunction& f, const AnyFunction& forward,
          const AnyFunction& backward, const ReverseNames& names)
      : Operation(names.name, std::move(arguments), inputs),
        f_(f.kept()),
        forward_(forward.kept()),
        backward_(backward.kept()),
        remedy_(names.remedy) {}

  Tensors call(std::span<const Tensor> inputs) const override { return tensors_of(f_(arguments(inputs))); }
  Kept keep(std::span<const Tensor> inputs, const Mask&) const override {
    auto [output, residuals] = forward_.both(arguments(inputs));
    Tensors saved;
    auto rest = std::make_shared<const Emptied>(std::move(residuals), saved);
    return {.outputs = tensors_of(std::move(output)), .residual = {{saved.begin(), saved.end()}, std::move(rest)}};
  }
  Tensors vjp(const Reverse& rule) const override {
    const auto& rest = *static_cast<const Emptied*>(rule.residual->rest.get());
    const AnyTree gradients = backward_(call::any_list(rest.filled_tree(rule.residual->tensors),
                                                       result(filled_with_zeros(rule.cotangents, rule.output_types))));
    return fit_gradients("bwd", gradients_of("bwd", gradients), rule.input_types);
  }
  Pushed jvp(std::span<const Tensor>, std::span<const Tensor>) const override { return refuse_forward_mode(remedy_); }

 private:
  AnyFunction f_, forward_, backward_;
  const char* remedy_;
};

/// A function whose forward rule was given; reverse mode transposes the rule, which is linear in the tangents.
class WithJvp final : public Operation {
 public:
  WithJvp(Arguments arguments, Tensors& inputs, const AnyFunction& f, const AnyFunction& rule)
      : Operation("custom_jvp", std::move(arguments), inputs), f_(f.kept()), rule_(rule.kept()) {}

  Tensors call(std::span<const Tensor> inputs) const override { return tensors_of(f_(arguments(inputs))); }
  Kept keep(std::span<const Tensor> inputs, const Mask&) const override { return keep_inputs(inputs); }
  Tensors vjp(const Reverse& rule) const override {
    const std::vector<Tensor>& inputs = rule.residual->tensors;
    const auto tangents_along = [&](const std::vector<Tensor>& tangents) {
      return differentiable_among(jvp(inputs, tangents).tangents, rule.output_types);
    };
    return transposed(tangents_along, rule);
  }
  Pushed jvp(std::span<const Tensor> inputs, std::span<const Tensor> tangents) const override {
    Arguments given = arguments(inputs);
    for (AnyTree& tangent : arguments(filled_with_zeros(tangents, types_of_all(inputs))))
      given.push_back(std::move(tangent));
    auto [output, tangent] = rule_.both(given);
    Tensors outputs = tensors_of(std::move(output));
    Tensors found = fit_tangents("the rule", tangents_of("the rule", tangent), outputs);
    return {std::move(outputs), std::move(found)};
  }

 private:
  AnyFunction f_, rule_;
};

}  // namespace

AnyTree call_with_vjp(const AnyFunction& f, const AnyFunction& forward, const AnyFunction& backward,
                      Arguments arguments, const ReverseNames& names) {
  return run<WithVjp>(std::move(arguments), f, forward, backward, names);
}

AnyTree call_with_jvp(const AnyFunction& f, const AnyFunction& rule, Arguments arguments) {
  return run<WithJvp>(std::move(arguments), f, rule);
}

}  // namespace ricci::function
