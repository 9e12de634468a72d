// Sorting and merging the loops over lanes.
#include "kernels/scan_lanes.h"

#include <cassert>

namespace ricci::kernels {

LaneAxes lanes_along(int axis, const Strided& out, const Strided& in, const Strided& second) {
  assert(in.rank <= max_axes && out.rank == in.rank && second.rank == in.rank);
  LaneAxes axes{{}, {1, 0, 0, 0}, false};
  for (int i = 0; i < in.rank; ++i) {
    const Axis loop{in.shape[i], out.strides[i], in.strides[i], second.strides[i]};
    axes.empty = axes.empty || loop.size == 0;
    if (i == axis) {
      axes.lane = loop;
    } else {
      assert(out.shape[i] == loop.size && second.shape[i] == loop.size);
      if (loop.size != 1) insert_axis(axes.others, loop);
    }
  }
  merge_axes(axes.others);
  return axes;
}

}  // namespace ricci::kernels
