// Derivatives by central differences, one element at a time: the slow and obvious reference for gradients and
// Jacobians.
#pragma once

#include <functional>

#include "support/expect_tensor.h"

namespace testing_support {

/// The Jacobian of f at the float64 tensor x: sizes of f(x), then sizes of x. Error about 1e-9 for values near one.
inline Tensor difference_quotient(const std::function<Tensor(Tensor)>& f, const Tensor& x) {
  constexpr double step = 1e-5;
  const Values at = values(x);
  const Tensor y = f(x.clone());
  const std::int64_t rows = y.numel(), columns = x.numel();
  Values jacobian(static_cast<std::size_t>(rows * columns));
  for (std::int64_t column = 0; column < columns; ++column) {
    Values above = at, below = at;
    above[static_cast<std::size_t>(column)] += step;
    below[static_cast<std::size_t>(column)] -= step;
    const Values high = values(f(doubles(above, sizes(x)))), low = values(f(doubles(below, sizes(x))));
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto r = static_cast<std::size_t>(row);
      jacobian[static_cast<std::size_t>(row * columns + column)] = (high[r] - low[r]) / (2 * step);
    }
  }
  Sizes result = sizes(y);
  for (std::int64_t size : sizes(x)) result.push_back(size);
  return doubles(jacobian, result);
}

constexpr double difference_tolerance = 1e-7;

}  // namespace testing_support
