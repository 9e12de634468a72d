// Which equations stand in one nest: program in, program out.
#pragma once

#include <memory>
#include <optional>

#include "program/program.h"
#include "program/sizes.h"

namespace ricci::compiled {

struct WithNests {
  Program program;
  double calls;  ///< how often its nests call kernels
};
/// The program for calls of these sizes alone, with nests for equations over values that are not small. None where no
/// equation stands in a nest, or where nests call their kernels more often than `most_calls`, as for many short rows.
/// With RICCI_COMPILE_WITHOUT=nests in the environment there are none.
std::optional<WithNests> with_nests_at(const std::shared_ptr<const CallSizes>& sizes, const Program& program,
                                       double most_calls);

}  // namespace ricci::compiled
