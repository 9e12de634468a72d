// Planes of an elementwise call (its two innermost axes) that would make poor runs one row at a time: short rows, and
// inputs that lie transposed. Knows nothing of operations.
#pragma once

#include "kernels/elementwise_axes.h"

namespace ricci::kernels {

/// A loop with its parameter and what it needs to know of its operands, output first.
struct LoopCall {
  Loop loop;
  const void* op;
  int operands;
  std::int64_t element[loop_axes::max_operands];  // bytes

  void run(char* const* data, const std::int64_t* strides, std::int64_t n) const {
    loop(op, operands - 1, data, strides, n);
  }
};

/// Runs everything if that takes gathering planes into buffers. False: nothing has run, and runs along the last axis,
/// which may be another than before, do as well.
bool run_planes(const LoopCall& call, loop_axes::Axes& axes, char* const* data);

}  // namespace ricci::kernels
