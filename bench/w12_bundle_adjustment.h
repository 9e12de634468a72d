// The inputs of W12, and its values by a loop written by hand.
#pragma once

#include <ricci/ricci.h>

namespace bench {

struct Observations {
  ricci::Tensor cameras, points;      // [n, 11], [m, 3]
  ricci::Tensor weights, features;    // of each observation: [p], [p, 2]
  ricci::Tensor camera_of, point_of;  // int64 [p]
};

/// The values of the sparse Jacobian [31 p]: a block of observations at a time, one a vector lane.
ricci::Tensor bundle_adjustment_by_hand(const Observations& observations);

}  // namespace bench
