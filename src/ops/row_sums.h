// Weighted sums of rows that indices name, and products of such rows: two primitives, each the other's derivative.
// Neither has a row for each index in memory. A table whose rows do not lie side by side is copied, if it is no larger
// than the rows that are read.
#pragma once

#include "ops/indexing.h"

namespace ricci {

/// Which rows of tables int64 `places` name, from the front; `told` is for the error where one is out of range.
struct RowPlaces {
  const Tensor& places;
  IndexPlace told;
};

/// Row to[p…, s] of the result [rows…, D] is Σ weights[p…, s] table[q…, from[p…, s], :] over all s that name this row.
/// The table is [q…, N, D], weights and places are [p…, S]. Axis k of the table, and of `rows`, is as long as axis k of
/// the places, or 1: then all pairs share it. Example: 4 examples, one table, [1, N, D]. Tables and weights are real
/// and floating; they are promoted. The terms of a row are added in order, in float64, and rounded at the end.
Tensor sum_rows(const Tensor& table, const Tensor& weights, const RowPlaces& from, const RowPlaces& to,
                const Shape& rows);

}  // namespace ricci
