// The loops of a reduction: kept and reduced axes of one output and one or two inputs, sorted and merged.
// Knows nothing of what is computed in them. Start with `reduction_axes`.
#pragma once

#include <cstdint>

#include "tensor/strided.h"

namespace ricci::kernels {

inline constexpr int max_axes = 64;

/// One loop: its size and how far each step goes in the output and the inputs, in elements.
struct Axis {
  std::int64_t size, out, x, y;
};

/// Outermost first.
struct AxisList {
  Axis axis[max_axes];
  int count;

  AxisList() : count(0) {}  // leaves the axes themselves unset
  Axis last() const { return count > 0 ? axis[count - 1] : Axis{1, 0, 0, 0}; }
};

struct ReductionAxes {
  AxisList kept, reduced;
  std::int64_t reduced_elements = 1;
  bool empty = false;  // the output has no elements
};

/// Axes of size 1 are left out, axes with wide steps of x (then of y) stand outside those with narrow ones, broadcast
/// axes outermost, and neighbours that are one loop for all operands are merged.
/// Requires: `out` has the axes of `x` that are not reduced; `y`, if given, has the shape of `x`.
ReductionAxes reduction_axes(const Strided& out, const Strided& x, const Strided* y, const bool* reduced);

/// Puts `axis` where its steps belong: wide ones outside, broadcast ones outermost.
void insert_axis(AxisList& list, const Axis& axis);
/// Makes one of neighbours that are one loop for all operands.
void merge_axes(AxisList& list);

/// A place in the operands.
struct Offsets {
  std::int64_t out = 0, x = 0, y = 0;
};

/// Every step of the first `count` axes, the last of them fastest:
///   for (Walk walk(axes, count); !walk.done; walk.next()) use(walk.at);
/// Requires: no size is 0.
class Walk {
 public:
  Walk(const Axis* axes, int count) : axes_(axes), last_(count - 1) {
    for (int i = 0; i < count; ++i) index_[i] = 0;
  }

  void next() {
    if (last_ >= 0 && ++index_[last_] < axes_[last_].size) return step(axes_[last_]);
    carry();
  }

  bool done = false;
  Offsets at;

 private:
  void step(const Axis& axis) { at.out += axis.out, at.x += axis.x, at.y += axis.y; }
  void carry();

  const Axis* axes_;
  int last_;
  std::int64_t index_[max_axes];
};

}  // namespace ricci::kernels
