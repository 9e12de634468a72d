// The kernel of cubic resampling and its derivatives: Keys, "Cubic convolution interpolation for digital image
// processing", 1981. Knows nothing of any operation.
#pragma once

#include <cstdint>

namespace ricci {

/// At distance 1, as PyTorch has it; -0.5 with antialias.
template <class T>
inline constexpr T keys_slope = T(-0.75);

/// At a distance of at most 1 from the sample; the derivative of an order by the distance.
template <class T>
T keys_near(T x, T slope, std::int64_t order = 0) {
  switch (order) {
    case 0: return ((slope + 2) * x - (slope + 3)) * x * x + 1;
    case 1: return (3 * (slope + 2) * x - 2 * (slope + 3)) * x;
    case 2: return 6 * (slope + 2) * x - 2 * (slope + 3);
    case 3: return 6 * (slope + 2);
    default: return 0;
  }
}
/// At a distance from 1 to 2.
template <class T>
T keys_far(T x, T slope, std::int64_t order = 0) {
  switch (order) {
    case 0: return (((x - 5) * x + 8) * x - 4) * slope;
    case 1: return ((3 * x - 10) * x + 8) * slope;
    case 2: return (6 * x - 10) * slope;
    case 3: return 6 * slope;
    default: return 0;
  }
}

}  // namespace ricci
