// The positions of windows along the rows of outputs.
#include "kernels/pooling_sliding.h"

namespace ricci::kernels {
namespace {

Tap tap_at(const PooledAxis& axis, std::int64_t k, std::int64_t width, std::int64_t count) {
  const std::int64_t shift = axis.input(0, k), room = width - shift;
  const std::int64_t begin = shift >= 0 ? 0 : (-shift + axis.stride - 1) / axis.stride;
  const std::int64_t end = room <= 0 ? 0 : std::min(count, (room - 1) / axis.stride + 1);
  return {begin, std::max(begin, end), axis.input(begin, k)};
}

}  // namespace

SlidingWindow::SlidingWindow(const PoolingShape& s, const std::int64_t (&input)[3], const std::int64_t (&output)[3])
    : sizes{input[0], input[1], input[2]}, count(output[2]) {
  for (int i = 0; i < s.spatial; ++i) {
    const auto from = static_cast<std::size_t>(i), to = static_cast<std::size_t>(3 - s.spatial + i);
    axes[to] = {s.window[from], s.stride[from], s.padding[from], s.dilation[from]};
  }
  for (std::int64_t k = 0; k < axes[2].window && axes[2].input(0, k) < sizes[2]; ++k) {
    const Tap tap = tap_at(axes[2], k, sizes[2], count);
    if (tap.begin < tap.end) taps.push_back(tap);
  }
}

std::int64_t SlidingWindow::size() const {
  std::int64_t all = 1;
  for (std::size_t i = 0; i < 3; ++i) all *= std::min(axes[i].window, sizes[i]);
  return all;
}

Divisors::Divisors(const SlidingWindow& window, const std::int64_t (&output)[3], const Averaging& averaging)
    : divisor_(averaging.divisor) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const PooledAxis& a = window.axes[axis];
    const std::int64_t outside = averaging.counts_padding ? a.padding : 0;
    for (std::int64_t i = 0; i < output[axis]; ++i) {
      const std::int64_t first = a.input(i, 0);
      counts_[axis].push_back(counted(first, first + a.window, window.sizes[axis], outside));
    }
  }
  const std::vector<std::int64_t>& along = counts_[2];
  is_even_ = divisor_ != 0 || along.empty() || std::equal(along.begin() + 1, along.end(), along.begin());
}

}  // namespace ricci::kernels
