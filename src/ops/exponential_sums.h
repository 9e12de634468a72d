// Sums of exponentials over a scalar type, as softmax, its logarithm and what is made of it add them.
#pragma once

#include <limits>
#include <vector>

#include "ricci/primitive/element_rules.h"
#include "ricci/primitive/scalar.h"

namespace ricci {

/// The greatest of some elements, and the sum of the exponentials of what they are less than `subtracted(greatest)`.
template <class T>
struct SumOfExponentials {
  T subtracted, sum;
  template <class F>
  SumOfExponentials(const Elements<T>& x, const std::vector<std::int64_t>& places, const F& subtract)
      : subtracted(subtract(greatest(x, places))), sum(T(0)) {
    for (const std::int64_t place : places) sum = sum + scalar::exp(x.of[static_cast<std::size_t>(place)] - subtracted);
  }
  static T greatest(const Elements<T>& x, const std::vector<std::int64_t>& places) {
    T most(-std::numeric_limits<double>::infinity());
    for (const std::int64_t place : places) most = scalar::max(most, x.of[static_cast<std::size_t>(place)]);
    return most;
  }
};

}  // namespace ricci
