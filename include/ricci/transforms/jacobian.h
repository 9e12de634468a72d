// jacrev, jacfwd and hessian: whole derivatives, a tree of the output's structure over the input's.
#pragma once

#include "ricci/jacobian_tree.h"
#include "ricci/transforms/call.h"

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
    return differentiate<std::decay_t<const A>...>(a...);
  }

 private:
  template <class... A>
  auto differentiate(const A&... a) const {
    using Chosen = call::Argnums<static_cast<int>(sizeof...(A)), I...>;
    using Parts = call::Parts<aux, call::result_t<F, A...>>;
    call::check_chosen<Chosen, A...>();
    tree::Arguments arguments = call::any_list(A(a)...);
    runs::Rows found = runs::jacobian({call::any_function<typename Parts::Kept, A...>(f), name, where, aux},
                                      {reverse, shown}, arguments, Chosen::wrapped, options);
    const auto& out = found.result.out.template as<typename Parts::Out>();
    auto row = found.rows.begin();
    auto jacobian = build_jacobian(out, Chosen::template chosen<A...>(arguments), [&row] { return *row++; });
    if constexpr (aux)
      return std::pair{std::move(jacobian), std::move(found.result.aux).template take<typename Parts::Aux>()};
    else return jacobian;
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
