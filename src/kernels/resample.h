// Weighted sums of neighbours along one axis, as interpolation makes them. Knows nothing of tensors or modes.
#pragma once

#include <cstdint>
#include <vector>

#include "ricci/strided.h"

namespace ricci::kernels {

/// Element i of the result is the sum of weights[first_weight[i] + t] x[begin[i] + t] over t < count[i].
struct WeightedWindows {
  std::vector<std::int64_t> begin, count, first_weight;
  std::vector<double> weights;

  std::int64_t size() const { return static_cast<std::int64_t>(begin.size()); }
  /// Adds a result. Weights are read from `weights_of_window`.
  void append(std::int64_t at, std::int64_t size, const double* weights_of_window);
};

/// The windows of the transposed sums, from as many elements as `windows` has results, to `size` of them. Requires: the
/// begins and ends of windows ascend.
WeightedWindows transposed(const WeightedWindows& windows, std::int64_t size);

/// out[…, i, …] = the sum over window i of in along `axis`. Requires: float32 or float64, row-major, equal shapes but
/// along the axis, where out has as many elements as there are windows, and all windows lie inside in.
void resample(Strided out, Strided in, int axis, const WeightedWindows& windows);

}  // namespace ricci::kernels
