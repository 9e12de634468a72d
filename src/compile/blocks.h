// Calls for many examples that know nothing of each other: a block of examples goes through all steps of a plan, then
// the next one does, so that what stands between the steps stays in a cache. Start with `blocks_of`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "program/program.h"

namespace ricci::compiled {

struct ExampleBlocks {
  std::int64_t examples, of_block;         ///< how many
  std::shared_ptr<const CallSizes> sizes;  ///< of a call for one block
  std::vector<bool> has_examples;          ///< by input of the program: along the first axis; each result has them so
};

/// None where examples may depend on each other, and where a cache holds all that stands between the steps.
/// `program`: with kernels; its sizes are those of the call, of which some are symbols of the program.
std::optional<ExampleBlocks> blocks_of(const Program& program);

}  // namespace ricci::compiled
