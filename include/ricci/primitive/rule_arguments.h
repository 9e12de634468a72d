// What the rules of a primitive are given and what they give back. Knows nothing of interpreters. primitive.h says
// which rules there are.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ricci/dims.h"
#include "ricci/tensor.h"
#include "ricci/type.h"

namespace ricci {

using Tensors = SmallVector<Tensor, 3>;

/// Some of the inputs or outputs of an operation, of which there may be any number.
class Mask {
 public:
  Mask() = default;
  /// Bit i stands for position i; ~0U for all positions.
  Mask(unsigned bits) : beyond_(bits == ~0U) {
    for (; !beyond_ && bits; bits >>= 1) flags_.push_back(bits & 1U);
  }
  void push_back(bool flag) { flags_.push_back(flag); }
  bool operator[](std::size_t i) const { return i < flags_.size() ? flags_[i] : beyond_; }

 private:
  SmallVector<bool, 8> flags_;
  bool beyond_ = false;
};

/// What a forward rule may use. An undefined tangent is zero. Tensors that the rule `keep` left follow the outputs.
struct Forward {
  std::span<const Tensor> inputs, tangents, outputs;
  /// The tangent of input i, zeros if it has none.
  Tensor tangent(int i) const;
};

/// What an operation keeps of one call until its derivative is asked for.
struct Residual {
  std::vector<Tensor> tensors;       // all that holds values: vmap maps these
  std::shared_ptr<const void> rest;  // what does not depend on values: structures, numbers
};

/// What a reverse rule may use. Inputs and outputs are undefined unless kept; an undefined cotangent is zero.
struct Reverse {
  std::span<const Tensor> inputs, outputs, cotangents;
  std::span<const Type> input_types, output_types;
  Mask wanted;
  const Residual* residual = nullptr;  // what the rule `keep` gave, of the examples that run
  const Residual* kept = nullptr;      // the same of all that ran then: for what is computed again
  bool last_use = false;               // nobody needs the cotangents after the rule: it may give them away
  Tensor* so_far = nullptr;            // what others have added to the cotangent of input 0; see `begun`
  bool wants(int i) const { return wanted[static_cast<std::size_t>(i)]; }
  /// The cotangent of output i, zeros if it has none.
  Tensor cotangent(int i) const;
  /// Where a rule begins that adds terms, element by element, to the cotangent of input 0: at zeros, or at what others
  /// have added. It has the only handle, so that a loop that reads a few elements a step adds those on its way back.
  Tensor begun() const;
};

/// What a batching rule sees: inputs with the batch as axis 0 where mapped.
struct Batch {
  Size size;
  std::span<const Tensor> inputs;
  Mask mapped;
  Randomness randomness = Randomness::error;
  std::uint64_t level = 0;  // of the vmap that asks
  bool is_mapped(int i) const { return mapped[static_cast<std::size_t>(i)]; }
  /// Input i with the batch as axis 0, expanded without copying if it is not mapped.
  Tensor input(int i) const;
  int count() const { return static_cast<int>(inputs.size()); }
};
struct BatchedOutputs {
  Tensors outputs;
  Mask mapped = ~0U;
};

/// The value of a custom operation together with what its derivative by reverse mode needs.
struct Kept {
  Tensors outputs;
  Residual residual;
  Mask constant = 0;  // outputs without a derivative
};

/// The value of a custom operation and its derivative along tangents; an undefined tangent is zero.
struct Pushed {
  Tensors outputs, tangents;
};

}  // namespace ricci
