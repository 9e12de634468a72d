// Convolutions over raw views, as PyTorch defines them (cross-correlations), and their two transposes. Transposed
// convolution is `convolution_input_gradient`. Knows nothing of tensors or bias.
//
// Views are contiguous (row-major), of one dtype, any of them: input [N, C, spatial...], weight [O, C / groups,
// kernel...], out [N, O, spatial...], with 1 to 3 spatial axes. Sizes may be 0.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ricci/shape.h"
#include "ricci/strided.h"

namespace ricci::kernels {

/// One entry per spatial axis, the first `spatial` of them. Padding is not negative and is made of zeros.
struct ConvolutionShape {
  int spatial = 2;
  std::array<Size, 3> stride = {1, 1, 1}, padding_low = {}, padding_high = {}, dilation = {1, 1, 1};
  Size groups = 1;  // these may be symbols where a program is recorded
};

/// The size of out along a spatial axis; every view of one convolution must obey it.
inline Size convolution_size(Size input, Size kernel, const ConvolutionShape& shape, std::size_t axis) {
  const Size room = input + shape.padding_low[axis] + shape.padding_high[axis] - shape.dilation[axis] * (kernel - 1);
  return room < 1 ? Size(0) : (room - 1) / shape.stride[axis] + 1;
}

/// out[n, o, y] = sum over c and k of input[n, c, y * stride + k * dilation - padding_low] weight[o, c, k].
void convolution(Strided out, Strided input, Strided weight, const ConvolutionShape& shape);

/// The transpose of `convolution` in its input: what a cotangent of out contributes to one of input.
void convolution_input_gradient(Strided input_gradient, Strided cotangent, Strided weight,
                                const ConvolutionShape& shape);

/// The transpose of `convolution` in its weight.
void convolution_weight_gradient(Strided weight_gradient, Strided input, Strided cotangent,
                                 const ConvolutionShape& shape);

}  // namespace ricci::kernels
