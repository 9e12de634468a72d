// The kernel of cubic resampling, for numbers and for tensors: Keys, "Cubic convolution interpolation for digital image
// processing", 1981. Knows nothing of any operation.
#pragma once

namespace ricci {

inline constexpr double keys_slope = -0.75;  ///< at distance 1, as PyTorch has it; -0.5 with antialias

/// At a distance of at most 1 from the sample.
template <class T>
T keys_near(const T& x, double slope) {
  return ((slope + 2) * x - (slope + 3)) * x * x + 1;
}
/// At a distance from 1 to 2.
template <class T>
T keys_far(const T& x, double slope) {
  return (((x - 5) * x + 8) * x - 4) * slope;
}

}  // namespace ricci
