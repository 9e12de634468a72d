// vmap: a function over every example of a batch; with rc::ragged, results whose first size differs per example.
#pragma once

#include "ricci/ragged.h"
#include "ricci/transforms/call.h"
#include "ricci/transforms/runs.h"

namespace ricci {

namespace call {
/// Runs `f` for every chunk and group of examples, each on arguments of its own; gives the first run's result.
template <class F, class... A>
auto run_examples(runs::BatchRun& run, const F& f, const std::tuple<A...>& given, std::tuple<A...>& shown) {
  run.enter(walk(shown));
  auto result = result_of(run, f, shown);
  run.leave(walk(result));
  for (auto next = given; run.enter(walk(next)); next = given) {
    auto more = result_of(run, f, next);
    run.leave(walk(more));
  }
  return result;
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
/// `in_dims`, `out_dims`: an axis, `rc::none`, or a tree over the arguments / the result. What is no Tensor in the
/// result is that of the first run, of several for chunks or groups of examples that part. Throws ValueError,
/// IndexError, TypeError or TransformError as semantics require: nothing mapped, sizes differ, a tree that does not
/// fit.
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
/// (`nonzero`, `masked_select`, `unique`, boolean masks; with `.lanes = rc::Lanes::split` also loops that collect).
/// ValueError if a result has no axes.
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

}  // namespace ricci
