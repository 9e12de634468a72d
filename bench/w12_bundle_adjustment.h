// W12: bundle adjustment, the residual of one observation and the Jacobian's blocks, with their inputs; and the values
// by a loop written by hand. bench/gradbench answers with the same functions.
#pragma once

#include <ricci/ricci.h>

#include <cstdint>

#include "adbench.h"

namespace bench {

namespace rc = ricci;
using rc::Tensor;

struct Observations {
  Tensor cameras, points;      // [n, 11], [m, 3]
  Tensor weights, features;    // of each observation: [p], [p, 2]
  Tensor camera_of, point_of;  // int64 [p]
};

/// x: the camera's rotation 3 (an axis times an angle, which is not 0), centre 3, focal length, principal point 2,
/// radial distortion 2; the point 3; the weight. Gives [2].
inline Tensor residual(const Tensor& x, const Tensor& feature) {
  const Tensor turn = x.slice(0, 0, 3), from_centre = x.slice(0, 11, 14) - x.slice(0, 3, 6);
  const Tensor angle = sqrt((turn * turn).sum()), axis = turn / angle, cosine = cos(angle);
  const Tensor turned =
      from_centre * cosine + cross(axis, from_centre) * sin(angle) + axis * (dot(axis, from_centre) * (1 - cosine));
  const Tensor flat = turned.slice(0, 0, 2) / turned[2], square = dot(flat, flat);
  const Tensor distorted = flat * (1 + square * (x[9] + square * x[10]));
  return x[14] * (distorted * x[6] + x.slice(0, 7, 9) - feature);
}

/// What the residual of each observation reads [p, 15].
inline Tensor variables(const Observations& o) {
  return rc::cat({o.cameras.index_select(0, o.camera_of), o.points.index_select(0, o.point_of), o.weights.unsqueeze(1)},
                 1);
}

/// The values of the sparse matrix row by row [31 p]: 15 for each of the 2 p residuals, then the slopes of the p terms
/// 1 - w^2.
template <class Jacobian>
auto values_by(Jacobian jacobian) {
  return [jacobian](const Observations& o) {
    const Tensor blocks = rc::vmap(jacobian)(variables(o), o.features);  // [p, 2, 15]
    return rc::cat({blocks.flatten(), -2 * o.weights});
  };
}

/// All cameras are the file's, all points, weights and features too; observations see them in turn.
inline Observations observations(const adbench::BundleAdjustment& b) {
  const std::int64_t p = b.observations;
  return {b.camera.expand({b.cameras, 11}).clone(),
          b.point.expand({b.points, 3}).clone(),
          b.weight.expand({p}).clone(),
          b.feature.expand({p, 2}).clone(),
          rc::arange(p) % b.cameras,
          rc::arange(p) % b.points};
}

/// The values of the sparse Jacobian [31 p]: a block of observations at a time, one a vector lane.
Tensor bundle_adjustment_by_hand(const Observations& observations);

}  // namespace bench
