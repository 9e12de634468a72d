// Operations that you define, as a class with static functions: torch.autograd.Function's shape. Derivatives given as
// functions instead are in custom_derivatives.h, those of roots and linear systems in implicit.h.
#pragma once

#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "ricci/function/checks.h"

namespace ricci {

namespace function {

/// out_dims as a written vmap rule returns them: an axis, none, Dims, or a tuple, pair or list of those.
template <class T>
Dims out_dims_of(const T& dims) {
  if constexpr (std::is_convertible_v<T, Dims>) {
    return dims;
  } else {
    std::vector<Dims> parts;
    const auto add = [&parts](const auto&... part) { (parts.push_back(out_dims_of(part)), ...); };
    if constexpr (tree::is_tuple<T>) std::apply(add, dims);
    else
      for (const auto& part : dims) add(part);
    return Dims(std::move(parts));
  }
}

/// Which rules a class brings.
struct Facts {
  std::string type;  ///< its C++ name
  bool has_backward, has_jvp, has_vmap, generates_vmap, once_differentiable;
};

/// What compiled code knows of a class with rules: which it has, and how they are called.
class Rules {
 public:
  explicit Rules(const Facts& of) : facts(of) {}
  virtual ~Rules() = default;
  virtual tree::AnyTree forward(tree::Arguments& arguments) const = 0;
  virtual void setup_context(Context& ctx, tree::Arguments& arguments, tree::AnyTree& output) const = 0;
  /// A tuple or list of gradients, the only one alone.
  virtual tree::AnyTree backward(Context& ctx, tree::AnyTree& cotangent) const = 0;
  virtual tree::AnyTree jvp(Context& ctx, tree::Arguments& tangents) const = 0;
  /// The output and its dims, for those of the arguments' leaves.
  virtual std::pair<tree::AnyTree, Dims> vmap(const VmapInfo& info, const std::vector<Dim>& in_dims,
                                              tree::Arguments& arguments) const = 0;
  const Facts facts;
};
/// The value of the class's function, whose forward may write to the arguments. The rules must outlive all derivatives.
tree::AnyTree apply(std::shared_ptr<const Rules> rules, tree::Arguments arguments);
/// The dims of leaves in the form of each argument.
std::vector<Dims> dims_by_argument(const tree::Arguments& arguments, const std::vector<Dim>& dims);

template <class T>
in_dim_t<T> in_dim(const Dims& dims) {
  if constexpr (tree::TensorLike<T>) return dims.dim;
  else if constexpr (!tree::can_hold_tensor<T>) return none;
  else return dims;
}

/// The rules of the class D, whose forward has arguments of the types A.
template <class D, class Output, class Places, class... A>
class RulesOf;
template <class D, class Output, std::size_t... K, class... A>
class RulesOf<D, Output, std::index_sequence<K...>, A...> final : public Rules {
  using S = Signature<decltype(&D::forward)>;

 public:
  static Output apply(A... a) {
    static const RulesOf rules;
    const std::shared_ptr<const Rules> of_class(std::shared_ptr<const Rules>(), &rules);
    return function::apply(of_class, call::any_list(std::move(a)...)).template take<Output>();
  }

 private:
  RulesOf()
      : Rules({.type = std::string(tree::type_name<D>),
               .has_backward = has_backward<D>,
               .has_jvp = has_jvp<D>,
               .has_vmap = has_vmap<D>,
               .generates_vmap = generates_vmap_rule<D>(),
               .once_differentiable = is_once_differentiable<D>()}) {}

  tree::AnyTree forward([[maybe_unused]] tree::Arguments& a) const override {
    return tree::any(Output(D::forward(a[K].template as<A>()...)));
  }
  void setup_context(Context& ctx, [[maybe_unused]] tree::Arguments& a, tree::AnyTree& output) const override {
    if constexpr (has_setup_context<D>) {
      check_setup_context<D, S>();
      D::setup_context(ctx, std::tuple<A...>(a[K].template as<A>()...), output.template as<Output>());
    }
  }
  tree::AnyTree backward(Context& ctx, tree::AnyTree& cotangent) const override {
    if constexpr (has_good_backward<D, S>()) {
      const auto rule = [](Context& c, auto&... part) { return D::backward(c, part...); };
      return tree::any(call_with_parts(rule, ctx, cotangent.template as<Output>()));
    } else {
      return {};
    }
  }
  tree::AnyTree jvp(Context& ctx, [[maybe_unused]] tree::Arguments& t) const override {
    if constexpr (has_good_jvp<D, S>()) {
      const auto rule = [](Context& c, auto&... part) { return D::jvp(c, part...); };
      return tree::any(Output(rule(ctx, t[K].template as<A>()...)));
    } else {
      return {};
    }
  }
  std::pair<tree::AnyTree, Dims> vmap(const VmapInfo& info, const std::vector<Dim>& of_leaves,
                                      tree::Arguments& a) const override {
    if constexpr (has_good_vmap<D, S>()) {
      [[maybe_unused]] const std::vector<Dims> dims = dims_by_argument(a, of_leaves);
      const std::tuple<in_dim_t<A>...> in_dims(in_dim<A>(dims[K])...);
      auto [output, out_dims] = D::vmap(info, in_dims, a[K].template as<A>()...);
      return {tree::any(Output(std::move(output))), out_dims_of(out_dims)};
    } else {
      return {tree::AnyTree(), Dims(0)};
    }
  }
};

}  // namespace function

/// An operation with rules of its own. Derive from it with your class as D; all functions are static:
///   forward(args…)                        plain arguments, any trees; one function, neither overloaded nor a template
///   setup_context(ctx, inputs, output)    inputs a std::tuple; saves what the derivatives need
///   backward(ctx, cotangent per output)   one gradient per argument; an undefined Tensor is none
///   jvp(ctx, tangent per argument)        one tangent per output
///   vmap(info, in_dims, args…)            std::pair{output, out_dims}; or `static constexpr bool generate_vmap_rule =
///                                         true`: forward, setup_context, backward and jvp each run under vmap
/// `static constexpr bool once_differentiable = true` makes a second derivative an error. An rc::Function that needs a
/// rule it lacks throws NotImplementedError with its name; a malformed one does not compile.
///   Tensor y = Square::apply(x);
template <class D>
class Function {
 public:
  template <class... X>
  static auto apply(const X&... x) {
    function::check_function<D>();
    if constexpr (function::has_forward<D>) {
      using S = function::Signature<decltype(&D::forward)>;
      static_assert(std::is_constructible_v<typename S::Arguments, const X&...>,
                    "ricci: rc::Function: apply takes the arguments of forward");
      if constexpr (std::is_constructible_v<typename S::Arguments, const X&...>)
        return S::template with_arguments<function::RulesOf, D, typename S::Output, typename S::Places>::apply(x...);
    }
  }
};

}  // namespace ricci
