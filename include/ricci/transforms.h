// The transforms. Each takes a callable and returns a callable (vjp, jvp and linearize: values); they nest to any
// depth, in any order, on any thread. Meaning and errors: docs of each; a trailing source_location tells errors where
// the transform was asked for. The compiled side stands behind transforms/runs.h.
#pragma once

#include "ricci/jacobian_tree.h"
#include "ricci/ops/reduce.h"
#include "ricci/ragged.h"
#include "ricci/transforms/call.h"
#include "ricci/transforms/runs.h"

namespace ricci {

// ── vmap ──

namespace call {
/// Runs `f` for every chunk and group of examples, each on arguments of its own; gives the first run's result.
template <class F, class... A>
auto run_examples(runs::BatchRun& run, const F& f, const std::tuple<A...>& given, std::tuple<A...>& shown) {
  run.enter(walk(shown));
  if constexpr (std::is_void_v<result_t<F, A...>>) {
    call::invoke(f, shown);
    run.refuse("nothing");
    return Tensor();
  } else {
    result_t<F, A...> result = call::invoke(f, shown);
    run.leave(walk(result));
    for (auto next = given; run.enter(walk(next)); next = given) {
      result_t<F, A...> more = call::invoke(f, next);
      run.leave(walk(more));
    }
    return result;
  }
}
}  // namespace call

/// What vmap returns.
template <class F>
struct Vmapped {
  F f;
  VmapOptions options;
  where_t where;

  template <class... A>
  auto operator()(const A&... a) const {
    const std::tuple<std::decay_t<const A>...> given(a...);
    auto shown = given;
    runs::BatchRun run(call::walk(shown), options, where);
    auto result = call::run_examples(run, f, given, shown);
    run.finish(call::walk(result));
    return result;
  }
};

/// Maps `f` over one axis of its tensor arguments: `vmap(f)(x) == stack(f(x[0]), f(x[1]), …)`, running `f` once.
/// `in_dims`, `out_dims`: an axis, `rc::none`, or a tree over the arguments / the result. Throws ValueError, IndexError,
/// TypeError or TransformError as semantics require: nothing mapped, sizes differ, a tree that does not fit.
///   auto per_sample = rc::vmap(rc::grad(loss), {.in_dims = {rc::none, 0, 0}});
template <class F>
Vmapped<F> vmap(F f, VmapOptions options = {}, where_t where = where_t::current()) {
  return {std::move(f), std::move(options), where};
}
inline Vmapped<Unary*> vmap(Unary* f, VmapOptions options = {}, where_t where = where_t::current()) {
  return {f, std::move(options), where};
}
template <class = void>
Vmapped<Binary*> vmap(Binary* f, VmapOptions options = {}, where_t where = where_t::current()) {
  return {f, std::move(options), where};
}

/// What vmap with a ragged result returns.
template <class F>
struct RaggedMapped {
  F f;
  VmapOptions options;
  where_t where;

