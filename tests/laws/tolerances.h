// How far two ways of computing the same thing may differ, by element type. An operation that needs more says so with
// its reason, as `tolerance_factor`.
#pragma once

#include <ricci/dtype.h>

namespace laws {

/// A few roundings of the element type, relative to values above one.
constexpr double tolerance_of(ricci::DType dtype) {
  switch (ricci::real_dtype(dtype)) {
    case ricci::float16: return 4e-3;
    case ricci::bfloat16: return 3e-2;
    case ricci::float32: return 4e-6;
    case ricci::float64: return 1e-12;
    default: return 0;  // integers and booleans are exact
  }
}

/// A central difference of a function of order one in float64: its step, and what is left of the derivative.
constexpr double difference_step = 1e-5;
constexpr double difference_tolerance = 2e-7;

}  // namespace laws
