// Weighted sums of rows that indices name, and products of such rows, over raw strided views. A table whose rows do not
// lie side by side is copied, if it is no larger than the rows that are read. Knows nothing of tensors or errors.
//
// Two tables have rows of D elements: one is [q…, N, D], the other [r…, M, D]. A pair names a row of each: `from`
// [p…, S] and `to` [p…, S], int64 in range, from the front. The axes q and r are those of p, or of size 1, where all
// pairs along that axis name rows of one table.
#pragma once

#include "ricci/strided.h"

namespace ricci::kernels {

/// out[r…, to[p…, s], :] = Σ weights[p…, s] src[q…, from[p…, s], :] over all pairs that name the row of out. Its terms
/// are added in row-major order of the pairs, in float64, and rounded at the end. Working memory is a few numbers a
/// pair, besides such a copy. Requires: all but the indices have one floating type; out is contiguous and overlaps
/// nothing that is read.
void sum_rows(Strided out, Strided src, Strided weights, Strided from, Strided to);

/// out[p…, s] = Σ a[q…, from[p…, s], d] b[r…, to[p…, s], d] over d, added in float64.
/// Requires: as sum_rows.
void multiply_rows(Strided out, Strided a, Strided b, Strided from, Strided to);

}  // namespace ricci::kernels
