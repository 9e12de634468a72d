// Convolutions of floats by oneDNN. Knows nothing of other element types.
#pragma once

#include "kernels/convolution_geometry.h"

namespace ricci::kernels {

/// Computes the one of the three that `geometry.kind` says is the result, from the other two; all are contiguous, and
/// no size is 0. False, with nothing written, if oneDNN has no such convolution. What oneDNN prepares for a geometry is
/// kept by each thread: the first call takes milliseconds, another one as long as the arithmetic and about 1 us.
bool convolve_by_onednn(const ConvolutionGeometry& geometry, float* input, float* weight, float* out);

}  // namespace ricci::kernels
