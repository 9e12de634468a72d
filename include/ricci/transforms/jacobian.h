// jacrev, jacfwd and hessian: whole derivatives, a tree of the output's structure over the input's.
#pragma once

#include "ricci/jacobian_tree.h"
#include "ricci/transforms/call.h"
#include "ricci/transforms/runs.h"

namespace ricci {

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
/// tree outside, the input's inside. `.chunk_size` rows at a time bound the memory; with 1, and no `.randomness` given,
/// the pullback runs row by row without a vmap, so that a backward rule may look at values and may draw, as torch's.
/// TypeError for complex in- or outputs, and for an argument whose tensors are all of integers.
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

}  // namespace ricci
