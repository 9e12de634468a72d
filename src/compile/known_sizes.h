// Kernels for the sizes of a call: program in, program out.
#pragma once

#include <memory>
#include <optional>

#include "program/program.h"
#include "program/sizes.h"

namespace ricci::compiled {

/// The program with kernels for calls of these sizes alone. Sizes of at most 256 become numbers, but for the size of
/// the lanes: so a sum over 100 elements of each example stands in the kernel, where `planned`, the same program with
/// kernels for all sizes, has a step for it. None where `planned` has no more steps or is likely to be faster, or where
/// the kernels would have more than some 3,000 operations.
std::optional<Program> with_kernels_at(const std::shared_ptr<const CallSizes>& call, const Program& program,
                                       const Program& planned);

}  // namespace ricci::compiled
