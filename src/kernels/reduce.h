// Reductions over any set of axes of raw strided views: sums, products, extremes, norms, moments, softmax.
// Knows nothing of tensors, promotion or keepdim. Start with `reduce`.
//
// Order of additions. A sum's bits depend on the sizes of the reduced axes and on which of them can be walked as one
// loop, not on the kept axes, on whether memory is contiguous along kept or reduced ones, or on the machine's vectors:
// a lane of a batch is summed as it would be alone. Only where several axes are reduced, and lie in another order in
// the lane's memory than in the batch's or merge differently, can the last bits differ. Partial sums are at most 16
// long and are joined four by four, so errors grow with the logarithm of the size.
#pragma once

#include <cstdint>

#include "tensor/strided.h"

namespace ricci::kernels {

enum class Reduction : std::uint8_t {
  sum,             // booleans and integers sum to int64; float16 and bfloat16 in float, rounded once
  mean,            // floating and complex
  prod,            // as sum
  max,             // real types; NaN wins; needs elements
  min,             // as max
  any,             // every type, to boolean; NaN is true
  all,             // as any
  count_nonzero,   // every type, to int64
  sum_of_squares,  // of sizes; floating; complex to real
  sum_of_abs,      // as sum_of_squares
  max_abs,         // as sum_of_squares; NaN wins; 0 of nothing
  logsumexp        // floating; -inf of nothing
};

/// The element type of a reduction's output.
DType reduced_dtype(Reduction kind, DType in);

/// out[kept axes] = kind over the axes i with reduced[i].
///
/// Requires: `out` has the axes of `in` that are not reduced, in order, and element type `reduced_dtype`; it does not
/// overlap `in`. Any strides and sizes; `reduced` has in.rank entries.
void reduce(Reduction kind, Strided out, Strided in, const bool* reduced);

/// out = sum of x * y over the reduced axes, without the product in memory. As `reduce` of kind sum, of two inputs of
/// one shape (stride 0 where they were broadcast) and one type; boolean and integers to int64. No conjugation. Each
/// product is added with one rounding.
void reduce_dot(Strided out, Strided x, Strided y, const bool* reduced);

/// out[kept axes] = the first place along `axis` of the greatest (or smallest) element; NaN wins. Real types; out
/// int64. Requires: in.shape[axis] > 0; of rank 0, axis is 0.
void argreduce(bool greatest, Strided out, Strided in, int axis);

/// The mean and the variance, sum |x - mean|^2 / max(0, n - correction), in two passes. Floating types, or complex
/// with a real variance. `mean` and `variance` are as reduce's out.
void mean_var(Strided mean, Strided variance, Strided in, const bool* reduced, std::int64_t correction);

/// exp(x - max) / sum exp(x - max) along `axis`, and its logarithm. Floating types; out has in's shape and type and
/// may be the same memory with the same strides. float16 and bfloat16 are computed in float. Of rank 0, axis is 0.
void softmax(Strided out, Strided in, int axis);
void log_softmax(Strided out, Strided in, int axis);

}  // namespace ricci::kernels
