// Examples that take no part in a branch or in a step of a recorded loop. All rows are computed together there; those
// of others are filled with what is computed anyway, so that nothing new can go wrong in them, and are dropped
// afterwards.
#pragma once

#include "ricci/ops.h"

namespace ricci::runs {

/// Answers of one element each, as a vector of as many.
Tensor one_for_each(const Tensor& answers);
/// `x` with a copy of a row that takes part in place of each that does not: along the last axis of `takes_part`, bool,
/// which has the first axes of x; the others count for themselves. No derivative goes through a copy. Where no row
/// takes part, all are copies of the first one.
Tensor filled_rows(const Tensor& takes_part, const Tensor& x);
/// The rows of `one` that take part, else those of `other`.
Tensor chosen_rows(const Tensor& takes_part, const Tensor& one, const Tensor& other);

}  // namespace ricci::runs
