// The search for derivatives that hold NaN, while a detect_anomaly lives.
#pragma once

#include <span>

#include "primitive/interpreter.h"

namespace ricci {

/// Throws ValueError where one of the derivatives, which `op` has just made, holds NaN. `derivative` is what the error
/// calls it: `the gradient of operand`, and its number.
void throw_at_nan(Op op, const char* derivative, std::span<const Tensor> derivatives);

inline void look_for_nan(Op op, const char* derivative, std::span<const Tensor> derivatives) {
  if (this_thread.searches_for_nan > 0) throw_at_nan(op, derivative, derivatives);
}

}  // namespace ricci
