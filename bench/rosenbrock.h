// Rosenbrock's function of n variables, which W8 and W9 differentiate twice.
#pragma once

#include <ricci/ricci.h>

namespace bench {

/// The sum over i of 100 (x_{i+1} - x_i^2)^2 + (1 - x_i)^2.
inline ricci::Tensor rosenbrock(const ricci::Tensor& x) {
  const ricci::Tensor a = x.slice(0, 0, -1), b = x.slice(0, 1, std::nullopt);
  return (100.0 * square(b - a * a) + square(1.0 - a)).sum();
}

}  // namespace bench
