// Half-precision runs to float and back, rounding to nearest even. Knows nothing of loops or strides.
#pragma once

#include <cstdint>

#include "ricci/dtype.h"

namespace ricci::kernels {

/// Requires: `type` is float16 or bfloat16; no overlap.
void widen(float* to, const void* from, DType type, std::int64_t n);
void narrow(void* to, const float* from, DType type, std::int64_t n);

}  // namespace ricci::kernels
