// Whether the default dtype is other than float32.
#pragma once

#include <optional>

#include "ricci/default_dtype.h"
#include "tensor/asked_first.h"

namespace ricci {

/// The default dtype that a scope set on this thread; none where no scope did.
std::optional<DType> scoped_default_dtype();
/// Sets or ends it.
void set_scoped_default_dtype(std::optional<DType> dtype);

inline bool default_is_float32() {
  return !is_so(another_dtype_was_set) || default_dtype() == DType::float32;
}

}  // namespace ricci
