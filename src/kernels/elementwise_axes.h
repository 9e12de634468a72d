// The axes of an elementwise call, ordered outermost first and merged where all operands allow. Knows nothing of what
// runs over them.
#pragma once

#include <cstdint>

#include "ricci/primitive/loop_table.h"
#include "ricci/strided.h"

namespace ricci::kernels::loop_axes {

inline constexpr int max_operands = 1 + max_loop_inputs;
inline constexpr int max_rank = 64;

struct Axis {
  std::int64_t size;
  std::int64_t stride[max_operands];  // in bytes, output first
};

struct Axes {
  int count;
  Axis axis[max_rank];
};

/// Collects the axes of size above 1, by descending output stride, and merges neighbours that are one run for every
/// operand. At least one axis remains. False if there are no elements.
bool gather(Axes& axes, const Strided& out, const Strided* in, int n_in);

}  // namespace ricci::kernels::loop_axes
