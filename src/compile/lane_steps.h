// Lane kernels in a program: program in, program out. Knows the rules of operations, no operation by name.
#pragma once

#include "compile/lane_sizes.h"
#include "program/program.h"

namespace ricci::compiled {

/// The program with equations that are independent along one axis put together: each such group is one equation,
/// `lanes`, that runs a lane kernel. What cannot be said element by element stays as it is and stands between groups.
/// The result runs outside transforms, where the open sizes of the program are those of the call; no rule derives from
/// it. Requires: the program is simplified.
Program with_lane_kernels(const Program& program, const ExpandOptions& options = {});

}  // namespace ricci::compiled
