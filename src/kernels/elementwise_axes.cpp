// Ordering and merging of axes.
#include "kernels/elementwise_axes.h"

#include <cassert>

namespace ricci::kernels::loop_axes {
namespace {

Axis read_axis(int a, const Strided& out, const Strided* in, int n_in) {
  Axis axis;
  axis.size = out.shape[a];
  axis.stride[0] = out.strides[a] * static_cast<std::int64_t>(element_size(out.dtype));
  for (int k = 0; k < n_in; ++k)
    axis.stride[k + 1] = in[k].strides[a] * static_cast<std::int64_t>(element_size(in[k].dtype));
  return axis;
}

bool are_one_run(const Axis& outer, const Axis& inner, int operands) {
  for (int k = 0; k < operands; ++k) {
    if (outer.stride[k] != inner.size * inner.stride[k]) return false;
  }
  return true;
}

void merge_runs(Axes& axes, int operands) {
  int last = 0;
  for (int a = 1; a < axes.count; ++a) {
    const Axis& inner = axes.axis[a];
    if (are_one_run(axes.axis[last], inner, operands)) {
      const std::int64_t size = axes.axis[last].size * inner.size;
      axes.axis[last] = inner;
      axes.axis[last].size = size;
    } else if (++last != a) {
      axes.axis[last] = inner;
    }
  }
  axes.count = last + 1;
}

}  // namespace

bool gather(Axes& axes, const Strided& out, const Strided* in, int n_in) {
  assert(out.rank <= max_rank);
  axes.count = 0;
  for (int a = 0; a < out.rank; ++a) {
    if (out.shape[a] == 0) return false;
    if (out.shape[a] == 1) continue;
    const Axis axis = read_axis(a, out, in, n_in);
    int place = axes.count++;
    for (; place > 0 && axes.axis[place - 1].stride[0] < axis.stride[0]; --place)
      axes.axis[place] = axes.axis[place - 1];
    axes.axis[place] = axis;
  }
  if (axes.count == 0) {
    axes.axis[0] = Axis{1, {}};
    axes.count = 1;
    return true;
  }
  merge_runs(axes, n_in + 1);
  return true;
}

int axis_to_cut(const Axes& axes) {
  const std::int64_t enough = 2 * std::int64_t{thread_count()};
  int longest = 0;
  for (int a = 0; a < axes.count; ++a) {
    if (axes.axis[a].size >= enough) return a;
    if (axes.axis[a].size > axes.axis[longest].size) longest = a;
  }
  return longest;
}

}  // namespace ricci::kernels::loop_axes
