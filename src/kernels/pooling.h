// Maxima and means of sliding windows over the last one to three axes of raw views, and their transposes, as PyTorch
// defines them. Knows nothing of tensors. Leading axes, any number of them, are batch axes; any strides; sizes may be
// 0; an output overlaps no input.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ricci/shape.h"
#include "ricci/strided.h"

namespace ricci::kernels {

/// One entry per pooled axis, the first `spatial` of them. Averages ignore dilation.
struct PoolingShape {
  int spatial = 2;
  // These may be symbols where a program is recorded.
  std::array<Size, 3> window = {1, 1, 1}, stride = {1, 1, 1}, padding = {}, dilation = {1, 1, 1};
};

/// The number of windows along a pooled axis that lie in the padded input; the output may have fewer, or one more,
/// which reaches beyond.
inline Size pooling_size(Size input, const PoolingShape& shape, std::size_t axis) {
  const Size room = input + 2 * shape.padding[axis] - shape.dilation[axis] * (shape.window[axis] - 1);
  return room < 1 ? Size(0) : (room - 1) / shape.stride[axis] + 1;
}

/// values: the maximum of each window, nan if it holds one; padding never wins. indices (int64, shaped like values):
/// where in the volume it was found, counted row-major; of equal ones the first, of several nans the last; -1 where the
/// window holds no input, and then the value is the lowest there is. Real dtypes.
void max_pool(Strided values, Strided indices, Strided input, const PoolingShape& shape);
/// The values alone, in less time.
void max_pool(Strided values, Strided input, const PoolingShape& shape);

/// Adds each cotangent to the input, of `spatial` pooled axes, that was the maximum; inputs that were none get 0.
void max_pool_gradient(Strided input_gradient, Strided cotangent, Strided indices, int spatial);

/// The number that the sum of a window is divided by: `divisor` or, if that is 0, the number of elements of the window.
/// Elements in the padding count if `counts_padding`; elements beyond the padding never count.
struct Averaging {
  Size divisor = 0;
  bool counts_padding = true;
};

/// The mean of each window, in which padding is zeros. Integers are divided towards zero.
void avg_pool(Strided out, Strided input, const PoolingShape& shape, const Averaging& averaging = {});

/// The transpose of `avg_pool`.
void avg_pool_gradient(Strided input_gradient, Strided cotangent, const PoolingShape& shape,
                       const Averaging& averaging = {});

}  // namespace ricci::kernels
