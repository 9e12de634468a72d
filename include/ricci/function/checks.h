// What is wrong with a class derived from rc::Function, said at compile time. Start with `check_function`.
#pragma once

#include <type_traits>

#include "ricci/function/context.h"
#include "ricci/transforms/call.h"

namespace ricci::function {

/// Whether D has a member of this name, whatever it is: a name that two bases have is ambiguous.
#define RICCI_MEMBER_CHECK(member)             \
  struct Named_##member {                      \
    int member;                                \
  };                                           \
  template <class D>                           \
  struct Both_##member : D, Named_##member {}; \
  template <class D>                           \
  inline constexpr bool has_##member = !requires { &Both_##member<D>::member; };
RICCI_MEMBER_CHECK(forward)
RICCI_MEMBER_CHECK(setup_context)
RICCI_MEMBER_CHECK(backward)
RICCI_MEMBER_CHECK(jvp)
RICCI_MEMBER_CHECK(vmap)
#undef RICCI_MEMBER_CHECK

template <class F>
struct Signature;
template <class R, class... A>
struct Signature<R (*)(A...)> {
  using Arguments = std::tuple<tree::plain_t<A>...>;
  using Output = tree::plain_t<R>;
  using Places = std::index_sequence_for<A...>;
  template <template <class...> class T, class... Before>
  using with_arguments = T<Before..., tree::plain_t<A>...>;
  static constexpr std::size_t count = sizeof...(A);
  static constexpr bool takes_context = (std::is_same_v<std::remove_cvref_t<A>, Context> || ...);
};
template <class R, class... A>
struct Signature<R (*)(A...) noexcept> : Signature<R (*)(A...)> {};

/// A result of several: a pair or tuple, whose parts are arguments of backward and results of jvp.
template <class T>
inline constexpr bool is_several = tree::is_tuple<T>;

/// f(ctx, parts…) with the parts of a tuple, or the only one.
template <class F, class T>
decltype(auto) call_with_parts(F&& f, Context& ctx, T& tree) {
  if constexpr (is_several<T>)
    return std::apply([&](auto&... part) -> decltype(auto) { return f(ctx, part...); }, tree);
  else return f(ctx, tree);
}

template <class F, class T>
inline constexpr bool takes_parts = std::is_invocable_v<F, Context&, T&>;
template <class F, class... T>
inline constexpr bool takes_parts<F, std::tuple<T...>> = std::is_invocable_v<F, Context&, T&...>;
template <class F, class A, class B>
inline constexpr bool takes_parts<F, std::pair<A, B>> = std::is_invocable_v<F, Context&, A&, B&>;

/// An entry of in_dims: a Tensor or a non-tensor has a Dim, any other tree Dims.
template <class T>
using in_dim_t = std::conditional_t<tree::TensorLike<T> || !tree::can_hold_tensor<T>, Dim, Dims>;
template <class T>
struct InDims;
template <class... A>
struct InDims<std::tuple<A...>> {
  using type = std::tuple<in_dim_t<A>...>;
};

template <class T>
inline constexpr bool is_pair = false;
template <class A, class B>
inline constexpr bool is_pair<std::pair<A, B>> = true;

template <class G, std::size_t arguments>
consteval bool returns_gradients() {
  using R = std::remove_cvref_t<G>;
  if constexpr (std::is_void_v<R>) return false;
  else if constexpr (arguments == 1) return true;
  else if constexpr (tree::is_tuple<R>) return std::tuple_size_v<R> == arguments;
  else return std::is_same_v<R, std::vector<Tensor>>;
}

template <class D>
consteval bool generates_vmap_rule() {
  if constexpr (requires { D::generate_vmap_rule; }) return D::generate_vmap_rule;
  else return false;
}
template <class D>
consteval bool is_once_differentiable() {
  if constexpr (requires { D::once_differentiable; }) return D::once_differentiable;
  else return false;
}

// The rules beside forward are checked where they are called, not by apply: their return types may be deduced from
// bodies that call apply.

template <class D, class S>
consteval void check_setup_context() {
  static_assert(
      requires(Context& ctx, const typename S::Arguments& inputs, const typename S::Output& output) {
        D::setup_context(ctx, inputs, output);
      },
      "ricci: a malformed rc::Function: setup_context must be static and take (rc::Context& ctx, const "
      "std::tuple<inputs…>& inputs, const Output& output), the types those of forward");
}

