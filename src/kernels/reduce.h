// Reductions over raw strided views. Some take several passes (moments, sums of exponentials, places of extremes). The
// others take one pass, and many operations and kernels use them: each has its loops in a file of its own, since loops
// take long to compile. A reduction that is not here has its loops where it is written: ricci/primitive/reduction.h.
// Knows nothing of tensors, promotion or keepdim.
#pragma once

#include <cstdint>

#include "tensor/strided.h"

namespace ricci::kernels {

// Requires of each with `reduced`: `out` has the axes i of `in` with reduced[i] false, in order; it does not overlap
// `in`. Any strides and sizes.

/// The sum and the product of any type, as reduction::Summed has it.
void sum(Strided out, Strided in, const bool* reduced);
void product(Strided out, Strided in, const bool* reduced);
/// The sum of x y, which have one shape and type: any, whole numbers, complex ones.
void sum_of_products(Strided out, Strided x, Strided y, const bool* reduced);
void sum_of_products_of_whole(Strided out, Strided x, Strided y, const bool* reduced);
void sum_of_products_of_complex(Strided out, Strided x, Strided y, const bool* reduced);
/// The sum of |x|² and of |x|, of floating and complex types.
void sum_of_squares(Strided out, Strided in, const bool* reduced);
void sum_of_abs(Strided out, Strided in, const bool* reduced);
/// The mean of a floating or complex type, in that type or in the one it is added in.
void mean(Strided out, Strided in, const bool* reduced);
/// The greatest and the smallest element of a real type, the limit of the type of none; NaN wins.
void greatest(Strided out, Strided in, const bool* reduced);
void smallest(Strided out, Strided in, const bool* reduced);
/// Whether any element is not 0, whether all are not (boolean), and how many are not (int64).
void any(Strided out, Strided in, const bool* reduced);
void all(Strided out, Strided in, const bool* reduced);
void count_nonzero(Strided out, Strided in, const bool* reduced);

/// log sum exp(x); -inf of nothing. Floating types, and out's is the same.
void logsumexp(Strided out, Strided in, const bool* reduced);

/// out[kept axes] = the first place along `axis` of the greatest (or smallest) element; NaN wins. Real types; out
/// int64. Requires: in.shape[axis] > 0; of rank 0, axis is 0.
void argreduce(bool greatest, Strided out, Strided in, int axis);

/// The mean and the variance, sum |x - mean|^2 / max(0, n - correction), in two passes. Floating types, or complex
/// with a real variance.
void mean_var(Strided mean, Strided variance, Strided in, const bool* reduced, std::int64_t correction);

/// exp(x - max) / sum exp(x - max) along `axis`, and its logarithm. Floating types; out has in's shape and type and
/// may be the same memory with the same strides. float16 and bfloat16 are computed in float. Of rank 0, axis is 0.
void softmax(Strided out, Strided in, int axis);
void log_softmax(Strided out, Strided in, int axis);

}  // namespace ricci::kernels
