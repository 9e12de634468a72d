// Checkpoints of functions without C++ types: those of users, and the segments of loops.
#pragma once

#include "custom/operation.h"

namespace ricci::function {

/// Who deals with what the function captures of a transform around it.
enum class Captures : std::uint8_t { here, caller };

AnyTree checkpointed(const AnyFunction& f, Arguments arguments, Captures captures);

}  // namespace ricci::function