  template <class... A>
  auto operator()(const A&... a) const {
    const std::tuple<std::decay_t<const A>...> given(a...);
    auto shown = given;
    runs::BatchRun run(call::walk(shown), options, where, true);
    const auto result = call::run_examples(run, f, given, shown);
    const std::vector<Tensor> parts = run.finish_ragged();
    auto part = parts.begin();
    return to_ragged(result, [&part] {
      const Tensor values = *part++;
      return Ragged{values, *part++};
    });
  }
};

/// Every Tensor of the result becomes a Ragged: its first size may differ between examples, where it depends on values
/// (`nonzero`, `masked_select`, `unique`, boolean masks; with `.lanes = rc::Lanes::split` also loops that collect). ValueError
/// if a result has no axes.
///   rc::Ragged kept = rc::vmap([](Tensor x) { return rc::masked_select(x, x > 0); }, {.out_dims = rc::ragged})(xs);
template <class F>
RaggedMapped<F> vmap(F f, RaggedOptions options, where_t where = where_t::current()) {
  return {std::move(f),
          {.in_dims = options.in_dims,
           .randomness = options.randomness,
           .chunk_size = options.chunk_size,
           .lanes = options.lanes,
           .max_groups = options.max_groups},
          where};
}
inline RaggedMapped<Unary*> vmap(Unary* f, RaggedOptions options, where_t where = where_t::current()) {
  return vmap<Unary*>(f, std::move(options), where);
}

// ── gradients ──

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
/// their value. With rc::has_aux, f returns std::pair{loss, aux}.
///   Mlp gradient = rc::grad(loss)(model, x, y);
RICCI_GRADIENT_TRANSFORM(grad, Gives::gradient)
/// std::pair{gradients, value}; with has_aux {gradients, {value, aux}}.
RICCI_GRADIENT_TRANSFORM(grad_and_value, Gives::gradient_and_value)
/// std::pair{value, gradients}; with has_aux {{value, aux}, gradients}.
RICCI_GRADIENT_TRANSFORM(value_and_grad, Gives::value_and_gradient)
#undef RICCI_GRADIENT_TRANSFORM

// ── vjp ──

/// The reverse derivative at one point: maps a cotangent of the output to cotangents of the primals. Can be called many
/// times, under later transforms too, and outlives everything it needs.
template <class Out, class... P>
class Pullback {
 public:
  Pullback(runs::Recording recording, Out output, std::tuple<P...> primals)
      : recording_(std::move(recording)), output_(std::move(output)), primals_(std::move(primals)) {}

  /// One primal: its cotangent; else a std::tuple of them.
  template <class C>
  auto operator()(const C& cotangent) const {
    static_assert(std::is_same_v<C, Out> || (std::is_same_v<Out, Tensor> && std::is_convertible_v<C, Tensor>),
                  "ricci: the cotangent must have the C++ type of the function's output");
    Out ct = cotangent;
    auto gradients = primals_;
    const auto walks = call::walks(gradients);
    runs::write_pullback(recording_, call::walk(ct), walks);
    if constexpr (sizeof...(P) == 1) return std::get<0>(std::move(gradients));
    else return gradients;
  }

