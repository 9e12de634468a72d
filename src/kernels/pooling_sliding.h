// Windows that slide over volumes: which inputs each row of outputs sees, and what a mean divides by. Knows nothing of
// elements. Start with `for_each_tap`.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "kernels/pooling.h"
#include "kernels/pooling_volumes.h"

namespace ricci::kernels {

/// One pooled axis: output i sees inputs i * stride + k * dilation - padding.
struct PooledAxis {
  std::int64_t window = 1, stride = 1, padding = 0, dilation = 1;

  std::int64_t input(std::int64_t output, std::int64_t k) const { return output * stride + k * dilation - padding; }
};

/// The outputs begin <= i < end of a row that see an input at one position of the window; the first of those inputs.
struct Tap {
  std::int64_t begin, end, column;
};

/// The positions of a window, for rows of outputs over volumes of given sizes.
struct SlidingWindow {
  std::array<PooledAxis, 3> axes;
  std::array<std::int64_t, 3> sizes;  // of the input
  std::int64_t count;                 // outputs of a row
  std::vector<Tap> taps;              // of one row of the window

  /// `input` and `output`: the sizes of volumes.
  SlidingWindow(const PoolingShape& shape, const std::int64_t (&input)[3], const std::int64_t (&output)[3]);

  /// How many inputs an output sees at most.
  std::int64_t size() const;
};

/// Calls `f(input z, input y, tap)` for every position of the window over one row of outputs that sees inputs.
template <class F>
void for_each_tap(const SlidingWindow& window, std::int64_t out_z, std::int64_t out_y, F&& f) {
  for (std::int64_t i = 0; i < window.axes[0].window; ++i) {
    const std::int64_t z = window.axes[0].input(out_z, i);
    if (z >= window.sizes[0]) break;
    if (z < 0) continue;
    for (std::int64_t k = 0; k < window.axes[1].window; ++k) {
      const std::int64_t y = window.axes[1].input(out_y, k);
      if (y >= window.sizes[1]) break;
      if (y < 0) continue;
      for (const Tap& tap : window.taps) f(z, y, tap);
    }
  }
}

/// How many elements a mean counts along an axis, one at least. The window reaches from `first` up to `end`; elements
/// count that lie among the `size` elements of the input, or in the `outside` elements of padding on either side.
inline std::int64_t counted(std::int64_t first, std::int64_t end, std::int64_t size, std::int64_t outside) {
  return std::max<std::int64_t>(1, std::min(end, size + outside) - std::max(first, -outside));
}

/// How many elements the mean of each output counts along each axis.
class Divisors {
 public:
  /// `output`: the sizes of a volume.
  Divisors(const SlidingWindow& window, const std::int64_t (&output)[3], const Averaging& averaging);

  std::int64_t operator()(std::int64_t z, std::int64_t y, std::int64_t j) const {
    return divisor_ != 0 ? divisor_ : counts_[0][z] * counts_[1][y] * counts_[2][j];
  }
  /// f(divisor), where divisor(j) is that of output j of a row.
  template <class F>
  void for_row(std::int64_t z, std::int64_t y, F&& f) const {
    if (counts_[2].empty()) return;
    const std::int64_t outer = divisor_ != 0 ? divisor_ : counts_[0][z] * counts_[1][y];
    const std::int64_t* along = counts_[2].data();
    if (is_even_) return f([all = divisor_ != 0 ? outer : outer * along[0]](std::int64_t) { return all; });
    f([=](std::int64_t j) { return outer * along[j]; });
  }

 private:
  std::int64_t divisor_;
  bool is_even_;
  std::vector<std::int64_t> counts_[3];
};

}  // namespace ricci::kernels
