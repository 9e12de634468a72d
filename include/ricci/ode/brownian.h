// Brownian motion as a function of time, by a key.
#pragma once

#include <cstdint>

#include "ricci/keys.h"

namespace ricci::ode {

/// A path W from W(t0) = 0 to t1: the same numbers at the same time, whatever else is asked. It is drawn at 2^levels
/// times that divide t0 to t1 evenly, and straight in between. It is Lévy and Ciesielski's sum: one tent of each width,
/// whose height is a normal number by the key and the tent's number. A virtual Brownian tree (Li et al., AISTATS 2020)
/// gives the same by halving.
///   const ode::BrownianPath path{.key = rc::Key(0), .t0 = 0, .t1 = 1};
///   path(0.3, {2})                                              // f32[2], of variance 0.3
struct BrownianPath {
  Key key;
  Tensor t0, t1;
  std::int64_t levels = 15;  ///< rounded up to a multiple of 3; at most 48

  /// At a time, 0-dim; independent ones in all elements of the shape. NaN before t0 and after t1. It has no derivative
  /// by times.
  Tensor operator()(const Tensor& t, const Shape& shape, DType dtype) const;
  Tensor operator()(const Tensor& t, const Shape& shape) const;  ///< in the default dtype
};

}  // namespace ricci::ode
