// Convolutions over three axes, transposed ones, and the windows they read, with PyTorch's conventions and names;
// `conv1d` and `conv2d` are in ricci/ops/nn.h. x is [N, C, L] or
// [C, L] where a name ends in 1d, [N, C, H, W] or [C, H, W] in 2d, [N, C, D, H, W] or [C, D, H, W] in 3d; the result
// has the same axes. An option is one number for all spatial axes, or one number for each of them. All functions are
// differentiable to any order, in both modes, for floating and complex numbers; int64 works too. ValueError if sizes do
// not fit. Under vmap, examples join the rows, the channels or the groups of one larger convolution.
#pragma once

#include "ricci/ops/nn.h"
#include "ricci/tensor.h"

namespace ricci {

/// `{.stride = 2, .output_padding = 1}`; one number serves every spatial axis.
struct ConvTransposeOptions {
  ByName by_name = ByName();
  Sizes stride = 1, padding = 0, output_padding = 0;
  Size groups = 1;
  Sizes dilation = 1;
};

/// `{.padding = 1}`: of windows whose elements are columns.
struct UnfoldOptions {
  Sizes dilation = 1, padding = 0, stride = 1;
};

namespace ops {

/// As `conv2d`, for three spatial axes: weight [O, C / groups, KD, KH, KW], bias [O] or undefined.
///   rc::conv3d(x, weight, bias, {.padding = 1})
Tensor conv3d(const Tensor& x, const Tensor& weight);
Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias);
Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias, ConvOptions options);
Tensor conv3d(const Tensor& x, const Tensor& weight, ConvOptions options);
/// As torch: conv3d(x, weight, bias, stride, padding, dilation, groups).
Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Sizes& stride,
              const ConvPadding& padding, const Sizes& dilation = 1, Size groups = 1);
Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias, WholeNumber auto stride) {
  return conv3d(x, weight, bias, Sizes(stride), 0);
}

/// The transposed convolution: what the transpose of `conv` by the same weight makes of x, plus the bias. Each element
/// of x adds the weight, times itself, to the result, `stride` elements further for each element of x:
/// y[n, o, stride i + dilation k - padding] = bias[o] + Σ x[n, c, i] weight[c, o, k] over the channels c of o's group.
/// weight [C, O / groups, K…], bias [O] or undefined; y [N, O, L'…] or [O, L'…] with
/// L' = (L - 1) stride - 2 padding + dilation (K - 1) + output_padding + 1. ValueError unless output_padding is less
/// than the stride or the dilation.
///   rc::conv_transpose2d(x, weight, {.stride = 2, .padding = 1, .output_padding = 1})  // twice as high and wide
Tensor conv_transpose1d(const Tensor& x, const Tensor& weight);
Tensor conv_transpose1d(const Tensor& x, const Tensor& weight, const Tensor& bias);
Tensor conv_transpose1d(const Tensor& x, const Tensor& weight, const Tensor& bias, ConvTransposeOptions options);
Tensor conv_transpose1d(const Tensor& x, const Tensor& weight, ConvTransposeOptions options);
/// As torch: conv_transpose1d(x, weight, bias, stride, padding, output_padding, groups, dilation).
Tensor conv_transpose1d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Sizes& stride,
                        const Sizes& padding, const Sizes& output_padding = 0, Size groups = 1,
                        const Sizes& dilation = 1);
Tensor conv_transpose1d(const Tensor& x, const Tensor& weight, const Tensor& bias, WholeNumber auto stride) {
  return conv_transpose1d(x, weight, bias, Sizes(stride), 0);
}
Tensor conv_transpose2d(const Tensor& x, const Tensor& weight);
Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias);
Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias, ConvTransposeOptions options);
Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, ConvTransposeOptions options);
Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Sizes& stride,
                        const Sizes& padding, const Sizes& output_padding = 0, Size groups = 1,
                        const Sizes& dilation = 1);
Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias, WholeNumber auto stride) {
  return conv_transpose2d(x, weight, bias, Sizes(stride), 0);
}
Tensor conv_transpose3d(const Tensor& x, const Tensor& weight);
Tensor conv_transpose3d(const Tensor& x, const Tensor& weight, const Tensor& bias);
Tensor conv_transpose3d(const Tensor& x, const Tensor& weight, const Tensor& bias, ConvTransposeOptions options);
Tensor conv_transpose3d(const Tensor& x, const Tensor& weight, ConvTransposeOptions options);
Tensor conv_transpose3d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Sizes& stride,
                        const Sizes& padding, const Sizes& output_padding = 0, Size groups = 1,
                        const Sizes& dilation = 1);
Tensor conv_transpose3d(const Tensor& x, const Tensor& weight, const Tensor& bias, WholeNumber auto stride) {
  return conv_transpose3d(x, weight, bias, Sizes(stride), 0);
}

/// The windows of images as columns: x [N, C, H, W] or [C, H, W] → [N, C KH KW, windows] or [C KH KW, windows], for a
/// kernel [KH, KW] or one number; padding is zeros. Any element type. (`unfold(x, dim, size, step)`, with other
/// arguments, gives the windows along one axis as a view.)
///   rc::matmul(weight.flatten(1, -1), rc::unfold(x, 3, {.padding = 1}))  // a convolution, its rows as one axis
Tensor unfold(const Tensor& x, const Sizes& kernel);
Tensor unfold(const Tensor& x, const Sizes& kernel, UnfoldOptions options);
/// As torch: unfold(x, kernel, dilation, padding, stride).
Tensor unfold(const Tensor& x, const Sizes& kernel, const Sizes& dilation, const Sizes& padding, const Sizes& stride);
/// The transpose of `unfold`: windows added up in images of output_size [H, W].
/// x [N, C KH KW, windows] or [C KH KW, windows] → [N, C, H, W] or [C, H, W].
///   rc::fold(rc::unfold(x, 2, {.stride = 2}), {8, 8}, 2, {.stride = 2})  // x [N, C, 8, 8] itself
Tensor fold(const Tensor& x, const Sizes& output_size, const Sizes& kernel);
Tensor fold(const Tensor& x, const Sizes& output_size, const Sizes& kernel, UnfoldOptions options);
/// As torch: fold(x, output_size, kernel, dilation, padding, stride).
Tensor fold(const Tensor& x, const Sizes& output_size, const Sizes& kernel, const Sizes& dilation, const Sizes& padding,
            const Sizes& stride);

}  // namespace ops
}  // namespace ricci
