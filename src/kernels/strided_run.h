// Copying one run of elements between strides. Knows nothing of element types beyond their size.
#pragma once

#include <cstdint>

namespace ricci::kernels {

/// Copies `n` elements of `size` bytes (1, 2, 4, 8 or 16). Strides are in bytes; from_stride may be 0. Requires: the
/// runs are the same or do not overlap.
void copy_run(char* to, std::int64_t to_stride, const char* from, std::int64_t from_stride, std::int64_t size,
              std::int64_t n);

}  // namespace ricci::kernels
