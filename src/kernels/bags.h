// Greatest elements of bags of rows, over raw strided views. Knows nothing of tensors.
#pragma once

#include "ricci/strided.h"

namespace ricci::kernels {

/// places[..., b, d]: the first row p with bags[..., p] = b whose element rows[..., p, d] is the greatest, or NaN; n
/// where the bag has no row. Requires: rows [..., n, D] of float32 or float64, bags [..., n] and places [..., B, D] of
/// int64, all contiguous; 0 <= bags < B.
void bag_argmax(Strided places, Strided rows, Strided bags);

}  // namespace ricci::kernels
