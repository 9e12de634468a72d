// Maxima and means of windows that each output has for itself, over the last one to three axes of raw views, and the
// transpose of the means: adaptive and fractional pooling. Knows nothing of tensors. Leading axes are batch axes; any
// strides; sizes may be 0; an output overlaps no input.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "ricci/strided.h"

namespace ricci::kernels {

/// Output i sees the inputs from begin[i] on and before end[i]; a mean divides by the product of the axes' counts.
struct WindowsOfAxis {
  std::vector<std::int64_t> begin = {0}, end = {1}, count = {1};
};

/// Of the last three axes; those that a view lacks have one window of one element.
using Windows = std::array<WindowsOfAxis, 3>;

/// `outputs` windows that divide an axis: window i begins at i inputs / outputs rounded down and ends before
/// (i + 1) inputs / outputs rounded up.
WindowsOfAxis dividing_windows(std::int64_t inputs, std::int64_t outputs);
/// The same for each of the last `spatial` axes.
Windows dividing_windows(const Strided& input, const Strided& output, int spatial);

/// values and indices as those of `max_pool`; `windows(i)` are those of the i-th volume, none of them empty.
using WindowsOfVolume = std::function<Windows(std::int64_t)>;
void max_of_windows(Strided values, Strided indices, Strided input, int spatial, const WindowsOfVolume& windows);
/// With the same windows for all volumes.
void max_of_windows(Strided values, Strided indices, Strided input, int spatial, const Windows& windows);

/// The values alone, in less time.
void max_of_windows(Strided values, Strided input, int spatial, const Windows& windows);

/// The sum of each window over `divisor`, or if that is 0 over the product of the axes' counts. Integers are divided
/// towards zero.
void mean_of_windows(Strided out, Strided input, int spatial, const Windows& windows, std::int64_t divisor = 0);
/// The transpose of `mean_of_windows`.
void mean_of_windows_gradient(Strided input_gradient, Strided cotangent, int spatial, const Windows& windows,
                              std::int64_t divisor = 0);

}  // namespace ricci::kernels
