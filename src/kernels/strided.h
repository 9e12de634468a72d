// Questions about a view of memory.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ricci/strided.h"

namespace ricci::kernels {

inline std::int64_t element_count(const Strided& x) {
  std::int64_t count = 1;
  for (int i = 0; i < x.rank; ++i) count *= x.shape[i];
  return count;
}

/// However large the other sizes are.
inline bool is_empty(const Strided& x) { return std::find(x.shape, x.shape + x.rank, 0) != x.shape + x.rank; }

/// Whether the elements lie row by row, without gaps. A view without elements does.
inline bool is_contiguous(const Strided& x) {
  std::int64_t step = 1;
  for (int i = x.rank - 1; i >= 0; --i) {
    if (x.shape[i] == 0) return true;
    if (x.shape[i] != 1 && x.strides[i] != step) return false;
    step *= x.shape[i];
  }
  return true;
}

}  // namespace ricci::kernels
