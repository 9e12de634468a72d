// One run of an elementwise loop. Knows nothing of shapes.
#pragma once

#include "ricci/primitive/loop_table.h"

namespace ricci::kernels {

/// Calls `loop` for one run of `n` elements, on several threads where that pays. `data` and `strides` are as a loop
/// takes them; `out` is the output's element type.
void run_loop(Loop loop, const void* op, int n_in, char* const* data, const std::int64_t* strides, std::int64_t n,
              DType out);

}  // namespace ricci::kernels
