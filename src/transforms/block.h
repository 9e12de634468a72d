// A run of vmap that is a block of a larger one, whose other examples run elsewhere: on other ranks of an MPI program.
// Start with `number_as_block`.
#pragma once

#include <cstdint>

#include "ricci/shape.h"
#include "ricci/transforms/runs.h"

namespace ricci::runs {

/// The run's examples are those from `first` on, among `count` in all: they draw, and errors number them, as in one run
/// over all of them. Requires: the function has not run yet.
void number_as_block(BatchRun& run, std::int64_t first, Size count);

}  // namespace ricci::runs