 private:
  runs::Recording recording_;
  Out output_;
  std::tuple<P...> primals_;
};

namespace call {
template <bool aux, class F, class... P>
auto vjp(const F& f, where_t where, const P&... p) {
  (check_differentiable<P>(), ...);
  std::tuple<P...> primals(p...);
  auto structure = primals;
  runs::ReverseRun run("vjp", where, {.cotangents_are_given = true});
  int all[sizeof...(P)];
  for (int i = 0; int& position : all) position = i++;
  const auto walks = call::walks(primals);
  run.enter(walks, all);
  using R = result_t<F, P...>;
  if constexpr (aux) check_pair<R>();
  if constexpr (std::is_void_v<R>) {
    call::invoke(f, primals);
    run.refuse("nothing");
    return std::pair{Tensor(), Tensor()};
  } else {
    R result = call::invoke(f, primals);
    const auto structure_walks = call::walks(structure);
    runs::forget_floating(structure_walks);
    if constexpr (aux) {
      auto& [out, extra] = result;
      const tree::Walk out_walk = walk(out), aux_walk = walk(extra);
      run.check_outputs(out_walk);
      runs::Recording recording = run.leave(out_walk, &aux_walk);
      using Out = std::decay_t<decltype(out)>;
      Pullback<Out, P...> pullback(std::move(recording), out, std::move(structure));
      return std::tuple{std::move(out), std::move(pullback), std::move(extra)};
    } else {
      const tree::Walk out_walk = walk(result);
      run.check_outputs(out_walk);
      runs::Recording recording = run.leave(out_walk, nullptr);
      Pullback<R, P...> pullback(std::move(recording), result, std::move(structure));
      return std::pair{std::move(result), std::move(pullback)};
    }
  }
}
template <bool aux, class F, class... P>
using vjp_t = decltype(vjp<aux>(std::declval<const F&>(), where_t(), std::declval<const P&>()...));
}  // namespace call

/// `auto [out, pullback] = rc::vjp(f, x, y)`: a std::pair of the value and the map from cotangents of out to cotangents of
/// x and y. `auto [out, pullback, aux] = rc::vjp(f, rc::has_aux, x, y)`: a std::tuple; f returns std::pair{out, aux}.
/// TypeError if the output has an integer leaf. (A class, as only a constructor takes any number of primals and still has
/// the line of the call as a default argument.)
template <class F, class... P>
struct vjp : call::vjp_t<false, F, P...> {
  vjp(const F& f, const P&... primals, where_t where = where_t::current())
      : call::vjp_t<false, F, P...>(call::vjp<false>(f, where, primals...)) {}
};
template <class F, class... P>
struct vjp<F, has_aux_t, P...> : call::vjp_t<true, F, P...> {
  vjp(const F& f, has_aux_t, const P&... primals, where_t where = where_t::current())
      : call::vjp_t<true, F, P...>(call::vjp<true>(f, where, primals...)) {}
};
template <class F, class... P>
vjp(const F&, const P&...) -> vjp<F, std::decay_t<const P>...>;
vjp(Unary*, const Tensor&) -> vjp<Unary*, Tensor>;
vjp(Binary*, const Tensor&, const Tensor&) -> vjp<Binary*, Tensor, Tensor>;

// ── jvp ──

namespace call {
template <class T>
struct ArgumentList {
  using type = std::tuple<T>;
  static type of(const T& t) { return type(t); }
};
template <class... T>
struct ArgumentList<std::tuple<T...>> {
  using type = std::tuple<T...>;
  static type of(const type& t) { return t; }
};

template <class P, class T>
inline constexpr bool tangent_fits =
    std::is_same_v<P, T> || (std::is_same_v<P, Tensor> && std::is_convertible_v<T, Tensor>);
template <class P, class T>
inline constexpr bool tangents_fit = false;
template <class... P, class... T>
inline constexpr bool tangents_fit<std::tuple<P...>, std::tuple<T...>> = [] {
  if constexpr (sizeof...(P) != sizeof...(T)) return false;
  else return (tangent_fits<P, T> && ...);
}();

template <bool aux, bool is_strict, class F, class... P, class T>
auto jvp(const F& f, std::tuple<P...> primals, const T& given, where_t where) {
  static_assert(tangents_fit<std::tuple<P...>, T>, "ricci: the tangents must have the C++ types of the primals");
  (check_differentiable<P>(), ...);
  std::tuple<P...> tangents(given);
  runs::ForwardRun run("jvp", where);
  const auto primal_walks = walks(primals), tangent_walks = walks(tangents);
  run.enter(primal_walks, tangent_walks);
  using R = result_t<F, P...>;
  if constexpr (aux) check_pair<R>();
  if constexpr (std::is_void_v<R>) {
    call::invoke(f, primals);
    run.refuse("nothing");
    return std::pair{Tensor(), Tensor()};
  } else {
    R result = call::invoke(f, primals);
    if constexpr (aux) {
      auto& [out, extra] = result;
      auto tangent = out;
      const tree::Walk aux_walk = walk(extra);
      run.leave(walk(out), walk(tangent), &aux_walk, is_strict);
      return std::tuple{std::move(out), std::move(tangent), std::move(extra)};
    } else {
      R tangent = result;
      run.leave(walk(result), walk(tangent), nullptr, is_strict);
      return std::pair{std::move(result), std::move(tangent)};
    }
  }
}
}  // namespace call

/// `auto [out, tangent] = rc::jvp(f, std::tuple{x, y}, std::tuple{tx, ty})`: the value and the derivative along the
/// tangents; a lone tree stands for a 1-tuple.
template <class F, class P, class T>
auto jvp(const F& f, const P& primals, const T& tangents, where_t where = where_t::current()) {
  return call::jvp<false, false>(f, call::ArgumentList<P>::of(primals), call::ArgumentList<T>::of(tangents), where);
}
template <class F, class P, class T>
auto jvp(const F& f, has_aux_t, const P& primals, const T& tangents, where_t where = where_t::current()) {
  return call::jvp<true, false>(f, call::ArgumentList<P>::of(primals), call::ArgumentList<T>::of(tangents), where);
}
template <class F, class P, class T>
auto jvp(const F& f, strict_t, const P& primals, const T& tangents, where_t where = where_t::current()) {
  return call::jvp<false, true>(f, call::ArgumentList<P>::of(primals), call::ArgumentList<T>::of(tangents), where);
}
template <class P, class T>
auto jvp(Unary* f, const P& primals, const T& tangents, where_t where = where_t::current()) {
  return call::jvp<false, false>(f, call::ArgumentList<P>::of(primals), call::ArgumentList<T>::of(tangents), where);
}
template <class P, class T>
auto jvp(BinaryName f, const P& primals, const T& tangents, where_t where = where_t::current()) {
  return call::jvp<false, false>(f, call::ArgumentList<P>::of(primals), call::ArgumentList<T>::of(tangents), where);
}

// ── linearize ──

/// A function's derivative at one point, as a function of tangents; called many times, f is not run again.
template <class Out, class... P>
class LinearMap {
 public:
  LinearMap(runs::Linearized linearized, Out output) : linearized_(std::move(linearized)), output_(std::move(output)) {}