/// Whether backward takes a context and these cotangents, and returns as many gradients as forward has arguments.
template <class D, class S>
consteval bool check_backward() {
  constexpr auto rule = [](Context& ctx, auto&... ct) -> decltype(D::backward(ctx, ct...)) {
    return D::backward(ctx, ct...);
  };
  constexpr bool callable = takes_parts<decltype(rule), typename S::Output>;
  static_assert(
      callable,
      "ricci: a malformed rc::Function: backward must be static and take (rc::Context& ctx, one cotangent for "
      "each output of forward)");
  if constexpr (callable) {
    using Returned = decltype(call_with_parts(rule, std::declval<Context&>(), std::declval<typename S::Output&>()));
    constexpr bool fits = returns_gradients<Returned, S::count>();
    static_assert(
        fits,
        "ricci: a malformed rc::Function: backward must return one gradient for each argument of forward: the "
        "only one alone, several as a std::tuple or std::pair");
    return fits;
  } else {
    return false;
  }
}

template <class D, class S>
consteval bool check_jvp() {
  constexpr auto rule = [](Context& ctx, auto&... t) -> decltype(D::jvp(ctx, t...)) { return D::jvp(ctx, t...); };
  constexpr bool callable = takes_parts<decltype(rule), typename S::Arguments>;
  static_assert(callable,
                "ricci: a malformed rc::Function: jvp must be static and take (rc::Context& ctx, one tangent for each "
                "argument of forward)");
  if constexpr (callable) {
    using Returned = decltype(call_with_parts(rule, std::declval<Context&>(), std::declval<typename S::Arguments&>()));
    constexpr bool fits = std::is_convertible_v<Returned, typename S::Output>;
    static_assert(fits,
                  "ricci: a malformed rc::Function: jvp must return one tangent for each output of forward, as forward "
                  "returns those");
    return fits;
  } else {
    return false;
  }
}

/// What a written vmap rule returns for arguments A…; void if it does not take them.
template <class D, class... A>
auto vmap_result(std::type_identity<std::tuple<A...>>) {
  using InDimsOfA = typename InDims<std::tuple<A...>>::type;
  if constexpr (requires(const VmapInfo& info, const InDimsOfA& in_dims, A&... a) { D::vmap(info, in_dims, a...); })
    return std::type_identity<std::remove_cvref_t<decltype(D::vmap(
        std::declval<const VmapInfo&>(), std::declval<const InDimsOfA&>(), std::declval<A&>()...))>>();
  else return std::type_identity<void>();
}

template <class D, class S>
consteval bool check_vmap() {
  using Returned = typename decltype(vmap_result<D>(std::type_identity<typename S::Arguments>()))::type;
  constexpr bool callable = !std::is_void_v<Returned>;
  static_assert(callable,
                "ricci: a malformed rc::Function: vmap must be static and take (const rc::VmapInfo& info, const "
                "std::tuple<…>& in_dims, the arguments of forward); in_dims has an rc::Dim for a Tensor or a "
                "non-tensor, rc::Dims for any other tree");
  if constexpr (callable) {
    static_assert(is_pair<Returned>,
                  "ricci: a malformed rc::Function: vmap must return two things, std::pair{output, out_dims}");
    if constexpr (is_pair<Returned>) {
      constexpr bool fits = std::is_convertible_v<typename Returned::first_type, typename S::Output>;
      static_assert(fits,
                    "ricci: a malformed rc::Function: the output that vmap returns must have the type of forward's");
      return fits;
    }
  }
  return callable && is_pair<Returned>;
}

template <class D, class S>
consteval bool has_good_backward() {
  if constexpr (has_backward<D>) return check_backward<D, S>();
  else return false;
}
template <class D, class S>
consteval bool has_good_jvp() {
  if constexpr (has_jvp<D>) return check_jvp<D, S>();
  else return false;
}
template <class D, class S>
consteval bool has_good_vmap() {
  if constexpr (has_vmap<D>) return check_vmap<D, S>();
  else return false;
}

template <class D>
consteval void check_function() {
  static_assert(has_forward<D>, "ricci: a malformed rc::Function: it has no `static … forward(…)`");
  if constexpr (has_forward<D>) {
    static_assert(
        requires { &D::forward; },
        "ricci: a malformed rc::Function: forward must be one function, neither overloaded nor a template");
    if constexpr (requires { &D::forward; }) {
      static_assert(!std::is_member_pointer_v<decltype(&D::forward)>,
                    "ricci: a malformed rc::Function: forward must be static");
      if constexpr (!std::is_member_pointer_v<decltype(&D::forward)>) {
        using S = Signature<decltype(&D::forward)>;
        static_assert(!S::takes_context,
                      "ricci: a malformed rc::Function: forward takes plain arguments and no rc::Context; save in "
                      "setup_context(ctx, inputs, output)");
        static_assert(tree::can_hold_tensor<typename S::Output>,
                      "ricci: a malformed rc::Function: forward must return a Tensor or a tree that holds one");
        static_assert(!has_vmap<D> || !generates_vmap_rule<D>(),
                      "ricci: a malformed rc::Function: it has both vmap and generate_vmap_rule; remove one of them");
      }
    }
  }
}

}  // namespace ricci::function
