// The axes of an elementwise call, ordered outermost first and merged where all operands allow. Knows nothing of what
// runs over them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ricci/primitive/loop_table.h"
#include "ricci/primitive/parallel.h"
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

inline std::int64_t elements(const Axes& axes) {
  std::int64_t all = 1;
  for (int a = 0; a < axes.count; ++a) all *= axes.axis[a].size;
  return all;
}

/// The outermost axis that is long enough for all threads, else the longest.
int axis_to_cut(const Axes& axes);

/// work(axes, data) for pieces of the axes, on several threads where the elements take so long; work may change the
/// axes it gets.
template <class Work>
void cut(Axes& axes, double nanoseconds_per_element, int operands, char* const* data, const Work& work) {
  const std::int64_t all = elements(axes);
  if (!would_cut({all, nanoseconds_per_element})) return work(axes, data);
  const int axis = axis_to_cut(axes);
  const std::int64_t size = axes.axis[axis].size;
  const double nanoseconds = nanoseconds_per_element * static_cast<double>(all / size);
  const std::int64_t step = axis == axes.count - 1 ? line_step() : 1;
  parallel_for({size, nanoseconds, step}, [&](std::int64_t begin, std::int64_t end) {
    Axes piece;
    piece.count = axes.count;
    std::copy_n(axes.axis, axes.count, piece.axis);
    piece.axis[axis].size = end - begin;
    char* at[max_operands];
    for (int k = 0; k < operands; ++k) at[k] = data[k] + begin * axes.axis[axis].stride[k];
    work(piece, at);
  });
}

}  // namespace ricci::kernels::loop_axes
