// What the library asks of the default dtype: whether it is float32, which every operation asks first, and what numbers
// become.
#pragma once

#include <atomic>

#include "ricci/default_dtype.h"

namespace ricci {

/// Whether any thread ever set another one.
extern std::atomic<bool> default_dtype_was_set;

inline bool default_is_float32() {
  return !default_dtype_was_set.load(std::memory_order_relaxed) || default_dtype() == DType::float32;
}

/// What a number of this dtype becomes where nothing else decides.
inline DType dtype_for_number(DType dtype) {
  if (is_floating(dtype)) return default_dtype();
  if (is_complex(dtype)) return complex_dtype(default_dtype());
  return dtype == DType::boolean ? dtype : DType::int64;
}

}  // namespace ricci
