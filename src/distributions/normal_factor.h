// What MultivariateNormal and its divergence share: distances in units of a lower factor of a covariance.
#pragma once

#include "ricci/ops.h"

namespace ricci::distributions {

/// |L⁻¹ x|² for L [..., n, n] and x [..., n]: [...]. One L for all rows of x is one solution with many right sides.
Tensor squared_distance(const Tensor& factor, const Tensor& x);
inline Tensor diagonal_of(const Tensor& factor) { return diagonal(factor, 0, -2, -1); }
/// log det L.
inline Tensor log_determinant(const Tensor& factor) { return sum(log(diagonal_of(factor)), -1); }

}  // namespace ricci::distributions
