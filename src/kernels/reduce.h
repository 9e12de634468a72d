// Reductions of several passes over raw strided views: moments, sums of exponentials, places of extremes. Those of one
// pass: ricci/primitive/reduction.h. Knows nothing of tensors, promotion or keepdim.
#pragma once

#include <cstdint>

#include "tensor/strided.h"

namespace ricci::kernels {

/// log sum exp(x) over the axes i with reduced[i]; -inf of nothing. Floating types. Requires: `out` has the axes of
/// `in` that are not reduced, in order, and its type; it does not overlap `in`. Any strides and sizes.
void logsumexp(Strided out, Strided in, const bool* reduced);

/// out[kept axes] = the first place along `axis` of the greatest (or smallest) element; NaN wins. Real types; out
/// int64. Requires: in.shape[axis] > 0; of rank 0, axis is 0.
void argreduce(bool greatest, Strided out, Strided in, int axis);

/// The mean and the variance, sum |x - mean|^2 / max(0, n - correction), in two passes. Floating types, or complex
/// with a real variance. `mean` and `variance` are as logsumexp's out.
void mean_var(Strided mean, Strided variance, Strided in, const bool* reduced, std::int64_t correction);

/// exp(x - max) / sum exp(x - max) along `axis`, and its logarithm. Floating types; out has in's shape and type and
/// may be the same memory with the same strides. float16 and bfloat16 are computed in float. Of rank 0, axis is 0.
void softmax(Strided out, Strided in, int axis);
void log_softmax(Strided out, Strided in, int axis);

}  // namespace ricci::kernels
