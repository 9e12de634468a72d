// Operations that you define, as a class with static functions: torch.autograd.Function's shape. Derivatives given as
// functions instead are in custom_derivatives.h, those of roots and linear systems in implicit.h.
#pragma once

#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "ricci/function/checks.h"
#include "ricci/function/function_operation.h"
#include "ricci/tree/match_dims.h"

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

/// One application of the class D.
template <class D, class Output, class... A>
class Application final : public Typed<FunctionOperation, Output, A...> {
  using Base = Typed<FunctionOperation, Output, A...>;
  using typename Base::Arguments;
  using S = Signature<decltype(&D::forward)>;

 public:
  using Base::Base;

 private:
  Tensors forward(std::span<const Tensor> inputs) const override {
    Arguments arguments = this->arguments(inputs);
    return this->tensors_of(std::apply(&D::forward, arguments));
  }
  void setup(Context& ctx, std::span<const Tensor> inputs, std::span<const Tensor> outputs) const override {
    if constexpr (has_setup_context<D>) check_setup_context<D, S>();
    if constexpr (has_setup_context<D>) D::setup_context(ctx, this->arguments(inputs), this->result(outputs));
  }
  Tensors backward(Context& ctx, std::span<const Tensor> cotangents) const override {
    if constexpr (has_good_backward<D, S>()) {
      Output ct = this->result(cotangents);
      const auto rule = [](Context& c, auto&... part) { return D::backward(c, part...); };
      return this->gradients_of("backward", call_with_parts(rule, ctx, ct));
    } else {
      return {};
    }
  }
  Tensors push(Context& ctx, std::span<const Tensor> tangents) const override {
    if constexpr (has_good_jvp<D, S>()) {
      Arguments t = this->arguments(tangents);
      const auto rule = [](Context& c, auto&... part) { return D::jvp(c, part...); };
      Output tangent = call_with_parts(rule, ctx, t);
      return this->tangents_of("jvp", std::move(tangent));
    } else {
      return {};
    }
  }
  BatchedOutputs map(const VmapInfo& info, const Batch& batch) const override {
    if constexpr (has_good_vmap<D, S>()) {
      Arguments arguments = this->arguments(batch.inputs);
      const auto in_dims = dims_of(arguments, batch.mapped);
      auto [output, out_dims] = std::apply([&](A&... a) { return D::vmap(info, in_dims, a...); }, arguments);
      Output result = std::move(output);
      BatchedOutputs batched = batch_in_front(this->name(), call::walk(result), out_dims_of(out_dims), info.batch_size);
      this->tensors_of(std::move(result));
      return batched;
    } else {
      return {};
    }
  }
  typename InDims<Arguments>::type dims_of(Arguments& arguments, const Mask& mapped) const {
    const std::array<tree::Walk, sizeof...(A)> walks =
        std::apply([](A&... a) { return std::array<tree::Walk, sizeof...(A)>{call::walk(a)...}; }, arguments);
    std::size_t leaves = 0;
    for (const tree::Walk& walk : walks) leaves += walk.leaves.size();
    const std::vector<Dim> dims = dims_of_leaves(leaves, this->taken(), mapped);
    auto walk = walks.begin();
    auto next = dims.begin();
    return typename InDims<Arguments>::type{dims_of_argument<A>(walk, next)...};
  }
  /// Of the argument that `at` stands at; the dims of its leaves begin at `next`. Goes on to the argument after it.
  template <class T, class At>
  static in_dim_t<T> dims_of_argument(At& at, std::vector<Dim>::const_iterator& next) {
    const tree::Walk& walk = *at++;
    const auto first = next;
    next += static_cast<std::ptrdiff_t>(walk.leaves.size());
    if constexpr (tree::TensorLike<T>) return *first;
    else if constexpr (!tree::can_hold_tensor<T>) return none;
    else return tree::dims_like(walk, {first, next});
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
      using Application = typename S::template with_arguments<function::Application, D, typename S::Output>;
      static_assert(std::is_constructible_v<typename S::Arguments, const X&...>,
                    "ricci: rc::Function: apply takes the arguments of forward");
      if constexpr (std::is_constructible_v<typename S::Arguments, const X&...>) {
        Tensors inputs;
        const auto application =
            std::make_shared<const Application>(typename S::Arguments(x...), inputs, tree::type_name<D>, facts());
        return application->result(application->apply_and_write(inputs));
      }
    }
  }

 private:
  static constexpr function::Facts facts() {
    return {.has_backward = function::has_backward<D>,
            .has_jvp = function::has_jvp<D>,
            .has_vmap = function::has_vmap<D>,
            .generates_vmap = function::generates_vmap_rule<D>(),
            .once_differentiable = function::is_once_differentiable<D>()};
  }
};

}  // namespace ricci
