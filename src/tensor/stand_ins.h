// What stands for tensors that a function captured while it was recorded, where the function's rules run later. Knows
// nothing of recordings.
#pragma once

#include <memory>
#include <vector>

#include "tensor/value.h"

namespace ricci {

/// Example: a compiled function of x and w calls a custom function of x that captures w. The closure holds w as it was
/// while the function was recorded. In each run of the program, an operand stands for it.
struct StandIns {
  struct Pair {
    ValueRef captured, operand;
  };
  std::vector<Pair> pairs;
  std::shared_ptr<const StandIns> outer;  // of the rule that this one runs in; null: none
};

/// The value of the tensor itself, which `value_of` gives unless another one stands for it.
const ValueRef& own_value_of(const Tensor& tensor);

}  // namespace ricci
