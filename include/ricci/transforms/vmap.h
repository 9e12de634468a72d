// vmap: a function over every example of a batch; with rc::ragged, results whose first size differs per example.
#pragma once

#include "ricci/ragged.h"
#include "ricci/transforms/call.h"

namespace ricci {

/// What vmap returns.
template <class F>
struct Vmapped {
  F f;
  VmapOptions options;
  where_t where;

  template <class... A>
  auto operator()(const A&... a) const {
    using R = call::result_t<F, std::decay_t<const A>...>;
    return runs::vmap(call::any_function<R, std::decay_t<const A>...>(f), call::any_list(std::decay_t<const A>(a)...),
                      options, where)
        .template take<typename call::Parts<false, R>::Out>();
  }
};

/// Maps `f` over one axis of its tensor arguments: `vmap(f)(x) == stack(f(x[0]), f(x[1]), …)`, running `f` once.
/// `in_dims`, `out_dims`: an axis, `rc::none`, or a tree over the arguments / the result. Results that are not tensors
/// come from the first run; chunks, and groups of examples that part, make several.
/// ValueError if nothing is mapped, if the mapped sizes differ, if in_dims or out_dims do not fit their tree, if
/// out_dims is none for a result that differs per example, if an argument that is mapped or a result is undefined, if
/// chunk_size or max_groups is below 1, or if the groups of examples that part return different trees. IndexError if a
/// tensor lacks the axis in_dims or out_dims name. TypeError if f returns no Tensor, unless out_dims is none: then what
/// f returns is that of the first run, an undefined Tensor if nothing. In f, a draw of random numbers is
/// a TransformError unless `randomness` allows it, and so is reading a value that differs per example (`item`, `if`)
/// unless `lanes` is Lanes::split.
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
template <class = void>
Vmapped<AlongAxis*> vmap(AlongAxis* f, VmapOptions options = {}, where_t where = where_t::current()) {
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
    using R = call::result_t<F, std::decay_t<const A>...>;
    const auto [result, parts] = runs::ragged_vmap(call::any_function<R, std::decay_t<const A>...>(f),
                                                   call::any_list(std::decay_t<const A>(a)...), options, where);
    auto part = parts.begin();
    return to_ragged(result.template as<typename call::Parts<false, R>::Out>(), [&part] {
      const Tensor values = *part++;
      return Ragged{values, *part++};
    });
  }
};

namespace call {
inline VmapOptions plain_options(RaggedOptions options) {
  return {.in_dims = std::move(options.in_dims),
          .randomness = options.randomness,
          .chunk_size = options.chunk_size,
          .lanes = options.lanes,
          .max_groups = options.max_groups};
}
}  // namespace call

/// Every Tensor of the result becomes a Ragged: its first size may differ between examples, where it depends on values
/// (`nonzero`, `masked_select`, `unique`, boolean masks; with `.lanes = rc::Lanes::split` also loops that collect).
/// ValueError if a result has no axes.
///   rc::Ragged kept = rc::vmap([](Tensor x) { return rc::masked_select(x, x > 0); }, {.out_dims = rc::ragged})(xs);
template <class F>
RaggedMapped<F> vmap(F f, RaggedOptions options, where_t where = where_t::current()) {
  return {std::move(f), call::plain_options(std::move(options)), where};
}
inline RaggedMapped<Unary*> vmap(Unary* f, RaggedOptions options, where_t where = where_t::current()) {
  return {f, call::plain_options(std::move(options)), where};
}
template <class = void>
RaggedMapped<Binary*> vmap(Binary* f, RaggedOptions options, where_t where = where_t::current()) {
  return {f, call::plain_options(std::move(options)), where};
}

}  // namespace ricci
