// The lanes of an operation along one axis: that axis, and the loops over all others. Knows nothing of what is done
// to a lane. Start with `lanes_along`.
#pragma once

#include "ricci/primitive/reduction_axes.h"
#include "tensor/strided.h"

namespace ricci::kernels {

/// Steps are those of `out` (out), `in` (x) and a second output or input (y).
struct LaneAxes {
  AxisList others;
  Axis lane;   // of size 1 if the rank is 0
  bool empty;  // there are no lanes, or the lane has no elements
};

/// The loops over the lanes of `in` along `axis`; the other operands agree with it in all sizes but the lane's.
/// The lane's size is in's. Axes are sorted and merged as in `reduction_axes`.
LaneAxes lanes_along(int axis, const Strided& out, const Strided& in, const Strided& second);

}  // namespace ricci::kernels
