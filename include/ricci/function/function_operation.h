// The compiled side of rc::Function: the order of a class's steps under each transform, and what is wrong with what
// they return. Not for users.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ricci/function/context.h"
#include "ricci/function/operation.h"

namespace ricci::function {

/// Which rules a class brings.
struct Facts {
  bool has_backward, has_jvp, has_vmap, generates_vmap, once_differentiable;
};

/// The name errors and programs use: the class without its namespaces.
std::string class_name(std::string_view type);

class FunctionOperation : public Operation {
 public:
  FunctionOperation(std::string_view type, const Facts& facts) : Operation(class_name(type)), facts_(facts) {}

  Tensors call(std::span<const Tensor> inputs) const final;
  Kept keep(std::span<const Tensor> inputs, const Mask& wanted) const final;
  Tensors vjp(const Reverse& rule) const final;
  Pushed jvp(std::span<const Tensor> inputs, std::span<const Tensor> tangents) const final;
  BatchedOutputs batch(const Batch& batch) const final;

  /// Applies it, and gives the inputs that forward wrote to their new values.
  Tensors apply_and_write(std::span<const Tensor> inputs) const;

 protected:
  virtual Tensors forward(std::span<const Tensor> inputs) const = 0;
  virtual void setup(Context& ctx, std::span<const Tensor> inputs, std::span<const Tensor> outputs) const = 0;
  virtual Tensors backward(Context& ctx, std::span<const Tensor> cotangents) const = 0;
  virtual Tensors push(Context& ctx, std::span<const Tensor> tangents) const = 0;
  virtual BatchedOutputs map(const VmapInfo& info, const Batch& batch) const = 0;

 private:
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

  const Facts facts_;
  // The inputs that forward returned in its first run, which ends before anyone else can see the application; no later
  // run writes here.
  mutable std::optional<std::vector<Returned>> returned_;
};

/// in_dims for a written rule: one entry for each leaf of the arguments, none where not mapped.
std::vector<Dim> dims_of_leaves(std::size_t leaves, const Mask& taken, const Mask& mapped);
/// What a written rule returned, with the batch as axis 0. Throws what does not fit.
BatchedOutputs batch_in_front(const std::string& name, const tree::Walk& output, const Dims& out_dims, Size batch_size);

}  // namespace ricci::function
