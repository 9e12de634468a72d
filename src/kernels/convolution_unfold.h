// Convolutions of any element type as matrix products: the inputs that each output sees are copied into a column.
// Knows nothing of libraries.
#pragma once

#include "kernels/convolution_geometry.h"
#include "ricci/dtype.h"

namespace ricci::kernels {

/// Computes the one of the three that `geometry.kind` says is the result, from the other two; all are contiguous, and
/// no size is 0.
void convolve_by_unfolding(const ConvolutionGeometry& geometry, DType dtype, void* input, void* weight, void* out);

}  // namespace ricci::kernels
