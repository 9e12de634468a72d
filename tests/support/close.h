// When a number that was found is as good as the one expected. Knows no tensors.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>

namespace testing_support {

/// Equal, or both NaN, or both finite and no further apart than `tolerance`, which is relative to an expected number
/// above 1.
inline bool is_close(double found, double expected, double tolerance) {
  if (found == expected) return true;
  if (std::isnan(expected)) return std::isnan(found);
  return std::isfinite(found) && std::isfinite(expected) &&
         std::abs(found - expected) <= tolerance * std::max(1.0, std::abs(expected));
}

/// The same of a complex number: part by part where one is not finite, else by the distance in the plane.
inline bool is_close(std::complex<double> found, std::complex<double> expected, double tolerance) {
  const double apart = std::abs(found - expected), size = std::abs(expected);
  if (std::isfinite(apart) && std::isfinite(size)) return apart <= tolerance * std::max(1.0, size);
  return is_close(found.real(), expected.real(), tolerance) && is_close(found.imag(), expected.imag(), tolerance);
}

}  // namespace testing_support