  template <class... T>
  Out operator()(const T&... tangents) const {
    static_assert(call::tangents_fit<std::tuple<P...>, std::tuple<T...>>,
                  "ricci: the tangents must have the C++ types of the primals");
    std::tuple<P...> given(tangents...);
    Out result = output_;
    const auto walks = call::walks(given);
    linearized_.apply(walks, call::walk(result));
    return result;
  }

 private:
  runs::Linearized linearized_;
  Out output_;
};

namespace call {
template <class F, class... P>
auto linearize(const F& f, where_t where, const P&... p) {
  (check_differentiable<P>(), ...);
  std::tuple<P...> primals(p...);
  runs::LinearizeRun run(where);
  const auto walks = call::walks(primals);
  run.enter(walks);
  using R = result_t<F, P...>;
  if constexpr (std::is_void_v<R>) {
    call::invoke(f, primals);
    run.refuse("nothing");
    return std::pair{Tensor(), Tensor()};
  } else {
    R result = call::invoke(f, primals);
    runs::Linearized linearized = run.leave(walk(result));
    LinearMap<R, P...> map(std::move(linearized), result);
    return std::pair{std::move(result), std::move(map)};
  }
}
template <class F, class... P>
using linearize_t = decltype(linearize(std::declval<const F&>(), where_t(), std::declval<const P&>()...));
}  // namespace call

/// `auto [out, f_jvp] = rc::linearize(f, x, y)`: a std::pair; f runs once, `f_jvp(tx, ty)` many times. A class for the
/// reason that vjp is.
template <class F, class... P>
struct linearize : call::linearize_t<F, P...> {
  linearize(const F& f, const P&... primals, where_t where = where_t::current())
      : call::linearize_t<F, P...>(call::linearize(f, where, primals...)) {}
};
template <class F, class... P>
linearize(const F&, const P&...) -> linearize<F, std::decay_t<const P>...>;
linearize(Unary*, const Tensor&) -> linearize<Unary*, Tensor>;
linearize(Binary*, const Tensor&, const Tensor&) -> linearize<Binary*, Tensor, Tensor>;

// ── Jacobians ──

/// What jacrev and jacfwd return.
template <class F, bool reverse, bool aux, int... I>
struct JacobianOfFunction {
  F f;
  JacobianOptions options;
  const char* name;
  where_t where;
  bool shown = true;  // false: another transform stands for this one in the nest that errors print

