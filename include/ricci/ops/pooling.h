// Pooling, with PyTorch's conventions and names. x is [N, C, L] or [C, L] where a name ends in 1d, [N, C, H, W] or
// [C, H, W] in 2d, [N, C, D, H, W] or [C, D, H, W] in 3d; the result has the same axes. An option that is one number
// serves every spatial axis, else there is one for each. All are differentiable to any order, in both modes.
//
// Windows begin `stride` elements apart (the kernel if {} or not given), `padding` elements, at most half a kernel,
// before x; there are (n + 2 padding - dilation (kernel - 1) - 1) / stride + 1 of them along an axis of n elements,
// rounded down, or up if `ceil_mode`: then the last may reach beyond the padding, but begins in x or before it.
// ValueError for another rank, for an empty spatial axis, or if the windows do not fit.
#pragma once

#include <optional>
#include <utility>

#include "ricci/tensor.h"

namespace ricci::ops {

// ── the greatest element of each window ──

/// The greatest element of each window; NaN wins, and of equal ones the first gets the gradient. Padding is never
/// chosen. Real numbers and integers; TypeError for complex ones and booleans.
///   rc::max_pool2d(x, 2)  // [N, C, 8, 8] → [N, C, 4, 4]
Tensor max_pool1d(const Tensor& x, const Sizes& kernel);
Tensor max_pool1d(const Tensor& x, const Sizes& kernel, const Sizes& stride);
Tensor max_pool1d(const Tensor& x, const Sizes& kernel, const Sizes& stride, const Sizes& padding);
Tensor max_pool1d(const Tensor& x, const Sizes& kernel, const Sizes& stride, const Sizes& padding,
                  const Sizes& dilation);
Tensor max_pool1d(const Tensor& x, const Sizes& kernel, const Sizes& stride, const Sizes& padding,
                  const Sizes& dilation, bool ceil_mode);
Tensor max_pool2d(const Tensor& x, const Sizes& kernel);
Tensor max_pool2d(const Tensor& x, const Sizes& kernel, const Sizes& stride);
Tensor max_pool2d(const Tensor& x, const Sizes& kernel, const Sizes& stride, const Sizes& padding);
Tensor max_pool2d(const Tensor& x, const Sizes& kernel, const Sizes& stride, const Sizes& padding,
                  const Sizes& dilation);
Tensor max_pool2d(const Tensor& x, const Sizes& kernel, const Sizes& stride, const Sizes& padding,
                  const Sizes& dilation, bool ceil_mode);
Tensor max_pool3d(const Tensor& x, const Sizes& kernel);
Tensor max_pool3d(const Tensor& x, const Sizes& kernel, const Sizes& stride);
Tensor max_pool3d(const Tensor& x, const Sizes& kernel, const Sizes& stride, const Sizes& padding);
Tensor max_pool3d(const Tensor& x, const Sizes& kernel, const Sizes& stride, const Sizes& padding,
                  const Sizes& dilation);
Tensor max_pool3d(const Tensor& x, const Sizes& kernel, const Sizes& stride, const Sizes& padding,
                  const Sizes& dilation, bool ceil_mode);
/// The same with the places where they were found, as int64: each counts the elements of its image and channel
/// row-major, as `max_unpool` reads them.
///   const auto [values, indices] = rc::max_pool2d_with_indices(x, 2);
std::pair<Tensor, Tensor> max_pool1d_with_indices(const Tensor& x, const Sizes& kernel);
std::pair<Tensor, Tensor> max_pool1d_with_indices(const Tensor& x, const Sizes& kernel, const Sizes& stride,
                                                  const Sizes& padding, const Sizes& dilation, bool ceil_mode);
std::pair<Tensor, Tensor> max_pool2d_with_indices(const Tensor& x, const Sizes& kernel);
std::pair<Tensor, Tensor> max_pool2d_with_indices(const Tensor& x, const Sizes& kernel, const Sizes& stride,
                                                  const Sizes& padding, const Sizes& dilation, bool ceil_mode);
std::pair<Tensor, Tensor> max_pool3d_with_indices(const Tensor& x, const Sizes& kernel);
std::pair<Tensor, Tensor> max_pool3d_with_indices(const Tensor& x, const Sizes& kernel, const Sizes& stride,
                                                  const Sizes& padding, const Sizes& dilation, bool ceil_mode);
/// The inverse of max_pool, as far as a maximum can be undone: zeros, and each element of x at its place in `indices`,
/// int64 of x's shape. Of several elements for one place the last one stays. Along an axis of n elements the result has
/// (n - 1) stride + kernel - 2 padding, or output_size, which may differ from that by less than a stride. IndexError
/// where a place is outside.
///   rc::max_unpool2d(values, indices, 2)  // [N, C, 4, 4] → [N, C, 8, 8]
Tensor max_unpool1d(const Tensor& x, const Tensor& indices, const Sizes& kernel);
Tensor max_unpool1d(const Tensor& x, const Tensor& indices, const Sizes& kernel, const Sizes& stride,
                    const Sizes& padding);
Tensor max_unpool1d(const Tensor& x, const Tensor& indices, const Sizes& kernel, const Sizes& stride,
                    const Sizes& padding, const Sizes& output_size);
Tensor max_unpool2d(const Tensor& x, const Tensor& indices, const Sizes& kernel);
Tensor max_unpool2d(const Tensor& x, const Tensor& indices, const Sizes& kernel, const Sizes& stride,
                    const Sizes& padding);
Tensor max_unpool2d(const Tensor& x, const Tensor& indices, const Sizes& kernel, const Sizes& stride,
                    const Sizes& padding, const Sizes& output_size);
Tensor max_unpool3d(const Tensor& x, const Tensor& indices, const Sizes& kernel);
Tensor max_unpool3d(const Tensor& x, const Tensor& indices, const Sizes& kernel, const Sizes& stride,
                    const Sizes& padding);
Tensor max_unpool3d(const Tensor& x, const Tensor& indices, const Sizes& kernel, const Sizes& stride,
                    const Sizes& padding, const Sizes& output_size);

// ── the mean of each window ──

/// The mean of each window. Zeros of the padding count unless `count_include_pad` is false; what reaches beyond the
/// padding never does. With a divisor_override, which is not 0, the sum over that. Floating and complex numbers, and
/// int64, which is rounded towards 0.
///   rc::avg_pool2d(x, 3, 2, 1, false, false)  // the mean of what lies in x
Tensor avg_pool1d(const Tensor& x, const Sizes& kernel);
Tensor avg_pool1d(const Tensor& x, const Sizes& kernel, const Sizes& stride);
Tensor avg_pool1d(const Tensor& x, const Sizes& kernel, const Sizes& stride, const Sizes& padding);
Tensor avg_pool1d(const Tensor& x, const Sizes& kernel, const Sizes& stride, const Sizes& padding, bool ceil_mode,
                  bool count_include_pad);
Tensor avg_pool2d(const Tensor& x, const Sizes& kernel);
Tensor avg_pool2d(const Tensor& x, const Sizes& kernel, const Sizes& stride);
Tensor avg_pool2d(const Tensor& x, const Sizes& kernel, const Sizes& stride, const Sizes& padding);
Tensor avg_pool2d(const Tensor& x, const Sizes& kernel, const Sizes& stride, const Sizes& padding, bool ceil_mode,
                  bool count_include_pad);
Tensor avg_pool2d(const Tensor& x, const Sizes& kernel, const Sizes& stride, const Sizes& padding, bool ceil_mode,
                  bool count_include_pad, std::optional<Size> divisor_override);
Tensor avg_pool3d(const Tensor& x, const Sizes& kernel);
Tensor avg_pool3d(const Tensor& x, const Sizes& kernel, const Sizes& stride);
Tensor avg_pool3d(const Tensor& x, const Sizes& kernel, const Sizes& stride, const Sizes& padding);
Tensor avg_pool3d(const Tensor& x, const Sizes& kernel, const Sizes& stride, const Sizes& padding, bool ceil_mode,
                  bool count_include_pad);
Tensor avg_pool3d(const Tensor& x, const Sizes& kernel, const Sizes& stride, const Sizes& padding, bool ceil_mode,
                  bool count_include_pad, std::optional<Size> divisor_override);

/// (Σ xᵖ)^(1/p) over each window, p = norm_type, which is not 0; the greatest (least) size for p = ∞ (-∞). Where the
/// sum is 0 the derivative is 0. In ceil mode a window that reaches beyond x counts as if what lies there were as great
/// as the rest, as in PyTorch. Floating numbers.
///   rc::lp_pool2d(x, 2, 3, 2, false)
Tensor lp_pool1d(const Tensor& x, double norm_type, const Sizes& kernel);
Tensor lp_pool1d(const Tensor& x, double norm_type, const Sizes& kernel, const Sizes& stride, bool ceil_mode);
Tensor lp_pool2d(const Tensor& x, double norm_type, const Sizes& kernel);
Tensor lp_pool2d(const Tensor& x, double norm_type, const Sizes& kernel, const Sizes& stride, bool ceil_mode);
Tensor lp_pool3d(const Tensor& x, double norm_type, const Sizes& kernel);
Tensor lp_pool3d(const Tensor& x, double norm_type, const Sizes& kernel, const Sizes& stride, bool ceil_mode);

// ── as many windows as are asked for ──

/// The mean of each of output_size windows that divide an axis: of n elements, window i of k begins at i n / k rounded
/// down and ends before (i + 1) n / k rounded up. The result ends in output_size. ValueError for a size below 1.
///   Tensor features = rc::flatten(rc::adaptive_avg_pool2d(x, 1), 1, -1);  // [N, C, H, W] → [N, C]
Tensor adaptive_avg_pool1d(const Tensor& x, const Sizes& output_size);
Tensor adaptive_avg_pool2d(const Tensor& x, const Sizes& output_size);
Tensor adaptive_avg_pool3d(const Tensor& x, const Sizes& output_size);
/// The greatest element of each of these windows, as `max_pool` finds it; and its place.
Tensor adaptive_max_pool1d(const Tensor& x, const Sizes& output_size);
Tensor adaptive_max_pool2d(const Tensor& x, const Sizes& output_size);
Tensor adaptive_max_pool3d(const Tensor& x, const Sizes& output_size);
std::pair<Tensor, Tensor> adaptive_max_pool1d_with_indices(const Tensor& x, const Sizes& output_size);
std::pair<Tensor, Tensor> adaptive_max_pool2d_with_indices(const Tensor& x, const Sizes& output_size);
std::pair<Tensor, Tensor> adaptive_max_pool3d_with_indices(const Tensor& x, const Sizes& output_size);
/// The greatest element of each of output_size windows of kernel elements, whose distances are random: along an axis
/// of n elements, window i of k begins at ⌊(i + u) a⌋ - ⌊u a⌋ with a = (n - kernel) / (k - 1), the last at n - kernel.
/// u in [0, 1) is random_samples [N, C, axes] (N is 1 for one image), for each image, channel and spatial axis: of 2d
/// first that of W, then H, as in PyTorch; of 3d D, H, W. Not given, it is drawn by `rand`. ValueError unless
/// output_size + kernel - 1 <= n. Graham, "Fractional max-pooling", 2014.
///   rc::fractional_max_pool2d(x, 2, {5, 5})  // [N, C, 8, 8] → [N, C, 5, 5]
Tensor fractional_max_pool2d(const Tensor& x, const Sizes& kernel, const Sizes& output_size);
Tensor fractional_max_pool2d(const Tensor& x, const Sizes& kernel, const Sizes& output_size,
                             const Tensor& random_samples);
Tensor fractional_max_pool3d(const Tensor& x, const Sizes& kernel, const Sizes& output_size);
Tensor fractional_max_pool3d(const Tensor& x, const Sizes& kernel, const Sizes& output_size,
                             const Tensor& random_samples);
std::pair<Tensor, Tensor> fractional_max_pool2d_with_indices(const Tensor& x, const Sizes& kernel,
                                                             const Sizes& output_size);
std::pair<Tensor, Tensor> fractional_max_pool2d_with_indices(const Tensor& x, const Sizes& kernel,
                                                             const Sizes& output_size, const Tensor& random_samples);
std::pair<Tensor, Tensor> fractional_max_pool3d_with_indices(const Tensor& x, const Sizes& kernel,
                                                             const Sizes& output_size);
std::pair<Tensor, Tensor> fractional_max_pool3d_with_indices(const Tensor& x, const Sizes& kernel,
                                                             const Sizes& output_size, const Tensor& random_samples);

}  // namespace ricci::ops
