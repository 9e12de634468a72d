// grad, grad_and_value and value_and_grad: gradients of a loss.
#pragma once

#include "ricci/transforms/call.h"
#include "ricci/transforms/runs.h"

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
    using Chosen = call::Argnums<static_cast<int>(sizeof...(A)), I...>;
    std::tuple<std::decay_t<const A>...> arguments(a...);
    using R = call::result_t<F, std::decay_t<const A>...>;
    auto gradients = Chosen::choose(arguments);
    auto gradient_walks = call::walks_of_chosen(gradients, std::bool_constant<(sizeof...(I) < 2)>{});
    call::check_chosen<Chosen>(arguments);
    if constexpr (aux) call::check_pair<R>();

    runs::ReverseRun run(name, where);
    const auto walks = call::walks(arguments);
    run.enter(walks, Chosen::wrapped);
    if constexpr (std::is_void_v<R>) {
      call::invoke(f, arguments);
      run.refuse_loss("nothing");
      return gradients;
    } else {
      R result = call::invoke(f, arguments);
      if constexpr (aux) {
        auto& [value, extra] = result;
        runs::Recording recording = leave(run, value, &extra);
        runs::write_gradients(recording, gradient_walks);
        if constexpr (gives == Gives::gradient) return std::pair{std::move(gradients), std::move(extra)};
        else if constexpr (gives == Gives::gradient_and_value)
          return std::pair{std::move(gradients), std::pair{std::move(value), std::move(extra)}};
        else return std::pair{std::pair{std::move(value), std::move(extra)}, std::move(gradients)};
      } else {
        runs::Recording recording = leave(run, result, static_cast<Tensor*>(nullptr));
        runs::write_gradients(recording, gradient_walks);
        if constexpr (gives == Gives::gradient) return gradients;
        else if constexpr (gives == Gives::gradient_and_value)
          return std::pair{std::move(gradients), std::move(result)};
        else return std::pair{std::move(result), std::move(gradients)};
      }
    }
  }

 private:
  template <class V, class E>
  static runs::Recording leave(runs::ReverseRun& run, V& value, E* extra) {
    const tree::Walk output = call::walk(value);
    run.check_loss(output, std::is_same_v<V, Tensor>);
    if (!extra) return run.leave(output, nullptr);
    const tree::Walk aux_walk = call::walk(*extra);
    return run.leave(output, &aux_walk);
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
