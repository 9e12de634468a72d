// Windows of images as columns, and columns added up in images: `unfold` and its transpose. Knows nothing of tensors.
// Views are contiguous (row-major), of one dtype, any of them: images [N, C, spatial...] and columns
// [N, C kernel, outputs], with 1 to 3 spatial axes. Sizes may be 0.
#pragma once

#include "kernels/convolution.h"

namespace ricci::kernels {

/// columns[n, (c, k...), i...] = image[n, c, i * stride + k * dilation - padding], zero in the padding.
void unfold(Strided columns, Strided image, const ConvolutionShape& shape, const std::array<Size, 3>& kernel);

/// The transpose of `unfold`.
void fold(Strided image, Strided columns, const ConvolutionShape& shape, const std::array<Size, 3>& kernel);

}  // namespace ricci::kernels
