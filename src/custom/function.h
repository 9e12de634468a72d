// The compiled side of rc::Function: the order of a class's steps under each transform, and what is wrong with what
// they return.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "custom/operation.h"
#include "ricci/function.h"

namespace ricci::function {

/// The name errors and programs use: the class without its namespaces.
std::string class_name(std::string_view type);

class FunctionOperation final : public Operation {
 public:
  FunctionOperation(Arguments arguments, Tensors& inputs, std::shared_ptr<const Rules> rules)
      : Operation(class_name(rules->facts.type), std::move(arguments), inputs), rules_(std::move(rules)) {}

  Tensors call(std::span<const Tensor> inputs) const final;
  Kept keep(std::span<const Tensor> inputs, const Mask& wanted) const final;
  Tensors vjp(const Reverse& rule) const final;
  Pushed jvp(std::span<const Tensor> inputs, std::span<const Tensor> tangents) const final;
  BatchedOutputs batch(const Batch& batch) const final;

  /// Applies it, and gives the inputs that forward wrote to their new values.
  Tensors apply_and_write(std::span<const Tensor> inputs) const;

 private:
  // The class's rules.
  Tensors forward(std::span<const Tensor> inputs) const;
  void setup(Context& ctx, std::span<const Tensor> inputs, std::span<const Tensor> outputs) const;
  Tensors backward(Context& ctx, std::span<const Tensor> cotangents) const;
  Tensors push(Context& ctx, std::span<const Tensor> tangents) const;
  BatchedOutputs map(const VmapInfo& info, const Batch& batch) const;

  struct Returned {
    std::size_t input, output;
    bool is_written;
    friend bool operator==(const Returned&, const Returned&) = default;
  };
  std::span<const Returned> returned() const {
    return returned_ ? std::span<const Returned>(*returned_) : std::span<const Returned>();
  }
  /// Finds the inputs that forward returned; throws unless they are all it wrote to. `before` holds their old values.
  void note_returned(std::span<const Tensor> before, std::span<const Tensor> inputs,
                     std::span<const Tensor> outputs) const;
  Context context_of_call(std::span<const Tensor> inputs, std::span<const Tensor> outputs, const Mask& wanted) const;
  Context context_of(const Residual& residual) const;
  void check_marks(const Context& ctx, std::span<const Tensor> inputs, std::span<const Tensor> outputs) const;
  static Mask constant_outputs(const Context& ctx, std::span<const Tensor> outputs);
  Tensors backward_once(Context& ctx, std::span<const Tensor> cotangents) const;

  const std::shared_ptr<const Rules> rules_;
  // The inputs that forward returned in its first run, which ends before anyone else can see the application; no later
  // run writes here.
  mutable std::optional<std::vector<Returned>> returned_;
};

}  // namespace ricci::function
