// Padding with what stands in the tensor, as torch.nn.functional.pad. Padding with a constant is in ricci/ops/shape.h.
#pragma once

#include <string_view>

#include "ricci/tensor.h"

namespace ricci::ops {

/// x continued beyond its ends, by widths as in `pad(x, widths)`: before and behind each axis, the last axis first;
/// negative ones cut off. The mode says by what:
///   "constant"   a number, 0 if not given
///   "reflect"    x backwards from its ends, which are not repeated; widths are less than the size
///   "replicate"  its first and its last element
///   "circular"   x again; widths are at most the size
/// Any element type and any number of axes. ValueError for another mode, too many or an odd number of widths, or a
/// width that x cannot fill.
///   rc::pad(x, {2, 1}, "reflect")  // 1 2 3 4 → 3 2 1 2 3 4 3
Tensor pad(const Tensor& x, const Sizes& widths, std::string_view mode);
Tensor pad(const Tensor& x, const Sizes& widths, std::string_view mode, double value);

}  // namespace ricci::ops
