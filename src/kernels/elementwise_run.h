// One run of an elementwise loop. Knows nothing of shapes.
#pragma once

#include "ricci/primitive/loop_table.h"
#include "ricci/primitive/parallel.h"

namespace ricci::kernels {

/// What one thread takes for each of so many bytes that are read or written: past the caches it takes longer.
inline double nanoseconds_per_byte(std::int64_t bytes) {
  constexpr std::int64_t cached = std::int64_t{2} << 20;
  return bytes <= cached ? 0.005 : 0.03;
}

/// As `run_loop`, for runs that may be long enough to be cut.
void run_long_loop(Loop loop, const void* op, int n_in, char* const* data, const std::int64_t* strides, std::int64_t n,
                   DType out);

/// Calls `loop` for one run of `n` elements, on several threads where that pays. `data` and `strides` are as a loop
/// takes them; `out` is the output's element type.
inline void run_loop(Loop loop, const void* op, int n_in, char* const* data, const std::int64_t* strides,
                     std::int64_t n, DType out) {
  constexpr double most_nanoseconds_per_operand =
      0.08;  // 16 bytes at the cached pace; past the caches no run is little anyway
  if (parallel::is_little({n, most_nanoseconds_per_operand * (n_in + 1)})) [[likely]]
    return loop(op, n_in, data, strides, n);
  run_long_loop(loop, op, n_in, data, strides, n, out);
}

}  // namespace ricci::kernels
