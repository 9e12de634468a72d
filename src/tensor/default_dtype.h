// Whether the default dtype is other than float32: what every operation asks before it looks any further.
#pragma once

#include <atomic>
#include <optional>

#include "ricci/default_dtype.h"

namespace ricci {

/// Whether any thread ever set another one.
extern std::atomic<bool> default_dtype_was_set;

/// The default dtype that a scope set on this thread; none where no scope did.
std::optional<DType> scoped_default_dtype();
/// Sets or ends it.
void set_scoped_default_dtype(std::optional<DType> dtype);

inline bool default_is_float32() {
  return !default_dtype_was_set.load(std::memory_order_relaxed) || default_dtype() == DType::float32;
}

}  // namespace ricci
