// Patterns whose sizes may be symbols: what rules and transforms index and seed with. Their public words take numbers.
#pragma once

#include "ricci/tensor.h"

namespace ricci {

/// The places along an axis of this size: 0, 1, … as int64.
Tensor places_along(Size size);
/// Part of an identity matrix, as seeds of derivatives: its rows from `row` on, its columns from `column` on.
Tensor seeds_part(Size row, Size column, Size rows, Size columns, DType dtype);

}  // namespace ricci