  template <class... A>
  auto operator()(const A&... a) const {
    using Chosen = call::Argnums<static_cast<int>(sizeof...(A)), I...>;
    const std::tuple<std::decay_t<const A>...> given(a...);
    using R = call::result_t<F, std::decay_t<const A>...>;
    call::check_chosen<Chosen>(given);
    if constexpr (aux) call::check_pair<R>();
    if constexpr (std::is_void_v<R>) {
      runs::ReverseRun run(name, where);
      auto arguments = given;
      const auto walks = call::walks(arguments);
      run.enter(walks, Chosen::wrapped);
      call::invoke(f, arguments);
      run.refuse("nothing");
      return Tensor();
    } else if constexpr (aux) {
      auto [result, rows] = run<R, Chosen>(
          given, [](R& r) -> auto& { return std::get<0>(r); }, [](R& r) { return call::walk(std::get<1>(r)); });
      return std::pair{build<Chosen>(std::get<0>(result), given, rows), std::get<1>(std::move(result))};
    } else {
      auto [result, rows] = run<R, Chosen>(given, [](R& r) -> auto& { return r; }, nullptr);
      return build<Chosen>(result, given, rows);
    }
  }

 private:
  template <class R, class Chosen, class T, class Output, class Aux>
  auto run(const T& given, Output output, Aux aux_walk_of) const {
    const auto aux_of = [&](R& r, tree::Walk& storage) -> const tree::Walk* {
      if constexpr (aux) return storage = aux_walk_of(r), &storage;
      else return nullptr;
    };
    tree::Walk aux_walk;
    auto arguments = given;
    if constexpr (reverse) {
      auto chosen = Chosen::choose(given);
      runs::ReverseRun reverse_run(name, where, {.shown = shown});
      const auto walks = call::walks(arguments);
      reverse_run.enter(walks, Chosen::wrapped);
      R result = call::invoke(f, arguments);
      const tree::Walk out = call::walk(output(result));
      reverse_run.check_jacobian_outputs(out);
      runs::Recording recording = reverse_run.leave(out, aux_of(result, aux_walk));
      const auto inputs = call::walks_of_chosen(chosen, std::bool_constant<(sizeof...(I) < 2)>{});
      auto rows = runs::reverse_jacobian(recording, out, inputs, Chosen::wrapped, options, name, where);
      return std::pair{std::move(result), std::move(rows)};
    } else {
      runs::ForwardJacobian forward(name, options, where);
      const auto walks = call::walks(arguments);
      forward.enter(walks, Chosen::wrapped);
      R result = call::invoke(f, arguments);
      forward.leave(call::walk(output(result)), aux_of(result, aux_walk));
      auto next = given;
      for (auto next_walks = call::walks(next); forward.enter(next_walks, Chosen::wrapped);
           next = given, next_walks = call::walks(next)) {
        R more = call::invoke(f, next);
        forward.leave(call::walk(output(more)), aux_of(more, aux_walk));
      }
      return std::pair{std::move(result), forward.finish()};
    }
  }
  template <class Chosen, class O, class T>
  static auto build(const O& out, const T& given, const std::vector<Tensor>& rows) {
    const auto chosen = Chosen::choose(given);
    std::size_t next = 0;
    return build_jacobian(out, chosen, [&] { return rows[next++]; });
  }
};

#define RICCI_JACOBIAN_TRANSFORM(transform, reverse)                                                 \
  template <int... I, class F>                                                                       \
  auto transform(F f, JacobianOptions options = {}, where_t where = where_t::current()) {            \
    return JacobianOfFunction<F, reverse, false, I...>{std::move(f), options, #transform, where};    \
  }                                                                                                  \
  template <int... I>                                                                                \
  auto transform(Unary* f, JacobianOptions options = {}, where_t where = where_t::current()) {       \
    return JacobianOfFunction<Unary*, reverse, false, I...>{f, options, #transform, where};          \
  }                                                                                                  \
  template <int... I>                                                                                \
  auto transform(BinaryName f, JacobianOptions options = {}, where_t where = where_t::current()) {   \
    return JacobianOfFunction<BinaryName, reverse, false, I...>{f, options, #transform, where};      \
  }                                                                                                  \
  template <int... I, class F>                                                                       \
  auto transform(F f, has_aux_t, JacobianOptions options = {}, where_t where = where_t::current()) { \
    return JacobianOfFunction<F, reverse, true, I...>{std::move(f), options, #transform, where};     \
  }

/// The Jacobian by reverse mode, one row per output element: every leaf has shape `out.shape + in.shape`, the output's
/// tree outside, the input's inside. `.chunk_size` rows at a time bound the memory. TypeError for complex in- or outputs.
///   Tensor j = rc::jacrev(f)(x);
RICCI_JACOBIAN_TRANSFORM(jacrev, true)
/// The Jacobian by forward mode, one column per input element; f runs once per chunk of columns.
RICCI_JACOBIAN_TRANSFORM(jacfwd, false)
#undef RICCI_JACOBIAN_TRANSFORM

namespace call {
template <int... I, class F>
auto hessian(F f, const JacobianOptions& options, where_t where) {
  using Inner = JacobianOfFunction<F, true, false, I...>;
  return JacobianOfFunction<Inner, false, false, I...>{Inner{std::move(f), options, "hessian", where, false}, options,
                                                       "hessian", where};
}
}  // namespace call

/// Second derivatives, forward over reverse: `jacfwd(jacrev(f))`.
template <int... I, class F>
auto hessian(F f, JacobianOptions options = {}, where_t where = where_t::current()) {
  return call::hessian<I...>(std::move(f), options, where);
}
template <int... I>
auto hessian(Unary* f, JacobianOptions options = {}, where_t where = where_t::current()) {
  return call::hessian<I...>(f, options, where);
}
template <int... I>
auto hessian(BinaryName f, JacobianOptions options = {}, where_t where = where_t::current()) {
  return call::hessian<I...>(f, options, where);
}
template <int... I, class F>
auto hessian(F f, has_aux_t, JacobianOptions options = {}, where_t where = where_t::current()) {
  using Inner = JacobianOfFunction<F, true, true, I...>;
  return JacobianOfFunction<Inner, false, true, I...>{Inner{std::move(f), options, "hessian", where, false}, options,
                                                      "hessian", where};
}

// ── trace ──

/// What trace returns.
template <class F>
struct Traced {
  F f;
  where_t where;

  template <class... A>
  Program operator()(const A&... a) const {
    std::tuple<std::decay_t<const A>...> arguments(a...);
    using R = call::result_t<F, std::decay_t<const A>...>;
    runs::TraceRun run(where);
    run.enter(call::walk(arguments));
    if constexpr (std::is_void_v<R>) {
      call::invoke(f, arguments);
      run.refuse("nothing");
    } else {
      R result = call::invoke(f, arguments);
      return run.leave(call::walk(result));
    }
  }
};

/// Writes a function down as a program: its inputs are the tensors of the arguments, its outputs those of the result,
/// captured tensors are inputs too. One program serves all sizes of the inputs, within the guards that `f` left by
/// looking at a size. Reading a value (`item`, `if (x > 0)`) throws.
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

/// `auto [out, pullback, aux] = rc::vjp(f, rc::has_aux, x)` takes the std::tuple apart that the class is.
template <class F, class... P>
struct std::tuple_size<ricci::vjp<F, ricci::has_aux_t, P...>> : std::tuple_size<ricci::call::vjp_t<true, F, P...>> {};
template <std::size_t i, class F, class... P>
struct std::tuple_element<i, ricci::vjp<F, ricci::has_aux_t, P...>>
    : std::tuple_element<i, ricci::call::vjp_t<true, F, P...>> {};
