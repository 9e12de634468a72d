// grad, grad_and_value and value_and_grad: gradients of a loss.
#pragma once

#include "ricci/transforms/call.h"

namespace ricci {

enum class Gives : std::uint8_t { gradient, gradient_and_value, value_and_gradient };

/// What grad, grad_and_value and value_and_grad return.
template <class F, Gives gives, bool aux, int... I>
struct Differentiated {
  F f;
  const char* name;
  where_t where;

  template <class... A>
  auto operator()(const A&... a) const {
    return differentiate<std::decay_t<const A>...>(a...);
  }

 private:
  template <class... A>
  auto differentiate(const A&... a) const {
    using Chosen = call::Argnums<static_cast<int>(sizeof...(A)), I...>;
    using Parts = call::Parts<aux, call::result_t<F, A...>>;
    call::check_chosen<Chosen, A...>();
    runs::Gradients found =
        runs::grad({call::any_function<typename Parts::Kept, A...>(f), name, where, aux}, call::any_list(A(a)...),
                   Chosen::wrapped, std::is_same_v<typename Parts::Out, Tensor>);
    auto gradients = Chosen::template taken<A...>(found.of_chosen);
    const auto value = [&] {
      auto loss = std::move(found.result.out).template take<typename Parts::Out>();
      if constexpr (aux)
        return std::pair{std::move(loss), std::move(found.result.aux).template take<typename Parts::Aux>()};
      else return loss;
    };
    if constexpr (gives == Gives::gradient_and_value) return std::pair{std::move(gradients), value()};
    else if constexpr (gives == Gives::value_and_gradient) return std::pair{value(), std::move(gradients)};
    else if constexpr (aux)
      return std::pair{std::move(gradients), std::move(found.result.aux).template take<typename Parts::Aux>()};
    else return gradients;
  }
};

#define RICCI_GRADIENT_TRANSFORM(transform, gives)                                 \
  template <int... I, class F>                                                     \
  auto transform(F f, where_t where = where_t::current()) {                        \
    return Differentiated<F, gives, false, I...>{std::move(f), #transform, where}; \
  }                                                                                \
  template <int... I>                                                              \
  auto transform(Unary* f, where_t where = where_t::current()) {                   \
    return Differentiated<Unary*, gives, false, I...>{f, #transform, where};       \
  }                                                                                \
  template <int... I>                                                              \
  auto transform(BinaryName f, where_t where = where_t::current()) {               \
    return Differentiated<BinaryName, gives, false, I...>{f, #transform, where};   \
  }                                                                                \
  template <int... I, class F>                                                     \
  auto transform(F f, has_aux_t, where_t where = where_t::current()) {             \
    return Differentiated<F, gives, true, I...>{std::move(f), #transform, where};  \
  }

/// The gradient of a function that returns one real floating 0-dim tensor. `grad<1>(f)` with respect to the second
/// argument, `grad<0, 2>(f)` a std::tuple; the gradient has the argument's tree, integer and non-tensor leaves keep
/// their value. With rc::has_aux, f returns std::pair{loss, aux}, and aux comes back without derivatives. TypeError for
/// an argument whose tensors are all of integers, and if the loss is no Tensor, complex or of integers; ValueError if
/// it has axes or is undefined.
///   Mlp gradient = rc::grad(loss)(model, x, y);
RICCI_GRADIENT_TRANSFORM(grad, Gives::gradient)
/// std::pair{gradients, value}; with has_aux {gradients, {value, aux}}.
RICCI_GRADIENT_TRANSFORM(grad_and_value, Gives::gradient_and_value)
/// std::pair{value, gradients}; with has_aux {{value, aux}, gradients}.
RICCI_GRADIENT_TRANSFORM(value_and_grad, Gives::value_and_gradient)
#undef RICCI_GRADIENT_TRANSFORM

}  // namespace ricci
