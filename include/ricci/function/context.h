// What a function with rules of its own keeps between its forward and its derivative. Knows nothing of the function.
#pragma once

#include <concepts>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "ricci/primitive/rule_arguments.h"
#include "ricci/tree.h"

namespace ricci {

namespace function {
class FunctionOperation;

/// A value with its C++ type erased.
struct SavedValue {
  std::shared_ptr<const void> object;
  std::string_view type;
};

/// Everything in a Context but the saved tensors.
struct ContextNotes {
  std::size_t saved_for_backward = 0;  // how many of the saved tensors; the others are for jvp
  std::vector<SavedValue> values;
  Mask needs_gradient;  // by argument
  std::size_t arguments = 0;
  bool materialize = true;
};
}  // namespace function

/// The `ctx` of rc::Function: filled in by setup_context, read by backward and jvp.
class Context {
 public:
  /// Keeps tensors for backward; a second call replaces them. Read with `saved(i)`, in this order.
  template <std::convertible_to<Tensor>... T>
  void save_for_backward(const T&... tensors) {
    for_backward_ = {Tensor(tensors)...};
  }
  void save_for_backward(std::vector<Tensor> tensors) { for_backward_ = std::move(tensors); }
  /// Keeps tensors for jvp; without a call, jvp reads what was saved for backward, and the other way round.
  template <std::convertible_to<Tensor>... T>
  void save_for_forward(const T&... tensors) {
    for_forward_ = {Tensor(tensors)...};
  }
  void save_for_forward(std::vector<Tensor> tensors) { for_forward_ = std::move(tensors); }
  /// Saved tensor i. IndexError if there is none.
  Tensor saved(std::size_t i) const;

  /// Keeps a value that holds no Tensor. Read with `value<T>(i)`, in the order of the calls.
  template <class T>
  void save_value(T value) {
    static_assert(!tree::can_hold_tensor<T> && !tree::hides_tensor<T>,
                  "ricci: save_value keeps values that hold no Tensor; keep tensors with save_for_backward");
    notes_.values.push_back({std::make_shared<const T>(std::move(value)), tree::type_name<T>});
  }
  /// Saved value i. IndexError if there is none, TypeError if it was saved as another type.
  template <class T>
  const T& value(std::size_t i) const {
    return *static_cast<const T*>(find_value(i, tree::type_name<T>));
  }

  /// Says that forward wrote to these inputs, which it must return.
  template <std::same_as<Tensor>... T>
  void mark_dirty(const T&... inputs) {
    (dirty_.push_back(inputs), ...);
  }
  /// Says that these outputs have no derivative.
  template <std::same_as<Tensor>... T>
  void mark_non_differentiable(const T&... outputs) {
    (constant_.push_back(outputs), ...);
  }
  /// With false, a cotangent or tangent that is zero is an undefined Tensor instead of zeros.
  void set_materialize_grads(bool materialize) { notes_.materialize = materialize; }
  /// Whether argument i of forward is being differentiated. IndexError if there is none.
  bool needs_input_grad(std::size_t i) const;

 private:
  friend class function::FunctionOperation;
  enum class Reader : bool { backward, forward };
  explicit Context(std::string_view function) : function_(function) {}
  const std::vector<Tensor>& saved_list() const;
  const void* find_value(std::size_t i, std::string_view type) const;

  std::string_view function_;  // for error texts
  Reader reader_ = Reader::backward;
  std::vector<Tensor> for_backward_, for_forward_, dirty_, constant_;
  function::ContextNotes notes_;
};

/// What a written vmap rule is told about the vmap.
struct VmapInfo {
  Size batch_size;  // reads as an integer
  Randomness randomness;
};

}  // namespace ricci
