// Whether the default dtype is other than float32.
#pragma once

#include "ricci/default_dtype.h"
#include "tensor/asked_first.h"

namespace ricci {

inline bool default_is_float32() { return !is_so(another_dtype_was_set) || default_dtype() == DType::float32; }

}  // namespace ricci
